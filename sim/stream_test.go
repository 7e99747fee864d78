package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"

	"grposim/sim/draw"
)

// The state of a stream is four words of PCG XSL RR 128/64 (M. E. O'Neill 2014), which is written
// out here: a linear congruential generator of 128 bits, of which a word is the two halves
// combined by XOR and rotated by the upper six bits.
func TestStreamIsSeededByPCG(t *testing.T) {
	const mulHigh, mulLow, incHigh, incLow = 0x2360ed051fc65da4, 0x4385df649fccf645, 0x5851f42d4c957f2d, 0x14057b7ef767814f
	for i := range 1000 {
		digest := sha256.Sum256(fmt.Appendf(nil, "grposim stream 4\n%d\nc%d\nlocate\n%d\n", i*i, i%7, i))
		high, low := binary.BigEndian.Uint64(digest[:]), binary.BigEndian.Uint64(digest[8:])
		var want draw.Xoshiro
		for k := range want {
			carryHigh, product := bits.Mul64(low, mulLow)
			high = carryHigh + high*mulLow + low*mulHigh
			var carry uint64
			low, carry = bits.Add64(product, incLow, 0)
			high += incHigh + carry
			want[k] = bits.RotateLeft64(high^low, -int(high>>58))
		}
		if got := *Stream(uint64(i*i), fmt.Sprintf("c%d", i%7), ForLocation, i); got != want {
			t.Fatalf("stream %d: state %x, want %x", i, got, want)
		}
	}
}
