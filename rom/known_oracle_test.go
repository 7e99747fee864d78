package rom_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"

	"gonum.org/v1/gonum/mat"
)

// The oracle is the algorithm of docs/theory.md §1 written out sample by sample, and the linear
// recursions of §5 iterated step by step. It is slow and uses nothing except the definitions.

// closeTo fails unless got is within tol of want.
func closeTo(t testing.TB, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.12g, want %.12g ± %.2g (off by %.3g)", name, got, want, tol, got-want)
	}
}

// printed fails unless got agrees with a printed number to within one unit of its last digit: half
// a unit for rounding in print, and as much again for numbers that were rounded before.
func printed(t testing.TB, name string, got, want, lastUnit float64) {
	t.Helper()
	closeTo(t, name, got, want, lastUnit)
}

// said returns the value of a prediction, which must not be nil.
func said(t testing.TB, name string, v *float64) float64 {
	t.Helper()
	if v == nil {
		t.Fatalf("%s: no prediction", name)
	}
	return *v
}

func oracleSoftmax(theta []float64) []float64 {
	top := math.Inf(-1)
	for _, x := range theta {
		top = max(top, x)
	}
	pi, sum := make([]float64, len(theta)), 0.0
	for a, x := range theta {
		pi[a] = math.Exp(x - top)
		sum += pi[a]
	}
	for a := range pi {
		pi[a] /= sum
	}
	return pi
}

func oracleReward(p rom.Params, theta []float64) float64 {
	j := 0.0
	for a, w := range oracleSoftmax(theta) {
		j += w * p.Arms[a].Mean
	}
	return j
}

// outcome is one value of one arm's reward.
type outcome struct {
	arm    int
	reward float64
	prob   float64 // of the pair (arm, reward) under π_old
}

func oracleOutcomes(p rom.Params, old []float64) []outcome {
	var out []outcome
	for a, w := range oracleSoftmax(old) {
		m := p.Arms[a].Mean
		switch p.Arms[a].Law {
		case option.Bernoulli:
			if m > 0 {
				out = append(out, outcome{a, 1, w * m})
			}
			if m < 1 {
				out = append(out, outcome{a, 0, w * (1 - m)})
			}
		case option.Constant:
			out = append(out, outcome{a, m, w})
		default:
			panic("a normal reward has no finite set of outcomes")
		}
	}
	return out
}

// oracleWeight is w of docs/theory.md §1 and docs/theory-trainers.md §11.2 for one sample.
func oracleWeight(p rom.Params, adv, now, then float64) float64 {
	rho := now / then
	up := adv > 0
	tau, k, lambda := p.Importance.Temperature.Positive, p.Importance.Power.Positive,
		p.Importance.Decay.Positive
	if !up {
		tau, k, lambda = p.Importance.Temperature.Negative, p.Importance.Power.Negative,
			p.Importance.Decay.Negative
	}
	counts := true
	switch p.Importance.Mode {
	case option.NoImportance:
		return 1
	case option.Clip:
		counts = up && rho <= 1+p.Importance.ClipHigh || !up && rho >= 1-p.Importance.ClipLow
	case option.DualClip:
		counts = up && rho <= 1+p.Importance.ClipHigh || !up && rho >= 1-p.Importance.ClipLow &&
			rho <= p.Importance.Cap
	case option.Truncated:
		return min(rho, p.Importance.Cap)
	case option.Masked:
		counts = p.Importance.Floor <= rho && rho <= p.Importance.Cap
	case option.CISPO:
		return min(max(rho, 1-p.Importance.ClipLow), 1+p.Importance.ClipHigh)
	case option.SAPO:
		s := 1 / (1 + math.Exp(-tau*(rho-1)))
		return 4 * s * (1 - s) * rho
	case option.VESPO:
		return math.Pow(rho, k) * math.Exp(lambda*(1-rho))
	case option.DPPO:
		counts = up && now-then <= p.Importance.ClipHigh || !up && now-then >= -p.Importance.ClipLow
	}
	if !counts {
		return 0
	}
	return rho
}

