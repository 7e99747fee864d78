#!/bin/sh
# stat.Quantile of gonum v0.17.0 has no kind that gives the usual median: LinInterp interpolates the
# empirical distribution function (type 4 of Hyndman and Fan), so that the median of 1, 2, 3, 4 is 2.
# NumPy, R and spreadsheets interpolate between ranks (type 7), and say 2.5. A median over an even
# number of seeds is too small by half a gap, and a quartile of four runs by up to a whole one.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module median
go 1.26.0
require gonum.org/v1/gonum v0.17.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"

	"gonum.org/v1/gonum/stat"
)

func main() {
	x := []float64{1, 2, 3, 4}
	for _, p := range []float64{0.25, 0.5, 0.75, 0.9} {
		fmt.Println(p, stat.Quantile(p, stat.LinInterp, x, nil), stat.Quantile(p, stat.Empirical, x, nil))
	}
}
GO
export GOFLAGS=-mod=mod GOEXPERIMENT=
seen=$(GOTOOLCHAIN=go1.26.8 go run . 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = '0.25 1 1
0.5 2 2
0.75 3 3
0.9 3.6 4'
