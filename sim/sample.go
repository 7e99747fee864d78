package sim

import (
	"math"
	"math/bits"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// sampler draws groups as sufficient statistics (docs/theory.md §2): the number of
// samples of each arm and their rewards, in O(A) for any group size. Only weights that
// depend on the sign of the advantage (grpo.WeightsBySign) need the single samples of normal
// rewards.
//
// Groups of at most packedSize samples are drawn sample by sample, 64 samples at
// once, which may belong to several groups of the same snapshot. Of larger groups the
// counts are drawn.
type sampler struct {
	*laws
	bandit    *option.Bandit
	estimator *option.Estimator

	pack     *draw.Pack
	size     uint   // lanes of a group: G, at most 64
	together int    // groups in a full pack
	first    uint64 // lanes of the first group in the pack
	lanes    uint64 // lanes of the next group
	left     int    // groups in the pack that have not been used

	reward float64 // sum of the rewards of all samples of the step, before any group is redrawn

	informative *draw.Informative // redraws groups of equal rewards; nil: they stay
	behaviour   *grpo.Policy      // that draws the groups
	prompts     *promptSampler    // nil: all groups have the arms of bandit

	reference *grpo.Policy // π_ref where the KL penalty is part of the reward; else nil
	shifts    []float64    // by arm, what it adds to a reward

	law               draw.BinomialLaw  // of the first of two arms' count in a larger group
	tree              *draw.Multinomial // of the counts of more arms
	counts, successes []int             // of the last group, by arm: samples, rewarded samples
	atoms             []grpo.Atom       // the last group's rewards where not all arms are Bernoulli
}

// laws are the tables that samplers with equal arms, group size and advantage share on
// one worker. They are not for concurrent use, because advantages are computed on
// demand.
type laws struct {
	packed     int                       // the largest group size that is drawn in packs
	advantages *grpo.BernoulliAdvantages // nil if some arm is not Bernoulli
	rewards    []*draw.BinomialTable     // by arm: rewarded ones of n ≤ G, for G above packed
}

// sameLaws reports whether two cells have equal laws.
func sameLaws(a, b *Cell) bool {
	return slices.Equal(a.Bandit.Arms, b.Bandit.Arms) &&
		a.Estimator.GroupSize == b.Estimator.GroupSize &&
		a.Estimator.Advantage == b.Estimator.Advantage
}

// packedSize is the largest group size for which drawing packs is faster than drawing
// counts.
const packedSize = 2 * draw.MaxLanes

// newLaws returns the laws with the fastest draws.
func newLaws(bandit *option.Bandit, estimator *option.Estimator) *laws {
	l := coupledLaws(bandit, estimator)
	l.packed = packedSize
	if l.advantages != nil && estimator.GroupSize > packedSize && estimator.GroupSize <= draw.MaxTabulated {
		for _, arm := range bandit.Arms {
			l.rewards = append(l.rewards, draw.NewBinomialTable(estimator.GroupSize, arm.Mean))
		}
	}
	return l
}

// coupledLaws returns laws for two samplers that read the same random words. Their draws must
// differ little if their policies differ little. They draw the counts of a group of more than 64
// samples from binomial laws, without tables. Such a draw increases with its probability like the
// quantile of one uniform number. So two differ by the difference of their means to within 1. Lanes
// of that many samples would differ by a random number, draws from tables arbitrarily.
func coupledLaws(bandit *option.Bandit, estimator *option.Estimator) *laws {
	l := &laws{packed: draw.MaxLanes}
	if allBernoulli(bandit) {
		l.advantages = grpo.NewBernoulliAdvantages(estimator.Advantage, estimator.GroupSize)
	}
	return l
}

// allBernoulli reports whether the rewards of all arms are Bernoulli.
func allBernoulli(bandit *option.Bandit) bool {
	return !slices.ContainsFunc(bandit.Arms, func(arm option.Arm) bool { return arm.Law != option.Bernoulli })
}

// newSampler returns a sampler. From one policy it draws at most the given number of
// groups.
func newSampler(bandit *option.Bandit, estimator *option.Estimator, laws *laws, groups int) *sampler {
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
		shifts:    make([]float64, len(bandit.Arms)),
		tree:      draw.NewMultinomial(len(bandit.Arms)),
	}
	if estimator.Filter == option.Redraw {
		s.informative = draw.NewInformative(estimator.GroupSize, means(bandit))
	}
	if laws.advantages == nil {
		s.pack = draw.NewPack(len(bandit.Arms), nil)
	} else {
		s.pack = draw.NewPack(len(bandit.Arms), means(bandit))
	}
	return s
}

// aim sets the policy that draws the next groups. The policy must not change until
// they are drawn.
func (s *sampler) aim(behaviour *grpo.Policy) {
	s.left, s.behaviour = 0, behaviour
	if s.reference != nil {
		grpo.KLShifts(&s.estimator.KL, s.shifts, behaviour, s.reference)
	}
	switch {
	case s.prompts != nil:
		s.prompts.redraws.refresh()
	case s.estimator.GroupSize == option.Infinite: // nothing is drawn
	case s.estimator.GroupSize <= s.packed:
		s.pack.Aim(behaviour.Probs)
	case len(behaviour.Probs) == 2:
		s.law.Set(s.estimator.GroupSize, behaviour.Probs[0])
	default:
		s.tree.Set(behaviour.Probs)
	}
}

