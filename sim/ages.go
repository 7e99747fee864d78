package sim

import (
	"sort"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// ages draws the ages of the snapshots of a random lag and holds the snapshots of one step. Ages
// have a random stream of their own, so that the two sides of a pair have equal ones.
type ages struct {
	probabilities []float64
	cumulative    []float64
	words         *draw.Words
	stream        *draw.Xoshiro // of words

	snapshots []*grpo.Policy // of the step; none where all groups share replica.snapshot
	weights   []float64      // of the snapshots in the gradient
	clipped   float64        // fraction of the step's samples, if each group has its snapshot
	sum       []float64      // scratch: the gradient
}

// newAges returns the ages of a cell; nil unless its lag is random.
func newAges(c *Cell) *ages {
	if c.Lag.Kind != option.Random {
		return nil
	}
	a := &ages{probabilities: grpo.AgeProbabilities(&c.Lag.Ages), words: draw.NewWords(nil), sum: make([]float64, len(c.Bandit.Arms))}
	a.cumulative = make([]float64, len(a.probabilities))
	accumulate(a.cumulative, func(age int) float64 { return a.probabilities[age] })
	a.cumulative[len(a.cumulative)-1] = 1 // but for rounding
	return a
}

// begin starts the stream of ages that belongs to the stream of groups of the given
// purpose and index.
func (a *ages) begin(c *Cell, purpose Purpose, index int) {
	if a != nil {
		a.stream = Stream(c.Seed, c.ID, purpose+" ages", index)
		a.words.Reset(a.stream)
	}
}

// next draws an age by the inverse of the cumulative law.
func (a *ages) next() int {
	u := float64(a.words.Next()>>11) * 0x1p-53
	return sort.Search(len(a.cumulative), func(age int) bool { return a.cumulative[age] > u })
}

// pushAged is push for a random lag. At G = ∞ the gradient is the mean of the expected ones
// over the law of ages.
func (r *replica) pushAged(t int) {
	a := r.ages
	r.history.Store(t, r.policy)
	a.snapshots, a.weights = a.snapshots[:0], a.weights[:0]
	switch {
	case r.cell.Deterministic():
		r.statistics.Reset()
		clear(a.sum)
		beyond := 1.0 // probability of the ages from this one on
		for age, p := range a.probabilities {
			if age >= t {
				p = max(beyond, 0)
			}
			beyond -= p
			if p > 0 {
				r.pushPart(r.history.Aged(t, age), p)
			}
			if age >= t {
				break
			}
		}
		copy(r.g, a.sum)
	case !r.cell.agedByGroup():
		r.snapshot = r.history.Aged(t, a.next())
		r.sampler.aim(r.snapshot)
		r.draw()
		r.gradient(r.policy, r.snapshot)
	default:
		clear(a.sum)
		r.sampler.reward, a.clipped = 0, 0
		groups, zero := r.cell.Estimator.GroupsPerStep, 0
		for range groups {
			snapshot := r.history.Aged(t, a.next())
			r.sampler.aim(snapshot)
			r.statistics.Reset()
			r.sampler.group(&r.statistics, r.words)
			r.pushPart(snapshot, 1/float64(groups))
			zero += r.statistics.ZeroVariance
			a.clipped += r.force.ClipFraction(&r.statistics) / float64(groups)
		}
		r.statistics.ZeroVariance, r.statistics.Groups = zero, groups
		copy(r.g, a.sum)
	}
}

// pushPart adds the gradient of groups of one snapshot, times a weight, to r.ages.sum.
func (r *replica) pushPart(snapshot *grpo.Policy, weight float64) {
	r.ages.snapshots, r.ages.weights = append(r.ages.snapshots, snapshot), append(r.ages.weights, weight)
	r.gradient(r.policy, snapshot)
	for i, x := range r.g {
		r.ages.sum[i] += float64(weight * x)
	}
}

// staleness returns the recorded fraction of clipped samples and largest importance ratio, of the
// step or of those since the last record.
func (r *replica) staleness() (clipped, ratio float64) {
	if r.since != nil {
		return r.since.take(r.snapshot)
	}
	return r.clipFraction(), r.maxRatio()
}

func (r *replica) maxRatio() float64 {
	if r.ages == nil || len(r.ages.snapshots) == 0 {
		return r.policy.MaxRatio(r.snapshot)
	}
	largest := 0.0
	for _, snapshot := range r.ages.snapshots {
		largest = max(largest, r.policy.MaxRatio(snapshot))
	}
	return largest
}

// clipFraction returns the fraction of the step's samples that are clipped; at G = ∞ it is 0.
func (r *replica) clipFraction() float64 {
	switch {
	case r.cell.Deterministic():
		return 0
	case r.cell.agedByGroup():
		return r.ages.clipped
	}
	return r.force.ClipFraction(&r.statistics)
}
