package sim

import (
	"fmt"
	"math"
	"slices"

	"grposim/grpo"
	"grposim/network"
	"grposim/option"
	"grposim/sim/measure"
)

// Network makes the logits of the policies of several contexts functions of shared weights. Every
// step draws Estimator.GroupsPerStep groups in each of the C contexts. Let u_x be the force on the
// logits of context x and J_x its Jacobian. The optimizer steps the weights by their gradient
//
//	g = (1/C) Σ_x J_xᵀ u_x.
//
// J is the mean of the contexts' expected rewards, and so are the other recorded quantities of
// policies. Of the importance ratio the largest of all is recorded, and the norm of the gradient is
// that of g.
type Network struct {
	New       func() network.Network // returns the network, with workspace of its own
	Weights   []float64              // at step 0, finite, P of them
	Means     [][]float64            // mean rewards by context of Bernoulli arms, in [0, 1]
	Reference [][]float64            // logits of π_ref by context, finite
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
	m.Want(c.Lag.Kind != option.Random, "Lag.Kind", c.Lag.Kind, "block or delay, with Network")
	plain := e.Filter == option.KeepAll && !e.KL.Outside() && e.Samples == option.Fresh && !e.Advantage.Scale.OfStep() && e.Advantage.Baseline != option.RunningMean
	m.Want(plain, "Estimator", *e, "fresh groups that are all kept, the KL penalty in the loss and advantages of single groups, with Network")
	m.Want(o.MaxNorm == 0, "Optimizer.MaxNorm", o.MaxNorm, "0, with Network")
	m.Want(c.ReferenceUpdate.Interval == 0, "ReferenceUpdate.Interval", c.ReferenceUpdate.Interval, "0, with Network")
	other := func(q Quantity) bool { return q != Stiffest }
	m.Want(!slices.ContainsFunc(c.Run.Record, other), "Run.Record", c.Run.Record, "no other than Stiffest, with Network")
}

// contexts holds the policies of a network in a run.
type contexts struct {
	net           network.Network
	start         []float64
	weights       []float64
	g             []float64 // the gradient on the weights
	state         *grpo.OptimizerState
	logits, force []float64  // of all contexts
	each          []*replica // by context: its policy, snapshots, samples and force
	reward, gap   float64    // means over the contexts
}

// newContexts returns the policies of a cell with a network. A context is a replica whose logits
// the network sets, of which the groups are drawn by the given laws.
func newContexts(c *Cell, of func(*option.Bandit, *option.Estimator) *laws) *contexts {
	n := c.Network
	p := &contexts{net: n.New(), start: n.Weights}
	size := p.net.Contexts() * p.net.Arms()
	p.weights, p.g, p.state = make([]float64, len(n.Weights)), make([]float64, len(n.Weights)), grpo.NewOptimizerState(len(n.Weights))
	p.logits, p.force = make([]float64, size), make([]float64, size)
	for x, means := range n.Means {
		one := *c
		one.Network, one.Fits = nil, nil
		one.Bandit.Arms = make([]option.Arm, len(means))
		for a, m := range means {
			one.Bandit.Arms[a].Mean = m
		}
		one.Bandit.TrueMeans, one.Init, one.Reference = means, n.Reference[x], n.Reference[x]
		p.each = append(p.each, newReplica(&one, nil, of(&one.Bandit, &one.Estimator)))
	}
	return p
}

func (p *contexts) begin() { p.beginAt(p.start, nil) }

// beginAt sets the state at step 0 to weights and a velocity; nil stands for none.
func (p *contexts) beginAt(weights, velocity []float64) {
	copy(p.weights, weights)
	p.state.Reset()
	copy(p.state.Velocity(), velocity)
	for _, r := range p.each {
		r.rest()
	}
	p.set()
}

// set sets the policies of all contexts to those of the weights.
func (p *contexts) set() {
	p.net.Logits(p.weights, p.logits)
	p.reward, p.gap = 0, 0
	arms := p.net.Arms()
	for x, r := range p.each {
		copy(r.policy.Logits, p.logits[x*arms:])
		r.policy.Update()
		p.reward += r.policy.Mean(r.means) / float64(len(p.each))
		p.gap += gap(r.policy) / float64(len(p.each))
	}
}

func (p *contexts) means() (reward, z float64) { return p.reward, p.gap }

// draw also sets the step's groups of r to those of all contexts.
func (p *contexts) draw(r *replica, t int) {
	r.statistics.Reset()
	r.sampler.reward = 0
	for _, one := range p.each {
		one.words = r.words
		one.push(t)
		r.statistics.Groups += one.statistics.Groups
		r.statistics.ZeroVariance += one.statistics.ZeroVariance
		r.sampler.reward += one.sampler.reward / float64(len(p.each))
	}
	p.pull()
}

// pull sets the gradient on the weights to that of the forces of the contexts.
func (p *contexts) pull() {
	arms := p.net.Arms()
	for x, r := range p.each {
		for a, u := range r.g {
			p.force[x*arms+a] = u / float64(len(p.each))
		}
	}
	p.net.Pull(p.force, p.g)
}

func (p *contexts) move(o *option.Optimizer, t int) (ok bool) {
	grpo.Step(o, p.weights, p.g, p.state, grpo.Rate(o, t))
	p.set()
	return !math.IsNaN(p.reward)
}

func (p *contexts) observe(r *replica, v *[quantityCount]float64) {
	*v = [quantityCount]float64{}
	n, square, ratio := float64(len(p.each)), 0.0, 0.0
	for _, one := range p.each {
		var of [quantityCount]float64
		one.observe(&of, one.policy.Mean(one.means))
		for q, value := range of {
			v[q] += value / n
		}
		ratio = max(ratio, of[importanceRatioMaxIndex])
	}
	for _, x := range p.g {
		square += float64(x * x)
	}
	v[expectedRewardIndex], v[trueRewardIndex] = p.reward, p.reward
	v[importanceRatioMaxIndex], v[gradientNormIndex] = ratio, math.Sqrt(square)
}
