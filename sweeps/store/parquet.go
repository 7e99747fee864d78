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
	"path/filepath"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// trajectoriesName is the file name of a results folder's table of trajectories.
const trajectoriesName = "trajectories.parquet"

// trajectoryRow is a row of trajectories.parquet: one quantity at one step of one
// cell. A number that is not finite is null. Strings are plain, as every reader knows them.
// In a dictionary parquet-go splits the runs of indices by the machine's vector instructions.
type trajectoryRow struct {
	Cell          string   `parquet:"cell,plain"`
	Label         string   `parquet:"label,plain"`
	Step          int64    `parquet:"step"`
	Quantity      string   `parquet:"quantity,plain"`
	Mean          *float64 `parquet:"mean,optional"`
	StandardError *float64 `parquet:"standard_error,optional"`
	Q05           *float64 `parquet:"q05,optional"`
	Q25           *float64 `parquet:"q25,optional"`
	Q50           *float64 `parquet:"q50,optional"`
	Q75           *float64 `parquet:"q75,optional"`
	Q95           *float64 `parquet:"q95,optional"`
}

// Column describes a column of a table in a results folder.
type Column struct {
	Name string `json:"name"` // in the table's header
	Doc  string `json:"doc"`  // what it holds
	// "1" of a pure number; "" where it holds no number, or a parameter without unit
	Unit  string `json:"unit,omitempty"`
	Range string `json:"range,omitempty"` // the values that occur, in words; "": the Doc says it
}

// LabelledCell names a cell of a table.
type LabelledCell struct {
	ID    string // of its outcome
	Label string // for people; it can be ""
}

// TrajectoryTable writes trajectories.parquet: the cells of a sweep in order, each
// as soon as it and all before it have an outcome.
type TrajectoryTable struct {
	cells   int                      // their number
	cell    func(i int) LabelledCell // in order
	next    int                      // index of the first cell that is not written
	file    *replacement
	columns *parquet.GenericWriter[trajectoryRow]
	footer  []Metadata
	rows    []trajectoryRow // buffer: the rows of the last cell
}

// rowsPerGroup is the number of rows in a row group of the file, which stores each
// group column by column. A group takes about 7 MB of memory until it is written.
const rowsPerGroup = 1 << 16

// NewTrajectoryTable creates the table of a locked results folder for cells with the indices
// 0 … cells−1, with key-value metadata, which Save writes. The caller calls Discard at the
// end, after Save as well.
func NewTrajectoryTable(dir string, cells int, cell func(i int) LabelledCell,
	footer ...Metadata) (*TrajectoryTable, error) {
	file, err := pendingFile(filepath.Join(dir, trajectoriesName))
	if err != nil {
		return nil, err
	}
	columns := parquet.NewGenericWriter[trajectoryRow](file, parquet.CreatedBy("grposim", "1", ""),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.DataPageVersion(1), parquet.Compression(new(portableSnappy)))
	return &TrajectoryTable{cells: cells, cell: cell, file: file, columns: columns,
		footer: footer}, nil
}

// WriteNext writes the next cells in order, up to the first without an outcome. The
// cell with the given id has the trajectory recorded, which saves reading it from the
// journal; those of the others are read.
func (t *TrajectoryTable) WriteNext(outcomes map[string]*Outcome, id string,
	recorded *Trajectory) error {
	for ; t.next < t.cells; t.next++ {
		cell := t.cell(t.next)
		o := outcomes[cell.ID]
		if o == nil {
			break
		}
		trajectory, err := recorded, error(nil)
		if o.ID != id {
			trajectory, err = o.Trajectory()
		}
		if trajectory != nil && err == nil {
			t.rows = appendRows(t.rows[:0], cell, trajectory)
			_, err = t.columns.Write(t.rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func appendRows(rows []trajectoryRow, cell LabelledCell, recorded *Trajectory) []trajectoryRow {
	for _, s := range recorded.Quantities {
		for n, step := range recorded.Steps {
			q := &s.Quantiles[n]
			rows = append(rows, trajectoryRow{Cell: cell.ID, Label: cell.Label, Step: int64(step),
				Quantity: string(s.Quantity), Mean: finite(&s.Mean[n]), StandardError: finite(&s.StdErr[n]),
				Q05: finite(&q[0]), Q25: finite(&q[1]), Q50: finite(&q[2]), Q75: finite(&q[3]),
				Q95: finite(&q[4])})
		}
	}
	return rows
}

// finite returns the number at x, nil where it is not finite.
func finite(x *Number) *float64 {
	if math.IsNaN(float64(*x - *x)) { // or infinite
		return nil
	}
	return (*float64)(x)
}

// Save writes the remaining cells and puts the file in place, atomically. outcomes
// holds all cells of the table.
func (t *TrajectoryTable) Save(outcomes map[string]*Outcome) error {
	for _, m := range t.footer {
		t.columns.SetKeyValueMetadata(m.Key, m.placeholder())
	}
	err := errors.Join(t.WriteNext(outcomes, "", nil), t.columns.Close())
	if err == nil {
		err = replacePlaceholders(t.file.File, t.footer)
	}
	if err == nil {
		err = t.file.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", trajectoriesName, err)
	}
	return nil
}

// Discard removes the temporary file of a table that was not saved. If that fails, the
// next Lock removes it.
func (t *TrajectoryTable) Discard() { _ = t.file.Cleanup() }

// Metadata is an item of the key-value metadata of a parquet file.
type Metadata struct {
	Key   string
	Write func(w io.Writer) error // writes the value: it is never in memory as a whole
}

// placeholder returns the value that stands in the footer, once, until the value of m replaces
// it. It has less than 128 bytes, so that its length in the footer is one byte.
func (m *Metadata) placeholder() string {
	return fmt.Sprintf("\x00 the value of %.40s \x00", m.Key)
}

// length counts bytes, and keeps none.
type length uint64

func (n *length) Write(p []byte) (int, error) { *n += length(len(p)); return len(p), nil }

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
	footer := make([]byte, afterFooter)
	if _, err := file.ReadAt(footer, end); err != nil {
		return err
	}
	footer = make([]byte, binary.LittleEndian.Uint32(footer))
	start := end - int64(len(footer))
	if _, err := file.ReadAt(footer, start); err != nil {
		return err
	}
	place := io.NewOffsetWriter(file, start)
	w := bufio.NewWriterSize(place, 1<<16) // it keeps its first error, which Flush returns
	for _, m := range metadata {
		before, after, found := bytes.Cut(footer, []byte(m.placeholder()))
		if !found {
			return fmt.Errorf("the footer has no %s", m.Key)
		}
		var n length
		w.Write(before[:len(before)-1])
		err = errors.Join(err, m.Write(&n))
		w.Write(binary.AppendUvarint(nil, uint64(n)))
		err = errors.Join(err, m.Write(w))
		footer = after
	}
	w.Write(footer)
	written, unknown := place.Seek(0, io.SeekCurrent)
	if written += int64(w.Buffered()); written > math.MaxUint32 {
		return errors.New(
			"the parameters of its cells take more than the 4 GB that a parquet file can hold")
	}
	w.Write(binary.LittleEndian.AppendUint32(nil, uint32(written)))
	w.WriteString("PAR1")
	return errors.Join(err, unknown, w.Flush())
}

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
