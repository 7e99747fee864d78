package explore

import (
	"fmt"

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
	r := newReader(c, p)
	a := &Answer{
		Values: values(c.settings), Idle: make(map[string]string), Prediction: p,
		Multipliers: multipliers(r.s, r.d),
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

// multipliers returns those of the linear dynamics, none where it is not known.
func multipliers(s *config.Settings, d *rom.Dynamics) Multipliers {
	m := Multipliers{Per: "step", List: [][2]float64{}}
	if s.Lag.Kind == option.Block && s.Lag.Interval > 1 {
		m.Per = fmt.Sprintf("block of K = %d steps", s.Lag.Interval)
	}
	if d != nil {
		m.List = append(m.List, d.Multipliers...)
	}
	return m
}
