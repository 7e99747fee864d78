package sweeps

import (
	"cmp"
	"fmt"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claim about the cycle of the snapshots past a loss of stability.

// refreshes returns the recorded refreshes of a run of blocks, in steps, and the index of
// the first in its second half.
func refreshes(s *config.Settings) (steps []int, late int) {
	steps = slices.DeleteFunc(sim.RecordedSteps(s.Run.Steps, s.Lag), func(t int) bool { return t%s.Lag.Interval != 0 })
	late = slices.IndexFunc(steps, func(t int) bool { return 2*t >= s.Run.Steps })
	return steps, late
}

// compareCycle compares the range of the logit gap over the refreshes of the second half of
// a run with that of the mean field, or to leading order with the one that the bound of
// the importance weight allows.
func compareCycle(j *judgement, c *Cell) finding {
	o := j.outcome(c)
	steps, late := refreshes(&c.Settings)
	predict := rom.MeanFieldCycle
	if j.kind == rom.LeadingOrder {
		predict = rom.BoundedCycle
	}
	cycle := predict(j.params(c), c.start, steps[late:])
	f := newFinding(cycle.Kind)
	f.diverged = divergenceOf(c, o)
	f.predicted = cycle
	f.predicted.Because = cmp.Or(cycle.Because, j.missingExact(cycle.Kind))
	if recorded := j.trajectory(o, sim.LogitGap); recorded != nil {
		gaps := gapsAt(recorded, steps[late:])
		f.measured = slices.Max(gaps) - slices.Min(gaps)
		f.lo, f.hi = f.measured, f.measured
	}
	return f
}

// gapsAt returns the recorded logit gap at some of the recorded steps.
func gapsAt(recorded *store.Trajectory, steps []int) []float64 {
	series := recorded.Series(sim.LogitGap)
	var gaps []float64
	for _, t := range steps {
		i, _ := slices.BinarySearch(recorded.Steps, t)
		gaps = append(gaps, float64(series.Mean[i]))
	}
	return gaps
}

// drawCycles returns a picture of the logit gap at each refresh against the mean field,
// with the width in words.
func drawCycles(j *judgement, d *figureSource) Figure {
	f := Figure{Title: "Cycle of the snapshots" + drawnOf(d.sets), XLabel: "refresh", YLabel: "logit gap z"}
	f.Caption = "Where the theory holds, the line of the mean field passes through every simulated point. A bounded importance weight keeps the points of the second half, whose range is the width, within about the logarithm of its bound."
	for _, set := range thinned(d.sets) {
		c := set.Cells[0]
		recorded := j.trajectory(j.outcome(c), sim.LogitGap)
		if recorded == nil {
			continue
		}
		steps, _ := refreshes(&c.Settings)
		width := compareCycle(j.by(""), c).measured
		group := fmt.Sprintf("%s, width %.3g", withoutVariant(set.Label, c.Variant), width)
		if bounded := compareCycle(j.by(rom.LeadingOrder), c).predicted; !bounded.Out() {
			group += fmt.Sprintf(" (by the bound %.3g ± %.2g)", bounded.Value, bounded.Size())
		}
		measured := FigureSeries{Name: "simulated", Group: group, Mark: Measured}
		predicted := FigureSeries{Name: "mean field", Group: group, Mark: Predicted}
		for i, z := range gapsAt(recorded, steps) {
			measured.Points = append(measured.Points, BarePoint(float64(steps[i]/c.Settings.Lag.Interval), z))
		}
		rom.MeanField(j.params(c), c.start, c.Settings.Run.Steps, func(t int, theta []float64) {
			if t%c.Settings.Lag.Interval == 0 {
				predicted.Points = append(predicted.Points, BarePoint(float64(t/c.Settings.Lag.Interval), theta[0]-theta[1]))
			}
		})
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}
