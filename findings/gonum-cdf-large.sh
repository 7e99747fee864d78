#!/bin/sh
# RegIncBeta of gonum v0.17.0 takes differences of LogGamma, whose rounding grows with its arguments.
# So Binomial.CDF at the median of 1e8 trials is 0.36, of 1e9 negative, and F.CDF is above 1: a test
# of a share over as many tokens has a wrong p-value, and says nothing of it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module large
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
	for _, n := range []float64{1e6, 1e8, 1e9} {
		fmt.Printf("%.0e %.4f %.4f\n", n, distuv.Binomial{N: n, P: 0.5}.CDF(n/2), distuv.F{D1: n, D2: n}.CDF(1))
	}
}
GO
export GOFLAGS=-mod=mod GOEXPERIMENT=
seen=$(GOTOOLCHAIN=go1.26.8 go run . 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = '1e+06 0.5004 0.5000
1e+08 0.3601 0.6399
1e+09 -0.5625 1.5625'
