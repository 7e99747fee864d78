package theory

import (
	"encoding/json"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// Prediction is everything that the theory says of one cell, a line of `grposim predict --json`.
// Its pointers shadow the fields of Prediction in JSON; they are nil, and null, for a
// cell without a fixed point.
type Prediction struct {
	Cell           string             `json:"cell"`                     // cell id
	Parameters     json.RawMessage    `json:"parameters"`               // the cell's settings, those at their default left out
	FixedPoint     *rom.FixedPoint    `json:"fixed_point"`              // the fixed point
	Stiffness      *rom.ModeStiffness `json:"stiffness"`                // stiffness of the stiffest and the slowest mode
	Gradient       *float64           `json:"gradient_variance"`        // variance of one step's gradient in the stiffest mode
	Oscillator     *rom.Oscillator    `json:"rom"`                      // constants of the reduced-order model
	Regime         string             `json:"regime"`                   // of the linear dynamics, as in a map: overdamped, oscillatory (a mode is) or unstable; "" where not known
	Scope          rom.Scope          `json:"scope"`                    // of every prediction of a stationary state, in the words of verdicts and predictions.csv
	Run            rom.Scope          `json:"run"`                      // of that state in the cell's run, whose mean path from the start has to come to rest
	Units          string             `json:"units,omitempty"`          // what to know of the unit of the learning rate: config.Settings.Units
	Variance       *float64           `json:"expected_reward_variance"` // stationary Var J as verdicts and advice have it: to second order in the noise where that is known, else linear; nil: not known
	AtRest         Numbers            `json:"at_rest"`                  // the stationary numbers with all that they leave out
	Margin         Margin             `json:"-"`                        // within which Var J is judged
	Path           *Way               `json:"path,omitempty"`           // of predict --path: what runs do from their start
	rom.Prediction                    // everything else
}

// Numbers are the numbers of a stationary state.
type Numbers struct {
	Mean      scope.Number `json:"expected_reward"`
	Variance  scope.Number `json:"expected_reward_variance"`
	ZeroShare scope.Number `json:"zero_variance_fraction"`
}

// Line returns what the theory says of a cell with the given id and settings, whose Var J is judged
// within a margin.
func (cache *Cache) Line(id string, s *config.Settings, margin Margin) *Prediction {
	at := cache.Stationary(s)
	line := &Prediction{Cell: id, Parameters: config.Canonical(*s), Units: s.Units(), Margin: margin, Prediction: *at.prediction}
	p := &line.Prediction
	line.AtRest = Numbers{at.Mean(""), at.Variance(), at.ZeroShare()}
	line.Scope.Because = at.Scope()
	line.Scope.In = !line.Scope.Because.Out()
	line.Run.Because = at.Arrival(cache.Start(s), margin)
	line.Run.In = !line.Run.Because.Out()
	line.Regime = NewRegime(s, p).Name()
	if p.FixedPoint != nil {
		line.FixedPoint, line.Stiffness, line.Gradient, line.Oscillator = p.FixedPoint, &p.Stiffness, &p.GradientVariance, &p.Oscillator
		_, line.Variance = variances(StationaryKind(s, p), p)
	}
	return line
}
