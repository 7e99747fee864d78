package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/sweeps/claim"
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

func mapOf(t *testing.T, e *Experiment, x, y string) *regimeMap {
	t.Helper()
	m := must(NewMap(e.Plan, MapQuery{X: x, Y: y}))
	return newRegimeMap(e.evidence, m.panels[0], nil)
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
	t.Run("shown", func(t *testing.T) {
		got := mapsIn(e)
		if len(got) != 1 || got[0] != e.Figures[0].Name ||
			got[0] != "map-optimizer.learning_rate-lag.interval" {
			t.Errorf("maps %q, of %d figures", got, len(e.Figures))
		}
	})
}

// The boundaries of a map over η and K are steps: between K − ½ and K + ½ each is at the η
// of its closed form (docs/theory.md §4, §5 and §9) for K.
func checkCurves(t *testing.T, e *Experiment) {
	const lambda, early, mu = 0.1586848975, 0.29070304, 0.5 // the reference bandit without scale
	frozen := func(of linear.Event) func(k int) float64 {
		return func(k int) float64 { return linear.FrozenBlock(of, option.HeavyBall, mu, k) }
	}
	closed := map[string]func(k int) float64{
		"rule":      func(k int) float64 { return (1 - mu) / float64(k) / (early / lambda) },
		"stability": frozen(linear.CriticalRate), "onset": frozen(linear.OnsetRate),
		"damping-ratio": func(k int) float64 { // the κ at which 4mκ = γ²
			age := float64(k * min(1, k-1)) // on-policy 0
			low, high := 1e-3, 1.0
			for range 60 {
				kappa := (low + high) / 2
				if gamma := 1 - mu - kappa*age; 2*(1+mu+kappa*age*age)*kappa > gamma*gamma {
					high = kappa
				} else {
					low = kappa
				}
			}
			return low / (early / lambda)
		},
	}
	curves := mapOf(t, e, config.LearningRateKey, config.LagIntervalKey).curves
	equal(t, "curves", len(curves), len(closed))
	for _, c := range curves {
		equal(t, c.Name, len(c.Lines), 1)
		for k := 1; k <= 8; k++ {
			want := closed[c.Name](k) / lambda
			for _, y := range []float64{float64(k) - 0.5, float64(k) + 0.5} {
				nearest := math.Inf(1)
				for _, p := range c.Lines[0] {
					if p[1] == y {
						nearest = min(nearest, math.Abs(p[0]/want-1))
					}
				}
				if nearest > 1e-4 {
					t.Errorf("%s, K = %d: no corner within 1e-4 of η = %g: %g", c.Name, k, want, nearest)
				}
			}
		}
	}
}

// A window of instability is mapped as one: with the importance ratio, the KL at the snapshot, μ =
// 0.9 and ηλ = 0.62, only K = 4 of K = 1 … 12 is unstable (docs/theory.md §5).
func TestMapWindow(t *testing.T) {
	e, _ := runSweep(t, `
name: window
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: {fixed_point_offset: 0.01}}
grpo: {group_size: inf, advantage: {scale: none}, importance: {mode: ratio},
  kl: {coefficient: 0.5, at: snapshot}}
optimizer: {learning_rate: 1, momentum: 0.9}
run: {steps: 1200}
sweep:
  - {param: lag.interval, range: {from: 1, to: 12, step: 1}}
  - {param: optimizer.learning_rate, values: [3.7, 3.9071138, 4.1]}
`, t.TempDir(), 1)
	m := mapOf(t, e, config.LagIntervalKey, config.LearningRateKey)
	for _, p := range m.points {
		if p.y == 3.9071138 && (p.Name() == theory.Unstable) != (p.x == 4) {
			t.Errorf("K = %g is %s, radius %g", p.x, p.Name(), p.Radius)
		}
		if p.Name() == theory.Unstable && p.class != claim.Sustained {
			t.Errorf("K = %g, η = %g is unstable and %s", p.x, p.y, p.class)
		}
	}
	for _, polygon := range m.area {
		for _, p := range polygon {
			if p[0] < 3.5 || p[0] > 4.5 {
				t.Errorf("unstable at K = %g, η = %g", p[0], p[1])
			}
		}
	}
	if len(m.area) == 0 {
		t.Error("no area is unstable")
	}
}

