package group

import (
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/weight"
)

// LeastExpanded is the least size of a group whose rewards of many values are expanded with the std
// scale. Below it, the 1/G that is left out of a variance is above a quarter of it.
const LeastExpanded = 8

// mostCompositions is the largest number of compositions of a group times arms that is summed.
const mostCompositions = 10_000

// Composed is the law of a group whose rewards take few values, by exact sums over its compositions.
// A composition says how many samples have each of the values (docs/theory.md §2).
type Composed struct {
	Expanded        // for what does not depend on the order in 1/G
	parts    []Part // the values with negative advantages, then those with positive ones

	// Sums over the compositions of π_old = of, with t = n y/G of n samples with the advantage y:
	// of t and ty/G, and of t_j t_k and t_j n_k/G less those of one sample.
	of, line, square []float64
	pairs, counts    [][]float64
}

// Part is the samples of a group whose rewards are equal.
type Part struct {
	Count, Advantage float64
	Arms, Weights    []float64 // probabilities of the arm of each, and the weights of the arms
}

// Composes reports whether a group's law is that of its compositions. It is where the expansion is
// not exact, in groups below LeastExpanded, and under weights that depend on the sign of an advantage.
func Composes(arms []option.Arm, e *option.Estimator) bool {
	exact := e.Advantage.Scale == option.NoScale && !weight.BySign(&e.Importance)
	if exact || e.KL.OfReward() || e.GroupSize == option.Infinite ||
		e.GroupSize >= LeastExpanded && !weight.Signed(&e.Importance) ||
		slices.ContainsFunc(arms, func(arm option.Arm) bool { return outcomes(arm) == nil }) {
		return false
	}
	b, all := newBase(arms, e, nil), float64(len(arms))
	for j := range b.listed()[:b.values-1] {
		all *= float64(e.GroupSize+j+1) / float64(j+1)
	}
	return all <= mostCompositions
}

func (l *Composed) Exact() bool                    { return true }
func (l *Composed) LeftOut() (mean, noise float64) { return 0, 0 }

func (l *Composed) Response(dst []float64) { l.perSample(dst, l.Mean) }

// Given yields the compositions with their probabilities. The next one overwrites it.
func (l *Composed) Given(yield func(chance float64, parts []Part) bool) {
	chances := l.Values(l.Old)
	n, rewards := make([]float64, l.values), make([]float64, l.values)
	arms := Zeros(l.values, len(l.arms))
	for _, t := range l.listed() {
		rewards[t.value] = t.reward
		if p := chances[t.value]; p > 0 {
			arms[t.value][t.arm] += l.Old[t.arm] * t.chance / p
		}
	}
	l.parts = l.parts[:0]
	for _, weights := range [2][]float64{l.Down, l.Up} {
		for _, probabilities := range arms {
			l.parts = append(l.parts, Part{Arms: probabilities, Weights: weights})
		}
	}
	var fill func(j int, left, chance float64) (more bool)
	fill = func(j int, left, chance float64) (more bool) {
		if j == len(n)-1 {
			n[j] = left
			chance *= fp.Pow(chances[j], left)
			l.weigh(n, rewards)
			return chance == 0 || yield(chance, l.parts)
		}
		for k := 0.0; k <= left; k++ {
			n[j] = k
			if !fill(j+1, left-k, chance) {
				return false
			}
			chance *= (left - k) / (k + 1) * chances[j]
		}
		return true
	}
	fill(0, l.size, 1)
}

// weigh sets the parts of a group with so many samples of each reward.
func (l *Composed) weigh(n, rewards []float64) {
	mean, square := 0.0, 0.0
	for j, r := range rewards {
		mean += n[j] / l.size * r
	}
	for j, r := range rewards {
		square += n[j] / l.size * (r - mean) * (r - mean)
	}
	factor, _, _ := l.generalScale(square) // 0 where all rewards are equal
	for j, r := range rewards {
		to, other := &l.parts[j], &l.parts[len(n)+j]
		y := l.baseline * factor * (r - mean)
		if y > 0 {
			to, other = other, to
		}
		to.Count, to.Advantage, other.Count = n[j], y, 0
	}
}

// sum sets the sums over the compositions.
func (l *Composed) sum() {
	if slices.Equal(l.of, l.Old) {
		return
	}
	size := 2 * len(l.Values(l.Old))
	l.of, l.line, l.square = slices.Clone(l.Old), make([]float64, size), make([]float64, size)
	l.pairs, l.counts = Square(size), Square(size)
	for chance, parts := range l.Given {
		for j := range parts {
			part := &parts[j]
			if part.Count == 0 {
				continue
			}
			y := chance * part.Count / l.size * part.Advantage
			l.line[j] += y
			l.square[j] += y * part.Advantage / l.size
			for k := range parts {
				if share := parts[k].Count / l.size; share > 0 {
					l.counts[j][k] += y * share
					l.pairs[j][k] += y * share * parts[k].Advantage
				}
			}
			l.counts[j][j] -= y / l.size
			l.pairs[j][j] -= y * part.Advantage / l.size
		}
	}
}

// Mean writes Σ_j E[t_j] v_aj, v_aj = w_a α_aj.
func (l *Composed) Mean(dst []float64) {
	l.sum()
	clear(dst)
	for j, part := range l.parts {
		for a, p := range part.Arms {
			dst[a] += l.line[j] * part.Weights[a] * p
		}
	}
}

// Covariance is that of Law,
//
//	E[c^R_a c^R_b] = Σ_jk E[t_j t_k] v_aj v_bk + Σ_j E[t_j y_j] v_aj (δ_ab w_b − v_bj)/G
//	E[c^R_a c^K_b] = κ_b {Σ_jk E[t_j n_k/G] v_aj α_bk + Σ_j E[t_j] v_aj (δ_ab − α_bj)/G}.
func (l *Composed) Covariance(reward, cross, _ [][]float64) {
	mean := make([]float64, len(l.arms))
	l.Mean(mean)
	for a, f := range mean {
		for b, g := range mean {
			reward[a][b] = -f * g
			cross[a][b] = -f * l.Kappa[b] * l.Old[b]
		}
	}
	for j, part := range l.parts {
		for a, p := range part.Arms {
			v := part.Weights[a] * p
			if v == 0 {
				continue
			}
			for k, other := range l.parts {
				for b, q := range other.Arms {
					reward[a][b] += l.pairs[j][k] * v * other.Weights[b] * q
					cross[a][b] += l.counts[j][k] * v * l.Kappa[b] * q
				}
			}
			reward[a][a] += l.square[j] * v * part.Weights[a]
			cross[a][a] += l.line[j] / l.size * v * l.Kappa[a]
		}
	}
}

// Stiffness is that of Law. A sample of arm b adds 1{a = b} − π_a to ∂ log P/∂θ_a, so that
//
//	∂E[c^R_a]/∂θ_old,b = Cov(c^R_a, n_b)   at given weights.
func (l *Composed) Stiffness(fresh, stale [][]float64) (known bool) {
	arms, kappa := len(l.arms), l.Kappa
	mean, slope := make([]float64, arms), Square(arms)
	l.Kappa = slices.Repeat([]float64{l.size}, arms)
	l.Covariance(Square(arms), slope, nil)
	l.Kappa = kappa
	l.Mean(mean)
	l.addStiffness(fresh, stale, 1, make([]float64, arms), mean)
	for a, row := range stale { // the rest
		row[a] += mean[a]
		for b := range row {
			row[b] -= slope[a][b] + mean[a]*l.Old[b] + l.Old[a]*mean[b]
		}
	}
	return true
}
