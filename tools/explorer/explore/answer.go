package explore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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

// document writes a cell as a configuration file: the keys that are required or not at their
// default, in the order of config.Keys. config.Load reads it back into the same settings.
func document(name string, s *config.Settings) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %s\n", name)
	var given []config.Key
	for _, k := range config.Keys {
		if k.Required() || !k.AtDefault(s) {
			given = append(given, k)
		}
	}
	section(&b, s, given, "")
	return b.String()
}

// section writes the keys whose paths begin with a prefix, each section once.
func section(b *bytes.Buffer, s *config.Settings, keys []config.Key, prefix string) {
	indent := strings.Repeat("  ", strings.Count(prefix, "."))
	var written []string
	for _, k := range keys {
		rest, under := strings.CutPrefix(k.Path, prefix)
		if !under {
			continue
		}
		name, _, deeper := strings.Cut(rest, ".")
		switch {
		case !deeper:
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, config.Format(k.Get(s)))
		case !slices.Contains(written, name):
			written = append(written, name)
			fmt.Fprintf(b, "%s%s:\n", indent, name)
			section(b, s, keys, prefix+name+".")
		}
	}
}

// program is where `make build` leaves grposim, from the folder of the repository.
const program = "bin/grposim"

// command writes a command of grposim with overrides, quoted for a shell.
func command(verb, name string, set []string) string {
	words := []string{program, verb, name}
	for _, s := range set {
		if strings.ContainsAny(s, " {}[]*?&|;<>()$`\"\\!#~'") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		words = append(words, "--set", s)
	}
	return strings.Join(words, " ")
}
