package grpo

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
)

// Force computes the gradient estimate of one optimizer step on the logits:
//
//	g = (1/GB) Σ_i w_i A_i (e_{a_i} − π) − β ∇KL + α ∇H
//
// (docs/theory.md §1). It holds scratch space, so each goroutine has its own.
type Force struct {
	estimator option.Estimator
	second    option.Importance // the weights of Correct
	reference *Policy           // π_ref

	beta       float64 // β of the step, as are the bounds and G; see SetStep
	exact      bool    // the KL penalty has its exact gradient
	atSnapshot bool    // it is evaluated at π_old, else at π

	shifts       []float64  // of the arms' rewards in Expected
	upper, lower []float64  // w⁺_a, w⁻_a for A > 0 and A < 0; one slice for the modes none and ratio
	form         WeightForm // of the weights
	above, below signed     // of samples of A > 0 and A < 0
	corrections  []float64  // c_a by which w⁺_a and w⁻_a are multiplied; nil: none
}

// NewForce returns the force of an estimator whose KL penalty pulls towards the
// policy of the logits reference, one finite number per arm. It panics if a field of
// the estimator or the reference is not valid.
func NewForce(estimator option.Estimator, reference []float64) *Force {
	must(func(m *option.Mistakes) { CheckEstimator(&estimator, m) })
	for a, logit := range reference {
		if math.IsNaN(logit) || math.IsInf(logit, 0) {
			mustBe(false, fmt.Sprintf("reference[%d]", a), logit, "a finite number")
		}
	}
	f := &Force{
		estimator: estimator,
		second:    *estimator.Rollout.Weight(),
		reference: NewPolicy(reference),
		shifts:    make([]float64, len(reference)),
		// setWeights changes them unless the mode is NoImportance.
		upper: slices.Repeat([]float64{1}, len(reference)),
	}
	f.lower = f.upper
	kl := &f.estimator.KL
	f.beta = kl.Coefficient
	f.exact = kl.Coefficient != 0 && kl.Gradient == option.ExactKL && !kl.Outside()
	f.atSnapshot = kl.At == option.AtSnapshot && !kl.Outside()
	imp := &estimator.Importance
	form, up, down := FormOf(imp)
	f.form = form
	f.above = signed{up, imp.Temperature.Positive, imp.Power.Positive, imp.Decay.Positive}
	f.below = signed{down, imp.Temperature.Negative, imp.Power.Negative, imp.Decay.Negative}
	if !imp.Linear() {
		f.lower = make([]float64, len(reference))
	}
	return f
}

// Sampled sets g, one number per arm, to the force of the samples in statistics on the logits of
// current. The samples are drawn from behaviour. At least one group has been added, and the group
// size is not Infinite. With c^± the sums of advantages by arm and sign it is
//
//	c_a = (w⁺_a c⁺_a + w⁻_a c⁻_a)/GB,    g = c − π Σ_b c_b − β ∇KL + α ∇H.
//
// With the filter Drop the number n of groups whose rewards differ, or 1, takes the place of B.
// With the KL in the reward it is part of the advantages (see KLShifts).
func (f *Force) Sampled(g []float64, statistics *GroupStatistics, current, behaviour *Policy) {
	f.setWeights(current, behaviour)
	groups := statistics.Groups
	if f.estimator.Filter == option.Drop {
		groups = max(groups-statistics.ZeroVariance, 1)
	}
	samples := float64(f.estimator.GroupSize) * float64(groups)
	drawn := 1 / samples
	share := drawn
	if adv := &f.estimator.Advantage; adv.Scale.OfStep() {
		share /= stepScale(adv, samples, statistics)
	}
	sum, logRatio := 0.0, 0.0 // two sums in one loop: neither waits for the other
	upper, lower, arms := f.upper[:len(g)], f.lower[:len(g)], statistics.Arms[:len(g)]
	at := f.penalized(current, behaviour)
	probs, logits, reference := at.Probs[:len(g)], at.Logits[:len(g)], f.reference.Logits[:len(g)]
	for a := range g {
		arm := &arms[a]
		c := float64(share * (float64(upper[a]*arm.Positive) + float64(lower[a]*arm.Negative)))
		g[a] = c
		sum += c
		logRatio += float64(probs[a] * (logits[a] - reference[a]))
	}
	f.project(g, sum, logRatio, current, behaviour, func(a int) float64 {
		return drawn * float64(statistics.Arms[a].Count)
	})
}

