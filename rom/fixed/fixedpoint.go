// Package fixed has the fixed points of the mean force, and which of them runs come to.
//
//  1. Fold merges equal arms: what is symmetric under their exchange follows from the classes.
//  2. Points finds all fixed points, on the one-dimensional curve of policies on which they lie or by
//     Newton's method.
//  3. Destination, and Folded.Reached by classes, follow the on-policy mean field from the start.
//  4. Refreshed is where a block without end converges to, on the same curve.
package fixed

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Point is a solution of E[g](θ, θ) = 0.
type Point struct {
	Logits []float64 `json:"logits"`          // one per arm, centred: they sum to 0
	Policy []float64 `json:"policy"`          // probabilities, one per arm
	Reward float64   `json:"expected_reward"` // J*, in units of reward
}

// Points returns all fixed points found, by increasing expected reward.
func Points(p cell.Params) []Point {
	f := Fold(p.Checked())
	all := f.fixedPoints()
	if len(all) == 0 {
		if logits := f.Reached(); logits != nil {
			all = append(all, logits)
		}
	}
	return f.Points(all)
}

// Destination returns the centred logits of all arms at the fixed point that the on-policy mean
// field of p reaches from its start, whatever the stiffness there; nil: it reaches none.
func Destination(p cell.Params) []float64 {
	f := Fold(p)
	if !f.Representable() {
		return nil
	}
	merged := f.Reached()
	if merged == nil {
		return nil
	}
	return f.Unfold(merged)
}

// Points returns the fixed points, arm by arm, whose merged logits are given.
func (f *Folded) Points(all [][]float64) []Point {
	points := make([]Point, len(all))
	for i, merged := range all {
		theta := f.Unfold(merged)
		probs := cell.PolicyAt(theta)
		reward := 0.0
		for a, p := range probs {
			reward += p * f.Arms[f.Class[a]].Mean
		}
		points[i] = Point{Logits: theta, Policy: probs, Reward: reward}
	}
	return points
}

// Reached follows the on-policy mean field of the merged bandit from its start and
// returns the merged logits of the fixed point it ends in, or nil, with the reason in
// because, if there is none.
func (f *Folded) Reached() []float64 {
	if f.Because = f.NotDerived(cell.FixedPointKnown, cell.MeanForceKnown); f.Because.Out() {
		return nil
	}
	m := force.New(&f.Params)
	start, followed := f.From(), len(f.Arms) > 2
	var end []float64
	converged := false
	// the end need not be one of those that Newton's method finds
	if followed && (!m.Factored() || f.sharesPull()) {
		if end, converged = f.flow(m, start); converged {
			return end
		}
	}
	all := f.fixedPoints()
	if len(all) == 0 {
		f.Because = scope.NotReached.Because()
		where := ""
		switch {
		case f.GroupSize == option.Infinite && f.Advantage.Scale == option.StdScale &&
			f.Advantage.Epsilon == 0 && m.Counts != nil:
			where = "at G = ∞" // φ → ∞ as the rewards become equal (docs/theory.md §3)
		case f.Filter == option.Redraw && slices.Max(m.Counts.Success) == 1 &&
			!(m.Resamples() && m.Restoring() > 0):
			// φ/P → ∞ as all rewards become 1 (docs/theory-trainers.md §11.3)
			where = "where groups of equal rewards are redrawn"
		default:
			return nil
		}
		if critical := f.criticalPenalty(); !math.IsInf(critical, 1) {
			f.Because = scope.NoPenalty.Because(
				fmt.Sprintf(" %s below the critical KL coefficient, %.2g", where, critical))
		}
		return nil
	}
	f.Because = scope.NotReached.Because()
	if !followed {
		// In one dimension the flow cannot pass a fixed point. From the reference a
		// common factor pushes towards the better arm, up to the first one.
		if f.Start == nil && m.Factored() && !m.Resamples() && !f.sharesPull() {
			return all[0]
		}
		return f.firstAhead(m, all)
	}
	if end == nil {
		end, converged = f.flow(m, start)
	}
	reward := m.Expected(end)
	nearest := slices.MinFunc(all, func(a, b []float64) int {
		return cmp.Compare(math.Abs(m.Expected(a)-reward), math.Abs(m.Expected(b)-reward))
	})
	if c := newCurve(m); converged || math.Abs(m.Expected(nearest)-reward) <= 1e-9*(c.high-c.low) {
		return nearest
	}
	// The flow ran out of precision while J was changing (the probabilities of all
	// arms except one have vanished). It ends in the next fixed point on its way.
	climb := reward - m.Expected(start)
	if climb == 0 {
		climb = f.climb(m, start)
	}
	return next(m, all, reward, climb)
}

