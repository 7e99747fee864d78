package sim

import (
	"math"

	"grposim/grpo"
	"grposim/network"
	"grposim/option"
)

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

func (p *contexts) begin() { p.beginAt(p.start) }

// beginAt sets the state at step 0 to weights.
func (p *contexts) beginAt(weights []float64) {
	copy(p.weights, weights)
	p.state.Reset()
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

func (p *contexts) observe(r *replica, v []float64) {
	clear(v)
	n, ratio := float64(len(p.each)), 0.0
	for _, one := range p.each {
		var of [quantityCount]float64
		one.observe(of[:len(v)], one.policy.Mean(one.means))
		for q := range v {
			v[q] += of[q] / n
		}
		ratio = max(ratio, of[importanceRatioMaxIndex])
	}
	v[expectedRewardIndex], v[trueRewardIndex] = p.reward, p.reward
	v[importanceRatioMaxIndex], v[gradientNormIndex] = ratio, grpo.Norm(p.g)
}
