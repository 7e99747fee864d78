package cell

import (
	"fmt"
	"math"
	"strconv"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
)

// This file has what the norm of a gradient does not exceed, at any policy, and so where a largest
// norm never acts (docs/theory-trainers.md §11.6). There the theory is that without one.

// maxLimited is the largest group whose cut force is summed over the numbers of successes and
// failures of the first arm, which takes about a millisecond there.
const maxLimited = 256

// cutForce returns the bound c/√2 of |g_1| where the largest norm c may act on a finite group
// and the law of the cut force is known, else 0: of one group a step, see GroupsCounted.
func (p *Params) cutForce() float64 {
	switch {
	case p.Optimizer.MaxNorm == 0 || p.GroupSize == option.Infinite ||
		p.Importance.Mode == option.NoImportance && p.largestForce() <= p.Optimizer.MaxNorm:
	case p.GroupsCounted() && p.GroupsPerStep == 1 && p.Samples != option.Reused && p.Chance == 0:
		return p.Optimizer.MaxNorm / math.Sqrt2
	}
	return 0
}

// GroupsCounted reports whether a step is made of groups whose forces are known and independent.
// They have two arms with rewards of two values, and all count. The prompt is one, or is drawn
// independently. On the way a step may have one group of an epoch, where that is too small to be
// taken for normal.
func (p *Params) GroupsCounted() bool {
	return len(p.Arms) == 2 && !manyValues(p) && p.GroupSize <= maxLimited &&
		p.Filter != option.Drop && p.AgeDraws() <= 1 &&
		p.Advantage.Baseline != option.RunningMean && !p.KL.OfReward() &&
		(p.GroupsPerStep == 1 || !p.Advantage.Scale.OfStep()) &&
		(!prompts(p) || !p.Tabular() && (p.Prompts.Order == option.Independent ||
			p.OnTheWay && p.GroupsPerStep == 1 && p.GroupSize < 2*group.LeastExpanded))
}

// Clipped returns the reason of forces that the largest norm may clip, with the least norm that
// clips none where one is known; force as in NeverClipped.
func (p *Params) Clipped(force float64) scope.Reason {
	least, where := force, ""
	if p.GroupSize != option.Infinite {
		least = p.largestForce()
		if p.met > 0 && p.met < least {
			least, where = p.met, " here"
		}
	}
	if math.IsInf(least, 1) {
		return scope.NormClips.Because("")
	}
	return scope.NormClips.Because(fmt.Sprintf("; a norm of %s clips none%s", roundedUp(least), where))
}

// roundedUp returns x > 0 with three digits, not below x.
func roundedUp(x float64) string {
	unit := fp.Pow(10, math.Floor(math.Log10(x))-2)
	return strconv.FormatFloat(math.Ceil(x/unit)*unit, 'g', 3, 64)
}

// mostLimitedArms is the number of arms up to which the law of a limited gradient is followed: it
// takes a decomposition of its covariance in every step.
const mostLimitedArms = 16

// LimitedOnTheWay reports whether the largest norm acts on gradients of a finite group size whose
// cut force is not known, so that on the way they are taken for normal.
func (p *Params) LimitedOnTheWay() bool {
	return p.GroupSize != option.Infinite && clips(p) && (p.cut == 0 || adam(p))
}

func alike(x []float64) bool { return floats.Min(x) == floats.Max(x) }

// Plain returns parameters of the same runs without options that cannot act: a largest norm that no
// gradient can exceed, Nesterov's rule without momentum, a warm-up of one step, and prompts that
// share a policy and are equal. In blocks of one step neither can the reuse of samples, nor a clip
// that changes.
func Plain(p Params) Params {
	if prompts(&p) && !p.Tabular() && alike(p.Prompts.First) && alike(p.Prompts.Second) {
		p.Prompts = Prompts{}
	}
	if s := &p.Optimizer.Schedule; s.Kind == option.ConstantRate && s.Warmup == 1 {
		s.Warmup = 0
	}
	if p.Optimizer.Momentum == 0 && p.Optimizer.Kind == option.Nesterov {
		p.Optimizer.Kind = option.HeavyBall
	}
	if p.Lag.Kind == option.Block && p.Lag.Interval <= 1 && p.Lag.Behind == 0 {
		p.Samples, p.Importance.Schedule = option.Fresh, option.Schedule{}
	}
	if p.Optimizer.MaxNorm == 0 || p.GroupSize <= 0 { // at G = ∞ the limit has a theory of its own
		return p
	}
	q := p
	q.Lag.Complete()
	if q.Reference == nil {
		q.Reference = make([]float64, len(p.Arms))
	}
	if q.largestForce() <= p.Optimizer.MaxNorm {
		p.Optimizer.MaxNorm = 0
	}
	return p
}

// NeverClipped reports whether no force is longer than the largest norm, at G = ∞ not even
// force, the largest that is met; there it is 0 at the fixed point. A norm that a prompt with a
// policy of its own still has is one that all prompts together exceed.
func (p *Params) NeverClipped(force float64) bool {
	norm := p.Optimizer.MaxNorm
	mean := p.GroupSize == option.Infinite && !p.Tabular() // whose gradient is that of all prompts
	return norm == 0 || mean && force <= norm || p.Chance == 0 && p.largestForce() <= norm
}

