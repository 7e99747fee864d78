package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// adamSecond is the stationary law of runs under Adam to second order: that of the recursion of adamState, with the second
// moment as part of the state.
type adamSecond struct {
	shift     []float64  // E x − x*, in reduced coordinates of the logits
	cov       *mat.Dense // of x, averaged over the phases of a block
	kurtosis  float64    // q, the largest (1−β2)/(1+β2) Var g_a²/(E g_a²)² of an arm, the share by which v varies
	slowing   float64    // the rate at which a small displacement decays over that of the leading order
	reward    float64    // E J − J*
	variance  float64    // Var J
	quotients float64    // |E J| between the two quotients
	left      float64    // relative size of what is left out, of Var J, the relaxation rate and the shift of E J
}

// mostAdamKurtosis is the largest q at which the expansion in the fluctuation of v is used.
const mostAdamKurtosis = 0.1

// leftUnderAdam is the relative size of the third order over V + q + κ, V the variance of a logit gap and κ = ηλ/√v of the
// stiffest mode, and its share of the shift of E J: measured is less (docs/theory-neglected.md §6.8).
const leftUnderAdam = 0.25

// longestAdamBlock is the longest block of which the phases are followed.
const longestAdamBlock = 1000

// atSecondOrder returns the stationary law of second order under Adam, with what it leaves out; nil where v varies too much, or where it is
// not derived. stiffest is κ.
func (l *linearization) atSecondOrder(o option.Optimizer, stiffest float64) *adamSecond {
	second := l.secondUnderAdam(o, taylor)
	if second == nil || !(second.kurtosis <= mostAdamKurtosis) {
		return nil
	}
	other := l.secondUnderAdam(o, lognormal)
	if other == nil {
		return nil
	}
	second.quotients = math.Abs(second.reward - other.reward)
	second.left = leftUnderAdam * (l.gapVariance(second.cov, nil) + second.kurtosis + stiffest)
	return second
}

// addMoments adds the moments to a prediction of which law is the linear law and reward its Var J, and returns the sizes of what they leave out.
func (out *adamSecond) addMoments(l *linearization, prediction *Prediction, law *linear.Law, reward float64) (left scope.Sizes) {
	prediction.Moments.RewardShift = &out.reward
	if len(l.count) == 2 {
		prediction.Moments.LogitGapShift = new(out.shift[0] * (l.q.At(0, 0) - l.q.At(1, 0)))
	}
	further := math.Sqrt(out.variance * l.gapVariance(out.cov, nil))
	left.RewardVariance = math.Abs(out.variance-reward) + out.left*reward
	left.RewardMean = out.quotients + leftUnderAdam*math.Abs(out.reward) + out.left*further
	if reward > 0 {
		l.zeroVariance(prediction, &left, out.shift, law.Snapshot(), nil, nil, out.left+math.Abs(out.variance/reward-1), left.RewardMean/math.Sqrt(reward))
	}
	return left
}

// adamRecursion is the linear map of one step of deviations of (x, m, v, x_old): stage 1 takes in the force, stage 2 moves x.
type adamRecursion struct {
	take, move, step, kicks, noise *mat.Dense // A_1, A_2, A_2A_1, of stage 1, and of a step
	refresh                        *mat.Dense // nil: on-policy
	period                         int
	n, arms                        int
}

