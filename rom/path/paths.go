// Package path has what runs do from their start: their mean, their spread, and the course of what
// they record.
//
//  1. Follow takes the mean field from step to step, with the snapshots that a lag asks for.
//  2. About it a normal law of the deviations of runs is advanced: a spread, or under Adam a law of
//     its own.
//  3. Paths gives the means of quantities over that law, and how much they leave out.
package path

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

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
func Paths(p cell.Params, init []float64, at []int, of ...Observed) (all []Path) {
	p.OnTheWay = true
	if p = p.Checked(); len(at) > 0 {
		p = Unlimited(p, init, at[len(at)-1])
	}
	var known []observable
	var places []int
	all = make([]Path, len(of))
	for i, q := range of {
		o, because := observableOf(&p, q)
		if because.Out() {
			all[i].Scope.Because = because
			continue
		}
		known, places = append(known, o), append(places, i)
	}
	follow := pathsOf
	if p.Tabular() {
		follow = tabularPaths
	}
	for n, path := range follow(p, init, at, known...) {
		all[places[n]] = path
	}
	return all
}

// Stratum is the mean path of J of some of the prompts with a policy each, those that are about as
// hard at the start.
type Stratum struct {
	Path
	Prompts   []int   // indices in Params.Prompts, by J at the start, at least one
	Low, High float64 // smallest and largest J at the start
	Best      float64 // mean over these prompts of the reward of their better arm
}

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
	// It errs by a share of the order of V, the variance of a gap of two logits. Of 2,822 simulated
	// ones above Neglected 3 were off by over a third, of 1,562 below it 104. It is 0 for a
	// quantity of the policy at G = ∞, NaN where Mean is or where it is not derived. Of prompts with a
	// policy each, which are independent, the variance of a mean over C of them is the sum of theirs
	// over C², in shuffled epochs with that by the order of the prompts. Drawn by chance, see
	// Params.ByChance, they are not, and it is nil: not derived.
	Deviation []float64

	// Neglected is the predicted size of what Mean leaves out, ≥ 0 and in units of the quantity. It
	// is the largest up to each step, since a run that lags behind does so for long. Where runs are
	// spread it is that up to three times the step, since some are ahead. It is +Inf where the
	// spread of runs has no finite prediction.
	Neglected []float64

	// Kind is that of MeanField. Scope is also out for more than cell.MaxPathArms arms or
	// cell.MaxPathState coordinates, and at finite G for what the table of domains lists.
	Kind  scope.Kind
	Scope scope.Scope

	// Strata are the parts of J of prompts with a policy each by how hard they are at the start, the
	// hardest first; nil: of no such prompts, or they all start alike.
	Strata []Stratum
}

// pathsOf is Paths of checked parameters without prompts of their own.
func pathsOf(p cell.Params, init []float64, at []int, of ...observable) []Path {
	all, by := make([]Path, len(of)), bases{}
	if len(p.Arms) > cell.MaxPathArms && p.Uniform() == nil && p.GroupSize != option.Infinite &&
		p.Optimizer.Kind != option.Adam && p.Samples != option.Reused &&
		p.Importance.Mode != option.DPPO && !p.LimitedOnTheWay() {
		p, init, of, by = fold(p, init, of)
	}
	because := p.NotDerived(cell.MeanForceKnown)
	if p.GroupSize == option.Infinite {
		because = cmp.Or(because, p.NotDerived(cell.StateAtRest))
	} else if !because.Out() && len(at) > 0 {
		because = noSpread(&p, at[len(at)-1])
	}
	kind := force.New(&p).Kind()
	for i := range all {
		if all[i].Kind, all[i].Scope = kind, because.Scope(); because.Out() {
			all[i].Mean = make([]float64, len(at))
		} else {
			all[i].Neglected = make([]float64, len(at))
		}
	}
	if because.Out() || len(at) == 0 || len(of) == 0 {
		return all
	}
	steps := at
	if p.GroupSize != option.Infinite {
		steps = sampled(&p, at)
	}
	run, places := meansOf(p, init, at, steps, of, by, all)
	neglect(&p, init, at, all, of, &run, steps, places)
	unknown := p.NotDerived(cell.DeviationOfRuns).Out()
	for i, of := range run.noisy {
		for n, place := range places {
			if all[i].Deviation != nil && (unknown || of[place].isRough) {
				all[i].Deviation[n] = math.NaN()
			}
		}
	}
	return all
}

