package sweeps

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// regimes is a grid over learning rate and refresh interval at G = ∞, started far from
// the fixed point.
const regimes = `
name: regimes
seed: 3
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 0.1, momentum: 0.5}
run: {steps: 400}
sweep:
  - {param: optimizer.learning_rate, log: {from: 0.05, to: 20, points: 9}}
  - {param: lag.interval, values: [1, 2, 4, 8]}
`

func mapOf(t *testing.T, e *Experiment, x, y string) []RegimeMap {
	t.Helper()
	view, err := NewMapView(e.Plan, x, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := e.Maps(view)
	if err != nil {
		t.Fatal(err)
	}
	return maps
}

// mapsIn returns the names of the maps among the figures of an experiment.
func mapsIn(e *Experiment) []string {
	var maps []string
	for _, f := range e.Figures {
		if strings.HasPrefix(f.Name, "map-") {
			maps = append(maps, f.Name)
		}
	}
	return maps
}

func TestRegimeMap(t *testing.T) {
	e, _ := runSweep(t, regimes, t.TempDir(), 2)
	t.Run("curves", func(t *testing.T) { checkCurves(t, e) })
	t.Run("classes", func(t *testing.T) { checkClasses(t, e) })
	t.Run("CSV", func(t *testing.T) { checkMapCSV(t, e) })
	t.Run("shown", func(t *testing.T) {
		if got := mapsIn(e); len(got) != 1 || got[0] != e.Figures[0].Name || got[0] != "map-optimizer.learning_rate-lag.interval" {
			t.Errorf("maps %q, of %d figures", got, len(e.Figures))
		}
	})
}

// The boundaries of a map over η and K are steps: between K − ½ and K + ½ each is at the η
// of its closed form (docs/theory.md §4 and §5) for K.
func checkCurves(t *testing.T, e *Experiment) {
	const lambda, mu = 0.1586848975, 0.5 // the reference bandit without scale
	closed := map[string]func(k int) float64{
		"rule":      func(k int) float64 { return (1 - mu) / float64(k) },
		"stability": func(k int) float64 { return linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, mu, k) },
		"onset":     func(k int) float64 { return linear.FrozenBlock(linear.OnsetRate, option.HeavyBall, mu, k) },
		"damping-ratio": func(k int) float64 { // the κ at which 4mκ = γ²
			n := float64(k)
			low, high := 1e-3, 1.0
			for range 60 {
				kappa := (low + high) / 2
				gamma := 1 - mu - kappa*(n-1)/2
				if mass := (1+mu)/2 + kappa*(n-1)*(2*n-1)/12; 4*mass*kappa > gamma*gamma {
					high = kappa
				} else {
					low = kappa
				}
			}
			return low
		},
	}
	curves := mapOf(t, e, config.LearningRateKey, config.LagIntervalKey)[0].curves
	if len(curves) != len(closed) {
		t.Errorf("%d curves", len(curves))
	}
	for _, c := range curves {
		if len(c.Lines) != 1 {
			t.Errorf("%s: %d lines", c.Name, len(c.Lines))
		}
		for k := 1; k <= 8; k++ {
			want := closed[c.Name](k) / lambda
			for _, y := range []float64{float64(k) - 0.5, float64(k) + 0.5} {
				nearest := math.Inf(1)
				for _, p := range c.Lines[0] {
					if p.Y == y {
						nearest = min(nearest, math.Abs(p.X/want-1))
					}
				}
				if nearest > 1e-4 {
					t.Errorf("%s, K = %d: no corner within 1e-4 of η = %g: %g", c.Name, k, want, nearest)
				}
			}
		}
	}
}

