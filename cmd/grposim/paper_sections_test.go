package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/option"
	"grposim/sim"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/training/equivalence"
)

// experimentSection lists the experiments on the paper: what each claims, and how many facts it
// has about which statements. It says how strong the penalties are.
func experimentSection(t *testing.T, root string, statements []sweeps.JudgedStatement) string {
	t.Helper()
	const weakest, strongest = 0.4, 4
	var rows strings.Builder
	cells, within := 0, 0
	for _, name := range experimentNames(suites[0].name) {
		spec, err := embeddedSpec(config.ToJudge, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&rows, "| [%s](../configs/paper/%s.yaml) | %s | %s |\n", name, name, strings.ReplaceAll(strings.TrimSpace(spec.Claim), "|", "&#124;"), sweeps.ExperimentFacts(statements, name))
		for _, cell := range byCell(t, filepath.Join(root, "results", suites[0].name, name, "cells.csv")) {
			beta, err := strconv.ParseFloat(cell["grpo.kl.coefficient"], 64)
			if err != nil {
				t.Fatal(err)
			}
			cells++
			if weakest <= beta && beta <= strongest {
				within++
			}
		}
	}
	return fmt.Sprintf("## The experiments\n\nOne file each in [configs/paper](../configs/paper); [results/paper](../results/paper) has what they gave, and [verdicts.md](../results/paper/verdicts.md) every verdict. All have one prompt: no parameters are shared between prompts. The KL coefficient β is %g to %g in %d of %d cells, against 0.005 in the paper's language models and 0 in many trainers, where there is no fixed point to fluctuate about.\n\n", weakest, float64(strongest), within, cells) +
		"| experiment | claims | facts about statements |\n|---|---|---|\n" + rows.String()
}

// frontierSection says where the frontier of Figure 7 lies.
func frontierSection(verdicts []sweeps.Verdict) string {
	return "## The frontier of Figure 7\n\n" +
		"It is the refresh interval from which on a run visibly oscillates, at each learning rate; the paper's line is Kη·K_ref = 1 − μ at its own stiffness. [The gallery](gallery.md#the-papers-figure-7) draws both. " + frontierSentence(verdicts)
}

// undecidedFrontier is the multiple of the line, as written at η = 0.02 and a visibility of 1 %:
// K_ref = 104 for the line's 83.16. It is on the edge of its margin, as a comment in
// paper-figure-7.yaml says, so that no verdict has it.
const undecidedFrontier = 104 / 83.16

// frontierSentence says where Figure 7's frontier lies in the corner that the paper names, as
// a multiple of its line, in each reading and by each threshold of visibility, and in how many
// of all bandits it lies on the line.
func frontierSentence(verdicts []sweeps.Verdict) string {
	statement, _ := config.LookupStatement("figure-7-frontier")
	visibility := map[string]string{"visible-1-permille": "0.1 %", "visible-3-permille": "0.3 %", "visible-10-permille": "1 %"}
	var parts, counts []string
	bandits := 0
	for _, r := range statement.Readings {
		var ranges []string
		for i, c := range statement.Choices {
			var ratios []float64
			var on sweeps.Tally
			for _, v := range verdicts {
				want := config.About{Kind: config.AboutStatement, Statement: statement.ID, Reading: r.Name, Choice: c.Name, Regime: config.Limit}
				switch {
				case v.About == nil || *v.About != want:
				case v.Bandits != nil:
					on.Holds, on.Of = on.Holds+v.Bandits.Holds, on.Of+v.Bandits.Of
				case v.Claim == "visible-frontier" && v.Experiment == "paper-figure-7":
					ratios = append(ratios, float64(v.Measured/v.Predicted))
				}
			}
			if r.Name == "as-written" && c.Name == "visible-10-permille" {
				ratios = append(ratios, undecidedFrontier)
			}
			if ratios != nil {
				ranges = append(ranges, fmt.Sprintf("%.2f to %.2f (%s)", slices.Min(ratios), slices.Max(ratios), visibility[c.Name]))
			}
			if i == 0 {
				counts, bandits = append(counts, fmt.Sprintf("%d %s", on.Holds, r.Name)), on.Of
			}
		}
		parts = append(parts, r.Name+" "+strings.Join(ranges, ", "))
	}
	return "In the corner that the paper names, small η and large K_ref, visible oscillation begins at these multiples of the line, by the threshold of visibility: " + strings.Join(parts, "; ") +
		fmt.Sprintf(" (the %.2f, at η = 0.02, is on the edge of the margin and decides nothing). This is one bandit with rewards of ours. ", undecidedFrontier) +
		fmt.Sprintf("Of %d with the paper's K, at η = 0.04 and a visibility of 0.1 %%, these are within a quarter of the line: %s.\n", bandits, strings.Join(counts, ", "))
}

