package rom

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Path is the predicted mean of a quantity over runs, at given optimizer steps.
type Path struct {
	Mean  []float64 // over runs; NaN where the spread of runs has no finite prediction
	Field []float64 // the quantity on the mean field; nil for prompts with a policy each

	// Deviation is the standard deviation over runs of what a run records. With the axes i of the
	// covariance of the logits, of variances V_i, the slopes f_i′ and the second derivatives f_i″ of
	// the quantity along them, and the variance that the samples of a step have at given policies, if
	// the quantity is one of the samples,
	//
	//	Σ_i (f_i′² V_i + ½ f_i″² V_i²) + variance of the samples
	//
	// It errs by a share of the order of V, the variance of a gap of two logits. It is 0 for a
	// quantity of the policy at G = ∞, NaN where Mean is or where it is not derived. Of prompts with a
	// policy each, which are independent, the variance of a mean over C of them is the sum of theirs
	// over C², in shuffled epochs with that by the order of the prompts; between the visits of a
	// prompt with momentum its deviation is interpolated linearly. Drawn with replacement prompts are
	// not independent, and it is nil: not derived.
	Deviation []float64

	// Neglected is the predicted size of what Mean leaves out, ≥ 0 and in units of
	// the quantity: the largest up to each step, since a run that lags behind does so for long, and
	// where runs are spread up to three times the step, since some are ahead. It is +Inf where
	// the spread of runs has no finite prediction. PathsAlone leaves it out, and Rounding.
	Neglected []float64
	// Rounding is the part of Neglected by which rounding errors move the mean field. It
	// grows exponentially where the mean field is chaotic.
	Rounding []float64

	// Kind is that of MeanField. Scope is also out for more than maxPathArms arms or maxPathState
	// coordinates, and at finite G under Adam for what the table of domains lists.
	Kind  Kind
	Scope Scope

	// Strata are the parts of J of prompts with a policy each by how hard they are at the start, the
	// hardest first; nil: of no such prompts, or they all start alike.
	Strata []Stratum
}

// Paths computes the means of quantities over runs from the logits init, one per arm, with zero
// velocity, at the optimizer steps at, which are ≥ 0 and ascending. The order is that given, and
// the time that of one. The Scope of a quantity is out where the bandit has none or it is not
// derived.
//
// A mean is the quantity on the mean field of MeanField plus its shift by the noise of finite
// groups, to second order (docs/theory-neglected.md §6). At G = ∞ there is no shift. Under Adam at
// a finite G it is that on a mean path of its own, see adamState, and neglects what adamNeglect
// says.
//
// What it neglects is the sum of three sizes. That of the noise is neglectedShift, the largest up
// to the step or beyond it (see ahead). The second is the error of a force that is expanded in 1/G
// (see expansionError). The third is the distance on the mean field of a second run whose logits
// are displaced by rounding in every step: instability makes errors grow there as in the simulated
// one.
func Paths(p Params, init []float64, at []int, of ...Observed) []Path {
	return paths(p, init, at, true, of...)
}

// PathsAlone is Paths without the sizes of what they neglect.
func PathsAlone(p Params, init []float64, at []int, of ...Observed) []Path {
	return paths(p, init, at, false, of...)
}

func paths(p Params, init []float64, at []int, neglected bool, of ...Observed) (all []Path) {
	if p = p.checked(); len(at) > 0 {
		p = unlimited(p, init, at[len(at)-1])
	}
	var known []observable
	var places []int
	all = make([]Path, len(of))
	for i, q := range of {
		o, because := p.observable(q)
		if because.Out() {
			all[i].Scope.Because = because
			continue
		}
		known, places = append(known, o), append(places, i)
	}
	follow := pathsOf
	if p.tabular() {
		follow = tabularPaths
	}
	for n, path := range follow(p, init, at, neglected, known...) {
		all[places[n]] = path
	}
	return all
}

// maxSharePath is the largest number of steps over which MeanZeroVariance averages, each of which
// takes about a microsecond.
const maxSharePath = 100_000

