package rom

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Over a normal law of both policies that a bound of the clip divides, the mean of the clipped share is that of drawn policies, and what the mean of ln ρ
// being off by as much as one standard deviation changes is what drawn policies change by, displaced either way. Five standard errors in 12 comparisons, a chance of 1e-5 that one fails, and 2 % for
// the jumps of two arms at once.
func TestMeanOverABound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, q := range []Observed{ClipFraction} {
		for _, distance := range []float64{-0.5, 0.2, 1.5} { // of ln ρ of the first arm from the bound, in standard deviations
			p := Params{Arms: []option.Arm{{Mean: 0.3}, {Mean: 0.8}}}
			p.GroupSize, p.GroupsPerStep, p.Advantage.Scale = 32, 4, option.NoScale
			p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.3}
			p.Lag, p.Optimizer.LearningRate = option.Lag{Kind: option.Delay, Interval: 3}, 0.1
			p = p.checked()
			o, m := observables[q], newModel(&p)
			const sigma = 0.03 // of either gap of logits, independent
			// ln ρ of the first arm moves by half of the change of the gap at equal old logits
			deviation := sigma * math.Sqrt2 / 2 * 0.9
			gap := solve(func(z float64) float64 {
				return math.Log(2/(1+math.Exp(-z))) - math.Log(0.8) + distance*deviation
			}, -2, 2)
			at := func(x []float64) (now, old []float64) {
				now, old = []float64{0, -gap}, []float64{0, 0}
				for side, logits := range [2][]float64{now, old} {
					logits[0] += x[side] / math.Sqrt2
					logits[1] -= x[side] / math.Sqrt2
				}
				return now, old
			}
			v := sigma * sigma / 2
			law := o.over(m, &gaussian, at, []float64{0, 0}, [][]float64{{v, 0}, {0, v}})
			drawn := func(off float64) (mean, stderr float64) {
				const draws = 20_000
				sum, squares := 0.0, 0.0
				for range draws {
					now, old := at([]float64{math.Sqrt(v)*r.NormFloat64() + off, math.Sqrt(v) * r.NormFloat64()})
					x := o.of(m, now, old)
					sum += x
					squares += x * x
				}
				mean = sum / draws
				return mean, math.Sqrt((squares/draws - mean*mean) / draws)
			}
			mean, stderr := drawn(0)
			if math.Abs(law.shift-mean) > 5*stderr+0.02*mean {
				t.Errorf("%s at %v: predicted %.5g, drawn %.5g (%.1g)", q, distance, law.shift, mean, stderr)
			}
			slope := (1 - 1/(1+math.Exp(-gap))) * math.Sqrt2 // of ln ρ of the first arm by x
			off := deviation
			up, one := drawn(off / slope)
			down, other := drawn(-off / slope)
			moved := max(math.Abs(up-mean), math.Abs(down-mean))
			got, noise := law.jumps([]float64{off, 0}), 5*(one+other+stderr)+0.03*mean
			if !(math.Abs(got-moved) <= noise) {
				t.Errorf("%s at %v, off by %.3g: the jumps leave out %.5g, drawn %.5g", q, distance, off, got, moved)
			}
		}
	}
}

