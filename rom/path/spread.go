package path

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// noSpread returns the reason why the spread of runs is not followed, none where it is.
func noSpread(p *cell.Params, steps int) scope.Reason {
	if because := p.NotDerived(cell.WeightsAtRest, cell.SpreadOfRuns); because.Out() {
		return because
	}
	arms := len(p.Arms)
	if arms > cell.MaxPathArms {
		return scope.TooLarge.Because(
			fmt.Sprintf("the spread of runs with more than %d arms that differ, here %d, or under Adam, "+
				"of reused samples or bounds of probabilities", cell.MaxPathArms, arms))
	}
	past := newSnapshots(&p.Lag, p.Reference, steps).likely()
	if (arms-1)*(2+past.kept()) > cell.MaxPathState || arms*len(past.ages) > cell.MaxDrawing {
		return scope.TooLarge.Because("the spread of runs with so many arms and past policies")
	}
	normal := arms == 2 && !p.GroupsCounted()
	if p.LimitedOnTheWay() && !normal && len(past.ages) > 1 && len(past.ages)*steps > mostLimitedAges {
		return scope.TooLarge.Because("a largest norm that acts on runs of so many ages and steps")
	}
	return scope.Reason{}
}

// mostLimitedAges is the number of ages times steps up to which a limited gradient is followed in
// seconds. Of two arms that are taken for normal its law takes no time.
const mostLimitedAges = 2000

// spread is the normal law of the deviations of runs from the mean field at one step:
// of the velocity and of each policy in the state, each n = A−1 reduced coordinates.
type spread struct {
	state  // n = A−1 each of the velocity, the policy and those that are kept, and ξ
	locals map[force.Turned]*localForce
	drawn  float64 // trace of the covariance of the reused noise ξ
	// how far the order of prompts may have pushed runs, see order, and what a limit leaves out
	aside []float64
}

// localForce is the mean over a law of the policies of the force about the mean field: offset +
// bend + slope·(mean displacement), with bend = ½ Σ ∂²E[g] Cov, and the mean covariance of the
// noise. It is computed at the centre (logits in reduced coordinates, and the running mean of a
// baseline) and the covariance around it, and is used while both stay within holdCentre and
// holdSpread of these, with bend in proportion to the trace of the covariance.
type localForce struct {
	centre, offset, bend []float64
	field                []float64 // the force of the mean field
	around, slope        [][]float64
	noise                *mat.Dense // of a step
	between              [2]float64 // variance by the prompts of a step, and half its derivative
	missed               []float64  // what a limit leaves out of the mean force
}

// Limits of the use of a localForce: the displacement of its centre in logits, the relative and the
// absolute change of the trace of a covariance, of which one suffices, and the change of its shape
// in units of the standard deviations. The shift is smooth on the scale of one logit and the bend
// grows with the trace, so they leave it a relative error of about a hundredth.
const (
	holdCentre = 0.01
	holdSpread = 0.02
	holdGrowth = 0.002
	holdShape  = 0.005
)

// unaveraged is the share of the variance of the policies over which the covariance of the noise is
// not averaged, along the axes with the smallest variances: by this share of a correction that is
// itself of the order of the variance the noise is off.
const unaveraged = 0.01

// maxPathVariance is the variance of a logit beyond which a normal law of deviations
// means nothing: policies are then near 0 or 1, and J has two peaks.
const maxPathVariance = 100

// newSpread returns the spread of runs at their start.
func newSpread(p cell.Params, init []float64, steps int) *spread {
	n := len(p.Arms) - 1
	s := &spread{state: newState(&p, init, steps, n, n, 2), aside: make([]float64, n),
		locals: make(map[force.Turned]*localForce)}
	s.StartBaseline()
	return s
}

// step advances the spread from step t, where the mean field is at theta, to t+1.
func (s *spread) step(t int, theta []float64) {
	s.refresh(t)
	olds := s.at(t, theta)
	if s.lost {
		return
	}
	if s.visit.chance < 1 && s.refreshes(t) {
		s.beginVisit(theta, s.moved(olds[0], s.mean[s.drawing(t)[0]:][:s.n]))
	}
	local, growth := s.force(t, theta, olds)
	if s.lost = local == nil; s.lost {
		return
	}
	if s.Running != nil && s.Draws(t) {
		s.MoveBaseline(s.snapshots.mean(olds, s.Expected))
	}
	s.order(t)
	if s.renew(t, local.noise.RawRowView) {
		s.drawn = mat.Trace(local.noise)
	}
	s.advance(t, theta, olds[0], local, growth)
	s.moveReference(t, 0, s.n)
}

