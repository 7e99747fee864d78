package sweeps

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleOutcomes() map[string]*Outcome {
	outcomes := make(map[string]*Outcome)
	for _, id := range []string{"b", "a", "c"} {
		outcomes[id] = &Outcome{
			ID: id, Status: CellOK,
			Estimates: []Estimate{{Name: "x", Mean: 0.1, StdErr: 1e-9, DF: 7}},
			Trajectory: &Trajectory{Steps: []int{0, 3}, Quantities: []RecordedSeries{{
				Quantity: "expected_reward", Mean: []Number{1, 2}, StdErr: []Number{0, 0.5}, Quantiles: [][5]Number{{}, {1, 2, 3, 4, 5}},
			}}},
		}
	}
	return outcomes
}

func journalOf(t *testing.T, ids ...string) []byte {
	t.Helper()
	var journal []byte
	for _, id := range ids {
		line, err := encodeLine(sampleOutcomes()[id])
		if err != nil {
			t.Fatal(err)
		}
		journal = append(journal, line...)
	}
	return journal
}

func TestJournalReadsBack(t *testing.T) {
	outcomes, damaged := readJournal(journalOf(t, "b", "a", "c"))
	if diff := cmp.Diff(sampleOutcomes(), outcomes); diff != "" || damaged != nil {
		t.Errorf("%d damaged lines; %s", len(damaged), diff)
	}
}

// Wherever a journal is cut or a byte of it is changed, the other lines are
// read, and no wrong one is.
func TestJournalDamage(t *testing.T) {
	whole := journalOf(t, "a", "b")
	first := len(journalOf(t, "a"))
	for cut := range whole {
		outcomes, damaged := readJournal(whole[:cut])
		if cut >= first != (outcomes["a"] != nil) || outcomes["b"] != nil {
			t.Fatalf("cut at %d of %d: %d outcomes", cut, len(whole), len(outcomes))
		}
		if torn := cut != 0 && cut != first; torn != (len(damaged) == 1) {
			t.Fatalf("cut at %d of %d: %d damaged lines", cut, len(whole), len(damaged))
		}
	}
	for at := range whole[:first-1] {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		outcomes, _ := readJournal(changed)
		if outcomes["b"] == nil && changed[at] != '\n' {
			t.Fatalf("byte %d changed: the other line is lost", at)
		}
		if a := outcomes["a"]; a != nil && !cmp.Equal(a, sampleOutcomes()["a"]) {
			t.Fatalf("byte %d changed: a wrong line is read", at)
		}
	}
}

func FuzzJournal(f *testing.F) {
	line, err := encodeLine(&Outcome{ID: "a", Status: CellOK})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{}\n{\"sha256\":\"\",\"cell\":null}\nnonsense"))
	f.Fuzz(func(t *testing.T, data []byte) {
		outcomes, damaged := readJournal(data)
		lines := 0
		for range bytes.Lines(data) {
			lines++
		}
		if len(outcomes)+len(damaged) > lines {
			t.Errorf("%d lines became %d outcomes and %d damaged lines", lines, len(outcomes), len(damaged))
		}
	})
}
