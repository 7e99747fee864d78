package sim

import (
	"fmt"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/measure"
)

// maxGroupSize is the largest finite group size that package draw can draw.
const maxGroupSize = 1 << 31

// checked returns the complete cell. It panics with the mistakes of its caller: lists that were
// left out have none.
func (c Cell) checked() *Cell {
	m := new(option.Mistakes)
	c.Check(m)
	m.Panic("sim")
	return c.complete()
}

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
	lag, optimizer := &c.Lag, &c.Optimizer
	lag.Check(m)
	m.Want(lag.Kind != option.Random || sampled || lag.Ages.Drawn == option.AgePerGroup, "Lag.Ages.Drawn", lag.Ages.Drawn, "option.AgePerGroup where Estimator.GroupSize is option.Infinite")
	optimizer.Check(m)
	c.ReferenceUpdate.Check(m)
	m.Want(c.Estimator.Samples != option.Reused || lag.Kind == option.Block, "Lag.Kind", lag.Kind, "block, where Estimator.Samples is reused")
	outside := c.Estimator.KL.Outside()
	m.Want(!outside || lag.Kind != option.Random || lag.Ages.Drawn != option.AgePerGroup, "Estimator.KL.In", c.Estimator.KL.In, "loss, where each group has a random age of its own")
	if c.Prompts != nil {
		e, stays := &c.Estimator, c.ReferenceUpdate.Interval == 0 && optimizer.MaxNorm == 0
		plain := !outside && e.Entropy == 0 && e.Samples != option.Reused && stays
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

// check adds the fields of c that are not possible with a network, or out of their range in it.
func (n *Network) check(c *Cell, m *option.Mistakes) {
	if n.New == nil {
		m.Want(false, "Network.New", "nil", "a function that returns the network")
		return
	}
	arms := len(c.Bandit.Arms)
	net := n.New()
	m.Want(net.Arms() == arms, "Network.New", fmt.Sprintf("%d arms", net.Arms()), fmt.Sprintf("%d, as Bandit.Arms", arms))
	m.Want(len(n.Weights) == net.Weights() && measure.Finite(n.Weights...), "Network.Weights", len(n.Weights), fmt.Sprintf("%d finite numbers", net.Weights()))
	m.Want(len(n.Means) == net.Contexts(), "Network.Means", len(n.Means), fmt.Sprintf("%d lists, one a context", net.Contexts()))
	m.Want(len(n.Reference) == net.Contexts(), "Network.Reference", len(n.Reference), fmt.Sprintf("%d lists, one a context", net.Contexts()))
	for x, means := range n.Means {
		outside := slices.ContainsFunc(means, func(v float64) bool { return !(v >= 0 && v <= 1) })
		m.Want(len(means) == arms && !outside, fmt.Sprintf("Network.Means[%d]", x), means, fmt.Sprintf("%d numbers in [0, 1], one an arm", arms))
	}
	for x, logits := range n.Reference {
		m.PerArm(fmt.Sprintf("Network.Reference[%d]", x), logits, arms)
	}
	e, o := &c.Estimator, &c.Optimizer
	m.Want(allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms, with Network")
	m.Want(c.Prompts == nil, "Prompts", "some", "none, with Network")
	m.Want(c.Lag.Kind.Regular(), "Lag.Kind", c.Lag.Kind, "block or delay, with Network")
	plain := e.Filter == option.KeepAll && !e.KL.Outside() && e.Samples == option.Fresh && !e.Advantage.Scale.OfStep() && e.Advantage.Baseline != option.RunningMean
	m.Want(plain, "Estimator", *e, "fresh groups that are all kept, the KL penalty in the loss and advantages of single groups, with Network")
	m.Want(o.MaxNorm == 0, "Optimizer.MaxNorm", o.MaxNorm, "0, with Network")
	m.Want(c.ReferenceUpdate.Interval == 0, "ReferenceUpdate.Interval", c.ReferenceUpdate.Interval, "0, with Network")
	other := func(q Quantity) bool { return q != Stiffest }
	m.Want(!slices.ContainsFunc(c.Run.Record, other), "Run.Record", c.Run.Record, "no other than Stiffest, with Network")
}

// check adds the fields of the prompts of c that are out of their range, and those of c that
// are not possible with prompts.
func (p *Prompts) check(c *Cell, m *option.Mistakes) {
	m.Want(len(p.Means) >= 2, "Prompts.Means", len(p.Means), "at least 2 prompts")
	for i, mean := range p.Means {
		m.Want(mean[0] >= 0 && mean[0] <= 1 && mean[1] >= 0 && mean[1] <= 1, fmt.Sprintf("Prompts.Means[%d]", i), mean, "two numbers in [0, 1]")
	}
	m.Want(p.Parameters == option.Tabular || p.Parameters == option.Shared, "Prompts.Parameters", p.Parameters, "tabular or shared")
	m.Want(p.Order == option.Shuffled || p.Order == option.InOrder || p.Order == option.Independent, "Prompts.Order", p.Order, "shuffled, in-order or independent")
	m.Want(len(c.Bandit.Arms) == 2 && allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "two Bernoulli arms, with Prompts")
	m.Want(c.Lag.Kind.Regular(), "Lag.Kind", c.Lag.Kind, "block or delay, with Prompts")
	m.Want(c.Estimator.Filter != option.Drop, "Estimator.Filter", c.Estimator.Filter, "none or redraw, with Prompts")
	m.Want(c.Estimator.Filter != option.Redraw || p.Order == option.Independent, "Prompts.Order", p.Order, "independent with the filter redraw")
	m.Want(!c.Deterministic(), "Estimator.GroupSize", c.Estimator.GroupSize, "a finite size, with Prompts")
	if p.Parameters == option.Shared {
		m.Want(p.Starts == nil, "Prompts.Starts", p.Starts, "nil with shared parameters")
		return
	}
	m.Want(p.Starts == nil || len(p.Starts) == len(p.Means) && measure.Finite(p.Starts...), "Prompts.Starts", p.Starts, "nil, or a finite number for each prompt")
	m.Want(c.Lag.Kind == option.Block, "Lag.Kind", c.Lag.Kind, "block, with a policy for each prompt")
	m.Want(c.Estimator.Importance.Linear(), "Estimator.Importance.Mode", c.Estimator.Importance.Mode, "none or ratio, with a policy for each prompt")
}
