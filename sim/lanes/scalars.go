//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
)

// Functions of this file have no vectors. The compiler writes numbers of their own with the older
// instructions of SSE, each of which takes a hundred times as long beside vectors of 256 bits.

// exponentialsOf replaces numbers by their exponentials.
//
//go:noinline
func exponentialsOf(x []float64) {
	leave()
	for i := range x {
		x[i] = fp.Exp(x[i])
	}
}

// logarithmsOf replaces numbers by their logarithms.
//
//go:noinline
func logarithmsOf(x []float64) {
	leave()
	for i := range x {
		x[i] = fp.Log(x[i])
	}
}

// stepNumbers are bits of the numbers of a step: the learning rate, and 1 − β^(t+1) of Adam's
// moments.
type stepNumbers struct{ rate, gone1, gone2 uint64 }

// decays are the powers β^t of Adam's moments.
type decays struct{ first, second float64 }

// steps appends the numbers of steps from, …, to−1.
func (d *decays) steps(all []stepNumbers, o *option.Optimizer, from, to int) []stepNumbers {
	for t := from; t < to; t++ {
		d.first *= o.Beta1
		d.second *= o.Beta2
		all = append(all, stepNumbers{
			math.Float64bits(grpo.Rate(o, t)), math.Float64bits(1 - d.first), math.Float64bits(1 - d.second),
		})
	}
	return all
}

// advantageTable returns the bits of both advantages by the number of rewards of 1.
func advantageTable(advantages *grpo.BernoulliAdvantages, size int) *[1 << 8][2]uint64 {
	table := new([1 << 8][2]uint64)
	for total := range size + 1 {
		up, down := advantages.Of(total)
		table[total] = [2]uint64{math.Float64bits(up), math.Float64bits(down)}
	}
	return table
}

// grow makes room for n replicas of so many arms.
func (s *State) grow(n, arms int) {
	s.Stride = n
	for _, list := range []*[]float64{
		&s.Logits, &s.Behaviour, &s.Positive, &s.Negative, &s.Count, &s.PositiveCount, &s.NegativeCount, &s.Peaks,
	} {
		*list = slices.Grow((*list)[:0], n*arms)[:n*arms]
	}
	for _, list := range []*[]float64{
		&s.Rewarded, &s.ZeroVariance, &s.Reward, &s.RewardSquare, &s.Gap, &s.GapSquare, &s.Zero, &s.Finite, &s.LargestRatio, &s.Clipped,
	} {
		*list = slices.Grow((*list)[:0], n)[:n]
	}
}

// aimAt aims the sampler at the snapshots of the replicas from, …, to−1.
func aimAt(sampler Sampler, s *State, from, to int, logits []float64) {
	leave()
	for i := from; i < to; i++ {
		for a := range logits {
			logits[a] = s.Behaviour[a*s.Stride+i]
		}
		sampler.Aim(i, logits)
	}
}

// drawFrom draws the groups of the replicas from, …, to−1.
func drawFrom(sampler Sampler, s *State, from, to int) {
	leave()
	for i := from; i < to; i++ {
		drawn := sampler.Draw(i)
		s.Rewarded[i], s.ZeroVariance[i] = float64(drawn.Rewarded), float64(drawn.ZeroVariance)
		for a := range drawn.Arms {
			x, j := &drawn.Arms[a], a*s.Stride+i
			s.Positive[j], s.Negative[j], s.Count[j] = x.Positive, x.Negative, float64(x.Count)
			s.PositiveCount[j], s.NegativeCount[j] = float64(x.PositiveCount), float64(x.NegativeCount)
		}
	}
}