// secondUnderAdam returns the stationary law of second order at the fixed point; nil where it is not derived or not found.
// mean h = 0 in every direction of the logits, with the second moments of (m, v) before a step
// averaged over the phases, is solved by Newton's method, each time with the law about the last mean.
func (l *linearization) secondUnderAdam(o option.Optimizer, c quotient) *adamSecond {
	const attempts, still = 60, 1e-10
	p := l.Params
	p.Optimizer = o
	if p.Lag.Interval > longestAdamBlock || p.notDerived(weightsAtRest, spreadOfRuns).Out() || o.Schedule.Kind != option.ConstantRate {
		return nil
	}
	if !linear.NewLag(&p.Lag).OnPolicy() && (classOf(&p.Lag) != lastBlock || !p.Importance.Linear()) {
		return nil
	}
	s := newAdamState(p, l.logits, c)
	arms, n := s.q.Dims()
	x := reduce(s.q, l.logits)
	start := append([]float64{}, x...)
	inputs := len(s.inputs(0))
	joint := group.Square(n * inputs)
	mv, vv := make([]float64, arms), make([]float64, arms)
	out := &adamSecond{}
	for range attempts {
		centre := make([]float64, 0, n*inputs)
		for range inputs {
			centre = append(centre, x...)
		}
		s.local = nil
		local, _ := s.derive(centre, joint)
		force, square := s.moments(centre)
		m, v := make([]float64, arms), make([]float64, arms)
		drift, byM, byV := make([]float64, arms), make([]float64, arms), make([]float64, arms)
		out.kurtosis = 0
		for a := range arms {
			m[a], v[a] = force[a]+local.bend[a], square[a]+local.squareBend[a]
			if !(v[a] > 0) {
				return nil
			}
			h := adamSlopes(m[a], v[a], o.Epsilon)
			byM[a], byV[a] = h.byM, h.byV
			drift[a] = s.quotient(m[a], v[a], mv[a], vv[a], o.Epsilon)
			out.kurtosis = max(out.kurtosis, (1-o.Beta2)/(1+o.Beta2)*local.square[a][a]/(square[a]*square[a]))
		}
		r := s.recursion(local, byM, byV)
		first := mat.NewDense(n, n, nil) // of the drift in x, policy and snapshot together
		for k := range n {
			for i := range n {
				sum := 0.0
				for a := range arms {
					for b := range inputs {
						sum += s.q.At(a, i) * (byM[a]*local.slope[a][b*n+k] + byV[a]*local.squareSlope[a][b*n+k])
					}
				}
				first.Set(i, k, sum)
			}
		}
		var change mat.VecDense
		if change.SolveVec(first, mat.NewVecDense(n, reduce(s.q, drift))) != nil {
			return nil
		}
		largest, away := 0.0, 0.0
		for k := range x {
			x[k] -= change.AtVec(k)
			largest, away = max(largest, math.Abs(change.AtVec(k))), max(away, math.Abs(x[k]-start[k]))
		}
		if !(away < maxAdamShift) {
			return nil
		}
		before := mat.NewDense(n, n, nil)
		if out.cov != nil {
			before.Copy(out.cov)
		}
		var ok bool
		if out.cov, joint, ok = r.law(mv, vv); !ok {
			return nil
		}
		var moved mat.Dense
		moved.Sub(out.cov, before)
		if largest <= still+1e-7*mat.Norm(out.cov, 2) && mat.Norm(&moved, 2) <= 1e-7*mat.Norm(out.cov, 2) {
			for k := range x {
				out.shift = append(out.shift, x[k]-start[k])
			}
			out.read(s, start, x)
			out.slowing = l.adamSlowing(s, start, x)
			return out
		}
	}
	return nil
}

// maxAdamShift is the distance in logits beyond which a shift of the fixed point is not followed.
const maxAdamShift = 3

// adamStep holds h = m/(√v + ε) and its derivatives.
type adamStep struct{ value, byM, byV, byMV, byVV float64 }

func adamSlopes(m, v, epsilon float64) adamStep {
	root := math.Sqrt(v)
	r, slope := root+epsilon, 1/(2*root)
	return adamStep{
		value: m / r, byM: 1 / r, byV: -m * slope / (r * r), byMV: -slope / (r * r),
		byVV: m * (2*slope*slope/(r*r*r) + slope/(2*v)/(r*r)),
	}
}

// recursion returns the linear map of a step about a mean, with h_m and h_v by arm.
func (s *adamState) recursion(l *adamLocal, byM, byV []float64) *adamRecursion {
	arms, n := s.q.Dims()
	size := n*len(l.inputs) + 2*arms
	r := &adamRecursion{
		take: linear.Identity(size), move: linear.Identity(size), kicks: mat.NewDense(size, size, nil), step: new(mat.Dense), period: s.period, n: n, arms: arms,
	}
	keep := [2]float64{s.Optimizer.Beta1, s.Optimizer.Beta2}
	for half, slopes := range [2][][]float64{l.slope, l.squareSlope} {
		for a := range arms {
			row := n + half*arms + a
			r.take.Set(row, row, keep[half])
			for i := range l.inputs {
				for k := range n {
					r.take.Set(row, i*(n+2*arms)+k, (1-keep[half])*slopes[a][i*n+k])
				}
			}
			for b := range arms {
				covariance := [2][2]float64{{l.second[a][b], l.mixed[a][b]}, {l.mixed[b][a], l.square[a][b]}}
				for other := range 2 {
					r.kicks.Set(row, n+other*arms+b, (1-keep[half])*(1-keep[other])*covariance[half][other])
				}
			}
		}
	}
	rate := s.Optimizer.LearningRate
	for k := range n {
		for a := range arms {
			r.move.Set(k, n+a, rate*s.q.At(a, k)*byM[a])
			r.move.Set(k, n+arms+a, rate*s.q.At(a, k)*byV[a])
		}
	}
	r.step.Mul(r.move, r.take)
	r.noise = linear.Congruence(r.move, r.kicks)
	if s.period > 1 {
		r.refresh = linear.Identity(size)
		for k := range n {
			old := n + 2*arms + k
			r.refresh.Set(old, old, 0)
			r.refresh.Set(old, k, 1)
		}
	}
	return r
}

