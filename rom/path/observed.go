package path

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Observed names a number of which Paths predicts the course: a function of the policy π of a step,
// of the policy π_old that draws its groups, or of both (docs/theory-neglected.md §6.4).
type Observed string

// The quantities, beside those of an arm and of a number of samples.
const (
	Reward      Observed = "expected_reward" // J = Σ π_a m_a
	TrueReward  Observed = "true_reward"     // Σ π_a t_a, t of Params.TrueMeans
	Entropy     Observed = "entropy"         // −Σ π log π, nats
	Collision   Observed = "collision"       // Σ π²
	KLReference Observed = "kl_reference"    // KL(π‖π_ref), nats
	LogitGap    Observed = "logit_gap"       // θ_0 − θ_1, two arms
	// Σ_v P(r = v)^G under π_old, the share of groups with equal rewards
	ZeroVariance Observed = "zero_variance_fraction"
	// share of the samples with A ≠ 0 whose weight is set to 0
	ClipFraction Observed = "clip_fraction"
	GradientNorm Observed = "gradient_norm" // ‖g‖₂ of the gradient of a step at G = ∞
	// 1/Σ π²/π_old, the effective share of the samples that have ratios for weights
	EffectiveSamples Observed = "effective_sample_size"
)

// The beginnings of two names. pass_at_k is 1 − (1−J)^k, the probability that one of k ≥ 1 samples
// succeeds, for rewards 0 and 1. The other is π_a of arm a ≥ 0. Of many prompts they are means.
const passAt, probabilityOf = "pass_at_", "probability_of_arm_"

// dependence says of which policies an observable is a function.
type dependence int

const (
	ofPolicy  dependence = iota // of the present one
	ofDrawing                   // of that which draws the groups of the step
	ofBoth
)

// observable is a function of the policies of a step whose mean over runs is predicted along the
// path.
type observable struct {
	of      func(m *force.Model, now, old []float64) float64
	depends dependence
	span    func(p *cell.Params) float64 // its largest value less its smallest
	fourth  func(p *cell.Params) float64 // bound of its fourth derivative by a gap of two logits

	isReward bool // J
	// samples returns the variance of what a step records about a mean, of an observable of the
	// samples; nil: 0.
	samples func(m *force.Model, mean float64) float64
}

// policyOnly makes an observable of a function of one policy.
func policyOnly(of func(m *force.Model) float64) func(m *force.Model, now, _ []float64) float64 {
	return func(m *force.Model, now, _ []float64) float64 {
		m.Now.Set(now)
		return of(m)
	}
}

// constant is a bound that does not depend on the cell.
func constant(x float64) func(*cell.Params) float64 {
	return func(*cell.Params) float64 { return x }
}

// rewardOf is J, of which |J⁗| ≤ span/8.
var rewardOf = observable{
	isReward: true,
	of:       func(m *force.Model, now, _ []float64) float64 { return m.Expected(now) },
	span:     rewardSpan,
	fourth:   func(p *cell.Params) float64 { return rewardSpan(p) / 8 },
}

func rewardSpan(p *cell.Params) float64 { return cell.Span(p.Arms) }

// linearIn is Σ π_a x_a, bounded as J.
func linearIn(x []float64) observable {
	span := slices.Max(x) - slices.Min(x)
	return observable{
		of:   policyOnly(func(m *force.Model) float64 { return floats.Dot(m.Now.Probs, x) }),
		span: constant(span), fourth: constant(span / 8),
	}
}

// divergence returns Σ π (log π − l).
func divergence(m *force.Model, l []float64) (sum float64) {
	for a, p := range m.Now.Probs {
		if p > 0 {
			sum += p * (m.Now.Logs[a] - l[a])
		}
	}
	return sum
}

