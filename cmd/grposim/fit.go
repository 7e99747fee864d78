package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/training/change"
	"grposim/training/findings"
	"grposim/training/fit"
	"grposim/training/logs"
)

type fitOptions struct {
	out     *printer
	figures string
	how     logs.Options
}

func newFit(stdout, stderr io.Writer) *cobra.Command {
	var o fitOptions
	c := newCommand("fit", cobra.MinimumNArgs(1), func(c *cobra.Command, args []string) error {
		var fits []*logFit
		for _, file := range args {
			runs, err := openLogs(stderr, file, o.how)
			if err != nil {
				return err
			}
			before := len(fits)
			for _, log := range runs {
				f, failed := fitLog(log)
				if failed == nil {
					fits = append(fits, f)
				} else if err = failed; len(runs) > 1 {
					printLines(stderr, err.Error()+": left out")
				}
			}
			if len(fits) == before {
				return err
			}
		}
		return o.write(stderr, fits)
	})
	o.out = addJSON(c, stdout, "  ", "print a JSON object for every log")
	addLogOptions(c, &o.how)
	c.Flags().StringVar(&o.figures, "figures", "", "")
	return c
}

type logFit struct {
	log    *logs.Log
	steps  fit.Curve // over optimizer steps
	curve  fit.Curve // over the time of the laws
	time   lawTime
	result fit.Result
	lost   string       // since when no update trains; "": it does
	ahead  fit.Forecast // at the steps of at
	at     []float64
}

// fitLog fits the rows before the step from which on no update trains, if there is one.
func fitLog(log *logs.Log) (*logFit, error) {
	f := new(logFit)
	var err error
	if f.log, f.steps, f.lost, err = curveBeforeLoss(log, findings.Crashed, "fitted"); err != nil {
		return nil, err
	}
	f.curve, f.time = lawCurve(f.log, f.steps)
	f.result = fit.Fit(f.curve)
	if f.lost != "" {
		return f, nil // nothing is ahead
	}
	first, last := f.steps.Time[0], f.steps.Time[len(f.steps.Time)-1]
	end := math.Ceil(last + (last-first)/2)
	// 50 steps at most. Beyond 2^53, where the log may end, not every integer is a number.
	width := math.Ceil((end - last) / 50)
	for step, before := last+width, last; before < step && step < end; step, before = step+width, step {
		f.at = append(f.at, step)
	}
	f.at = append(f.at, end)
	f.ahead = f.result.Predict(f.steps, f.at)
	return f, nil
}

// write prints the fits, draws their figures if wanted, and returns the exit code.
func (o *fitOptions) write(stderr io.Writer, fits []*logFit) error {
	code, taken := 0, make(map[string]bool)
	for i, f := range fits {
		err := o.out.print(f.object(), func(p *page) {
			if i > 0 {
				p.printf("\n")
			}
			f.print(p)
		})
		if err == nil && o.figures != "" {
			err = f.draw(stderr, o.figures, figureName(f.log, taken))
		}
		if err != nil {
			return err
		}
		if f.lost != "" {
			code = exitDisagree
		} else if f.result.Regime == fit.Flat && code == 0 {
			code = exitInconclusive
		}
	}
	return exit(code)
}

// object is what fit prints of a log as JSON.
func (f *logFit) object() object {
	r, log := &f.result, f.log
	observable := config.Each(log.Columns, func(c logs.Column) logs.Quantity { return c.Quantity })
	var models, ahead []object
	for i := range r.Models {
		m := &r.Models[i]
		parameters := make(map[string]object)
		for _, p := range m.Parameters() {
			parameters[p.Name] = object{"value", p.Value, "lo", p.Lo, "hi", p.Hi, "identifiable",
				p.Identifiable, "unit", f.unit(p)}
		}
		models = append(models, object{"name", m.Name, "parameters", parameters, "r2", m.R2,
			"r2_smoothed", m.R2Smoothed, "bic", m.BIC})
	}
	for i, step := range f.at {
		ahead = append(ahead, object{"step", step, "reward", f.ahead.Mean, "lo90", f.ahead.Lo[i], "hi90",
			f.ahead.Hi[i]})
	}
	half := r.Model(r.Best).HalfTime()
	return append(object{"file", log.File}.with("run", log.Run, log.Run != ""), "format",
		log.Format.String(), "points", len(f.curve.Time), "time", f.lawTime(),
		"observable", observable, "notes", append([]string{}, log.Notes...), "models", models, "best", r.Best,
		"ahead", ahead, "regime", r.Regime, "direction", r.Direction,
		// of the best law, from the first row to the plateau
		"half_time", object{"time", half, "step", f.time.step(half)},
		"oscillation_evidence", r.Evidence, "residual_correlation", r.Correlation, "independent_points",
		float64(len(f.curve.Time))*change.Independent(r.Correlation)).with("lost", f.lost, f.lost != "")
}