// weighted returns p with a weighting and its parameters as trainers set them.
func weighted(p rom.Params, w option.ImportanceMode) rom.Params {
	p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh, p.Importance.Floor,
		p.Importance.Cap = w, 0.2, 0.2, 0.5, 1.2
	p.Importance.Temperature = option.Signed{Positive: 1, Negative: 1.05}
	p.Importance.Power, p.Importance.Decay = option.Signed{Positive: 2, Negative: 3},
		option.Signed{Positive: 3, Negative: 2}
	return p
}

// oracleKappa is the weight of one sample in a sampled KL gradient.
func oracleKappa(p rom.Params, pi, ref float64) float64 {
	if p.KL.Gradient == option.K2 {
		return math.Log(pi / ref)
	}
	return 1 - ref/pi
}

// oracleExactKL is ∇KL(π‖π_ref) by its definition Σ_a π_a log(π_a/π_ref,a)(e_a − π).
func oracleExactKL(pi, ref []float64) []float64 {
	grad := make([]float64, len(pi))
	for a := range pi {
		l := math.Log(pi[a] / ref[a])
		for b := range pi {
			e := 0.0
			if a == b {
				e = 1
			}
			grad[b] += pi[a] * l * (e - pi[b])
		}
	}
	return grad
}

// oracleGradient is g of one group, sample by sample.
func oracleGradient(p rom.Params, theta, old []float64, group []outcome) []float64 {
	pi, po, ref := oracleSoftmax(theta), oracleSoftmax(old), oracleSoftmax(p.Reference)
	n := float64(len(group))
	adv := make([]float64, len(group))
	lo, hi, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, s := range group {
		lo, hi, sum = min(lo, s.reward), max(hi, s.reward), sum+s.reward
	}
	if lo != hi {
		square := 0.0
		for _, s := range group {
			square += (s.reward - sum/n) * (s.reward - sum/n)
		}
		scale := 1.0
		if p.Advantage.Scale == option.StdScale {
			scale = math.Sqrt(square / n)
			if p.Advantage.Std == option.SampleStd {
				scale = math.Sqrt(square / (n - 1))
			}
			scale += p.Advantage.Epsilon
		}
		for i, s := range group {
			base := sum / n
			if p.Advantage.Baseline == option.LeaveOneOut {
				base = (sum - s.reward) / (n - 1)
			}
			adv[i] = (s.reward - base) / scale
		}
	}
	at := pi
	if p.KL.At == option.AtSnapshot {
		at = po
	}
	g := make([]float64, len(theta))
	for i, s := range group {
		w := oracleWeight(p, adv[i], pi[s.arm], po[s.arm])
		for b := range g {
			e := 0.0
			if b == s.arm {
				e = 1
			}
			g[b] += w * adv[i] * (e - pi[b]) / n
			if p.KL.Gradient != option.ExactKL {
				g[b] -= p.KL.Coefficient * oracleKappa(p, at[s.arm], ref[s.arm]) * (e - at[b]) / n
			}
		}
	}
	if p.KL.Gradient == option.ExactKL {
		for b, k := range oracleExactKL(at, ref) {
			g[b] -= p.KL.Coefficient * k
		}
	}
	for b := range g {
		g[b] *= p.Factors.Stiffness
	}
	return g
}

// moments accumulates the mean and the covariance of a weighted set of gradients.
type moments struct {
	mean   []float64
	second [][]float64
}

func newMoments(n int) *moments {
	m := &moments{mean: make([]float64, n), second: make([][]float64, n)}
	for i := range m.second {
		m.second[i] = make([]float64, n)
	}
	return m
}

func (m *moments) add(w float64, g []float64) {
	for a := range g {
		m.mean[a] += w * g[a]
		for b := range g {
			m.second[a][b] += w * g[a] * g[b]
		}
	}
}

func (m *moments) cov(a, b int) float64 { return m.second[a][b] - m.mean[a]*m.mean[b] }