// MeanZeroVariance computes the mean over the optimizer steps from ≤ t < to of the share of groups
// whose rewards are all equal, E[Σ_v P(r = v)^G] of the policy that draws them, for runs from the
// logits init with zero velocity. It needs no fixed point. It is computed as in Paths. The scope is
// out at G = ∞, where there are no groups, and where the KL is a part of the reward.
func MeanZeroVariance(p Params, init []float64, from, to int) (share scope.Number) {
	p = p.checked()
	want(0 <= from && from < to, "to", to, "more than from")
	if share.Because = p.notDerived(rewardsInDigits, shareOnTheWay); share.Out() {
		return share
	}
	if to-from > maxSharePath {
		share.Because = scope.TooLarge.Because(fmt.Sprintf("the share of groups with equal rewards over more than %d steps, here %d", maxSharePath, to-from))
		return share
	}
	at := make([]int, to-from)
	for i := range at {
		at[i] = from + i
	}
	path := paths(p, init, at, true, ZeroVariance)[0]
	if share.Kind, share.Because = path.Kind, path.Scope.Because; share.Out() {
		return share
	}
	share.Value = floats.Sum(path.Mean) / float64(len(at))
	share.Leave(scope.HigherOrder, floats.Sum(path.Neglected)/float64(len(at)))
	return share
}

// pathsOf is Paths of checked parameters without prompts of their own.
func pathsOf(p Params, init []float64, at []int, neglected bool, of ...observable) []Path {
	all := make([]Path, len(of))
	because := p.notDerived(meanForceKnown)
	if !because.Out() && len(at) > 0 && p.GroupSize != option.Infinite {
		because = noSpread(&p, at[len(at)-1])
	}
	because = cmp.Or(because, p.notDerived(stateAtRest))
	for i := range all {
		all[i] = Path{Kind: newModel(&p).kind(), Scope: Scope{In: !because.Out(), Because: because}}
		if because.Out() {
			all[i].Mean = make([]float64, len(at))
		} else if neglected {
			all[i].Neglected, all[i].Rounding = make([]float64, len(at)), make([]float64, len(at))
		}
	}
	if because.Out() || len(at) == 0 || len(of) == 0 {
		return all
	}
	last, steps, places := at[len(at)-1], at, []int(nil)
	finite, ofAdam := p.GroupSize != option.Infinite, p.Optimizer.Kind == option.Adam
	if finite && neglected {
		steps = sampled(&p, at)
	}
	if finite && ofAdam {
		last = steps[len(steps)-1]
	}
	var noise *spread
	if finite && !ofAdam {
		noise = newSpread(p, init, steps[len(steps)-1])
	}
	run := followOn(p, init, steps, last, 0, of, noise)
	for _, t := range at {
		place, _ := slices.BinarySearch(steps, t)
		places = append(places, place)
	}
	var second [][]adamMean
	if finite && ofAdam {
		second = adamPath(p, init, steps, of)
	}
	for i := range all {
		path := &all[i]
		path.Deviation, path.Kind, path.Scope = make([]float64, len(at)), run.kind, run.scope
		for n, place := range places {
			path.Field = append(path.Field, run.field[i][place])
			switch mean := run.field[i][place]; {
			case second != nil:
				path.Mean, path.Deviation[n] = append(path.Mean, second[i][place].shift), second[i][place].deviation
			case noise != nil:
				by := run.noisy[i][place]
				path.Mean, path.Deviation[n] = append(path.Mean, mean+by.shift), by.deviation
			default:
				path.Mean = append(path.Mean, mean)
			}
		}
	}
	if neglected {
		neglect(&p, init, at, all, of, &run, steps, places, second)
	}
	return all
}

// neglect adds the sizes of what paths leave out, of run at steps, of which at are at the given
// places.
func neglect(p *Params, init []float64, at []int, all []Path, of []observable, run *followed, steps, places []int, second [][]adamMean) {
	var rounded [2]followed
	for side, displaced := range [2]float64{rounding, -rounding} {
		rounded[side] = followOn(*p, init, at, at[len(at)-1], displaced, of, nil)
	}
	for i := range all {
		path, o := &all[i], &of[i]
		if !path.Scope.In {
			continue
		}
		if second != nil || run.noisy != nil {
			floats.Add(path.Neglected, ahead(steps[:run.visited], at, o.span(p), func(n int) (size, variance float64) {
				if second != nil {
					return o.adamNeglect(p, run.field[i][n], &second[i][n]), second[i][n].variance
				}
				return o.neglectedShift(p, &run.noisy[i][n]), run.noisy[i][n].variance
			}))
		}
		if run.noisy != nil && path.Kind != Exact {
			addLargest(path.Neglected, o.expansionError(*p, init, at, func(n int) float64 { return run.noisy[i][places[n]].shift }))
		}
		for _, by := range rounded {
			addLargest(path.Rounding, func(n int) float64 { return math.Abs(by.field[i][n] - path.Field[n]) })
		}
		floats.Add(path.Neglected, path.Rounding)
	}
}