// law writes Cov(m_a, v_a) and Var v_a before x moves, averaged over the phases, and returns the covariance of x and
// the joint one of the policies that a force depends on.
func (r *adamRecursion) law(mv, vv []float64) (cov *mat.Dense, joint [][]float64, ok bool) {
	size, _ := r.step.Dims()
	gathered, period := mat.NewDense(size, size, nil), linear.Identity(size)
	for range r.period {
		gathered = linear.Congruence(r.step, gathered)
		gathered.Add(gathered, r.noise)
		var next mat.Dense
		next.Mul(r.step, period)
		period = &next
	}
	if r.refresh != nil {
		var next mat.Dense
		next.Mul(period, r.refresh)
		period = &next
	}
	state, ok := linear.Lyapunov(period, gathered)
	if !ok {
		return nil, nil, false
	}
	if r.refresh != nil {
		state = linear.Congruence(r.refresh, state)
	}
	n, places := r.n, []int{}
	for k := range n {
		places = append(places, k)
	}
	if r.refresh != nil {
		for k := range n {
			places = append(places, n+2*r.arms+k)
		}
	}
	clear(mv)
	clear(vv)
	cov, joint = mat.NewDense(n, n, nil), group.Square(len(places))
	w := 1 / float64(r.period)
	for range r.period {
		for i, from := range places {
			for k, to := range places {
				joint[i][k] += w * state.At(from, to)
			}
		}
		middle := linear.Congruence(r.take, state)
		middle.Add(middle, r.kicks)
		for a := range r.arms {
			mv[a] += w * middle.At(n+a, n+r.arms+a)
			vv[a] += w * middle.At(n+r.arms+a, n+r.arms+a)
		}
		state = linear.Congruence(r.step, state)
		state.Add(state, r.noise)
	}
	for i := range n {
		copy(cov.RawRowView(i), joint[i][:n])
	}
	return cov, joint, true
}

// read adds the moments of J about the mean x, with its value at the fixed point start.
func (out *adamSecond) read(s *adamState, start, x []float64) {
	n, cov := len(x), group.Square(len(x))
	for i := range n {
		copy(cov[i], out.cov.RawRowView(i))
	}
	j := rewardOf.over(s.model, func(x []float64) (now, old []float64) { return s.logits(x), nil }, x, cov)
	out.reward, out.variance = j.shift-s.expected(s.logits(start)), j.deviation*j.deviation
}

// adamSlowing returns the slowest rate of the mean step E h of a policy that moves far more slowly than v forgets,
//
//	E[m/√v] √(E g²) = F (1 + ⅜q) − ½ c Cov(g, g²)/E g²,   c = (1−β1)(1−β2)/(1−β1β2)
//
// at the mean x over that of F/√(Var g) at the fixed point; 1 where either has none.
func (l *linearization) adamSlowing(s *adamState, start, x []float64) float64 {
	o, n := &s.Optimizer, len(x)
	c, square := (1-o.Beta1)*(1-o.Beta2)/(1-o.Beta1*o.Beta2), (1-o.Beta2)/(1+o.Beta2)
	gain := l.adamGain(*o)
	slowest := func(at []float64, drift func(x []float64) []float64) float64 {
		jacobian := mat.NewDense(n, n, nil)
		h := s.differenceStep()
		for k := range n {
			column := derivative(func(y []float64) []float64 {
				moved := make([]float64, n)
				for i := range moved {
					moved[i] = at[i] + y[i]
				}
				return reduce(s.q, drift(moved))
			}, n, h, k)
			for i, v := range column {
				jacobian.Set(i, k, -v)
			}
		}
		least := math.Inf(1)
		for _, z := range linear.Multipliers(jacobian) {
			least = min(least, real(z))
		}
		return least
	}
	leading := slowest(start, func(x []float64) []float64 {
		force, _ := s.moments(x)
		for a := range force {
			force[a] *= gain[a]
		}
		return force
	})
	second := slowest(x, func(x []float64) []float64 {
		force, mean := s.moments(x)
		pairs := s.pairs()
		mixed, squares := pairs.squares(force)
		for a, f := range force {
			force[a] = taylor(f, mean[a], c*mixed[a][a], square*squares[a][a], o.Epsilon)
		}
		return force
	})
	if !(leading > 0) || !(second > 0) {
		return 1
	}
	return second / leading
}
