package logs

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/unicode"
)

// magic is the beginning of a file that is no text.
type magic struct {
	bytes, is string
	packs     string // how it is packed, once: of the others open is nil
	open      func(io.Reader) (io.Reader, error)
}

var magics = []magic{
	{"\x1f\x8b", "a gzip file, want it unpacked", "gzip",
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"\x28\xb5\x2f\xfd", "a zstd file, want it unpacked", "zstd", openZstd},
	{"\xfd7zXZ", "an xz file, want it unpacked", "xz",
		func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"PK\x03\x04", "a zip file, want it unpacked", "zip", openZip},
	{"%PDF", "a PDF, want text: copy the lines of the log out of it", "", nil},
	{"\x89PNG", picture, "", nil},
	{"\xff\xd8\xff", picture, "", nil},
}

const picture = "a picture, want text: the lines of the log, or the numbers of the chart as CSV"

// magicOf returns the beginning that a file has; of a text it is empty.
func magicOf(head []byte) (is magic) {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			is = m
		}
	}
	if is.packs == "zip" && bytes.Contains(head, []byte("[Content_Types].xml")) {
		return magic{is: "a workbook of Excel, want its sheet saved as CSV"}
	}
	return is
}

// unpacked returns a reader of what a file holds: of packed data what they pack, once, and of
// UTF-16, which PowerShell writes, UTF-8.
func (c *collector) unpacked(from io.Reader) *bufio.Reader {
	r := bufio.NewReaderSize(from, peeked)
	head, _ := r.Peek(peeked)
	if m := magicOf(head); m.open != nil {
		r = bufio.NewReaderSize(&unpacker{magic: m, from: r, c: c}, peeked)
	}
	if head, _ := r.Peek(2); bytes.Equal(head, []byte("\xff\xfe")) || bytes.Equal(head, []byte("\xfe\xff")) {
		r = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian,
			unicode.UseBOM).NewDecoder().Reader(r), peeked)
	}
	return r
}

// unpacker reads packed data to where they end or are damaged, which it notes: the file of a
// running trainer is not complete.
type unpacker struct {
	magic
	from io.Reader
	data io.Reader // nil before the first read
	c    *collector
	read int // bytes
}

func (u *unpacker) Read(to []byte) (n int, err error) {
	if u.data == nil {
		u.data, err = u.open(u.from)
	}
	if err == nil {
		n, err = u.data.Read(to)
	}
	if u.read += n; u.read > longUnpacked {
		u.c.note("The %s data were read as far as %d bytes.", u.packs, longUnpacked)
		return 0, io.EOF
	}
	_, ofDisk := errors.AsType[*fs.PathError](err)
	files, many := errors.AsType[filesOfZip](err)
	switch {
	case err == nil, err == io.EOF, ofDisk:
		return n, err
	case many:
		u.c.err.add(0, "%s", files)
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.c.note("The %s data are not complete and were read as far as they go.", u.packs)
	default:
		u.c.note("The %s data are damaged and were read as far as that.", u.packs)
	}
	u.data = bytes.NewReader(nil)
	return n, io.EOF
}

// filesOfZip are the names of several files in a zip file.
type filesOfZip []string

func (f filesOfZip) Error() string {
	return fmt.Sprintf("got a zip file with %s (%s), want one, or the folder unpacked", CountWords(len(f), "file"), quoteAll(f, mostNames))
}

func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(longWindow))
}

// openZip reads the only file in a zip file.
func openZip(r io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(io.LimitReader(r, longUnpacked))
	if err != nil {
		return nil, err
	}
	all, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var files []*zip.File
	var names filesOfZip
	for _, f := range all.File {
		hidden := strings.HasPrefix(f.Name, "__MACOSX/") || strings.HasPrefix(path.Base(f.Name), ".")
		if f.Mode().IsRegular() && !hidden {
			files, names = append(files, f), append(names, f.Name)
		}
	}
	if len(files) != 1 {
		return nil, names
	}
	return files[0].Open()
}
