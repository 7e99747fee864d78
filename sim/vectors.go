package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
	"grposim/sim/lanes"
)

// vectors runs the replicas of a batch together, in the elements of vectors. At steps that are
// observed each replica gets its state, and notes what it would have noted by itself.
type vectors struct {
	cell     *Cell
	runner   lanes.Runner
	replicas []*replica // that run
	state    lanes.State
}

// fewestVector is the number of replicas from which on vectors are faster.
const fewestVector = 3

// longestVectorHistory is the largest number of older snapshots times arms of a batch in vectors.
const longestVectorHistory = 1 << 16

// newVectors returns nil where the replicas are few, or their cell or the processor has no vectors.
func newVectors(replicas []*replica) *vectors {
	c := replicas[0].cell
	history := grpo.StoredPolicies(&c.Lag, c.Run.Steps) * len(c.Bandit.Arms)
	if len(replicas) < fewestVector || history > longestVectorHistory || !vectorPath.computes(c) {
		return nil
	}
	s := replicas[0].sampler
	v := &vectors{cell: c}
	cell := &lanes.Cell{Means: replicas[0].means, Reference: c.Reference, Init: c.Init,
		Estimator: &c.Estimator, Lag: &c.Lag, Optimizer: &c.Optimizer, Steps: c.Run.Steps,
		BurnIn: c.Run.BurnIn, PerPolicy: groupsOf(c), Advantages: s.advantages}
	if e := &c.Estimator; s.advantages == nil || s.pack == nil || e.Filter != option.KeepAll || e.Advantage.Baseline == option.RunningMean {
		cell.Sampler = v
	}
	if v.runner = lanes.New(cell, len(replicas)); v.runner == nil {
		return nil
	}
	return v
}

// run runs replicas at step 0 to their end. It observes them at the given steps, of which the last
// is the end.
func (v *vectors) run(ctx context.Context, replicas []*replica, observed []int) {
	v.replicas = replicas
	var streams []*draw.Xoshiro
	for _, r := range replicas {
		streams = append(streams, r.stream)
		r.snapshot = grpo.NewPolicy(r.start.Logits)
	}
	v.runner.Begin(streams)
	step := 0
	for _, t := range observed {
		for step < t {
			if ctx.Err() != nil {
				return // the results of an interrupted cell are discarded
			}
			to := min(t, step+stepsBetweenChecks)
			v.runner.Advance(step, to)
			step = to
		}
		v.runner.Draw(t)
		v.observe(t)
		if t < v.cell.Run.Steps {
			v.runner.Move(t)
		}
		step = t + 1
	}
	v.finish()
}

// observe notes step t, whose groups are drawn, in the replicas.
func (v *vectors) observe(t int) {
	v.runner.Read(&v.state)
	recorded := false
	for i, r := range v.replicas {
		if r.divergedAt != running {
			continue
		}
		if finite := int(v.state.Finite[i]); finite < t {
			r.divergedAt = finite + 1
			continue
		}
		v.load(r, i)
		r.gradient(r.policy, r.snapshot)
		r.countStep()
		recorded = recorded || t == r.recorded[r.nextRecord]
		r.note(t, r.policy.Mean(r.means))
	}
	if recorded {
		v.runner.Reset()
	}
}

// load gives a replica the state of element i.
func (v *vectors) load(r *replica, i int) {
	s := &v.state
	for a := range r.g {
		r.policy.Logits[a], r.snapshot.Logits[a] = s.Logits[a*s.Stride+i], s.Behaviour[a*s.Stride+i]
	}
	r.policy.Update()
	r.snapshot.Update()
	if r.since != nil {
		for a := range r.since.peaks {
			r.since.peaks[a] = s.Peaks[a*s.Stride+i]
		}
		r.since.ratio, r.since.clipped = s.LargestRatio[i], meanOfSteps{s.Clipped[i], float64(s.Counted)}
	}
	if !s.Drawn {
		return // the replica drew
	}
	r.sampler.reward = s.Rewarded[i]
	r.statistics.Groups = r.cell.Estimator.GroupsPerStep
	r.statistics.Rewarded, r.statistics.ZeroVariance = int(s.Rewarded[i]), int(s.ZeroVariance[i])
	for a := range r.g {
		j := a*s.Stride + i
		r.statistics.Arms[a] = grpo.ArmStatistics{
			Positive: s.Positive[j], Negative: s.Negative[j],
			Count: int(s.Count[j]), PositiveCount: int(s.PositiveCount[j]), NegativeCount: int(s.NegativeCount[j]),
		}
	}
}

// finish gives the replicas their sums.
func (v *vectors) finish() {
	s := &v.state
	for i, r := range v.replicas {
		r.sums = averages{reward: s.Reward[i], rewardSquare: s.RewardSquare[i], gap: s.Gap[i], gapSquare: s.GapSquare[i]}
		r.zero = int(s.Zero[i])
	}
}

// Aim sets the policy that draws the next groups of a replica, unless it is NaN.
func (v *vectors) Aim(i int, logits []float64) {
	r := v.replicas[i]
	copy(r.snapshot.Logits, logits)
	if r.snapshot.Update(); !math.IsNaN(r.snapshot.Probs[0]) {
		r.sampler.aim(r.snapshot)
	}
}

// Draw draws the groups of a step of a replica.
func (v *vectors) Draw(i int) *grpo.GroupStatistics {
	v.replicas[i].draw()
	return &v.replicas[i].statistics
}
