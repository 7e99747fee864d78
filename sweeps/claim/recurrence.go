package claim

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/fixed"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// The claim about the map of the policy from one refresh to the next.

// compareRecurrence compares the logit gap at each refresh with the map of an infinitely long block
// applied to the gap before. Of recorded steps that skip refreshes only consecutive pairs are
// compared. The measured value is the deviation of largest size, in logits. A block that does not
// come within half the margin of its end is out of scope.
func compareRecurrence(j *Question, c *plan.Cell) Finding {
	f, o := newFinding(rom.Exact), j.Outcome(c)
	f.Diverged = divergenceOf(c, o)
	if !c.Deterministic() {
		f.Predicted.Because = scope.Recurrence.Because(
			"at finite G the noise of every step enters the gap")
		return f
	}
	recorded := j.Trajectory(o, sim.LogitGap)
	if recorded == nil {
		return f
	}
	gaps := recorded.Series(sim.LogitGap)
	params := j.Params(c)
	f.Measured = 0
	for i := 1; i < len(recorded.Steps); i++ {
		if recorded.Steps[i]-recorded.Steps[i-1] != c.Settings.Lag.Interval {
			continue
		}
		z := float64(gaps.Mean[i-1])
		next, within := RefreshedGap(params, z)
		if !within.In {
			f.Predicted.Because = within.Because
			return f
		}
		steps := fixed.RefreshSteps(params, []float64{z / 2, -z / 2}, scope.Decisive*j.Margin(0))
		if steps > float64(c.Settings.Lag.Interval) {
			f.Measured = math.NaN()
			f.Predicted.Because = scope.Recurrence.Because(
				fmt.Sprintf("the block from step %d, where z = %.4g, does not converge: to come within half "+
					"the margin of the map's next policy, z = %.4g, takes about %.2g steps, not %d",
					recorded.Steps[i-1], z, next, steps, c.Settings.Lag.Interval))
			return f
		}
		if d := float64(gaps.Mean[i]) - next; math.IsNaN(d) || math.Abs(d) > math.Abs(f.Measured) {
			f.Measured = d
		}
	}
	return f.exactly(f.Measured)
}

// idealGaps adds the predicted logit gap of two arms at refresh instants, if each block converges.
func idealGaps(m *Model, c *plan.Cell, o *store.Outcome) {
	params := m.Params(c)
	gaps := []float64{c.Start[0] - c.Start[1]}
	for len(gaps) <= c.Settings.Run.Steps/c.Settings.Lag.Interval {
		next, _ := RefreshedGap(params, gaps[len(gaps)-1])
		gaps = append(gaps, next)
	}
	recordNoiseless(o, c, sim.LogitGap,
		func(t int) float64 { return gaps[t/c.Settings.Lag.Interval] })
}

// RefreshedGap returns the logit gap of two arms after an infinitely long block from the gap z; 0
// out of scope.
func RefreshedGap(params rom.Params, z float64) (next float64, within rom.Scope) {
	logits, within := fixed.Refreshed(params, []float64{z / 2, -z / 2})
	if !within.In {
		return 0, within
	}
	return logits[0] - logits[1], within
}
