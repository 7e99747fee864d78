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
	e, adv, lag, run := &c.Estimator, &c.Estimator.Advantage, &c.Lag, &c.Run
	c.Bandit.Check(m)
	grpo.CheckEstimator(e, m)
	drawn := fmt.Sprintf("at most %d, or option.Infinite", maxGroupSize)
	m.Want(!sampled || e.GroupSize <= maxGroupSize, "Estimator.GroupSize", e.GroupSize, drawn)
	bernoulli := func(needed bool, why string) {
		possible := !needed || allBernoulli(&c.Bandit)
		m.Want(possible, "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms with "+why)
	}
	bernoulli(sampled && e.Filter != option.KeepAll, "the filter "+e.Filter.String())
	bernoulli(adv.BinaryOnly(), "this advantage")
	lag.Check(m)
	random, perGroup := lag.Kind == option.Random, lag.Ages.Drawn == option.AgePerGroup
	age := func(possible bool, want string) { m.Want(possible, "Lag.Ages.Drawn", lag.Ages.Drawn, want) }
	if adv.Baseline == option.RunningMean {
		m.Want(c.Prompts == nil, "Prompts", "some", "none with the baseline running-mean")
		age(!c.agedByGroup(), "option.AgePerStep with the baseline running-mean")
	}
	age(!random || sampled || perGroup,
		"option.AgePerGroup where Estimator.GroupSize is option.Infinite")
	c.Optimizer.Check(m)
	c.ReferenceUpdate.Check(m)
	plain := sampled && !random && !e.KL.Outside() && c.Prompts == nil && c.Network == nil
	m.Want(plain || e.Rollout.Noise == 0, "Estimator.Rollout.Noise", e.Rollout.Noise, "0 at "+
		"option.Infinite, and with random ages, a KL penalty outside the loss, Prompts or Network")
	m.Want(e.Samples != option.Reused || lag.Kind == option.Block, "Lag.Kind", lag.Kind,
		"block, where Estimator.Samples is reused")
	m.Want(!e.KL.Outside() || !random || !perGroup, "Estimator.KL.In", e.KL.In,
		"loss, where each group has a random age of its own")
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
	m.Least("Run.Steps", run.Steps, 1)
	m.Want(run.BurnIn >= 0 && (run.Steps < 1 || run.BurnIn < run.Steps), "Run.BurnIn", run.BurnIn,
		fmt.Sprintf("at least 0 and less than Run.Steps, %d", run.Steps))
	if sampled {
		m.Least("Run.Replicas", run.Replicas, 1)
	}
	c.checkRecord(m)
	m.Least("Traces", c.Traces, 0)
	m.Least("Ends", c.Ends, 0)
	m.Least("First", c.First, 0)
	m.Want(!c.Edge || c.Network != nil && !sampled, "Edge", c.Edge, "false, but of a Network at G = ∞")
	if c.Network != nil {
		c.Network.check(&c, m)
	}
	for i, fit := range c.Fits {
		m.Want(among(fit, SaturationFit, EarlySlopeFit, LoggedFit), fmt.Sprintf("Fits[%d]", i), fit,
			"saturation, early-slope or logged")
	}
}

