package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/option"
	"grposim/sim"
	"grposim/sweeps/claim"
	"grposim/sweeps/store"
)

// numberNamed returns the recorded number with a name.
func numberNamed(t *testing.T, name string) *recordedNumber {
	t.Helper()
	n, ok := parseNumber(name)
	if !ok {
		t.Fatalf("%s is no recorded number", name)
	}
	return &n
}

// The numbers of 1 − e^{−t/50} are known: its mean from step 100 on is 1 − (e^{−2} − e^{−12})/10,
// it reaches 0.5 at 50 ln 2, and 8 samples are drawn a step, or in every fourth.
func TestRecordedNumbers(t *testing.T) {
	cell, o := record(600, 1, func(t float64) float64 { return 1 - math.Exp(-t/50) }, 0.7)
	cell.Settings.Run.BurnIn = 100
	cell.Settings.Estimator.GroupSize, cell.Settings.Estimator.GroupsPerStep = 4, 2
	cell.Settings.Run.Replicas = 9
	recorded := must(o.Trajectory())
	for i := range recorded.Quantities[0].StdErr {
		recorded.Quantities[0].StdErr[i] = 0.1
	}
	number := func(name string, level float64) (x, width float64) {
		n := numberNamed(t, name)
		n.level = level
		e := n.of(cell, recorded, claim.Monotone)
		return e.Mean, e.StdErr
	}
	for _, c := range []struct {
		name              string
		level, want, near float64
	}{
		{"expected_reward_end", 0, 1 - math.Exp(-12), 1e-12},
		// the first record after the burn-in is a few steps later
		{"expected_reward_time_mean", 0, 1 - (math.Exp(-2)-math.Exp(-12))/10, 1e-3},
		{"time_to_level", 0.5, 50 * math.Ln2, 0.1},
		{"samples_to_level", 0.5, 8 * 50 * math.Ln2, 0.8},
		{"time_to_level", 0, 0, 0},
		{"time_to_level", -1, math.NaN(), 0},
		{"time_to_level", 1.5, math.NaN(), 0},
		{"expected_reward_variance", 0, 0.09, 1e-12},
		{"collision_time_mean", 0, 0.7, 1e-12},
		{"entropy_time_mean", 0, math.NaN(), 0},
	} {
		got, _ := number(c.name, c.level)
		if !(math.Abs(got-c.want) <= c.near) && !(math.IsNaN(c.want) && math.IsNaN(got)) {
			t.Errorf("%s %g: got %.12g, want %.12g ± %g", c.name, c.level, got, c.want, c.near)
		}
	}
	_, width := number("expected_reward_time_mean", 0)
	near(t, "the errors of records that err alike", width, 0.1, 1e-12)
	cell.Settings.Lag = option.Lag{Kind: option.Block, Interval: 4}
	// Of blocks a record of the clip fraction is the mean since the last one, and counts for these
	// steps.
	two := &store.Trajectory{Steps: []int{0, 100, 140}, Quantities: []store.RecordedSeries{
		{Quantity: sim.ClipFraction, Mean: []store.Number{0, 0.7, 0.35}, StdErr: make([]store.Number, 3)},
	}}
	cell.Settings.Run.BurnIn = 0
	got := numberNamed(t, "clip_fraction_time_mean").of(cell, two, claim.Monotone).Mean
	near(t, "mean clip fraction of blocks", got, 0.6, 1e-12)
	cell.Settings.Estimator.Samples = option.Reused
	fourth, _ := number("samples_to_level", 0.5)
	near(t, "samples that are reused", fourth, 2*50*math.Ln2, 4)
	cell.Settings.Estimator.Filter, cell.Settings.Estimator.Samples = option.Redraw, option.Fresh
	if got, _ := number("samples_to_level", 0.5); !math.IsNaN(got) {
		t.Errorf("samples that are redrawn and not recorded: got %g", got)
	}
	recorded.Quantities[1].Quantity = sim.SamplesDrawn
	for i, step := range recorded.Steps {
		recorded.Quantities[1].Mean[i] = store.Number(20 * step)
	}
	drawn, _ := number("samples_to_level", 0.5)
	near(t, "recorded samples", drawn, 20*50*math.Ln2, 2)
	cell.Settings.Estimator.GroupSize, cell.Settings.Estimator.Filter = option.Infinite, option.KeepAll
	if got, _ := number("expected_reward_variance", 0); got != 0 {
		t.Errorf("variance at G = ∞: got %g", got)
	}
}

// A map over one key has a row per cell and a figure per number, with a line for each setting of
// the other keys; over a key of words, or over none, the cells are side by side.
func TestKeyMap(t *testing.T) {
	text := strings.Replace(minimal, "run: {steps: 20}", "run: {steps: 400, replicas: 30}", 1) + `
sweep: [{param: grpo.group_size, values: [4, 8]},
  {param: optimizer.learning_rate, values: [0.1, 0.2, 0.4]}]
variants: [{name: std}, {name: none, set: {grpo.advantage.scale: none}}]
`
	e, _ := runSweep(t, text, t.TempDir(), 2)
	level := 0.6
	draw := func(q MapQuery) (*Drawing, error) { return must(NewMap(e.Plan, q)).Draw(e) }
	d := must(draw(MapQuery{X: "optimizer.learning_rate",
		Quantities: []string{"entropy", "samples_to_level"}, Level: &level}))
	rows := d.Rows
	if len(rows) != 13 || fmt.Sprint(rows[0]) != "[CELL ENTROPY, NAT SAMPLES TO 0.6]" ||
		rows[1][0] != "std G=4 η=0.1" || !strings.Contains(rows[1][1], " [") {
		t.Errorf("%q", rows[:2])
	}
	f := d.Figures
	if len(f) != 2 || f[0].Name != "map-optimizer.learning_rate-entropy" ||
		f[1].XLabel != "learning rate η" || len(f[0].Series) != 8 || f[0].Series[0].Group != "std G=4" {
		t.Errorf("%d figures, %+v", len(f), f)
	}
	if got := fmt.Sprint(d.Table[0]); got != "[variant label cell class optimizer.learning_rate entropy entropy_lo entropy_hi samples_to_level samples_to_level_lo samples_to_level_hi]" || len(d.Table) != 13 || d.Table[3][4] != "0.4" {
		t.Errorf("%s, %d rows, %s", got, len(d.Table), d.Table[3])
	}
	for _, x := range []string{"", "grpo.group_size"} {
		d := must(draw(MapQuery{X: x, Where: []string{"optimizer.learning_rate=0.2"}}))
		if len(d.Rows) != 5 || (d.Figures[0].Categories == nil) != (x != "") {
			t.Errorf("over %q: %d rows, categories %v", x, len(d.Rows), d.Figures[0].Categories)
		}
	}
	_, err := draw(MapQuery{Quantities: []string{"samples"}})
	refused(t, "not recorded", err, "--quantity: got samples, which no cell of the map has. Number of samples drawn")
}
