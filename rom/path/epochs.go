package path

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/scope"
)

// equallyHard is the distance of two J, relative to them, up to which prompts start alike: rounding
// decides what is closer.
const equallyHard = 1e-12

// strata returns the prompts in four strata by J at the start, the hardest first. With F the share
// of the prompts that start at a lower J and half the share of those that start alike, a prompt is
// in the stratum of number ⌊4F⌋: strata are quarters of the prompts as far as prompts that start
// alike, which stay together, and their number allow. Empty strata are left out; nil: all prompts
// start alike.
func strata(p *cell.Params, init []float64) (all []Stratum) {
	count := len(p.Prompts.First)
	order, start := make([]int, count), make([]float64, count)
	for x := range order {
		one, theta := p.Prompt(x, init)
		order[x], start[x] = x, force.ExpectedReward(one, theta)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(start[x], start[y]) })
	number := -1
	for from := 0; from < count; {
		to := from + 1
		for to < count && start[order[to]]-start[order[to-1]] <= equallyHard*start[order[to]] {
			to++
		}
		if n := 4 * (from + to) / (2 * count); n != number {
			all, number = append(all, Stratum{Low: start[order[from]]}), n
		}
		s := &all[len(all)-1]
		s.Prompts, s.High = append(s.Prompts, order[from:to]...), start[order[to-1]]
		from = to
	}
	if len(all) == 1 {
		return nil
	}
	for i := range all {
		s := &all[i]
		for _, x := range s.Prompts {
			s.Best += max(p.Prompts.First[x], p.Prompts.Second[x]) / float64(len(s.Prompts))
		}
	}
	return all
}

// partOfPrompts is the path of an observable for all prompts or for those of a stratum.
type partOfPrompts struct {
	*Path
	prompts          []int // indices in Params.Prompts; nil: all
	count            float64
	changes, squares []float64 // of epochs, by step: Σ d and Σ d², see close
}

// newPaths returns the paths of observables at so many steps, with means of 0, and the parts whose
// paths are to be summed: by observable all prompts, and of J the strata of the path.
func newPaths(p *cell.Params, of []observable, init []float64, steps int) (
	all []Path, parts [][]*partOfPrompts) {
	part := func(path *Path, prompts []int, count int) *partOfPrompts {
		*path = Path{Kind: scope.Exact, Scope: scope.Scope{In: true}, Mean: make([]float64, steps),
			Neglected: make([]float64, steps), Deviation: make([]float64, steps)}
		return &partOfPrompts{path, prompts, float64(count), make([]float64, steps), make([]float64, steps)}
	}
	all, parts = make([]Path, len(of)), make([][]*partOfPrompts, len(of))
	for i := range of {
		parts[i] = []*partOfPrompts{part(&all[i], nil, len(p.Prompts.First))}
		if !of[i].isReward {
			continue
		}
		all[i].Strata = strata(p, init)
		for k := range all[i].Strata {
			s := &all[i].Strata[k]
			parts[i] = append(parts[i], part(&s.Path, s.Prompts, len(s.Prompts)))
		}
	}
	return all, parts
}

// tabularPaths is Paths for prompts with a policy each.
func tabularPaths(p cell.Params, init []float64, at []int, of ...observable) []Path {
	all, parts := newPaths(&p, of, init, len(at))
	if because := followEpochs(of, p, init, at, parts); because.Out() {
		for i := range all {
			all[i].Scope, all[i].Strata = because.Scope(), nil
		}
	}
	return all
}

// epochs are the visits of prompts that are drawn once an epoch.
type epochs struct {
	period  int   // M, draws of an epoch
	uses    int   // K, steps of a visit
	prompts int   // C
	at      []int // steps
	steps   []int // the steps of a prompt that are followed to
}

// newEpochs returns the epochs of prompts with a policy each, and the bandit of a prompt alone. Of
// prompts that come by chance or in order every step is a visit.
func newEpochs(p *cell.Params) (e *epochs, visit cell.Params, because scope.Reason) {
	visit, period, because := p.Visits()
	if because.Out() || p.Prompts.Order == option.InOrder && period > 1 {
		period = 1
		visit, because = p.ByChance()
	}
	e = &epochs{period: period, uses: 1, prompts: len(p.Prompts.First)}
	if p.Samples == option.Reused && period > 1 {
		e.uses = p.Lag.Interval
	}
	return e, visit, because
}

// visits returns the steps of visits that there are at most in so many steps.
func (e *epochs) visits(steps int) (all []int) {
	for i := range steps/e.period + 2*e.uses {
		all = append(all, i)
	}
	return all
}

// visited returns for how many of its own steps a prompt has been visited for certain before step
// t. way is the probability that it has been in this epoch.
func (e *epochs) visited(t int) (before int, way float64) {
	draw, part := t/e.uses, float64(t%e.uses)/float64(e.uses)
	return draw / e.period * e.uses, (float64(draw%e.period) + part) / float64(e.period)
}

