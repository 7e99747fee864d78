package path

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

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

// This file follows mean and covariance of runs under Adam to second order
// (docs/theory-neglected.md §6.8). The heavy ball's spread does not serve: Adam divides by the root
// of a second moment that fluctuates with the force, so that noise acts on the mean at first order
// in its variance and without any curvature of the force.

// adamState is the normal law of the state of runs under Adam before a step: of the logits θ, the
// averages m of the force and v of its square, and past policies.
type adamState struct {
	state  // n = A each of θ, m, v, the policies that are kept, and the reused noise (ξ, χ) of (g, g²)
	locals map[force.Turned]*adamLocal
	drawn  [][]float64 // the covariance of the reused noise where it is drawn

	decay1, decay2 float64 // β1^t, β2^t
	// How far few draws in the memory of v may have moved runs, as coast and move tell. The larger
	// of both counts: they may have opposite signs.
	idle, beyond []float64
	// by arm the log of the share of runs in which v remembers no force of rewards, see coast
	unfelt []float64
	// The sums over the steps so far of the variance of m/√v, of first and of second order in noise.
	// Where the latter is over half of the former, no deviation over runs is known.
	moves [2]float64
}

// adamLocal is the force of a step and its square, (E g, E g²) by arm, expanded about the mean of
// the policies. It has the covariance of (g, g²), 2A×2A, as well. They are used while mean and
// covariance of the policies stay near those that they were computed at; see localForce.
type adamLocal struct {
	*localForce
	joint [][]float64 // the covariance
	// excess kurtosis of g_a, 1/p where few steps, a share p, exert a force
	excess []float64
	along  [][]float64 // slopes of E g_a, then of E g_a², by logit of the policies
	share  float64     // of the mean force that a limit leaves out
}

func newAdamState(p cell.Params, init []float64, steps int) *adamState {
	arms := len(p.Arms)
	s := &adamState{state: newState(&p, init, steps, arms, 0, 3), decay1: 1, decay2: 1,
		idle: make([]float64, arms), beyond: make([]float64, arms), unfelt: make([]float64, arms),
		locals: make(map[force.Turned]*adamLocal)}
	copy(s.mean, init)
	for block := range s.kept() {
		copy(s.mean[(3+block)*arms:], init)
	}
	if s.before() > 0 {
		copy(s.mean[s.reference:], p.Reference)
	}
	return s
}

// logits returns the logits of reduced coordinates.
func (s *adamState) logits(x []float64) []float64 {
	return s.moved(make([]float64, len(s.Arms)), x)
}

// take takes p times the mean force and its square into m and v.
func (v *visit) take(moments []float64, o *option.Optimizer) {
	for a := range v.m {
		v.m[a] = o.Beta1*v.m[a] + (1-o.Beta1)*moments[a]/(v.chance*v.groups)
		v.v[a] = o.Beta2*v.v[a] + (1-o.Beta2)*moments[len(v.v)+a]/(v.chance*v.groups)
	}
}

// current returns the logits of the runs that draw, of the policies in reduced coordinates that the
// force depends on. It sets the reference.
func (s *adamState) current(x []float64) []float64 {
	_, n := s.q.Dims()
	if s.before() > 0 {
		s.SetReference(s.logits(x[:n]))
	}
	return s.visit.from(s.logits(x[s.before()*n:][:n]))
}

// moments returns the mean of the force and of its square, one after the other, at policies in
// reduced coordinates: the present one and, unless it is the same, those that draw.
func (s *adamState) moments(x []float64) []float64 {
	arms, n := s.q.Dims()
	all, olds := make([]float64, 2*arms), [][]float64(nil)
	for range s.ages {
		olds = append(olds, s.logits(x[len(x)-n*(len(s.ages)-len(olds)):][:n]))
	}
	s.meanForce(all[:arms], s.current(x), olds)
	noise := s.covariance(all[:arms])
	for a, f := range all[:arms] {
		all[arms+a] = f*f + max(noise.At(a, a), 0)
	}
	return all
}

