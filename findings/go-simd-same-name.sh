#!/bin/sh
# Go 1.26.8 and 1.27.3 both know the experiment simd, and a program for one does not build with the other.
# Go 1.26.8: archsimd.LoadFloat64x8 takes *[8]float64. Go 1.27.3: it takes []float64.
# So "does this Go accept GOEXPERIMENT=simd?" says nothing on whether a package with vectors compiles.
# go list tells them apart: package simd is in the standard library of 1.27 alone.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module vectors
go 1.26.0
MOD
cat >main.go <<'GO'
package main

import "simd/archsimd"

func main() {
	var numbers [8]float64
	println(archsimd.LoadFloat64x8(&numbers).Len())
}
GO
export GOEXPERIMENT=simd GOFLAGS= GOARCH=amd64
seen() {
	GOTOOLCHAIN=$1 go version >/dev/null && printf 'accepted, '
	if GOTOOLCHAIN=$1 go list simd >/dev/null 2>&1; then printf 'has simd, '; else printf 'no simd, '; fi
	if GOTOOLCHAIN=$1 go build -o program . 2>errors; then echo builds; else sed -n 's/.*: cannot use/cannot use/p' errors; fi
}
old=$(seen go1.26.8)
new=$(seen go1.27.3)
echo "go1.26.8: $old"
echo "go1.27.3: $new"
test "$old" = 'accepted, no simd, builds'
test "$new" = 'accepted, has simd, cannot use &numbers (value of type *[8]float64) as []float64 value in argument to archsimd.LoadFloat64x8'