// benchmarkSection says which scores of the paper's table are the same, different or
// undecided, as compare does, and what the table decides as a whole.
func benchmarkSection() string {
	scores := sweeps.Table1()
	const confidence, margin = sweeps.TableConfidence, sweeps.TableMargin
	margins := []float64{0.01, margin, 0.05, 0.1, 0.2}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("### The benchmark table")
	line("")
	line("The paper finds the two group sizes \"broadly comparable\" on eight benchmarks, the mean transfer \"largely unchanged\", as if small groups followed large ones \"up to noise\". Its Table 1 decides this much by itself. Differences are G = 4 less G = 16, in points of percent.")
	line("")
	line("*Errors.* The error of the questions is that of independent shares, which is too large where scores average several answers, or where both trainings answer a question alike. The table prints the standard deviation over two seeds beside every trained score (it is that with n − 1: 0 and 1 right answers of 30 give 1.67 ± 2.35). In %d of %d rows it makes the larger error. Two runs a side have 2 degrees of freedom; rows lend each other more by the moderated t statistic (Smyth 2004), as far as their scatter, relative to the error of the questions, is alike.", scatteredRows(scores), len(scores))
	line("")
	line("*Judgement.* A pair is the same if the interval of the difference lies inside ± margin, and different if it excludes 0 and does not lie inside. In each table below the chance that any equal pair is called different is at most %.3g, and that any pair is wrongly called the same at most %.3g (Holm), if the runs' scatter varies between rows as that method assumes. Effects, models and the mean of all are three families.", 1-confidence, (1-confidence)/2)
	line("")
	line("*Together.* pass@1 and pass@5 of a benchmark come from the same answers and are one effect: their mean difference, with the mean of their errors, the largest that any correlation allows. The same four runs are behind all benchmarks of a model; in a mean their errors are taken to be the same on all of them, the largest that correlation allows too. Means are weighted by the inverse variances. χ² is the weighted sum of squares about the mean, with a degree of freedom less than there are effects. Effects of benchmarks on which nobody solved a question are 0, and have no error.")
	line("")
	joint := equivalence.JudgeJointly(scores, margin, confidence)
	line("| effects of | number | for G = 16 | for G = 4 | none | sign test P | mean | verdict at %g points | χ² | P |", 100*margin)
	line("|---|---:|---:|---:|---:|---:|---|---|---:|---:|")
	for _, p := range append(joint.Models, joint.All) {
		name := p.Model
		if name == "" {
			name = "all models"
		}
		line("| %s | %d | %d | %d | %d | %.2g | %s | %s | %.1f | %.2g |", name, p.Effects+p.Signs.None, p.Signs.A, p.Signs.B, p.Signs.None, p.Signs.P, difference(p.Mean, p.Judgement), p.Verdict, p.Heterogeneity, p.P)
	}
	line("")
	line("The sign test takes effects to be independent, and four runs are behind all those of a model: three models are all that is independent for certain. Of single rows that differ, those for G = 16 and for G = 4 are %s, and %s without the two of DeepSeek-7B on GSM-Plus.", split(scores, ""), split(scores, "GSM-Plus"))
	line("")
	line("The mean of all is the same from a margin of %.2g points on. The effects:", 100*max(-joint.All.Lo, joint.All.Hi))
	line("")
	line("| benchmark, model | difference | at %g points |", 100*margin)
	line("|---|---|---|")
	for _, e := range joint.Effects {
		line("| %s, %s | %s | %s |", e.Benchmark, e.Model, difference(e.Difference, e.Judgement), e.Verdict)
	}
	line("")
	line("*Row by row* (`grposim compare configs/benchmarks.csv --margin 5`):")
	line("")
	line("| margin, points | same | different | undecided |")
	line("|---:|---:|---:|---:|")
	verdicts := make(map[float64][]equivalence.Judgement)
	for _, margin := range margins {
		verdicts[margin] = equivalence.Scores(scores, margin, confidence)
		count := make(map[equivalence.Verdict]int)
		for _, j := range verdicts[margin] {
			count[j.Verdict]++
		}
		line("| %g | %d | %d | %d |", 100*margin, count[equivalence.Same], count[equivalence.Different], count[equivalence.Undecided])
	}
	line("")
	line("Scores are percent, with the standard deviation over the two runs, and the interval is that of the verdict at %g points. Half of its width is at least %.2f points: so many questions and runs, of both columns independently, decide nothing finer. Answers question by question, of more seeds, would.", 100*margin, halfWidth(verdicts[margin]))
	line("")
	line("| benchmark | questions | G = 16 | G = 4 | difference | at 2 points | at 5 | at 10 | at 20 |")
	line("|---|---:|---:|---:|---|---|---|---|---|")
	for i, s := range scores {
		j := verdicts[margin][i]
		line("| %s, %s, %s | %d | %.2f ± %.2f | %.2f ± %.2f | %s | %s | %s | %s | %s |", s.Benchmark, s.Model, s.Metric, s.NA, 100*s.A, 100*s.SDA, 100*s.B, 100*s.SDB, difference(s.B-s.A, j),
			j.Verdict, verdicts[0.05][i].Verdict, verdicts[0.1][i].Verdict, verdicts[0.2][i].Verdict)
	}
	return b.String()
}

