package group

import (
	"slices"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// Prompts is the law of a group of one of C prompts with one policy, each with rewards of two
// values. The group is of prompt x with the probability 1/C, or where groups of equal rewards are
// redrawn, of other prompts too, in proportion to that of unequal ones.
type Prompts struct {
	base
	Each    []*Counts
	Between float64 // weight in a covariance of how the means of prompts differ; below 1: by epochs
}

// NewPrompts returns the law of the given bandits.
func NewPrompts(bandits [][]option.Arm, e *option.Estimator, s *Samples) *Prompts {
	l := &Prompts{base: newBase(bandits[0], e, s), Between: 1}
	for _, arms := range bandits {
		l.Each = append(l.Each, NewCounts(arms, e, s))
	}
	return l
}

// InOrder returns the laws of draws of so many groups each, of prompts in a fixed order, until the
// first draw comes again. The prompts of a draw are known, so that they add no noise.
func (l *Prompts) InOrder(groups int) (draws []*Prompts) {
	for from := 0; from == 0 || from%len(l.Each) > 0; from += groups {
		draw := &Prompts{base: l.base}
		for g := range groups {
			draw.Each = append(draw.Each, l.Each[(from+g)%len(l.Each)])
		}
		draws = append(draws, draw)
	}
	return draws
}

func (l *Prompts) Prompts() float64 { return float64(len(l.Each)) }

func (l *Prompts) Values(probs []float64) []float64 {
	var all []float64
	for _, one := range l.Each {
		all = append(all, one.Values(probs)...)
	}
	return all
}

func (l *Prompts) Value(probs []float64, v int) float64 { return l.Each[v/2].Values(probs)[v%2] }

func (l *Prompts) EqualRewards(probs []float64) float64 {
	return l.equal(l.Values(probs)) / l.Prompts()
}

func (l *Prompts) Unevenness(probs []float64) float64 { return l.uneven(l.EqualRewards(probs)) }

func (l *Prompts) Reach(pull float64) float64 { return l.reachOfTwo(pull) }

// Shares yields the prompts that exert a force, with their probabilities.
func (l *Prompts) Shares(yield func(share float64, one *Counts) bool) {
	shares := slices.Repeat([]float64{1}, len(l.Each))
	if l.e.Filter == option.Redraw {
		for x, one := range l.Each {
			shares[x], _ = one.Differ(one.Chances(one.Old))
		}
	}
	sum := floats.Sum(shares)
	for x, one := range l.Each {
		if shares[x] > 0 && !yield(shares[x]/sum, one) {
			return
		}
	}
}

func (l *Prompts) Mean(dst []float64) {
	sum := make([]float64, len(dst))
	for share, one := range l.Shares {
		one.Mean(dst)
		floats.AddScaled(sum, share, dst)
	}
	copy(dst, sum)
}

func (l *Prompts) Stiffness(_, _ [][]float64) (known bool) { return false }

// Covariance is that of Law. By the law of total covariance the first matrix has two parts. One is
// that within a prompt, in the mean, and falls as 1/G. The other is that of the prompts' means
// c_x = E[c^R | x]:
//
//	Cov(c^R, c^R) = mean_x Cov_x + mean_x c_x c_xᵀ − c̄ c̄ᵀ.
//
// The mean of c^K is the same for all prompts.
func (l *Prompts) Covariance(reward, cross, _ [][]float64) {
	arms := len(l.Old)
	mean, one := make([]float64, arms), make([]float64, arms)
	outer := func(share float64, x []float64) {
		for a, row := range reward {
			floats.AddScaled(row, share*x[a], x)
		}
	}
	within, with := Square(arms), Square(arms)
	for share, prompt := range l.Shares {
		prompt.Mean(one)
		floats.AddScaled(mean, share, one)
		outer(l.Between*share, one)
		for a := range arms {
			clear(within[a])
			clear(with[a])
		}
		prompt.Covariance(within, with, nil) // no third: no penalty is sampled where groups are redrawn
		for a := range arms {
			floats.AddScaled(reward[a], share, within[a])
			floats.AddScaled(cross[a], share, with[a])
		}
	}
	outer(-l.Between, mean)
}
