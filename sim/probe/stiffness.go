package probe

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// stiffnessBins is the largest number of bins of pairs; their scatter gives the error.
const stiffnessBins = 64

// bins returns the number of bins of a probe, each with at least one pair at d and one at 2d.
func (p *Stiffness) bins(c *Cell) int {
	if c.Deterministic() {
		return 1
	}
	return max(1, min(stiffnessBins, p.Pairs/pairsPerDouble))
}

// pairsPerDouble is the number of all pairs for each pair at the double displacement.
const pairsPerDouble = 9

// slopes are the measurements of one bin of a stiffness probe.
type slopes struct {
	near, far   float64 // S(d), S(2d)
	informative int     // pairs that say something about the reward's part, as far as counted
	ofNetwork   measure.Estimate
}

// estimate returns the estimate of λ from the measurements of all bins.
func (p *Stiffness) estimate(c *Cell, bins []slopes) measure.Estimate {
	if c.Network != nil {
		return bins[0].ofNetwork
	}
	var values []float64
	near, informative := 0.0, 0
	for i := range bins {
		values = append(values, measure.Extrapolated(bins[i].near, bins[i].far))
		near += bins[i].near / float64(len(bins))
		informative += bins[i].informative
	}
	e := c.Estimate(values, 0)
	e.Systematic = measure.Bent(near, e.Mean, p.Displacement) + p.rounding(c)
	// Without weights the advantages of a group add to 0, so that the fresh part has no reward.
	plain := c.Estimator.Importance.Mode == option.NoImportance && !c.Estimator.KL.Sampled()
	certain := p.Displaced == sim.Current && plain && c.Optimizer.MaxNorm == 0
	if c.uninformed(informative) && !certain {
		e.StdErr, e.DF = 0, 0
	}
	return e
}

// rounding bounds the error of a stiffness by rounding, of the largest logit and terms of the force
// and its slope. These are a reward times the slope of the advantages, and the KL coefficient times
// a logit. That slope is 1, or 1/(σ + ε), σ the standard deviation of a reward (0 where all rewards
// are equal).
func (p *Stiffness) rounding(c *Cell) float64 {
	policy := grpo.NewPolicy(p.Point)
	mean := policy.Mean(c.Bandit.Means())
	square, reward, logit, covector := 0.0, 0.0, 0.0, 0.0
	for a, arm := range c.Bandit.Arms {
		d, std := arm.Mean-mean, arm.Std
		if arm.Law == option.Bernoulli {
			std = math.Sqrt(float64(arm.Mean * (1 - arm.Mean)))
		}
		square += float64(policy.Probs[a] * (float64(d*d) + float64(std*std)))
		reward = max(reward, math.Abs(arm.Mean)+std)
		logit = max(logit, math.Abs(p.Point[a]), math.Abs(c.Reference[a]))
		covector = max(covector, math.Abs(p.Covector[a]))
	}
	slope := 1.0
	switch {
	case !c.rewardsDiffer():
		slope = 0
	case c.Estimator.Advantage.Scale != option.NoScale:
		slope = 1 / (math.Sqrt(square) + c.Estimator.Advantage.Epsilon)
	}
	terms := float64(slope*reward) + c.Estimator.KL.Coefficient
	terms = float64(covector * terms)
	return float64(measure.RoundedUlps * float64(terms*(1+logit)) / p.Displacement)
}

// pairs returns the numbers of pairs of a bin at d and at 2d.
func (p *Stiffness) pairs(c *Cell, bin int) (single, double int) {
	if c.Deterministic() {
		return 1, 1
	}
	bins := p.bins(c)
	pairs := measure.BinStart(bin+1, bins, p.Pairs) - measure.BinStart(bin, bins, p.Pairs)
	double = max(1, pairs/pairsPerDouble)
	return max(1, pairs-double), double
}

// slopes measures a bin; number is the probe's index in Cell.Stiffness.
func (p *Stiffness) slopes(ctx context.Context, c *Cell, number, bin int) slopes {
	if c.Network != nil {
		return slopes{ofNetwork: sim.NewMeanField(&c.Cell).Stiffness(p.Displaced, p.Displacement)}
	}
	draws := sim.NewCoupled(&c.Cell, sim.ForStiffness, number*stiffnessBins+bin)
	single, double := p.pairs(c, bin)
	near, inNear := p.slope(ctx, c, draws, p.Displacement, single)
	far, inFar := p.slope(ctx, c, draws, 2*p.Displacement, double)
	return slopes{near: near, far: far, informative: inNear + inFar}
}

// policies returns the current policies and the snapshots of the sides of a pair at ±d.
func (p *Stiffness) policies(d float64) (current, behaviour [2]*grpo.Policy) {
	for side := range current {
		moved := grpo.NewPolicy(displaced(p.Point, p.Direction, float64(1-2*side)*d))
		point := grpo.NewPolicy(p.Point)
		current[side], behaviour[side] = moved, moved
		switch p.Displaced {
		case sim.Current:
			behaviour[side] = point
		case sim.Behind:
			current[side] = point
		}
	}
	return current, behaviour
}

// slope returns S(d) as measured by a number of pairs, and the number of informative
// pairs, counted up to FewestInformative. Both sides of a pair draw their groups with the
// same random words, so that most of the noise cancels in the difference. If only θ is
// displaced, both sides draw the same groups.
func (p *Stiffness) slope(
	ctx context.Context, c *Cell, draws *sim.Coupled, d float64, pairs int,
) (s float64, informative int) {
	current, behaviour := p.policies(d)
	draws.Aim(behaviour, pairs)
	sum := 0.0
	for n := range pairs {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return 0, 0 // the results of an interrupted cell are discarded
		}
		if p.Displaced == sim.Current { // one policy draws the groups of both sides
			draws.DrawOnce()
		} else {
			draws.Draw()
		}
		var g [2][]float64
		for side := range g {
			g[side] = draws.Gradient(side, current[side], behaviour[side])
			if !c.Deterministic() {
				grpo.LimitNorm(&c.Optimizer, g[side])
			}
		}
		if informative < FewestInformative && draws.Informative() {
			informative++
		}
		for a, covector := range p.Covector {
			sum -= float64(covector * (g[0][a] - g[1][a]))
		}
	}
	return sum / (2 * d * float64(pairs)), informative
}

// stepsBetweenChecks is the number of steps of a probe between two checks of its context. Even with
// 1,000 arms they take a fraction of a second.
const stepsBetweenChecks = 1 << 11

// displaced returns point + d·direction.
func displaced(point, direction []float64, d float64) []float64 {
	logits := make([]float64, len(point))
	for a, x := range point {
		logits[a] = x + float64(d*direction[a])
	}
	return logits
}