// groups draws the groups of one optimizer step and adds them to sum.
func (s *sampler) groups(sum *grpo.GroupStatistics, w *draw.Words) {
	s.reward = 0
	for range s.estimator.GroupsPerStep {
		if s.prompts != nil {
			s.promptGroup(sum, w, s.prompts.choose(w), s.behaviour)
			continue
		}
		s.group(sum, w)
	}
}

// group draws a group and adds it to sum, and its rewards to s.reward.
func (s *sampler) group(sum *grpo.GroupStatistics, w *draw.Words) {
	switch {
	case s.advantages == nil || s.reference != nil:
		s.sample(w)
		scatter := s.drawAtoms(w)
		for i, atom := range s.atoms {
			s.reward += float64(float64(atom.Count) * atom.Reward)
			s.atoms[i].Reward += s.shifts[atom.Arm]
		}
		sum.AddAtoms(&s.estimator.Advantage, s.atoms, scatter)
	case s.estimator.GroupSize <= draw.MaxLanes:
		lanes := s.next(w)
		rewarded := s.pack.Rewarded & lanes
		up, down, redrawn := s.open(sum, w, bits.OnesCount64(rewarded))
		if redrawn {
			s.addCounted(sum, up, down)
			return
		}
		arms := sum.Arms[:len(s.pack.Arms)]
		for a, arm := range s.pack.Arms {
			arms[a].AddBernoulli(up, down, bits.OnesCount64(arm&lanes), bits.OnesCount64(arm&rewarded))
		}
	default:
		s.sample(w)
		up, down, _ := s.open(sum, w, s.total())
		s.addCounted(sum, up, down)
	}
}

// open opens a group of total rewards of 1 in sum, and returns its advantages. It redraws the group,
// into s.counts and s.successes, if its rewards are equal and such groups are redrawn.
func (s *sampler) open(
	sum *grpo.GroupStatistics, w *draw.Words, total int,
) (up, down float64, redrawn bool) {
	s.reward += float64(total)
	up, down = sum.OpenBernoulli(s.advantages, total)
	if s.informative != nil && (total == 0 || total == s.estimator.GroupSize) {
		redrawn = s.informative.Draw(w, s.behaviour.Probs, s.counts, s.successes)
	}
	if redrawn {
		up, down = s.advantages.Of(s.total())
	}
	return up, down, redrawn
}

// total returns the number of rewarded samples of the counted group.
func (s *sampler) total() (rewarded int) {
	for _, k := range s.successes {
		rewarded += k
	}
	return rewarded
}

// addCounted adds the samples of the counted group, which is open and has the given advantages,
// to sum.
func (s *sampler) addCounted(sum *grpo.GroupStatistics, up, down float64) {
	for a, k := range s.successes {
		sum.Arms[a].AddBernoulli(up, down, s.counts[a], k)
	}
}

// next returns the lanes of the pack that hold the next group of at most 64 samples.
// If there is none, a full pack is drawn.
func (s *sampler) next(w *draw.Words) (lanes uint64) {
	if s.left == 0 {
		s.pack.Draw(w, s.together*s.estimator.GroupSize)
		s.left, s.lanes = s.together, s.first
	}
	lanes = s.lanes
	s.lanes <<= s.size
	s.left--
	return lanes
}

// sample draws the counts of a group and, if all arms are Bernoulli, how many samples
// of each arm are rewarded.
func (s *sampler) sample(w *draw.Words) {
	size := s.estimator.GroupSize
	clear(s.counts)
	clear(s.successes)
	switch {
	case size <= draw.MaxLanes:
		s.count(s.next(w))
	case size <= s.packed:
		for left := size; left > 0; left -= draw.MaxLanes {
			s.pack.Draw(w, min(left, draw.MaxLanes))
			s.count(^uint64(0))
		}
	default:
		if len(s.counts) == 2 {
			s.counts[0] = s.law.Draw(w)
			s.counts[1] = size - s.counts[0]
		} else {
			s.tree.Draw(s.counts, w, size)
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

// count adds the samples in the given lanes of the pack to s.counts and s.successes.
func (s *sampler) count(lanes uint64) {
	for a, arm := range s.pack.Arms {
		arm &= lanes
		s.counts[a] += bits.OnesCount64(arm)
		s.successes[a] += bits.OnesCount64(arm & s.pack.Rewarded)
	}
}

// drawAtoms draws the rewards of s.counts into s.atoms and returns their scatter, Σ (r_i − its
// atom's reward)². Of the n rewards of a normal arm it draws the mean, Mean + Std·N(0,1)/√n.
// Independent of it is the scatter, Std²·χ²_{n−1}. With weights by the sign of the advantage each
// reward is an atom.
func (s *sampler) drawAtoms(w *draw.Words) (scatter float64) {
	s.atoms = s.atoms[:0]
	single := grpo.WeightsBySign(&s.estimator.Importance)
	for a, n := range s.counts {
		if n == 0 {
			continue
		}
		arm := &s.bandit.Arms[a]
		switch {
		case arm.Law == option.Bernoulli:
			k := s.successes[a]
			if s.advantages == nil {
				k = draw.Binomial(w, n, arm.Mean)
			}
			s.atoms = append(s.atoms, grpo.Atom{Arm: a, Count: k, Reward: 1}, grpo.Atom{Arm: a, Count: n - k})
		case arm.Law == option.Constant || arm.Std == 0:
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
