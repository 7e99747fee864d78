package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/store"
	"grposim/training/fit"
	"grposim/training/logs"
)

// fitOptions are the flags of fit.
type fitOptions struct {
	json          bool
	schedule      string
	warmup, total float64
	origins       []float64
	siblings      []string
	figures       string
	how           logs.Options
}

func newFit(stdout, stderr io.Writer) *cobra.Command {
	var o fitOptions
	c := &cobra.Command{
		Use:   "fit LOG…",
		Short: "Fit growth laws to the reward of a training log, and forecast it",
		Long: `Reads training logs (docs/logs.md says of which trainers: TensorBoard event files,
trainer_state.json, JSON lines, CSV, exports and run files of W&B, Parquet, metrics of
MLflow, console output, pasted tables, gzipped or not; a folder with them; or - for standard input; of
several runs each, or the one that --run names), fits laws of growth to the reward, and says what the log identifies:

  exponential    the overdamped limit of the model: a rise that slows from the start
  inertial       the damped oscillator from rest, in all regimes
  softmax-rom    the mean field of a two-arm softmax policy with inertia: an S-curve
  three-phase    the oscillator at damping ratio 1, the law of arXiv:2606.30789
  constant, logistic, scaling-curve   rivals without inertia; the last is a sigmoid in
                 log compute, R0 + (A − R0)/(1 + (C_mid/C)^B)

It prints parameters with 90 % intervals; the law with the lowest BIC; the regime:
underdamped only if an oscillator beats every law without oscillation, overdamped,
monotone where the damping ratio is not identified, flat where nothing beats a constant;
and how well each law and the forecaster would have predicted the rest of the run from
30 % and 50 % of it, next to persistence (the mean of the last 5 %) and exponential
smoothing (weight 0.2). Least squares of one law are a bad forecast; the forecaster
averages many laws and a damped trend.

Laws are fitted over intrinsic time, the integral of the learning rate in steps at its
peak, if it is known: from --schedule, or from the learning rate in the log. Without
it a warm-up looks like inertia. The forecaster uses steps.

A forecast cannot see a take-off or a collapse that begins after its last row. With
--sibling, an earlier run of the same recipe, it can.

Exit codes: 0 fitted; 3 flat, nothing beats a constant, in one of the logs at least;
2 the command line or a log is wrong.`,
		Example: `  grposim fit docs/example/llama-3.1-8b-gsm8k.csv
  grposim fit docs/example/llama-3.1-8b-gsm8k.csv --schedule cosine --warmup 25 --total 250 --json`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c.Flags().Changed("warmup") || c.Flags().Changed("total")); err != nil {
				return usageError{err}
			}
			var siblings []fit.Curve
			for _, file := range o.siblings {
				runs, err := openLogs(stderr, file, logs.Options{Percent: o.how.Percent})
				if err != nil {
					return err
				}
				for _, log := range runs {
					curve, err := rewardCurve(log, "")
					if err != nil {
						return err
					}
					siblings = append(siblings, curve)
				}
			}
			var fits []*logFit
			for _, file := range args {
				runs, err := openLogs(stderr, file, o.how)
				if err != nil {
					return err
				}
				before := len(fits)
				for _, log := range runs {
					f, failed := fitLog(log, siblings, &o)
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
			return writeFits(stdout, stderr, fits, &o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print a JSON object for every log")
	f.StringVar(&o.schedule, "schedule", "", "`course` of the learning rate: constant, linear, cosine, or logged (default logged, if the log has it)")
	f.Float64Var(&o.warmup, "warmup", 0, "`steps` of linear warm-up")
	f.Float64Var(&o.total, "total", 0, "`steps` of the whole run; the forecast goes as far")
	f.Float64SliceVar(&o.origins, "forecast-from", []float64{0.3, 0.5}, "`shares` of the log from which forecasts are tried on the rest")
	f.StringArrayVar(&o.siblings, "sibling", nil, "`log` of an earlier run of the same recipe, on which the forecast is built; repeatable")
	addRun(c, &o.how)
	addPercent(c, &o.how)
	f.StringVar(&o.figures, "figures", "", "`folder` to draw a figure of every log in, as SVG and PNG")
	return c
}

// check reports flags that are wrong; limits says whether warm-up or total are given.
func (o *fitOptions) check(limits bool) error {
	if limits {
		if o.schedule == "" || o.schedule == loggedRate {
			return fmt.Errorf("--warmup and --total are of a --schedule: constant, linear or cosine")
		}
		o.schedule = fmt.Sprintf("%s:%v:%v", o.schedule, o.warmup, o.total)
	}
	for _, from := range o.origins {
		if !(from > 0 && from < 1) {
			return fmt.Errorf("--forecast-from %g: want shares between 0 and 1", from)
		}
	}
	return nil
}

// logFit is a fitted log.
type logFit struct {
	log    *logs.Log
	steps  fit.Curve // over optimizer steps
	curve  fit.Curve // over the time of the laws
	time   string    // what that time is
	result fit.Result
	tried  []triedForecast
	ahead  fit.Forecast // at aheadSteps
	at     []float64
}

// triedForecast holds the scores of a method, one per origin.
type triedForecast struct {
	name   string
	scores []fit.Score
}

// forecasterName names the forecast that users should trust.
const forecasterName = "forecaster"

func fitLog(log *logs.Log, siblings []fit.Curve, o *fitOptions) (*logFit, error) {
	steps, err := rewardCurve(log, "")
	if err != nil {
		return nil, err
	}
	f := &logFit{log: log, steps: steps}
	if f.curve, f.time, err = lawCurve(log, o.schedule); err != nil {
		return nil, err
	}
	f.result = fit.Fit(f.curve)
	predict := fit.Predict
	if len(siblings) > 0 {
		predict = func(known fit.Curve, times []float64) fit.Forecast {
			return fit.PredictFromSiblings(known, times, siblings)
		}
	}
	f.tried = []triedForecast{{name: forecasterName}}
	for _, m := range f.result.Models {
		f.tried = append(f.tried, triedForecast{name: string(m.Name)})
	}
	for _, from := range o.origins {
		score, ok := fit.Backtest(f.steps, from, predict)
		if !ok {
			continue
		}
		f.tried[0].scores = append(f.tried[0].scores, score)
		var known fit.Result // of the rows before the origin, the same for every law
		for i := range f.result.Models {
			score, _ := fit.Backtest(f.curve, from, func(c fit.Curve, times []float64) fit.Forecast {
				if known.Models == nil {
					known = fit.Fit(c)
				}
				return known.Models[i].Forecast(times)
			})
			f.tried[i+1].scores = append(f.tried[i+1].scores, score)
		}
	}
	first, last := steps.Time[0], steps.Time[len(steps.Time)-1]
	end := math.Ceil(last + (last-first)/2)
	if o.total > last {
		end = o.total
	}
	width := math.Ceil((end - last) / 50)
	for step := last + width; step < end; step += width {
		f.at = append(f.at, step)
	}
	f.at = append(f.at, end)
	f.ahead = predict(steps, f.at)
	return f, nil
}

// writeFits prints the fits, draws their figures if wanted, and returns the exit code.
func writeFits(stdout, stderr io.Writer, fits []*logFit, o *fitOptions) error {
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	code := exitError(0)
	for i, f := range fits {
		var err error
		if o.json {
			err = encoder.Encode(f.output())
		} else {
			if i > 0 {
				fmt.Fprintln(stdout)
			}
			err = f.print(stdout)
		}
		if err == nil && o.figures != "" {
			err = f.draw(stderr, o.figures)
		}
		if err != nil {
			return err
		}
		if f.result.Regime == fit.Flat {
			code = exitInconclusive
		}
	}
	if code != 0 {
		return code
	}
	return nil
}

// fitOutput is what fit prints of a log as JSON.
type fitOutput struct {
	File        string           `json:"file"`
	Run         string           `json:"run,omitempty"`
	Format      string           `json:"format"`
	Points      int              `json:"points"`
	Time        string           `json:"time"`
	Observable  []logs.Quantity  `json:"observable"`
	Notes       []string         `json:"notes"`
	Models      []modelOutput    `json:"models"`
	Best        fit.Name         `json:"best"`
	Forecaster  forecasterOutput `json:"forecaster"`
	Regime      fit.Regime       `json:"regime"`
	Oscillation store.Number     `json:"oscillation_evidence"`
	Correlation store.Number     `json:"residual_correlation"`
	Independent store.Number     `json:"independent_points"`
}

type modelOutput struct {
	Name       fit.Name                   `json:"name"`
	Parameters map[string]parameterOutput `json:"parameters"`
	R2         store.Number               `json:"r2"`
	R2Smoothed store.Number               `json:"r2_smoothed"`
	BIC        store.Number               `json:"bic"`
	Forecast   []trialOutput              `json:"forecast"`
}

type parameterOutput struct {
	Value        store.Number `json:"value"`
	Lo           store.Number `json:"lo"`
	Hi           store.Number `json:"hi"`
	Identifiable bool         `json:"identifiable"`
}

type forecasterOutput struct {
	Forecast []trialOutput `json:"forecast"`
	Ahead    []aheadOutput `json:"ahead"`
}

type trialOutput struct {
	From               float64      `json:"from"`
	RMSE               store.Number `json:"rmse"`
	PersistenceRMSE    store.Number `json:"persistence_rmse"`
	SmoothingRMSE      store.Number `json:"smoothing_rmse"`
	Coverage           store.Number `json:"coverage90"`
	Winkler            store.Number `json:"winkler90"`
	PersistenceWinkler store.Number `json:"persistence_winkler90"`
}

// aheadOutput is the forecast of a row that the log does not have yet.
type aheadOutput struct {
	Step   store.Number `json:"step"`
	Reward store.Number `json:"reward"`
	Lo     store.Number `json:"lo90"`
	Hi     store.Number `json:"hi90"`
}

func (f *logFit) output() fitOutput {
	r := &f.result
	out := fitOutput{
		File: f.log.File, Run: f.log.Run, Format: f.log.Format.String(), Points: len(f.curve.Time), Time: f.time,
		Notes: append([]string{}, f.log.Notes...), Best: r.Best, Regime: r.Regime,
		Oscillation: store.Number(r.Evidence), Correlation: store.Number(r.Correlation), Independent: store.Number(r.Independent),
	}
	for _, c := range f.log.Columns {
		out.Observable = append(out.Observable, c.Quantity)
	}
	for i := range r.Models {
		m := &r.Models[i]
		parameters := make(map[string]parameterOutput)
		for _, p := range m.Parameters() {
			parameters[p.Name] = parameterOutput{store.Number(p.Value), store.Number(p.Lo), store.Number(p.Hi), p.Identifiable}
		}
		out.Models = append(out.Models, modelOutput{m.Name, parameters, store.Number(m.R2), store.Number(m.R2Smoothed), store.Number(m.BIC), trialOutputs(f.tried[i+1].scores)})
	}
	out.Forecaster.Forecast = trialOutputs(f.tried[0].scores)
	for i, step := range f.at {
		out.Forecaster.Ahead = append(out.Forecaster.Ahead, aheadOutput{store.Number(step), store.Number(f.ahead.Mean[i]), store.Number(f.ahead.Lo[i]), store.Number(f.ahead.Hi[i])})
	}
	return out
}

func trialOutputs(scores []fit.Score) []trialOutput {
	out := []trialOutput{}
	for _, s := range scores {
		out = append(out, trialOutput{s.From, store.Number(s.RMSE), store.Number(s.PersistenceRMSE), store.Number(s.SmoothingRMSE),
			store.Number(s.Coverage), store.Number(s.Winkler), store.Number(s.PersistenceWinkler)})
	}
	return out
}

// regimes says what each regime means.
var regimes = map[fit.Regime]string{
	fit.Flat:        "no law with growth beats a constant: nothing about the dynamics is identified",
	fit.Overdamped:  "it rises without oscillation, and a damping ratio above 1 fits better than any below",
	fit.Underdamped: "it oscillates: an oscillator beats every law without oscillation",
	fit.Monotone:    "it grows; the damping ratio is not identified",
}

// print writes the fit for people.
func (f *logFit) print(w io.Writer) error {
	r := &f.result
	best := r.Model(r.Best)
	steps := f.steps.Time
	fmt.Fprintf(w, "%s: %s, %d rows with a reward, steps %.6g to %.6g\n", f.log.Name(), f.log.Format, len(steps), steps[0], steps[len(steps)-1])
	fmt.Fprintf(w, "time of the laws: %s\n", f.time)
	fmt.Fprintf(w, "regime: %s; %s\n", r.Regime, regimes[r.Regime])
	fmt.Fprintf(w, "residuals of successive rows: correlation %.2f, so that %d rows count as %.0f independent ones\n\n", r.Correlation, len(steps), r.Independent)
	rows := [][]string{{"LAW", "BIC − BEST", "R²", "R², 5 % MEANS"}}
	for _, m := range r.Models {
		rows = append(rows, []string{string(m.Name), fmt.Sprintf("%.1f", m.BIC-best.BIC), fmt.Sprintf("%.3f", m.R2), fmt.Sprintf("%.3f", m.R2Smoothed)})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	rows = [][]string{{strings.ToUpper(string(best.Name)), "VALUE", "90 % INTERVAL", ""}}
	for _, p := range best.Parameters() {
		known := "identified"
		if !p.Identifiable {
			known = "not identified"
		}
		rows = append(rows, []string{strings.ReplaceAll(p.Name, "_", " "), fmt.Sprintf("%.4g", p.Value), fmt.Sprintf("%s to %s", bound(p.Lo), bound(p.Hi)), known})
	}
	fmt.Fprintln(w)
	if err := printTable(w, rows); err != nil {
		return err
	}
	if len(f.tried[0].scores) > 0 {
		rows = [][]string{{"FORECAST", "FROM", "RMSE", "/ PERSISTENCE", "/ SMOOTHING", "IN 90 % INTERVAL"}}
		for _, t := range f.tried {
			for _, s := range t.scores {
				rows = append(rows, []string{t.name, fmt.Sprintf("%.0f %%", 100*s.From), fmt.Sprintf("%.3g", s.RMSE),
					fmt.Sprintf("%.2f", s.RMSE/s.PersistenceRMSE), fmt.Sprintf("%.2f", s.RMSE/s.SmoothingRMSE), fmt.Sprintf("%.0f %%", 100*s.Coverage)})
			}
		}
		fmt.Fprintln(w)
		if err := printTable(w, rows); err != nil {
			return err
		}
	}
	n := len(f.at) - 1
	_, err := fmt.Fprintf(w, "\nforecast for step %.6g: %.3g, a row between %.3g and %.3g with 90 %%, if neither a take-off nor a collapse comes first: the reward before them does not show them\n",
		f.at[n], f.ahead.Mean[n], f.ahead.Lo[n], f.ahead.Hi[n])
	return err
}

// bound prints an end of an interval.
func bound(x float64) string {
	if math.IsInf(x, 0) {
		return "no bound"
	}
	return fmt.Sprintf("%.4g", x)
}
