package rest

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/linear"
	"grposim/rom/path"
)

// Settled holds the shares of stationary variances that the steps from ≤ t < to of a run
// have on average. The run starts at rest at the fixed point, where all variances are 0.
type Settled struct {
	Reward float64 // share of the stationary linear Var J; 1 where there is no stationary law
	// error of Reward: with Adam by the steps of the second moment that are missing at step from, and
	// by those of the first at an earlier one; of a rate that varies by the pieces over which it is held
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
	whole := Settled{Reward: 1}
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
	settled := Settled{Kurtosis: at.rewardKurtosis()}
	settled.Reward, settled.Unknown = shareOf(&law, &o, gradient, from, to)
	if o.Kind == option.Adam {
		settled.Unknown += settled.Reward *
			at.sharedError(at.averageErrors(o, missingMoment(o.Beta2, max(from, 1))), law.TimeAverage())
	}
	return settled
}

// heldPieces is the number of pieces over which a rate that rises or falls is held: their error of
// Var J is of the order of its square.
const heldPieces = 16

// largestStart bounds what Adam's correction of the first moment adds to a variance, in stationary
// ones, η²/(2r) with the relaxation rate r. Over T = 1/(1−β1) it adds Tη² ∫₀¹ [ln²(1−y)/y² − 1]/y dy,
// 3.15 Tη². Of 6.3 Tr a share exp(−2r·from) is left, at most 6.3 T/(2e·from) for any r.
const largestStart = 6.3

// shareOf returns the mean share of the law's variance of aᵀx in the steps of a run, and what of it
// is not known.
func shareOf(law *linear.Law, o *option.Optimizer, a []float64, from, to int) (share, unknown float64) {
	if o.Kind == option.Adam {
		unknown = largestStart * min(1, 1/((1-o.Beta1)*2*math.E*float64(from)))
	}
	if !o.Schedule.Varies() {
		return law.Share(nil, a, from, to), unknown
	}
	warmup, steps := min(o.Schedule.Warmup, to), []int{from, to}
	for i := range heldPieces + 1 {
		steps = append(steps, i*warmup/heldPieces)
		if o.Schedule.Kind != option.ConstantRate {
			steps = append(steps, warmup+i*(min(o.Schedule.Total, to)-warmup)/heldPieces)
		}
	}
	share, ok := law.Varied(func(t int) float64 { return path.RateAt(o, t) / o.LearningRate }, steps, a)
	if !ok {
		return 1, math.Inf(1)
	}
	return share, unknown + 1.0/(heldPieces*heldPieces)
}

// missingMoment returns the number of steps of which an average varies as much as Adam's second
// moment at step t does beyond a settled one. With its bias corrected it varies as that of n steps,
// 1/n = (1−β2)/(1+β2) (1 + β2^t)/(1 − β2^t), of which (1−β2)/(1+β2) remains.
func missingMoment(beta2 float64, t int) (steps float64) {
	kept := fp.Pow(beta2, float64(t))
	return min((1+beta2)*(1-kept)/(2*(1-beta2)*kept), math.MaxFloat64)
}