// order draws the prompts of step t, where a draw differs from the mean of all prompts by U, of
// variance 1. In an epoch of M draws, of which those before, i of them, have the sum S,
//
//	U = −S/(M−i) + ε,   Var ε = 1 − i/((M−1)(M−i)),   S ← S + U
//
// so that Cov(U, U′) = −1/(M−1) of two draws of the epoch, and it ends at S = 0.
func (s *spread) order(t int) {
	if s.epoch == 0 || t%s.uses != 0 {
		return
	}
	drawn := float64(t / s.uses % s.epoch)
	left, sum := float64(s.epoch)-drawn, s.draw+s.n
	s.takeAlong(s.draw, [][]float64{{-1 / left}}, []int{sum}, func(int, int) float64 {
		return 1 - drawn/(float64(s.epoch-1)*left)
	})
	s.add(sum, s.draw, []float64{1})
}

// pushOf returns the push, beyond the mean force, of groups drawn at the logits old and reused at
// now, where they have moved the policy. C is the covariance of their noise when it is drawn with
// the logits, by arm. w and s are the means of w^± and of their slopes by ρ:
//
//	v_a − π_a Σ_b v_b − π_a (u_a − Σ_b π_b u_b),
//	v_a = ρ_a s_a (C_aa − Σ_b C_ab π_b),   u_a = Σ_b w_b C_ba
//
// Advantages of a group add up to 0, and so does their noise.
func pushOf(m *force.Model, c *mat.Dense, now, old []float64) []float64 {
	m.Now.Set(now)
	m.Past.Set(old)
	pi, v, u := m.Now.Probs, make([]float64, len(now)), make([]float64, len(now))
	for a := range v {
		ratio := fp.MathExp(m.Now.Logs[a] - m.Past.Logs[a])
		up, down := weight.Slopes(&m.Importance, ratio, m.Past.Probs[a])
		v[a] = ratio * (up + down) / 2 * (c.At(a, a) - floats.Dot(c.RawRowView(a), pi))
		up, down = weight.At(&m.Importance, ratio, m.Past.Probs[a])
		floats.AddScaled(u, (up+down)/2, c.RawRowView(a))
	}
	sum := floats.Sum(v) - floats.Dot(u, pi)
	for a, p := range pi {
		v[a] -= p * (sum + u[a])
	}
	return v
}

// advance takes the law from step t to t+1 by v′ = μv + g and θ′ = θ + η(carry·v + gain·g), linear
// in the velocity and the policies that the force depends on.
func (s *spread) advance(t int, theta, old []float64, local *localForce, growth float64) {
	n := s.n
	mu, rate := s.Optimizer.Momentum, RateAt(&s.Optimizer, t)
	gain, carry := linear.StepGains(s.Optimizer.Kind, mu)
	at := s.inputs(t)
	parts, share := append([]int{0}, at...), 0.0
	force, pushed, push, by := make([]float64, n), []float64(nil), 0.0, 0.0
	own, noise := block(s.cov, s.reused, n, n), local.noise.At
	if s.epoch > 0 && local.between[0] > 0 { // n is 1
		parts, by = append(parts, s.draw), math.Sqrt(local.between[0])
		together := s.cov[s.draw][n]
		push = local.between[1] / by * together
		own.Set(0, 0, own.At(0, 0)+by*together)
	}
	if s.reused > 0 {
		parts, noise = append(parts, s.reused), nil
		if s.drawn > 0 { // else a limit leaves nothing of it
			share = math.Sqrt(max(mat.Trace(local.noise), 0) / s.drawn)
		}
		s.visit.leave(own)
		c := linear.Congruence(s.q, own)
		drawn := at[len(at)-1]
		pushed = linear.Reduce(s.q, pushOf(s.Model, c, s.moved(theta, s.visit.from(s.mean[n:2*n])),
			s.moved(old, s.mean[drawn:drawn+n])))
	}
	force[0] = push
	ahead := rate * (carry - gain*mu) // θ′ = θ + ahead·v + η gain·v′
	s.add(n, 0, slices.Repeat([]float64{ahead}, n))
	change := group.Zeros(n, len(parts)*n)
	for i, v := range change {
		force[i] += local.offset[i] + growth*local.bend[i]
		for k, by := range local.slope[i] {
			force[i] += by * s.mean[parts[1+k/n]+k%n]
		}
		if s.refreshes(t) {
			s.visit.force[i] = local.field[i] + force[i]
		}
		if copy(v[n:], local.slope[i]); by > 0 {
			v[n+len(local.slope[i])] = by
		}
		if s.reused > 0 {
			force[i] += pushed[i]
			v[(len(parts)-1)*n+i] = share
		}
		floats.AddScaled(v[:n], -ahead, v[n:2*n])
		v[i] += mu
	}
	aside := slices.Clone(s.aside)
	for i, f := range force {
		if w := &s.visit; w.chance < 1 {
			g := (local.field[i] + f) / (w.chance * w.groups)
			w.moved[i] += rate * (carry*w.m[i] + gain*g)
			w.m[i] = mu*w.m[i] + g
		}
		by := local.missed[i]
		for k, x := range local.slope[i] {
			by += x * aside[k%n]
		}
		if i == 0 {
			by += math.Abs(push)
		}
		s.aside[i] += rate / (1 - mu) * by
		v := s.mean[i]
		s.mean[n+i] += rate * (carry*v + gain*f)
		s.mean[i] = mu*v + f
	}
	s.takeAlong(0, change, parts, noise)
	s.add(n, 0, slices.Repeat([]float64{rate * gain}, n))
}