// next returns the first of the fixed points, given by increasing J, from the expected
// reward on: upwards if climb ≥ 0, else downwards; nil if there is none.
func next(m *force.Model, all [][]float64, reward, climb float64) []float64 {
	var below []float64
	for _, logits := range all {
		j := m.Expected(logits)
		if climb >= 0 && j >= reward {
			return logits
		}
		if climb < 0 && j <= reward {
			below = logits
		}
	}
	return below
}

// climb returns dJ/dt = Σ_c π_c (m_c − J) g_c/n_c of the on-policy mean field.
func (f *Folded) climb(m *force.Model, logits []float64) float64 {
	reward := m.Expected(logits)
	m.Set(logits, logits)
	force := make([]float64, len(logits))
	m.MeanForce(force)
	sum := 0.0
	for c, g := range force {
		sum += m.Now.Probs[c] * (f.Arms[c].Mean - reward) * g / f.Count[c]
	}
	return sum
}

// firstAhead returns the first of the fixed points of two arms in the direction of the
// force at the start.
func (f *Folded) firstAhead(m *force.Model, all [][]float64) []float64 {
	start := f.From()
	m.Set(start, start)
	force := make([]float64, 2)
	m.MeanForce(force)
	push := force[0] - force[1]
	var first []float64
	least := math.Inf(1)
	for _, logits := range all {
		way := logits[0] - logits[1] - (start[0] - start[1])
		if (way == 0 || way > 0 == (push > 0)) && math.Abs(way) < least {
			first, least = logits, math.Abs(way)
		}
	}
	return first
}

// criticalPenalty returns the least KL coefficient with which there is a fixed point, where there
// is none with the present one, rounded up to two digits.
func (f *Folded) criticalPenalty() float64 {
	return LeastWithout(cmp.Or(f.KL.Coefficient, f.Pull()), func(coefficient float64) bool {
		other := *f
		other.KL.Coefficient = coefficient
		return len(other.fixedPoints()) == 0
	})
}

