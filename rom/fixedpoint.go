package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// FixedPoints returns all fixed points found, by increasing expected reward
// (docs/theory.md §3). Without a penalty (β = 0) there is none.
//
// Where the mean force is u φ (rewards of two values, or G = ∞), E[g] = 0
// says φ m_a − βℓ_a is the same for all arms, or, with k3,
// π_ref,a = π_a(C − tm_a), t = φ/β. So all fixed points of any
// number of arms lie on the curve π ∝ π_ref e^{tm} (k3: π_ref/(C − tm)) at the
// zeros of βt − φ(π(t)), which a scan finds. Else (an expansion in 1/G) they
// are Newton's solutions from those zeros of the leading term.
func FixedPoints(p Params) []FixedPoint {
	f := fold(p.checked())
	return f.points(f.fixedPoints())
}

// Reached returns the fixed point that the on-policy mean field
// dθ/dt = E[g](θ, θ) reaches from the reference; false where it reaches none.
func Reached(p Params) (FixedPoint, bool) {
	f := fold(p.checked())
	logits := f.reached()
	if logits == nil {
		return FixedPoint{}, false
	}
	return f.points([][]float64{logits})[0], true
}

// points describes fixed points given by merged logits.
func (f *folded) points(all [][]float64) []FixedPoint {
	points := make([]FixedPoint, len(all))
	for i, merged := range all {
		theta := f.arms(merged)
		probs := make([]float64, len(theta))
		softmax(probs, theta)
		reward := 0.0
		for a, p := range probs {
			reward += p * f.Arms[f.class[a]].Mean
		}
		points[i] = FixedPoint{Logits: theta, Policy: probs, Reward: reward}
	}
	return points
}

// reached follows the flow of the merged bandit from the reference and returns
// the merged logits of its end, nil where it has none.
func (f *folded) reached() []float64 {
	all := f.fixedPoints()
	if len(all) == 0 {
		return nil
	}
	if len(f.Arms) == 2 {
		// In one dimension nothing can be passed over: the reward part pushes
		// from the reference towards the better arm, up to the first zero.
		return all[0]
	}
	m := newModel(&f.Params)
	end, converged := f.flow(m)
	reward := m.expected(end)
	if converged {
		return slices.MinFunc(all, func(a, b []float64) int {
			return compare(math.Abs(m.expected(a)-reward), math.Abs(m.expected(b)-reward))
		})
	}
	// The flow ran out of precision on its way up (a policy that all but one
	// arm have left): it ends in the next zero.
	for _, logits := range all {
		if m.expected(logits) >= reward {
			return logits
		}
	}
	return nil
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// expected returns J of the policy of the logits.
func (m *model) expected(logits []float64) float64 {
	softmax(m.now.probs, logits)
	return expected(m.Arms, m.now.probs)
}

// fixedPoints returns the merged logits of all fixed points, by increasing
// expected reward.
func (f *folded) fixedPoints() [][]float64 {
	if f.Strength == 0 {
		return nil
	}
	m := newModel(&f.Params)
	if !isFinite(m.reference) {
		return nil
	}
	c := newCurve(m)
	var all [][]float64
	for _, t := range c.zeros() {
		all = append(all, c.logits(t))
	}
	if m.kind() == Exact {
		return all
	}
	starts := append(all, slices.Clone(f.Reference))
	all = nil
	for _, start := range starts {
		end, ok := f.newton(m, start)
		if ok && !slices.ContainsFunc(all, func(other []float64) bool { return same(m, other, end) }) {
			all = append(all, end)
		}
	}
	slices.SortStableFunc(all, func(a, b []float64) int { return compare(m.expected(a), m.expected(b)) })
	return all
}

// same reports whether two solutions of Newton's method are one: their logits
// agree up to a shift.
func same(m *model, a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]-(a[0]-b[0])) > 1e-6 {
			return false
		}
	}
	return true
}

// curve is the one-dimensional family of policies on which the fixed points
// of a force u φ − β∇KL lie.
type curve struct {
	*model
	value     []float64 // m_a in units of the rewards' distance
	low, high float64   // of value
}

func newCurve(m *model) *curve {
	c := &curve{model: m, value: m.success}
	if c.value == nil {
		c.value = make([]float64, len(m.Arms))
		for a, arm := range m.Arms {
			c.value[a] = arm.Mean
		}
	}
	c.low, c.high = slices.Min(c.value), slices.Max(c.value)
	return c
}

