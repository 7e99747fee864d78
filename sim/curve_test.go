package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim/measure"
)

// Steps of a fit are from 0 to the last, at most 257, evenly spaced. Those of the early slope are
// the first 100, the middle and the last.
func TestFitSteps(t *testing.T) {
	for _, steps := range []int{1, 2, 99, 100, 101, 256, 257, 1000, 1_000_003} {
		for _, fit := range []CurveFit{SaturationFit, EarlySlopeFit, LoggedFit} {
			want, every, last := []int{}, (steps+255)/256, steps-1
			if fit == EarlySlopeFit {
				every, last = 1, min(steps-1, 100)
			}
			for step := 0; step <= last; step += every {
				want = append(want, step)
			}
			if want = append(want, steps); fit == EarlySlopeFit {
				want = append(want, steps/2)
			}
			slices.Sort(want)
			if at := FitSteps(fit, steps); !slices.Equal(at, slices.Compact(want)) {
				t.Errorf("%s of %d steps: got %v, want %v", fit, steps, at, slices.Compact(want))
			}
		}
	}
}

// A free exponential fits the reference bandit's curve from uniform logits over five relaxation
// times very well, but with a wrong rate. R² is 0.998 and the rate 1.63 times ηλ (docs/theory.md
// §4). The tolerance of 0.01 covers these digits, and that only every third step is read.
func TestSaturationOfTheReferenceBandit(t *testing.T) {
	const kappa = 0.05 * 0.1586848975
	c := referenceCell()
	c.Estimator.GroupSize = option.Infinite
	c.Init, c.Optimizer.LearningRate = []float64{0, 0}, 0.05
	c.Run = Run{Steps: int(math.Round(5 / kappa))}
	c.Fits = []CurveFit{SaturationFit}
	r := simulate(t, []Cell{c}, 1)[0]
	rate, _ := estimate(r, SaturationRate)
	r2, _ := estimate(r, SaturationR2)
	if math.Abs(rate.Mean/kappa-1.63) > 0.01 || math.Abs(r2.Mean-0.998) > 5e-4 ||
		rate.DF != measure.Exactly || r2.DF != measure.Exactly {
		t.Errorf("rate %.4g times ηλ, R² = %.4g, want exactly 1.63, 0.998", rate.Mean/kappa, r2.Mean)
	}
}

// The stand-in for the paper's bandit has an early-slope K of 0.120 (docs/theory.md §9).
func TestEarlySlopeOfTheStandIn(t *testing.T) {
	c := Cell{
		Estimator: option.Estimator{
			GroupSize: option.Infinite, Importance: option.Importance{Mode: option.Ratio},
			KL: option.KL{Coefficient: 1},
		},
		Lag: option.Lag{Interval: 1}, Optimizer: option.Optimizer{LearningRate: 0.01},
		Run: Run{Steps: 50_000}, Fits: []CurveFit{EarlySlopeFit},
	}
	for _, mean := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Law: option.Constant, Mean: mean})
	}
	k, found := estimate(simulate(t, []Cell{c}, 1)[0], EarlySlope)
	if !found || math.Abs(k.Mean-0.120) > 5e-4 {
		t.Errorf("K = %g, want 0.120", k.Mean)
	}
	c.Run.Steps = 5000 // not converged
	if k, found := estimate(simulate(t, []Cell{c}, 1)[0], EarlySlope); found {
		t.Errorf("K = %g from a run that has not converged, want no estimate", k.Mean)
	}
}

