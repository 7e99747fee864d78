package theory

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"grposim/network"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/deep"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
)

// policyNetwork is the policy of a cell with a network: what both witnesses are told of it.
type policyNetwork struct {
	build     func() network.Network
	means     [][]float64  // mean rewards by context and arm
	reference [][]float64  // logits of π_ref by context, rounded to 12 digits
	initial   []float64    // weights of the reference, rounded too
	params    []rom.Params // the bandit of each context
	// sets the three below, which takes minutes of a large network; calls after the first do nothing
	rest func()
	// at which all contexts are at their fixed points, rounded; nil: none are known
	weights []float64
	point   *deep.Point        // of these; nil: some context has none
	because scope.Reason       // why point or weights are nil
	space   func() *deep.Range // of the Jacobian at weights
}

// newNetwork returns the policy of settings with a network.
func newNetwork(s *config.Settings) *policyNetwork {
	task := must(taskOf(s))
	p := &policyNetwork{build: func() network.Network { net, _ := build(s, task); return net }}
	net, initial := build(s, task)
	w := initial(uint64(s.Network.Seed))
	if right := s.Network.Right; right > 0 {
		supervise(net, w, task, right)
	}
	p.initial = config.RoundAll(w)
	logits := make([]float64, len(task.Means))
	net.Logits(p.initial, logits)
	of := *s
	for x := 0; x < len(logits); x += task.Arms {
		means, row := task.Means[x:x+task.Arms], config.RoundAll(logits[x:x+task.Arms])
		of.Bandit.Arms = make([]option.Arm, task.Arms)
		for a, m := range means {
			of.Bandit.Arms[a].Mean = m
		}
		of.Policy.Reference, of.Policy.Init = row, config.Init{Logits: row}
		p.means, p.reference = append(p.means, means), append(p.reference, row)
		bandit := Params(&of, rom.Unit)
		// of the cell that came first: a network is that of many
		bandit.Optimizer, bandit.Lag = option.Optimizer{}, option.Lag{}
		p.params = append(p.params, bandit)
	}
	p.rest = sync.OnceFunc(p.settle)
	p.space = sync.OnceValue(func() *deep.Range { return deep.NewRange(p.atRest()) })
	return p
}

// must returns x; what a configuration has is in the range.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// taskOf returns the contexts of a cell.
func taskOf(s *config.Settings) (*network.Task, error) {
	right, wrong, arms := s.Bandit.Arms[0].Mean, s.Bandit.Arms[1].Mean, len(s.Bandit.Arms)
	switch seed := uint64(s.Network.Seed); s.Contexts.Task {
	case "addition":
		return network.Addition(arms, right, wrong)
	case "digits":
		return network.Digits(s.Contexts.Count/arms, s.Contexts.Noise, right, wrong, seed)
	default:
		return network.Gaussian(s.Contexts.Count, s.Contexts.Inputs, arms, right, wrong, seed)
	}
}

// build returns the network of a cell and how its first weights are drawn.
func build(s *config.Settings, task *network.Task) (net network.Network, initial func(seed uint64) []float64) {
	n := s.Network
	if n.Kind == "mlp" {
		hidden := slices.Repeat([]int{n.Width}, n.Layers)
		mlp := must(network.NewMLP(task.Inputs, hidden, task.Arms, network.Activation(n.Activation)))
		return mlp, mlp.Initial
	}
	transformer := must(network.NewTransformer(task.Tokens, task.Vocabulary, task.Arms, network.Shape{
		Width: n.Width, Heads: n.Heads, Hidden: 4 * n.Width, Unembedding: network.Unembedding(n.Unembedding),
	}))
	return transformer, transformer.Initial
}

// The supervised training of a reference leads a transformer out of its first weights, where
// attention is uniform. Fit does the rest.
const (
	supervisedSteps = 400
	supervisedRate  = 0.01
)

// supervise changes weights until the right arm of every context has a probability, the others
// alike.
func supervise(net network.Network, w []float64, task *network.Task, right float64) {
	target := make([]float64, len(task.Means))
	for x := 0; x < len(target); x += task.Arms {
		best := slices.Index(task.Means[x:x+task.Arms], slices.Max(task.Means[x:x+task.Arms]))
		for a := range task.Arms {
			target[x+a] = math.Log((1 - right) / float64(task.Arms-1))
		}
		target[x+best] = math.Log(right)
	}
	network.Supervise(net, w, target, supervisedSteps, supervisedRate)
	network.Fit(net, w, target) // what it leaves is part of the reference
}

// settle finds the weights at which every context is at its fixed point.
func (p *policyNetwork) settle() {
	point, err := deep.FixedPoint(p.params)
	if err != nil {
		p.because = scope.NotReached.Because()
		return
	}
	p.point = point
	w := slices.Clone(p.initial)
	if _, err := network.Fit(p.build(), w, point.Logits); err != nil {
		p.because = scope.Networks.Because(fmt.Sprintf("the fixed point of the weights (%v)", err))
		return
	}
	p.weights = config.RoundAll(w)
}

// atRest returns the network at these weights.
func (p *policyNetwork) atRest() network.Network {
	net := p.build()
	net.Logits(p.weights, make([]float64, net.Contexts()*net.Arms()))
	return net
}

// Network returns the simulator's input for a cell whose policy is a network, nil for others, with
// the weights of the reference at step 0.
func (cache *Cache) Network(s *config.Settings) *sim.Network {
	if !s.Deep() {
		return nil
	}
	p := cache.network(s)
	return &sim.Network{New: p.build, Weights: p.initial, Means: p.means, Reference: p.reference}
}

// FixedNetwork is Network with the weights at which all contexts are at their fixed points, nil
// also if none are known.
func (cache *Cache) FixedNetwork(s *config.Settings) *sim.Network {
	n := cache.Network(s)
	if n == nil {
		return nil
	}
	p := cache.network(s)
	if p.rest(); p.weights == nil {
		return nil
	}
	n.Weights = p.weights
	return n
}

// network returns the policy of settings with a network, in which the seed of the groups plays no
// part.
func (cache *Cache) network(s *config.Settings) *policyNetwork {
	of := *s
	of.Seed = 0
	once := cache.networks.get(config.ForceID(&of), 1, maxPredictions, func() func() *policyNetwork {
		return sync.OnceValue(func() *policyNetwork { return newNetwork(&of) })
	})
	return once() // takes seconds
}