// fixedPoints returns the merged logits of all fixed points.
//
// They are by increasing expected reward
// (docs/theory.md §3). Without a penalty (β = 0) there is none.
//
// Where the mean force is u φ (rewards of two values, G = ∞, no scale), E[g] = 0 means that φ
// m_a − βℓ_a is the same for all arms or, with k3, that π_ref,a = π_a(C − tm_a), t = φ/β. For any
// number of arms, all fixed points therefore lie on the curve π(t) ∝ π_ref e^{tm} (k3:
// π_ref/(C − tm)), at the zeros of βt − φ(π(t)), which a scan finds. The same holds for any force
// of two arms, whose policies all lie on the curve. Other forces of more arms have those fixed
// points that Newton's method and the on-policy mean field find from the zeros of the leading term
// and from the reference.
//
// At finite G and β > 0 there always is one, because the mean advantages R_a of the arms are
// continuous and bounded functions of π: π ↦ π_ref e^{R/β} (k3: π_ref/(C − R/β)) maps the simplex
// into itself (Brouwer). Where groups are redrawn under a sampled KL gradient, see redrawnPoints.
func (f *Folded) fixedPoints() [][]float64 {
	if f.NotDerived(cell.FixedPointKnown, cell.MeanForceKnown).Out() {
		return nil
	}
	m := force.New(&f.Params)
	if !linear.IsFinite(m.LogReference...) {
		return nil
	}
	if m.Resamples() && !f.sharesPull() {
		return redrawnPoints(m)
	}
	c := newCurve(m)
	var all [][]float64
	add := func(logits []float64) {
		if !slices.ContainsFunc(all, func(other []float64) bool { return same(other, logits) }) {
			all = append(all, logits)
		}
	}
	if m.Limited() || f.sharesPull() && len(f.Arms) == 2 {
		all = gapZeros(m)
	} else if !m.Factored() && len(f.Arms) == 2 {
		for _, value := range [][]float64{{1, 0}, {0, 1}} {
			c.value, c.low, c.high = value, 0, 1
			for _, t := range c.zeros() {
				add(c.logits(t))
			}
		}
	} else {
		var starts [][]float64
		for _, t := range c.zeros() {
			starts = append(starts, c.logits(t))
		}
		if m.Factored() && !f.sharesPull() {
			return starts
		}
		for _, start := range append(starts, f.Reference) { // Newton changes none
			if end, ok := f.Newton(m, start); ok {
				add(end)
			}
		}
		if len(all) == 0 && !f.sharesPull() {
			if end, ok := c.balance(); ok {
				add(end)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b []float64) int {
		return cmp.Compare(m.Expected(a), m.Expected(b))
	})
	return all
}

// sharesPull reports whether an entropy bonus pulls beside k3 or a KL in the reward, so that fixed
// points lie on no curve.
func (f *Folded) sharesPull() bool {
	k3 := f.KL.Gradient == option.K3 && f.KL.In == option.InLoss
	return f.Entropy > 0 && f.KL.Coefficient > 0 && (k3 || f.KL.OfReward())
}

// same reports whether two solutions of Newton's method are the same fixed point:
// their logits agree to 1e-6 up to a common shift.
func same(a, b []float64) bool {
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
	*force.Model
	value     []float64 // m_a; the probability of the upper value for two-valued rewards
	low, high float64   // smallest and largest value
}

func newCurve(m *force.Model) *curve {
	c := &curve{Model: m}
	if m.Counts != nil {
		c.value = m.Counts.Success
	} else {
		c.value = make([]float64, len(m.Arms))
		for a, arm := range m.Arms {
			c.value[a] = arm.Mean
		}
	}
	c.low, c.high = slices.Min(c.value), slices.Max(c.value)
	return c
}

// logits returns logits of π(t): log π_ref + tm or, with k3,
// log π_ref − log(C − tm), where C normalises the policy.
func (c *curve) logits(t float64) []float64 {
	l := slices.Clone(c.Target)
	if c.KL.Gradient != option.K3 || c.KL.In != option.InLoss {
		for a, v := range c.value {
			l[a] += t * (v - c.high)
		}
		return l
	}
	// y = C − t max m solves Σ_a π_ref,a/(y + t(max m − m_a)) = 1. The sum
	// decreases in y; it is at least 1 where y is the probability of the best
	// arms under the reference (share) and at most 1 at y = 1.
	if t == 0 {
		return l
	}
	share := 0.0
	for a, v := range c.value {
		if v == c.high {
			share += fp.MathExp(c.LogReference[a])
		}
	}
	excess := func(y float64) float64 {
		sum := -1.0
		for a, v := range c.value {
			if at := y + t*(c.high-v); at > 0 { // 0 for a best arm if share underflows
				sum += fp.MathExp(c.LogReference[a]) / at
			}
		}
		return sum
	}
	y := share
	if at := excess(share); at > 0 {
		y = linear.Root(excess, share, 1, at)
	}
	if y == 0 {
		// share underflows. The other arms leave the probability rest to the best
		// ones, so y = share/rest, of which only the logarithm is representable.
		rest, top := -excess(0), math.Inf(-1)
		for a, v := range c.value {
			if v == c.high {
				top = max(top, c.LogReference[a])
			}
		}
		sum := 0.0
		for a, v := range c.value {
			if v == c.high {
				sum += fp.MathExp(c.LogReference[a] - top)
			}
		}
		y := top + math.Log(sum) - math.Log(max(rest, math.SmallestNonzeroFloat64)) // log(share/rest)
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

// factor returns φ(π(t)); where the mean force is not u φ, that of its leading term in
// 1/G or, for two arms with the values 1 and 0, the difference R_a − R_b of the mean
// advantages of the arms of these values, which the same equation βt = φ then balances.
func (c *curve) factor(t float64) float64 {
	if !c.Factored() && len(c.Arms) == 2 {
		theta := c.logits(t)
		// Beyond a probability of e^{−400} the mean advantages no longer vary.
		theta[0] = theta[1] + max(-400, min(theta[0]-theta[1], 400))
		c.Set(theta, theta)
		responses := make([]float64, 2)
		group.Response(c.Law, c.Old, responses)
		factor := (responses[0] - responses[1]) * (c.value[0] - c.value[1])
		if c.KL.OfReward() { // the penalty is part of the advantages
			factor += c.Pull() * t
		}
		return factor
	}
	cell.Softmax(c.Now.Probs, c.logits(t))
	copy(c.Old, c.Now.Probs)
	return c.Law.Leading()
}

// balance iterates π ↦ π_ref e^{R(π)/β} (k3: π_ref/(C − R/β)), R the mean advantages of the arms,
// whose fixed points are those of the force, from the reference. Where β is so small that all arms
// but one nearly vanish R hardly varies and the iteration converges at once, while the force is too
// small for Newton's method. It goes on to rounding; ok is true if changes fall below 1e-10.
func (c *curve) balance() (logits []float64, ok bool) {
	arms := len(c.Arms)
	at := *c
	at.value = make([]float64, arms)
	logits = slices.Clone(c.LogReference)
	damping, last := 1.0, math.Inf(1)
	for range 2000 {
		at.Set(logits, logits)
		group.Response(at.Law, at.Old, at.value)
		at.low, at.high = slices.Min(at.value), slices.Max(at.value)
		next := at.logits(1 / at.Pull())
		change := 0.0
		for a := range next {
			// Logits below e^{−700} of the largest no longer change anything.
			next[a] = max(next[a], slices.Max(next)-700)
			change = max(change, math.Abs(next[a]-next[0]-logits[a]+logits[0]))
		}
		if math.IsNaN(change) {
			return nil, false
		}
		if change >= last && change < 1e-10 {
			return next, true
		} else if change >= last {
			damping = max(damping/2, 1e-3)
		}
		last = change
		for a := range logits {
			logits[a] += damping * (next[a] - logits[a])
		}
	}
	return logits, last < 1e-10
}

// zeros returns all t ≥ 0 with βt = φ(t), increasing.
func (c *curve) zeros() []float64 {
	spread := c.high - c.low
	if spread == 0 {
		return []float64{0} // all arms have equal means: the reference is the fixed point
	}
	if c.KL.OfReward() && c.Factored() { // m − βℓ is the same for all arms
		return []float64{1 / c.KL.Coefficient}
	}
	if c.Advantage.Scale == option.NoScale && c.Filter == option.KeepAll &&
		c.Advantage.Baseline != option.SecondBest {
		return []float64{c.factor(0) / c.Pull()}
	}
	// end bounds the zeros: βt = φ ≤ max φ. At finite G the factor of a group is
	// largest for one success or one failure.
	end := c.Law.Reach(c.Pull())
	end *= 1 + 1e-9
	// The policy varies on the scale 1 of log-odds until t outweighs the preferences of the reference
	// and, 60 later, all other arms' probabilities are below rounding.
	linear := (60 + slices.Max(c.LogReference) - slices.Min(c.LogReference)) / spread
	step := max(scanStep/spread, linear/4000)
	step = max(min(step, end/64), math.SmallestNonzeroFloat64)
	gap := func(t float64) float64 { return c.Pull()*t - c.factor(t) }

	z := scan{f: gap}
	visit := func(t float64) (more bool) {
		if math.IsInf(t, 1) {
			return false
		}
		factor := c.factor(t)
		if c.GroupSize == option.Infinite && factor == 0 || math.IsNaN(factor) || math.IsInf(factor, 0) {
			// At G = ∞, where φ → ∞, the variance of the rewards has rounded to 0.
			return false
		}
		z.visit(t, c.Pull()*t-factor)
		return true
	}
	t := 0.0
	for ; t < min(linear, end); t += step {
		if !visit(t) {
			return z.zeros
		}
	}
	for ; t < end; t *= scanRatio {
		if !visit(t) {
			return z.zeros
		}
		if math.IsInf(end, 1) && 2*z.values[2] > c.Pull()*t {
			return z.zeros // φ < βt/2 and φ no longer grows: no zeros beyond
		}
	}
	visit(end)
	return z.zeros
}

// Newton solves E[g](θ, θ) = 0 from start by Newton's method with step halving;
// ok is true if the last step is below 1e-11 in every logit.
func (f *Folded) Newton(m *force.Model, start []float64) (logits []float64, ok bool) {
	logits = slices.Clone(start)
	force := make([]float64, len(logits))
	size := func(at []float64) float64 {
		m.Set(at, at)
		m.MeanForce(force)
		return linear.Norm(force)
	}
	residual := size(logits)
	for range 100 {
		step := f.implicitAt(m, logits).step(math.Inf(1))
		if step == nil {
			return nil, false
		}
		length := linear.Norm(step)
		trial := slices.Clone(logits)
		for scale := 1.0; ; scale /= 2 {
			floats.AddScaledTo(trial, logits, scale, step)
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

// implicit makes the linearly implicit Euler steps δ of the merged flow dϑ_c/dt = g_c/n_c from one
// state, of length h: (D_n/h + Λ)δ = g with D_n = diag n_c, and nᵀδ = 0 to fix the common shift of
// the logits. At h = ∞ it is Newton's step.
type implicit struct {
	count     []float64
	stiffness *mat.Dense // Λ
	force     []float64  // g
}

func (f *Folded) implicitAt(m *force.Model, logits []float64) *implicit {
	fresh, stale := m.Stiffness(logits)
	fresh.Add(fresh, stale)
	force := make([]float64, len(logits))
	m.MeanForce(force)
	return &implicit{f.Count, fresh, force}
}

// step returns the step of length h, nil if the matrix is singular.
func (s *implicit) step(h float64) []float64 {
	n := len(s.count)
	largest, total := 0.0, 0.0
	for a, c := range s.count {
		largest = max(largest, math.Abs(s.stiffness.At(a, a)))
		total += c
	}
	matrix, step, swaps := mat.NewDense(n, n, nil), mat.NewDense(n, 1, slices.Clone(s.force)),
		make([]int, n)
	for a, na := range s.count {
		row := matrix.RawRowView(a)
		for b, nb := range s.count {
			row[b] = s.stiffness.At(a, b) + (largest+total/h)*na*nb/(total*total)
		}
		row[a] += na / h
	}
	if !lapack64.Getrf(matrix.RawMatrix(), swaps) {
		return nil
	}
	lapack64.Getrs(blas.NoTrans, matrix.RawMatrix(), step.RawMatrix(), swaps)
	if delta := step.RawMatrix().Data; linear.IsFinite(delta...) {
		return delta
	}
	return nil
}

// flow integrates the on-policy mean field from the merged logits start by linearly implicit Euler
// steps. Each is compared with two half steps, and the step length is adapted until they differ by
// at most flowError in every logit; as the force vanishes the step length grows without bound and
// the steps become Newton's. It ends when these are below 1e-10 in every logit, or after 100 of
// them, below 1e-7 by then or not.
func (f *Folded) flow(m *force.Model, start []float64) (logits []float64, converged bool) {
	const (
		flowError   = 1e-3
		roundedStep = 1e13 // where 1/h is lost in the rounding of the stiffness
	)
	logits = slices.Clone(start)
	h, last, here := 1.0, math.Inf(1), f.implicitAt(m, logits)
	for steps, rounded := 5000, 0; steps > 0 && rounded < 100; steps-- {
		if h > roundedStep {
			rounded++
		}
		whole, half := here.step(h), here.step(h/2)
		if whole == nil || half == nil {
			return logits, false
		}
		middle := slices.Clone(logits)
		floats.Add(middle, half)
		rest := f.implicitAt(m, middle).step(h / 2)
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
		floats.AddTo(logits, middle, rest)
		last = length
		if h > 1e12 && length < 1e-10 {
			break
		}
		if miss < flowError/4 {
			h *= 2
		}
		here = f.implicitAt(m, logits)
	}
	return logits, h > 1e12 && last < 1e-7
}

// SaturatedGap is the logit gap beyond which fixed points of a cut force are not searched for: the
// rare arm has a probability of 1e-26, so that rounding decides the dynamics.
const SaturatedGap = 60

// gapZeros returns the logits of the fixed points of two arms that a scan of the logit gap finds.
func gapZeros(m *force.Model) (all [][]float64) {
	logits := func(gap float64) []float64 { return []float64{gap / 2, -gap / 2} }
	both := make([]float64, 2)
	force := func(gap float64) float64 {
		m.Set(logits(gap), logits(gap))
		m.MeanForce(both)
		return both[0] / (m.Now.Probs[0] * m.Now.Probs[1])
	}
	last := force(-SaturatedGap)
	for gap := -SaturatedGap + scanStep; gap <= SaturatedGap; gap += scanStep {
		next := force(gap)
		if (last < 0) != (next < 0) {
			all = append(all, logits(linear.Root(force, gap-scanStep, gap, last)))
		}
		last = next
	}
	return all
}

// LeastWithout returns the least number of two digits above from > 0 from which on something is no
// longer true that is true at from, and +Inf where none is found up to 10¹² times from.
func LeastWithout(from float64, still func(x float64) bool) float64 {
	const decade, stride = 90, 40 // numbers of two digits from 10 to 99; a factor of about 3
	power := math.Floor(math.Log10(from)) - 1
	number := func(n int) float64 { return float64(10+n%decade) * fp.Pow(10, power+float64(n/decade)) }
	low := int(min(99, from/fp.Pow(10, power))) - 10
	high := low + stride
	for ; math.IsInf(number(high), 1) || still(number(high)); low, high = high, high+stride {
		if math.IsInf(number(high), 1) || high > 12*decade {
			return math.Inf(1)
		}
	}
	low++
	return number(low + sort.Search(high-low, func(n int) bool { return !still(number(low + n)) }))
}

// scanStep is the step of the scan for zeros in units of log-odds. Where the policy no longer
// varies on that scale t grows by the factor scanRatio from one point to the next. A pair of zeros
// within one step shows as an extremum of βt − φ and is found too.
const (
	scanStep  = 0.25
	scanRatio = 1.05
)

// scan collects the zeros of f, which is visited from point to point.
type scan struct {
	f          func(t float64) float64
	ts, values [3]float64 // the last three points
	n          int        // points visited
	zeros      []float64
}

// visit adds the zeros up to t, where f has the given value.
func (s *scan) visit(t, value float64) {
	s.ts = [3]float64{s.ts[1], s.ts[2], t}
	s.values = [3]float64{s.values[1], s.values[2], value}
	ts, values := s.ts, s.values
	s.n++
	if s.n == 1 && value == 0 { // as of arms of equal means and even laws
		s.zeros = append(s.zeros, t)
	} else if s.n >= 2 && (values[1] < 0) != (values[2] < 0) {
		s.zeros = append(s.zeros, linear.Root(s.f, ts[1], ts[2], values[1]))
	} else if s.n >= 3 && (values[0] < 0) == (values[1] < 0) {
		// Three values of one sign, the middle one nearest to zero: the
		// extremum between them may have the other sign.
		side := math.Copysign(1, values[1])
		if side*values[1] < side*values[0] && side*values[1] < side*values[2] {
			top, value := linear.Golden(func(t float64) float64 { return -side * s.f(t) }, ts[0], ts[2])
			if value > 0 {
				s.zeros = append(s.zeros, linear.Root(s.f, ts[0], top, values[0]),
					linear.Root(s.f, top, ts[2], -side*value))
			}
		}
	}
}
