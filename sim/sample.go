package sim

import (
	"math"

	"grposim/grpo"
	"grposim/sim/draw"
)

// sampler draws groups as sufficient statistics (docs/theory.md §2): how many
// samples each arm got and what they were rewarded, in O(A) whatever the group
// size. Only clipping with normal rewards looks at the single sample.
type sampler struct {
	bandit    *grpo.Bandit
	estimator *grpo.Estimator
	bernoulli bool // all arms are

	counts, successes []int
	atoms             []grpo.Atom
}

func newSampler(bandit *grpo.Bandit, estimator *grpo.Estimator) *sampler {
	s := &sampler{
		bandit:    bandit,
		estimator: estimator,
		bernoulli: true,
		counts:    make([]int, len(bandit.Arms)),
		successes: make([]int, len(bandit.Arms)),
	}
	for _, arm := range bandit.Arms {
		s.bernoulli = s.bernoulli && arm.Reward == grpo.Bernoulli
	}
	return s
}

// tally draws the groups of one optimizer step from behaviour and adds them to t.
func (s *sampler) tally(t *grpo.Tally, w *draw.Words, behaviour *grpo.Policy) {
	for range s.estimator.GroupsPerStep {
		draw.Multinomial(s.counts, w, s.estimator.GroupSize, behaviour.Probs)
		if s.bernoulli {
			for a, n := range s.counts {
				k := draw.Binomial(w, n, s.bandit.Arms[a].Mean)
				s.successes[a] = k
				s.counts[a] = n - k // the failures
			}
			t.AddBernoulli(&s.estimator.Advantage, s.estimator.GroupSize, s.successes, s.counts)
			continue
		}
		scatter := s.drawAtoms(w)
		t.AddAtoms(&s.estimator.Advantage, s.atoms, scatter)
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
