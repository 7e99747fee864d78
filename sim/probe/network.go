package probe

import (
	"context"
	"math"
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
)

// alongMode returns the cell with its location probe in weights: from those of the network along
// the stiffest mode. That moves the logits of all contexts by a norm of 1.
func (c *Cell) alongMode() *Cell {
	probe, along := *c.Location, *c
	probe.Point, probe.Direction = c.Network.Weights, sim.NewMeanField(&c.Cell).Mode()
	along.Location = &probe
	return &along
}

// grows decides whether a small deviation from the logits of Network.Weights grows at G = ∞. It
// looks at the change of the logits in the last step before each refresh. Slow modes, which would
// hide the decay of the stiff ones, are small in it.
func grows(ctx context.Context, c *Cell) (o outcome) {
	walk, period, start := sim.NewWalk(&c.Cell), c.Lag.StepsPerSnapshot(), c.Location.Offset
	walk.Begin(sim.ForLocation, 0, sim.NewMeanField(&c.Cell).Displace(sim.ForLocation, start))
	var g *growth
	logits := walk.Logits()
	last, change, gone := slices.Clone(logits), make([]float64, len(logits)), 0
	for t := 1; ; t++ {
		copy(last, logits)
		if !walk.Step(t-1) || !measure.Finite(logits...) {
			return present
		}
		if t%stepsBetweenNetworkLooks == 0 && ctx.Err() != nil {
			return undecided
		}
		if t%period != 0 {
			continue
		}
		for i, x := range last {
			change[i] = logits[i] - x
		}
		square := measure.CentredSquare(change, len(c.Bandit.Arms))
		if g == nil {
			if square < minStart*minStart {
				return undecided
			}
			g = newGrowth(c, c.Run.Steps, math.Sqrt(square))
		}
		if gone++; square > negligibleSquare {
			gone = 0
		}
		o = g.add(t/period-1, square, gone >= negligibleCount)
		if o != undecided || t/period > g.longest {
			return o
		}
	}
}

// stepsBetweenNetworkLooks is the number of steps of a network between two checks of the context.
const stepsBetweenNetworkLooks = 64
