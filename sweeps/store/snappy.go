package store

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/compress/snappy"
)

// portableSnappy gives the same bytes on every machine: snappy.Codec encodes in assembly on some.
type portableSnappy struct{ snappy.Codec }

// Encode returns src, of less than 16 MB, in the block format of Snappy. Matches have at least four
// bytes and are less than 64 kB away. It never fails.
func (*portableSnappy) Encode(dst, src []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst[:0], uint64(len(src)))
	from, i := 0, 0 // src[from:i] has no match
	literal := func() {
		if n := i - from - 1; n >= 0 {
			dst = append(append(dst, 62<<2, byte(n), byte(n>>8), byte(n>>16)), src[from:i]...)
		}
	}
	var last [1 << 14]int // one past the last place of four bytes, by their hash
	for i+4 <= len(src) {
		four := binary.LittleEndian.Uint32(src[i:])
		place := &last[four*0x1e35a7bd>>18]
		offset := i + 1 - *place
		*place = i + 1
		if offset > min(i, 1<<16-1) || binary.LittleEndian.Uint32(src[i-offset:]) != four {
			i++
			continue
		}
		literal()
		for from, i = i, i+4; i < len(src) && src[i-offset] == src[i]; {
			i++
		}
		for n := 0; from < i; from += n {
			n = min(i-from, 64)
			dst = append(dst, byte(n-1)<<2|2, byte(offset), byte(offset>>8))
		}
	}
	i = len(src)
	literal()
	return dst, nil
}