func meaning(r *fit.Result) string {
	verb := map[fit.Direction]string{fit.Rises: "rises", fit.Falls: "falls",
		fit.NoDirection: "ends where it began"}[r.Direction]
	switch r.Regime {
	case fit.Flat:
		return "no law with growth beats a constant: nothing about the dynamics is identified (an " +
			"oscillation about a level: grposim diagnose)"
	case fit.Overdamped:
		return "it " + verb + " without oscillation: a damping ratio above 1 fits better than any below"
	case fit.Underdamped:
		return "it oscillates: an oscillator beats every law without oscillation; it " + verb
	}
	return map[fit.Direction]string{fit.Rises: "it grows", fit.Falls: "it falls"}[r.Direction] +
		"; the damping ratio is not identified"
}

// lawTime names the time of the laws, with its origin where that is not step 0.
func (f *logFit) lawTime() string {
	if f.result.Origin == 0 {
		return f.time.name
	}
	return fmt.Sprintf("%s, from step %.6g on, one row before the first: "+
		"the log is that of a run that goes on", f.time.name, f.time.step(f.result.Origin))
}

// unit is the unit of a parameter, as the JSON names it.
func (f *logFit) unit(p fit.Parameter) string {
	if f.time.intrinsic && (p.Is == fit.Duration || p.Is == fit.Frequency) {
		return string(p.Is) + " at the peak rate"
	}
	return string(p.Is)
}

// print writes the fit for people. First come words: whether the run is lost, the regime, which
// numbers of the best law to trust, half of the way, and the forecast.
func (f *logFit) print(p *page) {
	r, steps := &f.result, f.steps.Time
	best := r.Model(r.Best)
	p.printf("%s: %s, %d rows with a reward, steps %.6g to %.6g\n", f.log.Name(), f.log.Format,
		len(steps), steps[0], steps[len(steps)-1])
	if f.lost != "" {
		p.paragraph("  ", "the run is "+f.lost+".")
	}
	p.paragraph("  ", fmt.Sprintf("regime: %s; %s.", r.Regime, meaning(r)))
	parameters := [][]string{{strings.ToUpper(string(best.Name)), "VALUE", "90 % INTERVAL", ""}}
	fixed, trust := true, fmt.Sprintf("trust the %s law", best.Name)
	but := " but for what the log does not fix: "
	for _, x := range best.Parameters() {
		name, known := strings.ReplaceAll(x.Name, "_", " "), "identified"
		if !x.Identifiable {
			fixed, trust, but, known = false, trust+but+name, ", ", "not identified"
		}
		if x.Is != fit.OfReward && x.Is != fit.Ratio {
			name += ", " + f.unit(x)
		}
		parameters = append(parameters,
			[]string{name, bound(x.Value, 4), bound(x.Lo, 4) + " to " + bound(x.Hi, 4), known})
	}
	if step := f.time.step(best.HalfTime()); fixed && !math.IsNaN(step) {
		trust += fmt.Sprintf(". Half of the way from the first row to the plateau is made at step %.4g", step)
	}
	p.paragraph("  ", trust+".")
	if n := len(f.at) - 1; n < 0 {
		p.printf("no forecast: the run is lost.\n")
	} else {
		by := map[bool]string{true: "the level", false: "exponential smoothing, without a law"}[r.Regime == fit.Flat]
		p.paragraph("  ", fmt.Sprintf("forecast for step %.6g by %s: %.3g, a row between %s "+
			"and %s with 90 %%, if neither a take-off nor a collapse comes first, which no reward before "+
			"them shows.", f.at[n], by, f.ahead.Mean, bound(f.ahead.Lo[n], 3), bound(f.ahead.Hi[n], 3)))
	}
	p.printf("\n")
	lowest := slices.MinFunc(r.Models, func(a, b fit.Model) int { return cmp.Compare(a.BIC, b.BIC) })
	rows := [][]string{{"LAW", "BIC − LOWEST", "R²", "R², 5 % MEANS"}}
	for _, m := range r.Models {
		rows = append(rows, []string{string(m.Name), fmt.Sprintf("%.1f", m.BIC-lowest.BIC),
			fmt.Sprintf("%.3f", m.R2), fmt.Sprintf("%.3f", m.R2Smoothed)})
	}
	p.table(rows)
	if lowest.Name != best.Name {
		p.printf("the %s law is taken: no other beats the constant by the %d in BIC that growth needs\n",
			best.Name, fit.GrowthEvidence)
	}
	p.printf("\n")
	p.table(parameters)
	p.printf("\n")
	p.paragraph("  ", "time of the laws: "+f.lawTime())
}

