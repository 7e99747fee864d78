package rom

import (
	"math"

	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// maxComparedGroup bounds the compositions of the smaller group with which an expansion
// in 1/G is compared.
const maxComparedGroup = 1_000

// comparedSize returns the size of the largest group of at most p's with at most
// maxComparedGroup compositions; below 2 there is none.
func comparedSize(p *Params) int {
	return group.LargestSummed(p.Arms, &p.Estimator, maxComparedGroup)
}

// expansionNeglect returns what the expansion of the force in 1/G neglects where Var J is
// variance, under the optimizer and lag of m; zero where the force is exact. Mean force and
// covariance are exactly known for a smaller group, of G′ samples, for which the
// compositions can be summed. Fixed point, stiffness and noise of that group are computed
// with and without the expansion. The error of the mean force decreases as 1/G², that of
// the covariance, of which the leading term is of order 1/G, relatively as 1/G
// (docs/theory.md §2): at G the difference in J is that at G′ times (G′/G)², the relative
// difference in Var J that at G′ times G′/G.
func (l *linearization) expansionNeglect(m *motion, variance float64) scope.Sizes {
	if _, expanded := l.model.law.(*group.Expanded); !expanded || l.model.factored() {
		return scope.Sizes{}
	}
	unknown := scope.Sizes{RewardMean: math.Inf(1), RewardVariance: math.Inf(1)}
	smaller := l.folded
	if smaller.GroupSize = comparedSize(&l.Params); smaller.GroupSize < 2 {
		return unknown
	}
	var means, variances [2]float64 // by the expansion, exactly
	for i := range means {
		f := smaller
		if i == 1 {
			if f.tables = group.Compositions(f.Arms, &f.Estimator); !f.tables.Summed() {
				return unknown
			}
		}
		logits, ok := f.newton(newModel(&f.Params), l.logits)
		if !ok {
			return unknown
		}
		at := newLinearization(f, logits)
		dynamics := at.newMotion(m.Whole.Method, m.Whole.Rate, m.Whole.Momentum, m.gain)
		if dynamics == nil {
			return unknown
		}
		dynamics.Whole.Lag = m.Whole.Lag
		law, ok := dynamics.Whole.Law()
		if !ok {
			return unknown
		}
		gradient := at.rewardGradient()
		means[i], variances[i] = at.model.expected(logits), linear.Form(gradient, law.TimeAverage(), gradient)
	}
	ratio := float64(smaller.GroupSize) / float64(l.GroupSize)
	neglected := scope.Sizes{
		RewardMean:     ratio * ratio * math.Abs(means[0]-means[1]),
		RewardVariance: ratio * math.Abs(variances[0]/variances[1]-1) * variance,
	}
	if !linear.IsFinite(neglected.RewardMean, neglected.RewardVariance) {
		return unknown
	}
	return neglected
}
