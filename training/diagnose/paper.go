package diagnose

import (
	"math"
	"slices"

	"grposim/training/change"
)

// PaperName names the failure mode of a run by the four diagnostics of arXiv:2606.30789, in the
// paper's own formulas. It panics if a recorded series differs in length from Steps.
//
// The paper gives no thresholds; all of these are ours. What it says grows, rises or falls must
// have a slope over the whole run that chance explains with probability change.FalseAlarm
// (±standardErrors). log ‖g‖ or the largest ratio grows; KL rises and entropy falls, both. Between
// a healthy and a failing value the threshold is the midpoint ½. That holds for the late share of
// zero-variance groups, ρ and u_eval/u_train. R_∞ is the largest value of the series, the window of
// ρ 45 % of the run. The order of the modes is that of Name, since the paper gives none.
//
// σ_adv²/G, which it says is flat in health and drifts in failure, is not used. With rewards of 0
// and 1 its mean is J(1−J)(G−1)/G², so that it drifts in every run that learns.
//
// The paper's rule for instability, KηK_ref > 1 − μ, cannot be read from recorded series and is
// left out.
func PaperName(t Trace) Diagnosis {
	t.check()
	ratio, u := paperCoupling(&t)
	spread := unobserved("advantage variance over group size", AdvantageDegeneracy, NotRecorded)
	silent := zeroVarianceGroups(&t)
	kl := trend(&t, "KL to the reference, trend", PolicyConcentration, t.KL, identity, AtLeast)
	entropy := trend(&t, "entropy, trend", PolicyConcentration, t.Entropy, identity, AtMost)
	gradient := trend(&t, "log gradient norm, trend", DynamicalInstability, t.GradientNorm, math.Log, AtLeast)
	stale := trend(&t, "importance ratio, trend", DynamicalInstability, t.RatioMax, identity, AtLeast)

	d := Diagnosis{Mode: None,
		Evidence: []Evidence{ratio, u, spread, silent, kl, entropy, gradient, stale}}
	switch {
	case gradient.speaks(), stale.speaks():
		d.Mode = DynamicalInstability
	case ratio.speaks(), u.speaks():
		d.Mode = RewardHacking
	case silent.speaks():
		d.Mode = AdvantageDegeneracy
	case kl.speaks() && entropy.speaks():
		d.Mode = PolicyConcentration
	}
	return d
}

// identity is the scale of a series that is used as recorded.
func identity(x float64) float64 { return x }

// trend measures the slope of a series, mapped by scale, over the steps. Value and
// threshold are in standard errors of the slope. It is there since the mean passed the midpoint
// between those of the first and the last quarter of the steps.
func trend(t *Trace, diagnostic string, of Mode, series []float64, scale func(float64) float64, s Side) Evidence {
	scaled := make([]float64, len(series))
	for i, x := range series {
		scaled[i] = scale(x)
	}
	return t.evidence(diagnostic, of, func(r *run) reading {
		slope, stdErr := change.Line(r.at, r.columns[0])
		if slope == 0 {
			stdErr = 1 // a constant has no trend
		}
		threshold := standardErrors
		if s == AtMost {
			threshold = -threshold
		}
		last := len(r.at) - 1
		quarter := (r.at[last] - r.at[0]) / 4
		low, _ := slices.BinarySearch(r.at, r.at[0]+quarter)
		high, _ := slices.BinarySearch(r.at, r.at[last]-quarter)
		middle := (r.means(0, low)[0] + r.means(high, last+1)[0]) / 2
		return reading{slope / stdErr, 0, s, threshold, r.onset(s, middle)}
	}, scaled)
}

// couplingWindow is the length of the paper's rolling window, as a share of the
// recorded span of steps.
const couplingWindow = 0.45

// paperCoupling measures the paper's coupling of training (Reward) and evaluation (TrueReward) in
// two ways. ratio is ρ = λ_eval/|λ_train| in the last rolling window that defines it, where λ is
// the slope of −log(R_∞ − R). u is the quotient of (R − R_0)/(R_∞ − R_0) of the evaluation and that
// of training, averaged late in the run. Both are 1 in a healthy run and 0 in a failing one. R_∞ is
// the largest value of the series, since the paper does not state its choice.
//
// A window defines ρ only if λ_train is positive beyond its own error: not near
// saturation, nor while the training reward falls.
func paperCoupling(t *Trace) (ratio, u Evidence) {
	ratio = t.evidence("rate of evaluation over training", RewardHacking, func(r *run) reading {
		rho := math.NaN()
		if _, all := r.coupling(); all != nil {
			rho = all[len(all)-1]
		}
		return reading{rho, 0, AtMost, 0.5, int(r.at[r.late])}
	}, t.Reward, t.TrueReward)
	u = t.evidence("evaluation against training reward", RewardHacking, func(r *run) reading {
		normalised := func(n int) float64 {
			start := r.columns[n][0]
			return (r.end()[n] - start) / (slices.Max(r.columns[n]) - start)
		}
		return reading{normalised(1) / normalised(0), 0, AtMost, 0.5, int(r.at[r.late])}
	}, t.Reward, t.TrueReward)
	return ratio, u
}

// RatioFirst reports whether the largest ratio grows before the norm of the gradient, or alone, by
// their trends from step from on: earlier ratios are to the first policy, and rise in every run.
func RatioFirst(t Trace, from int) bool {
	first, _ := slices.BinarySearch(t.Steps, from)
	late := Trace{Steps: t.Steps[first:]}
	ratio := trend(&late, "ratio", DynamicalInstability, t.RatioMax[first:], identity, AtLeast)
	norm := trend(&late, "norm", DynamicalInstability, t.GradientNorm[first:], math.Log, AtLeast)
	return ratio.speaks() && (!norm.speaks() || ratio.Since < norm.Since)
}

// Coupling returns ρ of every window that defines it, at the step where the window ends.
func Coupling(t *Trace) (at, rho []float64) {
	r, _ := t.rows(t.Reward, t.TrueReward)
	return r.coupling()
}

// coupling returns ρ in each rolling window of the run, columns training and evaluation.
func (r *run) coupling() (at, rho []float64) {
	var approach [2][]float64 // −log(R_∞ − R)
	for n, c := range r.columns {
		plateau := slices.Max(c)
		for _, x := range c {
			approach[n] = append(approach[n], -math.Log(plateau-x))
		}
	}
	last := len(r.at) - 1
	window, to := couplingWindow*(r.at[last]-r.at[0]), 0
	for from := range r.at {
		if r.at[from]+window > r.at[last] {
			break
		}
		for to <= last && r.at[to] <= r.at[from]+window {
			to++
		}
		if train, trainError := rate(r.at[from:to], approach[0][from:to]); train > standardErrors*trainError {
			eval, _ := rate(r.at[from:to], approach[1][from:to])
			at, rho = append(at, r.at[to-1]), append(rho, eval/train)
		}
	}
	return at, rho
}

// rate returns the slope of the finite values of y with its standard error; both are NaN
// if there are fewer than three.
func rate(at, y []float64) (slope, stdErr float64) {
	var finiteAt, finite []float64
	for i, v := range y {
		if !math.IsInf(v, 1) {
			finiteAt, finite = append(finiteAt, at[i]), append(finite, v)
		}
	}
	if len(finite) < 3 {
		return math.NaN(), math.NaN()
	}
	return change.Line(finiteAt, finite)
}
