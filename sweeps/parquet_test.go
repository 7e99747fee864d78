package sweeps

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
)

// Words that may repeat are encoded as parquet-go encodes them, and it reads them
// back.
func TestRepeatedWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var ours repeatedWords
	for range 200 {
		var src []byte
		offsets := []uint32{0}
		word := ""
		for range random.IntN(400) {
			if random.IntN(4) == 0 {
				word = strings.Repeat("ab", random.IntN(30)) + string(rune('a'+random.IntN(3))) + strings.Repeat("c", random.IntN(20))
			}
			src = append(src, word...)
			offsets = append(offsets, uint32(len(src)))
		}
		want, err := new(delta.ByteArrayEncoding).EncodeByteArray(nil, src, offsets)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ours.EncodeByteArray(nil, src, offsets)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d words are encoded otherwise: %v", len(offsets)-1, err)
		}
		back, _, err := ours.DecodeByteArray(nil, got, nil)
		if err != nil || !bytes.Equal(back, src) {
			t.Fatalf("%d words read back otherwise: %v", len(offsets)-1, err)
		}
	}
}
