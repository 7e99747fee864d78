package sweeps

import (
	"fmt"
	"math"
	"slices"

	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/training/diagnose"
)

// ran holds the means over replicas that a diagnostic draws.
type ran struct {
	*diagnose.Trace
	steps     []float64
	groupSize float64
}

// diagnostic is one of the paper's, along healthy runs and runs with the mode that it shows.
type diagnostic struct {
	word string // of its frame
	mode diagnose.Mode
	x, y AxisScale
	of   func(r ran) [3][]float64 // x, y of a line, y of points; nil: none
}

// diagnostics are the paper's four, its Figures 2 to 5.
var diagnostics = []diagnostic{
	{"coupling", diagnose.RewardHacking, LinearAxis, LinearAxis, func(r ran) [3][]float64 {
		return [...][]float64{risen(r.Reward, r.Reward), risen(r.TrueReward, r.Reward), nil}
	}},
	{"coupling-rates", diagnose.RewardHacking, LinearAxis, LinearAxis, func(r ran) [3][]float64 {
		at, rho := diagnose.Coupling(r.Trace)
		return [...][]float64{at, rho, nil}
	}},
	{"degeneracy", diagnose.AdvantageDegeneracy, LogAxis, LinearAxis, func(r ran) [3][]float64 {
		within := config.Each(r.Reward,
			func(j float64) float64 { return j * (1 - j) * (r.groupSize - 1) / r.groupSize })
		return [...][]float64{r.steps, within, r.ZeroVariance}
	}},
	{"concentration", diagnose.PolicyConcentration, LinearAxis, LinearAxis,
		func(r ran) [3][]float64 { return [...][]float64{r.KL, r.Entropy, nil} }},
	{"stability", diagnose.DynamicalInstability, LogAxis, LogAxis,
		func(r ran) [3][]float64 { return [...][]float64{r.steps, r.RatioMax, r.GradientNorm} }},
}

// diagnosticsOf returns the pictures of the diagnostics that show runs of a mode.
func diagnosticsOf(mode diagnose.Mode) (all []picture) {
	for _, d := range diagnostics {
		if mode == diagnose.None || mode == d.mode {
			all = append(all, picture{word: "diagnostic-" + d.word, across: true, draw: d.draw,
				family: func(*config.Check) string { return d.word }})
		}
	}
	return all
}

// draw returns the picture of what it shows of every run.
func (d diagnostic) draw(j *claim.Question, source *figureSource) Figure {
	f := framed(d.word)
	f.XScale, f.YScale = d.x, d.y
	for _, set := range evenly(source.sets, maxCurves) {
		c := set.Cells[0]
		t, err := c.Trace(j.Outcome(c))
		if !j.Keep(err) || t == nil {
			continue
		}
		steps := config.Each(t.Steps, func(s int) float64 { return float64(s) })
		r := ran{t, steps, float64(c.Settings.Estimator.GroupSize)}
		shown := d.of(r)
		for n, theory := range frames()[d.word].Theories {
			s := FigureSeries{Name: theory.Name, Group: set.Label, Mark: [...]Mark{Predicted, Measured}[n]}
			for i, y := range shown[1+n] {
				if x := shown[0][i]; x > 0 || d.x == LinearAxis {
					s.point(x, y)
				}
			}
			f.Series = append(f.Series, s)
		}
	}
	if d.word == "coupling" {
		f.Series = append(f.Series, FigureSeries{Name: "diagonal", Mark: Reference,
			Points: []FigurePoint{BarePoint(0, 0), BarePoint(1, 1)}})
	}
	return f
}

// risen returns the increments of a series over the largest increment of another.
func risen(series, of []float64) []float64 {
	largest := slices.Max(of) - of[0]
	return config.Each(series, func(x float64) float64 { return (x - series[0]) / largest })
}

// drawStages returns panels of the paper's Figure 6: runs, its oscillator and the fixed point.
func drawStages(j *claim.Question, d *figureSource) (panels []Figure) {
	const most = 5
	for _, c := range evenly(d.sets[0].Cells, most) {
		one := *d
		one.sets = plan.Each([]*plan.Cell{c})
		f := drawCurves(j.By(rom.PaperRule), &one)
		interval := c.Settings.Lag.Interval
		f.Name, f.Caption = fmt.Sprintf("%s-%d", d.name(), interval), frames()["stages"].Caption
		f.Title = fmt.Sprintf("%s, K_ref = %d: %s", d.variant, interval, j.Class(c))
		if point := j.Cache.PredictRegime(&c.Settings).FixedPoint; point != nil {
			f.Series = append(f.Series, FigureSeries{Name: "p*", Mark: Reference, Points: []FigurePoint{
				BarePoint(0, point.Reward), BarePoint(float64(c.Settings.Run.Steps), point.Reward)}})
		}
		panels = append(panels, f)
	}
	return panels
}

// frontierOn returns the line through visible frontiers, at the default visibility, on a map.
func frontierOn(e *claim.Evidence, p panel, checks []plan.PlannedCheck) FigureSeries {
	s := FigureSeries{Name: "visible frontier of runs", Mark: Boundary}
	other := func(k config.Key) bool { return k.Path != p.x.Path && k.Path != p.y.Path }
	for _, planned := range checks {
		check := planned.Check
		if check.Claim.Name != "visible-frontier" || check.Locate.Param != p.y.Path ||
			check.Locate.Visibility != 0 {
			continue
		}
		for _, set := range planned.Sets {
			c := set.Cells[0]
			with := panel{cells: []*plan.Cell{p.cells[0], c}}
			found := claim.NewQuestion(check, e).InCell(check.Claim.Name, c)
			if !slices.ContainsFunc(with.varied(), other) && !math.IsInf(found.Hi, 1) {
				s.point(p.x.Number(&c.Settings), found.Measured)
			}
		}
	}
	return s
}