// A window of instability is mapped as one: with the importance ratio, the KL at the
// snapshot, μ = 0.9 and ηλ = 0.62, only K = 4 of K = 1 … 12 is unstable (docs/theory.md
// §5).
func TestMapWindow(t *testing.T) {
	e, _ := runSweep(t, `
name: window
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: {fixed_point_offset: 0.01}}
grpo: {group_size: inf, advantage: {scale: none}, importance: {mode: ratio}, kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 1, momentum: 0.9}
run: {steps: 1200}
sweep:
  - {param: lag.interval, range: {from: 1, to: 12, step: 1}}
  - {param: optimizer.learning_rate, values: [3.7, 3.9071138, 4.1]}
`, t.TempDir(), 1)
	m := mapOf(t, e, config.LagIntervalKey, config.LearningRateKey)[0]
	for _, p := range m.points {
		if p.y == 3.9071138 && (p.Name() == theory.Unstable) != (p.x == 4) {
			t.Errorf("K = %g is %s, radius %g", p.x, p.Name(), p.Radius)
		}
		if p.Name() == theory.Unstable && p.class != Sustained {
			t.Errorf("K = %g, η = %g is unstable and %s", p.x, p.y, p.class)
		}
	}
	for _, polygon := range m.area {
		for _, p := range polygon {
			if p.X < 3.5 || p.X > 4.5 {
				t.Errorf("unstable at K = %g, η = %g", p.X, p.Y)
			}
		}
	}
	if len(m.area) == 0 {
		t.Error("no area is unstable")
	}
}

