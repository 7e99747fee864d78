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
