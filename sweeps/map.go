package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sweeps/config"
)

// MapView is a choice of cells of a plan that differ in two numeric parameters
// only (and in keys of `run`): one panel a variant.
type MapView struct{ panels []panel }

type panel struct {
	x, y    config.Key
	variant string // "" where it needs no name
	cells   []*Cell
}

// NewMapView chooses the cells of a plan that satisfy every `key=value` of
// where, over the parameters x and y. Its errors are Problems.
func NewMapView(plan *Plan, x, y string, where []string) (*MapView, error) {
	var problems config.Problems
	report := func(source, format string, args ...any) {
		problems = append(problems, config.Problem{Source: source, Text: fmt.Sprintf(format, args...)})
	}
	axis := func(flag, path string) config.Key {
		k, bad := config.ParseNumericKey(flag, path)
		problems = append(problems, bad...)
		return k
	}
	p := panel{x: axis("--x", x), y: axis("--y", y)}
	if len(problems) == 0 && x == y {
		report("--y", "got %s again, want another key than that of --x", y)
	}
	var chosen config.Check
	for _, text := range where {
		condition, bad := config.ParseCondition(text)
		chosen.Where = append(chosen.Where, condition)
		problems = append(problems, bad...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	var view MapView
	var variants []string
	cells := make(map[string][]*Cell)
	for i := range plan.Cells {
		c := &plan.Cells[i]
		if !chosen.Selects(&config.Point{Variant: c.Variant, Settings: c.Settings}) {
			continue
		}
		if cells[c.Variant] == nil {
			variants = append(variants, c.Variant)
		}
		cells[c.Variant] = append(cells[c.Variant], c)
	}
	if len(variants) == 0 {
		report("--where", "got conditions that no cell satisfies, want values of the sweep")
	}
	for _, variant := range variants {
		p.variant, p.cells = variant, cells[variant]
		varied := p.varied()
		others := slices.DeleteFunc(slices.Clone(varied), func(k config.Key) bool { return k.Path == x || k.Path == y })
		switch {
		case len(varied)-len(others) < 2: // another variant may have the map
		case len(others) > 0:
			k := others[0]
			text := fmt.Sprintf("got a sweep that varies %s, want x and y alone: choose with --where %s=%s", listKeys(others), k.Path, config.Format(k.Get(&p.cells[0].Settings)))
			if k.Kind > config.WordValue {
				text = fmt.Sprintf("got a sweep that varies %s, want x and y alone", listKeys(others))
			}
			report("--x, --y", "%s", text)
		case !p.finite():
			report("--x, --y", "got inf among the values, want numbers: it has no place on an axis")
		default:
			view.panels = append(view.panels, p)
		}
	}
	if len(problems) == 0 && len(view.panels) == 0 {
		p.cells = nil
		for i := range plan.Cells {
			p.cells = append(p.cells, &plan.Cells[i])
		}
		numeric := slices.DeleteFunc(p.varied(), func(k config.Key) bool { return !k.Numeric() })
		if len(numeric) < 2 {
			report("--x, --y", "got a sweep that does not vary two numbers, want a grid over %s and %s", x, y)
		} else {
			report("--x, --y", "got %s and %s, which the sweep does not vary together, want two of %s", x, y, listKeys(numeric))
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if len(variants) == 1 && len(plan.Spec.Variants) <= 1 {
		view.panels[0].variant = ""
	}
	return &view, nil
}

// automaticMaps are the panels that an experiment's figures show by themselves:
// of each variant whose sweep is a grid of exactly two numeric parameters with
// at least four values each.
func automaticMaps(plan *Plan) []panel {
	const fewest = 4
	var panels []panel
	grids := plan.Spec.Grids()
	for _, g := range grids {
		var keys []config.Key
		fit := true
		for _, a := range g.Axes {
			var k config.Key
			params := slices.DeleteFunc(slices.Clone(a.Params), func(path string) bool {
				k, _ := config.LookupKey(path)
				return k.OfRun()
			})
			if len(params) == 1 {
				k, _ = config.LookupKey(params[0])
			}
			fit = fit && len(params) == 1 && k.Numeric() && len(a.Points) >= fewest
			keys = append(keys, k)
		}
		if !fit || len(keys) != 2 {
			continue
		}
		p := panel{x: keys[0], y: keys[1]}
		if len(grids) > 1 {
			p.variant = g.Name
		}
		for i := range plan.Cells {
			if c := &plan.Cells[i]; c.Variant == g.Name {
				p.cells = append(p.cells, c)
			}
		}
		if whole := len(p.cells) == len(g.Axes[0].Points)*len(g.Axes[1].Points); whole && p.finite() {
			panels = append(panels, p)
		}
	}
	return panels
}

// finite reports whether every cell has a place on both axes.
func (p *panel) finite() bool {
	return !slices.ContainsFunc(p.cells, func(c *Cell) bool {
		return math.IsInf(p.x.Number(&c.Settings)+p.y.Number(&c.Settings), 0)
	})
}

// varied lists the keys of which the cells have several values, keys of `run`
// left out and the length of a schedule where it follows that of the run.
func (p *panel) varied() []config.Key {
	var varied []config.Key
	for _, k := range config.Keys {
		if k.OfRun() {
			continue
		}
		seen := make(map[string]bool)
		for _, c := range p.cells {
			if s := &c.Settings; k.Path != config.ScheduleTotalKey || s.Optimizer.Schedule.Total != s.Run.Steps {
				seen[config.Format(k.Get(s))] = true
			}
		}
		if len(seen) > 1 {
			varied = append(varied, k)
		}
	}
	return varied
}

func listKeys(keys []config.Key) string {
	var paths []string
	for _, k := range keys {
		paths = append(paths, k.Path)
	}
	if n := len(paths); n > 1 {
		return strings.Join(paths[:n-1], ", ") + " and " + paths[n-1]
	}
	return strings.Join(paths, "")
}

// RegimeMap is what was simulated and what theory says over two parameters.
type RegimeMap struct {
	panel
	kind   rom.Kind // of the linear dynamics
	points []mapPoint
	curves []mapCurve
	area   [][]spot // where the linear dynamics is unstable
}

// mapPoint is a simulated cell.
type mapPoint struct {
	x, y  float64
	cell  *Cell
	class Class
	regime
}

// mapCurve is one of theory's boundaries, as it is drawn: steps between the
// whole numbers of an integer parameter.
type mapCurve struct {
	name, label string
	lines       [][]spot
}

// regime is what theory says of one point, NaN where it says nothing.
type regime struct {
	radius  float64 // spectral radius of the linear dynamics
	rule    float64 // ηλK/(1−μ) at the stiffest mode: the paper's rule is 1
	damping float64 // ζ of the reduced-order model
	rate    float64 // η
	onset   float64 // the η from which on the multipliers are complex
}

// boundaries are the curves of a map: each where a function of the regime is 0.
var boundaries = []struct {
	name, label string // %s: how the linear dynamics is known
	level       func(r regime) float64
}{
	{"stability", "stability boundary (%s)", func(r regime) float64 { return min(r.radius, 2) - 1 }},
	{"onset", "onset of oscillation (%s)", func(r regime) float64 { return math.Log(r.rate / r.onset) }},
	{"rule", "paper’s rule ηλK = 1 − μ", func(r regime) float64 { return math.Log(r.rule) }},
	{"damping-ratio", "reduced-order model, ζ = 1", func(r regime) float64 { return 1 - r.damping }},
}

// Regimes of the linear dynamics.
const (
	overdamped  = "overdamped"
	oscillatory = "oscillatory"
	unstable    = "unstable"
)

// name is the regime by the linear dynamics, "" where it is not known.
func (r regime) name() string {
	switch {
	case r.radius >= 1:
		return unstable
	case r.rate >= r.onset:
		return oscillatory
	case r.radius < 1 && r.rate < r.onset:
		return overdamped
	}
	return ""
}

func newRegime(s *config.Settings, p *rom.Prediction) regime {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	nan := math.NaN()
	r := regime{radius: nan, rule: nan, damping: nan, rate: s.Optimizer.LearningRate, onset: nan}
	if p.FixedPoint == nil {
		return r
	}
	linear := linearDynamics(p)
	r.radius, r.onset = value(linear.SpectralRadius), value(linear.OscillationLearningRate)
	r.rule = r.rate / value(p.PaperRule.CriticalLearningRate)
	r.damping = p.Oscillator.DampingRatio
	return r
}

// linearDynamics is the linear dynamics of the full map, which is to leading
// order only where the force is, or the optimizer is Adam.
func linearDynamics(p *rom.Prediction) *rom.Dynamics {
	if p.Exact.Scope.In {
		return &p.Exact
	}
	return &p.LeadingOrder
}

// Maps makes the maps of a view, from what the experiment simulated.
func (e *Experiment) Maps(view *MapView) ([]RegimeMap, error) {
	var maps []RegimeMap
	for _, p := range view.panels {
		maps = append(maps, e.evidence.regimeMap(p))
	}
	return maps, e.evidence.failure
}

func (e *evidence) regimeMap(p panel) RegimeMap {
	m := RegimeMap{panel: p}
	for _, c := range p.cells {
		prediction := e.cache.predict(&c.Settings, rom.Unit)
		if m.kind == "" {
			m.kind = prediction.ForceKind
			if c.Settings.Optimizer.Kind == grpo.Adam {
				m.kind = rom.LeadingOrder
			}
		}
		m.points = append(m.points, mapPoint{
			x: p.x.Number(&c.Settings), y: p.y.Number(&c.Settings),
			cell: c, class: e.class(c), regime: newRegime(&c.Settings, prediction),
		})
	}
	grid := lattice{newScale(p.x, m.values(p.x)), newScale(p.y, m.values(p.y))}
	known := make(map[spot]regime)
	at := func(x, y float64) regime {
		r, done := known[spot{x, y}]
		if !done {
			s := p.cells[0].Settings
			p.x.SetNumber(&s, x)
			p.y.SetNumber(&s, y)
			r = newRegime(&s, e.cache.predictDynamics(&s))
			known[spot{x, y}] = r
		}
		return r
	}
	for _, b := range boundaries {
		f := levels{lattice: grid, of: func(x, y float64) float64 { return b.level(at(x, y)) }}
		for _, x := range grid.x.value {
			column := make([]float64, len(grid.y.value))
			for j, y := range grid.y.value {
				column[j] = f.of(x, y)
			}
			f.at = append(f.at, column)
		}
		m.curves = append(m.curves, mapCurve{b.name, strings.Replace(b.label, "%s", kindWords[m.kind], 1), f.zeros()})
		if b.name == "stability" {
			m.area = f.positive()
		}
	}
	return m
}

// values are those that a parameter takes among the cells, in order.
func (m *RegimeMap) values(k config.Key) []float64 {
	var values []float64
	for _, c := range m.cells {
		values = append(values, k.Number(&c.Settings))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// newScale is a parameter between the least and the greatest of some values: 61
// nodes, evenly spaced as the values are, or where there are fewer than 64
// whole numbers between, each of them.
func newScale(k config.Key, values []float64) scale {
	const nodes, most = 61, 64
	low, high := values[0], values[len(values)-1]
	var s scale
	if k.Kind == config.IntegerValue && high-low < most {
		for v := low; v <= high; v++ {
			s.value = append(s.value, v, v)
			s.place = append(s.place, v-0.5, v+0.5)
		}
		return s
	}
	for i := range nodes {
		share := float64(i) / (nodes - 1)
		v := low + share*(high-low)
		if spacing(values) == LogAxis {
			v = low * math.Pow(high/low, share)
		}
		s.value = append(s.value, min(max(v, low), high))
	}
	s.place = s.value
	return s
}

// moves reports whether any cell of the map has a class that a start at rest
// does not have.
func (m *RegimeMap) moves() bool {
	return slices.ContainsFunc(m.points, func(p mapPoint) bool { return p.class != "" && p.class != AtRest })
}

// Variant is the variant that the map shows, "" where it needs no name.
func (m *RegimeMap) Variant() string { return m.variant }

// ClassCount is how many cells of a class there are, and in which regime of the
// linear dynamics they lie.
type ClassCount struct {
	Class                             Class
	Cells                             int
	Overdamped, Oscillatory, Unstable int
}

// Counts returns a count for each class that occurs.
func (m *RegimeMap) Counts() []ClassCount {
	var counts []ClassCount
	for _, class := range Classes {
		n := ClassCount{Class: class}
		for _, p := range m.points {
			if p.class != class {
				continue
			}
			n.Cells++
			switch p.name() {
			case overdamped:
				n.Overdamped++
			case oscillatory:
				n.Oscillatory++
			case unstable:
				n.Unstable++
			}
		}
		if n.Cells > 0 {
			counts = append(counts, n)
		}
	}
	return counts
}

// MapName is the name of the map's files over x and y, without extension.
func MapName(x, y string) string { return "map-" + x + "-" + y }

// Figure returns the map as a picture.
func (m *RegimeMap) Figure() Figure {
	settings := &m.cells[0].Settings
	f := Figure{
		Name:   MapName(m.x.Path, m.y.Path),
		Title:  fmt.Sprintf("Regimes over %s and %s", m.x.Title(settings), m.y.Title(settings)),
		XLabel: m.x.AxisLabel(settings), YLabel: m.y.AxisLabel(settings),
		XScale: spacing(m.values(m.x)), YScale: spacing(m.values(m.y)),
	}
	if m.variant != "" {
		f.Name += "-" + m.variant
		f.Title = m.variant + ": " + f.Title
	}
	nan := math.NaN()
	chain := func(s *FigureSeries, lines [][]spot) {
		for _, line := range lines {
			for _, p := range line {
				s.Points = append(s.Points, FigurePoint{p.x, p.y, nan, nan})
			}
			s.Points = append(s.Points, FigurePoint{nan, nan, nan, nan})
		}
	}
	for _, class := range Classes {
		s := FigureSeries{Name: string(class), Group: string(class), Mark: Marker}
		for _, p := range m.points {
			if p.class == class {
				s.Points = append(s.Points, FigurePoint{p.x, p.y, nan, nan})
			}
		}
		f.Series = append(f.Series, s)
	}
	area := FigureSeries{Name: "unstable (" + kindWords[m.kind] + ")", Mark: Region}
	chain(&area, m.area)
	f.Series = append(f.Series, area)
	for _, c := range m.curves {
		s := FigureSeries{Name: c.label, Mark: Boundary}
		chain(&s, c.lines)
		f.Series = append(f.Series, s)
	}
	return f
}

// MapCSV returns maps over the same parameters as one table. A row of kind cell
// is a simulated cell with its class and what theory says there; rows of kind
// boundary are the points of theory's curves, line by line.
func MapCSV(maps []RegimeMap) ([]byte, error) {
	header := []string{"kind", "variant", maps[0].x.Path, maps[0].y.Path, "cell", "class",
		"regime", "spectral_radius", "rule", "damping_ratio", "onset_learning_rate", "curve", "line"}
	var rows [][]string
	for _, m := range maps {
		for _, p := range m.points {
			rows = append(rows, []string{"cell", m.variant, number(&p.x), number(&p.y), p.cell.ID, string(p.class),
				p.name(), number(&p.radius), number(&p.rule), number(&p.damping), number(&p.onset), "", ""})
		}
		for _, c := range m.curves {
			for n, line := range c.lines {
				for _, p := range line {
					rows = append(rows, []string{"boundary", m.variant, number(&p.x), number(&p.y), "", "", "", "", "", "", "", c.name, strconv.Itoa(n + 1)})
				}
			}
		}
	}
	return writeCSV(header, len(rows), func(i int) []string { return rows[i] })
}
