package network

import (
	"math"
	"slices"
)

// MLP is a multilayer perceptron: from the inputs x of a context
//
//	h_0 = x,  h_l = φ(h_{l−1} W_l + b_l) for every hidden layer,  ℓ = h_L W_{L+1} + b_{L+1}.
//
// Its weights are W_1, b_1, W_2 and so on, a W row by row, a row for each input.
type MLP struct {
	sizes
	perceptron
	gain float64 // of the activation
}

// NewMLP returns a network whose contexts are the rows of inputs, with hidden layers of the given
// widths. It panics if rows differ in length.
func NewMLP(inputs [][]float64, hidden []int, arms int, activation Activation) *MLP {
	widths := slices.Concat([]int{len(inputs[0])}, hidden, []int{arms})
	n := &MLP{perceptron: newPerceptron(len(inputs), widths, activation), gain: activations[activation].gain}
	n.sizes = sizes{n.size(), newMatrix(len(inputs), arms)}
	n.layers[0].fixed = true
	for x, input := range inputs {
		mustHave("a row of inputs", input, len(inputs[0]))
		copy(n.layers[0].inputs.row(x), input)
	}
	return n
}

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
	n.mustHave("w", w, "logits", logits)
	n.forward(w, n.logits)
	copy(logits, n.logits.data)
}

// Pull implements Network.
func (n *MLP) Pull(u, gradient []float64) {
	n.mustHave("gradient", gradient, "u", u)
	copy(n.logits.data, u)
	n.pull(n.logits, gradient)
}

// Push implements Network.
func (n *MLP) Push(d, change []float64) {
	n.mustHave("d", d, "change", change)
	n.push(d, n.logits)
	copy(change, n.logits.data)
}

// perceptron is hidden layers with an activation, and a layer of sums after them.
type perceptron struct {
	layers []*affine
	slopes []matrix // φ' at the sums of each hidden layer
	apply  func(z, slopes matrix)
}

// newPerceptron returns layers between rows of the given widths.
func newPerceptron(rows int, widths []int, activation Activation) perceptron {
	n := perceptron{apply: activations[activation].apply}
	for i, width := range widths[1:] {
		n.layers = append(n.layers, newAffine(rows, widths[i], width))
		if i+2 < len(widths) {
			n.slopes = append(n.slopes, newMatrix(rows, width))
		}
	}
	return n
}

func (n *perceptron) size() (weights int) {
	for _, l := range n.layers {
		weights += l.size()
	}
	return weights
}

// forward is affine.forward through all layers.
func (n *perceptron) forward(w []float64, sums matrix) (rest []float64) {
	for i, slopes := range n.slopes {
		hidden := n.layers[i+1].inputs
		w = n.layers[i].forward(w, hidden)
		n.apply(hidden, slopes)
	}
	return n.layers[len(n.slopes)].forward(w, sums)
}

// pull is affine.pull through all layers.
func (n *perceptron) pull(force matrix, gradient []float64) (before []float64) {
	for i := len(n.slopes); i > 0; i-- {
		gradient = n.layers[i].pull(force, gradient)
		force = n.layers[i].force
		force.scale(n.slopes[i-1])
	}
	return n.layers[0].pull(force, gradient)
}

// push is affine.push through all layers.
func (n *perceptron) push(d []float64, sums matrix) (rest []float64) {
	for i, slopes := range n.slopes {
		hidden := n.layers[i+1].changes
		d = n.layers[i].push(d, hidden)
		hidden.scale(slopes)
	}
	return n.layers[len(n.slopes)].push(d, sums)
}
