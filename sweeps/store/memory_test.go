package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"

	"grposim/sim"
)

// longOutcome is an outcome that was recorded at so many steps.
func longOutcome(id string, steps int) *Outcome {
	t := &Trajectory{}
	for i := range steps {
		t.Steps = append(t.Steps, i)
	}
	for _, quantity := range sim.Quantities(2) {
		s := RecordedSeries{Quantity: quantity}
		for i := range steps {
			x := Number(math.Sqrt(float64(i)))
			s.Mean, s.StdErr, s.Quantiles = append(s.Mean, x), append(s.StdErr, x), append(s.Quantiles, [5]Number{x, x, x, x, x})
		}
		t.Quantities = append(t.Quantities, s)
	}
	return &Outcome{ID: id, Status: CellOK, Estimates: []NamedEstimate{{Name: "x", Mean: 1}}, recorded: t}
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// What is held of a cell does not grow with its trajectory, whether it was
// appended just now or read from a file. A trajectory of 200 steps is 112 kB.
func TestTrajectoriesAreNotHeld(t *testing.T) {
	const cells, most = 100, 4 << 10
	dir := t.TempDir()
	before := heap()
	appended, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		if err := appended.Append(longOutcome(fmt.Sprint(i), 200)); err != nil {
			t.Fatal(err)
		}
	}
	appended.memory = nil // one line
	if held := (heap() - before) / cells; held > most {
		t.Errorf("%g bytes are held of a cell that was appended, want at most %d", held, most)
	}
	before = heap()
	read, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if held := (heap() - before) / cells; held > most {
		t.Errorf("%g bytes are held of a cell that was read, want at most %d", held, most)
	}
	for _, j := range []*Journal{appended, read} {
		if recorded := trajectoryOf(t, j.Outcomes["7"]); recorded == nil || len(recorded.Steps) != 200 {
			t.Error("the trajectory is lost")
		}
	}
}

// Writing a line allocates nothing that grows with the trajectory; reading one
// its numbers and no more.
func TestLineAllocations(t *testing.T) {
	count := func(steps int) (writing, reading float64) {
		o := longOutcome("a", steps)
		line, err := AppendLine(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		writing = testing.AllocsPerRun(10, func() { _, _ = AppendLine(line[:0], o) })
		reading = testing.AllocsPerRun(10, func() { parseLine(line) })
		return writing, reading
	}
	shortWriting, shortReading := count(20)
	longWriting, longReading := count(200)
	if longWriting > shortWriting || longWriting > 20 {
		t.Errorf("writing allocates %g times at 20 steps and %g times at 200", shortWriting, longWriting)
	}
	if quantities := float64(len(sim.Quantities(2))); longReading > shortReading+10 || longReading > 10*quantities {
		t.Errorf("reading allocates %g times at 20 steps and %g times at 200", shortReading, longReading)
	}
}

// In whatever order cells are journaled, the table has them in the sweep's.
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
		j, err := OpenJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTrajectoryTable(dir, ids)
		if err != nil {
			t.Fatal(err)
		}
		for i := range cells {
			o := longOutcome(ids[order(i)], order(i)+1)
			recorded := o.recorded
			if err := j.Append(o); err != nil {
				t.Fatal(err)
			}
			if err := table.Follow(j.Outcomes, o.ID, recorded); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Save(j.Outcomes); err != nil {
			t.Fatal(err)
		}
		table.Discard()
		got, err := os.ReadFile(filepath.Join(dir, trajectoriesName))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			t.Errorf("%s: another table", name)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
			t.Errorf("%s: %d entries in the folder: %v", name, len(entries), err)
		}
	}
}

// A table larger than a group of rows is whole, and an interrupted one leaves
// nothing once the folder is used again.
func TestTrajectoryGroups(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	const cells, steps = 9, 1000
	var ids []string
	for i := range cells {
		ids = append(ids, fmt.Sprint("cell ", i))
	}
	table, err := NewTrajectoryTable(dir, ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		o := longOutcome(id, steps)
		recorded := o.recorded
		if err := errors.Join(j.Append(o), table.Follow(j.Outcomes, o.ID, recorded)); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Save(j.Outcomes); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[trajectoryRow](filepath.Join(dir, trajectoriesName))
	if err != nil {
		t.Fatal(err)
	}
	quantities := sim.Quantities(2)
	if want := cells * steps * len(quantities); len(rows) != want || want < rowsTogether {
		t.Fatalf("%d rows, want %d, more than %d", len(rows), want, rowsTogether)
	}
	for i, row := range rows {
		step := i % steps
		x := math.Sqrt(float64(step))
		want := trajectoryRow{ids[i/steps/len(quantities)], int64(step), string(quantities[i/steps%len(quantities)]), x, x, x, x, x, x, x}
		if row != want {
			t.Fatalf("row %d is %v, want %v", i, row, want)
		}
	}
	if _, err := NewTrajectoryTable(dir, ids); err != nil { // and the program is killed
		t.Fatal(err)
	}
	if err := NewManifest("x", []byte("{}")).Write(dir); err != nil {
		t.Fatal(err)
	}
	release, err := Lock(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%d entries in the folder, want journal, table and manifest: %v", len(entries), err)
	}
}
