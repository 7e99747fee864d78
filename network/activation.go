package network

import (
	"math"

	"grposim/fp"
)

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