// solve returns a root of an ascending function.
func solve(f func(x float64) float64, low, high float64) float64 {
	for range 60 {
		if middle := (low + high) / 2; f(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Over a normal law of both policies that a bound of the clip divides, the mean of the force, its slope by Stein's identity, the rest of its variance that is noise, and for kept groups the mean
// of its derivative by their sums and the first two derivatives of this are those of drawn policies: to five standard errors, a chance of 1e-5 in 20 comparisons, and, as the
// jump differs from that in the middle, 4 % of the largest entry and a fifth of that of the noise.
func TestForceOverABound(t *testing.T) {
	const v, draws = 0.03 * 0.03, 40_000 // of each coordinate
	for _, samples := range []option.Samples{option.Fresh, option.Reused} {
		for _, distance := range []float64{-0.5, 0.2, 1.5} { // of the mean of ln ρ of the first arm beyond 1.2, in standard deviations of a coordinate
			p := Params{Arms: []option.Arm{{Mean: 0.8}, {Mean: 0.3}, {Mean: 0.4}}}
			p.GroupSize, p.GroupsPerStep, p.Advantage.Scale = 32, 4, option.NoScale
			p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2}
			p.Lag, p.Samples, p.Optimizer.LearningRate = option.Lag{Kind: option.Block, Interval: 4}, samples, 0.1
			p = p.checked()
			old := []float64{0.1, 0, -0.1}
			gap := solve(func(z float64) float64 {
				m := newPolicy(3)
				m.set([]float64{0.1 + z, 0, -0.1})
				now := m.logs[0]
				m.set(old)
				return now - m.logs[0] - math.Log(1.2) - 0.03*distance
			}, -2, 2)
			theta := []float64{0.1 + gap, 0, -0.1}
			local := func(by closure) (*spread, *localForce) {
				s := newSpread(p, old, 8, by)
				for _, from := range s.inputs(2) {
					for i := range s.n {
						s.cov[from+i][from+i] = v
					}
				}
				l, _ := s.force(2, theta, old)
				return s, l
			}
			s, l := local(crossed)
			_, without := local(held)
			n := s.n
			of := func(x []float64) []float64 { // the force, and its derivative by the sums
				s.set(s.moved(theta, x[:n]), s.moved(old, x[n:]))
				f := make([]float64, 3)
				s.meanForce(f)
				all := reduce(s.q, f)
				if s.kept > 0 {
					all = append(all, slices.Concat(bySums(s.model, s.q)...)...)
				}
				return all
			}
			r := rand.New(rand.NewPCG(7, 7))
			xs, fs := make([][]float64, draws), make([][]float64, draws)
			for i := range xs {
				for range 2 * n {
					xs[i] = append(xs[i], math.Sqrt(v)*r.NormFloat64())
				}
				fs[i] = of(xs[i])
			}
			base := of(make([]float64, 2*n))
			compare := func(what string, within float64, want []float64, drawn func(i, k int) float64) {
				t.Helper()
				largest := 0.0
				for _, x := range want {
					largest = max(largest, math.Abs(x))
				}
				for k, x := range want {
					sum, squares := 0.0, 0.0
					for i := range draws {
						y := drawn(i, k)
						sum, squares = sum+y, squares+y*y
					}
					mean := sum / draws
					if stderr := math.Sqrt((squares/draws - mean*mean) / draws); math.Abs(x-mean) > 5*stderr+within*largest {
						t.Errorf("%v at %v: %s %d: predicted %.5g, drawn %.5g (%.1g)", samples, distance, what, k, x, mean, stderr)
					}
				}
			}
			mean := slices.Clone(base[:n])
			floats.Add(mean, l.offset)
			floats.Add(mean, l.bend)
			compare("force", 0.04, mean, func(i, k int) float64 { return fs[i][k] })
			compare("slope", 0.04, slices.Concat(l.slope...), func(i, k int) float64 { return fs[i][k/(2*n)] * xs[i][k%(2*n)] / v })
			if s.kept == 0 {
				var rest mat.Dense
				rest.Sub(l.noise, without.noise)
				residual := func(i, k int) float64 { return fs[i][k] - mean[k] - floats.Dot(l.slope[k], xs[i]) }
				compare("noise", 0.2, rest.RawMatrix().Data, func(i, k int) float64 { return residual(i, k/n) * residual(i, k%n) })
				continue
			}
			compare("derivative by a sum", 0.04, slices.Concat(l.bySums...), func(i, k int) float64 { return fs[i][n+k] })
			along := func(rows func(*tilt) [][]float64, axis func(*tilt) float64) []float64 {
				sum := make([]float64, n*s.kept)
				for _, x := range l.tilts {
					floats.AddScaled(sum, axis(&x), slices.Concat(rows(&x)...))
				}
				return sum
			}
			rises := along(func(x *tilt) [][]float64 { return x.rise }, func(x *tilt) float64 { return x.axis[0] })
			compare("its slope", 0.04, rises, func(i, k int) float64 { return fs[i][n+k] * xs[i][0] / v })
			bends := along(func(x *tilt) [][]float64 { return x.bend }, func(x *tilt) float64 { return x.axis[0] * x.axis[0] })
			compare("its bend", 0.04, bends, func(i, k int) float64 { return fs[i][n+k] * (xs[i][0]*xs[i][0]/v - 1) / v })
		}
	}
}
