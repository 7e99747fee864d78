package rom

import (
	"cmp"
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/weight"
)

// Cycle is the predicted width of the cycle of snapshots about a fixed point that has lost
// its stability: the largest less the smallest logit gap z = θ_1 − θ_0 of two arms at some
// steps.
type Cycle struct {
	Width     float64 // in logits, ≥ 0; of no meaning out of scope
	Neglected float64 // predicted size of what Width leaves out, in logits, ≥ 0
	Kind      Kind
	Scope     Scope
}

// MeanFieldCycle returns the width on the mean field that starts at the logits init (see
// MeanField), over the steps at, one or more in ascending order. What it neglects is how
// far a displacement by rounding errors at every step moves the width, and that displacement.
func MeanFieldCycle(p Params, init []float64, at []int) Cycle {
	p = p.checked()
	want(len(p.Arms) == 2, "Params.Arms", len(p.Arms), "2 of them")
	because := p.underived()
	if p.Optimizer.Kind == option.Adam {
		because = "near a fixed point Adam makes steps of rounding errors, which decide the width"
	}
	if because != "" {
		return Cycle{Kind: Exact, Scope: Scope{Because: because}}
	}
	run := follow(p, init, at, 0)
	c := Cycle{Width: rangeOfGap(run.logits), Kind: run.kind, Scope: run.scope}
	if c.Neglected = math.Abs(rangeOfGap(follow(p, init, at, rounding).logits)-c.Width) + rounding; math.IsNaN(c.Neglected) {
		c.Neglected = math.Inf(1)
	}
	return c
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
func BoundedCycle(p Params, init []float64, at []int) Cycle {
	p = p.checked()
	ratio := p
	ratio.Importance.Mode = option.Ratio
	c, m := Cycle{Kind: LeadingOrder}, newModel(&ratio)
	if c.Scope.Because = cmp.Or(p.noBoundedCycle(), noRecurrence(m)); c.Scope.Because != "" {
		return c
	}
	fixed, ok := Reached(ratio)
	if !ok {
		c.Scope.Because = "no fixed point was found"
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
	left := math.Pow(1-contraction, float64(p.Lag.Interval))
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
		c.Width = longest
		c.Neglected = c.Width*(second+math.Pow(left, (1+stiffening)/2)) + math.Abs(late-early)/(1-kept)
	} else {
		c.Width = (move + longest) / 2
		c.Neglected = (longest-move)/2 + step + c.Width*second
	}
	switch {
	case multiplier >= -1:
		c.Scope.Because = fmt.Sprintf("blocks do not flip about the fixed point: the multiplier of a block is %.4g", multiplier)
	case contraction*(1+stiffening) >= 1:
		c.Scope.Because = "a step is too long: a block jumps across the bound of the weight"
	case up.Below < 1 && -math.Log1p(-up.Below)/q < longest:
		c.Scope.Because = "on its way back the ratio reaches the lower bound of the weight"
	case !up.Held && multiplier*multiplier >= 1-multiplier:
		c.Scope.Because = "a block can end at the fixed point, from where the cycle has to grow anew"
	case kept >= 1:
		c.Scope.Because = "the cycle of two blocks is not stable"
	case !settled:
		c.Scope.Because = "the run has not settled into its cycle: try a longer one, or a start nearer to the fixed point"
	case !(MeanFieldCycle(ratio, init, at).Width > move):
		c.Scope.Because = "the cycle of the plain ratio does not reach the bound of the weight"
	default:
		c.Scope.In = true
	}
	return c
}

// noBoundedCycle returns the reason why the bound of the weight does not limit a cycle as
// BoundedCycle says, "" where it may.
func (p *Params) noBoundedCycle() string {
	_, _, banded := weight.Bands(&p.Importance, 1)
	switch o := &p.Optimizer; {
	case !banded:
		return "the importance weight has no bound of the ratio"
	case p.Importance.Mode == option.DPPO:
		return "the importance weight bounds the change of a probability, not the ratio"
	case p.GroupSize != option.Infinite || p.Advantage.Baseline > option.LeaveOneOut || p.Advantage.Scale != option.StdScale:
		return "a bounded cycle is derived for the std scale of GRPO at G = ∞"
	case len(p.Arms) != 2 || !p.certain():
		return "a bounded cycle is derived for two arms of certain rewards: of noisy ones a bound changes the force on both"
	case o.Kind == option.Adam || o.Momentum > 0 || o.Schedule.Kind != option.ConstantRate || o.Schedule.Warmup > 0 || o.MaxNorm > 0:
		return "a bounded cycle is derived for plain gradient ascent at a constant learning rate"
	case p.ReferenceUpdate.Interval > 0:
		return "a bounded cycle is derived for a fixed reference"
	}
	return p.notDerived(boundedCycle, 0)
}

// certain reports whether every arm has a single reward.
func (p *Params) certain() bool {
	for _, arm := range p.Arms {
		if low, high, ok := group.Support(arm); !ok || low != high {
			return false
		}
	}
	return true
}