// Expected sets g, one number per arm, to the force of an infinite group, the limit of Sampled for
// G → ∞. There a group has the mean and the deviation of a single reward under behaviour
// (docs/theory.md §2). If that reward is constant, all advantages are 0 unless the baseline is
// constant. It panics if an arm's reward law is unknown.
func (f *Force) Expected(g []float64, bandit *option.Bandit, current, behaviour *Policy) {
	f.setWeights(current, behaviour)
	KLShifts(&f.estimator.KL, f.shifts, behaviour, f.reference)
	mean, square := 0.0, 0.0
	lowest, highest := math.Inf(1), math.Inf(-1)
	for a, arm := range bandit.Arms {
		mean += float64(behaviour.Probs[a] * (arm.Mean + f.shifts[a]))
		if behaviour.Probs[a] > 0 {
			low, high := support(&arm)
			lowest, highest = min(lowest, low+f.shifts[a]), max(highest, high+f.shifts[a])
		}
	}
	for a, arm := range bandit.Arms {
		d := arm.Mean + f.shifts[a] - mean
		square += float64(behaviour.Probs[a] * (float64(d*d) + variance(&arm)))
	}
	factor := 0.0
	switch adv := &f.estimator.Advantage; {
	case adv.Baseline == option.ConstantBaseline:
		factor, mean = 1, adv.Value
	case square > 0 && lowest < highest: // square may be positive by the rounding of mean
		factor = 1 / scalings[adv.Scale].divisor(adv, math.Sqrt(square), mean)
	}
	sum, logRatio, at := 0.0, 0.0, f.penalized(current, behaviour)
	for a, arm := range bandit.Arms {
		above, below := partialMeans(&arm, mean-f.shifts[a])
		c := float64(factor * float64(behaviour.Probs[a]*(float64(f.upper[a]*above)+float64(f.lower[a]*below))))
		g[a] = c
		sum += c
		logRatio += float64(at.Probs[a] * (at.Logits[a] - f.reference.Logits[a]))
	}
	f.project(g, sum, logRatio, current, behaviour, func(a int) float64 { return behaviour.Probs[a] })
}

// SetStep sets β and the bounds of the clip to those of step t ≥ 0, by their schedules.
func (f *Force) SetStep(t int) {
	if kl := &f.estimator.KL; kl.Schedule.Varies() {
		f.beta = kl.Coefficient * RateFactor(&kl.Schedule, t)
	}
	if imp := &f.estimator.Importance; imp.Schedule.Varies() {
		now, factor := *imp, RateFactor(&imp.Schedule, t) // on the heap
		now.ClipLow *= factor
		now.ClipHigh *= factor
		_, f.above.within, f.below.within = FormOf(&now)
	}
}

// SetGroupSize sets the G of the samples that are next in Sampled.
func (f *Force) SetGroupSize(size int) { f.estimator.GroupSize = size }

// GroupSizeAt returns the G of groups that are drawn in step t ≥ 0: at least 2, the nearest to G
// times the factor of its schedule.
func GroupSizeAt(e *option.Estimator, t int) int {
	if e.GroupSize == option.Infinite || !e.SizeSchedule.Varies() {
		return e.GroupSize
	}
	return max(2, int(math.Round(float64(e.GroupSize)*RateFactor(&e.SizeSchedule, t))))
}

// ClipFraction returns the share of the samples with A ≠ 0 whose weight the bounds of the
// importance mode set to 0. The statistics are those of the last call of Sampled, which has set the
// weights. Without such samples it is 0.
func (f *Force) ClipFraction(statistics *GroupStatistics) float64 {
	if !DropsSamples(&f.estimator.Importance) && !DropsSamples(&f.second) {
		return 0
	}
	clipped, all := 0, 0
	for a, arm := range statistics.Arms {
		all += arm.PositiveCount + arm.NegativeCount
		if f.upper[a] == 0 {
			clipped += arm.PositiveCount
		}
		if f.lower[a] == 0 {
			clipped += arm.NegativeCount
		}
	}
	return float64(clipped) / float64(max(all, 1))
}

