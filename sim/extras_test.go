package sim

import (
	"math"
	"slices"
	"testing"

	"grposim/option"
)

// recordable lists quantities that the cell can record.
func recordable(c *Cell) []Quantity {
	record := []Quantity{ProbabilityOf(len(c.Bandit.Arms) - 1)}
	if !c.Deterministic() {
		record = append(record, SamplesDrawn)
	}
	if !EffectiveSampleSize.SinceRecord(c.Lag) {
		record = append(record, EffectiveSampleSize)
	}
	if Binary(c.Bandit.Arms) {
		record = append(record, PassAt(1), PassAt(5), PassAt(64))
	}
	if c.tabular() {
		record = append(record, Strata)
	}
	return record
}

// At G = ∞ what is recorded of the first block from the uniform policy is known. J is 0.55, and
// after a step z = 2·0.1·0.175, while the snapshot is still the uniform policy.
func TestExtrasOfTheReferenceBandit(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize, c.Lag.Interval, c.Init = option.Infinite, 2, []float64{0, 0}
	c.Run = Run{Steps: 2, Record: []Quantity{PassAt(4), EffectiveSampleSize, ProbabilityOf(0)}}
	p := 1 / (1 + math.Exp(-0.035))
	reward := 0.2 + 0.7*p
	for step, want := range []map[Quantity]float64{
		{PassAt(4): 1 - math.Pow(0.45, 4), EffectiveSampleSize: 1},
		{PassAt(4): 1 - math.Pow(1-reward, 4), ProbabilityOf(0): p, EffectiveSampleSize: 1 / (2*p*p + 2*(1-p)*(1-p))},
		{EffectiveSampleSize: 1},
	} {
		r := batchAt(c.checked(), []int{0, 1, 2}, 1).run(t.Context(), 0, 1)[0]
		for q, want := range want {
			near(t, q, r.row(step)[slices.Index(c.Quantities(), q)], want, 1e-12)
		}
	}
}

// Without redrawing, the samples before a step are G·B for each step that draws, with `drop` too. By
// its schedule G is 2, 3, 5, 6, 8, 10, 11, 13, 14 and then 16.
func TestSamplesOfFixedNumber(t *testing.T) {
	for _, change := range []func(*Cell){
		func(*Cell) {},
		func(c *Cell) { c.Estimator.Filter = option.Drop },
		func(c *Cell) { c.Lag.Interval = 4 },
		func(c *Cell) { c.Lag.Interval, c.Estimator.Samples = 4, option.Reused },
		func(c *Cell) { c.Lag.Interval, c.Estimator.SizeSchedule.Warmup = 4, 10 },
	} {
		c := referenceCell()
		c.Estimator.GroupsPerStep = 3
		c.Run = Run{Steps: 21, Replicas: 4, Record: []Quantity{SamplesDrawn}}
		change(&c)
		want := make([]float64, c.Run.Steps+1)
		one := newReplica(c.checked(), nil, coupledLaws(&c.Bandit, &c.Estimator))
		one.begin(0)
		for step := range c.Run.Steps {
			size := 16
			if scheduled := []int{2, 3, 5, 6, 8, 10, 11, 13, 14}; c.Estimator.SizeSchedule.Varies() && step < len(scheduled) {
				size = scheduled[step]
			}
			one.push(step)
			equal(t, "samples of the step", one.statistics.Arms[0].Count+one.statistics.Arms[1].Count, 3*size)
			want[step+1] = want[step]
			if c.Draws(step) {
				want[step+1] += 3 * float64(size)
			}
		}
		r := simulate(t, []Cell{c}, 1)[0]
		for i, step := range r.Steps {
			s := r.Trajectory[i][len(r.Quantities)-1]
			if s.Mean != want[step] || s.StdErr != 0 || s.Quantiles[4] != want[step] {
				t.Errorf("%+v, step %d: got %+v, want %v", c.Lag, step, s, want[step])
			}
		}
	}
}

// What is recorded of many prompts, and of groups with an age each, is known at the first two
// steps. It is G·B over the mean chance of a group whose rewards differ, and means over prompts.
func TestExtrasOfPromptsAndAges(t *testing.T) {
	chance := func(reward float64, size int) float64 {
		return 1 - math.Pow(reward, float64(size)) - math.Pow(1-reward, float64(size))
	}
	for name, c := range promptCells() {
		c.Run.Record, c.Run.Steps, c.Run.BurnIn = []Quantity{SamplesDrawn, PassAt(3)}, 1, 0
		r := simulate(t, []Cell{c}, 1)[0]
		start := newReplica(c.checked(), nil, coupledLaws(&c.Bandit, &c.Estimator))
		start.begin(0)
		mean, passes := 0.0, 0.0
		for x, m := range c.Prompts.Means {
			policy := start.policy
			if start.tabular != nil {
				policy = start.tabular.prompts[x].policy
			}
			reward := policy.Mean(m[:])
			mean += chance(reward, c.Estimator.GroupSize) / float64(len(c.Prompts.Means))
			passes += (1 - math.Pow(1-reward, 3)) / float64(len(c.Prompts.Means))
		}
		if c.Estimator.Filter != option.Redraw {
			mean = 1
		}
		samples, pass := len(r.Quantities)-2, len(r.Quantities)-1
		want := samplesAStep(&c.Estimator) / mean
		near(t, name+": samples", r.Trajectory[1][samples].Mean, want, 1e-9*want)
		near(t, name+": pass@3", r.Trajectory[0][pass].Mean, passes, 1e-12)
	}
	c := referenceCell()
	c.Lag, c.Estimator.GroupsPerStep, c.Estimator.GroupSize = randomAgesOfGroups, 3, 4
	c.Estimator.Filter, c.Init = option.Redraw, []float64{0, 0}
	c.Run = Run{Steps: 40, Replicas: 20, Record: []Quantity{SamplesDrawn, EffectiveSampleSize}}
	r := simulate(t, []Cell{c}, 1)[0]
	samples := len(r.Quantities) - 2
	want := 12 / chance(0.55, 4)
	near(t, "ages: samples", r.Trajectory[1][samples].Mean, want, 1e-9*want)
	if first, last := r.Trajectory[0][samples+1].Mean,
		r.Trajectory[len(r.Steps)-1][samples+1].Mean; first != 1 || !(last > 0.9 && last < 1) {
		t.Errorf("ages: effective sample size %g at the start, %g at the end", first, last)
	}
}

var randomAgesOfGroups = option.Lag{Kind: option.Random,
	Ages: option.Ages{Law: option.UniformAges, To: 6, Drawn: option.AgePerGroup}}

// At G = ∞ a random lag weights its snapshots by their probabilities.
func TestSampleShareOverAges(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize, c.Init = option.Infinite, []float64{0, 0}
	ages := option.Ages{Law: option.TableAges, Weights: [option.MaxTableAge + 1]float64{3, 1}}
	c.Lag = option.Lag{Kind: option.Random, Ages: ages}
	c.Run = Run{Steps: 1, Record: []Quantity{EffectiveSampleSize}}
	r := simulate(t, []Cell{c}, 1)[0]
	z := 2 * 0.1 * 0.175
	p := 1 / (1 + math.Exp(-z))
	got, want := r.Trajectory[1][len(r.Quantities)-1].Mean, 0.75+0.25/(2*p*p+2*(1-p)*(1-p))
	near(t, "ages", got, want, 1e-12)
}
