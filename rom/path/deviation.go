package path

import (
	"iter"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
)

// Deviations yields the deviation x of the logits from a fixed point theta, and the
// velocity v, at step 0 and after each step without end: the linear dynamics in the
// logits of all arms,
//
//	g_t = −Λ_f x_t − Λ_s x_old,
//
// from x = start and v = 0 with the optimizer and the lag of p (docs/theory.md §5). Before a delay
// has passed, x_old is start; of random ages it is the mean over their law. The slices are
// overwritten by the next step. Adam has no linear dynamics of its own: it panics.
func Deviations(p cell.Params, theta, start []float64) iter.Seq2[[]float64, []float64] {
	fresh, stale := force.Stiffness(p, theta)
	if p.Optimizer.Kind == option.Adam {
		panic("rom: Deviations: got Adam, want HeavyBall or Nesterov")
	}
	rate, momentum := p.Optimizer.LearningRate, p.Optimizer.Momentum
	force, velocity := linear.StepGains(p.Optimizer.Kind, momentum)
	return func(yield func(x, v []float64) bool) {
		x, v := slices.Clone(start), make([]float64, len(start))
		past := newSnapshots(&p.Lag, start, math.MaxInt-1)
		old, g := make([]float64, len(start)), make([]float64, len(start))
		for t := 0; yield(x, v); t++ {
			clear(old)
			past.store(t, x)
			past.each(t, func(share float64, snapshot []float64) {
				for a, y := range snapshot {
					old[a] += share * y
				}
			})
			for a := range g {
				g[a] = 0
				for b := range g {
					g[a] -= fresh.At(a, b)*x[b] + stale.At(a, b)*old[b]
				}
			}
			for a := range g {
				x[a] += rate * (force*g[a] + velocity*v[a])
				v[a] = momentum*v[a] + g[a]
			}
		}
	}
}