// Correct sets the second weights of samples that were drawn from sampled, where the trainer's own
// policy of the snapshot is trained.
func (f *Force) Correct(trained, sampled *Policy) {
	form, within, _ := FormOf(&f.second)
	f.corrections = f.corrections[:0]
	for a, p := range sampled.Probs {
		weight := 0.0
		if p > 0 {
			weight = form.weigh(trained.Probs[a]/p, 0, 0, &signed{within: within})
		}
		f.corrections = append(f.corrections, weight)
	}
}

// setWeights sets the weights w⁺ and w⁻ of every arm, those of the importance mode times corrections.
func (f *Force) setWeights(current, behaviour *Policy) {
	f.setRatios(current, behaviour)
	for a, c := range f.corrections {
		if f.upper[a] *= c; !f.estimator.Importance.Linear() { // else both are one slice
			f.lower[a] *= c
		}
	}
}

// setRatios sets the importance weights of every arm. An arm of probability 0 under behaviour has
// ratio 0.
func (f *Force) setRatios(current, behaviour *Policy) {
	imp := &f.estimator.Importance
	if imp.Mode == option.NoImportance {
		for a := range f.corrections {
			f.upper[a] = 1
		}
		return
	}
	ratios, probs, drawn := f.upper, current.Probs[:len(f.upper)], behaviour.Probs[:len(f.upper)]
	for a, old := range drawn {
		ratio := 0.0
		if old > 0 {
			ratio = probs[a] / old
		}
		ratios[a] = ratio
	}
	if imp.Mode == option.Ratio {
		return
	}
	logNorm, logRatio := 0.0, 0.0
	if f.form == PowerWeight {
		logNorm = current.LogNorm() - behaviour.LogNorm()
	}
	for a, ratio := range ratios {
		change := probs[a] - drawn[a]
		if f.form == PowerWeight {
			if logRatio = current.Logits[a] - behaviour.Logits[a] - logNorm; ratio == 0 {
				logRatio = math.Inf(-1)
			}
		}
		f.upper[a] = f.form.weigh(ratio, logRatio, change, &f.above)
		f.lower[a] = f.form.weigh(ratio, logRatio, change, &f.below)
	}
}

// penalized returns the policy at which the penalty is evaluated.
func (f *Force) penalized(current, behaviour *Policy) *Policy {
	if f.atSnapshot {
		return behaviour
	}
	return current
}

// project subtracts π_a·sum, with sum = Σ_b g_b, and β∇KL from g, and adds α∇H. The penalty's exact
// gradient is β π_a(ℓ_a − logRatio), ℓ = θ − θ_ref and logRatio = Σ_b π_b ℓ_b. The sampled ones
// call drawn(a), the share of the samples that fell on arm a.
func (f *Force) project(g []float64, sum, logRatio float64, current, behaviour *Policy, drawn func(a int) float64) {
	kl, at := &f.estimator.KL, f.penalized(current, behaviour)
	if f.exact {
		beta, probs, logits, reference := f.beta, at.Probs[:len(g)], at.Logits[:len(g)], f.reference.Logits[:len(g)]
		for a, p := range current.Probs[:len(g)] {
			l := logits[a] - reference[a]
			g[a] = g[a] - float64(p*sum) - float64(beta*float64(probs[a]*(l-logRatio)))
		}
	} else {
		for a, p := range current.Probs {
			g[a] -= float64(p * sum)
		}
		if kl.Sampled() { // the gradient is not exact
			f.subtractSampledKL(g, at, behaviour, drawn)
		}
	}
	if f.estimator.Entropy != 0 { // α∇H = −α π_a(θ_a − Σ_b π_b θ_b)
		mean := current.Mean(current.Logits)
		for a, p := range current.Probs[:len(g)] {
			g[a] -= float64(f.estimator.Entropy * float64(p*(current.Logits[a]-mean)))
		}
	}
}