// The fits are those of the mean curve of J, here of the rewards of all replicas at every step.
func TestFitsAreOfTheMeanCurve(t *testing.T) {
	c := referenceCell()
	c.Init = []float64{0, 0}
	c.Run = Run{Steps: 150, Replicas: 70}
	c.Fits = []CurveFit{EarlySlopeFit, SaturationFit}
	r := simulate(t, []Cell{c}, 2)[0]
	every, mean := make([]int, c.Run.Steps+1), make([]float64, c.Run.Steps+1)
	for step := range every {
		every[step] = step
	}
	for _, end := range Ends(c, every, 0, c.Run.Replicas) {
		for step, reward := range end.Rewards {
			mean[step] += reward / float64(c.Run.Replicas)
		}
	}
	at := func(fit CurveFit) (steps []int, reward []float64) {
		for _, step := range FitSteps(fit, c.Run.Steps) {
			steps, reward = append(steps, step), append(reward, mean[step])
		}
		return steps, reward
	}
	steps, reward := at(SaturationFit)
	rate, r2 := measure.Saturation(steps, reward)
	steps, reward = at(EarlySlopeFit)
	slope := measure.EarlySlope(steps, reward, c.Optimizer.LearningRate)
	for name, want := range map[string]float64{SaturationRate: rate, SaturationR2: r2, EarlySlope: slope} {
		e, found := estimate(r, name)
		if (!found && !math.IsNaN(want)) || found && (math.Abs(e.Mean/want-1) > 1e-9 || e.DF != 63) {
			t.Errorf("%s is %g with %d degrees of freedom, want %g with 63", name, e.Mean, e.DF, want)
		}
	}
}

// The jackknife errors of a fit agree with the scatter between independent cells.
func TestSaturationCoverage(t *testing.T) {
	const trials = max(400/thin, 150)
	cells := make([]Cell, trials)
	for i := range cells {
		c := referenceCell()
		c.ID, c.Init = fmt.Sprint("trial ", i), []float64{0, 0}
		c.Run, c.Fits = Run{Steps: 80, Replicas: 16}, []CurveFit{SaturationFit}
		cells[i] = c
	}
	var means []float64
	var estimates []measure.Estimate
	stated, missed := 0.0, 0.0
	for _, r := range simulate(t, cells, 2) {
		e, _ := estimate(r, SaturationRate)
		means, estimates = append(means, e.Mean), append(estimates, e)
		stated += e.StdErr * e.StdErr / trials
	}
	all := measure.Mean(means)
	observed := all.StdErr * all.StdErr * trials // the variance between cells
	for _, e := range estimates {
		if lo, hi := e.Interval(0.95); all.Mean < lo || all.Mean > hi {
			missed++
		}
	}
	near(t, "stated over observed variance", stated/observed, 1, 6*math.Sqrt(2./trials))
	near(t, "misses of the interval", missed, 0.05*trials, 6*math.Sqrt(0.05*0.95*trials))
}

// Fits and traces do not change the results of the run by a single bit.
func TestFitsLeaveTheRunAlone(t *testing.T) {
	plain := referenceCell()
	plain.Run = Run{Steps: 300, BurnIn: 50, Replicas: 40}
	fitted := plain
	fitted.Traces = 7
	fitted.Fits = []CurveFit{SaturationFit, EarlySlopeFit, LoggedFit}
	results := simulate(t, []Cell{plain, fitted}, 2)
	want, got := results[0], results[1]
	if got.Traces == nil || len(got.Estimates) <= len(want.Estimates) {
		t.Errorf("got %d traces and %d estimates, want some traces and more than %d estimates",
			len(got.Traces), len(got.Estimates), len(want.Estimates))
	}
	got.Traces, got.Estimates = nil, got.Estimates[:len(want.Estimates)]
	same(t, "with fits", want, got)
}

// binOf assigns every replica to the bin whose range, by measure.BinStart, contains it.
func TestBins(t *testing.T) {
	for _, replicas := range []int{1, 2, 63, 64, 65, 100, 1000} {
		bins := min(replicas, curveBins)
		w := &cellWork{averages: make([]averages, replicas), curves: make([][]float64, bins)}
		for i := range replicas {
			b := w.binOf(i)
			first, end := measure.BinStart(b, bins, replicas), measure.BinStart(b+1, bins, replicas)
			if i < first || i >= end {
				t.Errorf("replica %d of %d: got bin %d, which has %d to %d", i, replicas, b, first, end-1)
			}
		}
	}
}
