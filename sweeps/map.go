package sweeps

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// RegimeMap shows the classes of simulated cells and the boundaries that theory predicts,
// over two parameters.
type RegimeMap struct {
	panel
	kind   rom.Kind   // whether the linear dynamics is exact or to leading order
	points []mapPoint // one per cell
	curves []mapCurve // one for each of boundaries
	area   [][]spot   // polygons in which the linear dynamics is unstable
	colour string     // the quantity that colours the cells; "": their class does
}

// mapPoint is a simulated cell at its parameters x and y.
type mapPoint struct {
	x, y  float64
	cell  *Cell
	class Class
	value float64 // of the quantity that colours the cells; NaN: none
	regime
}

// mapCurve is a predicted boundary as it is drawn. Over an integer parameter its lines are
// steps halfway between integers.
type mapCurve struct {
	name, label, meaning string
	lines                [][]spot
}

// regime holds the predictions for one point of a map; each is NaN where the theory does
// not apply.
type regime struct {
	radius  float64 // spectral radius of the linear dynamics, per step; unstable from 1 on; of cells alone with a delay
	margin  float64 // a function that is 0 where stability changes and positive where the linear dynamics is unstable
	rule    float64 // ηλK/(1−μ) at the stiffest mode: the paper's rule is 1
	damping float64 // ζ of the reduced-order model
	rate    float64 // η, never NaN
	onset   float64 // the smallest η at which multipliers are complex
}

// boundaries lists the curves of a map: each is the line on which a function of the
// regime is 0.
var boundaries = []struct {
	name, label string // %s stands for the kind of the linear dynamics
	meaning     string // in the caption
	zero        func(r regime) float64
}{
	{"stability", "stability boundary (%s)", "the largest multiplier of the linear dynamics at the fixed point has modulus 1", func(r regime) float64 { return r.margin }},
	{"onset", "onset of oscillation (%s)", "a mode of the linear dynamics begins to oscillate", func(r regime) float64 { return math.Log(r.rate / r.onset) }},
	{"rule", "paper’s rule ηλK = 1 − μ", "the paper’s bound on stability, at the stiffness λ of the stiffest mode", func(r regime) float64 { return math.Log(r.rule) }},
	{"damping-ratio", "reduced-order model, ζ = 1", "the paper’s onset of oscillation: critical damping", func(r regime) float64 { return 1 - r.damping }},
}

// Regimes of the linear dynamics.
const (
	overdamped  = "overdamped"
	oscillatory = "oscillatory"
	unstable    = "unstable"
)

// name returns the name of the regime by the linear dynamics, "" where that is not known.
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

// newRegime returns the regime of settings with the given prediction.
func newRegime(s *config.Settings, p *rom.Prediction) regime {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	nan := math.NaN()
	r := regime{radius: nan, margin: nan, rule: nan, damping: nan, rate: s.Optimizer.LearningRate, onset: nan}
	if p.FixedPoint == nil {
		return r
	}
	linear, _ := p.Linear()
	r.radius, r.onset = value(linear.SpectralRadius), value(linear.OscillationLearningRate)
	if r.margin = min(r.radius, 2) - 1; linear.StabilityMargin != nil {
		r.margin = *linear.StabilityMargin
	}
	r.rule = r.rate / value(p.RuleAtStiffness.CriticalLearningRate)
	r.damping = p.Oscillator.DampingRatio
	return r
}

// mapValue returns the value by which a cell is coloured, NaN where there is none: the mean
// of a recorded quantity at the last step, the variance of J over replicas there (NaN for
// a single one at finite G), or the settling time. The class is that of the cell.
func (e *evidence) mapValue(c *Cell, class Class, quantity string) float64 {
	o := e.outcome(c)
	if o == nil || quantity == "" {
		return math.NaN()
	}
	of := sim.Quantity(quantity)
	if quantity == finalVariance || quantity == timeTo95 {
		of = sim.ExpectedReward
	}
	t := e.trajectory(o, of)
	if t == nil || t.Series(of) == nil || len(t.Steps) == 0 {
		return math.NaN()
	}
	last := len(t.Steps) - 1
	switch quantity {
	case finalVariance:
		end := c.meanReward(t, last)
		if c.deterministic() {
			return 0
		}
		return end.StdErr * end.StdErr * float64(end.DF+1)
	case timeTo95:
		return c.settlingTime(t, class)
	}
	return float64(t.Series(of).Mean[last])
}

