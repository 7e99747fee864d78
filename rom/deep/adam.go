package deep

import (
	"math"

	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// SecondMoments returns E g_i² of the gradient of each weight at a fixed point, of P entries: the stationary second moments of Adam as long as
// the fluctuation of the weights adds nothing to them,
//
//	v_i = (1/C²) Σ_x (J_xᵀ Cov[u_x] J_x)_ii
//
// from C(A−1) products Jᵀu. At G = ∞ they are 0.
func SecondMoments(j Jacobian, p *Point) []float64 {
	moments, gradient := make([]float64, j.Weights()), make([]float64, j.Weights())
	u := make([]float64, len(p.Logits))
	for x, noise := range p.Noise {
		sym := mat.NewSymDense(p.Arms, nil)
		for a := range p.Arms {
			for b := a; b < p.Arms; b++ {
				sym.SetSym(a, b, noise.At(a, b))
			}
		}
		variances, axes := linear.Axes(sym)
		for k, variance := range variances {
			if variance <= 1e-15*variances[len(variances)-1] { // the direction of a common shift
				continue
			}
			for a := range p.Arms {
				u[x*p.Arms+a] = math.Sqrt(variance) * axes.At(a, k) / float64(p.contexts())
			}
			j.Pull(u, gradient)
			for i, g := range gradient {
				moments[i] += g * g
			}
		}
		clear(u[x*p.Arms : (x+1)*p.Arms])
	}
	return moments
}

// Gains returns Adam's preconditioner 1/(√v + ε) of held second moments v, for Preconditioned.
func Gains(moments []float64, epsilon float64) []float64 {
	gains := make([]float64, len(moments))
	for i, v := range moments {
		gains[i] = 1 / (math.Sqrt(v) + epsilon)
	}
	return gains
}

// Held returns the update of Adam with second moments that are held, on the weights of Preconditioned: a heavy ball with momentum β1 and the rate
// (1−β1)η. A critical rate of these dynamics over 1−β1 is Adam's learning rate, κ*(β1, K)/((1−β1)λ) for a force that is stale as a whole.
func Held(learningRate, beta1 float64, lag linear.Lag) linear.Update {
	return linear.Update{Method: option.HeavyBall, Rate: (1 - beta1) * learningRate, Momentum: beta1, Lag: lag}
}
