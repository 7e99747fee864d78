package deep

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// covariances calls visit with the covariance of all weights before each of the steps of a block.
// It steps the covariance of (w, ηv, w_old) from rest.
func (r *recursion) covariances(steps int, visit func(t int, w *mat.Dense)) {
	p, _ := r.fresh.Dims()
	step := mat.NewDense(3*p, 3*p, nil) // of (w, ηv, w_old)
	kicks := mat.NewDense(3*p, p, nil)
	for i := range p {
		for k := range p {
			f, s := r.rate*r.fresh.At(i, k), r.rate*r.stale.At(i, k)
			for _, row := range []int{i, p + i} {
				step.Set(row, k, -f)
				step.Set(row, 2*p+k, -s)
			}
		}
		step.Set(i, i, 1+step.At(i, i))
		step.Set(i, p+i, r.momentum)
		step.Set(p+i, p+i, r.momentum)
		step.Set(2*p+i, 2*p+i, 1)
		kicks.Set(i, i, r.rate)
		kicks.Set(p+i, i, r.rate)
	}
	refresh := linear.Identity(3 * p)
	for i := range p {
		refresh.Set(2*p+i, 2*p+i, 0)
		refresh.Set(2*p+i, i, 1)
	}
	noise, x := linear.Congruence(kicks, r.noise), mat.NewDense(3*p, 3*p, nil)
	for t := range steps {
		if t%r.lag.Interval == 0 {
			x = linear.Congruence(refresh, x)
		}
		visit(t, mat.DenseCopyOf(x.Slice(0, p, 0, p)))
		x = linear.Congruence(step, x)
		x.Add(x, noise)
	}
}

// Var J and the variances of modes are those of the recursion of the covariance on all weights.
// Modes mix or not, and runs may be short.
func TestLawAgainstTheRecursion(t *testing.T) {
	const contexts, arms, weights, rate = 2, 3, 5, 0.4
	j := randomMatrix(contexts, arms, weights, 4)
	r := NewRange(j)
	onWeights := func(covector []float64) *mat.VecDense {
		var w mat.VecDense
		w.MulVec(j.j.T(), mat.NewVecDense(len(covector), covector))
		return &w
	}
	for name, of := range places {
		p := FixedPoint(someContexts(contexts, arms, of))
		for _, lag := range []option.Lag{block(1), block(4)} {
			for _, mu := range []float64{0, 0.9} {
				d := r.Dynamics(p, update(rate, mu, lag))
				modes := d.Modes()
				long := int(35/-math.Log(d.SpectralRadius())+1) * lag.Interval
				for _, over := range []Window{{}, {5, 30}} {
					what := fmt.Sprintf("%s, block of %d, μ = %v, steps %v: ", name, lag.Interval, mu, over)
					law := d.Law(modes, over)
					steps := over
					if over.To == 0 {
						steps = Window{long, long + lag.Interval}
					}
					reward, variances := 0.0, make([]float64, len(modes))
					wholeSpace(j, p, rate, mu, lag).covariances(steps.To, func(t int, x *mat.Dense) {
						if t < steps.From {
							return
						}
						slope, count := onWeights(p.Slope), float64(steps.To-steps.From)
						reward += mat.Inner(slope, x, slope) / count
						for i := range modes {
							l := onWeights(modes[i].Covector)
							variances[i] += mat.Inner(l, x, l) / count
						}
					})
					near(t, what+"Var J", law.Reward, reward, 1e-9)
					for i, v := range variances {
						near(t, fmt.Sprintf("%smode %d", what, i), law.Modes[i], v, 1e-9)
					}
				}
			}
		}
	}
}

// An eigenvector of Λ is its own motion: Λ_f + Λ_s on all weights multiplies it by λ, and its
// covector reads it off.
func TestModes(t *testing.T) {
	const contexts, arms, weights = 4, 3, 30
	j := randomMatrix(contexts, arms, weights, 6)
	r := NewRange(j)
	for name, of := range places {
		p := FixedPoint(someContexts(contexts, arms, of))
		d := r.Dynamics(p, update(0.1, 0, block(4)))
		modes := d.Modes()
		k := linear.Congruence(j.j, linear.Identity(weights)) // JJᵀ
		for i := range modes {
			m := &modes[i]
			// JJᵀ H/C of the change of the logits, centred, is λ times it.
			n := contexts * arms
			u := make([]float64, n)
			for x, h := range p.Total() {
				mat.NewVecDense(arms, u[x*arms:(x+1)*arms]).MulVec(h,
					mat.NewVecDense(arms, m.Direction[x*arms:(x+1)*arms]))
			}
			var moved mat.VecDense
			moved.MulVec(k, mat.NewVecDense(n, u))
			back := make([]float64, n)
			r.spread(back, r.gather(moved.RawVector().Data))
			miss, size, dot := 0.0, 0.0, 0.0
			for a := range back {
				miss = max(miss, math.Abs(back[a]/contexts-m.Total()*m.Direction[a]))
				size = max(size, math.Abs(m.Total()*m.Direction[a]))
				dot += m.Covector[a] * m.Direction[a]
			}
			if !(miss <= 1e-9*max(size, modes[0].Total())) {
				t.Errorf("%s: mode %d, λ = %v, is off by %v of %v", name, i, m.Total(), miss, size)
			}
			near(t, name+": covector·direction", dot, 1, 1e-9)
		}
		if d.Mixed {
			continue
		}
		least := linear.Never
		for i := range modes {
			least = least.Or(modes[i].Threshold(linear.CriticalRate))
		}
		near(t, name+": the least of the modes' thresholds", least.At,
			d.Threshold(linear.CriticalRate).At, 1e-12)
	}
}
