package sweeps

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
)

// The claim about the map of the policy from one refresh to the next.

// compareRecurrence compares the logit gap at each refresh with the map of an infinitely long block
// applied to the gap before. Of recorded steps that skip refreshes only consecutive pairs are
// compared. The measured value is the deviation of largest size, in logits. A block that does not
// come within half the margin of its end is out of scope.
func compareRecurrence(j *judgement, c *Cell) finding {
	f, o := newFinding(rom.Exact), j.outcome(c)
	f.diverged = divergenceOf(c, o)
	if !c.deterministic() {
		f.predicted.Because = scope.Recurrence.Because("at finite G the noise of every step enters the gap")
		return f
	}
	recorded := j.trajectory(o, sim.LogitGap)
	if recorded == nil {
		return f
	}
	gaps := recorded.Series(sim.LogitGap)
	params := j.params(c)
	f.measured = 0
	for i := 1; i < len(recorded.Steps); i++ {
		if recorded.Steps[i]-recorded.Steps[i-1] != c.Settings.Lag.Interval {
			continue
		}
		next, within := refreshedGap(params, float64(gaps.Mean[i-1]))
		if !within.In {
			f.predicted.Because = within.Because
			return f
		}
		z := float64(gaps.Mean[i-1])
		if steps := rest.RefreshSteps(params, []float64{z / 2, -z / 2}, scope.Decisive*j.margin(0)); steps > float64(c.Settings.Lag.Interval) {
			f.measured = math.NaN()
			f.predicted.Because = scope.Recurrence.Because(fmt.Sprintf("the block from step %d, where z = %.4g, does not converge: to come within half the margin of the map's next policy, z = %.4g, takes about %.2g steps, not %d", recorded.Steps[i-1], z, next, steps, c.Settings.Lag.Interval))
			return f
		}
		if d := float64(gaps.Mean[i]) - next; math.IsNaN(d) || math.Abs(d) > math.Abs(f.measured) {
			f.measured = d
		}
	}
	return f.exactly(f.measured)
}

// refreshedGaps returns the predicted logit gap of two arms at refresh instants t,
// multiples of the refresh interval, if each block converges.
func (m *model) refreshedGaps(c *Cell) func(t int) float64 {
	params := m.params(c)
	gaps := []float64{c.start[0] - c.start[1]}
	for len(gaps) <= c.Settings.Run.Steps/c.Settings.Lag.Interval {
		next, _ := refreshedGap(params, gaps[len(gaps)-1])
		gaps = append(gaps, next)
	}
	return func(t int) float64 { return gaps[t/c.Settings.Lag.Interval] }
}

// refreshedGap returns the logit gap of two arms after an infinitely long block from the gap z; 0
// out of scope.
func refreshedGap(params rom.Params, z float64) (next float64, within rom.Scope) {
	logits, within := rest.Refreshed(params, []float64{z / 2, -z / 2})
	if !within.In {
		return 0, within
	}
	return logits[0] - logits[1], within
}

// drawOrbits returns a picture of the logit gap at each refresh against the orbit of
// the published map.
func drawOrbits(j *judgement, d *figureSource) Figure {
	f := Figure{Title: "Logit gap from refresh to refresh" + drawnOf(d.sets), XLabel: "refresh", YLabel: "logit gap z"}
	f.Caption = "Where the published map holds, its orbit passes through every simulated point; an error of the map grows from refresh to refresh."
	for _, set := range thinned(d.sets) {
		c := set.Cells[0]
		o := j.outcome(c)
		recorded := j.trajectory(o, sim.LogitGap)
		if recorded == nil {
			continue
		}
		name := withoutVariant(set.Label, c.Variant)
		measured := FigureSeries{Name: "simulated", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: "published map", Group: name, Mark: Predicted}
		gaps := recorded.Series(sim.LogitGap)
		period := c.Settings.Lag.Interval
		n, last := 0, 0
		for i, t := range recorded.Steps {
			if t%period == 0 {
				last = t / period
				measured.Points = append(measured.Points, BarePoint(float64(last), float64(gaps.Mean[i])))
			}
		}
		params := j.params(c)
		for z := float64(gaps.Mean[0]); n <= last && !math.IsNaN(z); n++ {
			predicted.Points = append(predicted.Points, BarePoint(float64(n), z))
			next, within := refreshedGap(params, z)
			if !within.In {
				break
			}
			z = next
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}
