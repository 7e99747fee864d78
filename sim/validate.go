package sim

import (
	"fmt"
	"slices"

	"grposim/grpo"
	"grposim/option"
)

// maxGroupSize is the largest finite group size that package draw can draw.
const maxGroupSize = 1 << 31

// check panics with the name of the first field of c that is out of its range, what it
// got and what it wants. It ignores what the cell does not use: its own value of a
// parameter that the location probe varies, and the numbers of replicas and pairs at
// G = ∞.
func (c *Cell) check() {
	arms, sampled := len(c.Bandit.Arms), !c.Deterministic()
	var m option.Mistakes
	c.Bandit.Check(&m)
	grpo.CheckEstimator(&c.Estimator, &m)
	m.Panic("sim")
	want(!sampled || c.Estimator.GroupSize <= maxGroupSize, "Estimator.GroupSize", c.Estimator.GroupSize, fmt.Sprintf("at most %d, or grpo.Infinite", maxGroupSize))
	if filter := c.Estimator.Filter; filter.Changes() {
		want(!sampled || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with the filter "+filter.String())
	}
	want(!c.Estimator.Advantage.Tabled() || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with this advantage")
	if adv := &c.Estimator.Advantage; adv.Baseline == option.RunningMean {
		want(len(c.Stiffness) == 0 && c.Relaxation == nil && c.Location == nil, "Stiffness, Relaxation or Location", "a probe", "none with the baseline running-mean")
		want(c.Prompts == nil, "Prompts", "some", "none with the baseline running-mean")
		want(!c.agedByGroup(), "Lag.Ages.Drawn", c.Lag.Ages.Drawn, "grpo.AgePerStep with the baseline running-mean")
	}
	lag, optimizer := c.Lag, c.Optimizer
	if p := c.Location; p != nil {
		switch p.Param {
		case LearningRate:
			optimizer.LearningRate = 1
		case RefreshInterval:
			lag.Interval = 1
		}
	}
	lag.Check(&m)
	if random := lag.Kind == option.Random; random {
		want(sampled || lag.Ages.Drawn == option.AgePerGroup, "Lag.Ages.Drawn", lag.Ages.Drawn, "grpo.AgePerGroup where Estimator.GroupSize is grpo.Infinite")
		want(!sampled || c.Relaxation == nil && c.Location == nil, "Lag.Kind", lag.Kind, "block or delay where pairs of replicas draw groups")
		want(c.Location == nil || c.Location.Param != RefreshInterval, "Location.Param", RefreshInterval, "optimizer.learning_rate, because a random lag has no interval")
	}
	optimizer.Check(&m)
	c.ReferenceUpdate.Check(&m)
	m.Panic("sim")
	want(c.Estimator.Samples != option.Reused || lag.Kind == option.Block, "Lag.Kind", lag.Kind, "block, where Estimator.Samples is reused")
	outside := c.Estimator.KL.Outside()
	want(!outside || lag.Kind != option.Random || lag.Ages.Drawn != option.AgePerGroup, "Estimator.KL.In", c.Estimator.KL.In, "loss, where each group has a random age of its own")
	if c.Prompts != nil {
		plain := !outside && c.Estimator.Entropy == 0 && c.Estimator.Samples != option.Reused && optimizer.MaxNorm == 0 && c.ReferenceUpdate.Interval == 0
		want(plain, "Estimator", c.Estimator, "the KL penalty in the loss, no entropy bonus, fresh samples, no largest norm and a reference that stays, with Prompts")
	}
	for _, list := range []struct {
		field   string
		numbers []float64
	}{{"Bandit.TrueMeans", c.Bandit.TrueMeans}, {"Init", c.Init}, {"Reference", c.Reference}} {
		if list.numbers != nil {
			wantNumbers(list.field, list.numbers, arms)
		}
	}
	if c.Prompts != nil {
		c.Prompts.check(c)
	}
	want(c.Run.Steps >= 1, "Run.Steps", c.Run.Steps, "at least 1")
	want(c.Run.BurnIn >= 0 && c.Run.BurnIn < c.Run.Steps, "Run.BurnIn", c.Run.BurnIn, fmt.Sprintf("at least 0 and less than Run.Steps, %d", c.Run.Steps))
	want(!sampled || c.Run.Replicas >= 1, "Run.Replicas", c.Run.Replicas, "at least 1")
	want(c.Traces >= 0, "Traces", c.Traces, "at least 0")
	want(c.Ends >= 0, "Ends", c.Ends, "at least 0")
	for i, p := range c.Stiffness {
		field := fmt.Sprintf("Stiffness[%d].", i)
		want(slices.Contains([]Displaced{Both, Current, Behind}, p.Displaced), field+"Displaced", p.Displaced, "total, fresh or stale")
		wantNumbers(field+"Point", p.Point, arms)
		wantNumbers(field+"Direction", p.Direction, arms)
		wantNumbers(field+"Covector", p.Covector, arms)
		wantPositive(field+"Displacement", p.Displacement)
		want(!sampled || p.Pairs >= 1, field+"Pairs", p.Pairs, "at least 1")
	}
	for i, fit := range c.Fits {
		want(fit == SaturationFit || fit == EarlySlopeFit || fit == LoggedFit, fmt.Sprintf("Fits[%d]", i), fit, "saturation, early-slope or logged")
	}
	if p := c.Relaxation; p != nil {
		wantPair("Relaxation.", p.Point, p.Direction, p.Offset, arms)
	}
	if p := c.Location; p != nil {
		scaled := slices.ContainsFunc(c.Stiffness, func(s StiffnessProbe) bool { return s.Name == StiffnessTotal })
		want(scaled, "Stiffness", fmt.Sprintf("%d probes of other names", len(c.Stiffness)), "one named "+StiffnessTotal+", from which Location takes its scale")
		want(p.Event == Instability || p.Event == Ringing || p.Event == Visible, "Location.Event", p.Event, "instability, ringing or visible")
		want(p.Event != Visible || c.Deterministic(), "Estimator.GroupSize", c.Estimator.GroupSize, "grpo.Infinite, where Location.Event is visible")
		want(p.Event != Visible || p.Visibility > 0 && p.Visibility < 1, "Location.Visibility", p.Visibility, "a number in (0, 1) where Location.Event is visible")
		want(p.Param == LearningRate || p.Param == RefreshInterval, "Location.Param", p.Param, "optimizer.learning_rate or lag.interval")
		wantPositive("Location.From", p.From)
		want(p.To >= p.From && finite([]float64{p.To}), "Location.To", p.To, fmt.Sprintf("a finite number ≥ Location.From, %v", p.From))
		want(p.Tolerance >= 0 && finite([]float64{p.Tolerance}), "Location.Tolerance", p.Tolerance, "a finite number ≥ 0")
		wantPair("Location.", p.Point, p.Direction, p.Offset, arms)
	}
}

// wantPair checks the start of a pair of replicas about a point.
func wantPair(field string, point, direction []float64, offset float64, arms int) {
	wantNumbers(field+"Point", point, arms)
	wantNumbers(field+"Direction", direction, arms)
	want(slices.ContainsFunc(direction, func(d float64) bool { return d != 0 }), field+"Direction", direction, "a direction other than 0")
	wantPositive(field+"Offset", offset)
}

func wantPositive(field string, got float64) {
	want(got > 0 && finite([]float64{got}), field, got, "a finite number > 0")
}

// wantNumbers checks that a list has one finite number an arm.
func wantNumbers(field string, got []float64, arms int) {
	want(len(got) == arms && finite(got), field, got, fmt.Sprintf("%d finite numbers, one an arm", arms))
}

// want panics with the name of a field of a cell unless ok.
func want(ok bool, field string, got any, wanted string) {
	if !ok {
		panic(fmt.Sprintf("sim: Cell.%s: got %v, want %s", field, got, wanted))
	}
}
