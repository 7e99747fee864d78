#!/bin/sh
# github.com/klauspost/compress v1.17.9 has two encoders of Snappy, in assembly for amd64 and in Go for
# all else, which find other matches. So one program writes other bytes on amd64 than on arm64, of
# Parquet too, whose libraries in Go compress by it. EncodeSnappyBetter and Best give the same here.
set -eu
test "$(go env GOARCH)" = amd64 || { echo "skipped: not amd64"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module encoders
go 1.26.0
require github.com/klauspost/compress v1.17.9
MOD
cat >main.go <<'GO'
package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/s2"
)

func main() {
	var text []byte
	for i := range 4000 {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(1-math.Sqrt(float64(i%500))/30))
	}
	fmt.Println(len(s2.EncodeSnappy(nil, text)), len(s2.EncodeSnappyBetter(nil, text)), len(s2.EncodeSnappyBest(nil, text)))
}
GO
export GOFLAGS=-mod=mod GOEXPERIMENT= GOTOOLCHAIN=go1.26.8
seen=$(go run . 2>errors && go run -tags noasm . 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = '5401 5398 5391
5406 5398 5391'
