package sim

import (
	"math"
	"math/bits"
	"slices"

	"grposim/grpo"
	"grposim/sim/draw"
)

// sampler draws groups as sufficient statistics (docs/theory.md §2): how many
// samples each arm got and what they were rewarded, in O(A) whatever the group
// size. Only clipping with normal rewards looks at the single sample.
//
// Groups of at most packedSize are drawn sample by sample, but 64 samples at
// once, of several groups if one snapshot draws them; larger ones as counts.
type sampler struct {
	*laws
	bandit    *grpo.Bandit
	estimator *grpo.Estimator
	behaviour *grpo.Policy

	pack     *draw.Pack
	size     uint   // lanes of a group, if the group size is at most 64
	together int    // groups drawn into one pack
	first    uint64 // lanes of the first group in the pack
	lanes    uint64 // lanes of the next group to be taken
	left     int    // groups in the pack that have not been taken

	law               draw.BinomialLaw // of the first of two arms, in larger groups
	counts, successes []int
	atoms             []grpo.Atom
}

// laws are what the samplers of a cell, and of others that have the same, can share if
// they run on one worker.
type laws struct {
	packed     int                       // the group size up to which packs are drawn
	advantages *grpo.BernoulliAdvantages // nil where not all arms are Bernoulli
	rewards    []*draw.BinomialTable     // by arm, of larger groups; nil: without tables
}

// sameLaws reports whether two cells have the same laws.
func sameLaws(a, b *Cell) bool {
	return slices.Equal(a.Bandit.Arms, b.Bandit.Arms) &&
		a.Estimator.GroupSize == b.Estimator.GroupSize &&
		a.Estimator.Advantage == b.Estimator.Advantage
}

// packedSize is the group size up to which a few packs are faster than counts.
const packedSize = 4 * draw.MaxLanes

// newLaws returns the laws that are drawn from fastest.
func newLaws(bandit *grpo.Bandit, estimator *grpo.Estimator) *laws {
	l := coupledLaws(bandit, estimator)
	l.packed = packedSize
	if l.advantages != nil && estimator.GroupSize > packedSize && estimator.GroupSize <= draw.MaxTabulated {
		for _, arm := range bandit.Arms {
			l.rewards = append(l.rewards, draw.NewBinomialTable(estimator.GroupSize, arm.Mean))
		}
	}
	return l
}

// coupledLaws returns laws for two samplers that read the same words, whose draws
// are to differ little where their policies do. A binomial draw of a large group
// grows with its probability as the quantile of one number does: two differ by what
// their means do, give or take one; the lanes of as many samples differ by a random
// number, and draws from tables by anything.
func coupledLaws(bandit *grpo.Bandit, estimator *grpo.Estimator) *laws {
	l := &laws{packed: draw.MaxLanes}
	for _, arm := range bandit.Arms {
		if arm.Reward != grpo.Bernoulli {
			return l
		}
	}
	l.advantages = grpo.NewBernoulliAdvantages(estimator.Advantage, estimator.GroupSize)
	return l
}

// newSampler returns a sampler that draws at most the given number of groups
// from one policy.
func newSampler(bandit *grpo.Bandit, estimator *grpo.Estimator, laws *laws, groups int) *sampler {
	size := min(estimator.GroupSize, draw.MaxLanes)
	s := &sampler{
		laws:      laws,
		bandit:    bandit,
		estimator: estimator,
		size:      uint(size),
		together:  min(groups, draw.MaxLanes/size),
		first:     ^uint64(0) >> (draw.MaxLanes - size),
		counts:    make([]int, len(bandit.Arms)),
		successes: make([]int, len(bandit.Arms)),
	}
	if laws.advantages == nil {
		s.pack = draw.NewPack(len(bandit.Arms), nil)
	} else {
		s.pack = draw.NewPack(len(bandit.Arms), means(bandit))
	}
	return s
}

// aim sets the policy that draws the next groups; it must not change before they
// are drawn.
func (s *sampler) aim(behaviour *grpo.Policy) {
	s.behaviour = behaviour
	s.left = 0
	switch {
	case s.estimator.GroupSize == grpo.Infinite: // nothing is drawn
	case s.estimator.GroupSize <= s.packed:
		s.pack.Aim(behaviour.Probs)
	case len(behaviour.Probs) == 2:
		s.law.Set(s.estimator.GroupSize, behaviour.Probs[0])
	}
}

// tally draws the groups of one optimizer step and adds them to t.
func (s *sampler) tally(t *grpo.GroupStatistics, w *draw.Words) {
	for range s.estimator.GroupsPerStep {
		s.group(t, w)
	}
}

