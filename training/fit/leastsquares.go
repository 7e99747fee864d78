package fit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"grposim/fp"
)

// solution is a law at certain parameters.
type solution struct {
	shape          []float64
	start, plateau float64
	sse            float64 // weighted sum of squared residuals
}

// problem is the least-squares problem of one law and the rows of one curve.
type problem struct {
	law    law
	b      blocks
	origin float64   // of the times of the law
	weight []float64 // of a squared residual, mean 1
	lo, hi []float64 // bounds of ln shape
	g      []float64 // scratch
}

func newProblem(l law, b blocks, weight []float64, origin float64) *problem {
	p := &problem{law: l, b: b, origin: origin, weight: weight, g: make([]float64, len(b.time))}
	known := b.length()
	for _, s := range l.shape {
		lo, hi := s.bounds(known)
		p.lo, p.hi = append(p.lo, math.Log(lo)), append(p.hi, math.Log(hi))
	}
	return p
}

// at solves for start and plateau at a given shape; hold fixes one of them or none.
func (p *problem) at(shape []float64, hold hold) solution {
	var aa, ab, bb, ya, yb float64
	for i, t := range p.b.time {
		g := p.law.at(t-p.origin, shape)
		p.g[i] = g
		w, y, h := p.weight[i], p.b.y[i], 1-g
		aa += w * h * h
		ab += w * h * g
		bb += w * g * g
		ya += w * y * h
		yb += w * y * g
	}
	s := solution{shape: slices.Clone(shape)}
	switch {
	case hold.which == startHeld:
		s.start = hold.value
		if bb > 0 {
			s.plateau = (yb - ab*s.start) / bb
		}
	case hold.which == plateauHeld:
		s.plateau = hold.value
		s.start = (ya - ab*s.plateau) / aa
	case p.law.name == ConstantLaw:
		s.start = ya / aa
		s.plateau = s.start
	default:
		// The smallest ridge that keeps the solution finite where g hardly changes.
		ridge := 1e-12 * (aa + bb)
		det := (aa+ridge)*(bb+ridge) - ab*ab
		s.start = (ya*(bb+ridge) - yb*ab) / det
		s.plateau = (yb*(aa+ridge) - ya*ab) / det
	}
	for i, g := range p.g {
		r := p.b.y[i] - s.start - (s.plateau-s.start)*g
		s.sse += p.weight[i] * r * r
	}
	if math.IsNaN(s.sse) {
		s.sse = math.Inf(1)
	}
	return s
}

// hold fixes one parameter of a problem: the start, the plateau, or from firstShape on a shape.
type hold struct {
	which held
	value float64
}

type held int

const (
	nothingHeld held = iota
	startHeld
	plateauHeld
	firstShape
)

// solve finds the least squares over the grid of shapes and then by the simplex search
// of Nelder and Mead from its best points.
func (p *problem) solve() solution {
	const starts = 3
	var all []solution
	p.grid(nil, func(shape []float64) { all = append(all, p.at(shape, hold{})) })
	slices.SortStableFunc(all, func(a, b solution) int { return cmp.Compare(a.sse, b.sse) })
	top := all[0]
	for _, s := range all[:min(len(all), starts)] {
		if s = p.search(s.shape, hold{}); s.sse < top.sse {
			top = s
		}
	}
	return top
}

// grid calls visit for every point of the grid over the shapes that follow those given.
func (p *problem) grid(first []float64, visit func(shape []float64)) {
	k := len(first)
	if k == len(p.law.shape) {
		visit(first)
		return
	}
	n := p.law.shape[k].grid
	for i := range n {
		x := p.lo[k] + (p.hi[k]-p.lo[k])*float64(i)/float64(n-1)
		p.grid(append(first, fp.MathExp(x)), visit)
	}
}

// search improves a shape, with one parameter held or none.
func (p *problem) search(shape []float64, h hold) solution {
	var free []int
	for k := range shape {
		if h.which != firstShape+held(k) {
			free = append(free, k)
		}
	}
	full := slices.Clone(shape)
	if h.which >= firstShape {
		full[h.which-firstShape] = h.value
	}
	if len(free) == 0 {
		return p.at(full, h)
	}
	x := make([]float64, len(free))
	for i, k := range free {
		x[i] = math.Log(full[k])
	}
	place := func(x []float64) float64 {
		var outside float64
		for i, k := range free {
			z := min(max(x[i], p.lo[k]), p.hi[k])
			outside += math.Abs(x[i] - z)
			full[k] = fp.MathExp(z)
		}
		return outside
	}
	objective := optimize.Problem{Func: func(x []float64) float64 {
		outside := place(x)
		return p.at(full, h).sse * (1 + outside)
	}}
	settings := optimize.Settings{
		FuncEvaluations: 120 * len(free),
		Converger:       &optimize.FunctionConverge{Relative: 1e-9, Iterations: 12},
	}
	r, err := optimize.Minimize(objective, x, &settings, &optimize.NelderMead{SimplexSize: 0.1})
	if r == nil || (err != nil && len(r.X) == 0) {
		return p.at(full, h)
	}
	place(r.X)
	return p.at(full, h)
}

// chi90 is the 90 % quantile of the χ² law with one degree of freedom. At the end of a parameter's
// 90 % interval by likelihood the best sum of squares is larger by the factor e^{chi90/n}.
const chi90 = 2.705543454095404

// interval returns the 90 % interval of a parameter by profile likelihood. It has the values at
// which the best fit of the others keeps n ln(SSE/SSE_min) ≤ chi90, for n independent rows. An end
// that is not reached within the parameter's bounds is ±Inf.
func (p *problem) interval(best solution, which held, n float64) (lo, hi float64) {
	limit := best.sse * fp.MathExp(chi90/max(1, n-float64(len(best.shape)+2)))
	from, reach := p.scale(best, which)
	end := func(direction float64) float64 {
		warm := best.shape
		over := func(step float64) bool {
			s := p.search(warm, hold{which, from(direction * step)})
			if s.sse <= limit {
				warm = s.shape
			}
			return s.sse > limit
		}
		return from(direction * crossing(over, 0.01, reach, 0.02))
	}
	return end(-1), end(1)
}

// crossing returns where a condition begins to hold, within a share of the way to it. It is looked
// for from a first distance on. It is +Inf if that is beyond the largest.
func crossing(holds func(x float64) bool, first, largest, within float64) float64 {
	x, inside := first, 0.0
	for !holds(x) {
		inside = x
		if x *= 1.7; x > largest {
			return math.Inf(1)
		}
	}
	for x-inside > within*x {
		if middle := (inside + x) / 2; holds(middle) {
			x = middle
		} else {
			inside = middle
		}
	}
	return x
}

// scale returns the parameter as a function of a step from its best value, and the largest step
// that is tried. Steps are in the logarithm for shapes, which are positive, and in units of the
// curve's range for start and plateau.
func (p *problem) scale(best solution, which held) (
	from func(step float64) float64, reach float64) {
	if which >= firstShape {
		x := best.shape[which-firstShape]
		return func(step float64) float64 {
			switch {
			case math.IsInf(step, -1):
				return 0
			case math.IsInf(step, 1):
				return step
			}
			return x * fp.MathExp(step)
		}, 7
	}
	x := best.start
	if which == plateauHeld {
		x = best.plateau
	}
	width := max(slices.Max(p.b.y)-slices.Min(p.b.y), rounding)
	return func(step float64) float64 { return x + step*width }, 30
}