// meansOf fills in paths, but for what they neglect, from a run that is followed to the given steps.
// The steps at have these places among them.
func meansOf(p cell.Params, init []float64, at, steps []int, of []observable, by bases,
	all []Path) (run followed, places []int) {
	last, finite := at[len(at)-1], p.GroupSize != option.Infinite
	noise, noisy := (*spread)(nil), [][]shifted(nil) // of others, of Adam
	if finite && p.Optimizer.Kind == option.Adam {
		noisy = adamPath(p, init, steps, last, of)
		steps = steps[:len(noisy[0])]
		last = steps[len(steps)-1]
	} else if finite {
		if noise = newSpread(p, init, steps[len(steps)-1]); by.q != nil {
			noise.bases = by
		}
	}
	run = followOn(p, init, steps, last, 0, of, noise)
	for _, t := range at {
		place, _ := slices.BinarySearch(steps, t)
		places = append(places, place)
	}
	run.noisy = append(run.noisy, noisy...) // one of them is empty
	for i, of := range noisy {
		for n := range of {
			of[n].shift -= run.field[i][n]
		}
	}
	for i := range all {
		path := &all[i]
		path.Deviation, path.Kind, path.Scope = make([]float64, len(at)), run.kind, run.scope
		for n, place := range places {
			mean := run.field[i][place]
			path.Field = append(path.Field, mean)
			if finite {
				mean += run.noisy[i][place].shift
				path.Deviation[n] = run.noisy[i][place].deviation
			}
			path.Mean = append(path.Mean, mean)
		}
		if p.Chance == 0 && p.DrawnAsByChance() {
			path.Deviation = nil // its noise does not know that an epoch evens prompts out
		}
	}
	return run, places
}

// neglect adds the sizes of what paths leave out, of run at steps, of which at are at the given
// places.
func neglect(p *cell.Params, init []float64, at []int, all []Path, of []observable, run *followed,
	steps, places []int) {
	rounded := func(by float64) followed { return followOn(*p, init, at, at[len(at)-1], by, of, nil) }
	sides := [2]followed{rounded(rounding), rounded(-rounding)}
	for i := range all {
		path, o := &all[i], &of[i]
		if !path.Scope.In {
			continue
		}
		add := func(of func(n int) float64) {
			floats.Add(path.Neglected, ahead(at, at, math.Inf(1), func(n int) (size, variance float64) {
				return of(n), 0
			}))
		}
		if run.noisy != nil {
			size := func(n int) (size, variance float64) {
				return o.neglectedShift(p, &run.noisy[i][n]), run.noisy[i][n].variance
			}
			floats.Add(path.Neglected, ahead(steps[:run.visited], at, o.span(p), size))
		}
		if run.noisy != nil && force.New(p).Kind() != scope.Exact {
			shift := func(n int) float64 { return run.noisy[i][places[n]].shift }
			add(o.expansionError(*p, init, at, shift))
		}
		for _, by := range sides {
			add(func(n int) float64 { return math.Abs(by.field[i][n] - path.Field[n]) })
		}
	}
}

// expansionError returns how far the observable's mean may be off at step n, since the force is
// expanded in 1/G: r_n (|f_n − f_n^∞| + |shift(n)|) + ∫ q |df|. q is the share of the force that
// this leaves out, r_n that of the noise, the largest so far. f and f^∞ are of the mean fields at G
// and at G = ∞, under Adam that at the start.
func (o *observable) expansionError(
	p cell.Params, init []float64, at []int, shift func(n int) float64) func(n int) float64 {
	last, of, m := at[len(at)-1], []observable{*o}, force.New(&p)
	here := followOn(p, init, at, last, 0, of, nil)
	other := slices.Repeat([]float64{o.of(m, init, init)}, len(at))
	before, moved, largest := other[0], 0.0, 0.0
	if p.Optimizer.Kind != option.Adam {
		p.GroupSize = option.Infinite
		group.AtInfinity(&p.Advantage)
		other = followOn(p, init, at, last, 0, of, nil).field[0]
	}
	return func(n int) float64 {
		theta, f := here.logits[n], here.field[0][n]
		if theta == nil {
			return math.NaN()
		}
		m.Set(theta, theta)
		mean, noise := m.Law.LeftOut()
		largest, moved, before = max(largest, noise), moved+min(mean, 1)*math.Abs(f-before), f
		return largest*(math.Abs(f-other[n])+math.Abs(shift(n))) + moved
	}
}

// rounding is the distance, relative to logits and at least in logits, by which a second mean field
// is displaced at every step. An operation errs by 2⁻⁵³ at most, and a step is made of few.
const rounding = 0x1p-48

// followed is a mean field at the steps asked for, as far as it is finite.
type followed struct {
	logits [][]float64 // of the policy
	// by observable and step, on the mean field; NaN where that is not finite
	field   [][]float64
	noisy   [][]shifted // by observable and step; nil: without noise
	visited int         // number of the steps that the run came to
	kind    scope.Kind
	scope   scope.Scope
}