// derive returns the local force and its square for policies of this mean and covariance.
func (s *adamState) derive(at []int, centre []float64, cov [][]float64) (
	l *adamLocal, growth float64) {
	where := slices.Concat(centre, s.visit.moved)
	if local := s.locals[s.turn]; local != nil {
		if growth, near := local.near(where, cov); near {
			return local, growth
		}
	}
	arms, n := s.q.Dims()
	force, shared := s.moments(centre), 1-1/float64(max(s.AgeDraws(), 1))
	l = new(adamLocal)
	l.joint, l.excess, l.share = s.joint(force[:arms])
	l.localForce, _ = s.overAges(at, cov, func(i int, x []float64, _ float64) []float64 {
		all := make([]float64, 2*arms)
		s.Set(s.current(x), s.logits(x[len(x)-n:]))
		s.MeanForce(all[:arms])
		s.limit(i, all[:arms])
		noise := s.ofStep()
		for a, f := range all[:arms] {
			all[arms+a] = (1-shared)*f*f + max(noise.At(a, a), 0)
		}
		return all
	})
	l.centre = where
	for a, f := range force[:arms] { // draws of two ages share their mean only
		for i, x := range l.slope[a] {
			l.bend[arms+a] += shared * x * floats.Dot(cov[i], l.slope[a])
		}
		l.bend[arms+a] += shared * 2 * f * l.bend[a]
		floats.AddScaled(l.slope[arms+a], 2*shared*f, l.slope[a])
	}
	for _, row := range l.slope {
		var back []float64
		for i := range len(row) / n {
			back = append(back, s.logits(row[i*n:(i+1)*n])...)
		}
		l.along = append(l.along, back)
	}
	s.locals[s.turn] = l
	return l, 1
}

// step advances the law from step t to t+1.
func (s *adamState) step(t int) {
	arms := len(s.Arms)
	s.refresh(t)
	if s.lost {
		return
	}
	at := s.inputs(t)
	centre, cov, ok := s.policies(at)
	if s.lost = !ok; s.lost {
		return
	}
	if _, n := s.q.Dims(); s.visit.chance < 1 && s.refreshes(t) {
		s.beginVisit(s.logits(centre[:n]), s.logits(centre[len(centre)-n:]))
	}
	local, growth := s.derive(at, centre, cov)
	moments := s.moments(centre)
	if s.renew(t, func(i int) []float64 { return local.joint[i] }) {
		s.drawn, s.visit.force = local.joint, slices.Clone(moments[:arms])
	}
	s.average(local, growth, moments, at)
	s.decay1 *= s.Optimizer.Beta1
	s.decay2 *= s.Optimizer.Beta2
	for a := range arms {
		// no sample has exerted a force, or the square's mean has lost its sign
		if !(s.mean[2*arms+a] > 0) {
			s.mean[2*arms+a] = 0
		}
	}
	rate := RateAt(&s.Optimizer, t)
	if turn := cell.InTurn(s.Params, t); turn > 0 {
		s.coast(local, rate*turn)
	} else {
		floats.Scale(math.Sqrt(s.Optimizer.Beta2), s.unfelt)
	}
	s.move(rate, local.share)
	if s.moveReference(t, arms, 3*arms); resets(s.Params, t) {
		s.decay1, s.decay2 = 1, 1
		clear(s.unfelt)
	}
}

// coast adds how far the runs may have moved along the penalty, beside their mean. Where a share p
// of steps has had rewards exert a force on an arm, none has in a share e^{−Σp} of the runs. Each p
// counts √β2 times as much a step later. What they divide is the penalty of steps without one, by
// its own size: they move by η a step, up to the reference. k1 in the loss knows none. No expansion
// about a mean knows of them.
func (s *adamState) coast(l *adamLocal, rate float64) {
	if s.KL.Coefficient+s.Entropy == 0 {
		return
	}
	still := math.Log(max(s.still(), math.SmallestNonzeroFloat64))
	penalty := make([]float64, len(s.Arms))
	s.SubtractPenalty(penalty)
	s.AddEntropy(penalty)
	for a, excess := range l.excess {
		s.unfelt[a] *= math.Sqrt(s.Optimizer.Beta2)
		s.unfelt[a] += max(still, -1/max(excess, 1e-3)) / float64(s.uses)
		if share := fp.MathExp(s.unfelt[a]); penalty[a] != 0 {
			s.idle[a] += math.Copysign(rate*share, penalty[a])
			if far := math.Abs(s.Now.Logs[a] - s.Target[a]); s.Restoring() == s.KL.Coefficient {
				s.idle[a] = max(-far, min(far, s.idle[a]))
			}
		}
	}
}

