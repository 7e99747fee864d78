package logs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pages "github.com/parquet-go/parquet-go/format"
)

var parquetFormat = format{container: Parquet, begins: matches(parquetMagic), read: readParquet}

const parquetMagic = "PAR1"

// readParquet reads the flat columns of numbers of a Parquet file, such as the history of a run
// of W&B.
func readParquet(c *collector, in *input) (err error) {
	defer func() { // parquet-go panics on some damaged files
		if value := recover(); value != nil {
			err = fmt.Errorf("damaged: %v", value)
		}
		if err != nil {
			c.err.add(0, "got a Parquet file that cannot be read (%v), want a whole one", err)
			err = nil
		}
	}()
	data, err := io.ReadAll(io.LimitReader(in, longParquet+1))
	if err == nil {
		err = checkFooter(data)
	}
	if err != nil {
		return err
	}
	p, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	known := make(map[int]*series) // by index of column
	for _, path := range p.Schema().Columns() {
		leaf, ok := p.Schema().Lookup(path...)
		if name := strings.Join(path, "/"); ok && leaf.MaxRepetitionLevel == 0 {
			decimal := false // integers in a unit of their own, or bytes: nobody writes metrics so
			if is := leaf.Node.Type().LogicalType(); is != nil {
				_, decimal = is.Value.(*pages.DecimalType)
			}
			if decimal {
				c.unknown = append(c.unknown, name)
			} else if s := c.seriesOf(0, []byte(name)); s != nil {
				known[leaf.ColumnIndex] = s
			}
		}
	}
	if err := checkChunks(p, len(known)); err != nil {
		return err
	}
	c.wantValues()
	return readRows(c, p, known)
}

// readRows reads the rows of all groups.
func readRows(c *collector, p *parquet.File, known map[int]*series) error {
	rows := parquet.NewReader(p)
	defer rows.Close()
	batch := make([]parquet.Row, 256)
	for left := p.NumRows(); left > 0; {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			for _, v := range row {
				if x, has := parquetNumber(v); has && known[v.Column()] != nil {
					c.cells = append(c.cells, cell{known[v.Column()], x})
				}
			}
			c.endRow(0)
		}
		left -= int64(n)
		switch {
		case err == io.EOF && left > 0, err == nil && n == 0:
			return errors.New("fewer values than rows")
		case err != nil && err != io.EOF:
			return err
		}
	}
	return nil
}

// parquetNumber returns the number of a value, if it has one. W&B writes NaN and Infinity as text.
func parquetNumber(v parquet.Value) (x float64, has bool) {
	switch kind := v.Kind(); {
	case v.IsNull():
	case kind == parquet.Int32, kind == parquet.Int64:
		return float64(v.Int64()), true
	case kind == parquet.Float:
		return float64(v.Float()), true
	case kind == parquet.Double:
		return v.Double(), true
	case kind == parquet.Boolean, kind == parquet.ByteArray:
		x, has, ok := number([]byte(v.String()))
		return x, has && ok
	}
	return 0, false
}

// checkChunks refuses what parquet-go reads wrongly, pages of LZ4_RAW, and more than is kept.
func checkChunks(p *parquet.File, columns int) error {
	size := int64(0)
	for _, group := range p.Metadata().RowGroups {
		for _, chunk := range group.Columns {
			if chunk.MetaData.Codec == pages.Lz4Raw {
				return errors.New("its LZ4_RAW pages are not read rightly: write it with zstd or snappy")
			}
			size += chunk.MetaData.TotalUncompressedSize
		}
	}
	if p.NumRows()*int64(columns) > mostValues || size > longParquet/2 {
		return fmt.Errorf("%d rows of %d known columns, %d bytes unpacked", p.NumRows(), columns, size)
	}
	return nil
}

// checkFooter checks that the footer of a Parquet file is Thrift, whose lists hold as many values
// as they say. parquet-go allocates so much before it reads them. A struct without fields has all
// of it skipped.
func checkFooter(data []byte) error {
	const magic, size = len(parquetMagic), 4
	end := len(data) - magic - size // of the footer, before its length and the magic bytes again
	if end < magic {
		return errors.New("too short")
	}
	length := int64(binary.LittleEndian.Uint32(data[end:]))
	switch {
	case len(data) > longParquet:
		return errors.New("more than 1 GiB")
	case string(data[end+size:]) != parquetMagic:
		return errors.New("its end is missing: the writer has not finished it")
	case length > int64(end-magic) || length > longFooter:
		return fmt.Errorf("a footer of %d bytes", length)
	case thrift.Unmarshal(new(thrift.CompactProtocol), data[end-int(length):end], &struct{}{}) != nil:
		return errors.New("a damaged footer")
	}
	return nil
}
