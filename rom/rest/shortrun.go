package rest

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/linear"
)

// Settled holds the shares of stationary variances that the steps from ≤ t < to of a run
// have on average. The run starts at rest at the fixed point, where all variances are 0.
type Settled struct {
	// share of the stationary linear Var J; 1 where there is no stationary law, above 1 with Adam only
	Reward float64
	// the largest share of Var J, of the variance of a logit and of a relative mode; ≥ Reward
	Largest float64
	// with Adam the relative error of Var J by the steps of the second moment that are missing at step
	// from, and by those of the first at an earlier one
	Unknown float64

	Kurtosis float64 // bound on that of one step's force along ∇J; 0: not known
}

// Settled returns the shares of the stationary variances that a run has. A covariance that starts
// at 0 lacks M^r Σ M^rᵀ, Σ the stationary one, after r refresh periods (docs/theory-neglected.md
// §6). With random ages this takes their noise as that of the stationary law from the start on.
func (e *Equilibrium) Settled(o option.Optimizer, l option.Lag, from, to int) Settled {
	l.Complete()
	cell.Must(o.Check)
	cell.Must(l.Check)
	if e.prompts != nil {
		return e.settledTabular(o, l, from, to)
	}
	whole := Settled{Reward: 1, Largest: 1}
	if e.linearization == nil || to <= from || e.params.GroupSize == option.Infinite ||
		linear.NewLag(&l).Period() > linear.MaxPeriod {
		return whole
	}
	p := e.params
	p.Optimizer, p.Lag = o, l
	at, m, because := e.dynamicsOf(p)
	if because.Out() || m.TooLarge().Out() {
		return whole
	}
	largest := linear.Radius(m.Whole.Monodromy())
	if !(largest < 1) {
		return whole
	}
	law, ok := m.Whole.Law()
	gradient := at.rewardGradient()
	if !ok || !(linear.Form(gradient, law.TimeAverage(), gradient) > 0) {
		return whole
	}
	beta1 := 0.0
	if o.Kind == option.Adam {
		beta1 = o.Beta1
	}
	lacks, since := law.Lacks(beta1)
	vectors := [][]float64{gradient}
	for a := range at.logits {
		vectors = append(vectors, at.q.RawRowView(a))
	}
	shares := law.Shares(lacks, vectors, from-since, to-since)
	settled := Settled{Reward: shares[0], Largest: slices.Max(shares), Kurtosis: at.rewardKurtosis()}
	for i := range at.relatives {
		relative, ok := m.Relative(i, at.relatives[i].noise).Law()
		if !ok {
			return whole
		}
		lacks, since := relative.Lacks(beta1)
		settled.Largest = max(settled.Largest,
			relative.Shares(lacks, [][]float64{{1}}, from-since, to-since)[0])
	}
	if o.Kind == option.Adam {
		settled.Unknown = at.sharedError(at.averageErrors(o, missingMoment(o.Beta2, max(from, 1))),
			law.TimeAverage())
	}
	if from < since {
		settled.Unknown += linear.LargestStart
	}
	return settled
}

// missingMoment returns the number of steps of which an average varies as much as Adam's second
// moment at step t does beyond a settled one: with its bias corrected it varies as an average of n
// steps,
//
//	1/n = (1−β2)/(1+β2) (1 + β2^t)/(1 − β2^t),
//
// of which (1−β2)/(1+β2) remains.
func missingMoment(beta2 float64, t int) (steps float64) {
	kept := fp.Pow(beta2, float64(t))
	return min((1+beta2)*(1-kept)/(2*(1-beta2)*kept), math.MaxFloat64)
}