// difference returns a difference of shares in points with its interval.
func difference(d float64, j equivalence.Judgement) string {
	if math.IsInf(j.Hi, 1) {
		return fmt.Sprintf("%+.2f, error not known", 100*d)
	}
	return fmt.Sprintf("%+.2f [%+.2f, %+.2f]", 100*d, 100*j.Lo, 100*j.Hi)
}

// split returns the rows in favour of G = 16 and of G = 4, without those of DeepSeek-7B on
// one benchmark.
func split(scores []equivalence.Score, without string) string {
	var all []float64
	for _, s := range scores {
		if s.Benchmark != without || s.Model != "DeepSeek-7B" {
			all = append(all, s.B-s.A)
		}
	}
	signs := equivalence.NewSigns(all)
	return fmt.Sprintf("%d against %d", signs.A, signs.B)
}

// scatteredRows counts the rows in which the error of two runs a side is larger than that
// of the questions.
func scatteredRows(scores []equivalence.Score) int {
	n := 0
	for _, s := range scores {
		questions := s.A*(1-s.A)/float64(s.NA) + s.B*(1-s.B)/float64(s.NB)
		if (s.SDA*s.SDA+s.SDB*s.SDB)/2 > questions {
			n++
		}
	}
	return n
}

// halfWidth returns half of the narrowest interval, in points.
func halfWidth(all []equivalence.Judgement) float64 {
	narrowest := math.Inf(1)
	for _, j := range all {
		narrowest = min(narrowest, 50*(j.Hi-j.Lo))
	}
	return narrowest
}

// fitsSection says how well the paper's law fits public logs of GRPO runs.
func fitsSection() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("### Fits of other runs")
	line("")
	line("The critically damped law (`three-phase` of `training/fit`, least squares over optimizer steps) fitted to public logs of single GRPO runs of language models ([example/README.md](example/README.md)), other ones than the paper's. R² of the rows, and of their moving average over 5 %% of them; the best law without inertia, and how much larger the BIC of the three-phase law is: above 0 the other law is better, and 6 is a likelihood ratio of 20.")
	line("")
	line("| log | rows | R² | of means | best law without inertia | BIC less its |")
	line("|---|---:|---:|---:|---|---:|")
	for _, f := range sweeps.PublicFits() {
		line("| %s | %d | %.2f | %.2f | %s | %+.1f |", f.Log, f.Rows, f.R2, f.R2Means, f.Rival, f.DeltaBIC)
	}
	return b.String()
}

// curveRows is the number of rows of the curves in this file.
const curveRows = 200

// banditCurves returns the expected reward of single runs of a two-arm bandit over
// curveRows steps: on-policy, without momentum and KL, four groups of 16, the std scale.
func banditCurves(t *testing.T, start, rate float64, runs int) [][]float64 {
	t.Helper()
	cell := sim.Cell{
		ID: fmt.Sprintf("run from %g", start), Seed: 1, Traces: runs,
		Bandit: option.Bandit{Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.95}, {Law: option.Bernoulli, Mean: 0.05}}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 4,
			Advantage:  option.Advantage{Baseline: option.MeanBaseline, Scale: option.StdScale, Std: option.PopulationStd},
			Importance: option.Importance{Mode: option.NoImportance},
			KL:         option.KL{Gradient: option.ExactKL, At: option.AtCurrent},
		},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: rate, Schedule: option.Schedule{Kind: option.ConstantRate}},
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
			golden(t, filepath.Join(moduleRoot(t), "configs", "runs", fmt.Sprintf("%s%d.csv", recipe, n+1)), text)
		}
	}
}