// expansionError returns what a force expanded in 1/G makes the observable's mean err by at each
// step, given the shift by noise. It is LeftOut, the largest up to the step, times that shift and
// the difference from the mean field at G = ∞, which is of first order in 1/G.
func (o *observable) expansionError(p Params, init []float64, at []int, shift func(n int) float64) func(n int) float64 {
	last, of, m, largest := at[len(at)-1], []observable{*o}, newModel(&p), 0.0
	here := followOn(p, init, at, last, 0, of, nil)
	p.GroupSize = option.Infinite
	group.AtInfinity(&p.Advantage)
	infinite := followOn(p, init, at, last, 0, of, nil)
	return func(n int) float64 {
		theta := here.logits[n]
		if theta == nil {
			return math.NaN()
		}
		m.set(theta, theta)
		largest = max(largest, m.law.LeftOut())
		return largest * (math.Abs(here.field[0][n]-infinite.field[0][n]) + math.Abs(shift(n)))
	}
}

// rounding is the distance, relative to logits and at least in logits, by which the logits
// of a second mean field are displaced at every step to see how far rounding errors grow.
// An operation errs by 2⁻⁵³ at most, a step is made of few, and two programs order them
// differently.
const rounding = 0x1p-48

// followed is a mean field at the steps asked for, as far as it is finite.
type followed struct {
	logits, drawing [][]float64 // of the policy, and of that which draws the groups
	// by observable and step, on the mean field; NaN where that is not finite
	field   [][]float64
	noisy   [][]shifted // by observable and step; nil: without noise
	visited int         // number of the steps that the run came to
	kind    Kind
	scope   Scope
}

// shifted is the change of an observable's mean by the noise at one step, see spread.shift.
type shifted struct {
	shift     float64
	variance  float64 // the largest of a gap of two logits
	deviation float64 // of the observable over runs
	nearBound bool    // runs have been within boundReach of a bound where a weight drops to 0
}

// lostShift is that of a spread that is too large to be followed.
var lostShift = shifted{shift: math.NaN(), variance: math.NaN(), deviation: math.NaN()}

// followOn follows a mean field at the steps at from the logits init, and about it the noise, if
// that is not nil. Every step displaces the logits by up to displaced times max(1, |θ_a|), each arm
// by another share of it, so that no symmetry hides the displacement. Beyond the step last it goes
// on only while the noise is wide and grows.
func followOn(p Params, init []float64, at []int, last int, displaced float64, of []observable, noise *spread) (f followed) {
	f.logits, f.drawing = make([][]float64, len(at)), make([][]float64, len(at))
	steps, variance, spreading := at[len(at)-1], 0.0, false
	for range of {
		field := make([]float64, len(at))
		for n := range at {
			field[n] = math.NaN()
		}
		f.field = append(f.field, field)
		if noise != nil {
			f.noisy = append(f.noisy, make([]shifted, len(at)))
		}
	}
	m, past := newModel(&p), newSnapshots(&p.Lag, init, steps)
	f.kind, f.scope = meanField(p, init, steps, func(t int, theta []float64) (more bool) {
		old := past.at(t, theta)
		if n := f.visited; at[n] == t {
			f.logits[n], f.drawing[n] = slices.Clone(theta), slices.Clone(old)
			for i := range of {
				f.field[i][n] = of[i].of(m, theta, old)
				if noise != nil {
					f.noisy[i][n] = noise.shift(&of[i], t, theta, old)
				}
			}
			if f.visited++; f.noisy != nil {
				before := variance
				variance = f.noisy[0][n].variance
				spreading = variance > narrow && variance > before
			}
		}
		if t >= last && !spreading {
			return false
		}
		if noise != nil && t < steps {
			noise.step(t, theta)
		}
		for a, x := range theta {
			side := float64(1-2*(a%2)) * float64(a+1) / float64(len(theta))
			theta[a] += side * displaced * max(1, math.Abs(x))
		}
		return true
	})
	if f.visited > 0 && at[f.visited-1] >= last {
		f.scope = Scope{In: true}
	}
	return f
}

// The largest problems for which the spread of runs is followed: the forces of
// 4(A−1) displaced policies are computed at a step, and a covariance of the squared
// number of coordinates is stored.
const (
	maxPathArms  = 64
	maxPathState = 4096
)

