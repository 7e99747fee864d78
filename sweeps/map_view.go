package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// MapQuery asks for a map of the cells of a sweep.
type MapQuery struct {
	X, Y       string   // keys of the axes; Y "": over X alone, and both "": the cells side by side
	Where      []string // conditions `key=value`, all of which the cells satisfy
	Quantities []string // recorded numbers; over two keys at most one, which colours the cells
	Level      *float64 // of a time to a level; nil: none
}

// Map is what a MapQuery selects of a plan.
type Map struct {
	MapQuery
	numbers []recordedNumber
	cells   []*plan.Cell
	line    bool    // whether they form lines over X alone
	panels  []panel // over two keys: one a variant
}

// Drawing is what a map shows of an experiment.
type Drawing struct {
	Name    string     // of the file of Table, without extension; names of figures begin with it
	Table   [][]string // for programs, below the names of its columns
	Words   []string   // what it shows, a sentence or two each
	Rows    [][]string // for people, below the names of its columns
	Figures []Figure
}

// panel is the selection of cells for one regime map. They differ only in the two numeric
// parameters x and y and in keys of `run`.
type panel struct {
	x, y    config.Key
	variant string // "" if the file has at most one variant
	cells   []*plan.Cell
}

// usualNumbers are those of a map over one key for which no quantity is named.
var usualNumbers = []string{string(sim.ExpectedReward), timeTo95, samplesTo95, string(sim.Entropy)}

