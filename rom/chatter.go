package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// fewestChatter is the least group size at which steps have two sizes whose ratio is irrational,
// √3/2 at G = 4: with one size a run alternates between two policies that its start decides.
// Where one size has more than mostlyAlike of the steps that are not 0 it is nearly so.
const (
	fewestChatter = 4
	mostlyAlike   = 0.9
)

// chatter returns the stationary Var z, in squared logits, and the largest step of z at a fixed
// point at which all rewards are equal, KL included: certain rewards of two arms with the KL penalty
// in the reward and the std scale, on-policy, without momentum (docs/theory-trainers.md §11.5). Away from it the sign of z* − z decides all advantages, and
//
//	z ← z + s sign(z* − z),   s = (1/B) Σ_b 2ηf√(R_b(1−R_b)),
//
// R_b the share of the first arm in group b and f the factor of baseline and deviation. While π
// hardly changes the density of z is ∝ P(s > |z − z*|), so that Var z = E s³/(3 E s). ok is false
// where this does not hold.
func (e *Equilibrium) chatter(o option.Optimizer, l option.Lag) (variance, reach float64, ok bool) {
	p := &e.params
	switch {
	case e.prediction.FixedPoint == nil, p.GroupSize < fewestChatter, p.GroupSize == option.Infinite, len(e.merged.Arms) != 2, len(p.Arms) != 2,
		!p.KL.OfReward(), p.Advantage.Scale != option.StdScale, p.Advantage.Epsilon > 0, p.Entropy > 0, !certain(p),
		o.Kind != option.HeavyBall, o.Momentum > 0, o.MaxNorm > 0, o.Schedule.Kind != option.ConstantRate, !linear.NewLag(&l).OnPolicy():
		return 0, 0, false
	}
	g := float64(p.GroupSize)
	factor := 2 * o.LearningRate * p.Factors.Stiffness
	if p.Advantage.Std == option.SampleStd {
		factor *= math.Sqrt((g - 1) / g)
	}
	if p.Advantage.Baseline == option.LeaveOneOut {
		factor *= g / (g - 1)
	}
	law := group.NewBinomial(p.GroupSize, e.prediction.FixedPoint.Policy[0], e.prediction.FixedPoint.Policy[1], nil)
	moment := func(power float64) float64 {
		return law.Mean(func(n int) float64 {
			r := float64(n) / g
			return fp.Pow(factor*math.Sqrt(r*(1-r)), power)
		})
	}
	most, some := 0.0, 0.0
	for n := 1; n <= p.GroupSize/2; n++ {
		alike := law.Mean(func(k int) float64 {
			if k == n || k == p.GroupSize-n {
				return 1
			}
			return 0
		})
		most, some = max(most, alike), some+alike
	}
	if !(most <= mostlyAlike*some) {
		return 0, 0, false
	}
	mean, square, cube := moment(1), moment(2), moment(3)
	groups := float64(p.GroupsPerStep)
	third := (cube-3*mean*square+2*mean*mean*mean)/(groups*groups) + 3*(square-mean*mean)*mean/groups + mean*mean*mean
	return third / (3 * mean), factor / 2, true
}

// addChatter adds to a prediction without linear dynamics the stationary variances of chatter, to
// leading order in the learning rate, and what they neglect.
func (e *Equilibrium) addChatter(prediction *Prediction, o option.Optimizer, l option.Lag) {
	gap, reach, ok := e.chatter(o, l)
	if !ok {
		return
	}
	gap *= e.params.Factors.Noise
	pi := prediction.FixedPoint.Policy
	slope := pi[0] * pi[1] * (e.params.Arms[0].Mean - e.params.Arms[1].Mean)
	reward := slope * slope * gap
	prediction.ForceKind, prediction.Chatter = LeadingOrder, reach
	prediction.LeadingOrder.StationaryVariance = Variance{LogitGap: &gap, ExpectedReward: &reward}
	prediction.Noise = Scope{In: true}
	prediction.Neglected.Add(scope.HigherOrder, scope.Sizes{RewardMean: math.Inf(1), RewardVariance: secondOrderSize * gap * reward, ZeroVariance: 1})
}

// certain reports whether every arm has a single reward.
func certain(p *Params) bool {
	return !slices.ContainsFunc(p.Arms, func(arm option.Arm) bool {
		low, high, ok := group.Support(arm)
		return !ok || low != high
	})
}
