package store

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"grposim/sim"
	"grposim/sim/measure"
)

// longOutcome returns an outcome whose trajectory has so many steps.
func longOutcome(id string, steps int) *Outcome {
	t := &Trajectory{}
	for i := range steps {
		t.Steps = append(t.Steps, i)
	}
	for _, quantity := range sim.Quantities(2) {
		s := RecordedSeries{Quantity: quantity}
		for i := range steps {
			x := Number(math.Sqrt(float64(i)))
			s.Mean, s.StdErr, s.Quantiles = append(s.Mean, x), append(s.StdErr, x), append(s.Quantiles,
				[5]Number{x, x, x, x, x})
		}
		t.Quantities = append(t.Quantities, s)
	}
	return &Outcome{ID: id, Version: sim.Version, Status: CellOK,
		Estimates: []measure.Named{{Name: "x", Estimate: measure.Estimate{Mean: 1}}}, recorded: t}
}

// heap returns the bytes of heap memory in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// The memory held per cell does not grow with the trajectory, whether the cell was
// appended or read from a file. A trajectory of 200 steps takes 112 kB.
func TestTrajectoriesAreNotHeld(t *testing.T) {
	const cells, most = 100, 4 << 10
	dir := t.TempDir()
	before := heap()
	appended := must(OpenJournal(dir))
	for i := range cells {
		noError(t, appended.Append(longOutcome(fmt.Sprint(i), 200)))
	}
	appended.buffer = nil // one line
	if held := (heap() - before) / cells; held > most {
		t.Errorf("%g bytes are held per appended cell, want at most %d", held, most)
	}
	before = heap()
	read := must(ReadJournal(dir))
	if held := (heap() - before) / cells; held > most {
		t.Errorf("%g bytes are held per cell read, want at most %d", held, most)
	}
	for _, j := range []*Journal{appended, read} {
		if recorded := must(j.Outcomes["7"].Trajectory()); recorded == nil || len(recorded.Steps) != 200 {
			t.Error("the trajectory is lost")
		}
	}
	noError(t, appended.Close())
}

// labelled returns the number of these ids and their cells.
func labelled(ids []string) (cells int, cell func(i int) LabelledCell) {
	return len(ids), func(i int) LabelledCell { return LabelledCell{ID: ids[i], Label: "label of " + ids[i]} }
}

// newTable creates the table of the cells with these ids.
func newTable(t *testing.T, dir string, ids []string, footer ...Metadata) *TrajectoryTable {
	t.Helper()
	cells, cell := labelled(ids)
	return must(NewTrajectoryTable(dir, cells, cell, footer...))
}

// In the table a number that is not finite is null, the metadata are in the footer, and
// pages are compressed: the rows of a cell that repeat themselves take few bytes.
func TestTrajectoryFile(t *testing.T) {
	dir := t.TempDir()
	o := longOutcome("a", 2000)
	s := &o.recorded.Quantities[0]
	s.Mean[3], s.Quantiles[4][2] = Number(math.NaN()), Number(math.Inf(1))
	long := strings.Repeat("a value of many bytes ", 1<<17)
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	table := newTable(t, dir, []string{"a"}, Metadata{"empty", text("")},
		Metadata{"key", text("value")}, Metadata{"long", text(long)})
	noError(t, table.Save(map[string]*Outcome{"a": o}))
	data := must(os.ReadFile(filepath.Join(dir, trajectoriesName)))
	file := must(parquet.OpenFile(bytes.NewReader(data), int64(len(data))))
	for key, want := range map[string]string{"empty": "", "key": "value", "long": long} {
		if value, found := file.Lookup(key); !found || value != want {
			t.Errorf("%s: the metadata hold %.40q of %d bytes, want %d", key, value, len(value), len(want))
		}
	}
	for _, chunk := range file.Metadata().RowGroups[0].Columns {
		equal(t, chunk.MetaData.PathInSchema, chunk.MetaData.Codec, parquet.Snappy.CompressionCodec())
	}
	rows := must(parquet.Read[trajectoryRow](bytes.NewReader(data), int64(len(data))))
	if rows[3].Mean != nil || rows[4].Q50 != nil || rows[4].Mean == nil || *rows[4].Mean != 2 {
		t.Errorf("rows %+v and %+v, want null for NaN and +Inf, and 2", rows[3], rows[4])
	}
	if most := 24 * len(rows); len(data)-len(long) > most { // three eighths of the eight numbers of a row
		t.Errorf("%d bytes for %d rows, want at most %d", len(data), len(rows), most)
	}
}

