#!/bin/sh
# Binomial.Prob of gonum v0.17.0 is NaN for a certain outcome, N·P at P = 0 and at P = 1, where it
# should be 1 (0 times log 0). CDF is right there.
# A mean over groups of samples all of which are rewarded is NaN with it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module binomial
go 1.26.0
require gonum.org/v1/gonum v0.17.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

func main() {
	for _, p := range []float64{0, 0.5, 1} {
		b := distuv.Binomial{N: 4, P: p}
		fmt.Println(p, b.Prob(4*p), b.Prob(4-4*p), b.CDF(4*p), b.Mean())
	}
}
GO
export GOFLAGS=-mod=mod GOEXPERIMENT=
seen=$(GOTOOLCHAIN=go1.26.8 go run . 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = '0 NaN 0 1 0
0.5 0.375 0.375 0.6875 2
1 NaN 0 1 4'