// logits returns the policy at t: log π_ref + tm, or log π_ref − log(C − tm)
// with k3, C such that it is normalised.
func (c *curve) logits(t float64) []float64 {
	l := slices.Clone(c.reference)
	if c.KLEstimator != K3 {
		for a, v := range c.value {
			l[a] += t * (v - c.high)
		}
		return l
	}
	// With y = C − t max m: Σ π_ref/(y + t(max m − m_a)) = 1, falling in y, at
	// least 1 at the reference share of the best arms and at most 1 at y = 1.
	if t == 0 {
		return l
	}
	share := 0.0
	for a, v := range c.value {
		if v == c.high {
			share += math.Exp(c.reference[a])
		}
	}
	excess := func(y float64) float64 {
		sum := -1.0
		for a, v := range c.value {
			if at := y + t*(c.high-v); at > 0 { // 0: a best arm whose share underflows
				sum += math.Exp(c.reference[a]) / at
			}
		}
		return sum
	}
	y := share
	if at := excess(share); at > 0 {
		y = root(excess, share, 1, at)
	}
	if y == 0 {
		// The reference share of the best arms underflows. Their logits follow
		// from what the others leave: y = share/rest.
		rest, top := -excess(0), math.Inf(-1)
		for a, v := range c.value {
			if v == c.high {
				top = max(top, c.reference[a])
			}
		}
		sum := 0.0
		for a, v := range c.value {
			if v == c.high {
				sum += math.Exp(c.reference[a] - top)
			}
		}
		y := top + math.Log(sum) - math.Log(max(rest, math.SmallestNonzeroFloat64)) // its logarithm
		for a, v := range c.value {
			if v == c.high {
				l[a] -= y
			} else {
				l[a] -= math.Log(t * (c.high - v))
			}
		}
		return l
	}
	for a, v := range c.value {
		l[a] -= math.Log(y + t*(c.high-v))
	}
	return l
}

// factor returns φ at t: of the leading term where the force is an expansion.
func (c *curve) factor(t float64) float64 {
	softmax(c.now.probs, c.logits(t))
	if c.success != nil {
		return c.phi(chances(c.now.probs, c.success))
	}
	copy(c.past.probs, c.now.probs)
	c.prepare()
	variance := 0.0
	for a, p := range c.past.probs {
		variance += p * c.states[a].full(2)
	}
	f, _, _ := c.generalScale(variance)
	return f
}

// scanStep is the step of the scan in units of log-odds, and scanRatio the
// growth of the step where the policy no longer varies on that scale. A pair
// of zeros closer than that shows as an extremum and is found too.
const (
	scanStep  = 0.25
	scanRatio = 1.05
)

// zeros returns all t ≥ 0 with βt = φ(t), increasing.
func (c *curve) zeros() []float64 {
	spread := c.high - c.low
	if spread == 0 {
		return []float64{0} // the rewards do not tell the arms apart: the reference
	}
	if c.Scale == Unscaled {
		return []float64{c.factor(0) / c.Strength}
	}
	end := math.Inf(1) // φ is largest, at finite G, for one success or one failure
	if c.success != nil && c.GroupSize != Infinite {
		end = c.baseline * (1 - 1/c.size) * c.informative(0) / c.Strength
	} else if c.Epsilon > 0 {
		end = c.baseline / (c.Epsilon * c.Strength)
	}
	end *= 1 + 1e-9
	// Log-odds vary on the scale 1 until the reference's preferences are
	// overcome and the rest is below rounding.
	linear := (60 + slices.Max(c.reference) - slices.Min(c.reference)) / spread
	step := max(scanStep/spread, linear/4000)
	step = max(min(step, end/64), math.SmallestNonzeroFloat64)
	gap := func(t float64) float64 { return c.Strength*t - c.factor(t) }

	var zeros []float64
	var ts, values [3]float64 // the last three points of the scan
	n := 0
	visit := func(t float64) (more bool) {
		if math.IsInf(t, 1) {
			return false
		}
		factor := c.factor(t)
		if factor == 0 || math.IsInf(factor, 0) {
			// At G = ∞ no reward varies any more to rounding, where φ → ∞.
			return false
		}
		ts[0], ts[1], values[0], values[1] = ts[1], ts[2], values[1], values[2]
		ts[2], values[2] = t, c.Strength*t-factor
		n++
		if n >= 2 && (values[1] < 0) != (values[2] < 0) {
			zeros = append(zeros, root(gap, ts[1], ts[2], values[1]))
		} else if n >= 3 && (values[0] < 0) == (values[1] < 0) {
			// All on one side, the middle the nearest to zero: do they touch it?
			side := math.Copysign(1, values[1])
			if side*values[1] < side*values[0] && side*values[1] < side*values[2] {
				top, value := golden(func(t float64) float64 { return -side * gap(t) }, ts[0], ts[2])
				if value > 0 {
					zeros = append(zeros, root(gap, ts[0], top, values[0]), root(gap, top, ts[2], -side*value))
				}
			}
		}
		return true
	}
	t := 0.0
	for ; t < min(linear, end); t += step {
		if !visit(t) {
			return zeros
		}
	}
	for ; t < end; t *= scanRatio {
		if !visit(t) {
			return zeros
		}
		if math.IsInf(end, 1) && 2*values[2] > c.Strength*t {
			return zeros // φ < βt/2 where it no longer grows: the penalty has won
		}
	}
	visit(end)
	return zeros
}

