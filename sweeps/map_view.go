package sweeps

import (
	"fmt"
	"math"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// MapView is a selection of cells of a plan for regime maps. It has a panel for each variant.
type MapView struct {
	panels []panel
	colour *recordedNumber // that colours the cells; nil: their class does
}

// ColourBy colours the cells of the maps by a recorded number instead of by class; "" by class. A
// time to a level has the given one. Its error is of type config.Problems and names the flag
// --quantity or --level.
func (v *MapView) ColourBy(quantity string, level *float64) error {
	if v.colour = nil; quantity == "" {
		return nil
	}
	n, problems := askedNumber(quantity, level)
	if len(problems) > 0 {
		return problems
	}
	v.colour = &n
	return nil
}

// panel is the selection of cells for one regime map. They differ only in the two numeric
// parameters x and y and in keys of `run`.
type panel struct {
	x, y    config.Key
	variant string // "" if the file has at most one variant
	cells   []*plan.Cell
}

// NewMapView selects the cells of a plan that satisfy every condition `key=value` of
// where, for maps over the keys x and y. Variants that do not vary both keys are left
// out. Its error is of type config.Problems and names the flags --x, --y and --where.
func NewMapView(sweep *plan.Plan, x, y string, where []string) (*MapView, error) {
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
	chosen, bad := conditionsOf(where)
	problems = append(problems, bad...)
	if len(problems) > 0 {
		return nil, problems
	}
	var view MapView
	var variants []string
	cells := make(map[string][]*plan.Cell)
	for _, c := range sweep.All() {
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
		case len(varied)-len(others) < 2: // left out: other variants can vary both
		case len(others) > 0:
			text := fmt.Sprintf("got a sweep that varies %s, want x and y alone", listKeys(others))
			if k := others[0]; k.Kind <= config.WordValue { // a condition can name its values
				text += fmt.Sprintf(": choose with --where %s=%s", k.Path, config.Format(k.Get(&p.cells[0].Settings)))
			}
			report("--x, --y", "%s", text)
		case !p.finite():
			report("--x, --y", "got inf among the values, want numbers: it has no place on an axis")
		default:
			view.panels = append(view.panels, p)
		}
	}
	if len(problems) == 0 && len(view.panels) == 0 {
		p.cells = sweep.All()
		numeric := slices.DeleteFunc(p.varied(), func(k config.Key) bool { return !k.Numeric() })
		if len(numeric) < 2 {
			report("--x, --y", "got a sweep that does not vary two numbers, want a grid over %s and %s, or --x alone for a line over one key", x, y)
		} else {
			report("--x, --y", "got %s and %s, which the sweep does not vary together, want two of %s", x, y, listKeys(numeric))
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if len(variants) == 1 && len(sweep.Spec.Variants) <= 1 {
		view.panels[0].variant = ""
	}
	return &view, nil
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
		p.cells = slices.DeleteFunc(sweep.All(), func(c *plan.Cell) bool { return c.Variant != g.Name })
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

// listKeys joins the paths of keys: "a, b and c".
func listKeys(keys []config.Key) string {
	var paths []string
	for _, k := range keys {
		paths = append(paths, k.Path)
	}
	return config.JoinWords(paths, "and")
}
