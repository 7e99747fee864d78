package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"grposim/sim"
	"grposim/sim/measure"
)

// equal checks that two values are the same.
func equal[T comparable](t *testing.T, of any, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// sampleOutcome returns an outcome with one estimate and one series.
func sampleOutcome(id string) *Outcome {
	return &Outcome{
		ID: id, Version: sim.Version, Status: CellOK,
		Estimates: []measure.Named{{Name: "x", Estimate: measure.Estimate{Mean: 0.1, StdErr: 1e-9, DF: 7}}},
		recorded: &Trajectory{Steps: []int{0, 3}, Quantities: []RecordedSeries{{
			Quantity: "expected_reward", Mean: []Number{1, 2}, StdErr: []Number{0, 0.5},
			Quantiles: [][5]Number{{}, {1, 2, 3, 4, 5}},
		}}},
	}
}

// must returns the value of a call that does not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// noError ends a test on an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// journalOf returns the text of a journal with the sample outcomes of some cells.
func journalOf(t *testing.T, ids ...string) []byte {
	t.Helper()
	var journal []byte
	for _, id := range ids {
		var err error
		if journal, err = sampleOutcome(id).appendLine(journal); err != nil {
			t.Fatal(err)
		}
	}
	return journal
}

// readText reads the text of a journal.
func readText(t *testing.T, text []byte) *Journal {
	t.Helper()
	return must(readJournal("cells.jsonl", bytes.NewReader(text)))
}

// difference compares two outcomes and their trajectories, in memory or in a journal;
// it is "" if they are equal.
func difference(t *testing.T, a, b *Outcome) string {
	t.Helper()
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Outcome{})) + cmp.Diff(must(a.Trajectory()),
		must(b.Trajectory()), cmpopts.EquateNaNs())
}

