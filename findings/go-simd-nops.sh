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
# The same program in both: PACKAGE and VECTOR stand for those of the one and of the other.
cat >program <<'GO'
package main

import (
	"fmt"
	"PACKAGE"
)

//go:noinline
func mix(a, b, c VECTOR) VECTOR {
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
	var a VECTOR
	fmt.Println(mix(a, a, a).Len())
}
GO
# write makes a module of the program: its name, the package, and the vector.
write() {
	mkdir "$1"
	printf 'module %s\ngo 1.27.0\n' "$1" >"$1/go.mod"
	sed "s|PACKAGE|$2|; s|VECTOR|$3|g" program >"$1/main.go"
}
write portable simd simd.Uint64s
write direct simd/archsimd archsimd.Uint64x4
export GOEXPERIMENT=simd GOTOOLCHAIN=go1.27.3 GOFLAGS=
# loop counts the instructions of mix, and those that do nothing.
loop() {
	go build -C "$1" -o mix . 2>errors || { cat errors; exit 1; }
	go tool objdump -s "$2" "$1/mix" | awk '/^ / { n++; if ($4 ~ /^NOP/ || $4 == "XCHGL" && $5 == "AX,") nops++ } END { print n, nops + 0 }'
}
seen="portable $(loop portable 'main.mix@simd256'), direct $(loop direct '^main.mix$')"
echo "$seen"
test "$seen" = 'portable 18 6, direct 13 1'
