package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// This file has the sums by arm of the groups of a step, which the state of runs holds where all steps of a
// block use the same groups (docs/theory-neglected.md §6.4). With the mean advantages c⁺ and c⁻ of the samples with A > 0 and A < 0 and
// their share n by arm, the force of given groups is linear in these sums,
//
//	g = (I − π1ᵀ)(w⁺∘c⁺ + w⁻∘c⁻) − β(I − π_K1ᵀ)(κ∘n) + what does not depend on the samples
//
// Where w⁺ = w⁻ at every ratio c⁺ + c⁻ is one sum, and n is needed for a sampled KL gradient only.

// keepsGroups reports whether several steps use the same groups.
func (p *Params) keepsGroups() bool {
	return p.Samples == option.Reused && linear.NewLag(&p.Lag).Period() > 1
}

// sums returns the number of sums in which the force of the groups of a step is linear: A, 2A or 3A.
func (p *Params) sums() int {
	n := len(p.Arms)
	if weight.BySign(&p.Importance) {
		n += len(p.Arms)
	}
	if p.KL.Sampled() {
		n += len(p.Arms)
	}
	return n
}

// bySums returns the derivative of the force by the sums at the state that is set, in reduced coordinates of the logits with
// the basis q: n rows.
func bySums(m *model, q *mat.Dense) [][]float64 {
	arms, n := q.Dims()
	rows, now, at := group.Zeros(n, m.sums()), reduce(q, m.now.probs), reduce(q, m.anchor().probs)
	for i, row := range rows {
		for a := range arms {
			row[a] = m.Up[a] * (q.At(a, i) - now[i])
			if weight.BySign(&m.Importance) {
				row[arms+a] = m.Down[a] * (q.At(a, i) - now[i])
			}
			if m.KL.Sampled() {
				row[len(row)-arms+a] = -m.KL.Coefficient * m.Kappa[a] * (q.At(a, i) - at[i])
			}
		}
	}
	return rows
}

// sumsCovariance returns the covariance of the sums for groups drawn from the π_old that is set. The law of a group has that
// of Σ_s w^s∘c^s for any weights, so that with X_st = Cov(c^s, c^t) those of four choices of weights,
//
//	X_++,   X_−−,   X_++ + X_−− − (X_+− + X_−+),   X_++ + δX_−−δ + X_+−δ + δX_−+      δ = diag(a/A)
//
// give all: X_+− is the transpose of X_−+.
func sumsCovariance(m *model) *mat.SymDense {
	samples := *m.Samples
	defer func() { m.Up, m.Down, m.Kappa = samples.Up, samples.Down, samples.Kappa }()
	arms := len(m.Arms)
	ones, zeros, minus, delta := make([]float64, arms), make([]float64, arms), make([]float64, arms), make([]float64, arms)
	for a := range arms {
		ones[a], minus[a], delta[a] = 1, -1, float64(a)/float64(arms)
	}
	m.Kappa = ones
	of := func(up, down []float64) (reward, cross, penalty [][]float64) {
		m.Up, m.Down = up, down
		reward, cross, penalty = group.Square(arms), group.Square(arms), group.Square(arms)
		m.law.Covariance(reward, cross, penalty)
		if !m.Resamples() {
			m.countCovariance(penalty)
		}
		return reward, cross, penalty
	}
	size := m.sums()
	factor := m.Factors.Noise / float64(m.GroupsPerStep)
	all := mat.NewSymDense(size, nil)
	put := func(row, column int, x [][]float64) {
		for a := range arms {
			for b := range arms {
				if row+a <= column+b {
					all.SetSym(row+a, column+b, factor*x[a][b])
				}
			}
		}
	}
	signs := [][][]float64{{ones, ones}}
	if weight.BySign(&m.Importance) {
		signs = [][][]float64{{ones, zeros}, {zeros, ones}}
	}
	var own [][][]float64
	for s, w := range signs {
		reward, cross, penalty := of(w[0], w[1])
		own = append(own, reward)
		put(s*arms, s*arms, reward)
		if m.KL.Sampled() {
			put(s*arms, size-arms, cross)
			put(size-arms, size-arms, penalty)
		}
	}
	if len(signs) == 2 {
		opposite, _, _ := of(ones, minus)
		graded, _, _ := of(ones, delta)
		mixed := group.Square(arms)
		for a := range arms {
			for b := range arms {
				both := own[0][a][b] + own[1][a][b] - opposite[a][b] // X_+− + X_−+
				if mixed[a][b] = both / 2; a != b {
					weighted := graded[a][b] - own[0][a][b] - delta[a]*delta[b]*own[1][a][b]
					mixed[a][b] = (weighted - delta[a]*both) / (delta[b] - delta[a])
				}
			}
		}
		put(0, arms, mixed)
	}
	return all
}

// tilt is the change along an axis of the law of the policies of the derivative of the force by the sums: its first and its second derivative.
type tilt struct {
	axis       []float64
	rise, bend [][]float64
}