// still returns the probability that no rewards of a step exert a force, 0 if not known. Those of a
// group are equal, or all its samples have one arm. It makes κ that of the samples of such groups.
func (s *adamState) still() (p float64) {
	if s.Filter != option.KeepAll {
		return 0
	}
	shares, all := make([]float64, len(s.Old)), s.Law.Values(s.Old)
	for a, q := range s.Old {
		one := make([]float64, len(s.Old))
		one[a], shares[a] = 1, fp.Pow(q, s.Size)
		for v, m := range s.Law.Values(one) {
			if m > 0 {
				shares[a] += (q*m*fp.Pow(all[v], s.Size-1) - fp.Pow(q*m, s.Size)) / s.Law.Prompts()
			}
		}
	}
	p = floats.Sum(shares)
	for a, q := range s.Old {
		s.Kappa[a] *= shares[a] / max(q*p, math.SmallestNonzeroFloat64)
	}
	return fp.Pow(p, float64(s.GroupsPerStep))
}

// average is the first half of a step: m and v take in the force and its square, of these moments.
func (s *adamState) average(l *adamLocal, growth float64, moments []float64, at []int) {
	arms := len(s.Arms)
	keep := [2]float64{s.Optimizer.Beta1, s.Optimizer.Beta2}
	take := [2]float64{1 - keep[0], 1 - keep[1]}
	parts := append([]int{arms, 2 * arms}, at...)
	if s.reused > 0 {
		parts = append(parts, s.reused, s.reused+arms)
	}
	change := group.Zeros(2*arms, len(parts)*arms)
	for i, slopes := range l.along {
		row, half := change[i], i/arms
		row[i] = keep[half]
		floats.AddScaled(row[2*arms:2*arms+len(slopes)], take[half], slopes)
		if s.reused > 0 && s.drawn[i][i] > 0 { // how much of the reused noise a force has
			row[len(row)-2*arms+i] = take[half] * math.Sqrt(l.joint[i][i]/s.drawn[i][i])
		}
	}
	if s.reused > 0 {
		c := block(s.cov, s.reused, 0, arms)
		if s.visit.chance < 1 {
			s.visit.leave(c)
		}
		old := at[len(at)-1]
		for a, x := range pushOf(s.Model, c, s.mean[:arms], s.mean[old:old+arms]) {
			slope := l.along[a][s.before()*arms:][:arms]
			moments[arms+a] += 2*moments[a]*x + 2*floats.Dot(slope, c.RawRowView(a))
			moments[a] += x
		}
		if s.visit.chance < 1 {
			s.visit.take(moments, &s.Optimizer)
		}
	}
	for i, x := range moments {
		s.mean[arms+i] = keep[i/arms]*s.mean[arms+i] + take[i/arms]*(x+growth*l.bend[i])
	}
	var noise func(r, c int) float64
	if s.reused == 0 {
		noise = func(r, c int) float64 { return take[r/arms] * take[c/arms] * l.joint[r][c] }
	}
	s.takeAlong(arms, change, parts, noise)
}

