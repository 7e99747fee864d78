package sim

import (
	"fmt"

	"grposim/grpo"
	"grposim/option"
)

// maxGroupSize is the largest finite group size that package draw can draw.
const maxGroupSize = 1 << 31

// Check adds each field that is out of its range. At G = ∞ the number of replicas is not used.
func (c Cell) Check(m *option.Mistakes) {
	c.completeNumbers()
	arms, sampled := len(c.Bandit.Arms), !c.Deterministic()
	c.Bandit.Check(m)
	grpo.CheckEstimator(&c.Estimator, m)
	m.Want(!sampled || c.Estimator.GroupSize <= maxGroupSize, "Estimator.GroupSize", c.Estimator.GroupSize, fmt.Sprintf("at most %d, or option.Infinite", maxGroupSize))
	if filter := c.Estimator.Filter; filter.Changes() {
		m.Want(!sampled || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with the filter "+filter.String())
	}
	m.Want(!c.Estimator.Advantage.BinaryOnly() || allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with this advantage")
	if adv := &c.Estimator.Advantage; adv.Baseline == option.RunningMean {
		m.Want(c.Prompts == nil, "Prompts", "some", "none with the baseline running-mean")
		m.Want(!c.agedByGroup(), "Lag.Ages.Drawn", c.Lag.Ages.Drawn, "option.AgePerStep with the baseline running-mean")
	}
	lag, optimizer := c.Lag, c.Optimizer
	lag.Check(m)
	if random := lag.Kind == option.Random; random {
		m.Want(sampled || lag.Ages.Drawn == option.AgePerGroup, "Lag.Ages.Drawn", lag.Ages.Drawn, "option.AgePerGroup where Estimator.GroupSize is option.Infinite")
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
			m.PerArm(list.field, list.numbers, arms)
		}
	}
	if c.Prompts != nil {
		c.Prompts.check(&c, m)
	}
	m.Want(c.Run.Steps >= 1, "Run.Steps", c.Run.Steps, "at least 1")
	m.Want(c.Run.BurnIn >= 0 && (c.Run.Steps < 1 || c.Run.BurnIn < c.Run.Steps), "Run.BurnIn", c.Run.BurnIn, fmt.Sprintf("at least 0 and less than Run.Steps, %d", c.Run.Steps))
	m.Want(!sampled || c.Run.Replicas >= 1, "Run.Replicas", c.Run.Replicas, "at least 1")
	c.checkRecord(m)
	m.Want(c.Traces >= 0, "Traces", c.Traces, "at least 0")
	m.Want(c.Ends >= 0, "Ends", c.Ends, "at least 0")
	m.Want(!c.Edge || c.Network != nil && c.Deterministic(), "Edge", c.Edge, "false, but of a Network at G = ∞")
	if c.Network != nil {
		c.Network.check(&c, m)
	}
	for i, fit := range c.Fits {
		m.Want(fit == SaturationFit || fit == EarlySlopeFit || fit == LoggedFit, fmt.Sprintf("Fits[%d]", i), fit, "saturation, early-slope or logged")
	}
}
