package group

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/weight"
)

// LeastExpanded is the least size of a group whose rewards of many values are expanded with the std
// scale. Below it, the 1/G that is left out of a variance is above a quarter of it.
const LeastExpanded = 8

// mostCompositions is the largest number of compositions of a group times arms that is summed. With
// fastCompositions of them a prediction takes seconds.
const (
	mostCompositions = 10_000
	fastCompositions = 700
)

// Composed is the law of a group whose rewards take few values, by exact sums over its compositions.
// A composition says how many samples have each of the values (docs/theory.md §2). Where these are
// too many with the KL in rewards of two values, groups with both are approximated, see vary.
type Composed struct {
	Expanded         // for what does not depend on the order in 1/G
	parts    []Part  // the values with negative advantages, then those with positive ones
	summed   [][]int // sets of values of which all compositions are summed; two with vary

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

// Composing returns the law of a group by its compositions where it is that; else nil. It is where
// the expansion is not exact, and these are few or have to serve. They have to in groups below
// LeastExpanded, and under weights that depend on the sign of an advantage.
func Composing(arms []option.Arm, e *option.Estimator, s *Samples) *Composed {
	if e.KL.OfReward() {
		return nil
	}
	l, must := Compose(arms, e, s), e.GroupSize < LeastExpanded || weight.Signed(&e.Importance)
	if l == nil || !must && l.compositions(l.summed[0]) > fastCompositions {
		return nil
	}
	return l
}

// Compose returns that law at any G, also with the KL in the rewards; nil where there is none.
func Compose(arms []option.Arm, e *option.Estimator, s *Samples) *Composed {
	exact := e.Advantage.Scale == option.NoScale && !weight.BySign(&e.Importance)
	if exact || e.GroupSize == option.Infinite ||
		slices.ContainsFunc(arms, func(arm option.Arm) bool { return outcomes(arm) == nil }) {
		return nil
	}
	l, sides := &Composed{Expanded: *NewExpanded(arms, e, s)}, make([][]int, 3)
	few := func(values []int) bool { return l.compositions(values) <= mostCompositions }
	success, span := TwoValued(arms)
	for _, t := range l.listed() {
		if !slices.Contains(sides[2], t.value) {
			sides[2] = append(sides[2], t.value)
		}
		side := int(math.Round((t.reward - l.takes[0].reward) / span))
		sides[side&1] = append(sides[side&1], t.value)
	}
	switch {
	case few(sides[2]):
		l.summed = sides[2:]
	case success == nil || !e.KL.OfReward() || e.GroupSize*len(arms)*len(arms) > mostCompositions,
		len(sides[1]) == 0 || !few(sides[0]) || !few(sides[1]):
		return nil
	default:
		l.summed = sides[:2]
	}
	return l
}

// compositions returns the number of compositions of a group of these values, times arms.
func (l *Composed) compositions(values []int) float64 {
	all := float64(len(l.arms))
	for j := range values[1:] {
		all *= (l.size + float64(j+1)) / float64(j+1)
	}
	return all
}

func (l *Composed) Exact() bool { return len(l.summed) == 1 }

// LeftOut has what vary leaves out where shifts differ by d of the range of the rewards: 2d² of the
// force and d of the noise.
func (l *Composed) LeftOut() (mean, noise float64) {
	if _, span := TwoValued(l.arms); !l.Exact() {
		noise = (slices.Max(l.Shift) - slices.Min(l.Shift)) / span
	}
	return 2 * noise * noise, noise
}

// Given yields the compositions with their probabilities. The next one overwrites it.
func (l *Composed) Given(yield func(chance float64, parts []Part) bool) {
	chances := l.Values(l.Old)
	n, rewards := make([]float64, l.values), make([]float64, l.values)
	arms := Zeros(l.values, len(l.arms))
	for _, t := range l.listed() {
		rewards[t.value] = t.reward + l.Shift[t.arm]
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
	visit := func(chance float64) (more bool) {
		l.weigh(n, rewards)
		return chance == 0 || yield(chance, l.parts)
	}
	var fill func(values []int, left, chance float64) (more bool)
	fill = func(values []int, left, chance float64) (more bool) {
		j := values[0]
		if len(values) == 1 {
			n[j] = left
			return visit(chance * fp.Pow(chances[j], left))
		}
		for k := 0.0; k <= left; k++ {
			n[j] = k
			if !fill(values[1:], left-k, chance) {
				return false
			}
			chance *= (left - k) / (k + 1) * chances[j]
		}
		return true
	}
	for _, values := range l.summed {
		if clear(n); !fill(values, l.size, 1) {
			return
		}
	}
	if !l.Exact() {
		l.vary(n, chances, visit)
	}
}

// vary visits nodes for the groups with both rewards, n samples of the values with probabilities p.
// Let p of the N successes have the sum 1, and those of the failures too. Successes stay at n = Np
// while the failures go through the nodes, then the other way about:
//
//	n = (N − √N) p + √N e_k   with the weights p_k, which have the covariance of their law.
func (l *Composed) vary(n, p []float64, visit func(weight float64) (more bool)) {
	place := func(side int, total float64) (sum float64) {
		for _, v := range l.summed[side] {
			sum += p[v]
		}
		for _, v := range l.summed[side] {
			n[v] = total * p[v] / sum
		}
		return sum
	}
	law := NewBinomial(l.e.GroupSize, place(1, 1), place(0, 1), nil)
	for i, w := range law.Weights {
		counts := [2]float64{l.size - float64(law.At(i)), float64(law.At(i))}
		if w*counts[0]*counts[1] == 0 {
			continue
		}
		place(0, counts[0])
		place(1, counts[1])
		more := visit(-w)
		for side, values := range l.summed {
			root := math.Sqrt(counts[side])
			for _, k := range values {
				sum := place(side, counts[side]-root)
				n[k] += root
				more = more && visit(w*p[k]/sum)
			}
			place(side, counts[side])
		}
		if !more {
			return
		}
	}
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
	factor, _, _ := l.generalScale(square - 1e-28*mean*mean) // 0 where all are equal but for rounding
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