// oracleForce enumerates every ordered group: every arm and reward of every sample.
func oracleForce(p rom.Params, theta, old []float64) *moments {
	out := oracleOutcomes(p, old)
	m := newMoments(len(theta))
	group := make([]outcome, p.GroupSize)
	var draw func(i int, w float64)
	draw = func(i int, w float64) {
		if i == len(group) {
			m.add(w, oracleGradient(p, theta, old, group))
			return
		}
		for _, o := range out {
			group[i] = o
			draw(i+1, w*o.prob)
		}
	}
	draw(0, 1)
	return m
}

func oracleEachCount(p rom.Params, theta, old []float64, visit func(w float64, g []float64)) {
	out := oracleOutcomes(p, old)
	group := make([]outcome, 0, p.GroupSize)
	var draw func(i int, logw float64)
	draw = func(i int, logw float64) {
		left := p.GroupSize - len(group)
		if i == len(out)-1 {
			for range left {
				group = append(group, out[i])
			}
			visit(math.Exp(logw+float64(left)*math.Log(out[i].prob)-lgamma(left)),
				oracleGradient(p, theta, old, group))
			group = group[:len(group)-left]
			return
		}
		for n := 0; n <= left; n++ {
			size := len(group)
			for range n {
				group = append(group, out[i])
			}
			draw(i+1, logw+float64(n)*math.Log(out[i].prob)-lgamma(n))
			group = group[:size]
		}
	}
	draw(0, lgamma(p.GroupSize))
}

// lgamma is log n!.
func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// oracleInfiniteForce is E[g] at G = ∞: one sample's expectation, with the
// baseline and the scale of the population.
func oracleInfiniteForce(p rom.Params, theta, old []float64) []float64 {
	pi, po, ref := oracleSoftmax(theta), oracleSoftmax(old), oracleSoftmax(p.Reference)
	out := oracleOutcomes(p, old)
	mean, square := 0.0, 0.0
	for _, o := range out {
		mean += o.prob * o.reward
	}
	for _, o := range out {
		square += o.prob * (o.reward - mean) * (o.reward - mean)
	}
	scale := 1.0
	if p.Advantage.Scale == option.StdScale {
		scale = math.Sqrt(square) + p.Advantage.Epsilon
	}
	at := pi
	if p.KL.At == option.AtSnapshot {
		at = po
	}
	g := make([]float64, len(theta))
	for _, o := range out {
		adv := (o.reward - mean) / scale
		w := oracleWeight(p, adv, pi[o.arm], po[o.arm])
		for b := range g {
			e := 0.0
			if b == o.arm {
				e = 1
			}
			g[b] += o.prob * w * adv * (e - pi[b])
			if p.KL.Gradient != option.ExactKL {
				g[b] -= p.KL.Coefficient * o.prob * oracleKappa(p, at[o.arm], ref[o.arm]) * (e - at[b])
			}
		}
	}
	if p.KL.Gradient == option.ExactKL {
		for b, k := range oracleExactKL(at, ref) {
			g[b] -= p.KL.Coefficient * k
		}
	}
	return g
}

// linearMap is a linear recursion of docs/theory.md §5 on the centred subspace, stepped as the
// algorithm steps: a refresh or a shift of the history, the force, the optimizer.
type linearMap struct {
	opt          option.Optimizer
	lag          option.Lag
	fresh, stale *mat.Dense // (A−1)×(A−1)
	basis        *mat.Dense // A×(A−1), orthonormal, columns sum to 0
}

// centredBasis is the Helmert basis of the vectors that sum to 0.
func centredBasis(arms int) *mat.Dense {
	q := mat.NewDense(arms, arms-1, nil)
	for c := range arms - 1 {
		norm := math.Sqrt(float64((c + 1) * (c + 2)))
		for r := range c + 1 {
			q.Set(r, c, 1/norm)
		}
		q.Set(c+1, c, -float64(c+1)/norm)
	}
	return q
}

func newLinearMap(p rom.Params, theta []float64) linearMap {
	f, s := force.Stiffness(p, theta)
	q := centredBasis(len(theta))
	project := func(l *mat.Dense) *mat.Dense {
		var out mat.Dense
		out.Product(q.T(), l, q)
		return &out
	}
	return linearMap{opt: p.Optimizer, lag: p.Lag, fresh: project(f), stale: project(s), basis: q}
}