// settlingTime returns the first recorded step from which on the mean reward J stays
// within 5 % of its way from the start to its final level: the mean over the final records,
// which are those from the burn-in on or, without burn-in, those in the last fifth of the
// run. It is NaN where J does not stay there before the final records begin, where there
// are fewer than two of them, where the class of the cell says that J oscillates to the end
// (unresolved at G = ∞: in swings that recorded steps can miss), and where noise can decide
// the step: where 5 % of the way is less than t·s. Here s is the standard deviation of the
// final records, and t Student's quantile for which the intervals ± t·s hold every recorded
// J of a stationary run with 99 % together (Bonferroni); a few final records do not fix s
// well, and t is large for them.
func (c *Cell) settlingTime(t *store.Trajectory, class Class) float64 {
	if class == Sustained || class == Unresolved && c.deterministic() {
		return math.NaN()
	}
	reward, last := c.rewards(t), len(t.Steps)-1
	from := c.Settings.Run.BurnIn
	if from == 0 {
		from = t.Steps[last] - t.Steps[last]/5
	}
	begin, _ := slices.BinarySearch(t.Steps, from)
	final := measure.Mean(reward[begin:])
	final.StdErr *= math.Sqrt(float64(len(reward) - begin)) // of one record, not of their mean
	low, high := final.Interval(1 - 0.01/float64(len(reward)))
	near := 0.05 * math.Abs(final.Mean-reward[0])
	if !(2*near > high-low) { // NaN for a single record
		return math.NaN()
	}
	at := last + 1
	for at > 0 && math.Abs(reward[at-1]-final.Mean) <= near {
		at--
	}
	if at >= begin {
		return math.NaN()
	}
	return float64(t.Steps[at])
}

// regimeMap returns the map of a panel, with cells coloured by a quantity; "": by class.
func (e *evidence) regimeMap(p panel, colour string) RegimeMap {
	m := RegimeMap{panel: p, colour: colour}
	m.points = make([]mapPoint, len(p.cells))
	kinds := make([]rom.Kind, len(p.cells))
	e.inParallel(len(p.cells), always, func(e *evidence, i int) {
		c := p.cells[i]
		prediction, class := e.cache.predictRegime(&c.Settings), e.class(c)
		kinds[i] = stationaryKind(&c.Settings, prediction)
		m.points[i] = mapPoint{
			x: p.x.Number(&c.Settings), y: p.y.Number(&c.Settings),
			cell: c, class: class, value: e.mapValue(c, class, colour), regime: newRegime(&c.Settings, prediction),
		}
	})
	m.kind = cmp.Or(kinds...)
	x, y := newNodes(p.x, p.values(p.x)), newNodes(p.y, p.values(p.y))
	known := make(map[spot]regime)
	at := func(x, y float64) regime {
		r, done := known[spot{x, y}]
		if !done {
			s := p.cells[0].Settings
			p.x.SetNumber(&s, x)
			p.y.SetNumber(&s, y)
			r = newRegime(&s, e.cache.predictBoundaries(&s))
			known[spot{x, y}] = r
		}
		return r
	}
	for _, b := range boundaries {
		f := newField(x, y, func(x, y float64) float64 { return b.zero(at(x, y)) })
		m.curves = append(m.curves, mapCurve{b.name, strings.Replace(b.label, "%s", kindWords[m.kind], 1), b.meaning, f.zeros()})
		if b.name == "stability" {
			m.area = f.positive()
		}
	}
	return m
}

