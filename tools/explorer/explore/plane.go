package explore

import (
	"errors"
	"fmt"
	"math"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// MapRequest asks for a part of the map of a state over two keys.
type MapRequest struct {
	State State  `json:"state"`
	X     string `json:"x"`
	Y     string `json:"y"`
	Every int    `json:"every"` // of so many nodes one is computed: 1, or more for a first sight
	Part  int    `json:"part"`  // from 0; the parts are asked for in order
}

// Map is a map as far as it is computed: regions and lines come with the last part.
type Map struct {
	Parts   int      `json:"parts"`
	X       Axis     `json:"x"`
	Y       Axis     `json:"y"`
	Regions []Region `json:"regions"`
	Lines   []Line   `json:"lines"`
}

// Axis is one axis of a map.
type Axis struct {
	Key   string  `json:"key"`
	Label string  `json:"label"`
	Scale string  `json:"scale"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

// Region is an area of a map; later ones lie on top.
type Region struct {
	Name     string          `json:"name"`
	Tone     Tone            `json:"tone"`
	Polygons [][]theory.Spot `json:"polygons"`
}

// Line is a predicted boundary; null separates its pieces.
type Line struct {
	Name    string         `json:"name"`
	Label   string         `json:"label"`
	Meaning string         `json:"meaning"`
	Kind    string         `json:"kind"` // exact or paper
	Points  []*theory.Spot `json:"points"`
}

// plane is the map that is being computed.
type plane struct {
	of   string // the request, without its part
	grid *theory.Plane
	kind rom.Kind
	Map
}

// Map computes a part of a map: one column of it, and with the last part its lines.
func (e *Explorer) Map(r MapRequest) (*Map, error) {
	part := r.Part
	r.Part = 0
	if of := string(mustMarshal(r)); e.plane.of != of || e.plane.grid == nil {
		if err := e.newPlane(r); err != nil {
			e.plane = plane{}
			return nil, err
		}
		e.plane.of = of
	}
	p := &e.plane
	if part < p.Parts-1 {
		p.grid.Compute(part)
		return &p.Map, nil
	}
	lines, unstable := p.grid.Boundaries(theory.KindWords[p.kind])
	p.Regions, p.Lines = []Region{{"stable", Good, p.grid.Known()}}, nil
	for _, b := range lines {
		line := Line{b.Name, b.Label, b.Meaning, "exact", []*theory.Spot{}}
		if b.Name == "rule" || b.Name == "damping-ratio" {
			line.Kind = "paper"
		}
		for i, piece := range b.Lines {
			if i > 0 {
				line.Points = append(line.Points, nil)
			}
			for _, s := range piece {
				line.Points = append(line.Points, &s)
			}
		}
		p.Lines = append(p.Lines, line)
		if b.Past != nil {
			p.Regions = append(p.Regions, Region{"stable, swings", Warn, b.Past})
		}
	}
	p.Regions = append(p.Regions, Region{theory.Unstable, Bad, unstable})
	return &p.Map, nil
}

// newPlane begins the map of a request.
func (e *Explorer) newPlane(r MapRequest) error {
	c, err := e.cell(r.State)
	if err != nil {
		return err
	}
	x, y := numericControl(r.X), numericControl(r.Y)
	if x == nil || y == nil || r.X == r.Y {
		return fmt.Errorf("got the axes %q and %q, want two controls of numbers", r.X, r.Y)
	}
	for _, control := range []*Control{x, y} {
		if because := control.idle(c.settings); because != "" {
			return errors.New(because)
		} else if control.text(c.settings) == "inf" {
			return errors.New("got inf, want a number: it has no place on an axis")
		}
	}
	xKey, _ := config.LookupKey(x.Key)
	yKey, _ := config.LookupKey(y.Key)
	prediction := e.cache.PredictRegime(c.settings)
	if prediction.FixedPoint == nil && x.Key != strengthKey && y.Key != strengthKey {
		return errors.New(theory.MissingFixedPoint(prediction).String())
	}
	xAxis, yAxis := x.axis(xKey, c.settings), y.axis(yKey, c.settings)
	grid := e.cache.NewPlane(*c.settings, xKey, yKey, xAxis.values(), yAxis.values(), max(1, r.Every))
	e.plane = plane{grid: grid, kind: theory.StationaryKind(c.settings, prediction),
		Map: Map{grid.Columns() + 1, xAxis, yAxis, []Region{}, []Line{}}}
	return nil
}

// numericControl returns the control of a numeric key; nil if there is none.
func numericControl(path string) *Control {
	key, known := config.LookupKey(path)
	for i := range given.Controls {
		if c := &given.Controls[i]; c.Key == path && known && key.Numeric() && !key.OfRun() {
			return c
		}
	}
	return nil
}

// longestAxis is the length of an axis of whole numbers of which each is computed.
const longestAxis = 32

// axis returns the axis of a map over a control: its slider, for an integer only as far as the
// state needs.
func (c *Control) axis(key config.Key, s *config.Settings) Axis {
	a := Axis{Key: c.Key, Label: key.AxisLabel(s), Scale: c.Scale, Min: c.Min, Max: c.Max}
	if here := key.Number(s); key.Kind == config.IntegerValue {
		a.Max = min(a.Max, longestAxis)
		for a.Max < 1.5*here && a.Max < c.Max {
			a.Max *= 2
		}
	} else if !math.IsInf(here, 0) {
		a.Max = max(a.Max, here)
		if here > 0 {
			a.Min = min(a.Min, here)
		}
	}
	if key.Noun == "" {
		a.Label = c.Label
	}
	return a
}

// values returns the ends of the axis and the middle on its scale.
func (a *Axis) values() []float64 {
	middle := (a.Min + a.Max) / 2
	if a.Scale == logarithmic {
		middle = math.Sqrt(a.Min * a.Max)
	}
	return []float64{a.Min, middle, a.Max}
}

// mapAxes returns the axes of the first map of a cell: the learning rate and what says how
// old samples are; without a penalty, where there is nothing to see, the penalty.
func mapAxes(s *config.Settings) Axes {
	y := config.LagIntervalKey
	switch {
	case s.Estimator.KL.Coefficient == 0:
		y = strengthKey
	case numericControl(y).idle(s) != "":
		y = agesToKey
	}
	return Axes{config.LearningRateKey, y}
}
