package sim

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/measure"
)

// logsOf returns the logs of a cell's replicas, each run alone.
func logsOf(t *testing.T, c *Cell) [][]float64 {
	t.Helper()
	var logs [][]float64
	b := recordingBatch(c, 1)
	for i := range c.Run.Replicas {
		logs = append(logs, append([]float64(nil), b.run(t.Context(), i, 1)[0].log...))
	}
	return logs
}

// At step 0, where the policy is known, the logged reward has the mean J, whichever way the groups
// are drawn. Its variance is Σπ(m² + s²) − J² over GB.
func TestLoggedRewardHasTheLawOfTheSamples(t *testing.T) {
	for _, test := range []struct {
		name         string
		size, groups int
		second       option.Arm
		clip         bool
	}{
		{"groups in a pack", 16, 3, option.Arm{Mean: 0.2}, false},
		{"several packs", 200, 1, option.Arm{Mean: 0.2}, false},
		{"counts", 1000, 1, option.Arm{Mean: 0.2}, false},
		{"normal", 16, 2, option.Arm{Law: option.Normal, Mean: 0.2, Std: 2}, false},
		{"normal, clipped", 16, 2, option.Arm{Law: option.Normal, Mean: 0.2, Std: 2}, true},
	} {
		c := referenceCell()
		c.Bandit.Arms[1] = test.second
		c.Estimator.GroupSize, c.Estimator.GroupsPerStep = test.size, test.groups
		if test.clip {
			c.Estimator.Importance.Mode = option.Clip
		}
		c.Run = Run{Steps: 5, Replicas: 2000}
		c.Fits = []CurveFit{LoggedFit}
		p := grpo.NewPolicy(c.Init).Probs
		mean := p[0]*0.9 + p[1]*0.2
		second := p[0]*0.9 + p[1]*(0.2*0.2+test.second.Std*test.second.Std)
		if test.second.Law == option.Bernoulli {
			second = mean
		}
		variance := (second - mean*mean) / float64(test.size*test.groups)
		var rewards, squares []float64
		for _, log := range logsOf(t, &c) {
			rewards = append(rewards, log[0])
			squares = append(squares, (log[0]-mean)*(log[0]-mean))
		}
		for _, moment := range []struct {
			values []float64
			want   float64
		}{{rewards, mean}, {squares, variance}} {
			e := measure.Mean(moment.values)
			near(t, test.name, e.Mean, moment.want, 5*e.StdErr)
		}
	}
}

// The estimates are means over pairs of replicas of what the mean of their logs gives, and
// do not depend on the number of workers.
func TestLoggedEstimatesAreOfPairs(t *testing.T) {
	c := referenceCell()
	c.Init = []float64{-3, 0}
	c.Run = Run{Steps: 120, Replicas: 9} // the last replica has no partner
	c.Fits = []CurveFit{SaturationFit, LoggedFit}
	logs, steps := logsOf(t, &c), FitSteps(LoggedFit, c.Run.Steps)
	for _, workers := range []int{1, 3} {
		r := simulate(t, []Cell{c}, workers)[0]
		for _, l := range measure.Laws {
			var r2, lead, gain, found []float64
			for pair := range 4 {
				reward := make([]float64, len(steps))
				for i := range steps {
					reward[i] = logs[2*pair][i]/2 + logs[2*pair+1][i]/2
				}
				paper, _ := measure.FitLaw(measure.CriticallyDamped, steps, reward)
				fit, _ := measure.FitLaw(l, steps, reward)
				forecast, _ := measure.ForecastLog(l, steps, reward)
				r2, lead, gain = append(r2, fit.R2), append(lead, paper.R2-fit.R2), append(gain, forecast.Gain)
				found = append(found, map[bool]float64{true: 1}[forecast.Found])
			}
			for name, values := range map[string][]float64{LoggedR2(l): r2, LoggedLead(l): lead,
				LoggedGain(l): gain, LoggedPlateau(l): found} {
				want := measure.Mean(values)
				if got, known := estimate(r, name); !known || math.Abs(got.Mean-want.Mean) > 1e-9 ||
					got.DF != 3 || math.Abs(got.StdErr-want.StdErr) > 1e-9 {
					t.Errorf("%s: %+v, want %+v", name, got, want)
				}
			}
		}
	}
}
