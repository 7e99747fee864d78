package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"grposim/grpo"
	"grposim/rom/equivalence"
	"grposim/rom/fit"
	"grposim/sim"
)

// benchmarkSection says which scores of the paper's table are the same, different or
// undecided, as compare does.
func benchmarkSection(t *testing.T, root string) string {
	t.Helper()
	table, err := equivalence.ReadScores(bytes.NewReader(readDocument(t, root, "configs", "benchmarks.csv")), "benchmarks.csv")
	if err != nil {
		t.Fatal(err)
	}
	const confidence = 0.95
	margins := []float64{1, defaultPoints, 5, 10, 20}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("### The benchmark table")
	line("")
	line("The paper calls the scores of eight benchmarks invariant between G = 16 and G = 4. Its Table 1 alone decides this much (`grposim compare configs/benchmarks.csv --margin 5`). A pair is the same if the interval of the difference lies inside ± margin, and different if it excludes 0 and does not lie inside. Intervals hold the sampling error of the questions, as that of independent shares, which is too wide where scores average several answers or both runs answer a question alike. They do not hold the error between seeds: the table has means over two seeds and no scores of single ones. The chance that any equal pair is called different is at most %.3g, and that any pair is wrongly called the same at most %.3g (Holm over the %d pairs at each margin).", 1-confidence, (1-confidence)/2, len(table.Scores))
	line("")
	line("| margin, points | same | different | undecided |")
	line("|---:|---:|---:|---:|")
	verdicts := make(map[float64][]equivalence.Judgement)
	for _, margin := range margins {
		verdicts[margin] = equivalence.Scores(table.Scores, margin/100, confidence)
		count := make(map[equivalence.Verdict]int)
		for _, j := range verdicts[margin] {
			count[j.Verdict]++
		}
		line("| %g | %d | %d | %d |", margin, count[equivalence.Same], count[equivalence.Different], count[equivalence.Undecided])
	}
	line("")
	line("Scores are percent, differences points, and the interval is that of the verdict at %d points. Half of its width is at least %.2f points: so many questions, of both columns independently, decide nothing finer. Answers question by question, of every seed, would.", defaultPoints, halfWidth(verdicts[defaultPoints]))
	line("")
	line("| benchmark | questions | G = 16 | G = 4 | difference | at 2 points | at 5 | at 10 | at 20 |")
	line("|---|---:|---:|---:|---|---|---|---|---|")
	for i, s := range table.Scores {
		j := verdicts[defaultPoints][i]
		line("| %s, %s, %s | %d | %.2f | %.2f | %+.2f [%+.2f, %+.2f] | %s | %s | %s | %s |", s.Benchmark, s.Model, s.Metric, s.NA, 100*s.A, 100*s.B, 100*(s.B-s.A), 100*j.Lo, 100*j.Hi,
			j.Verdict, verdicts[5][i].Verdict, verdicts[10][i].Verdict, verdicts[20][i].Verdict)
	}
	return b.String()
}

// halfWidth returns half of the narrowest interval, in points.
func halfWidth(all []equivalence.Judgement) float64 {
	narrowest := math.Inf(1)
	for _, j := range all {
		narrowest = min(narrowest, 50*(j.Hi-j.Lo))
	}
	return narrowest
}

// curveRows is the number of rows of the curves in this file.
const curveRows = 200

// rivals are curves without inertia, from 0 to about 1 at the times 0 to 1.
var rivals = []struct {
	name  string
	curve func(t float64) float64
}{
	{"exponential, 1 − e^{−t/0.2}", func(t float64) float64 { return -math.Expm1(-t / 0.2) }},
	{"logistic, 1/(1 + e^{−(t − 0.4)/0.08})", func(t float64) float64 { return 1 / (1 + math.Exp(-(t-0.4)/0.08)) }},
	{"scaling curve, 1/(1 + (0.3/t)³)", func(t float64) float64 { return 1 / (1 + math.Pow(0.3/t, 3)) }},
	{"softmax, ẋ = 15 √(p(1 − p)), p(0) = 0.05", func(t float64) float64 {
		const steps = 1000
		x := math.Log(0.05 / 0.95)
		for range steps {
			p := 1 / (1 + math.Exp(-x))
			x += t / steps * 15 * math.Sqrt(p*(1-p))
		}
		return 1 / (1 + math.Exp(-x))
	}},
}