// trajectoryOf returns the trajectory of an outcome, and fails the test if it cannot be read.
// A journal gives back the outcomes that were written, and leaves their trajectories in the file.
func TestJournalReadsBack(t *testing.T) {
	j := readText(t, journalOf(t, "b", "a", "c"))
	if len(j.Damaged) > 0 || len(j.Outcomes) != 3 {
		t.Errorf("%d damaged lines and %d outcomes", len(j.Damaged), len(j.Outcomes))
	}
	for id, o := range j.Outcomes {
		if diff := difference(t, sampleOutcome(id), o); diff != "" || o.recorded != nil {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

// A journal line is the JSON that encoding/json writes for the same content.
func TestJournalLine(t *testing.T) {
	for _, o := range []*Outcome{sampleOutcome("a"),
		{ID: "b", Status: CellDiverged, Diverged: 2, DivergedAt: 9}} {
		type series struct {
			Quantity  string      `json:"quantity"`
			Mean      []Number    `json:"mean"`
			StdErr    []Number    `json:"stderr"`
			Quantiles [][5]Number `json:"quantiles"`
		}
		type trajectory struct {
			Steps      []int    `json:"steps"`
			Quantities []series `json:"quantities"`
		}
		content := struct {
			Outcome
			Trajectory *trajectory `json:"trajectory,omitempty"`
		}{Outcome: *o}
		if o.recorded != nil {
			content.Trajectory = &trajectory{Steps: o.recorded.Steps}
			for _, s := range o.recorded.Quantities {
				content.Trajectory.Quantities = append(content.Trajectory.Quantities,
					series{string(s.Quantity), s.Mean, s.StdErr, s.Quantiles})
			}
		}
		cell := must(json.Marshal(content))
		want, err := json.Marshal(struct {
			Checksum string          `json:"sha256"`
			Cell     json.RawMessage `json:"cell"`
		}{checksum(cell), cell})
		noError(t, err)
		got := must(o.appendLine(nil))
		if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// Finite numbers are written as encoding/json writes them, and read back to the same bits;
// others are null.
func TestNumbersInJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, 0.1, 1e-6, 9.999999e-7, 1e-9, 1.5e-10, -1e-123,
		1e20, 1e21, 123456789e15, math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 10_000 {
		numbers = append(numbers, random.NormFloat64(), random.Float64(),
			math.Float64frombits(random.Uint64()&^(1<<62)))
	}
	for _, x := range numbers {
		want := must(json.Marshal(x))
		got := Number(x).appendJSON(nil)
		if string(got) != string(want) {
			t.Fatalf("%g is written %s, want %s", x, got, want)
		}
		r := reader{text: append(got, ',')}
		if back := r.number(); math.Float64bits(back) != math.Float64bits(x) || r.failed || string(r.text) != "," {
			t.Fatalf("%s reads back as %g", got, back)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		equal(t, x, string(Number(x).appendJSON(nil)), "null")
	}
}

// Reading some quantities gives the same series as reading all of them, and reading means the same
// without quantiles.
func TestWantedQuantities(t *testing.T) {
	whole := longOutcome("a", 5).recorded
	for i := range whole.Quantities {
		whole.Quantities[i].Mean[2] = Number(i)
	}
	text := whole.appendJSON(nil)
	for _, wanted := range [][]sim.Quantity{{sim.ExpectedReward}, {sim.Collision, sim.LogitGap}, {"none"}} {
		part, ok := parseTrajectory(text, wanted, complete)
		want := &Trajectory{Steps: whole.Steps}
		for _, quantity := range wanted {
			if s := whole.Series(quantity); s != nil {
				want.Quantities = append(want.Quantities, *s)
			}
		}
		if diff := cmp.Diff(want, part); diff != "" || !ok {
			t.Errorf("%v: %s", wanted, diff)
		}
		part, ok = parseTrajectory(text, wanted, meansOnly)
		for i := range want.Quantities {
			want.Quantities[i].Quantiles = nil
		}
		if diff := cmp.Diff(want, part); diff != "" || !ok {
			t.Errorf("means of %v: %s", wanted, diff)
		}
	}
}

// If a journal is cut anywhere, or any byte is changed, exactly the damaged line is refused.
func TestJournalDamage(t *testing.T) {
	whole := journalOf(t, "a", "b")
	first := len(journalOf(t, "a"))
	for cut := range whole {
		j := readText(t, whole[:cut])
		if cut >= first != (j.Outcomes["a"] != nil) || j.Outcomes["b"] != nil {
			t.Fatalf("cut at %d of %d: %d outcomes", cut, len(whole), len(j.Outcomes))
		}
		if torn := cut != 0 && cut != first; torn != (len(j.Damaged) == 1) {
			t.Fatalf("cut at %d of %d: %d damaged lines", cut, len(whole), len(j.Damaged))
		}
	}
	for at := range whole[:first-1] {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		j := readText(t, changed)
		if j.Outcomes["b"] == nil && changed[at] != '\n' {
			t.Fatalf("byte %d changed: the other line is lost", at)
		}
		if a := j.Outcomes["a"]; a != nil {
			t.Fatalf("byte %d changed: the line is accepted", at)
		}
	}
}

// Any text can be read as a journal; each of its lines becomes at most one outcome or one
// damaged line.
func FuzzJournal(f *testing.F) {
	line, err := (&Outcome{ID: "a", Status: CellOK}).appendLine(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{}\n{\"sha256\":\"\",\"cell\":null}\nnonsense"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j := readText(t, data)
		lines := 0
		for range bytes.Lines(data) {
			lines++
		}
		if len(j.Outcomes)+len(j.Damaged) > lines {
			t.Errorf("%d lines became %d outcomes and %d damaged lines", lines, len(j.Outcomes), len(j.Damaged))
		}
		for o := range maps.Values(j.Outcomes) {
			must(o.Trajectory())
		}
	})
}

// ordered is an outcome recorded at two steps.
func ordered(first, second int) Outcome {
	return Outcome{ID: "a", Status: CellOK,
		recorded: &Trajectory{Steps: []int{first, second}, Quantities: []RecordedSeries{{
			Quantity: "expected_reward", Mean: make([]Number, 2), StdErr: make([]Number, 2),
			Quantiles: make([][5]Number, 2),
		}}}}
}

// Outcomes that no sweep can have written are damaged lines, even if their checksum matches.
func TestImpossibleOutcomes(t *testing.T) {
	for _, o := range []Outcome{
		{ID: "a", Status: "bogus"},
		{ID: "a", Status: CellOK, recorded: &Trajectory{Steps: []int{0, 1},
			Quantities: []RecordedSeries{{Quantity: "expected_reward", Mean: []Number{1}}}}},
		{ID: "a", Status: CellOK, recorded: &Trajectory{Steps: []int{0}}},
		{ID: "a", Status: CellOK, Diverged: 1},
		{ID: "a", Status: CellDiverged},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "x", Estimate: measure.Estimate{StdErr: -1}}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "x", Estimate: measure.Estimate{Systematic: -1}}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "x", Estimate: measure.Estimate{DF: -2}}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "=HYPERLINK(1)"}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "-1+1"}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "x\x1b[2J"}}},
		{ID: "a", Status: CellOK, Estimates: []measure.Named{{Name: "x\u202e"}}},
		{ID: "a", Status: CellOK,
			recorded: &Trajectory{Quantities: []RecordedSeries{{Quantity: "expected_reward"},
				{Quantity: "@SUM(1)"}}}},
		ordered(-1, 0), ordered(0, 0), ordered(1, 0),
	} {
		line := must(o.appendLine(nil))
		if j := readText(t, line); len(j.Outcomes) != 0 || len(j.Damaged) != 1 {
			t.Errorf("%s is accepted", line)
		}
	}
	possible := ordered(0, 1)
	line, err := possible.appendLine(nil)
	if j := readText(t, line); err != nil || len(j.Outcomes) != 1 {
		t.Errorf("%s is not accepted: %v", line, err)
	}
}

