package theory

import (
	"math"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sweeps/config"
)

// Plane is a map of the regimes of settings over two parameters. It computes the regime of a
// point once, when it is first asked for. It is for one goroutine.
type Plane struct {
	cache        *Cache
	base         config.Settings
	xKey, yKey   config.Key
	xNode, yNode nodes
	known        map[Spot]Regime
}

// NewPlane returns the plane of a cell's settings over the keys x and y. It reaches from the first
// to the last of the sorted distinct values, of which there are at least two. Of its nodes it has
// one in every: 1 for all, more for a first sight.
func (c *Cache) NewPlane(s config.Settings, x, y config.Key, xs, ys []float64, every int) *Plane {
	return &Plane{cache: c, base: s, xKey: x, yKey: y, known: make(map[Spot]Regime),
		xNode: newNodes(x, xs, every), yNode: newNodes(y, ys, every)}
}

// Regime returns the regime at a point of the plane.
func (p *Plane) Regime(x, y float64) Regime {
	r, done := p.known[Spot{x, y}]
	if !done {
		s := p.base
		p.xKey.SetNumber(&s, x)
		p.yKey.SetNumber(&s, y)
		r = NewRegime(&s, p.cache.At(&s, rom.Unit, nil, rest.BoundariesAlone))
		p.known[Spot{x, y}] = r
	}
	return r
}

// Columns returns the number of columns of nodes that Boundaries asks for.
func (p *Plane) Columns() int { return len(p.xNode.value) }

// Compute computes the regimes of one column of nodes, so that a caller can divide the work of
// Boundaries.
func (p *Plane) Compute(column int) {
	for _, y := range p.yNode.value {
		p.Regime(p.xNode.value[column], y)
	}
}

// Boundary is a predicted boundary as it is drawn. Over an integer parameter its lines are
// steps halfway between integers.
type Boundary struct {
	Name    string   // a word for files
	Label   string   // for people
	Meaning string   // what holds on the line
	Lines   [][]Spot // a line is closed if its first and its last point are equal
	// the area past the onset of oscillation, as closed polygons; nil of other boundaries
	Past [][]Spot
}

// Boundaries returns every predicted boundary, and the area in which the linear dynamics is
// unstable, as closed polygons. kind says in labels whether that dynamics is exact or to leading
// order.
func (p *Plane) Boundaries(kind string) (lines []Boundary, unstable [][]Spot) {
	for _, b := range boundaries {
		f := newField(p.xNode, p.yNode, func(x, y float64) float64 { return b.zero(p.Regime(x, y)) })
		line := Boundary{Name: b.name, Label: strings.Replace(b.label, "%s", kind, 1),
			Meaning: b.meaning, Lines: f.zeros()}
		switch b.name {
		case stability:
			unstable = f.positive()
		case onset:
			line.Past = f.positive()
		}
		lines = append(lines, line)
	}
	return lines, unstable
}

// Known returns the area in which the theory says whether the linear dynamics is stable, as closed
// polygons.
func (p *Plane) Known() [][]Spot {
	return newField(p.xNode, p.yNode, func(x, y float64) float64 { return 0 * p.Regime(x, y).Margin }).positive()
}

// Names of the boundaries that surround an area.
const (
	stability = "stability"
	onset     = "onset"
)

// boundaries lists the curves of a map: each is the line on which a function of the regime is 0.
var boundaries = []struct {
	name, label string // %s stands for the kind of the linear dynamics
	meaning     string // in the caption
	zero        func(r Regime) float64
}{
	{stability, "stability boundary (%s)",
		"the largest multiplier of the linear dynamics at the fixed point has modulus 1",
		func(r Regime) float64 { return r.Margin }},
	{onset, "onset of oscillation (%s)", "a mode of the linear dynamics begins to oscillate",
		func(r Regime) float64 { return math.Log(r.Rate / r.Onset) }},
	{"rule", "paper’s rule, ηK·K_ref = 1 − μ",
		"the paper’s bound on stability, at K, the stiffness as the paper measures it",
		func(r Regime) float64 { return math.Log(r.Rule) }},
	{"damping-ratio", "paper’s model, ζ = 1", "the paper’s onset of oscillation, at the same K",
		func(r Regime) float64 { return 1 - r.Damping }},
}