// With a delay and coupled modes the stability boundary comes from the crossings of the
// unit circle. On it the largest eigenvalue of the whole companion matrix has modulus 1, and
// the area is on its unstable side.
func TestMapOfCoupledDelays(t *testing.T) {
	plan := planText(t, `
name: coupled
seed: 1
bandit: {arms: [{reward: constant, mean: 0, count: 3}, {reward: constant, mean: 0.5, count: 2}, {reward: constant, mean: 1, count: 2}, {reward: constant, mean: 2}]}
grpo: {group_size: inf, advantage: {scale: std}, kl: {coefficient: 1}}
lag: {kind: delay}
optimizer: {learning_rate: 0.3, momentum: 0.8}
run: {steps: 10}
sweep:
  - {param: optimizer.learning_rate, log: {from: 0.03, to: 3, points: 4}}
  - {param: lag.interval, values: [1, 2, 4, 8]}
`)
	view, err := NewMapView(plan, config.LearningRateKey, config.LagIntervalKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := newEvidence(nil)
	m := e.regimeMap(view.panels[0], nil)
	points := 0
	for _, line := range m.curves[slices.IndexFunc(m.curves, func(c theory.Boundary) bool { return c.Name == "stability" })].Lines {
		for _, p := range line {
			s := plan.Cells[0].Settings
			s.Optimizer.LearningRate = p.X
			for _, interval := range []float64{p.Y - 0.5, p.Y + 0.5} { // one of the two is the step's own
				s.Lag.Interval = int(interval)
				linear, _ := e.cache.Predict(&s, rom.Unit).Linear()
				if size := *linear.SpectralRadius; math.Abs(size-1) < 1e-6 {
					points++
					break
				}
			}
		}
	}
	if points < 16 {
		t.Errorf("%d points of the boundary have a spectral radius of 1, want two for each delay", points)
	}
	for _, p := range m.points {
		if margin := theory.NewRegime(&p.cell.Settings, e.cache.PredictBoundaries(&p.cell.Settings)).Margin; (p.Radius >= 1) != (margin > 0) {
			t.Errorf("η = %g, τ = %g: radius %g, margin %g", p.x, p.y, p.Radius, margin)
		}
	}
}

// Far enough from the boundaries the classes of cells agree with the linear dynamics:
// cells below the onset are monotone, and the unstable ones do not settle.
func checkClasses(t *testing.T, e *Experiment) {
	m := mapOf(t, e, config.LearningRateKey, config.LagIntervalKey)[0]
	if len(m.points) != 36 {
		t.Fatalf("%d cells", len(m.points))
	}
	for _, p := range m.points {
		settles := p.class == Monotone || p.class == Overshooting || p.class == Oscillatory
		if (p.Radius > 1.05 && settles) || (p.Radius < 0.95 && !settles) {
			t.Errorf("η = %g, K = %g: %s at radius %g", p.x, p.y, p.class, p.Radius)
		}
		if p.Rate < 0.9*p.Onset && p.class != Monotone {
			t.Errorf("η = %g, K = %g: %s at %g times the onset", p.x, p.y, p.class, p.Rate/p.Onset)
		}
	}
	total := 0
	for _, n := range m.Counts() {
		total += n.Cells
		if n.Overdamped+n.Oscillatory+n.Unstable != n.Cells {
			t.Errorf("%+v does not add up", n)
		}
	}
	if total != len(m.points) {
		t.Errorf("%d of %d cells are counted", total, len(m.points))
	}
}

// Every row of the table is a cell or a point of a boundary: it has all columns of its
// kind and none of the other.
func checkMapCSV(t *testing.T, e *Experiment) {
	view, err := NewMapView(e.Plan, config.LagIntervalKey, config.LearningRateKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := view.ColourBy("entropy", nil); err != nil {
		t.Fatal(err)
	}
	maps, err := e.Maps(view)
	if err != nil {
		t.Fatal(err)
	}
	data, err := MapCSV(maps)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, name := range rows[0] {
		column[name] = i
	}
	kinds := make(map[string]int)
	for _, row := range rows[1:] {
		kinds[row[column["kind"]]]++
		for _, name := range []string{config.LagIntervalKey, config.LearningRateKey} {
			if _, err := strconv.ParseFloat(row[column[name]], 64); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		cell := row[column["kind"]] == "cell"
		for _, name := range []string{"cell", "class", "regime", "spectral_radius", "rule", "damping_ratio", "onset_learning_rate", "value"} {
			if (row[column[name]] != "") != cell {
				t.Errorf("%s %q in a row of kind %s", name, row[column[name]], row[column["kind"]])
			}
		}
		for _, name := range []string{"curve", "line"} {
			if (row[column[name]] == "") != cell {
				t.Errorf("%s %q in a row of kind %s", name, row[column[name]], row[column["kind"]])
			}
		}
	}
	if kinds["cell"] != 36 || kinds["boundary"] < 4*8 || len(kinds) != 2 {
		t.Errorf("rows %v", kinds)
	}
}

// The colour of a cell is the last recorded value, or for the time to 95 % that of the
// exponential 1 − e^{−t/50}, 50 ln 20 = 149.8 from the end of an endless run, between two
// recorded steps.
func TestMapColours(t *testing.T) {
	cell, o := record(600, 1, func(t float64) float64 { return 1 - math.Exp(-t/50) }, 0.7)
	e := newEvidence(map[string]*store.Outcome{cell.ID: o})
	cell.Settings.Estimator.GroupSize = option.Infinite
	for _, c := range []struct {
		quantity  string
		low, high float64
	}{
		{string(sim.ExpectedReward), 1 - 1e-5, 1},
		{string(sim.Collision), 0.7, 0.7},
		{timeTo95, 149, 162}, // recorded steps are 10 apart there
		{"expected_reward_variance", 0, 0},
	} {
		if got := e.mapValue(cell, Monotone, numberNamed(t, c.quantity)); !(got >= c.low && got <= c.high) {
			t.Errorf("%s: got %g, want %g to %g", c.quantity, got, c.low, c.high)
		}
	}
	cell.Settings.Estimator.GroupSize, cell.Settings.Run.Replicas = 16, 9
	recorded, err := o.Trajectory()
	if err != nil {
		t.Fatal(err)
	}
	recorded.Quantities[0].StdErr[len(recorded.Steps)-1] = 0.1
	if got := e.mapValue(cell, Monotone, numberNamed(t, "expected_reward_variance")); math.Abs(got-0.09) > 1e-15 { // 9 replicas, 0.1² of their mean
		t.Errorf("variance of 9 replicas: got %g, want 0.09", got)
	}
	if got := e.mapValue(cell, Monotone, numberNamed(t, string(sim.Entropy))); !math.IsNaN(got) {
		t.Errorf("a quantity without record: got %g", got)
	}
	if err := new(MapView).ColourBy("reward", nil); err == nil || !strings.HasPrefix(err.Error(), `--quantity: got "reward", want one of time_to_95, samples_to_95, time_to_level, samples_to_level, expected_reward, `) {
		t.Errorf("unknown quantity: %v", err)
	}
	run, _ := runSweep(t, strings.Replace(regimes, "mean: 0.2}", "mean: 0.2}, {reward: bernoulli, mean: 0.5}", 1), t.TempDir(), 1)
	view, err := NewMapView(run.Plan, config.LearningRateKey, config.LagIntervalKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	view.colour = numberNamed(t, string(sim.LogitGap)) // of two arms
	if _, err := run.Maps(view); err == nil || err.Error() != "--quantity: got logit_gap, which no cell of the map has. z = θ_1 − θ_0; two arms. At the last step, the mean over the replicas." {
		t.Errorf("a quantity of no cell: %v", err)
	}
}

// The settling time is known for curves without noise and missing where noise or an
// oscillation decides it. Noise of a known size is a pattern of ±1 that repeats after
// seven steps.
func TestSettlingTime(t *testing.T) {
	exponential := func(t float64) float64 { return 1 - math.Exp(-t/50) } // 5 % away at 50 ln 20 = 149.8
	noisy := func(size float64) func(t float64) float64 {
		return func(t float64) float64 {
			return exponential(t) + size*[]float64{1, -1, 1, 1, -1, -1, 1}[int(t)%7]
		}
	}
	missing := [2]float64{math.NaN(), math.NaN()}
	between := [2]float64{149, 162} // recorded steps are 10 apart there
	for _, c := range []struct {
		name   string
		reward func(t float64) float64
		burnIn int
		class  Class
		want   [2]float64
	}{
		{"exponential", exponential, 0, Monotone, between},
		{"after a burn-in", exponential, 400, Monotone, between},
		{"a burn-in before it settles", exponential, 100, Monotone, missing},
		{"falling", func(t float64) float64 { return -exponential(t) }, 0, Monotone, between},
		{"small noise", noisy(0.001), 0, Unresolved, between},
		{"noise of a sixth of the band", noisy(0.008), 0, Unresolved, missing}, // too few final records for s: t = 8
		{"the same with more final records", noisy(0.008), 250, Unresolved, [2]float64{149, 190}},
		{"noise of the whole way", func(t float64) float64 { return noisy(1)(t) - exponential(t) }, 0, Unresolved, missing},
		{"not finished", func(t float64) float64 { return 1 - math.Exp(-t/300) }, 0, Monotone, missing},
		{"a late step", func(t float64) float64 { return math.Floor(t / 490) }, 0, Monotone, missing},
		{"oscillates to the end", oscillator(0, 0.2), 0, Sustained, missing},
		{"between brief dips", exponential, 0, Sustained, missing},
		{"no way", func(float64) float64 { return 0.75 }, 0, AtRest, missing},
		{"diverged", func(t float64) float64 { return math.NaN() }, 0, Diverged, missing},
	} {
		cell, o := record(600, 1, c.reward, 0.6)
		cell.Settings.Run.BurnIn = c.burnIn
		cell.Settings.Estimator.GroupSize = 16
		e := newEvidence(map[string]*store.Outcome{cell.ID: o})
		got := e.mapValue(cell, c.class, numberNamed(t, timeTo95))
		if none := math.IsNaN(c.want[0]); none != math.IsNaN(got) || !none && !(got >= c.want[0] && got <= c.want[1]) {
			t.Errorf("%s: got %g, want %g to %g", c.name, got, c.want[0], c.want[1])
		}
	}
}

// At G = 16 and η = 0.32 the mean reward of a single run is all noise: no cell has a time
// to 95 %, and the error says why.
func TestNoSettlingTimeInNoise(t *testing.T) {
	text := strings.NewReplacer("group_size: inf", "group_size: 16", "momentum: 0.5", "momentum: 0", "steps: 400", "steps: 2000",
		"log: {from: 0.05, to: 20, points: 9}", "values: [0.32, 0.33]", "param: lag.interval, values: [1, 2, 4, 8]", "param: grpo.kl.coefficient, values: [0.5, 0.501, 0.502, 0.503, 0.504]").Replace(regimes)
	e, _ := runSweep(t, text, t.TempDir(), 2)
	view, err := NewMapView(e.Plan, config.LearningRateKey, "grpo.kl.coefficient", nil)
	if err != nil {
		t.Fatal(err)
	}
	view.colour = numberNamed(t, timeTo95)
	if _, err := e.Maps(view); err == nil || !strings.Contains(err.Error(), "--quantity: got time_to_95, which no cell of the map has. First recorded step from which on J stays") {
		t.Errorf("ten noisy cells: %v", err)
	}
}

// Values are ranked with the first cell that has each; the caption says how many cells have
// none, and the figure what its colours show.
func TestRanked(t *testing.T) {
	e, _ := runSweep(t, regimes, t.TempDir(), 2)
	view, err := NewMapView(e.Plan, config.LearningRateKey, config.LagIntervalKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	view.colour = numberNamed(t, timeTo95)
	maps, err := e.Maps(view)
	if err != nil {
		t.Fatal(err)
	}
	m := maps[0]
	nan := math.NaN()
	for i := range m.points {
		m.points[i].value = nan
	}
	for i, v := range []float64{7, nan, 3, 40, 3, 12} { // ranked 3, 3, 7, 12, 40
		m.points[i].value = v
	}
	at := func(rank string, value float64, i int) RankedValue {
		return RankedValue{rank, value, m.points[i].x, m.points[i].y}
	}
	want := []RankedValue{at("smallest", 3, 2), at("median", 7, 0), at("largest", 40, 3)}
	if got := m.Ranked(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	f := m.Figure()
	if f.Name != "map-optimizer.learning_rate-lag.interval-time_to_95" || f.Title != "time_to_95 over learning rate η and refresh interval K" || f.Colour != "time_to_95, optimizer step" {
		t.Errorf("name %q, title %q, colour %q", f.Name, f.Title, f.Colour)
	}
	if !strings.Contains(f.Caption, " Its colour is time_to_95. First recorded step from which on J stays within 5 % ") || !strings.Contains(f.Caption, " 31 of 36 cells have no value and are grey. ") {
		t.Errorf("caption %q", f.Caption)
	}
}

// The caption names what is fixed, the classes that occur and the lines that are drawn, and
// nothing else.
func TestMapCaption(t *testing.T) {
	e, _ := runSweep(t, regimes, t.TempDir(), 1)
	m := mapOf(t, e, config.LearningRateKey, config.LagIntervalKey)[0]
	caption := m.Figure().Caption
	for _, want := range []string{
		"Each marker is one of 36 simulated cells. Fixed: ", "grpo.group_size = inf", "grpo.kl.coefficient = 0.5", "optimizer.momentum = 0.5; all other keys have their defaults.",
		"monotone (", "stability boundary (exact): the largest multiplier", "ζ = 1: ", "The linear dynamics is unstable in the shaded area.",
	} {
		if !strings.Contains(caption, want) {
			t.Errorf("no %q in %q", want, caption)
		}
	}
	for _, unwanted := range []string{"diverged", "unresolved", "optimizer.learning_rate =", "lag.interval =", "run.steps", "colour"} {
		if strings.Contains(caption, unwanted) {
			t.Errorf("%q in %q", unwanted, caption)
		}
	}
	for _, class := range Classes {
		if meanings[class] == "" {
			t.Errorf("class %s is not explained", class)
		}
	}
}

func TestMapScales(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   AxisScale
	}{
		{[]float64{1, 2, 3, 4, 5}, LinearAxis},
		{[]float64{1, 2, 4, 8, 16}, LogAxis},
		{[]float64{1, 2, 3, 4, 6, 8, 11, 16}, LogAxis}, // integers, logarithmically spaced
		{[]float64{0.01, 0.03, 0.1, 0.3, 1}, LogAxis},
		{[]float64{0, 1, 10, 100}, LinearAxis}, // a logarithmic axis has no 0
		{[]float64{0, 0.5, 0.9, 0.99}, LinearAxis},
		{[]float64{1, 100}, LinearAxis},
	} {
		if got := spacing(c.values); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMapView(t *testing.T) {
	const more = `
  - {param: grpo.group_size, values: [8, 16, inf]}
  - {param: grpo.importance.mode, values: [none, ratio]}
`
	for _, c := range []struct {
		name, sweep, x, y string
		where             []string
		want              string // of the error; "" none
	}{
		{"fine", "", config.LearningRateKey, config.LagIntervalKey, nil, ""},
		{"the other way round", "", config.LagIntervalKey, config.LearningRateKey, nil, ""},
		{"chosen", more, config.LearningRateKey, config.LagIntervalKey, []string{"grpo.group_size=inf", "grpo.importance.mode=ratio"}, ""},
		{"unknown", "", "optimizer.learning_rat", config.LagIntervalKey, nil, `--x: got the unknown key "optimizer.learning_rat", want a numeric key of the configuration, did you mean "optimizer.learning_rate"?`},
		{"unknown, both", "", "rate", "interval", nil, `--y: got the unknown key "interval", want a numeric key of the configuration, did you mean "lag.interval"?`},
		{"not a number", more, "grpo.importance.mode", config.LagIntervalKey, nil, `--x: got grpo.importance.mode, want a key whose value is a number`},
		{"the same", "", config.LagIntervalKey, config.LagIntervalKey, nil, `--y: got lag.interval again, want another key than that of --x`},
		{"not swept", "", config.LearningRateKey, config.MomentumKey, nil, `--x, --y: got optimizer.learning_rate and optimizer.momentum, which the sweep does not vary together, want two of lag.interval and optimizer.learning_rate`},
		{"others vary", more, config.LearningRateKey, config.LagIntervalKey, nil, `--x, --y: got a sweep that varies grpo.group_size and grpo.importance.mode, want x and y alone: choose with --where grpo.group_size=8`},
		{"another varies", more, config.LearningRateKey, config.LagIntervalKey, []string{"grpo.group_size=inf"}, `--x, --y: got a sweep that varies grpo.importance.mode, want x and y alone: choose with --where grpo.importance.mode=none`},
		{"infinite", more, config.LearningRateKey, config.GroupSizeKey, []string{"lag.interval=2", "grpo.importance.mode=none"}, `--x, --y: got inf among the values, want numbers: it has no place on an axis`},
		{"no condition", "", config.LearningRateKey, config.LagIntervalKey, []string{"lag.interval"}, `--where: got "lag.interval", want key=value`},
		{"a bad value", "", config.LearningRateKey, config.LagIntervalKey, []string{"lag.interval=few"}, `--where: lag.interval: got "few", want an integer ≥ 0`},
		{"an unknown condition", "", config.LearningRateKey, config.LagIntervalKey, []string{"lag.intervall=1"}, `--where: got the unknown key "lag.intervall", want a key of the configuration, did you mean "lag.interval"?`},
		{"no cell chosen", more, config.LearningRateKey, config.LagIntervalKey, []string{"grpo.group_size=5"}, `--where: got conditions that no cell satisfies, want values of the sweep`},
	} {
		view, err := NewMapView(planText(t, regimes+strings.TrimPrefix(c.sweep, "\n")), c.x, c.y, c.where)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "":
			if len(view.panels) != 1 || len(view.panels[0].cells) != 36 {
				t.Errorf("%s: %d panels", c.name, len(view.panels))
			}
		case err == nil:
			t.Errorf("%s: no error, want %s", c.name, c.want)
		case !strings.Contains(err.Error()+"\n", c.want+"\n"):
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
}

// A sweep over exactly two numeric parameters gets a map without being asked, one a
// variant, unless all its cells stay at rest.
func TestAutomaticMaps(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a grid", regimes, "·"},
		{"three values", strings.Replace(regimes, "[1, 2, 4, 8]", "[1, 2, 4]", 1), ""},
		{"three axes", regimes + "  - {param: optimizer.momentum, values: [0, 0.5]}\n", ""},
		{"a word", strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}", "{param: grpo.importance.mode, values: [none, ratio]}", 1), ""},
		{"infinite groups", strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}", "{param: grpo.group_size, values: [4, 8, 16, inf]}", 1), ""},
		{"the length of the run goes along", strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}",
			"{zip: [{param: lag.interval, values: [1, 2, 4, 8]}, {param: run.steps, values: [400, 401, 402, 403]}]}", 1), "·"},
		{"variants", regimes + "variants: [{name: slow, set: {optimizer.momentum: 0}}, {name: fast}, {name: single, sweep: []}]\n", "slow· fast·"},
	} {
		got := ""
		for _, p := range automaticMaps(planText(t, c.text)) {
			if len(p.cells) != 36 || p.x.Path != config.LearningRateKey || p.y.Path != config.LagIntervalKey {
				t.Errorf("%s: %d cells over %s and %s", c.name, len(p.cells), p.x.Path, p.y.Path)
			}
			got += " " + p.variant + "·"
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	resting := strings.NewReplacer("to: 20", "to: 0.5", "optimizer:", "policy: {init: fixed-point}\noptimizer:", "steps: 400", "steps: 20").Replace(regimes)
	if e, _ := runSweep(t, resting, t.TempDir(), 2); len(mapsIn(e)) != 0 {
		t.Errorf("at rest: maps %q", mapsIn(e))
	}
}