// Far enough from the boundaries the classes of cells agree with the linear dynamics:
// cells below the onset are monotone, and the unstable ones do not settle.
func checkClasses(t *testing.T, e *Experiment) {
	m := mapOf(t, e, config.LearningRateKey, config.LagIntervalKey)
	if len(m.points) != 36 {
		t.Fatalf("%d cells", len(m.points))
	}
	for _, p := range m.points {
		settles := p.class == claim.Monotone || p.class == claim.Overshooting || p.class == claim.Oscillatory
		if (p.Radius > 1.05 && settles) || (p.Radius < 0.95 && !settles) {
			t.Errorf("η = %g, K = %g: %s at radius %g", p.x, p.y, p.class, p.Radius)
		}
		if p.Rate < 0.9*p.Onset && p.class != claim.Monotone {
			t.Errorf("η = %g, K = %g: %s at %g times the onset", p.x, p.y, p.class, p.Rate/p.Onset)
		}
	}
	total := 0
	for _, n := range m.counts {
		total += n.cells
		if n.in[theory.Overdamped]+n.in[theory.Oscillatory]+n.in[theory.Unstable] != n.cells {
			t.Errorf("%+v does not add up", n)
		}
	}
	if total != len(m.points) {
		t.Errorf("%d of %d cells are counted", total, len(m.points))
	}
}

// The settling time is known for curves without noise and missing where noise or an oscillation
// decides it. Noise of a known size is a pattern of ±1 that repeats after seven steps.
func TestSettlingTime(t *testing.T) {
	// 5 % away at 50 ln 20 = 149.8
	exponential := func(t float64) float64 { return 1 - math.Exp(-t/50) }
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
		class  claim.Class
		want   [2]float64
	}{
		{"exponential", exponential, 0, claim.Monotone, between},
		{"after a burn-in", exponential, 400, claim.Monotone, between},
		{"a burn-in before it settles", exponential, 100, claim.Monotone, missing},
		{"falling", func(t float64) float64 { return -exponential(t) }, 0, claim.Monotone, between},
		{"small noise", noisy(0.001), 0, claim.Unresolved, between},
		// too few final records for s: t = 8
		{"noise of a sixth of the band", noisy(0.008), 0, claim.Unresolved, missing},
		{"the same with more final records", noisy(0.008), 250, claim.Unresolved, [2]float64{149, 190}},
		{"noise of the whole way", func(t float64) float64 { return noisy(1)(t) - exponential(t) }, 0,
			claim.Unresolved, missing},
		{"not finished", func(t float64) float64 { return 1 - math.Exp(-t/300) }, 0, claim.Monotone,
			missing},
		{"late", func(t float64) float64 { return math.Floor(t / 490) }, 0, claim.Monotone, missing},
		{"oscillates to the end", oscillator(0, 0.2), 0, claim.Sustained, missing},
		{"between brief dips", exponential, 0, claim.Sustained, missing},
		{"no way", func(float64) float64 { return 0.75 }, 0, claim.AtRest, missing},
		{"diverged", func(t float64) float64 { return math.NaN() }, 0, claim.Diverged, missing},
	} {
		cell, o := record(600, 1, c.reward, 0.6)
		cell.Settings.Run.BurnIn = c.burnIn
		cell.Settings.Estimator.GroupSize = 16
		e := &claim.Evidence{Outcomes: map[string]*store.Outcome{cell.ID: o}}
		got := numberNamed(t, timeTo95).of(cell, e.Means(o), c.class).Mean
		none := math.IsNaN(c.want[0])
		if none != math.IsNaN(got) || !none && !(got >= c.want[0] && got <= c.want[1]) {
			t.Errorf("%s: got %g, want %g to %g", c.name, got, c.want[0], c.want[1])
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
		equal(t, c.values, spacing(c.values), c.want)
	}
}