// noSpread returns the reason why the spread of runs is not followed, none where it is.
func noSpread(p *Params, steps int) scope.Reason {
	if because := p.notDerived(weightsAtRest, spreadOfRuns); because.Out() {
		return because
	}
	if arms := len(p.Arms); arms > maxPathArms {
		return scope.TooLarge.Because(fmt.Sprintf("the spread of runs with more than %d arms, here %d", maxPathArms, arms))
	}
	slots := newSlots(linear.NewLag(&p.Lag), steps)
	if n := (len(p.Arms) - 1) * (1 + slots); n > maxPathState {
		return scope.TooLarge.Because(fmt.Sprintf("the spread of runs with more than %d coordinates of policies and velocity, here %d", maxPathState, n))
	}
	return scope.Reason{}
}

// newSlots returns the number of policies of which the state of a run consists: the
// present one and those that a later step may need as its snapshot.
func newSlots(lag linear.Lag, steps int) int {
	if lag.Period() > 1 { // of the last refresh alone
		return 2
	}
	oldest, _ := lag.Stored()
	return min(oldest, steps) + 1
}

// spread is the normal law of the deviations of runs from the mean field at one step:
// of the velocity and of each policy in the state, each n = A−1 reduced coordinates.
type spread struct {
	*model
	q     *mat.Dense // basis of the reduced coordinates, A×n
	n     int
	slots int
	past  *snapshots
	mean  []float64   // (1 + slots)·n; the velocity first
	cov   [][]float64 // its covariance
	local *localForce
	lost  bool // the spread is too large to be followed

	nearBound bool // see shifted

	// Scratch space of step: the linear map of a step and its product with cov.
	change, rows [][]float64
}