// values returns the distinct values of a parameter among the cells, in order.
func (p *panel) values(k config.Key) []float64 {
	var values []float64
	for _, c := range p.cells {
		values = append(values, k.Number(&c.Settings))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// newNodes returns the nodes of a parameter between the first and the last of its sorted
// values. A parameter of at most 64 integers has two nodes for each of them; any other
// has 61 nodes, evenly spaced on the scale of the values.
func newNodes(k config.Key, values []float64) nodes {
	const count, mostIntegers = 61, 64
	low, high := values[0], values[len(values)-1]
	var s nodes
	if k.Kind == config.IntegerValue && high-low < mostIntegers {
		for v := low; v <= high; v++ {
			s.value = append(s.value, v, v)
			s.place = append(s.place, v-0.5, v+0.5)
		}
		return s
	}
	for i := range count {
		share := float64(i) / (count - 1)
		v := low + share*(high-low)
		if spacing(values) == LogAxis {
			v = low * math.Pow(high/low, share)
		}
		s.value = append(s.value, min(max(v, low), high))
	}
	s.place = s.value
	return s
}

// moves reports whether any cell of the map has a class other than AtRest and Unresolved.
func (m *RegimeMap) moves() bool {
	return slices.ContainsFunc(m.points, func(p mapPoint) bool { return p.class != "" && p.class != AtRest && p.class != Unresolved })
}

// Axes returns the paths of the parameters on the horizontal and the vertical axis.
func (m *RegimeMap) Axes() (x, y string) { return m.x.Path, m.y.Path }

// Variant returns the variant that the map shows, "" if the plan has only one.
func (m *RegimeMap) Variant() string { return m.variant }

// ClassCount counts the cells of one class, in total and by the regime that the linear
// dynamics predicts. Cells without a prediction are in Cells alone.
type ClassCount struct {
	Class Class // the class of the simulated cells
	Cells int   // their number, at least 1

	Overdamped, Oscillatory, Unstable int // the numbers of them in each regime
}

// Counts returns the counts of the classes that occur, in the order of Classes.
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

// MapName returns the file name, without extension, of the maps over the keys x and y,
// coloured by a quantity, or by class if that is ""; a figure of one variant has the variant
// appended.
func MapName(x, y, colour string) string {
	if colour != "" {
		colour = "-" + colour
	}
	return "map-" + x + "-" + y + colour
}

// valued returns the points of the map that have a value, by increasing value.
func (m *RegimeMap) valued() []mapPoint {
	points := slices.DeleteFunc(slices.Clone(m.points), func(p mapPoint) bool { return math.IsNaN(p.value) })
	slices.SortStableFunc(points, func(a, b mapPoint) int { return cmp.Compare(a.value, b.value) })
	return points
}

// RankedValue is a value of the quantity that colours a map, and the cell where it occurs.
type RankedValue struct {
	Rank        string // "smallest", "median" or "largest"
	Value, X, Y float64
}

// Ranked returns the smallest, the median and the largest value of the quantity that
// colours the map; none if no cell has one. The median of an even number is the lower of
// the middle two. Of cells with equal values, the first is named.
func (m *RegimeMap) Ranked() []RankedValue {
	points := m.valued()
	if len(points) == 0 {
		return nil
	}
	var ranked []RankedValue
	for _, r := range []struct {
		rank string
		at   int
	}{{"smallest", 0}, {"median", (len(points) - 1) / 2}, {"largest", len(points) - 1}} {
		value := points[r.at].value
		first := points[slices.IndexFunc(points, func(p mapPoint) bool { return p.value == value })]
		ranked = append(ranked, RankedValue{r.rank, value, first.x, first.y})
	}
	return ranked
}

// Missing returns the number of cells without a value of the quantity that colours the map.
func (m *RegimeMap) Missing() int { return len(m.points) - len(m.valued()) }

// Colour returns the quantity that colours the map, with its unit; "" if the classes do.
func (m *RegimeMap) Colour() string {
	if m.colour == "" {
		return ""
	}
	if unit := mapQuantity(m.colour).Unit; unit != pureRatio {
		return m.colour + ", " + unit
	}
	return m.colour
}

// Figure returns the figure of the map: the cells by class, the predicted unstable area
// and the predicted boundaries.
func (m *RegimeMap) Figure() Figure {
	settings := &m.cells[0].Settings
	f := Figure{
		Caption: m.caption(), Colour: m.Colour(),
		Name:   MapName(m.x.Path, m.y.Path, m.colour),
		Title:  fmt.Sprintf("%s over %s and %s", cmp.Or(m.colour, "Regimes"), m.x.Title(settings), m.y.Title(settings)),
		XLabel: m.x.AxisLabel(settings), YLabel: m.y.AxisLabel(settings),
		XScale: spacing(m.values(m.x)), YScale: spacing(m.values(m.y)),
	}
	if m.variant != "" {
		f.Name += "-" + m.variant
		f.Title = m.variant + ": " + f.Title
	}
	chain := func(s *FigureSeries, lines [][]spot) {
		for _, line := range lines {
			for _, p := range line {
				s.Points = append(s.Points, BarePoint(p.x, p.y))
			}
			s.Points = append(s.Points, BarePoint(math.NaN(), math.NaN()))
		}
	}
	for _, class := range Classes {
		s := FigureSeries{Name: string(class), Group: string(class), Mark: Marker}
		for _, p := range m.points {
			if p.class == class {
				s.Points = append(s.Points, BarePoint(p.x, p.y))
				s.Values = append(s.Values, p.value)
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

// caption explains the map in sentences: the fixed parameters, the classes that occur,
// what colours the cells, and the curves that are drawn.
func (m *RegimeMap) caption() string {
	settings := &m.cells[0].Settings
	var fixed, classes, curves []string
	varied := m.varied()
	for _, k := range config.Keys {
		path := func(other config.Key) bool { return other.Path == k.Path }
		if !k.OfRun() && !slices.ContainsFunc(varied, path) && !k.AtDefault(settings) {
			fixed = append(fixed, k.Path+" = "+config.Format(k.Get(settings)))
		}
	}
	for _, n := range m.Counts() {
		classes = append(classes, fmt.Sprintf("%s (%d): %s", n.Class, n.Cells, meanings[n.Class]))
	}
	for _, c := range m.curves {
		if len(c.lines) > 0 {
			curves = append(curves, c.label+": "+c.meaning)
		}
	}
	sentences := []string{
		fmt.Sprintf("Each marker is one of %d simulated cells.", len(m.points)),
		"Fixed: " + strings.Join(fixed, ", ") + "; all other keys have their defaults.",
		"The marker shows the class of the mean reward J over steps. " + strings.Join(classes, "; ") + ".",
	}
	if m.colour != "" {
		sentences = append(sentences, "Its colour is "+m.colour+". "+mapQuantity(m.colour).Doc)
		if n := m.Missing(); n > 0 {
			sentences = append(sentences, fmt.Sprintf("%d of %d cells have no value and are grey.", n, len(m.points)))
		}
	}
	if len(m.area) > 0 {
		sentences = append(sentences, "The linear dynamics is unstable in the shaded area.")
	}
	if len(curves) > 0 {
		sentences = append(sentences, "Lines are predicted, not fitted. "+strings.Join(curves, "; ")+".")
	}
	return strings.Join(sentences, " ")
}

// HasCellsOf reports whether all cells in a file that MapCSV wrote are of the experiment.
func (e *Experiment) HasCellsOf(path string) bool {
	data, err := os.ReadFile(path)
	rows, malformed := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || malformed != nil || len(rows) == 0 {
		return false
	}
	id := slices.Index(rows[0], "cell")
	known := map[string]bool{"": true} // of points of a boundary
	for i := range e.Plan.Cells {
		known[e.Plan.Cells[i].ID] = true
	}
	return id >= 0 && !slices.ContainsFunc(rows[1:], func(row []string) bool { return !known[row[id]] })
}

// MapCSV returns maps over the same parameters, at least one, as one CSV table. A row of
// kind cell is a simulated cell with its class and the predictions there; a row of kind
// boundary is a point of a predicted boundary, line by line. Predictions that do not
// apply are empty.
func MapCSV(maps []RegimeMap) ([]byte, error) {
	header := names(mapColumns)
	header[slices.Index(header, mapX)], header[slices.Index(header, mapY)] = maps[0].x.Path, maps[0].y.Path
	var rows [][]string
	for _, m := range maps {
		for _, p := range m.points {
			rows = append(rows, []string{"cell", m.variant, number(&p.x), number(&p.y), p.cell.ID, string(p.class),
				p.name(), number(&p.radius), number(&p.rule), number(&p.damping), number(&p.onset), number(&p.value), "", ""})
		}
		for _, c := range m.curves {
			for n, line := range c.lines {
				for _, p := range line {
					rows = append(rows, []string{"boundary", m.variant, number(&p.x), number(&p.y), "", "", "", "", "", "", "", "", c.name, strconv.Itoa(n + 1)})
				}
			}
		}
	}
	return writeCSV(header, len(rows), func(i int) []string { return rows[i] })
}
