package rom

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// amongPrompts says how often a prompt with a policy of its own is drawn where each group is of
// a random prompt (docs/theory-trainers.md §11.7): a group belongs to it with the probability 1/C, or where
// groups of equal rewards are redrawn P/Σ_y P_y, P the probability that its rewards differ. Where no
// prompt has groups whose rewards differ, groups of equal rewards stay.
type amongPrompts struct {
	prompts float64 // C
	all     float64 // C or Σ_y P_y, of all prompts
}

// drawnShare returns the probability w that a group belongs to this prompt. With f and v the mean
// and the covariance of the force of one of its groups those of a group of any prompt are
//
//	w f,   w v + w(1−w) f fᵀ
func (m *model) drawnShare() float64 {
	switch {
	case m.among == nil:
		return 1
	case m.among.all == 0:
		return 1 / m.among.prompts
	}
	return m.drawnWeight() / m.among.all
}

// drawnWeight returns 1, or P of the snapshot where groups of equal rewards are redrawn.
func (m *model) drawnWeight() float64 {
	if m.Filter != option.Redraw {
		return 1
	}
	p, _ := m.counts.Differ(m.counts.Chances(m.Old))
	return p
}

// maxDrawn is the largest number of different prompts times steps whose mean paths are followed.
const maxDrawn = 200_000

// drawnPath is the mean path of a number of equal prompts.
type drawnPath struct {
	*model
	count float64
	noise *spread // of runs about the mean field; nil: none
	next  func() (theta []float64, ok bool)
	stop  func()
	past  *snapshots
	theta []float64 // logits of the mean field
	old   []float64 // of its last refresh
}

// drawnPaths are the mean paths of all prompts. They depend on each other through Σ_y P_y alone, which
// is replaced by its mean over the spread of runs.
type drawnPaths struct {
	each   []drawnPath
	among  *amongPrompts
	lag    option.Lag
	varies float64 // Var ΣP/(ΣP)² at the last refresh
}

// newDrawnPaths returns the mean paths of the distinct prompts, with the spread of runs by a closure; nil: the mean
// fields alone.
func newDrawnPaths(all []startingPrompt, prompts, steps int, by *closure) *drawnPaths {
	d := &drawnPaths{among: &amongPrompts{prompts: float64(prompts)}, lag: all[0].Lag}
	for _, prompt := range all {
		prompt.among = d.among
		one := drawnPath{model: newModel(&prompt.Params), count: float64(len(prompt.prompts)), past: newSnapshots(&prompt.Lag, prompt.start, steps)}
		if by != nil {
			one.noise = newSpread(prompt.Params, prompt.start, steps, *by)
		}
		one.next, one.stop = iter.Pull(func(yield func([]float64) bool) {
			meanField(prompt.Params, prompt.start, steps, func(_ int, theta []float64) (more bool) { return yield(theta) })
		})
		d.each = append(d.each, one)
	}
	return d
}

// advance takes all mean fields to step t. It returns false where one has left the range of floating
// point.
func (d *drawnPaths) advance(t int) (ok bool) {
	for i := range d.each {
		if d.each[i].theta, ok = d.each[i].next(); !ok {
			return false
		}
		d.each[i].old = d.each[i].past.at(t, d.each[i].theta)
	}
	if t%d.lag.Interval == 0 { // a refresh
		sum, variance := 0.0, 0.0
		for i := range d.each {
			p := &d.each[i]
			mean, varies := p.weight(t)
			sum += p.count * mean
			variance += p.count * varies
		}
		d.among.all, d.varies = sum, 0
		if sum > 0 {
			d.varies = variance / (sum * sum)
		}
	}
	return true
}

// weightOf is drawnWeight.
var weightOf = observable{of: func(m *model, now, _ []float64) float64 {
	m.past.set(now)
	return m.drawnWeight()
}}

// weight returns the mean and the variance of drawnWeight over the spread at step t; without one, or where it
// is too large to be followed, the weight on the mean field and 0.
func (p *drawnPath) weight(t int) (mean, variance float64) {
	mean = weightOf.of(p.model, p.theta, p.theta)
	if p.noise == nil {
		return mean, 0
	}
	by := p.noise.shift(&weightOf, t, p.theta, p.theta)
	if math.IsNaN(by.shift) {
		return mean, 0
	}
	return mean + by.shift, by.deviation * by.deviation
}

// followDrawn computes the paths of parts of prompts with a policy each that are drawn with replacement. Every prompt is
// a bandit whose groups are a random share of those of a step, see drawnShare. Beside the sizes of
// MeanReward, with the shift of each prompt, it neglects that Σ_y P_y varies from run to run. A
// change of Σ_y P_y changes the speed of all prompts alike, so 2 Var ΣP/(ΣP)² of the distance that the mean has
// gone is neglected.
func followDrawn(of []observable, p Params, init []float64, at []int, parts [][]*partOfPrompts) (because scope.Reason) {
	if len(at) == 0 {
		return because
	}
	all, steps, neglected := p.distinct(init), at[len(at)-1], parts[0][0].Neglected != nil
	if because = cmp.Or(p.notDerived(pathsOfPrompts), noSpread(&all[0].Params, steps)); because.Out() {
		return because
	}
	if n := len(all) * steps; n > maxDrawn {
		return scope.DrawnTooLong.Because(maxDrawn, n)
	}
	follow := func(by *closure, displaced float64, at []int, last int) *drawnRun {
		return newDrawnPaths(all, len(p.Prompts.First), at[len(at)-1], by).follow(of, at, last, displaced)
	}
	sampledAt := at
	if neglected {
		sampledAt = sampled(&all[0].Params, at)
	}
	runs := drawnRuns{all: all, full: follow(&gaussian, 0, sampledAt, steps)}
	full := runs.full
	if len(full.steps) == 0 || full.steps[len(full.steps)-1] < steps {
		return scope.PromptOverflows.Because()
	}
	if neglected {
		end := full.steps[len(full.steps)-1]
		runs.field, runs.second = follow(nil, 0, full.steps, end), follow(&strict, 0, full.steps, end)
		for side, displaced := range [2]float64{rounding, -rounding} {
			runs.rounded[side] = follow(nil, displaced, at, steps)
		}
	}
	for k := range of {
		for _, part := range parts[k] {
			runs.sum(part, &of[k], k, at)
		}
	}
	return because
}