// followOn follows a mean field at the steps at from the logits init, and about it the noise, if
// that is not nil. Every step displaces the logits by up to displaced times max(1, |θ_a|), each arm
// by another share of it, so that no symmetry hides the displacement. Beyond the step last it goes
// on only while the noise is wide and grows.
func followOn(p cell.Params, init []float64, at []int, last int, displaced float64, of []observable,
	noise *spread) (f followed) {
	f.logits = make([][]float64, len(at))
	steps, variance, spreading := at[len(at)-1], 0.0, false
	for range of {
		f.field = append(f.field, slices.Repeat([]float64{math.NaN()}, len(at)))
		if noise != nil {
			f.noisy = append(f.noisy, make([]shifted, len(at)))
		}
	}
	m, past := force.New(&p), newSnapshots(&p.Lag, init, steps)
	f.kind, f.scope = Follow(p, init, steps, func(t int, theta []float64) (more bool) {
		olds := past.at(t, theta)
		if force.Turn(m, t, theta); noise != nil {
			noise.turn = force.Turn(noise.Model, t, theta)
		}
		if n := f.visited; at[n] == t {
			f.logits[n] = slices.Clone(theta)
			for i := range of {
				f.field[i][n] = past.mean(olds, func(old []float64) float64 {
					return of[i].of(m, theta, old)
				})
				if noise != nil {
					f.noisy[i][n] = noise.shift(&of[i], t, theta)
				}
			}
			if f.visited++; f.noisy != nil {
				now := f.noisy[0][n].variance
				spreading, variance = now > narrow && now > variance, now
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
		f.scope = scope.Scope{In: true}
	}
	return f
}

// ofShift is the share of a shift by noise that its second order leaves out in any case. It is
// measured: see docs/theory-neglected.md §6.4.
const ofShift = 0.06

// ofAdam is the same under Adam, over its difference to the mean field: v may remember few forces.
const ofAdam = 3

// neglectedShift returns the size of what a shift S by noise leaves out, with the moves of idle
// runs. Near a bound at which a weight drops to 0, S has no order. Then force.BoundReach deviations
// of the observable are added.
func (o *observable) neglectedShift(p *cell.Params, by *shifted) float64 {
	share, span := ofShift+min(by.variance, 1), o.span(p)
	switch {
	case p.Optimizer.Kind == option.Adam:
		share = ofAdam
	case p.DrawnAsByChance(): // what the order takes from the noise, and its push, are parts of that
		share = 1
	}
	size := share*math.Abs(by.shift) + by.idle
	if by.nearBound > 0 { // else a deviation may not be known
		size += force.BoundReach * by.nearBound * by.deviation
	}
	// a quarter of a bound on f⁗V²/8, V the variance of a gap of two logits: both closures know the
	// fourth cumulant of a normal law only
	return min(size, span) + min(o.fourth(p)*by.variance*by.variance/4, span)
}

// Some runs leave a plateau before the mean field, and what it cannot know of them it cannot know
// of itself when it leaves. Where the variance of a gap of two logits has exceeded narrow, the
// largest size up to lookAhead times the step counts. After the last step asked for the run is
// followed while that variance grows.
const (
	narrow    = 0.05
	lookAhead = 3
)

// sampled returns the steps at which sizes are computed: at, and others that are at most 1.25 times
// the one before, up to lookAhead times the last, if the policies of as many steps can be kept.
func sampled(p *cell.Params, at []int) []int {
	end := lookAhead * at[len(at)-1]
	if noSpread(p, end).Out() {
		end = at[len(at)-1]
	}
	steps := append(slices.Clone(at), end)
	for t := 1.0; t < float64(end); t *= 1.25 {
		steps = append(steps, int(math.Ceil(t)))
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// ahead returns the largest size that counts at each of the steps at, of sizes at the given steps,
// with the variances of a gap of two logits there. Where runs are lost and a size is NaN, +Inf
// counts, and before it the span of the number.
func ahead(steps, at []int, span float64, of func(n int) (size, variance float64)) (
	largest []float64) {
	next, sum, wide, lost := 0, 0.0, false, math.MaxInt
	take := func(until int) {
		for ; next < len(steps) && steps[next] <= until; next++ {
			size, variance := of(next)
			if math.IsNaN(size) {
				size, lost = span, min(lost, steps[next])
			}
			sum, wide = max(sum, size), wide || !(variance <= narrow)
		}
	}
	for _, t := range at {
		if take(t); wide {
			take(lookAhead * t)
		}
		if t >= lost {
			sum = math.Inf(1)
		}
		largest = append(largest, sum)
	}
	return largest
}