// banditCurves returns the expected reward of single runs of a two-arm bandit over
// curveRows steps: on-policy, without momentum and KL, four groups of 16, the std scale.
func banditCurves(t *testing.T, start, rate float64, runs int) [][]float64 {
	t.Helper()
	cell := sim.Cell{
		ID: fmt.Sprintf("run from %g", start), Seed: 1, Traces: runs,
		Bandit: grpo.Bandit{Arms: []grpo.Arm{{Reward: grpo.Bernoulli, Mean: 0.95}, {Reward: grpo.Bernoulli, Mean: 0.05}}},
		Estimator: grpo.Estimator{
			GroupSize: 16, GroupsPerStep: 4,
			Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.StdScale, Std: grpo.PopulationStd},
			Importance: grpo.Importance{Mode: grpo.NoImportance},
			KL:         grpo.KL{Gradient: grpo.ExactKL, At: grpo.AtCurrent},
		},
		Lag:       grpo.Lag{Kind: grpo.Block, Interval: 1},
		Optimizer: grpo.Optimizer{Kind: grpo.HeavyBall, LearningRate: rate, Schedule: grpo.Schedule{Kind: grpo.ConstantRate}},
		Init:      []float64{math.Log(start / (1 - start)), 0},
		Run:       sim.Run{Steps: curveRows, Replicas: runs},
	}
	var curves [][]float64
	err := sim.Simulate(context.Background(), []sim.Cell{cell}, 1, func(_ int, r sim.Result) error {
		reward := slices.Index(r.Quantities, sim.ExpectedReward)
		for _, trace := range r.Traces {
			curve := make([]float64, curveRows)
			for i, step := range r.Steps[1:] { // between recorded steps the reward is interpolated
				before := r.Steps[i]
				for at := before + 1; at <= step; at++ {
					share := float64(at-before) / float64(step-before)
					curve[at-1] = trace[i][reward]*(1-share) + trace[i+1][reward]*share
				}
			}
			curves = append(curves, curve)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return curves
}

// inertiaSection says how well the critically damped law fits curves without inertia.
func inertiaSection(t *testing.T) string {
	t.Helper()
	const seeds = 3
	noises := []float64{0.05, 0.2, 0.5}
	type row struct {
		name   string
		curves [][]float64
	}
	times := make([]float64, curveRows)
	for i := range times {
		times[i] = float64(i+1) / curveRows
	}
	var rows []row
	for _, r := range rivals {
		var curve []float64
		for _, at := range times {
			curve = append(curve, r.curve(at))
		}
		rows = append(rows, row{r.name, [][]float64{curve, curve, curve}})
	}
	for _, start := range []float64{0.1, 0.5} {
		rows = append(rows, row{fmt.Sprintf("single runs of a bandit with two arms, μ = 0, from p = %g", start), banditCurves(t, start, 0.05, seeds)})
	}
	type quality struct{ raw, smoothed float64 }
	fitted := make([]quality, len(rows)*len(noises)*seeds)
	var wait sync.WaitGroup
	free := make(chan struct{}, 2)
	for i := range fitted {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			r, noise, seed := rows[i/(len(noises)*seeds)], noises[i/seeds%len(noises)], i%seeds
			clean := r.curves[seed]
			spread := noise * (slices.Max(clean) - slices.Min(clean))
			generator := rand.New(rand.NewPCG(uint64(i), 1))
			noisy := make([]float64, len(clean))
			for k, y := range clean {
				noisy[k] = y + spread*generator.NormFloat64()
			}
			for _, m := range fit.Fit(fit.Curve{Time: times, Reward: noisy}).Models {
				if m.Name == fit.ThreePhase {
					fitted[i] = quality{m.R2, m.R2Smoothed}
				}
			}
		})
	}
	wait.Wait()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("### R² without inertia")
	line("")
	line("The paper fits the critically damped law, R_0 + (R_∞ − R_0)(1 − (1 + ω t) e^{−ω t}), to training reward with R² of 0.91 and more. The table has the same fit (the law `three-phase` of `rom/fit`, least squares) to curves of %d rows that have no inertia, with noise of a standard deviation that is a share of their range: R² of the rows, and of their moving average over 5 %% of them; the smallest of %d seeds. Rows of public logs of GRPO runs of language models scatter by 0.1 to 0.6 of the range of the run; means over runs scatter less.", curveRows, seeds)
	line("")
	header, rule := "| curve", "|---"
	for _, noise := range noises {
		header += fmt.Sprintf(" | noise %g: rows | smoothed", noise)
		rule += "|---:|---:"
	}
	line("%s |\n%s|", header, rule)
	above := 0
	for i, r := range rows {
		text := "| " + r.name
		for n := range noises {
			raw, smoothed := math.Inf(1), math.Inf(1)
			for _, q := range fitted[(i*len(noises)+n)*seeds:][:seeds] {
				raw, smoothed = min(raw, q.raw), min(smoothed, q.smoothed)
			}
			if n == 0 && raw >= 0.91 {
				above++
			}
			text += fmt.Sprintf(" | %.2f | %.2f", raw, smoothed)
		}
		line("%s |", text)
	}
	line("")
	line("With little noise R² is 0.91 or more on %d of these %d curves, none of which has inertia: it says that the reward rises and saturates, and that there is little noise. It does not identify inertia.", above, len(rows))
	return b.String()
}

// The logs of configs/runs are two recipes of the same bandit, three runs each: reward of
// 64 samples a step, at the learning rates 0.05 (a) and 0.035 (b).
func TestExampleRuns(t *testing.T) {
	const samples = 64
	for recipe, rate := range map[string]float64{"a": 0.05, "b": 0.035} {
		for n, curve := range banditCurves(t, 0.1, rate, 3) {
			generator := rand.New(rand.NewPCG(uint64(n), uint64(1000*rate)))
			text := "step,reward\n"
			for step, j := range curve {
				won := 0
				for range samples {
					if generator.Float64() < j {
						won++
					}
				}
				text += fmt.Sprintf("%d,%g\n", step+1, float64(won)/samples)
			}
			file := filepath.Join(moduleRoot(t), "configs", "runs", fmt.Sprintf("%s%d.csv", recipe, n+1))
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if string(readDocument(t, file)) != text {
				t.Errorf("%s is not that of the simulation (-update rewrites it)", file)
			}
		}
	}
}