// tilt adds the tilt along an axis, of the variance v over which the derivative is averaged, with the derivative up and down at a distance r from where it is middle.
func (l *localForce) tilt(axis []float64, up, middle, down [][]float64, r, v float64) {
	t := tilt{slices.Clone(axis), group.Zeros(len(up), len(up[0])), group.Zeros(len(up), len(up[0]))}
	for i := range up {
		for j := range up[i] {
			t.rise[i][j] = (up[i][j] - down[i][j]) / (2 * r)
			t.bend[i][j] = (up[i][j] + down[i][j] - 2*middle[i][j]) / (r * r)
			l.bySums[i][j] += 0.5 * v * t.bend[i][j]
		}
	}
	l.tilts = append(l.tilts, t)
}

// tiltJump adds the tilt of a derivative by the sums that jumps by so much, row by row, in a share of the runs: more of it than in the middle, with the
// first and second derivative of the share along an axis.
func (l *localForce) tiltJump(axis, by []float64, more, slope, bend float64) {
	kept := len(l.bySums[0])
	t := tilt{axis, group.Zeros(len(l.bySums), kept), group.Zeros(len(l.bySums), kept)}
	for i, row := range l.bySums {
		jump := by[i*kept : (i+1)*kept]
		floats.AddScaled(row, more, jump)
		floats.AddScaled(t.rise[i], slope, jump)
		floats.AddScaled(t.bend[i], bend, jump)
	}
	l.tilts = append(l.tilts, t)
}

// oneSample returns how far one sample of each arm moves the policy and its snapshot in a block of K steps from step t on, with the policy
// old: in the block that uses it, the policy alone, and after it both. With c^± the mean advantages of the N samples with A > 0 or A < 0,
// a sample of a rare arm has, in the mean over the squares of A, A/N = Var c^±_a / E c^±_a, and moves the logits by ηK/(1−μ) A/N (e_a − π),
// with the weight π/π_old carried times as far.
func (s *spread) oneSample(t int, old []float64) (kicks [][]float64) {
	arms, n := s.q.Dims()
	way := rateAt(&s.Optimizer, t) * float64(s.past.period) / (1 - s.Optimizer.Momentum) / float64(s.GroupsPerStep)
	s.set(old, old)
	policy, mean := reduce(s.q, s.now.probs), make([]float64, arms)
	for sign := range 2 {
		for a := range arms {
			s.Up[a], s.Down[a] = float64(1-sign), float64(sign)
		}
		square, cross, penalty := group.Square(arms), group.Square(arms), group.Square(arms)
		s.law.Mean(mean)
		s.law.Covariance(square, cross, penalty)
		for a, x := range mean {
			if x == 0 {
				continue
			}
			size := way * square[a][a] / x // in logits
			if s.Importance.Mode == option.Ratio {
				size *= carried(2*math.Abs(size), s.past.period)
			}
			block, both := make([]float64, 2*n), make([]float64, 2*n)
			for k := range n {
				x := size * (s.q.At(a, k) - policy[k])
				block[k], both[k], both[n+k] = x, x, x
			}
			kicks = append(kicks, block, both)
		}
	}
	return kicks
}

// carried returns by how much farther in a block of K steps one sample of a rare arm takes the log of its ratio ρ than
// by its first use, K times: u_K/x with u′ = u + (x/K)e^u from u = 0, x = 2ηKA/(N(1−μ)) (docs/theory-trainers.md §7), −ln(1−x)/x for K → ∞. It is at
// most mostCarried/x.
func carried(x float64, steps int) float64 {
	if x == 0 {
		return 1
	}
	u, step := 0.0, x/float64(steps)
	for range steps {
		u = min(u+step*fp.MathExp(u), mostCarried)
	}
	return u / x
}

// mostCarried is the log of a ratio beyond which no arm is rare any more.
const mostCarried = 100

// flips reports whether a sample with the largest advantage carries a rare arm, by the weight π/π_old, at least twice as far in a
// block as K times its first use, which is so from x = 0.8 (K → ∞) to 2.2 (K = 2) on.
func flips(p *Params) bool {
	if !p.keepsGroups() || p.GroupSize == option.Infinite || p.Importance.Mode != option.Ratio {
		return false
	}
	x := 2 * p.Optimizer.LearningRate * float64(p.Lag.Interval) * largestAdvantage(p) / (float64(p.GroupSize*p.GroupsPerStep) * (1 - p.Optimizer.Momentum))
	return carried(x, p.Lag.Interval) >= 2
}

// largestAdvantage returns the largest advantage of a sample: √(n−1) if they are divided by the standard deviation of n rewards, n − 1
// by their mean, and without a scale the span of the rewards, of normal ones within three standard deviations.
func largestAdvantage(p *Params) float64 {
	size, low, high := float64(p.GroupSize), math.Inf(1), math.Inf(-1)
	if p.Advantage.Scale.OfStep() {
		size *= float64(p.GroupsPerStep)
	}
	for _, arm := range p.Arms {
		below, above, ok := group.Support(arm)
		if !ok {
			below, above = arm.Mean-3*arm.Std, arm.Mean+3*arm.Std
		}
		low, high = min(low, below), max(high, above)
	}
	switch p.Advantage.Scale {
	case option.NoScale:
		return high - low
	case option.MeanScale, option.BatchMean:
		return size - 1
	}
	return math.Sqrt(size - 1)
}
