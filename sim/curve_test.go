package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim/measure"
)

func TestFitSteps(t *testing.T) {
	for _, steps := range []int{1, 2, 99, 100, 101, 256, 257, 1000, 1_000_003} {
		for _, fit := range []CurveFit{SaturationFit, EarlySlopeFit, LoggedFit} {
			at := FitSteps(fit, steps)
			if at[0] != 0 || at[len(at)-1] != steps || !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) || len(at) > 257 {
				t.Errorf("%s of %d steps: got %v, want at most 257 increasing steps from 0 to the last", fit, steps, at)
			}
			every := 1
			if fit != EarlySlopeFit {
				every = (steps + 255) / 256
			} else if !slices.Contains(at, steps/2) {
				t.Errorf("%s of %d steps: %v does not contain the middle", fit, steps, at)
			}
			first := at[:len(at)-1]
			if fit == EarlySlopeFit {
				first = at[:min(steps, 100)+1]
				if rest := at[len(first):]; len(rest) > 2 {
					t.Errorf("%s of %d steps: after step 100 got %v, want at most two more", fit, steps, rest)
				}
			}
			for i, x := range first {
				if x != i*every {
					t.Errorf("%s of %d steps: got %v, want multiples of %d", fit, steps, at, every)
					break
				}
			}
		}
	}
}

// A free exponential fits the reference bandit's curve from uniform logits over five
// relaxation times very well, but with a wrong rate (docs/theory.md §4: R² = 0.998 and
// 1.63 times ηλ, at μ = 0, η = 0.05, G = ∞; the tolerance of 0.01 covers the digits
// given there and that only every third step is read).
func TestSaturationOfTheReferenceBandit(t *testing.T) {
	const kappa = 0.05 * 0.1586848975
	c := modeCell(option.NoImportance, option.AtSnapshot)
	c.Init, c.Optimizer.LearningRate = []float64{0, 0}, 0.05
	c.Run.Steps = int(math.Round(5 / kappa))
	c.Fits = []CurveFit{SaturationFit}
	r := simulate(t, []Cell{c}, 1)[0]
	rate, _ := estimate(r, SaturationRate)
	r2, _ := estimate(r, SaturationR2)
	if math.Abs(rate.Mean/kappa-1.63) > 0.01 || math.Abs(r2.Mean-0.998) > 5e-4 || rate.DF != measure.Exactly || r2.DF != measure.Exactly {
		t.Errorf("the rate is %.4g times ηλ with R² = %.4g, want exact estimates of 1.63 with 0.998", rate.Mean/kappa, r2.Mean)
	}
}

// The stand-in for the paper's bandit has an early-slope K of 0.120
// (docs/theory.md §9).
func TestEarlySlopeOfTheStandIn(t *testing.T) {
	c := modeCell(option.Ratio, option.AtCurrent)
	c.Bandit = option.Bandit{}
	for _, reward := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Law: option.Constant, Mean: reward})
		c.Bandit.TrueMeans = append(c.Bandit.TrueMeans, reward)
	}
	c.Init, c.Reference = make([]float64, 8), make([]float64, 8)
	c.Estimator.Advantage.Scale = option.StdScale
	c.Estimator.KL.Coefficient = 1
	c.Optimizer.LearningRate = 0.01
	c.Run.Steps = 50_000
	c.Fits = []CurveFit{EarlySlopeFit}
	r := simulate(t, []Cell{c}, 1)[0]
	if k, found := estimate(r, EarlySlope); !found || math.Abs(k.Mean-0.120) > 5e-4 {
		t.Errorf("K = %g, want 0.120", k.Mean)
	}
	c.Run.Steps = 5000 // not converged
	if k, found := estimate(simulate(t, []Cell{c}, 1)[0], EarlySlope); found {
		t.Errorf("K = %g from a run that has not converged, want no estimate", k.Mean)
	}
}

// The fits are those of the mean curve of J, here computed from replicas that record
// every step.
func TestFitsAreOfTheMeanCurve(t *testing.T) {
	c := referenceCell()
	c.Init = []float64{0, 0}
	c.Run = Run{Steps: 150, Replicas: 70}
	c.Fits = []CurveFit{EarlySlopeFit, SaturationFit}
	c.Traces = 1024
	r := simulate(t, []Cell{c}, 2)[0]
	if len(r.Traces) != 70 || len(r.Traces[0]) != len(r.Steps) || len(r.Traces[0][0]) != len(r.Quantities) {
		t.Fatalf("got %d traces, want 70 with all recorded steps and quantities", len(r.Traces))
	}
	// The means of the traces agree with the trajectory.
	for i := range r.Steps {
		for q := range r.Quantities {
			sum := 0.0
			for _, trace := range r.Traces {
				sum += trace[i][q]
			}
			if want := r.Trajectory[i][q].Mean; math.Abs(sum/70-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("step %d, %s: the traces have mean %g, the trajectory %g", r.Steps[i], r.Quantities[q], sum/70, want)
			}
		}
	}
	// The mean of J at every step, from the same replicas.
	mean := make([]float64, c.Run.Steps+1)
	for i := range c.Run.Replicas {
		every := make([]int, c.Run.Steps+1)
		for step := range every {
			every[step] = step
		}
		b := newBatch(&c, every, newLaws(&c.Bandit, &c.Estimator), new(memoryPools), 1)
		replica := b.run(t.Context(), i, 1)[0]
		for step := range mean {
			mean[step] += replica.values[step][expectedRewardIndex] / float64(c.Run.Replicas)
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
	var cells []Cell
	for i := range trials {
		c := referenceCell()
		c.ID = fmt.Sprint("trial ", i)
		c.Init = []float64{0, 0}
		c.Run = Run{Steps: 80, Replicas: 16}
		c.Fits = []CurveFit{SaturationFit}
		cells = append(cells, c)
	}
	checkCoverage(t, simulate(t, cells, 2), SaturationRate, 0.95)
}

// Probes, fits and traces do not change the results of the run by a single bit.
func TestProbesLeaveTheRunAlone(t *testing.T) {
	plain := referenceCell()
	plain.Run = Run{Steps: 300, BurnIn: 50, Replicas: 40}
	probed := plain
	probed.Traces = 7
	probed.Fits = []CurveFit{SaturationFit, EarlySlopeFit, LoggedFit}
	probed.Relaxation = &RelaxationProbe{Point: plain.Init, Direction: []float64{1, -1}, Offset: 0.05}
	results := simulate(t, []Cell{plain, probed}, 2)
	want, got := results[0], results[1]
	if got.Traces == nil || len(got.Estimates) <= len(want.Estimates) {
		t.Errorf("got %d traces and %d estimates, want some traces and more than %d estimates", len(got.Traces), len(got.Estimates), len(want.Estimates))
	}
	got.Traces, got.Estimates = nil, got.Estimates[:len(want.Estimates)]
	if diff := difference(want, got); diff != "" {
		t.Error(diff)
	}
}

// binOf assigns every replica to the bin whose range, by binStart, contains it.
func TestBins(t *testing.T) {
	for _, replicas := range []int{1, 2, 63, 64, 65, 100, 1000} {
		bins := min(replicas, curveBins)
		w := &cellWork{averages: make([]averages, replicas), curves: make([][]float64, bins)}
		for i := range replicas {
			if b := w.binOf(i); i < binStart(b, bins, replicas) || i >= binStart(b+1, bins, replicas) {
				t.Errorf("replica %d of %d: got bin %d, whose replicas are %d to %d", i, replicas, b, binStart(b, bins, replicas), binStart(b+1, bins, replicas)-1)
			}
		}
	}
}
