package group

import (
	"math"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// Prompts is the law of a group of one of C prompts with one policy, each with rewards of two
// values. The group is of prompt x with the probability 1/C, or P_x/Σ_y P_y where groups of equal
// rewards are redrawn. P_x is the probability that the rewards of a group of prompt x differ.
type Prompts struct {
	base
	each []*Counts
}

// NewPrompts returns the law of the given bandits.
func NewPrompts(bandits [][]option.Arm, e *option.Estimator, s *Samples) *Prompts {
	l := &Prompts{base: newBase(bandits[0], e, s)}
	for _, arms := range bandits {
		l.each = append(l.each, NewCounts(arms, e, s))
	}
	return l
}

func (l *Prompts) Prompts() float64 { return float64(len(l.each)) }

func (l *Prompts) Values(probs []float64) []float64 {
	var all []float64
	for _, one := range l.each {
		all = append(all, one.Values(probs)...)
	}
	return all
}

func (l *Prompts) Value(probs []float64, v int) float64 { return l.each[v/2].Values(probs)[v%2] }

func (l *Prompts) EqualRewards(probs []float64) float64 {
	return l.equal(l.Values(probs)) / l.Prompts()
}

func (l *Prompts) Unevenness(probs []float64) float64 { return l.uneven(l.EqualRewards(probs)) }

func (l *Prompts) Reach(pull float64) float64 {
	if l.e.Filter != option.KeepAll {
		return math.Inf(1)
	}
	return l.reachOfTwo(pull)
}

// shares returns the share of each prompt among the groups that exert a force.
func (l *Prompts) shares() []float64 {
	shares, sum := make([]float64, len(l.each)), 0.0
	for x, one := range l.each {
		shares[x] = 1
		if l.e.Filter == option.Redraw {
			shares[x], _ = one.Differ(one.Chances(l.Old))
		}
		sum += shares[x]
	}
	for x := range shares {
		if sum > 0 { // otherwise no group has rewards that differ, and no group exerts a force
			shares[x] /= sum
		}
	}
	return shares
}

func (l *Prompts) Mean(dst []float64) {
	sum := make([]float64, len(dst))
	for x, share := range l.shares() {
		l.each[x].Mean(dst)
		floats.AddScaled(sum, share, dst)
	}
	copy(dst, sum)
}

func (l *Prompts) Response(dst []float64) { l.perSample(dst, l.Mean) }

func (l *Prompts) Stiffness(_, _ [][]float64) (known bool) { return false }

// Covariance is that of Law. By the law of total covariance the first matrix is that within a
// prompt, in the mean, plus that of the prompts' means c_x = E[c^R | x]. Only the former falls as
// 1/G:
//
//	Cov(c^R, c^R) = mean_x Cov_x + mean_x c_x c_xᵀ − c̄ c̄ᵀ.
//
// The mean of c^K is the same for all prompts, but for a sampled gradient where groups are redrawn.
func (l *Prompts) Covariance(reward, cross, _ [][]float64) {
	arms, shares := len(l.Old), l.shares()
	sums := [2][][]float64{Square(arms), Square(arms)}
	mean, means := make([]float64, arms), make([][]float64, len(l.each))
	for x, one := range l.each {
		means[x] = make([]float64, arms)
		one.Mean(means[x])
		floats.AddScaled(mean, shares[x], means[x])
		for a := range arms {
			clear(reward[a])
			clear(cross[a])
		}
		one.Covariance(reward, cross, nil) // no third: no sampled gradient is of redrawn groups
		for a := range arms {
			floats.AddScaled(sums[0][a], shares[x], reward[a])
			floats.AddScaled(sums[1][a], shares[x], cross[a])
		}
	}
	for a := range arms {
		copy(reward[a], sums[0][a])
		copy(cross[a], sums[1][a])
		for b := range arms {
			for x, c := range means {
				reward[a][b] += shares[x] * (c[a] - mean[a]) * (c[b] - mean[b])
			}
		}
	}
}
