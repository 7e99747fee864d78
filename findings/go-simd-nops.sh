#!/bin/sh
# Each operation of package simd of Go 1.27.3 (GOEXPERIMENT=simd) is an inlined method, for which the
# compiler leaves a one-byte NOP in the code unless an instruction of the same line takes its place:
# 6 of the 18 instructions of this function. The same operations of package simd/archsimd leave none
# (the one NOP there belongs to the loop). Kernels lose 8 to 20 % of their time to them.
set -eu
test "$(uname -m)" = x86_64 || { echo "skipped: not amd64"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir portable direct
for program in portable direct; do printf 'module %s\ngo 1.27.0\n' "$program" >$program/go.mod; done
cat >portable/main.go <<'GO'
package main

import (
	"fmt"
	"simd"
)

//go:noinline
func mix(a, b, c simd.Uint64s) simd.Uint64s {
	for i := 0; i < 100; i++ {
		x := a.Xor(b)
		y := x.And(c)
		z := y.Or(a)
		a = z.Add(x)
		b = a.Sub(y)
		c = b.Xor(z)
	}
	return a
}

func main() {
	var a simd.Uint64s
	fmt.Println(mix(a, a, a).Len())
}
GO
cat >direct/main.go <<'GO'
package main

import (
	"fmt"
	"simd/archsimd"
)

//go:noinline
func mix(a, b, c archsimd.Uint64x4) archsimd.Uint64x4 {
	for i := 0; i < 100; i++ {
		x := a.Xor(b)
		y := x.And(c)
		z := y.Or(a)
		a = z.Add(x)
		b = a.Sub(y)
		c = b.Xor(z)
	}
	return a
}

func main() {
	var a archsimd.Uint64x4
	fmt.Println(mix(a, a, a).Len())
}
GO
export GOEXPERIMENT=simd GOTOOLCHAIN=go1.27.3 GOFLAGS=
# loop counts the instructions of mix, and those that do nothing.
loop() {
	go build -C "$1" -o mix . 2>errors || { cat errors; exit 1; }
	go tool objdump -s "$2" "$1/mix" | awk '/^ / { n++; if ($4 ~ /^NOP/ || $4 == "XCHGL" && $5 == "AX,") nops++ } END { print n, nops + 0 }'
}
seen="portable $(loop portable 'main.mix@simd256'), direct $(loop direct '^main.mix$')"
echo "$seen"
test "$seen" = 'portable 18 6, direct 13 1'
