package sim

import (
	"grposim/grpo"
	"grposim/option"
)

// SinceRecord reports whether a quantity is recorded over the steps since the last record, with the
// recorded one. ImportanceRatioMax is then the largest, any other the mean. Blocks of several steps
// are recorded at their refreshes, where the snapshot is the policy. Of that step alone they would
// say nothing. Any step of other lags stands for its neighbours, but in GradientCosine, which is all
// noise.
func (q Quantity) SinceRecord(lag option.Lag) bool {
	return q == GradientCosine ||
		lag.StepsPerSnapshot() > 1 && among(q, ClipFraction, ImportanceRatioMax, EffectiveSampleSize)
}

// sinceRecord holds what the quantities of the snapshot need of the steps since the last record,
// of one policy.
type sinceRecord struct {
	peaks   []float64   // largest π_a with the present snapshot
	ratio   float64     // largest importance ratio with the snapshots before
	clipped meanOfSteps // of the fractions of clipped samples
}

// newSinceRecord returns nil unless the cell records its quantities so.
func newSinceRecord(c *Cell) *sinceRecord {
	if !ClipFraction.SinceRecord(c.Lag) {
		return nil
	}
	return &sinceRecord{peaks: make([]float64, len(c.Bandit.Arms))}
}

func (s *sinceRecord) reset() {
	if s != nil {
		clear(s.peaks)
		s.ratio, s.clipped = 0, meanOfSteps{}
	}
}

// countStep counts a step whose groups are drawn and whose gradient is known.
func (r *replica) countStep() {
	s := r.since
	if s == nil {
		return
	}
	for a, p := range r.policy.Probs[:len(s.peaks)] {
		s.peaks[a] = max(s.peaks[a], p)
	}
	s.clipped.add(r.clipFraction())
}

// leave takes the ratios with a snapshot that is about to change. A quotient grows with what is
// divided, also when rounded: one division of the largest gives the largest ratio.
func (s *sinceRecord) leave(snapshot *grpo.Policy) {
	if s == nil || snapshot == nil {
		return
	}
	largest := grpo.Policy{Probs: s.peaks}
	s.ratio = max(s.ratio, largest.MaxRatio(snapshot))
	clear(s.peaks)
}

// take returns what is recorded and begins anew. A ratio of a tiny probability can be infinite
// although no policy diverges.
func (s *sinceRecord) take(snapshot *grpo.Policy) (clipped, ratio float64) {
	s.leave(snapshot)
	clipped, ratio = s.clipped.take(), min(s.ratio, grpo.LargestRatio)
	s.reset()
	return clipped, ratio
}
