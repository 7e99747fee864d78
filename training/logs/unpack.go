package logs

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
)

const peeked = 1 << 16 // bytes by which a file is recognised

// unpacked returns a reader of what a file holds: of gzip data what they pack, once, and of
// UTF-16, which PowerShell writes, UTF-8.
func (c *collector) unpacked(from io.Reader) *bufio.Reader {
	r := bufio.NewReaderSize(from, peeked)
	if head, _ := r.Peek(2); bytes.Equal(head, []byte("\x1f\x8b")) {
		r = bufio.NewReaderSize(&unpacker{r: r, c: c}, peeked)
	}
	if head, _ := r.Peek(2); bytes.Equal(head, []byte("\xff\xfe")) || bytes.Equal(head, []byte("\xfe\xff")) {
		r = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r), peeked)
	}
	return r
}

// unpacker reads gzip data to where they end or are damaged, which it notes: the file of a
// running trainer is not complete.
type unpacker struct {
	r  io.Reader
	gz *gzip.Reader // nil before the first read
	c  *collector

	read int // bytes
}

// longUnpacked is the largest number of bytes that are unpacked of a file.
const longUnpacked = 256 << 20

func (u *unpacker) Read(to []byte) (n int, err error) {
	if u.gz == nil {
		u.gz, err = gzip.NewReader(u.r)
	}
	if err == nil {
		n, err = u.gz.Read(to)
	}
	if u.read += n; u.read > longUnpacked {
		u.c.note("The gzip data were read as far as %d bytes.", longUnpacked)
		return 0, io.EOF
	}
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.c.note("The gzip data are not complete and were read as far as they go.")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		u.c.note("The gzip data are damaged and were read as far as that.")
	default:
		return n, err
	}
	return n, io.EOF
}