// add takes the covariance along when block to of the coordinates gains as many at from, times by.
func (s *state) add(to, from int, by []float64) {
	for i, x := range by {
		floats.AddScaled(s.cov[to+i], x, s.cov[from+i])
	}
	for _, row := range s.cov {
		for i, x := range by {
			row[to+i] += x * row[from+i]
		}
	}
}

// takeAlong takes the covariance along when coordinates from to on are replaced by a linear map of
// others and by noise, of these covariances, if that is not nil. The others are blocks of n,
// which begin at from. The map, change, has a row for each of the former.
func (s *state) takeAlong(to int, change [][]float64, from []int, noise func(r, c int) float64) {
	for r, change := range change {
		row := s.rows[r]
		clear(row)
		for k, by := range change {
			if by != 0 {
				floats.AddScaled(row, by, s.cov[from[k/s.n]+k%s.n])
			}
		}
	}
	for r, row := range s.rows {
		copy(s.cov[to+r], row)
		for c, x := range row {
			s.cov[c][to+r] = x
		}
	}
	for r, row := range s.rows {
		for c, change := range change[:r+1] {
			x := 0.0
			if noise != nil {
				x = noise(r, c)
			}
			for k, part := range from {
				x += floats.Dot(row[part:part+s.n], change[k*s.n:(k+1)*s.n])
			}
			s.cov[to+r][to+c], s.cov[to+c][to+r] = x, x
		}
	}
}

