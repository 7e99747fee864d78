package sim

import (
	"grposim/grpo"
	"grposim/sim/draw"
)

// rollout is a sampler whose logits differ from the trainer's, see option.Rollout. The difference has
// a random stream of its own, so that the two sides of a pair have equal ones.
type rollout struct {
	words   *draw.Words
	sampled *grpo.Policy // that draws
	trained *grpo.Policy // π_old of the trainer
}

// newRollout returns the sampler of a cell; nil if it has the trainer's logits.
func newRollout(c *Cell) *rollout {
	if c.Estimator.Rollout.Noise == 0 {
		return nil
	}
	return &rollout{words: draw.NewWords(nil), sampled: grpo.NewPolicy(c.Init)}
}

// begin starts the stream that belongs to that of groups of the given purpose and index.
func (o *rollout) begin(c *Cell, purpose Purpose, index int) {
	if o != nil {
		o.words.Reset(Stream(c.Seed, c.ID, purpose+" rollout", index))
	}
}

// samplerOf returns the policy that draws in the place of π_old of the trainer.
func (r *replica) samplerOf(trained *grpo.Policy) *grpo.Policy {
	o := r.rollout
	if o == nil {
		return trained
	}
	o.trained = trained
	for a, l := range trained.Logits {
		o.sampled.Logits[a] = l + float64(r.cell.Estimator.Rollout.Noise*draw.Normal(o.words))
	}
	o.sampled.Update()
	r.force.Correct(trained, o.sampled)
	return o.sampled
}
