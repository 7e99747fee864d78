package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"grposim/sim"
)

func sampleOutcome(id string) *Outcome {
	return &Outcome{
		ID: id, Status: CellOK,
		Estimates: []NamedEstimate{{Name: "x", Mean: 0.1, StdErr: 1e-9, DF: 7}},
		recorded: &Trajectory{Steps: []int{0, 3}, Quantities: []RecordedSeries{{
			Quantity: "expected_reward", Mean: []Number{1, 2}, StdErr: []Number{0, 0.5}, Quantiles: [][5]Number{{}, {1, 2, 3, 4, 5}},
		}}},
	}
}

func journalOf(t *testing.T, ids ...string) []byte {
	t.Helper()
	var journal []byte
	for _, id := range ids {
		var err error
		if journal, err = AppendLine(journal, sampleOutcome(id)); err != nil {
			t.Fatal(err)
		}
	}
	return journal
}

func readText(t *testing.T, text []byte) *Journal {
	t.Helper()
	j, err := readJournal(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// same compares outcomes, wherever their trajectories are.
func same(t *testing.T, a, b *Outcome) string {
	t.Helper()
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Outcome{})) + cmp.Diff(trajectoryOf(t, a), trajectoryOf(t, b), cmpopts.EquateNaNs())
}

// trajectoryOf returns what was recorded of an outcome that can be read.
func trajectoryOf(t *testing.T, o *Outcome) *Trajectory {
	t.Helper()
	recorded, err := o.Trajectory()
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

func TestJournalReadsBack(t *testing.T) {
	j := readText(t, journalOf(t, "b", "a", "c"))
	if len(j.Damaged) > 0 || len(j.Outcomes) != 3 {
		t.Errorf("%d damaged lines and %d outcomes", len(j.Damaged), len(j.Outcomes))
	}
	for id, o := range j.Outcomes {
		if diff := same(t, sampleOutcome(id), o); diff != "" || o.recorded != nil {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

// The line is what encoding/json makes of the same content.
func TestJournalLine(t *testing.T) {
	for _, o := range []*Outcome{sampleOutcome("a"), {ID: "b", Status: CellDiverged, Diverged: 2, DivergedAt: 9}} {
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
				content.Trajectory.Quantities = append(content.Trajectory.Quantities, series{string(s.Quantity), s.Mean, s.StdErr, s.Quantiles})
			}
		}
		cell, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(struct {
			Checksum string          `json:"sha256"`
			Cell     json.RawMessage `json:"cell"`
		}{checksum(cell), cell})
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendLine(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// Numbers stand as encoding/json writes them, and read back the same to the bit.
func TestNumbersInJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, 0.1, 1e-6, 9.999999e-7, 1e-9, 1.5e-10, -1e-123, 1e20, 1e21, 123456789e15, math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 10_000 {
		numbers = append(numbers, random.NormFloat64(), random.Float64(), math.Float64frombits(random.Uint64()&^(1<<62)))
	}
	for _, x := range numbers {
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
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
		if got := string(Number(x).appendJSON(nil)); got != "null" {
			t.Errorf("%g is written %s", x, got)
		}
	}
}

// Any bracket, brace, colon or quotation mark that is missing makes a trajectory
// unreadable.
func TestTrajectoryForm(t *testing.T) {
	whole := sampleOutcome("a").recorded.appendJSON(nil)
	if _, ok := parseTrajectory(whole, nil); !ok {
		t.Fatalf("%s is not read", whole)
	}
	for at := range whole {
		if _, ok := parseTrajectory(whole[:at], nil); ok {
			t.Errorf("%s is read", whole[:at])
		}
		if bytes.IndexByte([]byte("{}[]:\""), whole[at]) < 0 {
			continue
		}
		changed := slices.Delete(bytes.Clone(whole), at, at+1)
		if _, ok := parseTrajectory(changed, nil); ok {
			t.Errorf("%s is read", changed)
		}
	}
	for _, text := range []string{"", "null", `{"steps":[],"quantities":[]} `, `{"steps":[0,],"quantities":[]}`, `{"steps":[x],"quantities":[]}`} {
		if _, ok := parseTrajectory([]byte(text), nil); ok {
			t.Errorf("%s is read", text)
		}
	}
}

// Some quantities are read as all of them are.
func TestWantedQuantities(t *testing.T) {
	whole := longOutcome("a", 5).recorded
	for i := range whole.Quantities {
		whole.Quantities[i].Mean[2] = Number(i)
	}
	text := whole.appendJSON(nil)
	for _, wanted := range [][]sim.Quantity{{sim.ExpectedReward}, {sim.Collision, sim.LogitGap}, {"none"}} {
		part, ok := parseTrajectory(text, wanted)
		want := &Trajectory{Steps: whole.Steps}
		for _, quantity := range wanted {
			if s := whole.Series(quantity); s != nil {
				want.Quantities = append(want.Quantities, *s)
			}
		}
		if diff := cmp.Diff(want, part); diff != "" || !ok {
			t.Errorf("%v: %s", wanted, diff)
		}
	}
}

// Wherever a journal is cut or a byte of it is changed, the other lines are
// read, and no wrong one is.
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
			t.Fatalf("byte %d changed: the line is read", at)
		}
	}
}

// A journal that is cut while it is in use gives no trajectory, and says so.
func TestJournalThatChanges(t *testing.T) {
	text := journalOf(t, "a", "b")
	j := readText(t, text)
	j.text = bytes.NewReader(text[:len(text)-4])
	if recorded, err := j.Outcomes["b"].Trajectory(); recorded != nil || err == nil {
		t.Error("a torn trajectory is read")
	}
	if trajectoryOf(t, j.Outcomes["a"]) == nil {
		t.Error("the other is lost")
	}
	changed := readText(t, text)
	changed.text = bytes.NewReader(bytes.ReplaceAll(text, []byte("steps"), []byte("stops")))
	if recorded, err := changed.Outcomes["a"].Trajectory(); recorded != nil || err == nil {
		t.Error("a changed trajectory is read")
	}
}

func FuzzJournal(f *testing.F) {
	line, err := AppendLine(nil, &Outcome{ID: "a", Status: CellOK})
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
			trajectoryOf(t, o)
		}
	})
}

// Outcomes that no sweep can have written are damage, checksum or not.
func TestImpossibleOutcomes(t *testing.T) {
	for _, o := range []Outcome{
		{ID: "a", Status: "bogus"},
		{ID: "a", Status: CellOK, recorded: &Trajectory{Steps: []int{0, 1}, Quantities: []RecordedSeries{{Quantity: "expected_reward", Mean: []Number{1}}}}},
		{ID: "a", Status: CellOK, recorded: &Trajectory{Steps: []int{0}}},
	} {
		line, err := AppendLine(nil, &o)
		if err != nil {
			t.Fatal(err)
		}
		if j := readText(t, line); len(j.Outcomes) != 0 || len(j.Damaged) != 1 {
			t.Errorf("%s is accepted", line)
		}
	}
}
