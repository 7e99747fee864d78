package theory

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"grposim/fp"
	"grposim/grpo"
	"grposim/network"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/deep"
	"grposim/rom/fixed"
	"grposim/rom/linear"
	"grposim/rom/rest"
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

func newNetwork(s *config.Settings) *policyNetwork {
	task := taskOf(s)
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

// taskOf returns the contexts of a cell.
func taskOf(s *config.Settings) *network.Task {
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
func build(s *config.Settings, task *network.Task) (net network.Network, initial func(uint64) []float64) {
	n := s.Network
	if n.Kind == "mlp" {
		hidden := slices.Repeat([]int{n.Width}, n.Layers)
		mlp := network.NewMLP(task.Inputs, hidden, task.Arms, network.Activation(n.Activation))
		return mlp, mlp.Initial
	}
	shape := network.Shape{Width: n.Width, Heads: n.Heads, Hidden: 4 * n.Width,
		Unembedding: network.Unembedding(n.Unembedding)}
	transformer := network.NewTransformer(task.Tokens, task.Vocabulary, task.Arms, shape)
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
	if p.point = deep.FixedPoint(p.params); p.point == nil {
		p.because = scope.NotReached.Because()
		return
	}
	w := slices.Clone(p.initial)
	if _, err := network.Fit(p.build(), w, p.point.Logits); err != nil {
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

// FixedNetwork is Network, of a cell that has one, with the weights at which all contexts are at
// their fixed points, nil if none are known.
func (cache *Cache) FixedNetwork(s *config.Settings) *sim.Network {
	p := cache.network(s)
	if p.rest(); p.weights == nil {
		return nil
	}
	n := cache.Network(s)
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

// atNetwork returns the prediction for settings whose policy is a network, as far as it is derived
// (docs/theory-deep.md). Exact is that of the matrices Λ_f and Λ. LeadingOrder has one number λ, as
// if the whole force were stale; RuleAtStiffness is the paper's rule at λ. Of variances
// LeadingOrder is the law at the fixed point of the start, and Exact that along its slide.
func (cache *Cache) atNetwork(s *config.Settings, factors rom.Factors, of rest.Extent) *rom.Prediction {
	key := fmt.Sprintf("%s %v %v", config.Canonical(*s), factors, of)
	return cache.ofNetworks.get(key, 1, maxPredictions, func() *rom.Prediction {
		switch {
		case factors == rom.Unit:
			return cache.network(s).predict(s, of)
		case of&(rest.StationaryLaw|rest.CriticalInterval) != 0:
			return cache.network(s).with(factors).predict(s, of)
		}
		return stiffer(cache.atNetwork(s, rom.Unit, of), factors.Stiffness)
	})
}

// with returns the network with the constants of the theory scaled by factors; n itself without a
// fixed point.
func (n *policyNetwork) with(factors rom.Factors) *policyNetwork {
	if n.rest(); n.point == nil {
		return n
	}
	other := *n
	other.params = slices.Clone(n.params)
	for x := range other.params {
		other.params[x].Factors = factors
	}
	other.point = deep.At(other.params, n.point.Logits)
	return &other
}

// stiffer returns a prediction with all stiffness matrices scaled by a factor: the dynamics depends
// on ηΛ alone.
func stiffer(p *rom.Prediction, factor float64) *rom.Prediction {
	scaled := *p
	modes, exact, leading := &scaled.Stiffness, &scaled.Exact, &scaled.LeadingOrder
	for _, x := range []*float64{&modes.Total, &modes.Fresh, &modes.Stale, &modes.Slowest} {
		*x *= factor
	}
	exact.SpectralRadius, leading.SpectralRadius = nil, nil // at another rate
	for _, rate := range []**float64{&exact.CriticalLearningRate, &leading.CriticalLearningRate,
		&exact.OscillationLearningRate, &scaled.RuleAtStiffness.CriticalLearningRate} {
		if *rate != nil {
			*rate = new(**rate / factor)
		}
	}
	return &scaled
}

// largestState is the size of the matrix of a delay up to which its spectrum is taken. One takes
// time with its cube: 0.5 s of 600, some 20 s of 2000, and a critical rate takes some twenty.
const largestState = 2000

// mostOfModes is the largest sum of the cubes of the states of single modes under a delay, some ten
// spectra each: seconds.
const mostOfModes = 1e7

// stiffestFresh returns λ_f, the largest eigenvalue of Λ_f at the fixed point. It doubles the
// products until what they leave is below 1e-9 of it.
func (n *policyNetwork) stiffestFresh() float64 {
	at := n.atRest()
	for products := 8; ; products *= 2 {
		e := deep.Largest(at, n.point.Fresh, 1, products)[0]
		if e.Residual <= 1e-9*math.Abs(e.Value) || products >= len(n.point.Logits) {
			return e.Value
		}
	}
}

// predict is Cache.atNetwork of the theory as derived.
func (n *policyNetwork) predict(s *config.Settings, of rest.Extent) *rom.Prediction {
	p := new(rom.Prediction)
	p.ForceKind = rom.Exact
	out := func(because scope.Reason) *rom.Prediction {
		p.Exact.Scope.Because, p.LeadingOrder.Scope.Because, p.Noise.Because = because, because, because
		return p
	}
	n.rest()
	switch {
	case n.because.Out():
		return out(n.because)
	case s.Optimizer.Kind == option.Adam:
		return out(scope.Networks.Because("Adam"))
	case s.Estimator.GroupSize != option.Infinite && !s.Estimator.Importance.Linear():
		return out(scope.Networks.Because("a clip of sampled groups"))
	}
	p.FixedPoint = &fixed.Point{Reward: n.point.Reward}
	exact := n.space().Dynamics(n.point, linear.Update{Method: s.Optimizer.Kind,
		Rate: s.Optimizer.LearningRate, Momentum: s.Optimizer.Momentum, Lag: linear.NewLag(&s.Lag)})
	modes := exact.Modes()
	total, fresh := modes[0].Total(), n.stiffestFresh()
	if math.Abs(total-fresh) <= linear.Negligible*total { // nothing is stale
		fresh = total
	}
	p.Stiffness = rest.ModeStiffness{Total: total, Fresh: fresh, Stale: total - fresh,
		Slowest: modes[len(modes)-1].Total()}
	p.RuleAtStiffness.CriticalLearningRate = new(
		(1 - s.Optimizer.Momentum) / p.Stiffness.Total / max(grpo.LagAge(&s.Lag), 1))
	delayed, states, directions := s.Lag.Kind == option.Delay, s.Lag.Interval+2, exact.Whole.Dim()
	tooLarge := func(where string) scope.Reason {
		return scope.Networks.Because(fmt.Sprintf(
			"a delay of %d steps, where %seach of %d directions has a state of %d numbers,",
			s.Lag.Interval, where, directions, states))
	}
	if delayed && float64(directions)*fp.Pow(float64(states), 3) > mostOfModes {
		return out(tooLarge(""))
	}
	p.LeadingOrder = dynamicsOf(exact.OneNumber(), of)
	if delayed && exact.Mixed && states*directions > largestState {
		p.Exact.Scope.Because = tooLarge("a part of the gradient is fresh and ")
		p.Noise.Because = p.Exact.Scope.Because
		return p
	}
	p.Exact = dynamicsOf(exact, of)
	if of&rest.Onset != 0 && !exact.Mixed { // of modes that mix no simulation finds it
		p.Exact.OscillationLearningRate, p.Exact.Searched.Onset = exact.Threshold(linear.OnsetRate).Result()
	}
	switch {
	case s.Estimator.GroupSize == option.Infinite:
		p.Noise.Because = scope.NoNoise.Because()
	case of&rest.StationaryLaw == 0: // not asked for
	case s.Optimizer.Schedule.Varies():
		p.Noise.Because = scope.RateVaries.Because("is not constant")
	case s.Policy.Init.Kind != config.AtFixedPoint: // deep.Window is of a run from there
		p.Noise.Because = scope.Networks.Because("the variance of a run that does not start at the fixed point")
	default: // noise carries weights along their fixed points, where the variance is another one
		p.Noise.Because = scope.Networks.Because("the variance beyond its leading order")
		if law := exact.Law(modes, deep.Window{From: s.Run.BurnIn, To: s.Run.Steps}); law != nil {
			p.LeadingOrder.StationaryVariance.ExpectedReward = &law.Reward
		}
	}
	return p
}

// dynamicsOf returns the parts of the linear dynamics of a network.
func dynamicsOf(d *deep.Dynamics, of rest.Extent) rom.Dynamics {
	r := rom.Dynamics{Scope: rom.Scope{In: true}, Neutral: d.Neutral}
	if of&rest.Multipliers != 0 {
		if radius := d.SpectralRadius(); !math.IsNaN(radius) {
			r.SpectralRadius = &radius
		}
	}
	if of&rest.CriticalRate != 0 {
		r.CriticalLearningRate, r.Searched.LearningRate = d.Threshold(linear.CriticalRate).Result()
	}
	if of&rest.CriticalInterval != 0 {
		r.CriticalRefreshInterval, r.Searched.RefreshInterval = d.Threshold(linear.CriticalInterval).Result()
	}
	return r
}
