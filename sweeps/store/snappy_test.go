package store

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What is compressed is decompressed to itself: bytes without matches, longer than a literal, with
// matches at every distance, and of one byte repeated.
func TestSnappy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, letters := range []int{1, 2, 8, 256} {
		for _, length := range []int{0, 1, 3, 4, 5, 60, 61, 64, 1 << 16, 200_000} {
			src := make([]byte, length)
			for i := range src {
				src[i] = byte(random.IntN(letters))
			}
			packed := must(new(portableSnappy).Encode(nil, src))
			if got, err := new(portableSnappy).Decode(nil, packed); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%d bytes of %d letters: %v", length, letters, err)
			}
			if letters == 1 && len(packed) > 20+len(src)/20 {
				t.Errorf("%d equal bytes are compressed to %d", length, len(packed))
			}
		}
	}
}
