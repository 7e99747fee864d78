package theory

import (
	"fmt"
	"math/rand/v2"

	"grposim/network"
	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// deep is the policy of a cell with a network: what both witnesses are told of it.
type deep struct {
	build     func() network.Network
	means     [][]float64      // mean rewards by context and arm
	reference [][]float64      // logits of π_ref by context, rounded to 12 digits
	initial   []float64        // weights of the reference, rounded too
	params    []rom.Params     // the bandit of each context
	fixed     []rom.FixedPoint // of each; nil: not all have one
	weights   []float64        // at which the logits are those of the fixed points, rounded; nil: none are known
}

// newDeep returns the policy of settings with a network.
func newDeep(s *config.Settings) *deep {
	d := new(deep)
	answers, inputs := contexts(s)
	arms, n := len(s.Bandit.Arms), s.Network
	var activation network.Activation
	for activation.String() != n.Activation {
		activation++
	}
	hidden := make([]int, n.Layers)
	for i := range hidden {
		hidden[i] = n.Width
	}
	build := func() *network.MLP {
		net, err := network.NewMLP(inputs, hidden, arms, activation)
		if err != nil {
			panic(err) // what a configuration has is in the range
		}
		return net
	}
	d.build = func() network.Network { return build() }
	net := build()
	d.initial = config.RoundAll(net.Initial(uint64(n.Seed)))
	logits := make([]float64, len(answers)*arms)
	net.Logits(d.initial, logits)
	of := *s
	for x, answer := range answers {
		row := config.RoundAll(logits[x*arms:][:arms])
		of.Bandit.Arms = make([]option.Arm, arms)
		means := make([]float64, arms)
		for a := range means {
			of.Bandit.Arms[a] = s.Bandit.Arms[(a-answer+arms)%arms]
			means[a] = of.Bandit.Arms[a].Mean
		}
		of.Policy.Reference, of.Policy.Init = row, config.Init{Logits: row}
		d.means, d.reference = append(d.means, means), append(d.reference, row)
		d.params = append(d.params, Params(&of, rom.Unit))
	}
	return d
}

// contexts returns the right answers and the inputs of the contexts of a cell.
func contexts(s *config.Settings) (answers []int, inputs [][]float64) {
	arms := len(s.Bandit.Arms)
	if s.Contexts.Task == "addition" {
		for a := range arms {
			for b := range arms {
				input := make([]float64, 2*arms)
				input[a], input[arms+b] = 1, 1
				answers, inputs = append(answers, (a+b)%arms), append(inputs, input)
			}
		}
		return answers, inputs
	}
	random := rand.New(rand.NewPCG(uint64(s.Network.Seed), 1))
	for x := range s.Contexts.Count {
		input := make([]float64, s.Contexts.Inputs)
		for i := range input {
			input[i] = random.NormFloat64()
		}
		answers, inputs = append(answers, x%arms), append(inputs, input)
	}
	return answers, inputs
}

// Network returns the simulator's input for a cell whose policy is a network, nil for others. Its weights
// at step 0 are those of the reference or, if the cell starts at its fixed point, those at which all contexts are at theirs;
// nil if there are none.
func (cache *Cache) Network(s *config.Settings) *sim.Network {
	if !s.Deep() {
		return nil
	}
	d := cache.deep(s)
	n := &sim.Network{New: d.build, Weights: d.initial, Means: d.means, Reference: d.reference}
	if s.Policy.Init.Kind == config.AtFixedPoint {
		n.Weights = d.weights
	}
	return n
}

// deep returns the policy of settings with a network.
func (cache *Cache) deep(s *config.Settings) *deep {
	key := fmt.Sprintf("%s", config.ForceID(s))
	cache.mutex.Lock()
	defer cache.mutex.Unlock()
	d, known := cache.networks[key]
	if !known {
		d = newDeep(s)
		d.settle()
		cache.networks[key] = d
	}
	return d
}

// settle finds the fixed points of all contexts and the weights that have them.
func (d *deep) settle() {
	var target []float64
	for i := range d.params {
		point, ok := rom.NewEquilibrium(d.params[i]).Reached()
		if !ok {
			d.fixed = nil
			return
		}
		d.fixed, target = append(d.fixed, point), append(target, point.Logits...)
	}
	if w := fit(d.build(), d.initial, target); w != nil {
		d.weights = config.RoundAll(w)
	}
}
