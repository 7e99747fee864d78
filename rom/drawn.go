package rom

import (
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
	theta []float64 // logits of the mean field
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
		one := drawnPath{model: newModel(&prompt.Params), count: prompt.count}
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

// drawnPathOf is the path of an observable of one policy for prompts with a policy each, drawn with replacement. Every prompt is
// a bandit whose groups are a random share of those of a step, see drawnShare. Beside the sizes of
// MeanReward, with the shift of each prompt, it neglects that Σ_y P_y varies from run to run. A
// change of Σ_y P_y changes the speed of all prompts alike, so 2 Var ΣP/(ΣP)² of the distance that the mean has
// gone is neglected.
func drawnPathOf(o *observable, p Params, init []float64, at []int, neglected bool) Path {
	path := Path{Kind: Exact, Scope: Scope{In: true}, Mean: make([]float64, len(at))}
	if neglected {
		path.Neglected, path.Rounding = make([]float64, len(at)), make([]float64, len(at))
	}
	if len(at) == 0 {
		return path
	}
	all, steps := p.distinct(init), at[len(at)-1]
	path.Scope.Because = noSpread(&all[0].Params, steps)
	if n := len(all) * steps; !path.Scope.Because.Out() && n > maxDrawn {
		path.Scope.Because = scope.DrawnTooLong.Because(maxDrawn, n)
	}
	if because := p.notDerived(pathsOfPrompts); because.Out() {
		path.Scope.Because = because
	}
	if path.Scope.Because.Out() {
		path.Scope.In = false
		return path
	}
	follow := func(by *closure, displaced float64, at []int, last int) *drawnRun {
		return newDrawnPaths(all, len(p.Prompts.First), at[len(at)-1], by).follow(o, at, last, displaced)
	}
	sampledAt := at
	if neglected {
		sampledAt = sampled(&all[0].Params, at)
	}
	full := follow(&gaussian, 0, sampledAt, steps)
	if len(full.steps) == 0 || full.steps[len(full.steps)-1] < steps {
		path.Scope = Scope{Because: scope.PromptOverflows.Because()}
		return path
	}
	for n, t := range at {
		path.Mean[n] = floats.Sum(full.at(t))
	}
	if !neglected {
		return path
	}
	span, spans := 0.0, make([]float64, len(all)) // of the distinct prompts, times their share of all
	for i := range all {
		spans[i] = all[i].count / float64(len(p.Prompts.First)) * o.span(&all[i].Params)
		span += spans[i]
	}
	end := full.steps[len(full.steps)-1]
	field, second, largest := follow(nil, 0, full.steps, end), follow(&strict, 0, full.steps, end), 0.0
	floats.Add(path.Neglected, ahead(full.steps, at, span, func(n int) (size, variance float64) {
		largest = max(largest, full.varies[n])
		size = 2 * largest * math.Abs(floats.Sum(full.means[n])-floats.Sum(full.means[0]))
		without, strictly := field.at(full.steps[n]), second.at(full.steps[n])
		for i, x := range full.means[n] {
			size += o.neglectedShift(&all[i].Params, shifted{shift: x - without[i], variance: full.variances[n][i]}, strictly[i]-without[i], spans[i])
		}
		return size, slices.Max(full.variances[n])
	}))
	for _, displaced := range [2]float64{rounding, -rounding} {
		rounded := follow(nil, displaced, at, steps)
		addLargest(path.Rounding, func(n int) float64 { return math.Abs(floats.Sum(rounded.at(at[n])) - floats.Sum(field.at(at[n]))) })
	}
	floats.Add(path.Neglected, path.Rounding)
	return path
}

// drawnRun holds the means of an observable of prompts at some steps, up to the first at which a mean field overflows.
type drawnRun struct {
	steps     []int
	means     [][]float64 // by step and distinct prompt: the mean times the share of all prompts
	variances [][]float64 // likewise: the variance of the gap of the two logits
	none      []float64   // the means at a step to which the run did not come: NaN
	varies    []float64   // Var ΣP/(ΣP)²
}

// at returns the means at a step, NaN where the run did not come to it.
func (r *drawnRun) at(t int) []float64 {
	if n, ok := slices.BinarySearch(r.steps, t); ok {
		return r.means[n]
	}
	return r.none
}

// follow is followOn for the mean paths of all prompts.
func (d *drawnPaths) follow(o *observable, at []int, last int, displaced float64) *drawnRun {
	defer func() {
		for _, one := range d.each {
			one.stop()
		}
	}()
	r, before, spreading := &drawnRun{none: slices.Repeat([]float64{math.NaN()}, len(d.each))}, 0.0, false
	for t := 0; len(r.steps) < len(at) && (t <= last || spreading) && d.advance(t); t++ {
		if at[len(r.steps)] == t {
			means, variances := make([]float64, len(d.each)), make([]float64, len(d.each))
			for i := range d.each {
				one := &d.each[i]
				means[i] = o.of(one.model, one.theta, one.theta)
				if one.noise != nil {
					by := one.noise.shift(o, t, one.theta, one.theta)
					means[i] += by.shift
					variances[i] = by.variance
				}
				means[i] *= one.count / d.among.prompts
			}
			r.steps, r.means = append(r.steps, t), append(r.means, means)
			r.varies, r.variances = append(r.varies, d.varies), append(r.variances, variances)
			variance := slices.Max(variances)
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
