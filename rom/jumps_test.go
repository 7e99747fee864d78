package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// Over a normal law of both policies that a bound of the clip divides, the mean of the clipped share and of the root of E ‖g‖² is that of drawn policies, and what the mean of ln ρ
// being off by as much as one standard deviation changes is what drawn policies change by, displaced either way. Five standard errors in 12 comparisons, a chance of 1e-5 that one fails, and 2 % for
// the jumps of two arms at once.
func TestMeanOverABound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, q := range []Observed{ClipFraction, GradientNorm} {
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
			if q == GradientNorm && math.Abs(law.deviation-stderr*math.Sqrt(20_000)) > 0.1*law.deviation {
				t.Errorf("%s at %v: predicted deviation %.5g, drawn %.5g", q, distance, law.deviation, stderr*math.Sqrt(20_000))
			}
			slope := (1 - 1/(1+math.Exp(-gap))) * math.Sqrt2 // of ln ρ of the first arm by x
			off := deviation
			up, one := drawn(off / slope)
			down, other := drawn(-off / slope)
			moved := max(math.Abs(up-mean), math.Abs(down-mean))
			if got := law.jumps([]float64{off, 0}); got < moved-5*(one+other+stderr)-0.03*mean {
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
