package explore

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// Answer is everything that the theory says at once about a state.
type Answer struct {
	Values      map[string]string  `json:"values"`     // at every control
	Idle        map[string]string  `json:"idle"`       // why a control has no effect
	Prediction  *theory.Prediction `json:"prediction"` // what `grposim predict --json` prints
	Summary     Summary            `json:"summary"`
	Words       []Word             `json:"words"`
	Multipliers Multipliers        `json:"multipliers"`
	YAML        string             `json:"yaml"` // the cell as a configuration file
	File        string             `json:"file"` // the name of that file in Sweep
	// that prints Prediction, in the folder of the repository
	Command string `json:"command"`
	Sweep   string `json:"sweep"` // that simulates the configuration file
	MapAxes Axes   `json:"map_axes"`
}

// Multipliers are the eigenvalues of the linear dynamics.
type Multipliers struct {
	Per  string       `json:"per"`  // what one multiplier spans
	List [][2]float64 `json:"list"` // real and imaginary part
}

// Axes are the keys of a map.
type Axes struct {
	X string `json:"x"`
	Y string `json:"y"`
}

// Answer returns what the theory says about a state.
func (e *Explorer) Answer(state State) (*Answer, error) {
	c, err := e.cell(state)
	if err != nil {
		return nil, err
	}
	p := e.predict(c)
	a := &Answer{
		Values: values(c.settings), Idle: make(map[string]string), Prediction: p,
		Multipliers: multipliers(c.settings, p),
		YAML:        document(c.spec.Name, c.settings),
		Command:     command("predict", c.spec.Name, c.set),
		File:        c.spec.Name + ".yaml",
		Sweep:       command("sweep", c.spec.Name+".yaml", nil),
		MapAxes:     mapAxes(c.settings),
	}
	for _, control := range given.Controls {
		if because := control.idle(c.settings); because != "" {
			a.Idle[control.Key] = because
		}
	}
	r := newReader(c, p)
	a.Words = r.words()
	a.Summary = r.summary(a.Words)
	return a, nil
}

// predict returns the prediction of a cell, the last one from memory.
func (e *Explorer) predict(c *cell) *theory.Prediction {
	if e.last == nil || e.last.Cell != c.id {
		e.last = e.cache.Line(c.id, c.settings, theory.OwnSize)
	}
	return e.last
}

// span returns the number of steps that one multiplier spans.
func span(s *config.Settings) float64 { return float64(s.Lag.StepsPerSnapshot()) }

// multipliers returns those of the linear dynamics, none where it is not known.
func multipliers(s *config.Settings, p *theory.Prediction) Multipliers {
	m := Multipliers{Per: "step", List: [][2]float64{}}
	if s.Lag.Kind == option.Block && s.Lag.Interval > 1 {
		m.Per = fmt.Sprintf("block of K = %d steps", s.Lag.Interval)
	}
	if dynamics, known := linearOf(p); known {
		m.List = append(m.List, dynamics.Multipliers...)
	}
	return m
}

// linearOf returns the linear dynamics at the fixed point, and whether it is known.
func linearOf(p *theory.Prediction) (dynamics *rom.Dynamics, known bool) {
	dynamics, _ = p.Linear()
	return dynamics, p.FixedPoint != nil && dynamics.Scope.In && dynamics.SpectralRadius != nil
}

// visible is the share of a swing that is left when the slowest motion has gone to 1/e, from which
// on it counts: a delay of any length has complex multipliers that are gone long before.
const visible = 0.05

// swing returns period and decay of the slowest motion that swings: the length of a cycle in steps,
// at least two spans, and the share of an amplitude that is left after it. It is found only from
// the onset of oscillation on, as in the map, and if it is visible beside the slowest motion of
// all; where a motion grows, if it grows fastest.
func swing(s *config.Settings, d *rom.Dynamics) (period, left float64, found bool) {
	largest, all := 0.0, 0.0
	for _, m := range d.Multipliers {
		angle, modulus := math.Abs(math.Atan2(m[1], m[0])), math.Hypot(m[0], m[1])
		all = max(all, modulus)
		if angle > 1e-9 && modulus > largest {
			largest = modulus
			cycle := 2 * math.Pi / angle // in spans
			period, left, found = cycle*span(s), math.Pow(modulus, cycle), true
		}
	}
	if all >= 1 {
		return period, left, found && largest >= all*(1-1e-9) // equal but for rounding
	}
	onset := d.OscillationLearningRate
	return period, left, found && math.Pow(largest, -1/math.Log(all)) >= visible &&
		(onset == nil || s.Optimizer.LearningRate >= *onset)
}
