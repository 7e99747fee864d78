package network

import (
	"fmt"
	"math"

	"grposim/grpo/fp"
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
	apply func(z, slopes matrix) // replaces z by φ(z) and sets slopes to φ'(z)
	gain  float64                // g: weights of variance g/n keep the size of activations from layer to layer
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

// tanh z = sign(z) (1 − e)/(1 + e), e = e^(−2|z|), with an absolute error of two roundings.
func applyTanh(z, slopes matrix) {
	clear(slopes.data)
	for i := range z.rows {
		exponents := slopes.row(i)
		for j, x := range z.row(i) {
			exponents[j] = -2 * math.Abs(x)
		}
	}
	exponentials(slopes)
	for i := range z.rows {
		values, slopes := z.row(i), slopes.row(i)
		for j, e := range slopes {
			y := math.Copysign((1-e)/(1+e), values[j])
			values[j], slopes[j] = y, 1-float64(y*y)
		}
	}
}

func applyReLU(z, slopes matrix) {
	for i := range z.rows {
		values, slopes := z.row(i), slopes.row(i)
		for j, x := range values {
			values[j], slopes[j] = max(x, 0), 0
			if x > 0 {
				slopes[j] = 1
			}
		}
	}
}

// φ(z) = z Φ(z), φ'(z) = Φ(z) + z Φ'(z).
func applyGELU(z, slopes matrix) {
	for i := range z.rows {
		values, slopes := z.row(i), slopes.row(i)
		for j, x := range values {
			below, density := normal(x)
			values[j], slopes[j] = x*below, below+float64(x*density)
		}
	}
}

// normal returns the distribution function of the standard normal law and its density, with
// absolute errors below 3e-16: a series about the nearest node of a table. Its own reason is
// time: fp.NormalCDF takes 130 ns where this takes 10, and a network asks thousands of times.
func normal(x float64) (below, density float64) {
	switch {
	case x >= normalEnd:
		return 1, 0
	case x <= -normalEnd:
		return 0, 0
	case x != x:
		return x, x
	}
	node := math.Round(x * normalNodes)
	h := x - node/normalNodes // exact
	terms := &normalTable[int(node)+normalEnd*normalNodes]
	for n := len(terms) - 1; n >= 0; n-- {
		density = float64(density*h) + below
		below = float64(below*h) + terms[n]
	}
	return below, density
}

const (
	normalEnd   = 9  // Φ(−9) = 1.1e-19
	normalNodes = 16 // a unit: |h| ≤ 1/32, and of the density the next term, h^10 He_10/10! Φ', is below 1e-18
)

// normalTable holds the Taylor coefficients of Φ about each node. With a_n those of the density, of
// which the derivative is −x times itself, (n+1) a_(n+1) = −x a_n − a_(n−1).
var normalTable = func() *[2*normalEnd*normalNodes + 1][11]float64 {
	table := new([2*normalEnd*normalNodes + 1][11]float64)
	for i := range table {
		x := float64(i)/normalNodes - normalEnd
		terms, before, a := &table[i], 0., fp.NormalPDF(x)
		terms[0] = fp.NormalCDF(x)
		for n := 1; n < len(terms); n++ {
			terms[n] = a / float64(n)
			before, a = a, (-float64(x*a)-before)/float64(n)
		}
	}
	return table
}()
