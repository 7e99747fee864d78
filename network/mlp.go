package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// MLP is a multilayer perceptron: from the inputs x of a context
//
//	h_0 = x,  h_l = φ(h_{l−1} W_l + b_l) for every hidden layer,  ℓ = h_L W_{L+1} + b_{L+1}.
//
// Its weights are those of the layers in this order, each layer a matrix of one row per input
// and a last row b_l, row by row.
type MLP struct {
	arms   int
	layers []layer
	apply  func(z, slopes []float64)
	gain   float64 // of the activation
}

// layer is one matrix of weights, and what is before it.
type layer struct {
	weights blas64.General // n+1 × m: W, then b
	inputs  blas64.General // C × n+1: h of the layer before, then a column of ones
	changes blas64.General // C × n: derivatives of the inputs along a direction
	slopes  blas64.General // C × n: φ' at the inputs; of the first layer none
	force   blas64.General // C × m: derivatives with respect to the sums of this layer
}

// NewMLP returns a network whose contexts are the rows of inputs, all of one length, with 1 to
// 3 hidden layers of the given widths.
func NewMLP(inputs [][]float64, hidden []int, arms int, activation Activation) (*MLP, error) {
	switch {
	case len(inputs) == 0 || len(inputs[0]) == 0:
		return nil, fmt.Errorf("network: got no inputs, want a row of numbers for each context")
	case slices.ContainsFunc(inputs, func(x []float64) bool { return len(x) != len(inputs[0]) }):
		return nil, fmt.Errorf("network: got rows of inputs of several lengths, want one length")
	case len(hidden) < 1 || len(hidden) > 3 || slices.Min(hidden) < 1:
		return nil, fmt.Errorf("network: hidden widths: got %v, want 1 to 3 positive integers", hidden)
	case arms < 2:
		return nil, fmt.Errorf("network: arms: got %d, want at least 2", arms)
	case !activation.known():
		return nil, fmt.Errorf("network: activation: got %v, want tanh, relu or gelu", activation)
	}
	n := &MLP{arms: arms, apply: activations[activation].apply, gain: activations[activation].gain}
	before := len(inputs[0])
	for _, width := range append(slices.Clone(hidden), arms) {
		l := layer{weights: newMatrix(before+1, width), inputs: newMatrix(len(inputs), before+1), force: newMatrix(len(inputs), width)}
		for x := range inputs {
			row(l.inputs, x)[before] = 1
		}
		if n.layers != nil {
			l.changes, l.slopes = newMatrix(len(inputs), before), newMatrix(len(inputs), before)
		}
		n.layers = append(n.layers, l)
		before = width
	}
	for x, input := range inputs {
		copy(row(n.layers[0].inputs, x), input)
	}
	return n, nil
}

// Weights implements Network.
func (n *MLP) Weights() int {
	weights := 0
	for _, l := range n.layers {
		weights += len(l.weights.Data)
	}
	return weights
}

// Contexts implements Network.
func (n *MLP) Contexts() int { return n.layers[0].inputs.Rows }

// Arms implements Network.
func (n *MLP) Arms() int { return n.arms }

// Initial returns weights drawn from the seed: those of a matrix with n inputs are normal with
// variance g/n, where g is 2 into a hidden layer of ReLU or GELU (He et al. 2015), otherwise 1
// (LeCun et al. 1998); those of b are 0.
func (n *MLP) Initial(seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	var w []float64
	for i, l := range n.layers {
		gain := n.gain
		if i == len(n.layers)-1 {
			gain = 1
		}
		inputs := l.weights.Rows - 1
		w = appendNormal(w, random, inputs*l.weights.Cols, math.Sqrt(gain/float64(inputs)))
		w = append(w, make([]float64, l.weights.Cols)...)
	}
	return w
}

// appendNormal appends count normal numbers of a standard deviation.
func appendNormal(w []float64, random *rand.Rand, count int, deviation float64) []float64 {
	for range count {
		w = append(w, deviation*random.NormFloat64())
	}
	return w
}

// Logits implements Network.
func (n *MLP) Logits(w, logits []float64) {
	mustHave("w", w, n.Weights())
	mustHave("logits", logits, n.Contexts()*n.arms)
	for i := range n.layers {
		l := &n.layers[i]
		w = w[copy(l.weights.Data, w):]
		if i == len(n.layers)-1 {
			multiply(l.inputs, l.weights, asMatrix(logits, l.inputs.Rows, n.arms))
			return
		}
		next := &n.layers[i+1]
		multiply(l.inputs, l.weights, part(next.inputs, l.inputs.Rows, l.weights.Cols))
		for x := range next.slopes.Rows {
			slopes := row(next.slopes, x)
			n.apply(row(next.inputs, x)[:len(slopes)], slopes)
		}
	}
}

// Pull implements Network.
func (n *MLP) Pull(u, gradient []float64) {
	mustHave("u", u, n.Contexts()*n.arms)
	mustHave("gradient", gradient, n.Weights())
	force, end := asMatrix(u, n.Contexts(), n.arms), len(gradient)
	for i := len(n.layers) - 1; i >= 0; i-- {
		l := &n.layers[i]
		start := end - len(l.weights.Data)
		multiplyLeftTransposed(l.inputs, force, asMatrix(gradient[start:], l.weights.Rows, l.weights.Cols))
		if end = start; i == 0 {
			return
		}
		before := n.layers[i-1].force
		multiplyRightTransposed(force, part(l.weights, before.Cols, l.weights.Cols), before)
		scale(before, l.slopes)
		force = before
	}
}

// Push implements Network.
func (n *MLP) Push(d, change []float64) {
	mustHave("d", d, n.Weights())
	mustHave("change", change, n.Contexts()*n.arms)
	for i := range n.layers {
		l := &n.layers[i]
		out := asMatrix(change, l.inputs.Rows, n.arms)
		if i < len(n.layers)-1 {
			out = n.layers[i+1].changes
		}
		multiply(l.inputs, asMatrix(d, l.weights.Rows, l.weights.Cols), out)
		d = d[len(l.weights.Data):]
		if i > 0 {
			addProduct(l.changes, part(l.weights, l.changes.Cols, l.weights.Cols), out)
		}
		if i < len(n.layers)-1 {
			scale(out, n.layers[i+1].slopes)
		}
	}
}

// scale multiplies the entries of m by those of factors; both have no gaps between rows.
func scale(m, factors blas64.General) {
	for i, f := range factors.Data {
		m.Data[i] *= f
	}
}