// scalarMap is the recursion of one mode.
func scalarMap(opt option.Optimizer, lag option.Lag, fresh, stale float64) linearMap {
	return linearMap{opt: opt, lag: lag, fresh: mat.NewDense(1, 1, []float64{fresh}),
		stale: mat.NewDense(1, 1, []float64{stale})}
}

func (l linearMap) dim() int { n, _ := l.fresh.Dims(); return n }

// slots is the number of vectors kept: velocity, x, and what the lag needs.
func (l linearMap) slots() int {
	if l.lag.Kind == option.Delay {
		return 2 + l.lag.Interval
	}
	return 3
}

// step advances the state (v, x, older x …) by one optimizer step; noise may be nil.
func (l linearMap) step(state []float64, refresh bool, noise []float64) {
	n := l.dim()
	v, x := state[:n], state[n:2*n]
	snap := state[len(state)-n:]
	if l.lag.Kind == option.Block && refresh {
		copy(snap, x)
	}
	g := make([]float64, n)
	for a := range n {
		for b := range n {
			g[a] -= l.fresh.At(a, b)*x[b] + l.stale.At(a, b)*snap[b]
		}
		if noise != nil {
			g[a] += noise[a]
		}
	}
	if l.lag.Kind == option.Delay {
		for i := len(state) - 1; i >= 2*n; i-- {
			state[i] = state[i-n]
		}
	}
	eta, mu := l.opt.LearningRate, l.opt.Momentum
	for a := range n {
		v[a] = mu*v[a] + g[a]
		if l.opt.Kind == option.Nesterov {
			x[a] += eta * (g[a] + mu*v[a])
		} else {
			x[a] += eta * v[a]
		}
	}
}

func (l linearMap) period() int {
	if l.lag.Kind == option.Block {
		return l.lag.Interval
	}
	return 1
}

// monodromy is the map of one refresh period (one step for a delay), column by column.
func (l linearMap) monodromy() *mat.Dense {
	size := l.slots() * l.dim()
	m := mat.NewDense(size, size, nil)
	for c := range size {
		s := make([]float64, size)
		s[c] = 1
		for k := range l.period() {
			l.step(s, k == 0, nil)
		}
		m.SetCol(c, s)
	}
	return m
}

func (l linearMap) multipliers() []complex128 {
	var e mat.Eigen
	if !e.Factorize(l.monodromy(), mat.EigenNone) {
		panic("eigenvalues did not converge")
	}
	return e.Values(nil)
}

func (l linearMap) radius() float64 {
	r := 0.0
	for _, z := range l.multipliers() {
		r = max(r, cmplx.Abs(z))
	}
	return r
}

// growth returns the factor per period by which a start without symmetry grows, measured over the
// second half of the given number of periods. Below 1 the recursion is stable.
func (l linearMap) growth(periods int) float64 {
	s := make([]float64, l.slots()*l.dim())
	for i := range s {
		s[i] = math.Sin(1 + 1.7*float64(i)) // no symmetry
	}
	log := 0.0
	for n := range periods {
		for k := range l.period() {
			l.step(s, k == 0, nil)
		}
		norm := 0.0
		for _, x := range s {
			norm = math.Hypot(norm, x)
		}
		for i := range s {
			s[i] /= norm
		}
		if n >= periods/2 {
			log += math.Log(norm)
		}
	}
	return math.Exp(log / float64(periods-periods/2))
}