// NewMap selects the cells of a plan that a query asks for. X alone is a swept key, or "". X and Y
// are numeric keys, and variants that do not vary both are left out. Its error is of type
// config.Problems and names the flags --x, --y, --where, --quantity and --level.
func NewMap(sweep *plan.Plan, q MapQuery) (*Map, error) {
	m := &Map{MapQuery: q}
	var problems config.Problems
	report := func(source, format string, args ...any) {
		problems = append(problems, config.Wrong(source, format, args...)...)
	}
	var p panel
	if q.Y != "" {
		var bad config.Problems
		p.x, problems = config.ParseNumericKey("--x", q.X)
		p.y, bad = config.ParseNumericKey("--y", q.Y)
		if problems = append(problems, bad...); len(problems) == 0 && q.X == q.Y {
			report("--y", "got %s again, want another key than that of --x", q.Y)
		}
		if len(q.Quantities) > 1 {
			report(quantityFlag, "got %s, want one, which colours the cells of a map over two keys",
				strings.Join(q.Quantities, ","))
		}
	} else {
		var swept []string
		for _, c := range sweep.Cells {
			for _, a := range c.Axes {
				swept = config.AddNew(swept, a.Param)
			}
		}
		if q.X != "" && !slices.Contains(swept, q.X) {
			report("--x", "got %s, which the sweep does not vary, want one of %s%s", q.X,
				cmp.Or(strings.Join(swept, ", "), "its keys: it has none"), config.DidYouMean(q.X, swept))
		}
		if len(q.Quantities) == 0 {
			q.Quantities = usualNumbers
		}
	}
	var chosen config.Check
	for _, text := range q.Where {
		condition, bad := config.ParseCondition(text)
		chosen.Where, problems = append(chosen.Where, condition), append(problems, bad...)
	}
	for _, quantity := range q.Quantities {
		n, bad := askedNumber(quantity, q.Level)
		m.numbers, problems = append(m.numbers, n), append(problems, bad...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	m.cells = slices.DeleteFunc(slices.Clone(sweep.Cells), func(c *plan.Cell) bool {
		return !chosen.Selects(&config.Point{Variant: c.Variant, Settings: c.Settings})
	})
	if len(m.cells) == 0 {
		report("--where", "got conditions that no cell satisfies, want values of the sweep")
	}
	variants := variantsOf(plan.Each(m.cells))
	m.line = q.Y == "" && q.X != ""
	for _, variant := range variants {
		p.variant = variant
		p.cells = ofVariant(m.cells, variant)
		if q.Y == "" {
			m.line = m.line && slices.Contains(abscissas(p.cells), q.X)
		} else if fits, bad := p.fits(); bad != "" {
			report("--x, --y", "%s", bad)
		} else if fits {
			m.panels = append(m.panels, p)
		}
	}
	if q.Y != "" && problems == nil && m.panels == nil {
		p.cells = sweep.Cells
		numeric := slices.DeleteFunc(p.varied(), func(k config.Key) bool { return !k.Numeric() })
		if len(numeric) < 2 {
			report("--x, --y", "got a sweep that does not vary two numbers, want a grid over %s and %s, "+
				"or --x alone for a line over one key", q.X, q.Y)
		} else {
			report("--x, --y", "got %s and %s, which the sweep does not vary together, want two of %s",
				q.X, q.Y, listKeys(numeric))
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if m.panels != nil && len(variants) == 1 && len(sweep.Spec.Variants) <= 1 {
		m.panels[0].variant = ""
	}
	return m, nil
}

// fits reports whether the cells vary both parameters; bad says why they have no map all the same.
func (p *panel) fits() (fits bool, bad string) {
	varied := p.varied()
	others := slices.DeleteFunc(slices.Clone(varied),
		func(k config.Key) bool { return k.Path == p.x.Path || k.Path == p.y.Path })
	switch {
	case len(varied)-len(others) < 2:
		return false, ""
	case len(others) > 0:
		bad = fmt.Sprintf("got a sweep that varies %s, want x and y alone", listKeys(others))
		if k := others[0]; k.Kind <= config.WordValue { // a condition can name its values
			bad += fmt.Sprintf(": choose with --where %s=%s", k.Path,
				config.Format(k.Get(&p.cells[0].Settings)))
		}
		return false, bad
	case !p.finite():
		return false, "got inf among the values, want numbers: it has no place on an axis"
	}
	return true, ""
}

// Draw returns what the map shows of an experiment of its plan. Its error is of type
// config.Problems where no cell has the only number that is asked for, else the first in reading a
// trajectory.
func (m *Map) Draw(e *Experiment) (d *Drawing, err error) {
	has := false // some cell has the number
	if m.Y == "" {
		d, has = m.drawNumbers(e)
	} else {
		d, has = m.drawRegimes(e)
	}
	if e.evidence.Failure == nil && len(m.numbers) == 1 && !has {
		n := &m.numbers[0]
		return nil, config.Wrong(quantityFlag, "got %s, which no cell of the map has. %s",
			n.name, n.column().Doc)
	}
	return d, e.evidence.Failure
}

// automaticMaps returns the panels of the maps that are among the figures of every
// experiment: one for each variant whose sweep is a grid of exactly two numeric
// parameters, keys of `run` ignored, with at least four values each, all finite.
func automaticMaps(sweep *plan.Plan) []panel {
	const fewest = 4
	var panels []panel
	grids := sweep.Spec.Grids()
	for _, g := range grids {
		var keys []config.Key
		fit := len(g.Axes) == 2
		for _, a := range g.Axes {
			before := len(keys)
			for _, path := range a.Params {
				if k, _ := config.LookupKey(path); !k.OfRun() {
					fit = fit && k.Numeric()
					keys = append(keys, k)
				}
			}
			fit = fit && len(keys) == before+1 && len(a.Points) >= fewest
		}
		if !fit {
			continue
		}
		p := panel{x: keys[0], y: keys[1]}
		if len(grids) > 1 {
			p.variant = g.Name
		}
		p.cells = ofVariant(sweep.Cells, g.Name)
		if whole := len(p.cells) == len(g.Axes[0].Points)*len(g.Axes[1].Points); whole && p.finite() {
			panels = append(panels, p)
		}
	}
	return panels
}

// finite reports whether both parameters of every cell are finite.
func (p *panel) finite() bool {
	return !slices.ContainsFunc(p.cells, func(c *plan.Cell) bool {
		return math.IsInf(p.x.Number(&c.Settings)+p.y.Number(&c.Settings), 0)
	})
}

// varied returns the keys that have several values among the cells, in the order of
// config.Keys. Keys of `run` are left out, and so is the length of a schedule wherever it
// equals that of the run.
func (p *panel) varied() []config.Key {
	var varied []config.Key
	for _, k := range config.Keys {
		if k.OfRun() {
			continue
		}
		seen := make(map[string]bool)
		for _, c := range p.cells {
			s := &c.Settings
			if k.Path != config.ScheduleTotalKey || s.Optimizer.Schedule.Total != s.Run.Steps {
				seen[config.Format(k.Get(s))] = true
			}
		}
		if len(seen) > 1 {
			varied = append(varied, k)
		}
	}
	return varied
}

// listKeys joins the paths of keys: "a, b and c".
func listKeys(keys []config.Key) string {
	return config.JoinWords(config.Each(keys, func(k config.Key) string { return k.Path }), "and")
}