// observables is the table of quantities. The fourth derivatives are those of two arms: of the
// entropy at most 3/8, of the share of equal groups and of pass@k at large G or k that of
// exp(−e^{−z}).
var observables = map[Observed]observable{
	Reward: rewardOf,
	Entropy: {
		of: policyOnly(func(m *force.Model) float64 {
			return 0 - divergence(m, make([]float64, len(m.Arms))) // never −0
		}),
		span:   func(p *cell.Params) float64 { return math.Log(float64(len(p.Arms))) },
		fourth: constant(0.375),
	},
	Collision: {
		of:   policyOnly(func(m *force.Model) float64 { return floats.Dot(m.Now.Probs, m.Now.Probs) }),
		span: func(p *cell.Params) float64 { return 1 - 1/float64(len(p.Arms)) }, fourth: constant(0.5),
	},
	KLReference: {
		of:   policyOnly(func(m *force.Model) float64 { return max(0, divergence(m, m.LogReference)) }),
		span: func(p *cell.Params) float64 { return -slices.Min(cell.ReferenceLogs(p)) },
		fourth: func(p *cell.Params) float64 {
			logs := cell.ReferenceLogs(p)
			return 0.375 + (slices.Max(logs)-slices.Min(logs))/8
		},
	},
	LogitGap: {
		of:   func(_ *force.Model, now, _ []float64) float64 { return now[0] - now[1] },
		span: constant(math.Inf(1)), fourth: constant(0),
	},
	ZeroVariance: {
		of: func(m *force.Model, _, old []float64) float64 {
			cell.Softmax(m.Now.Probs, old)
			return m.Law.EqualRewards(m.Now.Probs)
		},
		samples: func(m *force.Model, z float64) float64 {
			if cell.Visiting(m.Params) < 1 { // by how many prompts a step has
				return math.NaN()
			}
			return z * (1 - z) / float64(m.GroupsPerStep)
		},
		depends: ofDrawing, span: constant(1), fourth: constant(steepestFourth),
	},
	ClipFraction: {
		of: func(m *force.Model, now, old []float64) float64 {
			m.Set(now, old)
			return clippedShare(m)
		},
		samples: func(*force.Model, float64) float64 { return math.NaN() },
		depends: ofBoth, span: constant(1), fourth: constant(0),
	},
	GradientNorm: {
		of: func(m *force.Model, now, old []float64) float64 {
			m.Set(now, old)
			force := make([]float64, len(m.Arms))
			m.MeanForce(force)
			return math.Sqrt(floats.Dot(force, force))
		},
		depends: ofBoth, span: constant(math.Inf(1)), fourth: constant(1),
	},
	EffectiveSamples: {
		of: func(m *force.Model, now, old []float64) float64 {
			m.Now.Set(now)
			m.Past.Set(old)
			sum := 0.0
			for a, p := range m.Now.Probs {
				if p > 0 {
					sum += p * fp.MathExp(m.Now.Logs[a]-m.Past.Logs[a])
				}
			}
			return 1 / sum
		},
		depends: ofBoth, span: constant(1), fourth: func(p *cell.Params) float64 {
			if linear.NewLag(&p.Lag).OnPolicy() {
				return 0 // it is 1
			}
			return 1
		},
	},
}

// steepestFourth is the largest fourth derivative of exp(−e^{−z}), which J^G is at large G.
const steepestFourth = 1.12

// observableOf returns the observable of a quantity, or why the bandit has none or it is not
// derived.
func observableOf(p *cell.Params, q Observed) (o observable, because scope.Reason) {
	if k, err := strconv.Atoi(strings.TrimPrefix(string(q), passAt)); err == nil {
		cell.Want(k >= 1, "PassAt", k, "at least 1")
		cell.Want(cell.SucceedOrFail(p), "Params.Arms", p.Arms, "rewards of 0 or 1 beside PassAt")
		return observable{of: func(m *force.Model, now, _ []float64) float64 {
			if len(m.Prompts.First) == 0 {
				return 1 - fp.Pow(max(1-m.Expected(now), 0), float64(k))
			}
			cell.Softmax(m.Now.Probs, now)
			miss, all := 0.0, m.Each
			for _, one := range all {
				miss += fp.Pow(max(1-floats.Dot(m.Now.Probs, one.Success), 0), float64(k))
			}
			return 1 - miss/float64(len(all))
		}, span: constant(1), fourth: constant(steepestFourth)}, scope.Reason{}
	}
	if a, err := strconv.Atoi(strings.TrimPrefix(string(q), probabilityOf)); err == nil {
		cell.Want(a >= 0 && a < len(p.Arms), "ProbabilityOf", a, "an arm")
		one := make([]float64, len(p.Arms))
		one[a] = 1
		return linearIn(one), scope.Reason{}
	}
	if q == TrueReward && p.TrueMeans != nil {
		return linearIn(p.TrueMeans), scope.Reason{}
	} else if q == TrueReward {
		q = Reward
	}
	o, known := observables[q]
	cell.Want(known, "Observed", string(q), "one of the constants or PassAt")
	switch q {
	case LogitGap:
		cell.Want(len(p.Arms) == 2, "Observed", string(q), "a quantity of any number of arms")
	case ZeroVariance:
		return o, p.NotDerived(cell.ShareOnTheWay)
	case ClipFraction:
		return o, p.NotDerived(cell.ShareOnTheWay, cell.ClipOnTheWay)
	case KLReference:
		return o, p.NotDerived(cell.KLOnTheWay)
	case GradientNorm:
		return o, p.NotDerived(cell.NormOnTheWay)
	}
	if o.depends != ofPolicy {
		because = p.NotDerived(cell.QuantityOfStep)
	}
	return o, because
}

// slots returns the places in a state of the policies that the observable depends on.
func (o *observable) slots(now, old int) []int {
	switch {
	case o.depends == ofPolicy:
		return []int{now}
	case o.depends == ofDrawing || now == old:
		return []int{old}
	}
	return []int{now, old}
}

// ofAges returns the mean of what of says over the policies that may draw. of takes the number of
// one and its place in the state. How single runs deviate is then not derived.
func (o *observable) ofAges(s *snapshots, places []int, of func(i, place int) shifted) (all shifted) {
	for i, place := range places {
		by := of(i, place)
		if o.depends == ofPolicy || len(places) == 1 {
			return by
		}
		all.shift += s.shares[i] * by.shift
		all.idle += s.shares[i] * by.idle
		all.variance, all.nearBound = max(all.variance, by.variance), by.nearBound
	}
	all.deviation = math.NaN()
	return all
}

