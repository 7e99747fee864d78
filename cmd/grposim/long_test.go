//go:build long

package main

import (
	"fmt"
	"grposim/training/fit"
	"grposim/training/logs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Every command in the documents works, the slow ones too.
func TestLongCommandsInDocuments(t *testing.T) {
	runDocuments(t, func(string) bool { return true })
}

// The scripts that simulate, fit or draw much hold too.
func TestLongScripts(t *testing.T) { runScripts(t, filepath.Join("testdata", "script", "long")) }

// Looking at every row does not stop more than one healthy run of 300 rows of fifty: more are
// stopped than 2 % explain with probability 1e-3 at most. Of 6 %, the least share that is found in 95 %
// of all cases, none of the first 100 is stopped with probability 0.002: then they are enough.
func TestLongWatchLeavesHealthyRuns(t *testing.T) {
	const most, enough = 500, 100
	rng := rand.New(rand.NewPCG(20261126, 3))
	stopped, runs := 0, 0
	for ; runs < most && (runs != enough || stopped > 0); runs++ {
		if lines, found := watched(t, healthyLog(rng, 300, 0.3, nil)); found {
			stopped++
			t.Log(lines[len(lines)-1])
		}
	}
	law := distuv.Binomial{N: float64(runs), P: 0.02}
	t.Logf("%d of %d healthy runs are stopped", stopped, runs)
	if 1-law.CDF(float64(stopped-1)) < 1e-3 {
		t.Errorf("%d of %d healthy runs are stopped, want at most 2 %%", stopped, runs)
	}
}

// A reward that collapses from 0.3 or more to nearly nothing, with noise of 0.02 to 0.06
// that remembers up to 0.7 of its last value, is said within 8 rows in half of the cases,
// within 12 in three quarters and within 24 in 95 %.
func TestLongWatchIsEarly(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261126, 4))
	const runs = 100
	within := make(map[int]int)
	for range runs {
		at := 60 + rng.IntN(80)
		_, found := watched(t, healthyLog(rng, at, 0.06, nil))
		if found {
			continue // a false alarm
		}
		lines, found := watched(t, healthyLog(rng, at+24, 0.06, func(i int, values map[logs.Quantity]float64) {
			if i >= at {
				values[logs.Reward] = 0.02 * rng.Float64()
			}
		}))
		var step int
		if _, err := fmt.Sscanf(lines[len(lines)-1], "step %d:", &step); err != nil || !found {
			continue
		}
		rows := step/10 - at
		for _, most := range []int{8, 12, 24} {
			if rows > 0 && rows <= most {
				within[most]++
			}
		}
	}
	if within[8] < runs/2 || within[12] < runs*3/4 || within[24] < runs*95/100 {
		t.Errorf("of %d collapses %d are said within 8 rows, %d within 12 and %d within 24, want %d, %d and %d", runs, within[8], within[12], within[24], runs/2, runs*3/4, runs*95/100)
	}
}

// Of a question of one's own (docs/primer.md) advise gives the largest refresh interval that
// arrives, with the end of the search, or its bracket where there is a limit.
func TestLongQuestionOfTheInterval(t *testing.T) {
	advise := func(sets ...string) string {
		t.Helper()
		args := []string{"advise", "question", "--simulate", "--set", "run.steps=300", "--set", "run.burn_in=0", "--set", "grpo.group_size=16"}
		stdout, stderr := grposim(t, 0, append(args, sets...)...)
		return stdout + stderr
	}
	got := advise()
	words := strings.Join(strings.Fields(got), " ")
	if !strings.Contains(words, "refresh intervals that arrive all up to 32; not searched beyond") || !strings.HasPrefix(strings.SplitAfterN(got, "grposim: simulation", 2)[1], ": 1 cell, at most ") {
		t.Errorf("%s\nwant no limit of the refresh interval, and the cost", got)
	}
	if !strings.Contains(words, "suggestion (simulated): keep η = 0.02 and K = 1: ") || !strings.Contains(words, "; K may grow to 16, half of 32,") {
		t.Errorf("%s\nwant the present ones, and half of what was searched", got)
	}
	// Without the clip and with a stale penalty there is one.
	got = advise("--set", "grpo.importance.mode=none", "--set", "grpo.kl.at=snapshot", "--set", "optimizer.learning_rate=0.2")
	if bracket := regexp.MustCompile(`refresh intervals that arrive +up to \d steps; \d does not +simulated`); !bracket.MatchString(got) {
		t.Errorf("%s\nwant a bracket", got)
	}
}

// The section of docs/paper.md on R² is that of fits to simulated curves and others without inertia.
func TestLongPaperOnInertia(t *testing.T) {
	path, head, _ := paperSections(t)
	golden(t, path, head+inertiaSection(t))
}

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
	line("The paper fits the critically damped law, R_0 + (R_∞ − R_0)(1 − (1 + ω t) e^{−ω t}), to training reward with R² of 0.91 and more. The table has the same fit (the law `three-phase` of `training/fit`, least squares) to curves of %d rows that have no inertia, with noise of a standard deviation that is a share of their range: R² of the rows, and of their moving average over 5 %% of them; the smallest of %d seeds. Rows of public logs of GRPO runs of language models scatter by 0.1 to 0.6 of the range of the run; means over runs scatter less.", curveRows, seeds)
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

// The commands of the pods, run here, give the files of one sweep.
func TestLongKubernetesCommands(t *testing.T) {
	dir := t.TempDir()
	objects := manifest(t)
	config := at(objects["ConfigMap grposim-smoke"], "data", "sweep.json").(string)
	write(t, filepath.Join(dir, "sweep.json"), config)
	do := func(name string, variables ...string) {
		t.Helper()
		container := at(objects[name], "spec", "template", "spec", "containers", 0)
		script := strings.ReplaceAll(at(container, "args", 0).(string), "/config/", "")
		c := exec.Command(at(container, "command", 0).(string), at(container, "command", 1).(string), script)
		c.Dir, c.Env = dir, append(os.Environ(), variables...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	do("Job grposim-smoke", "JOB_COMPLETION_INDEX=1")
	do("Job grposim-smoke", "JOB_COMPLETION_INDEX=0")
	do("Job grposim-smoke-merge")
	whole := filepath.Join(t.TempDir(), "whole")
	grposim(t, 0, "sweep", "smoke", "--set", "run.replicas=2000", "--out", whole)
	sameFiles(t, filepath.Join(dir, "results", "local", "smoke"), whole)
}
