//go:build long

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"grposim/training/logs"
)

// Every command in the documents works, the slow ones too.
func TestLongCommandsInDocuments(t *testing.T) {
	runDocuments(t, func(string) bool { return true })
}

// The scripts that simulate, fit or draw much hold too.
func TestLongScripts(t *testing.T) { runScripts(t, filepath.Join("testdata", "script", "long")) }

// Looking at every row does not stop more than one healthy run of 300 rows of fifty: more are
// stopped than 2 % explain with probability 1e-3 at most. Of 6 %, the least share that is found in
// 95 % of all cases, none of the first 100 is stopped with probability 0.002: then they are enough.
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

func TestLongWatchLeavesSuccesses(t *testing.T) { successes(t, 200, 200) }

func TestLongWatchLeavesHarderData(t *testing.T) { falls(t, 200) }

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
		lines, found := watched(t, healthyLog(rng, at+24, 0.06, func(i int, values logged) {
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
		t.Errorf("of %d collapses so many are said within rows: %v", runs, within)
	}
}

// Of a question of one's own (docs/primer.md) advise gives the largest refresh interval that
// arrives, with the end of the search, or its bracket where there is a limit.
func TestLongQuestionOfTheInterval(t *testing.T) {
	advise := func(sets ...string) string {
		t.Helper()
		args := []string{"advise", "question", "--simulate", "--set", "run.steps=300",
			"--set", "run.burn_in=0", "--set", "grpo.group_size=16"}
		stdout, stderr := grposim(t, 0, append(args, sets...)...)
		return stdout + stderr
	}
	got := advise()
	words := strings.Join(strings.Fields(got), " ")
	if !strings.Contains(words, "refresh intervals that arrive all up to 32; not searched beyond") {
		t.Errorf("%s\nwant no limit of the refresh interval", got)
	}
	if !strings.Contains(words, "suggestion (simulated): keep η = 0.02 and K = 1: ") ||
		!strings.Contains(words, "; K may grow to 16, half of 32,") {
		t.Errorf("%s\nwant the present ones, and half of what was searched", got)
	}
	// Without the clip and with a stale penalty there is one.
	got = advise("--set", "grpo.importance.mode=none", "--set", "grpo.kl.at=snapshot",
		"--set", "optimizer.learning_rate=0.2")
	const bracket = `refresh intervals that arrive +up to \d steps; \d does not +simulated`
	if !regexp.MustCompile(bracket).MatchString(got) {
		t.Errorf("%s\nwant a bracket", got)
	}
}

// The commands of the pods, run here, give the files of one sweep.
func TestLongKubernetesCommands(t *testing.T) {
	dir := t.TempDir()
	objects := manifest(t)
	config := at(objects["ConfigMap grposim-smoke"], "data", "sweep.json").(string)
	write(t, filepath.Join(dir, "sweep.json"), config)
	do := func(name string, variables ...string) {
		t.Helper()
		pod := at(objects[name], "spec", "template", "spec", "containers", 0)
		script := strings.ReplaceAll(at(pod, "args", 0).(string), "/config/", "")
		c := exec.Command(at(pod, "command", 0).(string), at(pod, "command", 1).(string), script)
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
