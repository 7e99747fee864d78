package rom

import (
	"math"

	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxComparedGroup bounds the compositions of the smaller group with which an expansion
// in 1/G is compared.
const maxComparedGroup = 1_000

// comparedSize returns the size of the largest group of at most p's with at most
// maxComparedGroup compositions; below 2 there is none.
func comparedSize(p *Params) int {
	return group.LargestSummed(p.Arms, &p.Estimator, maxComparedGroup)
}

// expansionNeglect returns what a force expanded in 1/G leaves out where Var J is variance.
// Twice the change from G to 2G is the term of order 1/G, a share r of the reward's force.
// The next term of the mean force is about r of that one, that of the covariance up to 4r of the whole.
func (l *linearization) expansionNeglect(variance float64) scope.Sizes {
	if _, expanded := l.model.law.(*group.Expanded); !expanded || l.model.factored() {
		return scope.Sizes{}
	}
	p, force, change := l.Params, make([]float64, len(l.logits)), make([]float64, len(l.logits))
	l.model.set(l.logits, l.logits)
	l.model.rewardForce(force)
	p.GroupSize *= 2
	twice := newModel(&p)
	twice.set(l.logits, l.logits)
	twice.rewardForce(change)
	floats.Sub(change, force)
	floats.Scale(2, change)
	r := max(floats.Norm(change, 2)/floats.Norm(force, 2), 1/l.model.size)
	for c, n := range l.count {
		change[c] /= math.Sqrt(n)
	}
	var total mat.Dense
	total.Add(l.fresh, l.stale)
	gradient := l.rewardGradient()
	along := mat.NewVecDense(len(gradient), nil)
	if along.SolveVec(linear.Within(l.q, &total).T(), mat.NewVecDense(len(gradient), gradient)) != nil {
		return scope.Unknown
	}
	shift := floats.Dot(along.RawVector().Data, reduce(l.q, change))
	return scope.Sizes{RewardMean: r * math.Abs(shift), RewardVariance: 4 * r * variance}
}