// newNodes returns the nodes of a parameter between the first and the last of its sorted values. Up
// to 64 integers have two nodes each. Any other has 61, evenly spaced on the scale of the values.
// Of both it takes one in every, a divisor of 60.
func newNodes(k config.Key, values []float64, every int) nodes {
	last := 60 / every
	low, high := values[0], values[len(values)-1]
	var s nodes
	if k.Kind == config.IntegerValue && high-low < 64 {
		for v := low; v <= high; v += float64(every) {
			s.value = append(s.value, v, v)
			s.place = append(s.place, v-0.5, min(v+float64(every), high+1)-0.5)
		}
		return s
	}
	for i := range last + 1 {
		share := float64(i) / float64(last)
		v := low + share*(high-low)
		if LogSpaced(values) {
			v = low * fp.Pow(high/low, share)
		}
		s.value = append(s.value, min(max(v, low), high))
	}
	s.place = s.value
	return s
}

// LogSpaced reports whether sorted distinct values are spaced more evenly on a logarithmic scale,
// by the ratio of the largest gap to the smallest. It is false for fewer than three values, or if
// one is ≤ 0.
func LogSpaced(values []float64) bool {
	if len(values) < 3 || values[0] <= 0 {
		return false
	}
	uneven := func(of func(float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i, v := range values[1:] {
			gap := of(v) - of(values[i])
			least, most = min(least, gap), max(most, gap)
		}
		return most / least
	}
	return uneven(math.Log) < uneven(func(x float64) float64 { return x })
}

// Names of the regimes of the linear dynamics.
const (
	Overdamped  = "overdamped"
	Oscillatory = "oscillatory"
	Unstable    = "unstable"
)

// Regime holds the predictions for one point of a map; each is NaN where the theory does not apply.
type Regime struct {
	// spectral radius of the linear dynamics, per step; unstable from 1 on; of cells alone with a
	// delay
	Radius float64
	// a function that is 0 where stability changes and positive where the linear dynamics is unstable
	Margin  float64
	Rule    float64 // ηK·K_ref/(1−μ) at the paper's stiffness K: its rule is 1
	Damping float64 // ζ of the paper's model at that K
	Rate    float64 // η, never NaN
	Onset   float64 // the smallest η at which multipliers are complex

	unstable bool // Radius is above 1 by more than rounding
}

// Name returns the name of the regime by the linear dynamics, "" where that is not known.
func (r Regime) Name() string {
	switch {
	case r.unstable:
		return Unstable
	case !(r.Radius >= 1) && r.Rate >= r.Onset:
		return Oscillatory
	case r.Radius < 1 && r.Rate < r.Onset:
		return Overdamped
	}
	return "" // from 1 on rounding would decide
}

// NewRegime returns the regime of settings with the given prediction.
func NewRegime(s *config.Settings, p *rom.Prediction) Regime {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	nan, rate := math.NaN(), s.Optimizer.LearningRate
	r := Regime{Rate: rate, Radius: nan, Margin: nan, Rule: nan, Damping: nan, Onset: nan}
	if p.FixedPoint == nil {
		return r
	}
	linear, _ := p.Linear()
	r.unstable = linear.IsUnstable()
	r.Radius, r.Onset = value(linear.SpectralRadius), value(linear.OscillationLearningRate)
	if r.Margin = min(r.Radius, 2) - 1; linear.StabilityMargin != nil {
		r.Margin = *linear.StabilityMargin
	}
	r.Rule = r.Rate / value(p.PaperRule.CriticalLearningRate)
	r.Damping = value(p.PaperRule.DampingRatio)
	return r
}
