package theory

import (
	"slices"

	"grposim/rom"
	"grposim/rom/cell"
	"grposim/sweeps/config"
)

// Params returns the settings of a cell as parameters of the theory, with constants
// scaled by factors (rom.Unit: the theory as derived). It is the only place
// where a cell is handed to the theory; an error in it makes a verdict disagree.
//
// So are options that cannot act, see cell.Plain. Settings that no prediction depends on are left
// out: length and number of runs. Params.Start is nil, the reference, for cells that start there or
// at a fixed point. Params.Measured is nil.
func Params(s *config.Settings, factors rom.Factors) rom.Params {
	p := rom.Params{
		Reference: s.Policy.Reference,
		Estimator: s.Estimator, Lag: s.Lag, Optimizer: s.Optimizer, ReferenceUpdate: s.Policy.ReferenceUpdate,
		Factors: factors,
	}
	if init := s.Policy.Init; init.Kind == config.AtLogits && !slices.Equal(init.Logits, s.Policy.Reference) {
		p.Start = init.Logits
	}
	prompts := Prompts(s)
	p.Arms, p.Prompts = meanArms(s, prompts), theoryOf(prompts)
	return cell.Plain(p)
}
