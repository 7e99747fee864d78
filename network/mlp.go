package network

import (
	"math"
	"slices"

	"grposim/fp"
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

// Activation is the function φ that a hidden layer applies to each of its sums.
type Activation string

const (
	Tanh Activation = "tanh" // φ(z) = tanh z
	ReLU Activation = "relu" // φ(z) = max(z, 0), with slope 0 at 0
	GELU Activation = "gelu" // φ(z) = z Φ(z), Φ the normal distribution function, not by tanh
)

// activations has a row for each Activation.
var activations = map[Activation]struct {
	apply func(z, slopes matrix) // replaces z by φ(z) and sets slopes to φ'(z)
	gain  float64                // g: weights of variance g/n keep the size of activations
}{
	Tanh: {applyTanh, 1},
	ReLU: {applyReLU, 2},
	GELU: {applyGELU, 2},
}

// applyTanh has tanh z = sign(z) (1 − e)/(1 + e), e = e^(−2|z|). The absolute error is two roundings.
func applyTanh(z, slopes matrix) {
	for i, x := range z.data {
		e := fp.Exp(-2 * math.Abs(x))
		y := math.Copysign((1-e)/(1+e), x)
		z.data[i], slopes.data[i] = y, 1-float64(y*y)
	}
}

func applyReLU(z, slopes matrix) {
	for i, x := range z.data {
		z.data[i], slopes.data[i] = max(x, 0), 0
		if x > 0 {
			slopes.data[i] = 1
		}
	}
}

// applyGELU has z Φ(z), Φ the normal distribution function, with slopes Φ(z) + z Φ'(z). The absolute
// error is below 3e-16 (1+|z|). For x ≥ 0, Φ(−x) is Φ'(x) times a series.
func applyGELU(z, slopes matrix) {
	for i, x := range z.data {
		density := fp.Exp(-0.5*float64(x*x)) * densityAtZero
		s := (140/(5+math.Abs(x)) - 19) / 9
		double, next, after := s+s, 0., 0.
		for n := len(millsRatio) - 1; n > 0; n-- {
			next, after = millsRatio[n]+float64(double*next)-after, next
		}
		below := float64(density * (millsRatio[0] + float64(s*next) - after))
		if x > 0 {
			below = 1 - below
		}
		z.data[i], slopes.data[i] = x*below, below+float64(x*density)
	}
}

const densityAtZero = 0.39894228040143267794 // 1/√(2π)

// millsRatio holds the coefficients of the Chebyshev series of Φ(−x)/Φ'(x) in s = (140/(5+x) −
// 19)/9. s is 1 at x = 0 and −1 at x = 9, beyond which Φ(−x) is below 2e-19. The next coefficient
// is 3e-18. They are interpolation at 60 nodes in 40 digits.
var millsRatio = [18]float64{
	0.51931943272087577, 0.53516335403203207, 0.1557324589285175, 0.035725525823734468,
	0.0064184375950921784, 0.00087133030607288175, 8.0673142794527932e-5, 3.2640162533761081e-6,
	-2.9232822419080209e-7, -4.7240958710688711e-8, -1.2616184639635088e-10, 4.3572202172036608e-10,
	1.4196725606605346e-11, -4.3094295531763713e-12, -1.8806467150016384e-13, 4.9949119475886259e-14,
	1.6678313555608248e-15, -6.5192669918518842e-16,
}