// newton solves E[g](θ, θ) = 0 from start by Newton's method with halving; ok
// where the last step is below 1e-11.
func (f *folded) newton(m *model, start []float64) (logits []float64, ok bool) {
	logits = slices.Clone(start)
	force := make([]float64, len(logits))
	size := func(at []float64) float64 {
		m.set(at, at)
		m.meanForce(force)
		return norm(force)
	}
	residual := size(logits)
	for range 100 {
		step := f.implicitStep(m, logits, math.Inf(1))
		if step == nil {
			return nil, false
		}
		length := norm(step)
		trial := slices.Clone(logits)
		for scale := 1.0; ; scale /= 2 {
			for a := range trial {
				trial[a] = logits[a] + scale*step[a]
			}
			if next := size(trial); next <= residual || length < 1e-9 {
				residual = next
				break
			}
			if scale < 1e-6 {
				return nil, false
			}
		}
		copy(logits, trial)
		if length < 1e-11 {
			return logits, true
		}
	}
	return nil, false
}

func norm(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// implicitStep returns the linearly implicit Euler step of length h of the
// merged flow dϑ_c/dt = g_c/n_c: (D_n/h + Λ)δ = g, with the shift nᵀδ = 0;
// Newton's step at h = ∞. nil where the matrix is singular.
func (f *folded) implicitStep(m *model, logits []float64, h float64) []float64 {
	n := len(logits)
	fresh, stale := m.stiffness(logits)
	fresh.Add(fresh, stale)
	largest := 0.0
	for a := range n {
		largest = max(largest, math.Abs(fresh.At(a, a)))
	}
	total := 0.0
	for _, c := range f.count {
		total += c
	}
	for a, na := range f.count {
		for b, nb := range f.count {
			fresh.Set(a, b, fresh.At(a, b)+(largest+total/h)*na*nb/(total*total))
		}
		fresh.Set(a, a, fresh.At(a, a)+na/h)
	}
	force := make([]float64, n)
	m.meanForce(force)
	var step mat.VecDense
	if err := step.SolveVec(fresh, mat.NewVecDense(n, force)); err != nil {
		if _, poor := err.(mat.Condition); !poor || math.IsInf(float64(err.(mat.Condition)), 1) {
			return nil
		}
	}
	for _, x := range step.RawVector().Data {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	}
	return step.RawVector().Data
}

// flow integrates the on-policy mean field from the reference by linearly
// implicit Euler steps, whose length a comparison with two half steps keeps to
// an error of flowError; as the force vanishes they grow into Newton's.
func (f *folded) flow(m *model) (logits []float64, converged bool) {
	const flowError = 1e-3
	logits = slices.Clone(f.Reference)
	h := 1.0
	for range 5000 {
		whole := f.implicitStep(m, logits, h)
		half := f.implicitStep(m, logits, h/2)
		if whole == nil || half == nil {
			return logits, false
		}
		middle := slices.Clone(logits)
		for a, x := range half {
			middle[a] += x
		}
		rest := f.implicitStep(m, middle, h/2)
		if rest == nil {
			return logits, false
		}
		miss, length := 0.0, 0.0
		for a, x := range rest {
			miss = max(miss, math.Abs(half[a]+x-whole[a]))
			length = max(length, math.Abs(half[a]+x))
		}
		if miss > flowError {
			h /= 2
			continue
		}
		for a, x := range rest {
			logits[a] = middle[a] + x
		}
		if math.IsInf(h, 1) || h > 1e12 && length < 1e-10 {
			return logits, length < 1e-10
		}
		if miss < flowError/4 {
			h *= 2
		}
	}
	return logits, false
}