// failingReader reads a text up to a byte that cannot be read.
type failingReader struct{ text []byte }

var errUnreadable = errors.New("input/output error")

func (r failingReader) ReadAt(text []byte, at int64) (int, error) {
	n := copy(text, r.text[min(at, int64(len(r.text))):])
	if n < len(text) {
		return n, errUnreadable
	}
	return n, nil
}

// A journal that cannot be read to its end is an error, not a shorter journal.
func TestUnreadableJournal(t *testing.T) {
	text := journalOf(t, "a", "b")
	if _, err := readJournal("cells.jsonl", failingReader{text[:len(text)-9]}); !errors.Is(err, errUnreadable) {
		t.Errorf("the error of reading is lost: %v", err)
	}
	dir := t.TempDir()
	noError(t, os.Mkdir(filepath.Join(dir, JournalName), 0o755))
	if _, err := OpenJournal(dir); err == nil {
		t.Error("a folder is opened as a journal")
	}
	if _, err := ReadJournal(dir); err == nil {
		t.Error("a folder is read as a journal")
	}
}

// Sorting puts the given cells first, in their order, and others after them by id; it
// keeps the last line of each cell. If a line cannot be read, the file keeps its content.
func TestJournalSort(t *testing.T) {
	dir := t.TempDir()
	j := must(OpenJournal(dir))
	for _, id := range []string{"z", "b", "a", "b", "c"} {
		noError(t, j.Append(sampleOutcome(id)))
	}
	path := filepath.Join(dir, JournalName)
	unsorted := must(os.ReadFile(path))
	j.source.ReaderAt = failingReader{unsorted[:len(unsorted)-9]}
	if err := j.Sort([]string{"c", "missing", "b"}); !errors.Is(err, errUnreadable) {
		t.Errorf("the error of reading is lost: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, unsorted) {
		t.Errorf("the file changed: %v", err)
	}
	j.source.ReaderAt = fileText(path)
	noError(t, errors.Join(j.Sort([]string{"c", "missing", "b"}), j.Append(sampleOutcome("d")), j.Close()))
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, journalOf(t, "c", "b", "a", "z", "d")) {
		t.Errorf("sorted: %s, %v", text, err)
	}
	for id, o := range j.Outcomes {
		equal(t, id, difference(t, sampleOutcome(id), o), "")
	}
}