// localForce is the mean over a law of the policies of the force about the mean field: offset +
// bend + slope·(mean displacement), with bend = ½ Σ ∂²E[g] Cov, and the mean covariance of the
// noise. It is computed at the centre (logits in reduced coordinates, and the running mean of a
// baseline) and the covariance around it, and is used while both stay within holdCentre and
// holdSpread of these, with bend in proportion to the trace of the covariance.
type localForce struct {
	centre, offset, bend []float64
	around, slope        [][]float64
	noise                *mat.Dense // of a step
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
func newSpread(p Params, init []float64, steps int) *spread {
	s := &spread{model: newModel(&p), q: basisOfArms(len(p.Arms)), n: len(p.Arms) - 1, slots: newSlots(linear.NewLag(&p.Lag), steps)}
	s.past = newSnapshots(&p.Lag, init, steps)
	s.startBaseline()
	size := s.n * (1 + s.slots)
	s.mean, s.cov = make([]float64, size), group.Square(size)
	s.change, s.rows = group.Zeros(2*s.n, 3*s.n), group.Zeros(2*s.n, size)
	return s
}

// slot returns the index in the state of the policy of step t: without a refresh the policies of
// the last steps are a ring.
func (s *spread) slot(t int) int {
	if s.past.period > 1 {
		return s.n
	}
	return s.n * (1 + t%s.slots)
}

// inputs returns the indices in the state of the policies on which the force of step t
// depends: the present one and, unless it is the same, the snapshot.
func (s *spread) inputs(t int) []int {
	switch {
	case s.slots == 1:
		return []int{s.n}
	case s.past.period > 1:
		return []int{s.n, 2 * s.n}
	}
	return []int{s.slot(t), s.slot(max(t-s.past.oldest, 0))}
}

// refreshes reports whether the snapshot is taken at the beginning of step t.
func (s *spread) refreshes(t int) bool { return s.past.period > 1 && t%s.past.period == 0 }

// step advances the spread from step t, where the mean field is at theta, to t+1.
func (s *spread) step(t int, theta []float64) {
	if s.refreshes(t) {
		s.refresh()
	}
	old := s.past.at(t, theta)
	if s.lost {
		return
	}
	local, growth := s.force(t, theta, old)
	if local == nil {
		s.lost = true
		return
	}
	if s.running != nil && s.draws(t) {
		s.moveBaseline(s.expected(old))
	}
	s.advance(t, local, growth)
}

// refresh makes the snapshot the present policy.
func (s *spread) refresh() {
	n := s.n
	copy(s.mean[2*n:3*n], s.mean[n:2*n])
	for i := range n {
		copy(s.cov[2*n+i], s.cov[n+i])
	}
	for _, row := range s.cov {
		copy(row[2*n:3*n], row[n:2*n])
	}
}

// advance takes the law from step t to t+1 by v′ = μv + g and θ′ = θ + η(carry·v + gain·g), linear
// in the velocity and the policies that the force depends on.
func (s *spread) advance(t int, local *localForce, growth float64) {
	n := s.n
	mu, rate := s.Optimizer.Momentum, rateAt(&s.Optimizer, t)
	gain, carry := linear.StepGains(s.Optimizer.Kind, mu)
	parts := append([]int{0}, s.inputs(t)...)
	var from, to []int
	for _, part := range parts {
		for i := range n {
			from = append(from, part+i)
		}
	}
	for _, part := range []int{0, s.slot(t + 1)} {
		for i := range n {
			to = append(to, part+i)
		}
	}
	force := make([]float64, n)
	for i := range n {
		v, x := s.change[i], s.change[n+i]
		clear(v)
		clear(x)
		force[i] += local.offset[i] + growth*local.bend[i]
		for k, by := range local.slope[i] {
			force[i] += by * s.mean[from[n+k]]
		}
		copy(v[n:], local.slope[i])
		floats.AddScaled(x, rate*gain, v)
		v[i] += mu
		x[i] += rate * carry
		x[n+i]++
	}
	for i, f := range force {
		v := s.mean[i]
		s.mean[to[n+i]] = s.mean[from[n+i]] + rate*(carry*v+gain*f)
		s.mean[i] = mu*v + f
	}
	for r, change := range s.change {
		row := s.rows[r]
		clear(row)
		for k, i := range from {
			if change[k] != 0 {
				floats.AddScaled(row, change[k], s.cov[i])
			}
		}
	}
	for c, row := range s.cov {
		for r, i := range to {
			row[i] = s.rows[r][c]
		}
	}
	for r, i := range to {
		copy(s.cov[i], s.rows[r])
	}
	weights := [2]float64{1, rate * gain}
	for r, i := range to {
		for c, j := range to[:r+1] {
			x := weights[r/n] * weights[c/n] * local.noise.At(r%n, c%n)
			for k, part := range parts {
				x += floats.Dot(s.rows[r][part:part+n], s.change[c][k*n:(k+1)*n])
			}
			s.cov[i][j], s.cov[j][i] = x, x
		}
	}
}

// of returns the mean and the covariance of the policies at the given indices of the
// state; ok is false if they are too large to be followed.
func (s *spread) of(parts []int) (mean []float64, cov [][]float64, ok bool) {
	n := s.n
	mean, cov = make([]float64, n*len(parts)), group.Square(n*len(parts))
	ok = true
	for i := range mean {
		p := parts[i/n] + i%n
		mean[i] = s.mean[p]
		for k := range mean {
			cov[i][k] = s.cov[p][parts[k/n]+k%n]
		}
		ok = ok && cov[i][i] <= maxPathVariance && !math.IsNaN(mean[i])
	}
	return mean, cov, ok
}

// force returns the mean force of step t at the mean-field logits theta and old, and the factor of
// its bend; nil if the spread is too large to be followed.
func (s *spread) force(t int, theta, old []float64) (local *localForce, growth float64) {
	mean, cov, ok := s.of(s.inputs(t))
	if !ok {
		return nil, 0
	}
	n, d := s.n, len(mean)
	centre := reduce(s.q, theta)
	if d > n {
		centre = append(centre, reduce(s.q, old)...)
	}
	for i := range centre {
		centre[i] += mean[i]
	}
	if s.running != nil {
		centre = append(centre, *s.running)
	}
	if s.local != nil && s.local.near(centre, cov) {
		now, then := trace(cov), trace(s.local.around)
		if then == 0 {
			return s.local, 1
		}
		return s.local, now / then
	}
	set := func(x []float64) { s.set(s.moved(theta, x[:n]), s.moved(old, x[d-n:])) }
	set(mean)
	s.nearBound = s.nearBound || s.boundWithin(s.q, cov)
	forceAt := func(x []float64) []float64 {
		set(x)
		all := make([]float64, len(theta))
		s.meanForce(all)
		return reduce(s.q, all)
	}
	base := forceAt(make([]float64, d))
	l := &localForce{centre: centre, around: cov, bend: make([]float64, n), slope: group.Zeros(n, d)}
	var f0 []float64
	var noise *averaged
	gone, total := 0.0, trace(cov) // of the variances of the axes, which ascend
	points(mean, cov, s.differenceStep(), func(x []float64) {
		f0 = forceAt(x)
		l.offset = slices.Clone(f0)
		floats.Sub(l.offset, base)
		noise = newAveraged(s.covariance())
	}, func(up, down, axis []float64, r, variance float64) {
		w := 0.5 * variance / (r * r)
		gone += variance
		var fs [2][]float64
		for side, x := range [2][]float64{up, down} {
			fs[side] = forceAt(x)
			if gone > unaveraged*total {
				noise.add(w, s.covariance())
			}
		}
		for i := range n {
			l.bend[i] += w * (fs[0][i] + fs[1][i] - 2*f0[i])
			floats.AddScaled(l.slope[i], (fs[0][i]-fs[1][i])/(2*r), axis)
		}
	})
	l.noise = linear.Within(s.q, noise.mean())
	for i, row := range l.slope {
		l.offset[i] -= floats.Dot(row, mean)
	}
	s.local = l
	return l, 1
}

// averaged is a mean of matrices over a law of which they are taken at the middle, with the weight
// that the others leave.
type averaged struct {
	sum, middle *mat.SymDense
	rest        float64
}

func newAveraged(middle *mat.SymDense) *averaged {
	return &averaged{mat.NewSymDense(middle.SymmetricDim(), nil), middle, 1}
}

func (a *averaged) add(w float64, m *mat.SymDense) {
	data, more := a.sum.RawSymmetric().Data, m.RawSymmetric().Data
	n := a.sum.SymmetricDim()
	for i := range n {
		floats.AddScaled(data[i*n+i:(i+1)*n], w, more[i*n+i:(i+1)*n])
	}
	a.rest -= w
}

// mean returns the mean; nothing may be added after it.
func (a *averaged) mean() *mat.SymDense {
	a.add(a.rest, a.middle)
	return a.sum
}

func trace(m [][]float64) (sum float64) {
	for i := range m {
		sum += m[i][i]
	}
	return sum
}

// near reports whether the force computed for l may be used for a law with this centre
// and covariance.
func (l *localForce) near(centre []float64, cov [][]float64) bool {
	if len(centre) != len(l.centre) {
		return false
	}
	for i, x := range centre {
		if math.Abs(x-l.centre[i]) > holdCentre {
			return false
		}
	}
	now, then := trace(cov), trace(l.around)
	if math.Abs(now-then) > max(holdSpread*then, holdGrowth) {
		return false
	}
	growth := 1.0
	if then > 0 {
		growth = now / then
	}
	for i := range cov {
		for j := range i + 1 {
			scale := growth * math.Sqrt(l.around[i][i]*l.around[j][j])
			if math.Abs(cov[i][j]-growth*l.around[i][j]) > holdShape*scale {
				return false
			}
		}
	}
	return true
}

// moved returns logits displaced by x in reduced coordinates.
func (s *spread) moved(logits, x []float64) []float64 {
	out := slices.Clone(logits)
	blas64.Gemv(blas.NoTrans, 1, s.q.RawMatrix(), vector(x), 1, vector(out))
	return out
}

// oldSlot returns the index in the state, before step t, of the policy that draws its groups.
func (s *spread) oldSlot(t int) int {
	if s.refreshes(t) { // which comes with the step
		return s.slot(t)
	}
	inputs := s.inputs(t)
	return inputs[len(inputs)-1]
}

// shift returns by how much the mean of an observable before step t differs from that of the mean
// field, which has its policy at theta and draws by old, the largest variance of a gap of two
// logits, and the standard deviation of the observable; NaN if the spread is too large to be
// followed.
func (s *spread) shift(o *observable, t int, theta, old []float64) shifted {
	slots := o.slots(s.slot(t), s.oldSlot(t))
	mean, cov, ok := s.of(slots)
	if s.lost || !ok {
		return lostShift
	}
	d := len(mean)
	at := func(x []float64) (now, drawing []float64) {
		return o.arguments(s.moved(theta, x[:s.n]), s.moved(old, x[d-s.n:]), theta, old)
	}
	by := o.over(s.model, at, mean, cov)
	by.shift -= o.of(s.model, theta, old)
	by.nearBound = s.nearBound
	return by
}

// points calls centre and pair with the displacements of a rule that is exact for polynomials of
// degree 3 under the normal law with this mean and covariance, and of degree 5 along the axes of
// the covariance: the mean itself, then pairs mean ± r e_i along each axis e_i with variance σ_i².
// The pair's second difference (f₊ + f₋ − 2f)/r² has weight ½σ_i² in the mean of f. r is √3σ_i, and
// at least least.
func points(mean []float64, cov [][]float64, least float64, centre func(x []float64), pair func(up, down, axis []float64, r, variance float64)) {
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
