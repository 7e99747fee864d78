package main

import (
	"fmt"
	"io"
	"math"

	"grposim/rom"
	"grposim/sweeps/advice"
	"grposim/sweeps/store"
	"grposim/training/fit"
	"grposim/training/logs"
)

// adviseLog fits a log and prints the advice that follows from its timescale. lag is the
// age of the snapshot in the run, in optimizer steps.
func adviseLog(out *printer, stderr io.Writer, file string, how logs.Options, lag float64) error {
	log, err := openLog(stderr, file, how)
	if err != nil {
		return err
	}
	f, err := fitLog(log)
	if err != nil {
		return err
	}
	time, r := f.time.name, &f.result
	if !f.time.intrinsic {
		time += ", as learning rates are missing: under a schedule T is that of the schedule too"
	}
	var lines []advice.Line
	add := func(asked string, value float64, kind rom.Kind, assumes, says string) {
		line := advice.Line{Asked: asked, Value: store.Number(value), Says: says, Kind: kind, Assumes: assumes}
		lines = append(lines, line)
	}
	none, says := math.NaN(), fmt.Sprintf("%s: %s", r.Regime, meaning(r))
	if f.lost != "" {
		says = fmt.Sprintf("the run is %s; %s", f.lost, says)
	}
	add("regime", none, "", "laws of growth by their BIC; see grposim fit", says)
	t, because := identifiedTimescale(r)
	const stable = "refresh intervals that are stable at rest"
	if because != "" {
		lines[0].Says += "; this log identifies no timescale, stiffness or largest lag: " + because
		for _, asked := range []string{"time to 95 %", "stiffness", stable} {
			add(asked, none, "", "", "not identified by this log")
		}
	} else {
		to95, value, lo, hi := math.Log(20), t.Value+lag, t.Lo+lag, t.Hi+lag
		add("time to 95 %", to95*t.Value, rom.LeadingOrder, "T ln 20 of the exponential law; time: "+time,
			between("%.3g steps", to95*t.Value, to95*t.Lo, to95*t.Hi))
		add("stiffness", 1/value, rom.LeadingOrder,
			fmt.Sprintf("1/T = ηK/[(1−μ) − ηK·lag] at a lag of %g steps: the paper's saturation law", lag),
			between("ηK/(1−μ) = %.3g a step", 1/value, 1/hi, 1/lo))
		add(stable, value, rom.PaperRule,
			"ηK·lag = 1 − μ at that stiffness, whatever μ and η are; where the whole force is stale. "+
				"Importance ratios keep the reward's force fresh and stable far beyond",
			between("up to a lag of %.3g steps", value, lo, hi)+", at this learning rate; half at twice it")
	}
	noise := fit.NoiseDeviation(f.curve)
	add("noise of a logged row", noise, "", "deviations of rows from the mean of their neighbours",
		fmt.Sprintf("standard deviation %.3g; 4 times the completions would halve it", noise))
	add("noise floor of the policy", none, "", "",
		"not identified by a log: sampling hides it; simulate this stiffness (grposim advise FILE)")
	return out.print(object{"file", file, "regime", r.Regime, "advice", lines}, func(p *page) {
		p.printf("%s\n", file)
		p.paragraph("  ", lines[0].Asked+": "+lines[0].Says+".")
		p.printf("\n")
		p.table(adviceRows(lines[1:], 3))
	})
}

// between writes a number with its interval.
func between(format string, x, lo, hi float64) string {
	return fmt.Sprintf(format+", between %.3g and %.3g", x, lo, hi)
}

// identifiedTimescale returns the timescale of the exponential law, or why the log does
// not identify it.
func identifiedTimescale(r *fit.Result) (t fit.Parameter, because string) {
	switch r.Regime {
	case fit.Flat:
		return t, "no law with growth beats a constant"
	case fit.Underdamped:
		return t, "it oscillates, so its timescale depends on the momentum, which a log does not hold"
	}
	m, best := r.Model(fit.Exponential), r.Model(r.Best)
	// A difference of 6 in BIC is a likelihood ratio of 20.
	if lead := m.BIC - best.BIC; lead > 6 {
		return t, fmt.Sprintf("the reward does not relax exponentially (the %s law leads by %.0f in BIC)"+
			"; only near a plateau does the rise have the timescale of the stiffness", r.Best, lead)
	}
	for _, p := range m.Parameters() {
		if p.Name == "timescale" {
			t = p
		}
	}
	if !t.Identifiable {
		return t, fmt.Sprintf("the 90 %% interval of the timescale in steps, %s to %s, is wider than "+
			"a factor 2", bound(t.Lo, 4), bound(t.Hi, 4))
	}
	return t, ""
}
