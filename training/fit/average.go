package fit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom/fp"
	"grposim/training/change"
)

// Growth holds the start, plateau and half-time of one curve, averaged over the constant and
// four laws that saturate: exponential, three-phase, logistic and scaling curve. Which of them a
// run follows is not known, and they differ most where the rows end. So every law counts
// with its weight e^{−BIC/2}, and an interval holds what the laws disagree about.
type Growth struct {
	models []Model
	weight []float64 // of the models, sum 1
	// Flat: no law beats the constant by GrowthEvidence.
	Flat        bool
	Correlation float64 // of residuals at successive rows: see Result
	// Missing is the share of the rise from the first row to the plateau that is to come
	// after the last row.
	Missing Averaged

	first, last, largest float64
	unit                 float64 // of rewards in the models
}

// Saturating are the laws of Growth. The other two of Fit are left out: the oscillator
// has the exponential and the three-phase law as limits, and the softmax law has three
// shapes, which hardly any log identifies.
var Saturating = []Name{ConstantLaw, Exponential, ThreePhase, Logistic, ScalingLaw}

// Grow fits the laws to a curve whose reward is at most largest, +Inf if that is not
// known.
func Grow(c Curve, largest float64) *Growth {
	var chosen []law
	for _, l := range laws {
		if slices.Contains(Saturating, l.name) {
			chosen = append(chosen, l)
		}
	}
	r := fitLaws(c, chosen, largest)
	r.weigh(unbiased(r.closest()))
	g := &Growth{models: r.Models, Correlation: r.Correlation, first: c.Time[0], last: c.end(), largest: largest, unit: c.Unit()}
	lowest := math.Inf(1)
	for _, m := range r.Models {
		lowest = min(lowest, m.BIC)
	}
	g.Flat = lowest > r.Models[0].BIC-GrowthEvidence
	var sum float64
	for _, m := range r.Models {
		g.weight = append(g.weight, fp.Exp((lowest-m.BIC)/2))
		sum += g.weight[len(g.weight)-1]
	}
	for i := range g.weight {
		g.weight[i] /= sum
	}
	g.Missing = g.average(func(m *Model) float64 {
		y := m.predict([]float64{g.first, g.last})
		return (m.best.plateau - y[1]) / (m.best.plateau - y[0])
	})
	return g
}

// unbiased is the correlation of successive residuals of a model, in [0, 0.98], corrected
// for what the fit takes from it.
func unbiased(m *Model) float64 {
	n, k := float64(len(m.problem.b.time)), float64(m.parameters())
	return min(max(change.Unbiased(m.correlation(), n, k), 0), largestCorrelation)
}

// Weight is that of a law, 0 for those that are not in Growth.
func (g *Growth) Weight(law Name) float64 {
	for i, m := range g.models {
		if m.Name == law {
			return g.weight[i]
		}
	}
	return 0
}

// At returns the mean curve at increasing times.
func (g *Growth) At(times []float64) []float64 {
	mean := make([]float64, len(times))
	for i := range g.models {
		for k, y := range g.models[i].Predict(times) {
			mean[k] += g.weight[i] * y
		}
	}
	return mean
}

// Start is the reward at the first row.
func (g *Growth) Start() Averaged {
	return g.average(func(m *Model) float64 { return m.predict([]float64{g.first})[0] }).times(g.unit)
}

// Plateau is the reward that the curve tends to, by the laws that grow, cut at the largest
// one that is possible.
func (g *Growth) Plateau() Averaged {
	a := g.average(func(m *Model) float64 {
		if m.law.kind == flat {
			return math.NaN()
		}
		return m.best.plateau
	}).times(g.unit)
	a.largest = g.largest
	return a
}

// LogHalfTime is the logarithm of the time after the first row in which half of the rise
// from there to the plateau is made.
func (g *Growth) LogHalfTime() Averaged {
	return g.average(func(m *Model) float64 { return math.Log(m.reaches(g.first, 0.5) - g.first) })
}

// Until is the time at which a share of the rise from the first row on is still to come,
// by the law of the largest weight.
func (g *Growth) Until(missing float64) float64 {
	best := 0
	for i, w := range g.weight {
		if w > g.weight[best] && g.models[i].law.kind != flat {
			best = i
		}
	}
	return g.models[best].reaches(g.first, 1-missing)
}

