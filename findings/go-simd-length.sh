#!/bin/sh
# Package simd of Go 1.27.3 (GOEXPERIMENT=simd) takes vectors of 256 bits only where the processor
# has VPCLMULQDQ beside AVX2: carryless products, which few programs use. Without it, as on Intel
# before 2019 and AMD before 2020, vectors have 128 bits, half of what AVX2 has. Seen on a Haswell
# that QEMU 7.2 of Debian 12 emulates; simd=+256 in GODEBUG gives the 256 bits.
set -eu
command -v apt-get >/dev/null || { echo "skipped: not Debian"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download qemu-user-static >/dev/null 2>errors || { cat errors; exit 1; }
dpkg -x qemu-user-static*.deb .
cat >go.mod <<'MOD'
module length
go 1.27.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"simd"
)

func main() { fmt.Println(simd.VectorBitSize()) }
GO
export GOEXPERIMENT=simd GOTOOLCHAIN=go1.27.3 GOFLAGS=
go build -o length . 2>errors || { cat errors; exit 1; }
run() { GODEBUG=$1 usr/bin/qemu-x86_64-static -cpu Haswell ./length 2>/dev/null; }
seen="$(run '') $(run simd=+256)"
echo "$seen"
test "$seen" = "128 256"