// The table has the cells in the order of the sweep, in whatever order they finish.
func TestTrajectoriesInAnyOrder(t *testing.T) {
	const cells = 60
	var ids []string
	for i := range cells {
		ids = append(ids, fmt.Sprint("cell ", i))
	}
	var want []byte
	for name, order := range map[string]func(i int) int{
		"forward":  func(i int) int { return i },
		"backward": func(i int) int { return cells - 1 - i },
		"mixed":    func(i int) int { return 7 * i % cells },
	} {
		dir := t.TempDir()
		j := must(OpenJournal(dir))
		table := newTable(t, dir, ids)
		for i := range cells {
			o := longOutcome(ids[order(i)], order(i)+1)
			recorded := o.recorded
			noError(t, j.Append(o))
			noError(t, table.WriteNext(j.Outcomes, o.ID, recorded))
		}
		noError(t, errors.Join(table.Save(j.Outcomes), j.Close()))
		table.Discard()
		got := must(os.ReadFile(filepath.Join(dir, trajectoriesName)))
		if want == nil {
			want = got
		}
		equal(t, name, string(got), string(want))
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
			t.Errorf("%s: %d entries in the folder: %v", name, len(entries), err)
		}
	}
}

// A table of more than one row group is complete, and the temporary file of an
// interrupted one is removed when the folder is locked again.
func TestTrajectoryGroups(t *testing.T) {
	dir := t.TempDir()
	j := must(OpenJournal(dir))
	const cells, steps = 9, 1000
	var ids []string
	for i := range cells {
		ids = append(ids, fmt.Sprint("cell ", i))
	}
	table := newTable(t, dir, ids)
	for _, id := range ids {
		o := longOutcome(id, steps)
		recorded := o.recorded
		noError(t, errors.Join(j.Append(o), table.WriteNext(j.Outcomes, o.ID, recorded)))
	}
	noError(t, table.Save(j.Outcomes))
	rows := must(parquet.ReadFile[trajectoryRow](filepath.Join(dir, trajectoriesName)))
	quantities := sim.Quantities(2)
	if want := cells * steps * len(quantities); len(rows) != want || want < rowsPerGroup {
		t.Fatalf("%d rows, want %d, more than %d", len(rows), want, rowsPerGroup)
	}
	for i, row := range rows {
		step := i % steps
		x := math.Sqrt(float64(step))
		id := ids[i/steps/len(quantities)]
		want := trajectoryRow{id, "label of " + id, int64(step),
			string(quantities[i/steps%len(quantities)]), &x, &x, &x, &x, &x, &x, &x}
		if !reflect.DeepEqual(row, want) {
			t.Fatalf("row %d is %v, want %v", i, row, want)
		}
	}
	sameAsCSV(t, rows, ids, j.Outcomes)
	killed := newTable(t, dir, ids)
	noError(t, errors.Join(killed.file.Close(), j.Close(), NewManifest("x", []byte("{}")).Write(dir)))
	release := must(Lock(dir, "x"))
	if err := release(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(slices.DeleteFunc(entries, isLock)) != 3 {
		t.Errorf("%d entries in the folder, want journal, table and manifest: %v", len(entries), err)
	}
}

// sameAsCSV fails unless the CSV table of the outcomes has the columns and the rows of the Parquet
// file.
func sameAsCSV(t *testing.T, rows []trajectoryRow, ids []string, outcomes map[string]*Outcome) {
	t.Helper()
	var text bytes.Buffer
	if err := WriteTrajectoriesCSV(&text, func(yield func(LabelledCell, *Outcome) bool) {
		for _, id := range ids {
			yield(LabelledCell{id, "label of " + id}, outcomes[id])
		}
	}); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(lines) != len(rows)+1 {
		t.Fatalf("%d lines, want %d: %v", len(lines), len(rows)+1, err)
	}
	for i, line := range lines {
		for c, got := range line {
			field := reflect.TypeFor[trajectoryRow]().Field(c)
			want, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			if i > 0 {
				value := reflect.ValueOf(rows[i-1]).Field(c)
				if value.Kind() == reflect.Pointer && value.IsNil() {
					want = ""
				} else {
					want = fmt.Sprint(reflect.Indirect(value).Interface())
				}
			}
			if got != want {
				t.Fatalf("line %d, %s: got %q, want %q", i+1, field.Name, got, want)
			}
		}
	}
}

// What is not finite is an empty field, and a cell that recorded nothing has no row.
func TestTrajectoryCSVOfMissingNumbers(t *testing.T) {
	one, nan := []Number{1}, []Number{Number(math.NaN())}
	recorded := &Trajectory{Steps: []int{7}, Quantities: []RecordedSeries{{Quantity: sim.Entropy,
		Mean: nan, StdErr: one, Quantiles: [][5]Number{{nan[0], 0.25, 1e-9, 3, nan[0]}}}}}
	var text strings.Builder
	if err := WriteTrajectoriesCSV(&text, func(yield func(LabelledCell, *Outcome) bool) {
		yield(LabelledCell{ID: "a", Label: `G=2, "x"`}, &Outcome{recorded: recorded})
		yield(LabelledCell{ID: "b"}, &Outcome{})
	}); err != nil {
		t.Fatal(err)
	}
	want := "cell,label,step,quantity,mean,standard_error,q05,q25,q50,q75,q95\na,\"G=2, " +
		"\"\"x\"\"\",7,entropy,,1,,0.25,1e-09,3,\n"
	equal(t, "the table", text.String(), want)
}
