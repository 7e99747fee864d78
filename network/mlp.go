package network

import (
	"fmt"
	"math"
	"slices"
)

// MLP is a multilayer perceptron: from the inputs x of a context
//
//	h_0 = x,  h_l = φ(h_{l−1} W_l + b_l) for every hidden layer,  ℓ = h_L W_{L+1} + b_{L+1}.
//
// Its weights are W_1, b_1, W_2 and so on, a W row by row, a row for each input.
type MLP struct {
	layers []*affine
	slopes []matrix // C × n: φ' at the sums of each hidden layer
	force  matrix   // C × A: on the logits, in and out
	apply  func(z, slopes matrix)
	gain   float64 // of the activation
	size   int     // P
}

// NewMLP returns a network whose contexts are the rows of inputs, all of one length, with 1 to
// 3 hidden layers of the given widths.
func NewMLP(inputs [][]float64, hidden []int, arms int, activation Activation) (*MLP, error) {
	if err := checkMLP(inputs, hidden, arms, activation); err != nil {
		return nil, err
	}
	n := &MLP{apply: activations[activation].apply, gain: activations[activation].gain, force: newMatrix(len(inputs), arms)}
	before := len(inputs[0])
	for _, width := range append(slices.Clone(hidden), arms) {
		l := newAffine(len(inputs), before, width)
		n.layers = append(n.layers, l)
		n.slopes = append(n.slopes, newMatrix(len(inputs), width))
		n.size += l.size()
		before = width
	}
	for x, input := range inputs {
		copy(n.layers[0].inputs.row(x), input)
	}
	return n, nil
}

// checkMLP returns everything that is wrong with the arguments of NewMLP.
func checkMLP(inputs [][]float64, hidden []int, arms int, activation Activation) error {
	var m mistakes
	m.want(len(inputs) > 0 && len(inputs[0]) > 0, "inputs", len(inputs), "a row of numbers for each context")
	for x, row := range inputs {
		m.want(len(row) == len(inputs[0]), fmt.Sprintf("number of inputs of context %d", x), len(row), fmt.Sprint(len(inputs[0])))
	}
	m.want(1 <= len(hidden) && len(hidden) <= 3, "number of hidden layers", len(hidden), "1 to 3")
	for i, width := range hidden {
		m.least(fmt.Sprintf("width of hidden layer %d", i+1), width, 1)
	}
	m.least("arms", arms, 2)
	m.want(activations[activation].apply != nil, "activation", activation, "tanh, relu or gelu")
	return m.err()
}

// Weights implements Network.
func (n *MLP) Weights() int { return n.size }

// Contexts implements Network.
func (n *MLP) Contexts() int { return n.force.rows }

// Arms implements Network.
func (n *MLP) Arms() int { return n.force.columns }

// Initial returns weights drawn from the seed. Those of a matrix with n inputs are normal with
// variance g/n; those of b are 0. g is 2 into a hidden layer of ReLU or GELU (He et al. 2015),
// otherwise 1 (LeCun et al. 1998).
func (n *MLP) Initial(seed uint64) []float64 {
	random := newNormals(seed)
	var w []float64
	for i, l := range n.layers {
		gain := n.gain
		if i == len(n.layers)-1 {
			gain = 1
		}
		w = random.layer(w, l, math.Sqrt(gain/float64(l.weights.rows)))
	}
	return w
}

// Logits implements Network.
func (n *MLP) Logits(w, logits []float64) {
	mustHave("w", w, n.size)
	mustHave("logits", logits, n.Contexts()*n.Arms())
	last := len(n.layers) - 1
	for i, l := range n.layers[:last] {
		sums := n.layers[i+1].inputs
		l.forward(w, sums)
		n.apply(sums, n.slopes[i])
		w = w[l.size():]
	}
	n.layers[last].forward(w, n.force)
	n.force.write(logits)
}

// Pull implements Network.
func (n *MLP) Pull(u, gradient []float64) {
	mustHave("u", u, n.Contexts()*n.Arms())
	mustHave("gradient", gradient, n.size)
	n.force.read(u)
	force, start := n.force, n.size
	for i := len(n.layers) - 1; i > 0; i-- {
		l := n.layers[i]
		start -= l.size()
		l.pull(force, gradient[start:])
		force = l.force
		force.scale(n.slopes[i-1])
	}
	n.layers[0].pullWeights(force, gradient)
}

// Push implements Network.
func (n *MLP) Push(d, change []float64) {
	mustHave("d", d, n.size)
	mustHave("change", change, n.Contexts()*n.Arms())
	for i, l := range n.layers {
		sums := n.force
		if i < len(n.layers)-1 {
			sums = n.layers[i+1].changes
		}
		if i == 0 {
			l.pushWeights(d, sums)
		} else {
			l.push(d, sums)
		}
		if i < len(n.layers)-1 {
			sums.scale(n.slopes[i])
		}
		d = d[l.size():]
	}
	n.force.write(change)
}
