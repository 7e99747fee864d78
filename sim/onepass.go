package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/option"
)

// onePass does the steps of a replica between two observed ones. It computes to the last bit what
// replica.step computes, but in two passes over the arms in the place of ten. The arms are of any
// number. A pack draws one group a step. The options are those of twoArmPath, with heavy ball.
type onePass struct {
	*replica
	reference             []float64 // logits of π_ref
	share, beta, momentum float64   // 1/G, β, μ
	ratio                 bool      // samples have the weight π/π_old, else 1
	penaltyAtSnapshot     bool      // the KL penalty is evaluated at π_old, else at π
}

// newOnePasses returns those of the replicas of one cell, nil if it has another option.
func newOnePasses(replicas []*replica) (all []*onePass) {
	c, e := replicas[0].cell, &replicas[0].cell.Estimator
	if !twoArmPath.computes(c) || replicas[0].sampler.pack == nil || e.GroupsPerStep > 1 ||
		e.Filter != option.KeepAll || c.Optimizer.Kind != option.HeavyBall {
		return nil
	}
	for _, r := range replicas {
		all = append(all, &onePass{replica: r, reference: r.force.Reference().Logits,
			share: 1 / float64(e.GroupSize), beta: e.KL.Coefficient, momentum: c.Optimizer.Momentum,
			ratio: e.Importance.Mode == option.Ratio, penaltyAtSnapshot: e.KL.At == option.AtSnapshot})
	}
	return all
}

// advance does the steps from, …, to−1, none of which is observed.
func (r *onePass) advance(ctx context.Context, from, to int) {
	c := r.cell
	for t := from; t < to && r.divergedAt == running; t++ {
		if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return // the results of an interrupted cell are discarded
		}
		if c.Lag.Refreshes(t) {
			r.refresh(t)
		}
		at := r.sampler.next(r.words)
		total := r.sampler.rewarded(at)
		up, down := r.sampler.advantages.Of(total)
		sum, pull, reward := r.addSamples(at, up, down)
		r.countStep()
		if t >= c.Run.BurnIn {
			equal := 0
			if total == 0 || total == c.Estimator.GroupSize {
				equal = 1
			}
			r.average(reward, gap(r.policy), equal)
		}
		r.moveLogits(sum, pull, grpo.Rate(&c.Optimizer, t))
		r.policy.Update()
		if math.IsNaN(r.policy.Probs[0]) {
			r.divergedAt = t + 1
		}
	}
}

// addSamples sets g to the force of the group whose counts begin at a bit, without the projection.
// It returns Σ g, Σ π ℓ with ℓ = θ − θ_ref, and J.
func (r *onePass) addSamples(at uint, up, down float64) (sum, pull, reward float64) {
	g, pack, of := r.g, r.sampler.pack, r.penalized()
	probs, old, means := r.policy.Probs[:len(g)], r.snapshot.Probs[:len(g)], r.means[:len(g)]
	rewarded, others := pack.Rewarded[:len(g)], pack.Others[:len(g)]
	ofProbs, ofLogits, reference := of.Probs[:len(g)], of.Logits[:len(g)], r.reference[:len(g)]
	for a, p := range probs {
		positive := float64(up * float64(field(rewarded[a], at)))
		negative := float64(down * float64(field(others[a], at)))
		if r.ratio {
			w := importance(p, old[a])
			positive, negative = float64(w*positive), float64(w*negative)
		}
		f := float64(r.share * (positive + negative))
		g[a] = f
		sum += f
		pull += float64(ofProbs[a] * (ofLogits[a] - reference[a]))
		reward += float64(p * means[a])
	}
	return sum, pull, reward
}

// penalized returns the policy at which the penalty is evaluated.
func (r *onePass) penalized() *grpo.Policy {
	if r.penaltyAtSnapshot {
		return r.snapshot
	}
	return r.policy
}

// moveLogits projects the force, adds the penalty and moves the logits, as grpo.Force and Step.
func (r *onePass) moveLogits(sum, pull, rate float64) {
	g, of := r.g, r.penalized()
	probs, logits := r.policy.Probs[:len(g)], r.policy.Logits[:len(g)]
	velocity := r.optimizerState.Velocity()[:len(g)]
	ofProbs, ofLogits, reference := of.Probs[:len(g)], of.Logits[:len(g)], r.reference[:len(g)]
	for a, f := range g {
		f -= float64(probs[a] * sum)
		if r.beta != 0 {
			f -= float64(r.beta * float64(ofProbs[a]*(ofLogits[a]-reference[a]-pull)))
		}
		v := float64(r.momentum*velocity[a]) + f
		velocity[a] = v
		logits[a] += float64(rate * v)
	}
}