// bound prints an end of an interval with a number of digits.
func bound(x float64, digits int) string {
	if math.IsInf(x, 0) {
		return "no bound"
	}
	return fmt.Sprintf("%.*g", digits, x)
}

// figureName returns a name for the figures of a log that none of those taken has, and takes
// it: that of the file without its extension, and of the run where the file holds several. A
// number follows the second of a name.
func figureName(l *logs.Log, taken map[string]bool) string {
	name := strings.TrimSuffix(filepath.Base(l.File), filepath.Ext(l.File))
	if l.Run != "" {
		name += "-" + strings.ReplaceAll(l.Run, "/", "-")
	}
	runes := []rune(escape(name, ""))
	const most = 50 // characters; a file system has 255 bytes, with the rest
	whole := string(runes[:min(len(runes), most)])
	name = whole
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", whole, n)
	}
	taken[name] = true
	return name
}

// mostPoints is the number of rows up to which each is a point of a figure: more cannot be
// told apart in its width.
const mostPoints = 2000

// draw writes the figure of a fit to a folder.
func (f *logFit) draw(stderr io.Writer, folder, name string) error {
	best := f.result.Model(f.result.Best)
	drawn, over, logged, point := f.steps, f.curve.Time, "logged reward", "a row"
	if len(drawn.Time) > mostPoints {
		var count int
		drawn, count = f.steps.Thin()
		means, _ := f.curve.Thin()
		point = fmt.Sprintf("the mean of %d rows", count)
		over, logged = means.Time, fmt.Sprintf("logged reward, means of %d rows", count)
	}
	fitted := best.Predict(over)
	rows := sweeps.FigureSeries{Name: logged, Group: "log", Mark: sweeps.Measured}
	line := sweeps.FigureSeries{Name: string(best.Name) + " law", Group: "law", Mark: sweeps.Reference}
	for i, step := range drawn.Time {
		rows.Points = append(rows.Points, sweeps.BarePoint(step, drawn.Reward[i]))
		line.Points = append(line.Points, sweeps.BarePoint(step, fitted[i]))
	}
	ahead := sweeps.FigureSeries{Name: "forecast, with the 90 % interval of a row", Group: "forecast",
		Mark: sweeps.Predicted}
	for i, step := range f.at {
		ahead.Points = append(ahead.Points,
			sweeps.FigurePoint{X: step, Y: f.ahead.Mean, Lo: f.ahead.Lo[i], Hi: f.ahead.Hi[i]})
	}
	return drawFigures(stderr, folder, sweeps.Figure{Name: name, Title: "Reward of " + name,
		XLabel: "optimizer step", YLabel: "reward, in the unit of the log",
		Series:  []sweeps.FigureSeries{rows, line, ahead},
		Caption: "Each point is " + point + " of the log. The line is the law with the lowest BIC."})
}