// subtractSampledKL subtracts the sampled gradient of the penalty, evaluated at the policy at, from
// g. With c_a = β κ_a drawn(a) it is c_a − π_a Σ_b c_b (docs/theory.md §1). In the advantage
// κ_a = w_a log π_old/π_ref.
func (f *Force) subtractSampledKL(g []float64, at, behaviour *Policy, drawn func(a int) float64) {
	kl, of := &f.estimator.KL, at
	gradient := kl.Gradient
	if kl.OfAdvantage() {
		gradient, of = option.K2, behaviour
	}
	logNorm := 0.0
	if gradient == option.K2 || gradient == option.RatioK1 || gradient == option.RatioK3 {
		logNorm = of.LogNorm() - f.reference.LogNorm()
	}
	sum := 0.0
	for a := range g {
		share := drawn(a)
		if share == 0 { // includes arms whose π_a underflows, where κ may be infinite
			continue
		}
		kappa := of.Logits[a] - f.reference.Logits[a] - logNorm
		switch gradient {
		case option.K1:
			kappa = 1
		case option.K3:
			kappa = 1 - f.reference.Probs[a]/at.Probs[a]
		case option.RatioK1:
			kappa = float64(at.Probs[a] / behaviour.Probs[a] * (kappa + 1))
		case option.RatioK3:
			kappa = float64(at.Probs[a] / behaviour.Probs[a] * kappa)
		}
		if kl.OfAdvantage() {
			kappa = float64(f.upper[a] * kappa)
		}
		c := float64(f.beta * float64(kappa*share))
		g[a] -= c
		sum += c
	}
	for a, p := range at.Probs {
		g[a] += float64(p * sum)
	}
}

// KLShifts sets dst to what the penalty adds to the reward of a sample of each arm. That is −β log
// π_old/π_ref with the KL in the reward, else 0.
func KLShifts(kl *option.KL, dst []float64, behaviour, reference *Policy) {
	if !kl.OfReward() {
		return // dst is 0
	}
	logNorm := behaviour.LogNorm() - reference.LogNorm()
	for a := range dst {
		dst[a] = -float64(kl.Coefficient * (behaviour.Logits[a] - reference.Logits[a] - logNorm))
	}
}

// Reference returns π_ref, which the caller may change.
func (f *Force) Reference() *Policy { return f.reference }

// MoveReference moves the reference towards the policy of the next step.
func MoveReference(u option.ReferenceUpdate, reference, policy *Policy) {
	for a, x := range policy.Logits {
		reference.Logits[a] = float64((1-u.Rate)*reference.Logits[a]) + float64(u.Rate*x)
	}
	reference.Update()
}

// support returns the smallest and the largest reward of the arm, whose law is known.
func support(arm *option.Arm) (low, high float64) {
	switch {
	case arm.Law == option.Bernoulli && arm.Mean > 0 && arm.Mean < 1:
		return 0, 1
	case arm.Law == option.Normal && arm.Std > 0:
		return math.Inf(-1), math.Inf(1)
	}
	return arm.Mean, arm.Mean
}

// variance returns the variance of the arm's reward, whose law is known.
func variance(arm *option.Arm) float64 {
	switch arm.Law {
	case option.Bernoulli:
		return arm.Mean * (1 - arm.Mean)
	case option.Normal:
		return arm.Std * arm.Std
	default: // Constant
		return 0
	}
}

// partialMeans returns E[max(r − mean, 0)] and E[min(r − mean, 0)] of the arm's
// reward r; the two add up to arm.Mean − mean.
func partialMeans(arm *option.Arm, mean float64) (above, below float64) {
	d := arm.Mean - mean
	switch arm.Law {
	case option.Bernoulli:
		// Beside arms with other values mean need not lie between 0 and 1.
		above = float64(arm.Mean*max(1-mean, 0)) + float64((1-arm.Mean)*max(-mean, 0))
		below = float64(arm.Mean*min(1-mean, 0)) + float64((1-arm.Mean)*min(-mean, 0))
		return above, below
	case option.Normal:
		if arm.Std > 0 {
			x := d / arm.Std
			above = float64(d*fp.NormalCDF(x)) + float64(arm.Std*fp.NormalPDF(x))
			return above, d - above
		}
	case option.Constant:
	default:
		panic(unknown("Arm.Reward", arm.Law))
	}
	return max(d, 0), min(d, 0)
}