// arguments returns the policies of the observable of those that a law displaces, the displaced
// ones where it depends on them, else those of the mean field.
func (o *observable) arguments(now, old, stillNow, stillOld []float64) (n, d []float64) {
	switch o.depends {
	case ofPolicy:
		return now, stillOld
	case ofDrawing:
		return stillNow, old
	}
	return now, old
}

// over returns the mean of the observable over the normal law of the policies that it depends on,
// in place of a shift. at returns the policies at a displacement.
func (o *observable) over(s *state, at func(x []float64) (now, old []float64),
	mean []float64, cov [][]float64) (all shifted) {
	here, variance := 0.0, 0.0
	value := func(x []float64) float64 { now, old := at(x); return o.of(s.Model, now, old) }
	points(mean, cov, leastReach, func(x []float64) {
		here = value(x)
		all.shift += here
	}, func(up, down, axis []float64, r, v float64) {
		high, low := value(up), value(down)
		slope, bend := (high-low)/(2*r), (high+low-2*here)/(r*r)
		all.shift += 0.5 * v * bend
		all.variance = max(all.variance, 2*v)
		variance += slope*slope*v + 0.5*bend*bend*v*v/s.stands(axis)
	})
	if o.samples != nil {
		value(mean)
		variance += o.samples(s.Model, here)
	}
	all.deviation = math.Sqrt(variance)
	return all
}

// leastReach is the distance in logits at which derivatives of observables are taken.
const leastReach = 1e-3

// clippedShare returns the share of the samples with A ≠ 0 whose weight is 0 at the state that is
// set. Rewards take two values and the baseline is about the group's mean. With Z the probability
// of equal rewards, a share J(1 − J^{G−1})/(1 − Z) of these samples has A > 0. π_old draws the
// arms. A step without groups whose rewards differ counts as 0. Of many prompts all are sums over
// them.
func clippedShare(m *force.Model) (dropped float64) {
	all := m.Each
	ups, downs, above, below := make([]float64, len(all)), make([]float64, len(all)), 0.0, 0.0
	// up and down: the share of the samples with A > 0 over J, and with A < 0 over 1 − J
	for x, one := range all {
		j, rest := one.Chances(m.Past.Probs)
		ups[x], downs[x] = (1-fp.Pow(j, m.Size-1))/float64(len(all)),
			(1-fp.Pow(rest, m.Size-1))/float64(len(all))
		above += j * ups[x]
		below += rest * downs[x]
	}
	if above+below <= 0 || !weight.Jumps(&m.Importance) {
		return 0
	}
	some := 1.0 / (above + below)
	if m.Filter != option.Redraw {
		some *= 1 - fp.Pow(max(1-above-below, 0), float64(m.GroupsPerStep))
	}
	for a, old := range m.Past.Probs {
		up, down, _ := weight.Bands(&m.Importance, old)
		risen, fallen := 0.0, 0.0
		for x, one := range all {
			risen += ups[x] * one.Success[a]
			fallen += downs[x] * (1 - one.Success[a])
		}
		if !up.Held && m.Up[a] == 0 {
			dropped += old * risen * some
		}
		if !down.Held && m.Down[a] == 0 {
			dropped += old * fallen * some
		}
	}
	return dropped
}

// shifted is the change of an observable's mean by the noise at one step, see spread.shift.
type shifted struct {
	shift     float64
	variance  float64 // the largest of a gap of two logits
	deviation float64 // of the observable over runs
	isRough   bool    // the deviation is not known
	idle      float64 // how far it may be off by what no expansion knows
	nearBound float64 // largest share of groups whose force has jumped, see force.TieWithin
}

// lostShift is that of a spread that is too large to be followed.
var lostShift = shifted{shift: math.NaN(), variance: math.NaN(), deviation: math.NaN()}

// points calls centre and pair with the displacements of a rule that is exact for polynomials of
// degree 3 under the normal law with this mean and covariance, and of degree 5 along the axes of
// the covariance: the mean itself, then pairs mean ± r e_i along each axis e_i with variance σ_i².
// The pair's second difference (f₊ + f₋ − 2f)/r² has weight ½σ_i² in the mean of f. r is √3σ_i, and
// at least least.
func points(mean []float64, cov [][]float64, least float64, centre func(x []float64),
	pair func(up, down, axis []float64, r, variance float64)) {
	centre(mean)
	d := len(mean)
	variances, axes := linear.Axes(mat.NewSymDense(d, slices.Concat(cov...)))
	up, down, axis := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, v := range variances {
		v = max(v, 0)
		r := max(math.Sqrt(3)*math.Sqrt(v), least)
		mat.Col(axis, i, axes)
		for k, x := range axis {
			up[k], down[k] = mean[k]+r*x, mean[k]-r*x
		}
		pair(up, down, axis, r, v)
	}
}
