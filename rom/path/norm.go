package path

import (
	"math"

	"grposim/rom/cell"
	"grposim/rom/force"

	"gonum.org/v1/gonum/floats"
)

// metStep is the distance in logits that policies move between two points at which the norm is
// bounded.
const metStep = 0.01

// Unlimited returns checked parameters without their largest norm where the gradients of runs from
// the logits init do not reach it within the given steps. Else it notes which they do not exceed.
func Unlimited(p cell.Params, init []float64, steps int) cell.Params {
	if p.NeverClipped(0) {
		return cell.WithoutIdle(p)
	}
	if p.Tabular() || p.NotDerived(cell.RewardsInDigits, cell.MeanForceKnown).Out() {
		return p
	}
	free := cell.WithoutNorm(p)
	m, past := force.New(&free), newSnapshots(&p.Lag, init, steps)
	before, most := []float64(nil), 0.0
	_, within := Follow(free, init, steps, func(t int, theta []float64) (more bool) {
		old := past.at(t, theta)
		here := append(append([]float64{}, theta...), old...)
		if before == nil || floats.Distance(here, before, math.Inf(1)) > metStep {
			before, most = here, max(most, force.NormMet(m, theta, old))
		}
		return !math.IsInf(most, 1)
	})
	if !within.In || math.IsNaN(most) {
		return p
	}
	return cell.Meeting(p, most)
}
