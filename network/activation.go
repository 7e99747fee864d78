package network

import (
	"fmt"
	"math"
)

// Activation is the function φ that a hidden layer applies to each of its sums.
type Activation int

const (
	Tanh Activation = iota // φ(z) = tanh z
	ReLU                   // φ(z) = max(z, 0), with slope 0 at 0
	GELU                   // φ(z) = z Φ(z), Φ the normal distribution function (not its approximation by tanh)
)

// activations has a row for each Activation.
var activations = [...]struct {
	name  string
	apply func(z, slopes []float64) // replaces z by φ(z) and sets slopes to φ'(z)
	gain  float64                   // g: weights of variance g/n keep the size of activations from layer to layer
}{
	Tanh: {"tanh", applyTanh, 1},
	ReLU: {"relu", applyReLU, 2},
	GELU: {"gelu", applyGELU, 2},
}

func (a Activation) known() bool { return a >= 0 && int(a) < len(activations) }

// String returns the name of the activation in configurations.
func (a Activation) String() string {
	if !a.known() {
		return fmt.Sprintf("Activation(%d)", int(a))
	}
	return activations[a].name
}

func applyTanh(z, slopes []float64) {
	for i, x := range z {
		y := math.Tanh(x)
		z[i], slopes[i] = y, 1-float64(y*y)
	}
}

func applyReLU(z, slopes []float64) {
	for i, x := range z {
		if x > 0 {
			slopes[i] = 1
		} else {
			z[i], slopes[i] = 0, 0
		}
	}
}

// φ'(z) = Φ(z) + z e^(−z²/2)/√(2π).
func applyGELU(z, slopes []float64) {
	const density = 0.39894228040143267794 // 1/√(2π)
	for i, x := range z {
		below := math.Erfc(-x/math.Sqrt2) / 2
		z[i] = x * below
		slopes[i] = below + float64(x*density*math.Exp(-x*x/2))
	}
}