// needed returns the steps of a prompt that add asks for.
func (e *epochs) needed() (all []int) {
	for _, t := range e.at {
		before, _ := e.visited(t)
		all = append(all, before, before+t%e.uses, before+e.uses)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// add adds the path of a prompt over its visits to that of a part.
func (e *epochs) add(part *partOfPrompts, o *observable, of *Path, one *cell.Params) {
	place := func(step int) int { n, _ := slices.BinarySearch(e.steps, step); return n }
	for i, t := range e.at {
		step, way := e.visited(t)
		before := place(step)
		// spread: the weight of the variance beside that of the square of the mean
		after, weight, spread := place(step+e.uses), 1.0, 1.0
		if o.depends == ofDrawing {
			after, way, spread, weight = before, 0, float64(e.period), cell.InTurn(one, t)
		}
		from, to, d, later := of.Mean[before], of.Mean[after], of.Deviation[before], of.Deviation[after]
		part.Mean[i] += weight * ((1-way)*from + way*to) / part.count
		variance, change := (1-way)*d*d+way*later*later, to-from
		if o.depends == ofDrawing {
			change = from
		}
		part.changes[i] += change
		part.squares[i] += change * change
		part.Deviation[i] += weight * weight * spread * variance / (part.count * part.count)
		part.Neglected[i] += weight * of.Neglected[after] / part.count
		if at := float64(t%e.uses) / float64(e.uses); at > 0 { // of those of this step
			mid := of.Mean[place(step+t%e.uses)]
			part.Neglected[i] += math.Abs(mid-(1-at)*from-at*to) / (float64(e.period) * part.count)
		}
	}
}

// close turns the variances of a part into standard deviations. In a shuffled epoch it adds the
// variance by the order of the prompts, of which those visited so far, a share f, or those of the
// step, a share f = 1/M, are drawn without replacement: of Σ b_x d_x over the part, b_x = 1 for
// those,
//
//	f(1−f)[C Σd² − (Σd)²]/(C−1)
//
// with d the change of a mean by a visit, or of the groups of the step their mean.
func (e *epochs) close(part *partOfPrompts, o *observable) {
	c := float64(e.prompts)
	for i, t := range e.at {
		_, f := e.visited(t)
		chance := f * (1 - f)
		if o.depends == ofDrawing {
			chance = float64(e.period - 1) // f(1−f)/f²
		}
		if chance > 0 {
			part.Deviation[i] += chance * (c*part.squares[i] - part.changes[i]*part.changes[i]) /
				((c - 1) * part.count * part.count)
		}
		part.Deviation[i] = math.Sqrt(max(part.Deviation[i], 0))
	}
}

// followEpochs computes the paths of parts of prompts with a policy each that are drawn by epochs:
// the mean over the prompts of the paths of single bandits over their visits, each as far as it is
// at that step. In a shuffled epoch, without momentum, as many of the prompts have been visited as
// of its steps have passed. The interpolation then is exact.
func followEpochs(of []observable, p cell.Params, init []float64, at []int,
	parts [][]*partOfPrompts) scope.Reason {
	e, visit, because := newEpochs(&p)
	if because.Out() || len(at) == 0 {
		return because
	}
	e.at = at
	visits := e.visits(at[len(at)-1])
	if visit.LimitedOnTheWay() && e.prompts*len(visits) > mostTogether {
		return scope.TooLarge.Because("a largest norm that acts on so many prompts and steps")
	}
	all, _ := alone(&p, &visit, init, visits)
	var before [][]Path
	e.steps = e.needed()
	if _, coupled := coupling(&visit); coupled {
		e.steps = visits
		if because = noSpread(&all[0].Params, len(visits)); because.Out() {
			return because
		}
		before = together(&p, all, visits, of)
	}
	for i, one := range all {
		for k, path := range pathsOf(one.Params, one.Init, e.steps, of...) {
			if !path.Scope.In {
				return path.Scope.Because
			}
			for n := 0; before != nil && n < len(visits); n++ {
				if by := math.Abs(path.Mean[n] - before[i][k].Mean[n]); by > 0 {
					path.Neglected[n] += by
				}
			}
			for _, part := range parts[k] {
				for _, x := range one.Alike {
					if part.prompts == nil || slices.Contains(part.prompts, x) {
						e.add(part, &of[k], &path, &one.Params)
					}
				}
			}
		}
	}
	for k := range of {
		for _, part := range parts[k] {
			if e.close(part, &of[k]); cell.Visiting(&visit) < 1 || before != nil {
				part.Deviation = nil
			}
		}
	}
	return scope.Reason{}
}
