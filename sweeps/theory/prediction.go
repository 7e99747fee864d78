package theory

import (
	"encoding/json"

	"grposim/rom"
	"grposim/rom/fixed"
	"grposim/rom/paper"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// Prediction is everything that the theory says of one cell, a line of `grposim predict --json`.
// Its pointers shadow the fields of Prediction in JSON; they are nil, and null, for a
// cell without a fixed point.
type Prediction struct {
	Cell string `json:"cell"` // cell id
	// the cell's settings, those at their default left out
	Parameters json.RawMessage `json:"parameters"`
	FixedPoint *fixed.Point    `json:"fixed_point"` // the fixed point
	// stiffness of the stiffest and the slowest mode
	Stiffness *rest.ModeStiffness `json:"stiffness"`
	// variance of one step's gradient in the stiffest mode
	Gradient   *float64          `json:"gradient_variance"`
	Oscillator *paper.Oscillator `json:"rom"` // constants of the reduced-order model
	// of the linear dynamics, as in a map: overdamped, oscillatory (a mode is) or unstable; "" where
	// not known
	Regime string `json:"regime"`
	// of every prediction of a stationary state, in the words of verdicts and predictions.csv
	Scope rom.Scope `json:"scope"`
	// of that state in the cell's run, whose mean path from the start has to come to rest
	Run rom.Scope `json:"run"`
	// what to know of the unit of the learning rate: config.Settings.Units
	Units string `json:"units,omitempty"`
	// stationary Var J as verdicts and advice have it: to second order in the noise where that is
	// known, else linear; nil: not known
	Variance *float64 `json:"expected_reward_variance"`
	AtRest   Numbers  `json:"at_rest"` // the stationary numbers with all that they leave out
	Margin   Margin   `json:"-"`       // within which Var J is judged
	// of predict --path: what runs do from their start
	Path           *Way `json:"path,omitempty"`
	rom.Prediction      // everything else
}

// Numbers are the numbers of a stationary state.
type Numbers struct {
	Mean      scope.Number  `json:"expected_reward"`
	Variance  scope.Number  `json:"expected_reward_variance"`
	ZeroShare scope.Number  `json:"zero_variance_fraction"`
	TrueMean  *scope.Number `json:"true_reward,omitempty"` // nil: the true means are the arms'
}

// NoiseDecides reports whether the noise is so large that not even where runs rest is known.
func (n Numbers) NoiseDecides() bool {
	return n.Mean.Because.Is(scope.NoiseTooLarge, scope.AdamEscapes)
}

// Line returns what the theory says of a cell with the given id and settings, whose Var J is judged
// within a margin.
func (cache *Cache) Line(id string, s *config.Settings, margin Margin) *Prediction {
	at := cache.Stationary(s)
	line := &Prediction{Cell: id, Parameters: config.Canonical(*s), Units: s.Units(), Margin: margin,
		Prediction: *at.prediction, Regime: NewRegime(s, at.prediction).Name(),
		AtRest: at.Numbers(),
		Scope:  at.Scope().Scope(), Run: at.Arrival(cache.Start(s), margin).Scope()}
	if p := &line.Prediction; p.FixedPoint != nil {
		line.FixedPoint, line.Stiffness = p.FixedPoint, &p.Stiffness
		line.Gradient, line.Oscillator = &p.GradientVariance, &p.Oscillator
		if line.Variance = p.Moments.RewardVariance; !line.AtRest.Variance.Out() {
			line.Variance = &line.AtRest.Variance.Value
		}
	}
	return line
}
