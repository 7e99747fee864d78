package rom

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/group"
	"grposim/rom/scope"
	"grposim/rom/weight"
)

// MeanFieldCycle returns the width of the cycle of snapshots about a fixed point that has lost its
// stability, in logits: the largest less the smallest logit gap z = θ_1 − θ_0 of two arms over the steps
// at, one or more in ascending order, on the mean field that starts at the logits init (see MeanField). It
// leaves out how far a displacement by rounding errors at every step moves the width, and that displacement.
func MeanFieldCycle(p Params, init []float64, at []int) scope.Number {
	p = p.checked()
	want(len(p.Arms) == 2, "Params.Arms", len(p.Arms), "2 of them")
	if because := p.notDerived(meanFieldCycle, meanForceKnown); because.Out() {
		return scope.Number{Kind: Exact, Because: because}
	}
	run := follow(p, init, at, 0)
	width := scope.Number{Value: rangeOfGap(run.logits), Kind: run.kind, Because: run.scope.Because}
	width.Leave(scope.Rounding, math.Abs(rangeOfGap(follow(p, init, at, rounding).logits)-width.Value)+rounding)
	return width
}

// rangeOfGap returns the largest less the smallest gap of pairs of logits; NaN if a pair is
// missing.
func rangeOfGap(logits [][]float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, theta := range logits {
		if theta == nil {
			return math.NaN()
		}
		low, high = min(low, theta[0]-theta[1]), max(high, theta[0]-theta[1])
	}
	return high - low
}

// BoundedCycle returns the width, over the refreshes at of a run from the logits init, to
// which a bounded importance weight limits the cycle of blocks that flip about a fixed
// point. With c the largest ratio of positive advantages, q the probability of the worse arm
// at the fixed point, y its distance from the reference in logits, and M and M_∞ < −1 the
// multipliers of a block of the plain ratio and of one without end, the width is to first
// order in W = ln c/q (docs/theory-trainers.md §11.2)
//
//	W/[1 − (M M_∞ − 1)/((1 + |M|) q²y)]   of a weight that is c beyond its bound
//	between W and |M| W                   of a weight that is 0 beyond it
//
// Width is the middle of the second. The scope is out unless the mean field has settled into
// its cycle.
func BoundedCycle(p Params, init []float64, at []int) scope.Number {
	p = p.checked()
	ratio := p
	ratio.Importance.Mode = option.Ratio
	c, m := scope.Number{Kind: LeadingOrder}, newModel(&ratio)
	if c.Because = cmp.Or(p.notDerived(boundedCycle), noRecurrence(m)); c.Out() {
		return c
	}
	fixed, ok := Reached(ratio)
	if !ok {
		c.Because = scope.NoneFound.Because()
		return c
	}
	better := 0
	if p.Arms[1].Mean > p.Arms[0].Mean {
		better = 1
	}
	prob, q := fixed.Policy[better], fixed.Policy[1-better]
	y := math.Abs(fixed.Logits[0] - fixed.Logits[1] - m.target[0] + m.target[1])
	up, _, _ := weight.Bands(&p.Importance, prob)
	bound := math.Log1p(up.Above)

	contraction := p.Factors.Stiffness * p.Optimizer.LearningRate * 2 * m.pull() * prob * q // in a step of a block
	left := fp.Pow(1-contraction, float64(p.Lag.Interval))
	endless := SkewMultiplier(ratio, fixed.Logits)
	multiplier := endless + (1-endless)*left
	stiffening := q * q * y // relative, of the force where the weight is held
	move := bound / q
	longest := -multiplier * move

	// Halves of the run differ by no more than a cycle that does not repeat.
	run := follow(p, init, at, 0).logits
	early, late := rangeOfGap(run[:len(run)/2+1]), rangeOfGap(run[len(run)/2:])
	step := 0.0 // by the penalty alone
	if !up.Held {
		step = contraction * y
	}
	settled := max(early, late)*max(move-step, 0) < min(early, late)*longest

	second := bound * bound / 32 // relative, of 1/s
	kept := 0.0                  // of a deviation from the cycle, after two blocks
	if up.Held {
		longest = move / (1 - (multiplier*endless-1)/((1-multiplier)*stiffening))
		second += bound / 4 * (endless + 1) / (endless - 1) // the cycle is not centred
		kept = math.Abs(multiplier * (stiffening + endless) / (stiffening + 1))
		c.Value = longest
		c.Leave(scope.HigherOrder, c.Value*(second+fp.Pow(left, (1+stiffening)/2))+math.Abs(late-early)/(1-kept))
	} else {
		c.Value = (move + longest) / 2
		c.Leave(scope.HigherOrder, (longest-move)/2+step+c.Value*second)
	}
	switch {
	case multiplier >= -1:
		c.Because = scope.CycleNoFlip.Because(multiplier)
	case contraction*(1+stiffening) >= 1:
		c.Because = scope.CycleStepTooLong.Because()
	case up.Below < 1 && -math.Log1p(-up.Below)/q < longest:
		c.Because = scope.CycleLowerBound.Because()
	case !up.Held && multiplier*multiplier >= 1-multiplier:
		c.Because = scope.CycleRestarts.Because()
	case kept >= 1:
		c.Because = scope.CycleUnstable.Because()
	case !settled:
		c.Because = scope.CycleUnsettled.Because()
	case !(MeanFieldCycle(ratio, init, at).Value > move):
		c.Because = scope.CycleBelowBound.Because()
	}
	return c
}

// certain reports whether every arm has a single reward.
func certain(p *Params) bool {
	return !slices.ContainsFunc(p.Arms, func(arm option.Arm) bool {
		low, high, ok := group.Support(arm)
		return !ok || low != high
	})
}