// group draws a group and adds it to t.
func (s *sampler) group(t *grpo.GroupStatistics, w *draw.Words) {
	switch {
	case s.advantages == nil:
		s.sample(w)
		scatter := s.drawAtoms(w)
		t.AddAtoms(&s.estimator.Advantage, s.atoms, scatter)
	case s.estimator.GroupSize <= draw.MaxLanes:
		lanes := s.next(w)
		rewarded := s.pack.Rewarded & lanes
		up, down := t.OpenBernoulli(s.advantages, bits.OnesCount64(rewarded))
		arms := t.Arms[:len(s.pack.Arms)]
		for a, arm := range s.pack.Arms {
			arms[a].AddBernoulli(up, down, bits.OnesCount64(arm&lanes), bits.OnesCount64(arm&rewarded))
		}
	default:
		s.sample(w)
		total := 0
		for _, k := range s.successes {
			total += k
		}
		up, down := t.OpenBernoulli(s.advantages, total)
		for a, k := range s.successes {
			t.Arms[a].AddBernoulli(up, down, s.counts[a], k)
		}
	}
}

// next returns the lanes of the pack that the next group of at most 64 is in.
func (s *sampler) next(w *draw.Words) (lanes uint64) {
	if s.left == 0 {
		s.refill(w)
	}
	lanes = s.lanes
	s.skip()
	return lanes
}

// skip goes on to the next group in the pack.
func (s *sampler) skip() {
	s.lanes <<= s.size
	s.left--
}

// refill draws a pack; its first group is the next.
func (s *sampler) refill(w *draw.Words) {
	s.pack.Draw(w, s.together*s.estimator.GroupSize)
	s.left, s.lanes = s.together, s.first
}

// sample draws the counts of a group and, where all arms are Bernoulli, how many
// of each are rewarded.
func (s *sampler) sample(w *draw.Words) {
	size := s.estimator.GroupSize
	switch {
	case size <= draw.MaxLanes:
		clear(s.counts)
		s.count(s.next(w))
	case size <= s.packed:
		clear(s.counts)
		clear(s.successes)
		for left := size; left > 0; left -= draw.MaxLanes {
			s.pack.Draw(w, min(left, draw.MaxLanes))
			s.count(^uint64(0))
		}
	default:
		if len(s.counts) == 2 {
			s.counts[0] = s.law.Draw(w)
			s.counts[1] = size - s.counts[0]
		} else {
			draw.Multinomial(s.counts, w, size, s.behaviour.Probs)
		}
		if s.advantages == nil {
			return
		}
		for a, n := range s.counts {
			if s.rewards != nil {
				s.successes[a] = s.rewards[a].Draw(w, n)
			} else {
				s.successes[a] = draw.Binomial(w, n, s.bandit.Arms[a].Mean)
			}
		}
	}
}

// count counts the samples in some lanes of the pack.
func (s *sampler) count(lanes uint64) {
	for a, arm := range s.pack.Arms {
		arm &= lanes
		s.counts[a] += bits.OnesCount64(arm)
		s.successes[a] += bits.OnesCount64(arm & s.pack.Rewarded)
	}
}

// drawAtoms draws the rewards of s.counts into s.atoms and returns their
// scatter within atoms. The rewards of a normal arm are told by their mean and
// sum of squares, Mean + Std·N(0,1)/√n and Std²·χ²_{n−1}, which are
// independent; clipping needs each of them.
func (s *sampler) drawAtoms(w *draw.Words) (scatter float64) {
	s.atoms = s.atoms[:0]
	single := s.estimator.Importance.Mode == grpo.Clip
	for a, n := range s.counts {
		if n == 0 {
			continue
		}
		arm := &s.bandit.Arms[a]
		switch {
		case arm.Reward == grpo.Bernoulli:
			k := draw.Binomial(w, n, arm.Mean)
			s.atoms = append(s.atoms, grpo.Atom{Arm: a, Count: k, Reward: 1}, grpo.Atom{Arm: a, Count: n - k})
		case arm.Reward == grpo.Constant || arm.Std == 0:
			s.atoms = append(s.atoms, grpo.Atom{Arm: a, Count: n, Reward: arm.Mean})
		case single:
			for range n {
				r := arm.Mean + float64(arm.Std*draw.Normal(w))
				s.atoms = append(s.atoms, grpo.Atom{Arm: a, Count: 1, Reward: r})
			}
		default:
			r := arm.Mean + arm.Std*draw.Normal(w)/math.Sqrt(float64(n))
			s.atoms = append(s.atoms, grpo.Atom{Arm: a, Count: n, Reward: r})
			if n > 1 {
				scatter += float64(arm.Std * float64(arm.Std*draw.ChiSquare(w, n-1)))
			}
		}
	}
	return scatter
}