// reaches returns the time at which a law that does not turn has made a share of its
// rise from the first time to the plateau; NaN if it does not rise.
func (m *Model) reaches(first, share float64) float64 {
	y := m.predict([]float64{first})[0]
	level := y + share*(m.best.plateau-y)
	if level == y {
		return math.NaN()
	}
	before := func(t float64) bool { return (m.predict([]float64{t})[0]-level)*(m.best.plateau-y) < 0 }
	lo, hi := 0.0, 1.0
	for before(first+hi) && hi < 1e12 {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-10*hi {
		if middle := (lo + hi) / 2; before(first + middle) {
			lo = middle
		} else {
			hi = middle
		}
	}
	return first + hi
}

// Averaged is a quantity by several laws.
type Averaged struct {
	laws    []byLaw
	largest float64 // that is possible
}

// least is the weight below which a law does not count.
const least = 1e-6

// byLaw is a quantity by one law, with its degrees of freedom df, independent rows less
// parameters, and its standard error: of residuals with the variance Σ r²/df over
// independent rows, and not known with df < 1.
type byLaw struct{ weight, value, err, df float64 }

// average returns a quantity of the laws for which it is a number.
func (g *Growth) average(of func(*Model) float64) Averaged {
	a := Averaged{largest: math.Inf(1)}
	var sum float64
	for i := range g.models {
		m := &g.models[i]
		value := of(m)
		if g.weight[i] < least || math.IsNaN(value-value) {
			continue
		}
		n := len(m.problem.b.time)
		jacobian := m.jacobian(func(moved *Model) []float64 { return append(moved.predict(m.problem.b.time), of(moved)) })
		df := float64(n)*m.independent - float64(m.parameters())
		err := math.Inf(1)
		if df >= 1 {
			err = math.Sqrt(m.best.sse / df * m.information(jacobian).spread(jacobian[n]))
		}
		a.laws = append(a.laws, byLaw{g.weight[i], value, err, df})
		sum += g.weight[i]
	}
	for i := range a.laws {
		a.laws[i].weight /= sum
	}
	return a
}

// times returns the quantity in another unit, a power of two.
func (a Averaged) times(unit float64) Averaged {
	for i := range a.laws {
		a.laws[i].value *= unit
		a.laws[i].err *= unit
	}
	return a
}

// Median is the end of both one-sided intervals of tail ½, with the value of a law whose
// error is not known; NaN if the quantity is of no law.
func (a Averaged) Median() float64 {
	if len(a.laws) == 0 {
		return math.NaN()
	}
	known := Averaged{slices.Clone(a.laws), a.largest}
	for i := range known.laws {
		if math.IsInf(known.laws[i].err, 1) {
			known.laws[i].err = 0
		}
	}
	return known.quantile(0.5)
}

// Error is the standard error with the disagreement of the laws: the root of Σ w (s² +
// (q − mean)²) (Buckland, Burnham and Augustin, Biometrics 53, 1997).
func (a Averaged) Error() float64 {
	var mean, sum float64
	for _, l := range a.laws {
		mean += l.weight * l.value
	}
	for _, l := range a.laws {
		sum += l.weight * (l.err*l.err + square(l.value-mean))
	}
	return math.Sqrt(sum)
}

// Interval is the interval that misses the quantity with probability tail on either side,
// 0 < tail < ½: the model-averaged tail area of Turek and Fletcher (Comput. Stat. Data
// Anal. 56, 2012), Σ w_l F((q − q_l)/s_l) = tail with Student's law F of each fit. It is
// unbounded where the quantity is of no law.
func (a Averaged) Interval(tail float64) (lo, hi float64) {
	if len(a.laws) == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return a.quantile(tail), a.quantile(1 - tail)
}

// quantile solves Σ w_l F((q − q_l)/s_l) = area by bisection, to 1e-9 of the bracket. A
// law without a finite error bounds nothing.
func (a Averaged) quantile(area float64) float64 {
	tail := min(area, 1-area)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range a.laws {
		if !(l.err < math.Inf(1)) {
			return min(math.Inf(cmp.Compare(area, 0.5)), a.largest)
		}
		reach := 0.0
		if l.err > 0 {
			reach = l.err * distuv.StudentsT{Sigma: 1, Nu: l.df}.Quantile(1-tail/2)
		}
		lo, hi = min(lo, l.value-reach), max(hi, l.value+reach)
	}
	const halvings = 30
	for range halvings {
		q, below := (lo+hi)/2, 0.0
		for _, l := range a.laws {
			switch {
			case l.err > 0:
				below += l.weight * distuv.StudentsT{Mu: l.value, Sigma: l.err, Nu: l.df}.CDF(q)
			case q >= l.value:
				below += l.weight
			}
		}
		if below < area {
			lo = q
		} else {
			hi = q
		}
	}
	return min((lo+hi)/2, a.largest)
}
