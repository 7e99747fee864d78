package sim

import (
	"fmt"
	"slices"

	"grposim/grpo"
	"grposim/option"
)

// maxGroupSize is the largest finite group size that package draw can draw.
const maxGroupSize = 1 << 31

// check panics with the name of each field of c that is out of its range, what it got and what it
// wants. It ignores what the cell does not use: its own value of a parameter that the location
// probe varies. At G = ∞ the numbers of replicas and pairs are not used.
func (c *Cell) check() {
	arms, sampled := len(c.Bandit.Arms), !c.Deterministic()
	m := new(option.Mistakes)
	c.Bandit.Check(m)
	grpo.CheckEstimator(&c.Estimator, m)
	m.Want(!sampled || c.Estimator.GroupSize <= maxGroupSize, "Estimator.GroupSize", c.Estimator.GroupSize, fmt.Sprintf("at most %d, or option.Infinite", maxGroupSize))
	if filter := c.Estimator.Filter; filter.Changes() {
		m.Want(!sampled || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with the filter "+filter.String())
	}
	m.Want(!c.Estimator.Advantage.BinaryOnly() || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with this advantage")
	if adv := &c.Estimator.Advantage; adv.Baseline == option.RunningMean {
		m.Want(len(c.Stiffness) == 0 && c.Relaxation == nil && c.Location == nil, "Stiffness, Relaxation or Location", "a probe", "none with the baseline running-mean")
		m.Want(c.Prompts == nil, "Prompts", "some", "none with the baseline running-mean")
		m.Want(!c.agedByGroup(), "Lag.Ages.Drawn", c.Lag.Ages.Drawn, "option.AgePerStep with the baseline running-mean")
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
	lag.Check(m)
	if random := lag.Kind == option.Random; random {
		m.Want(sampled || lag.Ages.Drawn == option.AgePerGroup, "Lag.Ages.Drawn", lag.Ages.Drawn, "option.AgePerGroup where Estimator.GroupSize is option.Infinite")
		m.Want(!sampled || c.Relaxation == nil && c.Location == nil, "Lag.Kind", lag.Kind, "block or delay where pairs of replicas draw groups")
		m.Want(c.Location == nil || c.Location.Param != RefreshInterval, "Location.Param", RefreshInterval, "optimizer.learning_rate, because a random lag has no interval")
	}
	optimizer.Check(m)
	c.ReferenceUpdate.Check(m)
	m.Want(c.Estimator.Samples != option.Reused || lag.Kind == option.Block, "Lag.Kind", lag.Kind, "block, where Estimator.Samples is reused")
	outside := c.Estimator.KL.Outside()
	m.Want(!outside || lag.Kind != option.Random || lag.Ages.Drawn != option.AgePerGroup, "Estimator.KL.In", c.Estimator.KL.In, "loss, where each group has a random age of its own")
	if c.Prompts != nil {
		plain := !outside && c.Estimator.Entropy == 0 && c.Estimator.Samples != option.Reused && optimizer.MaxNorm == 0 && c.ReferenceUpdate.Interval == 0
		m.Want(plain, "Estimator", c.Estimator, "the KL penalty in the loss, no entropy bonus, fresh samples, no largest norm and a reference that stays, with Prompts")
	}
	for _, list := range []struct {
		field   string
		numbers []float64
	}{{"Bandit.TrueMeans", c.Bandit.TrueMeans}, {"Init", c.Init}, {"Reference", c.Reference}} {
		if list.numbers != nil {
			wantNumbers(m, list.field, list.numbers, arms)
		}
	}
	if c.Prompts != nil {
		c.Prompts.check(c, m)
	}
	m.Want(c.Run.Steps >= 1, "Run.Steps", c.Run.Steps, "at least 1")
	m.Want(c.Run.BurnIn >= 0 && (c.Run.Steps < 1 || c.Run.BurnIn < c.Run.Steps), "Run.BurnIn", c.Run.BurnIn, fmt.Sprintf("at least 0 and less than Run.Steps, %d", c.Run.Steps))
	m.Want(!sampled || c.Run.Replicas >= 1, "Run.Replicas", c.Run.Replicas, "at least 1")
	c.checkRecord(m)
	m.Want(c.Traces >= 0, "Traces", c.Traces, "at least 0")
	m.Want(c.Ends >= 0, "Ends", c.Ends, "at least 0")
	m.Want(!c.Edge || c.Network != nil && c.Deterministic(), "Edge", c.Edge, "false, but of a Network at G = ∞")
	if c.Network != nil {
		c.Network.check(c, m)
	}
	for i, p := range c.Stiffness {
		field := fmt.Sprintf("Stiffness[%d].", i)
		m.Want(slices.Contains([]Displaced{Both, Current, Behind}, p.Displaced), field+"Displaced", p.Displaced, "total, fresh or stale")
		if c.Network == nil {
			wantNumbers(m, field+"Point", p.Point, arms)
			wantNumbers(m, field+"Direction", p.Direction, arms)
			wantNumbers(m, field+"Covector", p.Covector, arms)
		}
		wantPositive(m, field+"Displacement", p.Displacement)
		m.Want(!sampled || c.Network != nil || p.Pairs >= 1, field+"Pairs", p.Pairs, "at least 1")
	}
	for i, fit := range c.Fits {
		m.Want(fit == SaturationFit || fit == EarlySlopeFit || fit == LoggedFit, fmt.Sprintf("Fits[%d]", i), fit, "saturation, early-slope or logged")
	}
	if p := c.Relaxation; p != nil {
		wantPair(m, "Relaxation.", p.Point, p.Direction, p.Offset, arms)
	}
	if p := c.Location; p != nil {
		scaled := slices.ContainsFunc(c.Stiffness, func(s StiffnessProbe) bool { return s.Name == StiffnessTotal })
		m.Want(scaled, "Stiffness", fmt.Sprintf("%d probes of other names", len(c.Stiffness)), "one named "+StiffnessTotal+", from which Location takes its scale")
		m.Want(p.Event == Instability || p.Event == Ringing || p.Event == Visible, "Location.Event", p.Event, "instability, ringing or visible")
		m.Want(p.Event != Visible || c.Deterministic(), "Estimator.GroupSize", c.Estimator.GroupSize, "option.Infinite, where Location.Event is visible")
		m.Want(p.Event != Visible || p.Visibility > 0 && p.Visibility < 1, "Location.Visibility", p.Visibility, "a number in (0, 1) where Location.Event is visible")
		m.Want(p.Param == LearningRate || p.Param == RefreshInterval, "Location.Param", p.Param, "optimizer.learning_rate or lag.interval")
		wantPositive(m, "Location.From", p.From)
		m.Want(p.To >= p.From && finite([]float64{p.To}), "Location.To", p.To, fmt.Sprintf("a finite number ≥ Location.From, %v", p.From))
		m.Want(p.Tolerance >= 0 && finite([]float64{p.Tolerance}), "Location.Tolerance", p.Tolerance, "a finite number ≥ 0")
		if c.Network == nil {
			wantPair(m, "Location.", p.Point, p.Direction, p.Offset, arms)
		} else {
			wantPositive(m, "Location.Offset", p.Offset)
		}
	}
	m.Panic("sim")
}

// wantPair checks the start of a pair of replicas about a point.
func wantPair(m *option.Mistakes, field string, point, direction []float64, offset float64, arms int) {
	wantNumbers(m, field+"Point", point, arms)
	wantNumbers(m, field+"Direction", direction, arms)
	m.Want(slices.ContainsFunc(direction, func(d float64) bool { return d != 0 }), field+"Direction", direction, "a direction other than 0")
	wantPositive(m, field+"Offset", offset)
}

func wantPositive(m *option.Mistakes, field string, got float64) {
	m.Want(got > 0 && finite([]float64{got}), field, got, "a finite number > 0")
}

// wantNumbers checks that a list has one finite number an arm.
func wantNumbers(m *option.Mistakes, field string, got []float64, arms int) {
	m.Want(len(got) == arms && finite(got), field, got, fmt.Sprintf("%d finite numbers, one an arm", arms))
}