// drawnRuns are the paths of distinct prompts: with the mean over runs by both closures, the mean fields, and displaced by rounding. All but
// the first are nil where what is neglected is not wanted.
type drawnRuns struct {
	all                 []startingPrompt
	full, second, field *drawnRun
	rounded             [2]*drawnRun
}

// sum sets the path of observable k for a part of the prompts.
func (r *drawnRuns) sum(part *partOfPrompts, o *observable, k int, at []int) {
	var members []int // the distinct prompts of the part
	for i := range r.all {
		if part.prompts == nil || slices.Contains(part.prompts, r.all[i].prompts[0]) {
			members = append(members, i)
		}
	}
	share := func(i int) float64 { return float64(len(r.all[i].prompts)) / part.count }
	values := make([]float64, len(members))
	mean := func(run *drawnRun, t int) float64 {
		for n, i := range members {
			values[n] = share(i) * run.at(k, t)[i]
		}
		return floats.Sum(values)
	}
	for n, t := range at {
		part.Mean[n] = mean(r.full, t)
	}
	if part.Neglected == nil {
		return
	}
	span := 0.0
	for _, i := range members {
		span += share(i) * o.span(&r.all[i].Params)
	}
	steps, largest, gone := r.full.steps, 0.0, 0.0
	floats.Add(part.Neglected, ahead(steps, at, span, func(n int) (size, variance float64) {
		t := steps[n]
		largest, gone = max(largest, r.full.varies[n]), max(gone, math.Abs(mean(r.full, t)-mean(r.full, steps[0])))
		size = 2 * largest * gone
		for _, i := range members {
			field, v := r.field.at(k, t)[i], r.full.variances[k][n][i]
			by := shifted{shift: r.full.at(k, t)[i] - field, variance: v}
			size += share(i) * o.neglectedShift(&r.all[i].Params, by, r.second.at(k, t)[i]-field, o.span(&r.all[i].Params))
			variance = max(variance, v)
		}
		return size, variance
	}))
	for _, run := range r.rounded {
		addLargest(part.Rounding, func(n int) float64 { return math.Abs(mean(run, at[n]) - mean(r.field, at[n])) })
	}
	floats.Add(part.Neglected, part.Rounding)
}

// drawnRun holds the means of observables of distinct prompts at some steps, up to the first at which a mean field overflows.
type drawnRun struct {
	steps     []int
	means     [][][]float64 // by observable, step and distinct prompt
	variances [][][]float64 // likewise: the variance of the gap of the two logits
	none      []float64     // the means at a step to which the run did not come: NaN
	varies    []float64     // Var ΣP/(ΣP)², by step
}

// at returns the means of an observable at a step, NaN where the run did not come to it.
func (r *drawnRun) at(k, t int) []float64 {
	if n, ok := slices.BinarySearch(r.steps, t); ok {
		return r.means[k][n]
	}
	return r.none
}

// follow is followOn for the mean paths of all prompts.
func (d *drawnPaths) follow(of []observable, at []int, last int, displaced float64) *drawnRun {
	defer func() {
		for _, one := range d.each {
			one.stop()
		}
	}()
	r, before, spreading := &drawnRun{none: slices.Repeat([]float64{math.NaN()}, len(d.each))}, 0.0, false
	r.means, r.variances = make([][][]float64, len(of)), make([][][]float64, len(of))
	for t := 0; len(r.steps) < len(at) && (t <= last || spreading) && d.advance(t); t++ {
		if at[len(r.steps)] == t {
			for k := range of {
				means, variances := d.observe(&of[k], t)
				r.means[k], r.variances[k] = append(r.means[k], means), append(r.variances[k], variances)
			}
			r.steps, r.varies = append(r.steps, t), append(r.varies, d.varies)
			variance := slices.Max(r.variances[0][len(r.steps)-1])
			spreading = variance > narrow && variance > before
			before = variance
		}
		for i := range d.each {
			one := &d.each[i]
			if one.noise != nil {
				one.noise.step(t, one.theta)
			}
			for a, x := range one.theta {
				one.theta[a] += float64(1-2*a) * displaced * max(1, math.Abs(x))
			}
		}
	}
	return r
}

// observe returns the means of an observable of each prompt before step t, and the variances of its gap of two logits.
func (d *drawnPaths) observe(o *observable, t int) (means, variances []float64) {
	for i := range d.each {
		one, by := &d.each[i], shifted{}
		if one.noise != nil {
			by = one.noise.shift(o, t, one.theta, one.old)
		}
		means, variances = append(means, o.of(one.model, one.theta, one.old)+by.shift), append(variances, by.variance)
	}
	return means, variances
}