// force returns the mean force of step t at the mean-field logits theta and old, and the factor of
// its bend; nil if the spread is too large to be followed.
func (s *spread) force(t int, theta []float64, olds [][]float64) (local *localForce, growth float64) {
	at := s.inputs(t)
	mean, cov, ok := s.policies(at)
	if !ok {
		return nil, 0
	}
	n, d, now := s.n, len(mean), s.n*s.before()
	anchor, centre := s.Anchor, []float64(nil)
	if s.before() > 0 {
		centre = linear.Reduce(s.ofLogits, anchor)
	}
	centre = append(centre, linear.Reduce(s.ofLogits, theta)...)
	for _, old := range olds[:d/n-s.before()-1] { // none on-policy
		centre = append(centre, linear.Reduce(s.ofLogits, old)...)
	}
	floats.Add(centre, mean)
	if s.Running != nil {
		centre = append(centre, *s.Running)
	}
	centre = append(centre, s.visit.moved...)
	if growth, near := s.locals[s.turn].near(centre, cov); near {
		return s.locals[s.turn], growth
	}
	all := make([]float64, len(theta))
	noise, middle := mat.NewSymDense(len(theta), nil), (*mat.SymDense)(nil)
	missed := make([]float64, n)
	forceAt := func(i int, x []float64, weight float64) []float64 {
		if now > 0 {
			s.SetReference(s.moved(anchor, x[:n]))
		}
		s.Set(s.moved(theta, s.visit.from(x[now:][:n])), s.moved(olds[i], x[len(x)-n:]))
		s.MeanForce(all)
		s.limit(i, all)
		reduced := linear.Reduce(s.ofForce, all)
		if weight > 0 {
			here := s.ofStep()
			if weight == 1 {
				if middle = here; s.most > 0 {
					_, excess := s.Joint(s.free)
					floats.AddScaled(missed, s.shares[i]*s.missed(all, excess), reduced)
				}
			} else {
				addScaled(noise, -s.shares[i]*weight, middle)
			}
			addScaled(noise, s.shares[i]*weight, here)
		}
		return reduced
	}
	about := func(x []float64) { // of a step with groups of several ages
		if s.several() {
			drawn := make([][]float64, len(olds))
			for i, old := range olds {
				drawn[i] = s.moved(old, x[now+(1+i)*n:][:n])
			}
			s.meanForce(all, s.moved(theta, x[now:][:n]), drawn)
		}
	}
	about(mean)
	l, apart := s.overAges(at, cov, forceAt)
	apart.Scale(1/float64(max(s.AgeDraws(), 1)), apart)
	// An epoch moves a prompt at once, by the force of before. Draws by chance bend it on the way, by
	// ½a FF′(1/c − 1), a the sum of the steps that a force causes.
	if l.missed = missed; s.DrawnAsByChance() && s.Chance > 0 {
		steps := float64(s.uses) / (1 - s.Optimizer.Momentum)
		lump := RateAt(&s.Optimizer, t) * steps * (1/s.Chance - 1) / 2
		l.missed[0] += math.Abs(lump * floats.Norm(l.slope[0], 1) * l.offset[0]) // n is 1
	}
	l.centre, l.noise = centre, linear.Sum(linear.Within(s.ofNoise, noise), apart)
	about(make([]float64, d))
	still := s.visit.from(make([]float64, n))
	l.field = make([]float64, n)
	for i, share := range s.shares {
		x := make([]float64, now+2*n)
		floats.AddScaled(x[now:][:n], -1, still)
		floats.AddScaled(l.field, share, forceAt(i, x, 0))
	}
	floats.Sub(l.offset, l.field)
	if law, ok := s.Law.(*group.Prompts); ok && s.epoch > 0 {
		differing := func(x float64) float64 {
			forceAt(0, []float64{mean[0] + x, mean[d-1] + x}[:d], 0)
			within := s.Covariance().At(0, 0)
			law.Between = inStep(law, s.Params)
			all := s.Covariance().At(0, 0)
			law.Between = 0
			return 2 * (all - within)
		}
		l.between = [2]float64{differing(0),
			(differing(holdCentre) - differing(-holdCentre)) / (4 * holdCentre)}
	}
	for i, row := range l.slope {
		l.offset[i] -= floats.Dot(row, mean)
	}
	s.locals[s.turn] = l
	return l, 1
}

// overAges expands the mean over the ages i of functions of the present policy and of the one that
// draws, of which those at the given places have the covariance cov: laws of two policies serve.
// apart is the covariance of the functions over the ages, in the mean over the law.
func (s *state) overAges(at []int, cov [][]float64,
	of func(i int, x []float64, weight float64) []float64) (all *localForce, apart *mat.Dense) {
	f := len(s.rows)
	all, apart = &localForce{around: cov, offset: make([]float64, f), bend: make([]float64, f),
		slope: group.Zeros(f, len(cov))}, mat.NewDense(f, f, nil)
	for i, share := range s.shares {
		first := at[:1+s.before()]
		pair := slices.Compact(append(slices.Clone(first), at[min(len(first)+i, len(at)-1)]))
		mean, two, _ := s.policies(pair)
		var own [][]float64 // of the policies alone
		for _, row := range two[len(two)/len(pair)*s.before():] {
			own = append(own, row[len(row)/len(pair)*s.before():])
		}
		one := expand(mean, two, s.DifferenceStep(), func(x []float64, weight float64) []float64 {
			values := of(i, x, weight)
			if weight == 1 {
				s.nearBound = max(s.nearBound, s.BoundWithin(s.q, own), force.TieWithin(s.Model, s.q, own))
			}
			return values
		})
		floats.AddScaled(all.offset, share, one.offset)
		floats.AddScaled(all.bend, share, one.bend)
		for f, row := range one.slope {
			for k, n := 0, len(mean)/len(pair); k < len(row); k += n {
				to := k
				if k >= n*len(first) {
					to += n * i
				}
				floats.AddScaled(all.slope[f][to:][:n], share, row[k:][:n])
			}
		}
		one.addSquare(apart, share)
	}
	all.addSquare(apart, -1)
	return all, apart
}

