package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// planText returns the plan of a configuration with edits: pairs of old and new.
func planText(t *testing.T, text string, edits ...string) *plan.Plan {
	t.Helper()
	spec, err := config.Load(t.Name(), []byte(strings.NewReplacer(edits...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	return plan.New(spec)
}

// answers returns the advice for the one cell of a plan, by what is asked and the kind.
func answers(t *testing.T, plan *plan.Plan) map[string]Line {
	t.Helper()
	lines := make(map[string]Line)
	for _, advice := range Advise(plan) {
		for _, line := range advice.Lines {
			lines[line.Asked+" "+string(line.Kind)] = line
		}
	}
	return lines
}

// Edits of the bandit: nothing is stale; there is no fixed point.
var (
	weighted  = []string{"at: snapshot}", "at: current}, importance: {mode: ratio}"}
	noPenalty = []string{"coefficient: 0.5", "coefficient: 0", "init: fixed-point", "init: [0, 0]"}
)

const advisedBandit = `name: advised
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: 16, kl: {coefficient: 0.5, at: snapshot}, advantage: {scale: none}}
optimizer: {learning_rate: 0.05, momentum: 0.9}
run: {steps: 10, replicas: 2}
`

// The reference bandit of docs/theory.md §5: λ = 0.1670956266, all of it stale, and on
// policy the exact threshold is ηλ = 2(1+μ), 38 times that of the rule at K = 1.
func TestAdvise(t *testing.T) {
	const stiffness = 0.1670956266
	got := answers(t, planText(t, advisedBandit))
	for name, want := range map[string]float64{
		"learning rates that are stable at rest exact": 2 * 1.9 / stiffness,
		// κ(½ + 1/(2 sin(π/(4K−2)))) < 0.1 up to K = 18, κ = 0.05·0.1671
		"refresh intervals that are stable at rest sufficient-rule": 18,
	} {
		if x := float64(got[name].Value); !(math.Abs(x/want-1) < 1e-6) {
			t.Errorf("%s: %g, want %g", name, x, want)
		}
	}
	line := got["mean reward at rest exact"]
	if !strings.Contains(line.Says, ", arm 0 (the first is 0) with probability 0.78") {
		t.Errorf("%+v, want the arm with the mean 0.9", line)
	}
	// With a single mode, frozen in a block, the multiplier over the block is known; with
	// K = 11 steps the rule holds and the block is stable, and a larger learning rate is not.
	line = got["refresh intervals that are stable at rest exact"]
	if !(float64(line.Value) >= 11) || line.Says != "all up to the run's 10 steps" {
		t.Errorf("%+v, want more than the sufficient rule", line)
	}
	// Nothing is stale under importance weights and the current policy's KL.
	fresh := answers(t, planText(t, advisedBandit, weighted...))
	if line := fresh["refresh intervals that are stable at rest exact"]; line.Says == "" {
		t.Errorf("no answer about the refresh interval: %v", fresh)
	}
	// Without a penalty there is a way, and nothing at rest.
	none := answers(t, planText(t, advisedBandit, append(noPenalty, "steps: 10", "steps: 1000")...))
	way := none["90 % of the way from the start exact"]
	if len(none) != 4 || !(math.Abs(float64(way.Value)-33.9) < 0.1) {
		t.Errorf("%v, want the way alone", none)
	}
}

// The noise floor is the root of the variance of J that `grposim predict` has, to second order.
func TestNoiseFloorIsPredicted(t *testing.T) {
	plan := planText(t, advisedBandit, "group_size: 16", "group_size: 16, groups_per_step: 64")
	for _, p := range sweeps.Predictions(plan) {
		x := math.Pow(float64(answers(t, plan)["noise floor exact"].Value), 2)
		if p.Variance == nil || !(math.Abs(x / *p.Variance - 1) < 1e-12) ||
			x == *p.Exact.StationaryVariance.ExpectedReward {
			t.Errorf("advise has %g, predict %v", x, p.Variance)
		}
	}
}

// Of two equally good arms beside a bad one the fixed point is neutral in one direction, which is
// neither stable nor unstable, and the limits are those of the other direction.
func TestAdviceInANeutralDirection(t *testing.T) {
	p := planText(t, `name: neutral
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9, count: 2}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, groups_per_step: 8, kl: {coefficient: 0.02}}
optimizer: {learning_rate: 0.05}
run: {steps: 400, burn_in: 200, replicas: 4}
`)
	for _, given := range Advise(p) {
		if says := given.Words[1]; !strings.HasPrefix(says, "Stable at") || !strings.Contains(says, "but for 1 of 2 directions") {
			t.Errorf("%q, want that nothing pulls back in one direction of two", says)
		}
	}
	for asked, line := range answers(t, p) {
		if x := float64(line.Value); x > 1e9 {
			t.Errorf("%s: %q, which is rounding", asked, line.Says)
		}
	}
}

// Under Adam no rate is called stable or unstable, and from 0.8 η*λ/(2√C) on runs leave, C = Var g_1.
func TestAdviseAdam(t *testing.T) {
	plan := planText(t, advisedBandit, "learning_rate: 0.05, momentum: 0.9", "kind: adam, learning_rate: 2")
	got := answers(t, plan)
	p := theory.NewCache().Predict(&plan.Cells[0].Settings, rom.Unit)
	critical := *p.LeadingOrder.CriticalLearningRate
	spread := got["learning rates that keep Adam's spread small leading-order"]
	want := critical * min(1, 0.8*p.Stiffness.Total/math.Sqrt(p.GradientVariance))
	if !(math.Abs(float64(spread.Value)/want-1) < 1e-6) || !strings.Contains(spread.Assumes, "no limit") {
		t.Errorf("%+v, want %g", spread, want)
	}
	for name := range got {
		if strings.Contains(name, "stable at rest") {
			t.Errorf("%q under Adam", name)
		}
	}
}

// A threshold so small that half of it is 0, as that of Adam almost without noise, is no limit.
func TestTinyThreshold(t *testing.T) {
	a := &adviser{cache: theory.NewCache(), settings: planText(t, advisedBandit).Cells[0].Settings}
	tiny := math.SmallestNonzeroFloat64
	a.limit(ofRate, "rates", &tiny, 0, func(x float64) (float64, string) { return x, "" }, "")
	if l := a.lines[0]; !strings.Contains(l.Says, "range of floating point") || l.bounds != ofNeither {
		t.Errorf("%+v", l)
	}
	ofInterval.set(&a.settings, 1e200) // as that of a learning rate of 1e-200
	if got := a.settings.Lag.Interval; got != 1<<53 {
		t.Errorf("an interval of 1e200 is %d, want the longest one", got)
	}
}

// A suggestion keeps the present learning rate and interval where they arrive and are safe, and
// lets the interval grow to half of the largest stable one; one that is longer is cut to it. Where
// that is no interval, or no interval is unstable, it is half of the largest stable learning rate
// if that is less than the present one; a network's rate has no suggestion. Limits that have been
// located count too; what groups are too small for does not. All have been tried, and where the
// first choice does not arrive smaller ones are. The interval is not cut where smaller learning
// rates arrive with the present one. Where another key's change alone does, that is suggested.
func TestSuggest(t *testing.T) {
	type edits = []string
	lag := func(keys string, more ...string) edits {
		return append(more, "optimizer: {", "lag: {"+keys+"}\noptimizer: {")
	}
	located := func(unsafe float64) []Line {
		return []Line{{bounds: ofInterval, safe: 10, unsafe: unsafe, Kind: Simulated}}
	}
	for _, c := range []struct {
		edits   edits
		located []Line
		want    string // η, the interval, to which it may grow (0: none is known to be safe), and kind
		because string
	}{
		{lag("interval: 12"), nil, "0.05 9 0 sufficient-rule",
			"η = 0.05 and K = 9: the present η, and half of 18"},
		{lag("interval: 4"), nil, "0.05 4 9 sufficient-rule", "keep η = 0.05 and K = 4: from"},
		{lag("kind: random, ages: {to: 2}"), nil, "0.05 NaN 0 sufficient-rule",
			"keep η = 0.05 with the present ages"},
		{nil, nil, "0.05 1 9 sufficient-rule", "half of 18"},
		{nil, located(12), "0.05 1 5 simulated", "half of 10"},
		{nil, located(math.Inf(1)), "0.05 1 9 sufficient-rule", "half of 18"},
		{edits{"rate: 0.05", "rate: 0.02", "steps: 10", "steps: 120"}, nil,
			"0.02 1 15 sufficient-rule", "an eighth of the run"},
		{edits{"rate: 0.05", "rate: 40", "size: 16", "size: inf"}, nil,
			"10 1 0 simulated", "the change above"},
		{weighted, nil, "0.05 1 0 sufficient-rule", "keep η = 0.05 and K = 1: the present ones"},
		{edits{"rate: 0.05", "rate: 40"}, nil, "0.15 1 0 simulated", "η halved until the runs arrive"},
		{noPenalty, nil, "0.05 1 0 simulated", "the present ones"},
		{edits{"rate: 0.05", "rate: 1e-6", "fixed-point", "[0, 0]", "size: 16", "size: inf"}, nil,
			"NaN NaN 0 ", "that of a network"},
		{noPenalty[:2], nil, "NaN NaN 0 ", noStart},
		{append(edits{"steps: 10", "steps: 20"}, noPenalty...), nil,
			"0.2 1 0 simulated", "the change above"},
		{lag("interval: 14", "fixed-point", "[0, 0]", "steps: 10", "steps: 100"), nil,
			"0.03125 14 0 simulated", "η = 0.03125 and K = 14: "},
		{lag("interval: 12", "fixed-point", "[-2, 0]", "steps: 10", "steps: 30"), nil,
			"0.05 12 0 simulated", "grpo.groups_per_step=8 with η = 0.05 and K = 12: "},
	} {
		plan := planText(t, advisedBandit, slices.Concat(c.edits, edits{"steps: 10", "steps: 400"})...)
		_, advice := advised(t, plan, c.located...)
		s, longer := advice.Suggestion, 0
		if l := s.Longer; l != nil {
			longer = l.Trial.settings.Lag.Interval
			if l.Trial.Outcome != Arrives || l.Interval != longer || s.Trial != advice.Start {
				t.Errorf("%v: %+v, want a trial that arrives, and that of the present ones", c.edits, l)
			}
		}
		got := fmt.Sprintf("%.6g %g %d %s", s.LearningRate, s.Interval, longer, s.Kind)
		if got != c.want || !strings.Contains(s.Says, c.because) {
			t.Errorf("%v: %s: %s, want %s because of %s", c.edits, got, s.Says, c.want, c.because)
		}
		if s.Trial != nil && (s.Trial.Outcome != Arrives || s.Trial.Runs > mostRuns) {
			t.Errorf("%v: %+v, want a trial that arrives", c.edits, s.Trial)
		}
	}
}

// lateUnderNoise is a run of verl's preset too short for its learning rate, with or without noise.
const lateUnderNoise = `name: late
extends: verl
seed: 688139
bandit: {arms: [{reward: bernoulli, mean: 0.5}, {reward: bernoulli, mean: 1}, {reward: bernoulli, mean: 0.84}, {reward: bernoulli, mean: 0.89}, {reward: bernoulli, mean: 0.14}, {reward: bernoulli, mean: 0.12}, {reward: bernoulli, mean: 0.12}, {reward: bernoulli, mean: 0.23}]}
policy: {init: [0.45, -2.28, -1.32, -0.72, 1.44, 0.75, -1.4, -1.18], reference: [0.45, -2.28, -1.32, -0.72, 1.44, 0.75, -1.4, -1.18]}
grpo: {group_size: 8, groups_per_step: 8, kl: {coefficient: 0.001}}
lag: {kind: block, interval: 2, samples: reused}
optimizer: {kind: adam, learning_rate: 0.0039, schedule: {kind: constant, warmup: 20}, max_norm: 1}
run: {steps: 600, replicas: 64}
`

// A suggestion and the rows above it are of one set of runs: a learning rate that a row of 512 runs
// finds to arrive is suggested. Changes are not tried of which a run without noise is late too.
func TestSuggestionReadsTheRows(t *testing.T) {
	_, advice := advised(t, planOf(t, lateUnderNoise))
	s, trial := advice.Suggestion, advice.Suggestion.Trial
	if s.LearningRate != 0.0156 || s.Interval != 2 ||
		trial.Runs != mostRuns || trial.Outcome != Arrives {
		t.Errorf("%+v, want the learning rate 0.0156 of the row that arrives", s)
	}
	tried := ""
	for _, c := range advice.Cures {
		tried += c.Set + "\n"
	}
	for _, noise := range []string{"grpo.groups_per_step=", "grpo.kl.gradient=", "lag.interval="} {
		if strings.Contains(tried, noise) {
			t.Errorf("%swant no %s", tried, noise)
		}
	}
}

// The interval may grow only as far as the rise takes at most 1.2 times as long, as is said: by
// the predicted path 95 % are gone at step 310.6 with K = 2, 330 with 31 and 574 with 62.
func TestPriceOfALongerInterval(t *testing.T) {
	_, advice := advised(t, planOf(t, `name: grows
extends: slime
seed: 665445
bandit: {arms: [{reward: bernoulli, mean: 0.79}, {reward: bernoulli, mean: 0.16},
  {reward: bernoulli, mean: 0.9}]}
policy: {init: [-1.05, -1.41, -1.8], reference: [-1.05, -1.41, -1.8]}
grpo: {group_size: 16, groups_per_step: 2, kl: {coefficient: 0.04, gradient: k3}}
lag: {kind: block, interval: 2}
optimizer: {kind: adam, learning_rate: 0.0118, schedule: {kind: constant, warmup: 0}}
run: {steps: 2000, replicas: 64}
`))
	const price = "K may grow to 31: 95 % of the way at step 330 instead of 308, "
	s := advice.Suggestion
	if s.Longer == nil || s.Longer.Interval != 31 || !strings.Contains(s.Says, price) {
		t.Errorf("%+v, want K = 31 and its time", s)
	}
}

// The answer in words says how long the way is, where it ends, and what to do. A run that is too short
// is told by the path of a longer one how long it should be.
func TestWords(t *testing.T) {
	const default1 = `name: default1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, groups_per_step: 8, kl: {coefficient: 0}, importance: {mode: clip}}
lag: {interval: 4}
optimizer: {learning_rate: 0.1, max_norm: 1}
run: {steps: 200}
`
	for _, c := range []struct {
		text string
		want []string
	}{
		{default1, []string{"J goes from 0.55 to 0.9: 90 % of the way by step 83.",
			"With β = 0 it heads for the best arm and does not rest; at that step 31 % of the groups",
			"Do: keep η = 0.1 and K = 4, unless the trials below say otherwise."}},
		{strings.Replace(default1, "rate: 0.1", "rate: 0.04, schedule: {kind: cosine}", 1), []string{"not within 200 steps, after which it is 0.8",
			"With β = 0 it heads for", "Do: run about 429 steps, or raise η to about 0.086."}},
		{lateUnderNoise, []string{"not within 600 steps, after which it is 0.",
			"Stable at its fixed point J* = 0.9996", "Do: run about 1790 steps, or raise η to about 0.012."}},
		{wrongArm, []string{"not before step 25.6 of 1000",
			"Runs may be lost: the clip reverses the force of late samples.", "Do: see which of the changes"}},
		{strings.Replace(advisedBandit, "steps: 10", "steps: 200", 1), []string{"J starts where it should end, at 0.752.", "Stable at its fixed point J* = 0.7516",
			"Do: keep η = 0.05 and K = 1, unless"}},
		{strings.Replace(advisedBandit, "rate: 0.05", "rate: 30", 1),
			[]string{"", "Unstable at its fixed point", "Do: cut η to 0.6: "}},
	} {
		for _, advice := range Advise(planOf(t, c.text)) {
			for i, want := range c.want {
				if !strings.Contains(advice.Words[i], want) {
					t.Errorf("%q, want %q", advice.Words[i], want)
				}
			}
		}
	}
	path := theory.Path{Steps: []int{0, 10, 20}, Reward: theory.Series{0, 0.5, 1}, Neglected: theory.Series{0, 0.25, 0.5}}
	if got := NotBefore(&path, 0.75); got != 10 {
		t.Errorf("not before step %g, want 10", got)
	}
}
