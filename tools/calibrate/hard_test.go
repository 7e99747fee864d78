package main

import (
	"strings"
	"testing"

	"grposim/sweeps/judge"
)

// The hard cells load, and each of their files says what is hard.
func TestHardCellsLoad(t *testing.T) {
	rows, _, err := calibrateHard(t.Context(), 2, 1, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, r := range rows {
		files[r.file] = true
		if r.quantity == "" || r.seeds != 2 {
			t.Errorf("%s %s: %+v", r.file, r.label, r)
		}
	}
	if len(files) < 8 {
		t.Errorf("%d files have verdicts, want at least 8", len(files))
	}
}

// Intervals that end below or above the long-run value are counted on their side.
func TestSides(t *testing.T) {
	trials := normalTrials(400, 1)
	below, n, above := sides(trials, 0, []float64{1})
	if below+above+n != 400 || below < 40 || above < 40 {
		t.Errorf("%d below, %d above, %d of 400 cover", below, above, n)
	}
	if below, _, above := sides(normalTrials(50, 5), 0, []float64{2}); below != 50 || above != 0 {
		t.Errorf("of 50 intervals about 1, %d lie below 2 and %d above", below, above)
	}
}

// Two missed intervals, or one disagreement with the right theory, are not allowed.
func TestHardRequirements(t *testing.T) {
	for _, c := range []struct {
		row  hardRow
		want string
	}{
		{hardRow{seeds: 200, missed: 1, right: rulings{judge.Inconclusive: 200}}, ""},
		{hardRow{seeds: 200, missed: 2, right: rulings{}}, "2 of 200 intervals of 99.99 % miss the long-run value"},
		{hardRow{seeds: 200, right: rulings{judge.Disagree: 1}}, "the right theory disagrees for 1 of 200 seeds"},
	} {
		if got := strings.Join(c.row.unmet(), "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
