package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/tools/internal/tool"
)

// The test program judges, as the program does, when it is started as one of its
// processes.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, judgeFlag) {
		if os.Getenv(crash) != "" {
			os.Exit(3)
		}
		main()
	}
	os.Exit(m.Run())
}

// crash is the environment variable with which a judging process of the tests ends.
const crash = "FUZZ_TEST_CRASH"

// Draws are valid files, the same when they are repeated.
func TestDraw(t *testing.T) {
	for i := range uint64(40) {
		f := draw(1, i)
		if _, err := f.load(); err != nil {
			t.Fatalf("%v\n%s", err, f.text())
		}
		if i < 5 && string(draw(1, i).text()) != string(f.text()) {
			t.Fatalf("draw %d differs when it is repeated", i)
		}
	}
}

// parse reads a file in the form of a draw.
func parse(t *testing.T, text string) file {
	t.Helper()
	spec, err := config.Load("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parseFile(spec.Document())
}

// right is a file that agrees; with its variance scaled by the number of groups it does
// not (see wrong).
const right = `
name: rest
seed: 1
confidence: 0.999
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}, {reward: bernoulli, mean: 0.5}]}
policy: {init: fixed-point}
grpo: {group_size: 512, kl: {coefficient: 1.523}}
lag: {interval: 2}
optimizer: {learning_rate: 0.1}
run: {steps: 500, burn_in: 100, replicas: 100}
checks:
  - {claim: fixed-point, margin: 0.02}
  - {claim: stationary-fluctuation, margin: 0.1}
`

// wrong refutes a prediction that holds.
func wrong(f file) file {
	f = f.clone()
	for _, c := range f.checks() {
		c.(map[string]any)["expect"], c.(map[string]any)["prediction"] = "fails", "leading-order"
	}
	return f.clone()
}

// A right theory gives no finding; a planted fault is confirmed, and its file is written.
func TestExamine(t *testing.T) {
	j := judging{time.Minute, 1e5}
	f := parse(t, right)
	r, err := j.examine(t.Context(), f)
	if err != nil || len(r.findings) != 0 || r.answer.Failure != "" || len(r.answer.Verdicts) != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	if n, _ := r.answer.File.get("run.replicas").(json.Number).Int64(); n < leastRepeats {
		t.Errorf("%d replicas", n)
	}
	r, err = j.examine(t.Context(), wrong(f))
	if err != nil || len(r.findings) == 0 || r.findings[0].kind != confirmed {
		t.Fatalf("%v %+v", err, r)
	}
	s := summary{r}
	dir := t.TempDir()
	if err := s.write(dir, 0); err != nil || s.found() == nil {
		t.Fatal(err, s.found())
	}
	written, _ := os.ReadFile(filepath.Join(dir, "0-0-0.yaml"))
	if _, err := config.Load("written", written); err != nil {
		t.Errorf("%v\n%s", err, written)
	}
}

// A search of sampled groups has the replicas that its budget allows: all of them where few
// intervals are tried, none where the rule is long because the stiffness is that of the penalty
// alone, up to which a replica takes 10⁹ steps.
func TestSearchWithinBudget(t *testing.T) {
	const text = `
name: located
seed: 1
confidence: 0.999
bandit: {arms: [{reward: constant, mean: 0.5}, {reward: constant, mean: 0.5}]}
policy: {init: fixed-point}
grpo: {group_size: 14, groups_per_step: 3, kl: {coefficient: 0.08362}}
optimizer: {learning_rate: 0.04891}
run: {steps: 200, replicas: 2}
checks:
  - {claim: stability-threshold, margin: 0.02, displacement: 1e-4, draws: 20000, locate: {param: lag.interval, from: 0.1264, to: 10.44, tolerance: 0.002}}
`
	for _, c := range []struct {
		rate         string // η, of which the intervals are a multiple of the inverse
		fewest, most int64
		slow         bool
	}{{"0.0004891", 2, 2, true}, {"0.04891", leastRepeats, searchReplicas - 1, false}, {"5", searchReplicas, searchReplicas, false}} {
		f, slow, err := prepare(parse(t, strings.Replace(text, "0.04891", c.rate, 1)), usualBudget)
		if got, _ := f.get("run.replicas").(json.Number).Int64(); err != nil || got < c.fewest || got > c.most || slow != c.slow {
			t.Errorf("η = %s: %d replicas, slow %v, %v", c.rate, got, slow, err)
		}
	}
}

// At G = ∞ a search for a learning rate follows deviations for long, because a slow mode that
// decays may hide one that grows (draw 843 of seed 9: a threshold of 590 in the place of 566); the
// intervals that a search for one tries are bounded by the length of the run.
func TestSearchWithoutNoise(t *testing.T) {
	for param, want := range map[string]string{"optimizer.learning_rate": "2000", "lag.interval": "100"} {
		f, slow, err := prepare(parse(t, `
name: located
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.99}, {reward: constant, mean: 0}]}
policy: {init: fixed-point}
grpo: {group_size: inf, kl: {coefficient: 0.7}}
optimizer: {learning_rate: 0.03}
run: {steps: 200, replicas: 2}
checks:
  - {claim: stability-threshold, margin: 0.02, displacement: 1e-4, draws: 20000, locate: {param: `+param+`, from: 0.1, to: 5, tolerance: 0.002}}
`), usualBudget)
		if got := fmt.Sprint(f.get("run.steps")); err != nil || slow || got != want {
			t.Errorf("%s: %s steps, slow %v, %v; want %s", param, got, slow, err, want)
		}
	}
}

// A stiffness of 1e200, of which a share is no margin, is not judged.
func TestStiffnessWithoutMargin(t *testing.T) {
	const text = `
name: linear
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9945}, {reward: bernoulli, mean: 0.2806}]}
policy: {init: fixed-point}
grpo: {advantage: {scale: batch-mean}, group_size: inf, kl: {coefficient: 1e200}}
optimizer: {kind: adam, learning_rate: 0.005}
run: {steps: 200, replicas: 2}
checks: [{claim: stiffness, margin: 0.02, displacement: 1e-4, draws: 20000}]
`
	f, _, err := prepare(parse(t, text), usualBudget)
	if err != nil || len(f.checks()) != 0 {
		t.Errorf("%v: checks %v", err, f.checks())
	}
}

// A computation that does not end in time is killed and reported with its file, as is a
// process that ends.
func TestFailures(t *testing.T) {
	f := parse(t, right)
	long := judging{time.Millisecond, 1e8}
	if a, err := long.ask(t.Context(), f, 1); err != nil || a.Failure != hung || len(a.File) == 0 {
		t.Fatalf("%v %+v", err, a)
	}
	j := judging{time.Minute, 1e5}
	t.Run("crash", func(t *testing.T) {
		t.Setenv(crash, "yes")
		if a, err := j.ask(t.Context(), f, 1); err != nil || a.Failure != died {
			t.Fatalf("%v %+v", err, a)
		}
	})
	given := judging{Limit: time.Minute}
	broken := f.clone()
	broken.set("grpo.group_size", "many")
	a := answerTo(t.Context(), request{given, broken, 1}, func(file) {})
	if a.Failure != refused || !strings.Contains(a.Detail, "grpo.group_size") {
		t.Errorf("%+v", a)
	}
	a = answerTo(t.Context(), request{given, f, 1}, func(file) { panic("planted") })
	if a.Failure != panicked || !strings.HasPrefix(a.Detail, "planted\n") {
		t.Errorf("%+v", a)
	}
}

// moreData multiplies every number of replicas and draws, and nothing else.
func TestMoreData(t *testing.T) {
	f := parse(t, strings.Replace(right, "checks:", "variants: [{name: v, set: {run.replicas: 3, grpo.group_size: 3}}]\nchecks:\n  - {claim: stiffness, margin: 1, displacement: 0.1, draws: 5}", 1))
	text := string(moreData(f, 4).text())
	for _, want := range []string{`"replicas": 400`, `"run.replicas": 12`, `"draws": 20`, `"grpo.group_size": 3`, `"steps": 500`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// NaN and infinite numbers are found in tables and JSON; words that contain them are not.
func TestNonFinite(t *testing.T) {
	for text, want := range map[string]bool{
		"a,NaN,b": true, `{"x": NaN}`: true, "1,+Inf": true, "Inf": true, `"NaN"`: false, "Infinite": false, "banana NaNs": false, "1,2": false,
	} {
		if got := nonFinite.MatchString(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// Verdicts are counted by claim and ruling; those of slow cells decide nothing but scope.
func TestSummary(t *testing.T) {
	of := func(slow bool, verdicts ...judge.Verdict) result {
		return result{answer: answer{File: parse(t, right), Slow: slow, Verdicts: verdicts}}
	}
	agree := judge.Verdict{Claim: "fixed-point", Verdict: judge.Agree}
	out := judge.Verdict{Claim: "fixed-point", Verdict: judge.OutOfScope}
	text := summary{of(false, agree, out), of(true, agree, out), of(false)}.String()
	if row := strings.Fields("fixed-point 1 0 0 2 1"); !strings.Contains(text, "nothing found") ||
		!slices.Equal(strings.Fields(strings.Split(text, "\n")[1]), row) {
		t.Errorf("no row %q in\n%s", row, text)
	}
}

// Command lines give the documented exit codes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	for name, f := range map[string]file{good: parse(t, right), bad: wrong(parse(t, right))} {
		if err := os.WriteFile(name, f.text(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		args []string
		want int
	}{
		{[]string{"--n", "0"}, tool.ExitUsage},
		{[]string{"--file", good + "x"}, tool.ExitUsage},
		{[]string{"--file", good}, 0},
		{[]string{"--file", bad}, tool.ExitUnmet},
		{[]string{"--n", "1", "--out", good}, tool.ExitError},
	} {
		if got := tool.Run(t.Context(), "fuzz", run, row.args, io.Discard, io.Discard); got != row.want {
			t.Errorf("%v: got %d, want %d", row.args, got, row.want)
		}
	}
}
