package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// sampler draws groups as sufficient statistics (docs/theory.md §2): the number of samples of each
// arm and their rewards, in O(A) for any group size. Only weights that depend on the sign of the
// advantage (grpo.WeightsBySign) need the single samples of normal rewards.
//
// Groups of at most draw.MaxPacked samples are counted sample by sample, up to four groups of the
// same snapshot at once. Of larger groups the counts are drawn.
type sampler struct {
	*laws
	bandit    *option.Bandit
	estimator *option.Estimator

	pack *draw.Pack // nil for larger groups
	left int        // groups in the pack that have not been used

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

// laws are the tables that samplers with equal arms, group size and advantage share on one worker.
// They are not for concurrent use, because advantages are computed on demand.
type laws struct {
	advantages *grpo.BernoulliAdvantages // nil if some arm is not Bernoulli
	rewards    []*draw.BinomialTable     // by arm: rewarded ones of n ≤ G, for G above MaxPacked
}

func sameLaws(a, b *Cell) bool {
	return slices.Equal(a.Bandit.Arms, b.Bandit.Arms) &&
		a.Estimator.GroupSize == b.Estimator.GroupSize &&
		a.Estimator.Advantage == b.Estimator.Advantage
}

// newLaws returns the laws with the fastest draws.
func newLaws(bandit *option.Bandit, estimator *option.Estimator) *laws {
	l := coupledLaws(bandit, estimator)
	if size := estimator.GroupSize; l.advantages != nil && size > draw.MaxPacked && size <= draw.MaxTabulated {
		for _, arm := range bandit.Arms {
			l.rewards = append(l.rewards, draw.NewBinomialTable(size, arm.Mean))
		}
	}
	return l
}

// coupledLaws returns laws for two samplers that read the same random words. Their draws must
// differ little if their policies differ little. They draw counts of a large group from binomial
// laws, without tables. Such a draw increases with its probability like the quantile of one uniform
// number. So two differ by the difference of their means to within 1; draws from tables would
// differ arbitrarily.
func coupledLaws(bandit *option.Bandit, estimator *option.Estimator) *laws {
	l := &laws{}
	if allBernoulli(bandit) {
		l.advantages = grpo.NewBernoulliAdvantages(estimator.Advantage, estimator.GroupSize)
	}
	return l
}

func allBernoulli(bandit *option.Bandit) bool {
	return !slices.ContainsFunc(bandit.Arms, func(arm option.Arm) bool { return arm.Law != option.Bernoulli })
}

// newSampler returns a sampler. From one policy it draws at most the given number of groups.
func newSampler(bandit *option.Bandit, estimator *option.Estimator, laws *laws, groups int) *sampler {
	s := &sampler{
		laws:      laws,
		bandit:    bandit,
		estimator: estimator,
		counts:    make([]int, len(bandit.Arms)),
		successes: make([]int, len(bandit.Arms)),
		shifts:    make([]float64, len(bandit.Arms)),
		tree:      draw.NewMultinomial(len(bandit.Arms)),
	}
	if estimator.Filter == option.Redraw {
		s.informative = draw.NewInformative(estimator.GroupSize, bandit.Means())
	}
	if estimator.GroupSize <= draw.MaxPacked {
		var rewards []float64
		if laws.advantages != nil {
			rewards = bandit.Means()
		}
		s.pack = draw.NewPack(len(bandit.Arms), rewards, estimator.GroupSize, groups)
	}
	return s
}

// aim sets the policy that draws the next groups. The policy must not change until they are drawn.
func (s *sampler) aim(behaviour *grpo.Policy) {
	s.left, s.behaviour = 0, behaviour
	if s.reference != nil {
		grpo.KLShifts(&s.estimator.KL, s.shifts, behaviour, s.reference)
	}
	switch {
	case s.prompts != nil:
		s.prompts.redraws.refresh()
	case s.estimator.GroupSize == option.Infinite: // nothing is drawn
	case s.pack != nil:
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
			s.promptGroup(sum, w, s.prompts.choose(w, nil), s.behaviour)
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
	case s.pack != nil:
		at := s.next(w)
		up, down, redrawn := s.open(sum, w, s.rewarded(at))
		if redrawn {
			s.addCounted(sum, up, down)
			return
		}
		arms := sum.Arms[:len(s.pack.Others)]
		for a, others := range s.pack.Others {
			k := field(s.pack.Rewarded[a], at)
			arms[a].AddBernoulli(up, down, k+field(others, at), k)
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

// next returns the bit of the pack's counts at which those of the next group begin. If there is
// none, groups are drawn.
func (s *sampler) next(w *draw.Words) (at uint) {
	if s.left == 0 {
		s.pack.Draw(w)
		s.left = s.pack.Groups()
	}
	s.left--
	return 16 * uint(s.pack.Groups()-1-s.left)
}

// rewarded returns the number of rewarded samples of the group whose counts begin at a bit.
func (s *sampler) rewarded(at uint) int {
	total := uint64(0)
	for _, k := range s.pack.Rewarded {
		total += k
	}
	return field(total, at)
}

// readPack sets the samples and the rewarded ones by arm, of the group whose counts begin at a bit.
func readPack(pack *draw.Pack, at uint, counts, successes []int) {
	for a, others := range pack.Others {
		successes[a] = field(pack.Rewarded[a], at)
		counts[a] = successes[a] + field(others, at)
	}
}

// field returns the number of 16 bits that begins at a bit.
func field(counts uint64, at uint) int { return int(counts >> at & 0xffff) }

// sample draws the counts of a group and, if all arms are Bernoulli, how many samples
// of each arm are rewarded.
func (s *sampler) sample(w *draw.Words) {
	size := s.estimator.GroupSize
	clear(s.counts)
	clear(s.successes)
	switch {
	case s.pack != nil:
		readPack(s.pack, s.next(w), s.counts, s.successes)
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