// RewardWithinNorm reports whether the bound without a penalty is at most the largest norm.
func (p *Params) RewardWithinNorm() bool {
	free := *p
	free.KL = option.KL{}
	return free.largestForce() <= p.Optimizer.MaxNorm
}

// largestForce returns a number that the norm of no gradient exceeds at any policy; +Inf where none
// is known. With S the bound of advantages of AdvantageBound, W the largest weight and L the
// largest −log π_ref,
//
//	‖g‖ ≤ S W/√2 + √2 βL + √2 α log A
//
// A ratio is at most e^(√2 D) where the logits have moved by D since the snapshot. Of a gradient
// within the bound n the heavy ball moves them by ηn/(1−μ) at most in a step, so that n is the
// least solution for its own W.
func (p *Params) largestForce() float64 {
	reward, rest := p.AdvantageBound(nil, math.Inf(1))/math.Sqrt2,
		math.Sqrt2*p.Entropy*math.Log(float64(len(p.Arms)))
	switch logs := ReferenceLogs(p); {
	case p.KL.Coefficient == 0, p.KL.OfReward():
	case p.KL.In != option.InLoss || p.Prompts.Starts != nil: // each prompt has its reference
		return math.Inf(1)
	case p.KL.Gradient == option.ExactKL:
		rest += math.Sqrt2 * p.KL.Coefficient * -floats.Min(logs)
	case p.KL.Gradient == option.K1:
		rest += math.Sqrt2 * p.KL.Coefficient
	default:
		return math.Inf(1)
	}
	lag := linear.NewLag(&p.Lag)
	if p.Importance.Mode == option.NoImportance || lag.OnPolicy() || math.IsInf(reward, 1) {
		return reward + rest
	}
	steps := math.Sqrt2 * float64(lag.Span()) * p.Optimizer.LearningRate
	if p.Lag.Kind == option.Block {
		steps *= float64(lag.Span()-1) / float64(lag.Span())
	}
	most := func(n float64) float64 {
		moved := steps * n / (1 - p.Optimizer.Momentum)
		if p.Optimizer.Kind == option.Adam {
			moved = math.Sqrt2 * steps * largestAdamStep(&p.Optimizer)
		}
		ratio := fp.MathExp(moved)
		return reward*weight.Most(&p.Importance, 1/ratio, ratio, math.SmallestNonzeroFloat64) + rest
	}
	for n, rounds := reward+rest, 0; rounds < 1000; rounds++ {
		switch next := most(n); {
		case next <= n*(1+1e-12):
			return next
		case !(next < 1e6*reward):
			return math.Inf(1)
		default:
			n = next
		}
	}
	return math.Inf(1)
}

// largestAdamStep bounds |m|/√v of an entry, by Cauchy's inequality: a step by the learning rate.
func largestAdamStep(o *option.Optimizer) float64 {
	decay := o.Beta1 * o.Beta1 / o.Beta2
	if o.Beta1 == 0 {
		decay = 0
	}
	if !(decay < 1) {
		return math.Inf(1)
	}
	return max(1, (1-o.Beta1)/math.Sqrt((1-o.Beta2)*(1-decay)))
}

// AdvantageBound returns S, what the mean modulus of the advantages of a step does not exceed where
// they add to 0, else twice that of one sign; +Inf where none is known. Normal rewards are counted
// up to so many deviations. The shifts are added to the rewards of the arms; nil: none.
//
// Then the part of the gradient has a norm of at most S W/√2: it adds to 0, so that its norm is √2
// times the sum of its positive or of its negative entries at most, of which one has samples of one
// sign alone.
func (p *Params) AdvantageBound(shift []float64, deviations float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for a, arm := range p.Arms {
		below, above, ok := group.Support(arm)
		switch {
		case p.KL.OfReward() && shift == nil:
			below, above = math.Inf(-1), math.Inf(1)
		case !ok:
			below, above = arm.Mean-deviations*arm.Std, arm.Mean+deviations*arm.Std
		}
		if shift != nil {
			below, above = below+shift[a], above+shift[a]
		}
		low, high = min(low, below), max(high, above)
	}
	most := group.MostAdvantage(&p.Advantage, high-low)
	if p.GroupSize == option.Infinite {
		return most
	}
	size := float64(p.GroupSize)
	if p.Advantage.Baseline == option.LeaveOneOut {
		most *= size / (size - 1)
	}
	if p.Advantage.Scale == option.StdScale && p.Advantage.Std == option.SampleStd {
		most *= math.Sqrt((size - 1) / size)
	}
	return most
}

// WithoutNorm returns the parameters without a largest norm.
func WithoutNorm(p Params) Params {
	p.Optimizer.MaxNorm, p.cut = 0, 0
	return p
}

// Meeting returns the parameters of runs without a largest norm that they do not reach, else with
// what they do not exceed: met gives that of runs without the norm, unless it is not known.
func Meeting(p Params, met func(free Params) (most float64, ok bool)) Params {
	if p.NeverClipped(0) {
		if p.GroupSize == option.Infinite && !p.Tabular() {
			return p
		}
		return WithoutNorm(p)
	}
	free := WithoutNorm(p)
	if free.NotDerived(RewardsInDigits, MeanForceKnown).Out() {
		return p
	}
	if most, ok := met(free); ok {
		if p.met = most; most <= p.Optimizer.MaxNorm {
			return WithoutNorm(p)
		}
	}
	return p
}
