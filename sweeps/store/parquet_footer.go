package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Metadata is an item of the key-value metadata of a parquet file.
type Metadata struct {
	Key string
	// writes the value, whose length does not matter: it is never in memory as a whole
	Write func(w io.Writer) error
}

// placeholder returns the value that stands in the footer, once, until the value of m replaces
// it. It has less than 128 bytes, so that its length in the footer is one byte.
func (m *Metadata) placeholder() string { return fmt.Sprintf("\x00 the value of %.40s \x00", m.Key) }

// A parquet file ends with its footer, the length of the footer in four bytes, and "PAR1".
// The footer is in the compact protocol of Thrift, where a string follows its length, a varint.
const afterFooter = 8

// replacePlaceholders writes the values of metadata into the footer of a complete parquet file
// that has their placeholders, in the order of the footer.
func replacePlaceholders(file *os.File, metadata []Metadata) error {
	end, err := file.Seek(-afterFooter, io.SeekEnd)
	if err != nil {
		return err
	}
	var length [4]byte
	if _, err := file.ReadAt(length[:], end); err != nil {
		return err
	}
	footer := make([]byte, binary.LittleEndian.Uint32(length[:]))
	start := end - int64(len(footer))
	if _, err := file.ReadAt(footer, start); err != nil {
		return err
	}
	at := start
	write := func(text []byte) error {
		n, err := file.WriteAt(text, at)
		at += int64(n)
		return err
	}
	for _, m := range metadata {
		before, after, found := bytes.Cut(footer, []byte(m.placeholder()))
		if !found {
			return fmt.Errorf("the footer has no %s", m.Key)
		}
		if err := write(before[:len(before)-1]); err != nil {
			return err
		}
		if at, err = writeString(file, at, m.Write); err != nil {
			return err
		}
		footer = after
	}
	if err := write(footer); err != nil {
		return err
	}
	if at-start > math.MaxUint32 {
		return errors.New("the parameters of its cells take more than the 4 GB that a parquet file can hold")
	}
	if err := write(binary.LittleEndian.AppendUint32(nil, uint32(at-start))); err != nil {
		return err
	}
	return write([]byte("PAR1"))
}

// writeString writes a string at an offset, its length first, and returns the offset after it.
func writeString(file *os.File, at int64, value func(io.Writer) error) (end int64, err error) {
	// The length is known after the value, which is then moved to where the length ends.
	from := at + binary.MaxVarintLen64
	place := io.NewOffsetWriter(file, from)
	buffer := bufio.NewWriterSize(place, 1<<16)
	if err := errors.Join(value(buffer), buffer.Flush()); err != nil {
		return 0, err
	}
	written, err := place.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	length := binary.AppendUvarint(nil, uint64(written))
	if _, err := file.WriteAt(length, at); err != nil {
		return 0, err
	}
	to := at + int64(len(length))
	// The two places overlap; the copy goes forwards, so that it reads every byte before it writes
	// there.
	_, err = io.CopyBuffer(io.NewOffsetWriter(file, to), struct{ io.Reader }{io.NewSectionReader(file, from, written)}, make([]byte, 1<<20))
	return to + written, err
}
