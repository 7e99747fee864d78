package arrive

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/path"

	"gonum.org/v1/gonum/floats"
)

// Overshoot computes by how much the mean path passes its fixed point within the given steps. init
// has the logits at the start, one per arm. It is a share of the way, ≥ 0:
//
//	max over t of (θ_t−θ_0)·(θ*−θ_0)/|θ*−θ_0|² − 1
//
// with two arms (max z − z*)/(z* − z_0). It is nil under Adam, where there is no fixed point or the
// path is not followed, and where runs start at the fixed point.
func Overshoot(p cell.Params, init []float64, steps int) (share *float64) {
	p = path.Unlimited(p.Checked(), init, steps)
	because := p.NotDerived(cell.RewardsInDigits, cell.MeanForceKnown, cell.WeightsAtRest,
		cell.FixedPointKnown)
	if because.Out() || p.Tabular() || p.Optimizer.Kind == option.Adam {
		return nil
	}
	p.Start = init
	way := fixed.Destination(p)
	if way == nil {
		return nil
	}
	floats.Sub(way, centred(init))
	square, farthest := floats.Dot(way, way), 1.0
	_, within := path.Follow(p, init, steps, func(t int, theta []float64) (more bool) {
		gone := centred(theta)
		floats.Sub(gone, centred(init))
		farthest = max(farthest, floats.Dot(gone, way)/square)
		return true
	})
	if farthest--; within.In && square > path.AtRest && !math.IsInf(farthest, 1) {
		return &farthest
	}
	return nil
}

// centred returns logits with their mean subtracted.
func centred(logits []float64) []float64 {
	out := slices.Clone(logits)
	floats.AddConst(-floats.Sum(logits)/float64(len(logits)), out)
	return out
}