func TestMapQuery(t *testing.T) {
	const more = `
  - {param: grpo.group_size, values: [8, 16, inf]}
  - {param: grpo.importance.mode, values: [none, ratio]}
`
	two := func(x, y string, where ...string) MapQuery { return MapQuery{X: x, Y: y, Where: where} }
	const rate, lag = config.LearningRateKey, config.LagIntervalKey
	for _, c := range []struct {
		name, sweep string
		MapQuery
		want string // of the error; "" none
	}{
		{"fine", "", two(rate, lag), ""},
		{"chosen", more, two(rate, lag, "grpo.group_size=inf", "grpo.importance.mode=ratio"), ""},
		{"not a number", more, two("grpo.importance.mode", lag),
			`--x: got grpo.importance.mode, want a key whose value is a number`},
		{"not swept", "", two(rate, config.MomentumKey), `--x, --y: got optimizer.learning_rate and optimizer.momentum, which the sweep does not vary together, want two of lag.interval and optimizer.learning_rate`},
		{"others vary", more, two(rate, lag), `--x, --y: got a sweep that varies grpo.group_size and grpo.importance.mode, want x and y alone: choose with --where grpo.group_size=8`},
		{"infinite", more, two(rate, config.GroupSizeKey, "lag.interval=2", "grpo.importance.mode=none"),
			`--x, --y: got inf among the values, want numbers: it has no place on an axis`},
		{"no value", "", two(rate, lag, "lag.interval"), `--where: got "lag.interval", want key=value`},
		{"no cell chosen", more, two(rate, lag, "grpo.group_size=5"),
			`--where: got conditions that no cell satisfies, want values of the sweep`},
		{"several colours", "", MapQuery{X: rate, Y: lag, Quantities: []string{"entropy", "time_to_95"}},
			`--quantity: got entropy,time_to_95, want one, which colours the cells of a map over two keys`},
		{"another key", "", two("eta", ""), `--x: got eta, which the sweep does not vary, want one of optimizer.learning_rate, lag.interval, did you mean "optimizer.learning_rate"?`},
		{"no cell at all", "", two("", "", "lag.interval=5"),
			`--where: got conditions that no cell satisfies, want values of the sweep`},
		{"no quantity", "", MapQuery{Quantities: []string{"reward"}},
			`--quantity: got "reward", want one of time_to_95, `},
		{"no level", "", MapQuery{Quantities: []string{"time_to_level"}},
			`--level: got nothing, want the level of time_to_level`},
	} {
		m, err := NewMap(planText(t, regimes+strings.TrimPrefix(c.sweep, "\n")), c.MapQuery)
		if c.want != "" {
			refused(t, c.name, err, c.want)
		} else if err != nil || len(m.panels) != 1 || len(m.panels[0].cells) != 36 {
			t.Errorf("%s: %+v, %v", c.name, m, err)
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
		{"a word", strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}",
			"{param: grpo.importance.mode, values: [none, ratio]}", 1), ""},
		{"infinite groups", strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}",
			"{param: grpo.group_size, values: [4, 8, 16, inf]}", 1), ""},
		{"the length of the run goes along",
			strings.Replace(regimes, "{param: lag.interval, values: [1, 2, 4, 8]}",
				"{zip: [{param: lag.interval, values: [1, 2, 4, 8]}, {param: run.steps, values: [400, 401, "+
					"402, 403]}]}", 1), "·"},
		{"variants", regimes + "variants: [{name: slow, set: {optimizer.momentum: 0}}, {name: fast}, " +
			"{name: single, sweep: []}]\n", "slow· fast·"},
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
	resting := strings.NewReplacer("to: 20", "to: 0.5", "optimizer:",
		"policy: {init: fixed-point}\noptimizer:", "steps: 400", "steps: 20").Replace(regimes)
	if e, _ := runSweep(t, resting, t.TempDir(), 2); len(mapsIn(e)) != 0 {
		t.Errorf("at rest: maps %q", mapsIn(e))
	}
}