// addSquare adds w times the mean products of the functions over the law.
func (l *localForce) addSquare(sum *mat.Dense, w float64) {
	d, mean := len(l.around), mat.NewVecDense(len(l.bend), slices.Clone(l.bend))
	mean.AddVec(mean, mat.NewVecDense(len(l.bend), l.offset))
	one := linear.Congruence(mat.NewDense(len(l.bend), d, slices.Concat(l.slope...)),
		mat.NewDense(d, d, slices.Concat(l.around...)))
	one.RankOne(one, 1, mean, mean)
	one.Scale(w, one)
	sum.Add(sum, one)
}

// expand returns functions of the policies at the mean of their law, half their second derivatives
// times its covariance, and their slopes by function. of has 1 at the mean, which comes first, else
// the weight of the point in a mean over the law, 0 on the axes of the least variances.
func expand(mean []float64, cov [][]float64, least float64,
	of func(x []float64, weight float64) []float64) *localForce {
	l, gone, all := &localForce{around: cov}, 0.0, trace(cov)
	points(mean, cov, least, func(x []float64) {
		l.offset = of(x, 1)
		l.bend, l.slope = make([]float64, len(l.offset)), group.Zeros(len(l.offset), len(mean))
	}, func(up, down, axis []float64, r, variance float64) {
		w := 0.5 * variance / (r * r)
		weight := w
		if gone += variance; gone <= unaveraged*all {
			weight = 0
		}
		high, low := of(up, weight), of(down, weight)
		for i, middle := range l.offset {
			l.bend[i] += w * (high[i] + low[i] - 2*middle)
			floats.AddScaled(l.slope[i], (high[i]-low[i])/(2*r), axis)
		}
	})
	return l
}

func trace(m [][]float64) (sum float64) {
	for i := range m {
		sum += m[i][i]
	}
	return sum
}

// near reports whether the force computed for l may be used for a law with this centre
// and covariance, and the factor of its bend; l may be nil.
func (l *localForce) near(centre []float64, cov [][]float64) (growth float64, ok bool) {
	if l == nil || len(centre) != len(l.centre) ||
		floats.Distance(centre, l.centre, math.Inf(1)) > holdCentre {
		return 0, false
	}
	now, then := trace(cov), trace(l.around)
	if math.Abs(now-then) > max(holdSpread*then, holdGrowth) {
		return 0, false
	}
	growth = 1
	if then > 0 {
		growth = now / then
	}
	deviations := make([]float64, len(cov))
	for i, row := range cov {
		deviations[i] = math.Sqrt(l.around[i][i])
		for j, x := range row[:i+1] {
			scale := growth * deviations[i] * deviations[j]
			if math.Abs(x-growth*l.around[i][j]) > holdShape*scale {
				return 0, false
			}
		}
	}
	return growth, true
}

// moved returns logits displaced by x in reduced coordinates.
func (s *state) moved(logits, x []float64) []float64 {
	out := slices.Clone(logits)
	blas64.Gemv(blas.NoTrans, 1, s.q.RawMatrix(), linear.Vector(x), 1, linear.Vector(out))
	return out
}

// shift returns by how much the mean of an observable before step t differs from that of the mean
// field, which has its policy at theta, the largest variance of a gap of two logits, and the
// standard deviation of the observable; NaN if the spread is too large to be followed.
func (s *spread) shift(o *observable, t int, theta []float64) shifted {
	olds := s.at(t, theta)
	return o.ofAges(s.snapshots, s.drawing(t), func(i, place int) shifted {
		mean, cov, ok := s.policies(o.slots(s.n, place))
		if s.lost || !ok {
			return lostShift
		}
		at := func(x []float64) (now, drawing []float64) {
			return o.arguments(s.moved(theta, x[:s.n]), s.moved(olds[i], x[len(x)-s.n:]), theta, olds[i])
		}
		by := o.over(&s.state, at, mean, cov)
		by.shift -= o.of(s.Model, theta, olds[i])
		// the force jumps in this share of the groups, or of the samples
		by.nearBound, by.isRough = s.nearBound, s.nearBound > 0.1
		if floats.Norm(s.aside, 1) > 0 { // of such a push the next order is not known
			moved := s.moved(theta, s.aside)
			by.idle = math.Abs(o.of(s.Model, moved, olds[i]) - o.of(s.Model, theta, olds[i]))
		}
		// a kink that takes the whole slope moves an average over the points by σ/9
		if s.Limited() || s.counted != nil {
			by.idle += by.deviation / 4
		}
		return by
	})
}