// stationary steps the covariance of the recursion with white noise of
// covariance noise until it no longer changes, and returns the covariance of x at
// the refresh instants and its average over the phases.
func (l linearMap) stationary(noise *mat.Dense) (atRefresh, average *mat.Dense) {
	n, size := l.dim(), l.slots()*l.dim()
	phase := make([]*mat.Dense, l.period())
	inject := mat.NewDense(size, size, nil)
	into := mat.NewDense(size, n, nil) // change of the state per unit of noise
	for c := range n {
		s, unit := make([]float64, size), make([]float64, n)
		unit[c] = 1
		l.step(s, false, unit)
		into.SetCol(c, s)
	}
	inject.Product(into, noise, into.T())
	for k := range phase {
		phase[k] = mat.NewDense(size, size, nil)
		for c := range size {
			s := make([]float64, size)
			s[c] = 1
			l.step(s, k == 0, nil)
			phase[k].SetCol(c, s)
		}
	}
	sigma := mat.NewDense(size, size, nil)
	x := func(m *mat.Dense) *mat.Dense { return mat.DenseCopyOf(m.Slice(n, 2*n, n, 2*n)) }
	for before := -1.0; ; {
		atRefresh = x(sigma)
		average = mat.NewDense(n, n, nil)
		for _, a := range phase {
			average.Add(average, x(sigma))
			var next mat.Dense
			next.Product(a, sigma, a.T())
			next.Add(&next, inject)
			sigma = &next
		}
		average.Scale(1/float64(len(phase)), average)
		now := mat.Trace(sigma)
		if math.Abs(now-before) <= 1e-14*now {
			return atRefresh, average
		}
		before = now
	}
}

// inArms transforms a covariance of the centred coordinates to the logits.
func (l linearMap) inArms(c *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Product(l.basis, c, l.basis.T())
	return &out
}

// predictedVariance is the phase-averaged covariance of the logits of p about theta.
func (l linearMap) predictedVariance(t testing.TB, p rom.Params, theta []float64) *mat.Dense {
	t.Helper()
	cov, _ := force.Covariance(p, theta, theta)
	var c mat.Dense
	c.Product(l.basis.T(), cov, l.basis)
	_, average := l.stationary(&c)
	return l.inArms(average)
}

// gapVariance is Var z of a 2×2 covariance of logits.
func gapVariance(c *mat.Dense) float64 { return c.At(0, 0) + c.At(1, 1) - c.At(0, 1) - c.At(1, 0) }

// Cells.

// bandit is the reference bandit of docs/theory.md §5 with the frozen force:
// Bernoulli 0.9 and 0.2, unweighted, exact KL to uniform at the snapshot.
func bandit(scale option.Scale, strength float64, groupSize int) rom.Params {
	return rom.Params{
		Arms:      []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: groupSize, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: strength, At: option.AtSnapshot}},
		Lag:       block(1),
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   rom.Unit,
	}
}

// free returns a cell in which scale, weighting and so on do not matter: two equal
// arms at the uniform reference, so λ = β/2 and the whole force is frozen.
func free(stiffness, eta, mu float64, lag option.Lag) rom.Params {
	p := bandit(option.NoScale, 2*stiffness, 16)
	p.Arms = []option.Arm{{Mean: 0.5}, {Mean: 0.5}}
	p.Lag, p.Optimizer = lag, option.Optimizer{LearningRate: eta, Momentum: mu}
	return p
}

func with(p rom.Params, eta, mu float64, lag option.Lag) rom.Params {
	p.Optimizer.LearningRate, p.Optimizer.Momentum, p.Lag = eta, mu, lag
	return p
}

func block(k int) option.Lag { return option.Lag{Kind: option.Block, Interval: k} }

func delay(tau int) option.Lag { return option.Lag{Kind: option.Delay, Interval: tau} }

// gapAt is the pair of centred logits with the gap z.
func gapAt(z float64) []float64 { return []float64{z / 2, -z / 2} }

func gapOf(theta []float64) float64 { return theta[0] - theta[1] }

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func describe(p rom.Params) string {
	return fmt.Sprintf("A=%d G=%d law=%d baseline=%d scale=%d/%d eps=%g w=%d kl=%d at=%d β=%.3g lag=%d/%d method=%d η=%.4g μ=%.3g",
		len(p.Arms), p.GroupSize, p.Arms[0].Law, p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Std,
		p.Advantage.Epsilon, p.Importance.Mode, p.KL.Gradient, p.KL.At,
		p.KL.Coefficient, p.Lag.Kind, p.Lag.Interval, p.Optimizer.Kind, p.Optimizer.LearningRate,
		p.Optimizer.Momentum)
}

// bisect finds where f changes from below zero to above between lo and hi.
func bisect(f func(float64) float64, lo, hi float64) float64 {
	for range 200 {
		mid := (lo + hi) / 2
		if f(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}
