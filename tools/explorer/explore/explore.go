// Package explore answers the questions of the interactive page: what the theory says of a
// cell, in numbers and in words, and single runs of it. It has no theory, no simulator and no
// parser of its own: a State is a built-in configuration with overrides, which config.Load
// reads, package sweeps/theory predicts and package sim runs.
//
// Every function takes one value and returns one, or config.Problems; Call does the same with
// JSON texts, by name. Work that takes longer than a moment is divided: a map comes column by
// column, an ensemble some replicas at a time.
package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"grposim/configs"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// State holds the setting of the page: a preset and the values that differ from it.
type State struct {
	Preset string `json:"preset"` // a name of Presets
	// by key of a control or of the configuration, the value as --set takes it
	Set map[string]string `json:"set"`
}

// Explorer keeps the predictions of one page, so that a map does not compute one twice.
// It is for one goroutine.
type Explorer struct {
	cache *theory.Cache
	plane plane              // of the last map asked for
	last  *theory.Prediction // nil: none yet
}

// New returns an Explorer without predictions.
func New() *Explorer { return &Explorer{cache: theory.NewCache()} }

// functions are those that Call knows.
var functions = map[string]func(e *Explorer, request []byte) (any, error){
	"describe": func(*Explorer, []byte) (any, error) { return Describe() },
	"answer":   with((*Explorer).Answer),
	"path":     with((*Explorer).Path),
	"map":      with((*Explorer).Map),
	"ensemble": with((*Explorer).Ensemble),
}

// with reads the request of a function.
func with[Request, Reply any](
	f func(*Explorer, Request) (Reply, error),
) func(*Explorer, []byte) (any, error) {
	return func(e *Explorer, request []byte) (any, error) {
		var r Request
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, fmt.Errorf("got the request %s: %w", request, err)
		}
		return f(e, r)
	}
}

// Functions returns the names that Call knows, in no order.
func Functions() []string { return slices.Collect(maps.Keys(functions)) }

// failure is the reply in place of an answer.
type failure struct {
	Problems []problem `json:"problems"`
}

// problem is a config.Problem without the file, which the page does not have.
type problem struct {
	Key  string `json:"key,omitempty"` // "": of no key
	Text string `json:"text"`          // what it got, what it wants
}

// Call calls a function by its name with a request and returns its reply, both JSON texts. An
// error, and a panic, which is a bug, is the reply {"problems": […]}.
func (e *Explorer) Call(name string, request []byte) (reply []byte) {
	defer func() {
		if value := recover(); value != nil {
			reply = failed(fmt.Errorf("this is a bug of grposim: %s: %v", name, value))
		}
	}()
	result, err := functions[name](e, request)
	if err != nil {
		return failed(err)
	}
	return mustMarshal(result)
}

func failed(err error) []byte {
	problems, are := errors.AsType[config.Problems](err)
	if !are {
		problems = problemOf("", err.Error())
	}
	said := func(p config.Problem) problem { return problem{p.Key, p.Text} }
	return mustMarshal(failure{config.Each(problems, said)})
}

// problemOf returns the one problem of a key; "": of none.
func problemOf(key, text string) config.Problems {
	return config.Problems{{Place: config.Place{Source: "the page"}, Key: key, Text: text}}
}

// mustMarshal is json.Marshal of a value that has a JSON form.
func mustMarshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// folder is that of the presets in configs.Files.
const folder = "explorer"

// load returns the configuration of a preset with overrides.
func load(preset string, set ...string) (*config.Spec, error) {
	data, err := configs.Files.ReadFile(path.Join(folder, preset+".yaml"))
	if err != nil || !slices.Contains(Presets(), preset) {
		return nil, fmt.Errorf("preset: got %q, want one of %s", preset, strings.Join(Presets(), ", "))
	}
	return config.ToPredict.Load(preset+".yaml", data, set...)
}

// cell is the cell that a State describes.
type cell struct {
	spec     *config.Spec
	settings *config.Settings // the base of spec
	set      []string         // overrides of the preset as --set takes them
	start    []float64        // logits at step 0; nil: the theory finds no fixed point to start from
	id       string
}

func (e *Explorer) cell(state State) (*cell, error) {
	set, err := state.overrides()
	if err != nil {
		return nil, err
	}
	spec, err := load(state.Preset, set...)
	if err != nil {
		return nil, err
	}
	if n := spec.Size(); n != 1 {
		return nil, fmt.Errorf("got lists that make %d cells, want one value for each key", n)
	}
	s := &spec.Base
	return &cell{spec, s, set, e.cache.Start(s), theory.ID(s, nil)}, nil
}

// mostSteps is the number of steps that a curve has at most, and about half of it if the run
// has as many.
const mostSteps = 400

// steps returns the steps at which curves of the cell have a point, evenly spaced from 0 on: a
// multiple of the refresh period apart, so that the point is always at the same place in a block.
func (c *cell) steps() []int {
	period, last := c.settings.Lag.StepsPerSnapshot(), c.settings.Run.Steps
	apart := period * (1 + last/(mostSteps*period))
	var steps []int
	for t := 0; t < last; t += apart {
		steps = append(steps, t)
	}
	return append(steps, last)
}