// check adds the fields of c that are not possible with a network, or out of their range in it.
func (n *Network) check(c *Cell, m *option.Mistakes) {
	if n.New == nil {
		m.Want(false, "Network.New", "nil", "a function that returns the network")
		return
	}
	arms, net := len(c.Bandit.Arms), n.New()
	m.Want(net.Arms() == arms, "Network.New", fmt.Sprintf("%d arms", net.Arms()),
		fmt.Sprintf("%d, as Bandit.Arms", arms))
	m.Want(len(n.Weights) == net.Weights() && measure.Finite(n.Weights...), "Network.Weights",
		len(n.Weights), fmt.Sprintf("%d finite numbers", net.Weights()))
	lists := fmt.Sprintf("%d lists, one a context", net.Contexts())
	m.Want(len(n.Means) == net.Contexts(), "Network.Means", len(n.Means), lists)
	m.Want(len(n.Reference) == net.Contexts(), "Network.Reference", len(n.Reference), lists)
	for x, means := range n.Means {
		outside := slices.ContainsFunc(means, func(v float64) bool { return !(v >= 0 && v <= 1) })
		m.Want(len(means) == arms && !outside, fmt.Sprintf("Network.Means[%d]", x), means,
			fmt.Sprintf("%d numbers in [0, 1], one an arm", arms))
	}
	for x, logits := range n.Reference {
		m.PerArm(fmt.Sprintf("Network.Reference[%d]", x), logits, arms)
	}
	with := func(possible bool, field string, got any, want string) {
		m.Want(possible, field, got, want+", with Network")
	}
	e, adv := &c.Estimator, &c.Estimator.Advantage
	with(allBernoulli(&c.Bandit), "Bandit.Arms", c.Bandit.Arms, "Bernoulli arms")
	with(c.Prompts == nil, "Prompts", "some", "none")
	with(c.Lag.Kind.Regular(), "Lag.Kind", c.Lag.Kind, "block or delay")
	fresh := e.Filter == option.KeepAll && e.Samples == option.Fresh && !e.KL.Outside() && !e.Varies()
	with(fresh && !adv.Scale.OfStep() && adv.Baseline != option.RunningMean, "Estimator", *e,
		"fresh groups that are all kept, no schedule, the KL penalty in the loss and advantages of single groups")
	with(c.Optimizer.MaxNorm == 0, "Optimizer.MaxNorm", c.Optimizer.MaxNorm, "0")
	update := c.ReferenceUpdate.Interval
	with(update == 0, "ReferenceUpdate.Interval", update, "0")
	other := func(q Quantity) bool { return q != Stiffest }
	with(!slices.ContainsFunc(c.Run.Record, other), "Run.Record", c.Run.Record, "no other than Stiffest")
}

// check adds the fields of the prompts of c that are out of their range, and those of c that
// are not possible with prompts.
func (p *Prompts) check(c *Cell, m *option.Mistakes) {
	with := func(possible bool, field string, got any, want string) {
		m.Want(possible, field, got, want+", with Prompts")
	}
	e := &c.Estimator
	with(!e.KL.Outside() && !e.Varies() && c.ReferenceUpdate.Interval == 0, "Estimator", *e,
		"the KL penalty in the loss, no schedule and a reference that stays")
	m.Want(len(p.Means) >= 2, "Prompts.Means", len(p.Means), "at least 2 prompts")
	for i, mean := range p.Means {
		possible := min(mean[0], mean[1]) >= 0 && max(mean[0], mean[1]) <= 1
		m.Want(possible, fmt.Sprintf("Prompts.Means[%d]", i), mean, "two numbers in [0, 1]")
	}
	m.Want(among(p.Parameters, option.Tabular, option.Shared), "Prompts.Parameters", p.Parameters,
		"tabular or shared")
	order := func(known bool, want string) { m.Want(known, "Prompts.Order", p.Order, want) }
	order(slices.Contains(option.PromptOrders, p.Order), "one of option.PromptOrders")
	two := len(c.Bandit.Arms) == 2 && allBernoulli(&c.Bandit)
	with(two, "Bandit.Arms", c.Bandit.Arms, "two Bernoulli arms")
	with(c.Lag.Kind.Regular(), "Lag.Kind", c.Lag.Kind, "block or delay")
	with(e.Filter != option.Drop, "Estimator.Filter", e.Filter, "none or redraw")
	order(e.Filter != option.Redraw || p.Order == option.Independent,
		"independent with the filter redraw")
	with(!c.Deterministic(), "Estimator.GroupSize", e.GroupSize, "a finite size")
	if p.Parameters == option.Shared {
		order(p.Order != option.ByFailure, "another order with shared parameters")
		m.Want(p.Starts == nil, "Prompts.Starts", p.Starts, "nil with shared parameters")
		return
	}
	fits := p.Starts == nil || len(p.Starts) == len(p.Means) && measure.Finite(p.Starts...)
	m.Want(fits, "Prompts.Starts", p.Starts, "nil, or a finite number for each prompt")
	const each = ", with a policy for each prompt"
	m.Want(c.Lag.Kind == option.Block, "Lag.Kind", c.Lag.Kind, "block"+each)
	scale := e.Advantage.Scale
	m.Want(!scale.OfStep(), "Estimator.Advantage.Scale", scale, "a scale of single groups"+each)
}
