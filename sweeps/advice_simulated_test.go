package sweeps

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"grposim/rom"
)

// The reference bandit without momentum: in a block with a frozen force the deviation is
// multiplied by 1 − ηλK, and Var J by about (2 − ηλ)/(2 − ηλK) of that without lag. The
// largest interval with at most four times the variance follows from the exact law, and
// is found within the error of 48 replicas.
func TestLocateLimits(t *testing.T) {
	text := strings.NewReplacer("group_size: 16", "group_size: 256", "learning_rate: 0.05, momentum: 0.9", "learning_rate: 1",
		"steps: 10, replicas: 2", "steps: 1500, burn_in: 100, replicas: 48").Replace(advisedBandit)
	cell := &planText(t, text).Cells[0]
	lines, err := LocateLimits(t.Context(), cell, 2)
	if err != nil || len(lines) != 2 || lines[0].Kind != Simulated {
		t.Fatalf("%+v, %v", lines, err)
	}
	variance := func(interval int) float64 {
		p := Params(&cell.Settings, rom.Unit)
		p.Lag.Age = interval
		prediction := rom.Predict(p)
		if _, v := ownVariance(rom.Exact, &prediction); v != nil {
			return *v
		}
		return math.Inf(1) // unstable
	}
	largest := 1
	for variance(largest+1) <= 4*variance(1) {
		largest++
	}
	if found := float64(lines[0].Value); math.Abs(found-float64(largest)) > 1 || !strings.HasPrefix(lines[0].Says, "up to") {
		t.Errorf("%s, want %d by the exact law", lines[0].Says, largest)
	}
	if rate := float64(lines[1].Value); !(rate > 1 && rate < 2*2/0.167) {
		t.Errorf("%s, want less than twice the exact threshold", lines[1].Says)
	}
}

// A search starts at the fixed point, wherever the run of the file does: the mean without lag
// is that of the fixed point, J* = 0.7516, although the burn-in is too short to arrive there.
func TestLocateLimitsFromRest(t *testing.T) {
	text := strings.NewReplacer("steps: 10, replicas: 2", "steps: 200, burn_in: 10, replicas: 64", "init: fixed-point", "init: [-2, 2]").Replace(advisedBandit)
	lines, err := LocateLimits(t.Context(), &planText(t, text).Cells[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(lines[0].Assumes, "m = ")
	mean, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil || math.Abs(mean-0.7516) > 0.01 || !strings.HasSuffix(lines[0].Assumes, "from the fixed point") {
		t.Errorf("%s: want the mean 0.7516 of the fixed point", lines[0].Assumes)
	}
}

// Where there is nothing to compare a run with, no limit is searched.
func TestLocateLimitsRefuses(t *testing.T) {
	for change, because := range map[string]string{
		"group_size: inf": "without noise",
		"group_size: 16":  "run.burn_in",
	} {
		cell := &planText(t, strings.Replace(advisedBandit, "group_size: 16", change, 1)).Cells[0]
		lines, err := LocateLimits(t.Context(), cell, 1)
		if err != nil || len(lines) != 2 || !strings.Contains(lines[0].Says, because) || !math.IsNaN(float64(lines[1].Value)) {
			t.Errorf("%s: %+v, %v", change, lines, err)
		}
	}
}