// move is the second half of a step: the logits move by η times the mean of k_1m/(√(k_2v) + ε),
// k_i = 1/(1 − β_i^t), to second order in the deviations. A share of it is not known.
func (s *adamState) move(rate, share float64) {
	arms := len(s.Arms)
	k1, k2 := 1/(1-s.decay1), 1/(1-s.decay2)
	byM, byV := make([]float64, arms), make([]float64, arms)
	for a := range arms {
		m, v := arms+a, 2*arms+a
		if s.mean[v] == 0 { // which no step of a finite size leaves behind
			continue
		}
		along := func(share float64) adamStep {
			return adamSlopes(k1*(s.mean[m]+share*s.visit.m[a]), k2*(s.mean[v]+share*s.visit.v[a]),
				s.Optimizer.Epsilon)
		}
		h := along(0)
		if p := s.visit.chance; p < 1 {
			s.visit.moved[a] += rate * along(1-p).value
			if s.mean[v] > p*s.visit.v[a] {
				s.visit.moved[a] -= rate * along(-p).value
			}
		}
		mixed, square := k1*k2*s.cov[m][v], k2*k2*s.cov[v][v]
		noisy := h.byMV*mixed + 0.5*h.byVV*square
		s.mean[a] += rate * (h.value + noisy)
		// the order beyond the second, where few draws are in the memory of v
		q := s.cov[v][v] / (s.mean[v] * s.mean[v])
		s.beyond[a] += rate * math.Copysign(
			min(q*q, 1)*(math.Abs(h.value)+math.Abs(noisy))+share*math.Abs(h.value), h.value+noisy)
		byM[a], byV[a] = rate*k1*h.byM, rate*k2*h.byV
		mm, mv, vv := s.cov[m][m], s.cov[m][v], s.cov[v][v]
		byMV, byVV := rate*k1*k2*h.byMV, rate*k2*k2*h.byVV
		s.moves[0] += byM[a]*byM[a]*mm + 2*byM[a]*byV[a]*mv + byV[a]*byV[a]*vv
		s.moves[1] += byMV*byMV*(mm*vv+mv*mv) + 2*byMV*byVV*mv*vv + 0.5*byVV*byVV*vv*vv
	}
	s.add(0, arms, byM)
	s.add(0, 2*arms, byV)
}

// fewDraws is the number of draws up to which steps are about the signs of forces. No normal law
// knows their spread. Of 77 simulated deviations after so few 40 were off by a third.
const fewDraws = 4

// underAdam is spread.shift with the mean itself in the place of its shift.
func (o *observable) underAdam(s *adamState, t int) shifted {
	_, n := s.q.Dims()
	return o.ofAges(s.snapshots, s.drawing(t), func(_, old int) shifted {
		mean, cov, ok := s.policies(o.slots(0, old))
		if s.lost || !ok {
			return lostShift
		}
		reduced := func(at int) []float64 { return linear.Reduce(s.q, s.mean[at:at+s.n]) }
		present := reduced(0)
		still, stillOld := s.logits(present), s.logits(reduced(old))
		at := func(x []float64) (now, drawn []float64) {
			return o.arguments(s.logits(x[:n]), s.logits(x[len(x)-n:]), still, stillOld)
		}
		by := o.over(&s.state, at, mean, cov)
		by.nearBound = s.nearBound
		here := o.of(s.Model, still, stillOld)
		off := func(far []float64) float64 {
			moved := floats.AddTo(make([]float64, n), present, linear.Reduce(s.q, far))
			return math.Abs(o.of(s.Model, s.logits(moved), stillOld) - here)
		}
		for a, x := range s.beyond { // of an unknown sign
			one := make([]float64, len(s.beyond))
			one[a] = x
			by.idle += off(one)
		}
		by.idle = max(by.idle, off(s.idle))
		by.isRough = t > 0 && s.Drawn(t) <= fewDraws || s.moves[1] > s.moves[0]/2
		return by
	})
}

// adamPath returns the means of observables at the steps at of runs from the logits init, to second
// order, in the place of shifts. Beyond the step last it goes on only where runs have been spread.
func adamPath(p cell.Params, init []float64, at []int, last int, of []observable) [][]shifted {
	s, all, wide := newAdamState(p, init, at[len(at)-1]), make([][]shifted, len(of)), false
	for t, n := 0, 0; n < len(at) && (t <= last || wide); t++ {
		s.turn = force.Turn(s.Model, t, s.mean[:s.n])
		for ; n < len(at) && at[n] == t; n++ {
			for i := range of {
				by := of[i].underAdam(s, t)
				all[i], wide = append(all[i], by), wide || !(by.variance <= narrow)
			}
		}
		s.step(t)
	}
	return all
}
