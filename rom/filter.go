package rom

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/fp"
)

// differ returns P = 1 − J^G − (1−J)^G, the probability that the rewards of a group are not
// all equal, and its derivative G((1−J)^{G−1} − J^{G−1}) in J = j, rest = 1 − J.
func (m *model) differ(j, rest float64) (p, slope float64) {
	small := min(j, rest)
	p = -math.Expm1(m.size*math.Log1p(-small)) - math.Pow(small, m.size)
	return p, m.size * (math.Pow(rest, m.size-1) - math.Pow(j, m.size-1))
}

// filterFactor returns what a filter of groups of equal rewards multiplies φ by, and the
// derivative of that in J (docs/theory-trainers.md §11.3): 1/P where they are redrawn; where they are
// dropped (1 − (1−P)^B)/P, of the mean of those that are left, or 0, which is B for P → 0.
func (m *model) filterFactor(j, rest float64) (factor, slope float64) {
	if m.Filter == option.KeepAll {
		return 1, 0
	}
	p, dp := m.differ(j, rest)
	if m.Filter == option.Redraw {
		return 1 / p, -dp / p / p
	}
	if p == 0 {
		return float64(m.GroupsPerStep), 0
	}
	b := float64(m.GroupsPerStep)
	some := -math.Expm1(b * math.Log1p(-p))
	return some / p, dp * (b*math.Pow(1-p, b-1) - some/p) / p
}

