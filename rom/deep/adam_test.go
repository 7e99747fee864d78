package deep

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Of a force that is stale as a whole Adam's critical rate with held second moments is κ*(β1, K)/((1−β1)λ) of the preconditioned matrix, and
// the second moments are the diagonal of the covariance of the gradient.
func TestAdam(t *testing.T) {
	const contexts, arms, weights, beta1 = 3, 4, 20, 0.9
	j := randomMatrix(contexts, arms, weights, 8)
	p := fixedPoint(t, someContexts(contexts, arms, places["whole"]))
	moments := secondMoments(j, p)
	for i, v := range moments {
		near(t, fmt.Sprintf("second moment %d", i), v, wholeSpace(j, p, 0, 0, block(1)).noise.At(i, i), 1e-12)
	}
	gains := gainsOf(moments, 1e-3)
	total := dense(j, p.Total())
	for i := range weights {
		for k := range weights {
			total.Set(i, k, total.At(i, k)*gains[i])
		}
	}
	lambda := real(linear.Multipliers(total)[0])
	own := newPreconditioned(j, gains)
	near(t, "largest eigenvalue", Largest(own, p.Total(), 1, 100)[0].Value, lambda, 1e-9)
	for _, k := range []int{1, 4, 16} {
		lag := block(k)
		got := NewRange(own).Dynamics(p, heldAdam(1, beta1, linear.NewLag(&lag))).Threshold(linear.CriticalRate).At / (1 - beta1)
		near(t, fmt.Sprintf("K = %d", k), got, linear.FrozenBlock(linear.CriticalRate, option.HeavyBall, beta1, k)/((1-beta1)*lambda), 1e-9)
	}
}

// secondMoments returns E g_i² of the gradient of each weight at a fixed point, of P entries: the stationary second moments of Adam as long as
// the fluctuation of the weights adds nothing to them,
//
//	v_i = (1/C²) Σ_x (J_xᵀ Cov[u_x] J_x)_ii
//
// from C(A−1) products Jᵀu. At G = ∞ they are 0.
func secondMoments(j Jacobian, p *Point) []float64 {
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
				u[x*p.Arms+a] = math.Sqrt(variance) * axes.At(a, k) / float64(len(p.Fresh))
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

// gainsOf returns Adam's preconditioner 1/(√v + ε) of held second moments v, for newPreconditioned.
func gainsOf(moments []float64, epsilon float64) []float64 {
	gains := make([]float64, len(moments))
	for i, v := range moments {
		gains[i] = 1 / (math.Sqrt(v) + epsilon)
	}
	return gains
}

// heldAdam returns the update of Adam with second moments that are held, on the weights of newPreconditioned: a heavy ball with momentum β1 and the rate
// (1−β1)η. A critical rate of these dynamics over 1−β1 is Adam's learning rate, κ*(β1, K)/((1−β1)λ) for a force that is stale as a whole.
func heldAdam(learningRate, beta1 float64, lag linear.Lag) linear.Update {
	return linear.Update{Method: option.HeavyBall, Rate: (1 - beta1) * learningRate, Momentum: beta1, Lag: lag}
}

// newPreconditioned returns the Jacobian of the same logits in the weights w_i/√p_i, J diag(√p), where p are the
// gains, of P entries ≥ 0. A step that multiplies the gradient by p is plain in these weights, so that all of this package
// holds for the preconditioned matrices diag(√p) Λ diag(√p).
func newPreconditioned(j Jacobian, gains []float64) Jacobian {
	root := make([]float64, len(gains))
	for i, p := range gains {
		root[i] = math.Sqrt(p)
	}
	return &preconditioned{Jacobian: j, root: root, scaled: make([]float64, len(gains))}
}

type preconditioned struct {
	Jacobian
	root, scaled []float64
}

func (p *preconditioned) Pull(u, gradient []float64) {
	p.Jacobian.Pull(u, gradient)
	for i, r := range p.root {
		gradient[i] *= r
	}
}

func (p *preconditioned) Push(d, change []float64) {
	for i, r := range p.root {
		p.scaled[i] = r * d[i]
	}
	p.Jacobian.Push(p.scaled, change)
}
