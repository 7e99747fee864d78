package sim

import (
	"slices"

	"grposim/sim/measure"
)

// LoggedPlateauPrefix begins the names of the shares of pairs of replicas in which a law finds
// the plateau.
const LoggedPlateauPrefix = "logged_plateau_"

// Names of the estimates of a fit of a law to the logged reward. Each is the mean over pairs of
// replicas (0 and 1, 2 and 3, …) of what a pair's log gives. The log of a pair is the mean of two,
// as the paper averages two seeds.
func LoggedR2(l measure.Law) string { return "logged_r2_" + string(l) } // R² over the whole run

// LoggedLead is by how much the R² of the critically damped law exceeds that of l.
func LoggedLead(l measure.Law) string { return "logged_lead_" + string(l) }

// LoggedGain is the Gain of the forecast by l from the first 30 % of the log.
func LoggedGain(l measure.Law) string { return "logged_gain_" + string(l) }

// LoggedPlateau is the share of pairs in which that forecast has Found the plateau.
func LoggedPlateau(l measure.Law) string { return LoggedPlateauPrefix + string(l) }

// loggedEstimates returns the estimates of LoggedFit; none unless it is wanted. logs[i] is the log
// of replica i at the steps at. Estimates that the data do not determine are left out.
func loggedEstimates(c *Cell, at []int, logs [][]float64) []measure.Named {
	if logs == nil {
		return nil
	}
	steps := FitSteps(LoggedFit, c.Run.Steps)
	values := make(map[string][]float64)
	add := func(name string, x float64) { values[name] = append(values[name], x) }
	for pair := range max(1, len(logs)/2) {
		both := logs[2*pair:][:min(2, len(logs))]
		reward := make([]float64, len(steps))
		for i, t := range steps {
			column, _ := slices.BinarySearch(at, t)
			for _, log := range both {
				reward[i] += log[column] / float64(len(both))
			}
		}
		paper, fitted := measure.FitLaw(measure.CriticallyDamped, steps, reward)
		if !fitted {
			return nil
		}
		for _, l := range measure.Laws {
			fit, _ := measure.FitLaw(l, steps, reward)
			add(LoggedR2(l), fit.R2)
			add(LoggedLead(l), paper.R2-fit.R2)
			forecast, ok := measure.ForecastLog(l, steps, reward)
			if !ok {
				continue
			}
			add(LoggedGain(l), forecast.Gain)
			add(LoggedPlateau(l), measure.Indicator(forecast.Found))
		}
	}
	var estimates []measure.Named
	for _, l := range measure.Laws {
		for _, name := range []string{LoggedR2(l), LoggedLead(l), LoggedGain(l), LoggedPlateau(l)} {
			if x := values[name]; len(x) > 0 {
				estimates = append(estimates, measure.Named{Name: name, Estimate: c.Estimate(x, 0)})
			}
		}
	}
	return measure.Determined(estimates...)
}