// successes returns the law of the number S of successes of a group that exerts a force, as
// binomial: Binomial(G, J), given 0 < S < G where a filter leaves no others.
func (m *model) successes(j, rest float64) (first, stride int, weights []float64) {
	first, stride, weights = binomial(m.GroupSize, j, rest, m.weights)
	m.weights = weights
	if m.Filter == option.KeepAll {
		return first, stride, weights
	}
	sum := 0.0
	for i := range weights {
		if s := first + i*stride; s == 0 || s == m.GroupSize {
			weights[i] = 0
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return first, stride, weights
}

// kept returns the probabilities 1 − J^{G−1} and 1 − (1−J)^{G−1} that the rewards of a group
// differ, given that one sample of it is a success or a failure.
func (m *model) kept(j, rest float64) (success, failure float64) {
	if rest < j {
		return -math.Expm1((m.size - 1) * math.Log1p(-rest)), -math.Expm1((m.size - 1) * math.Log(rest))
	}
	return -math.Expm1((m.size - 1) * math.Log(j)), -math.Expm1((m.size - 1) * math.Log1p(-j))
}

// sampleShares writes the expected share of each arm among the samples of a step: π_old,
// where groups are redrawn π_a[m_a(1 − J^{G−1}) + (1−m_a)(1 − (1−J)^{G−1})]/P.
func (m *model) sampleShares(dst []float64) {
	copy(dst, m.past.probs)
	if m.Filter != option.Redraw {
		return
	}
	j, rest := chances(m.past.probs, m.success)
	if j <= 0 || rest <= 0 {
		return
	}
	p, _ := m.differ(j, rest)
	success, failure := m.kept(j, rest)
	for a, s := range m.success {
		dst[a] *= (s*success + (1-s)*failure) / p
	}
}

// dropped turns the covariance v of a group that exerts a force, of the mean f, into B times
// that of the mean of the n groups that are left of B: with W = P(n ≥ 1),
//
//	E[1/n; n ≥ 1] v + W(1−W) f fᵀ
func (m *model) dropped(v [][]float64, f []float64, p float64) {
	first, stride, weights := binomial(m.GroupsPerStep, p, 1-p, nil)
	inverse := 0.0
	for i, w := range weights {
		if n := first + i*stride; n > 0 {
			inverse += w / float64(n)
		}
	}
	b := float64(m.GroupsPerStep)
	none := math.Pow(1-p, b)
	for a, row := range v {
		for c := range row {
			row[c] = b * (inverse*row[c] + none*(1-none)*f[a]*f[c])
		}
	}
}

// resamples reports whether groups are redrawn under a sampled KL gradient, whose mean then
// depends on the rewards.
func (m *model) resamples() bool {
	return m.Filter == option.Redraw && m.KL.Coefficient > 0 && (m.KL.In == option.InAdvantage || m.KL.In == option.InLoss && m.KL.Gradient != option.ExactKL)
}

// redrawnEnd is the log-odds of J up to which redrawnCurve varies, but for digits beyond those
// of floating point; redrawnLinear is that up to which it is scanned in equal steps.
const (
	redrawnEnd    = 400
	redrawnLinear = 60
)

// redrawnCurve returns log π of the only policy at which the force of redrawn groups with a
// sampled KL gradient can vanish if its expected reward is J, of log-odds s within the range of
// the m_a, and the log-odds of its own expected reward, which are s at a fixed point
// (docs/theory-trainers.md §11.3). With k_a = m_a(1−J^{G−1}) + (1−m_a)(1−(1−J)^{G−1}) the force vanishes
// if, of all arms,
//
//	φ_G (m_a − J) − βκ_a k_a − αP log π_a/n_a = C,
//
// κ = ℓ (1 − e^{−ℓ} with k3, 1 with k1, ℓ + 1 with ratio-k1), which gives π_a(C); the sum of
// all is 1 at one C.
func (m *model) redrawnCurve(s float64) (logs []float64, odds float64) {
	low, high := slices.Min(m.success), slices.Max(m.success)
	s = max(-redrawnEnd, min(s, redrawnEnd))
	up, down := 1/(1+fp.Exp(-s)), 1/(1+fp.Exp(s))
	j, rest := up*high+down*low, up*(1-high)+down*(1-low)
	phi := m.phiOfAll(j, rest)
	p, _ := m.differ(j, rest)
	success, failure := m.kept(j, rest)
	k3 := m.KL.Gradient == option.K3 && m.KL.In == option.InLoss
	push := 0.0 // the part of κ that does not depend on π
	if m.KL.In == option.InLoss && (m.KL.Gradient == option.K1 || m.KL.Gradient == option.RatioK1) {
		push = m.KL.Coefficient
	}
	arms := len(m.success)
	// log π_a = −(C − from_a)/slope_a; with k3 π_a = π_ref,a slope_a/(C − from_a).
	from, slope := make([]float64, arms), make([]float64, arms)
	for a, v := range m.success {
		k := v*success + (1-v)*failure
		from[a] = phi*(v*rest-(1-v)*j) - push*k
		slope[a] = m.restoring() * k
		if k3 {
			from[a] -= slope[a]
			continue
		}
		from[a] += slope[a] * m.reference[a]
		if m.uniform != nil {
			from[a] += m.Entropy * p * m.uniform[a]
		}
		slope[a] += m.Entropy * p
	}
	top := 0
	for a, x := range from {
		if x > from[top] {
			top = a
		}
	}
	// Newton's method for log Σπ = 0, which is convex in C, from where top has π = 1: at
	// C = from_top + x, or with k3, of which π_ref,top may be tiny, from_top + π_ref,top slope_top x.
	logs = make([]float64, arms)
	unit, x := 1.0, 0.0
	if k3 {
		unit, x = fp.Exp(m.reference[top])*slope[top], 1
	}
	for range 100 {
		for a := range logs {
			switch gap := from[top] - from[a]; {
			case !k3:
				logs[a] = -(gap + x) / slope[a]
			case gap == 0:
				logs[a] = m.reference[a] - m.reference[top] + math.Log(slope[a]/slope[top]) - math.Log(x)
			default:
				logs[a] = m.reference[a] + math.Log(slope[a]) - math.Log(gap+unit*x)
			}
		}
		sum, fall := softmax(m.y, logs), 0.0
		for a, p := range m.y {
			switch gap := from[top] - from[a]; {
			case !k3:
				fall += p / slope[a]
			case gap == 0:
				fall += p / x
			default:
				fall += p * unit / (gap + unit*x)
			}
		}
		if next := x + sum/fall; sum > 0 && next > x {
			x = next
			continue
		}
		break
	}
	above, below := from, slope
	for a, v := range m.success {
		above[a], below[a] = logs[a]+math.Log(v-low), logs[a]+math.Log(high-v)
	}
	return logs, softmax(m.y, above) - softmax(m.y, below)
}

// redrawnPoints returns the logits of all fixed points of redrawn groups with a sampled KL
// gradient, by increasing J. As the log-odds of redrawnCurve are bounded there is at least one,
// unless the KL gradient is that of k1 beside an entropy bonus.
func (m *model) redrawnPoints() [][]float64 {
	if slices.Min(m.success) == slices.Max(m.success) {
		return [][]float64{m.target}
	}
	gap := func(s float64) float64 {
		_, odds := m.redrawnCurve(s)
		return odds - s
	}
	z := scan{f: gap}
	reach := 2.0 * redrawnEnd
	for _, end := range []float64{-redrawnEnd, redrawnEnd} {
		if _, odds := m.redrawnCurve(end); m.restoring() > 0 {
			reach = max(reach, 2*math.Abs(odds))
		}
	}
	for s := -reach; s < reach; s += max(scanStep, (scanRatio-1)*(math.Abs(s)-redrawnLinear)) {
		z.visit(s, gap(s))
	}
	z.visit(reach, gap(reach))
	var all [][]float64
	for _, s := range z.zeros {
		if logs, _ := m.redrawnCurve(s); isFinite(logs) {
			all = append(all, logs)
		}
	}
	return all
}
