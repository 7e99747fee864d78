package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// A log without a reward is diagnosed and watched, and refused where its reward is asked for.
func TestLogWithoutReward(t *testing.T) {
	t.Chdir(t.TempDir())
	text := trlLog(40, func(_ int, values map[string]float64) { delete(values, "reward") })
	text = strings.ReplaceAll(text, `{"step": 10, "eval_reward"`, `{"step": 10, "eval_kl"`)
	write(t, "log.jsonl", text)
	for _, tt := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"diagnose", "log.jsonl"}, exitInconclusive, "note: The log has no mean reward of training."},
		{[]string{"watch", "log.jsonl", "--every", "1ms", "--until-idle", "2ms"}, exitInconclusive, "stands still at step 400"},
		{[]string{"fit", "log.jsonl"}, 2, "log.jsonl: got no reward of training, want the log of a run"},
		{[]string{"compare", "log.jsonl", "log.jsonl"}, 2, "log.jsonl: got no reward of training, want the log of a run"},
		{[]string{"advise", "--fit", "log.jsonl"}, 2, "log.jsonl: got no reward of training, want the log of a run"},
	} {
		if stdout, stderr := grposim(t, tt.code, tt.args...); !strings.Contains(stdout+stderr, tt.say) {
			t.Errorf("%v: want %q in\n%s%s", tt.args, tt.say, stdout, stderr)
		}
	}
}

// A share in per cent is not believed, so that a healthy run is not stopped, and read where
// --percent names it.
func TestPercent(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "log.jsonl", trlLog(160, func(_ int, values map[string]float64) { values["frac_reward_zero_std"] *= 100 }))
	for _, tt := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"diagnose", "log.jsonl"}, exitInconclusive, "say --percent frac_reward_zero_std."},
		{[]string{"diagnose", "log.jsonl", "--percent", "frac_reward_zero_std"}, 0, "zero-variance groups 0.09"},
		{[]string{"watch", "log.jsonl", "--every", "1ms", "--until-idle", "2ms"}, exitInconclusive, "advantage-degeneracy not-observable"},
		{[]string{"watch", "log.jsonl", "--every", "1ms", "--until-idle", "2ms", "--percent", "frac_reward_zero_std"}, 0, "advantage-degeneracy absent"},
		{[]string{"fit", "log.jsonl", "--percent", "kl"}, 0, "--percent kl: the log has no share of that name."},
		{[]string{"advise", "smoke", "--percent", "kl"}, 2, "--percent is of a training log"},
	} {
		if stdout, stderr := grposim(t, tt.code, tt.args...); !strings.Contains(stdout+stderr, tt.say) {
			t.Errorf("%v: want %q in\n%s%s", tt.args, tt.say, stdout, stderr)
		}
	}
}

// Words of help and messages: defaults as they are typed, one row and one cell, what init has named, a column that could be the
// step's, and a flat reward whose level is identified.
func TestWordsOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "one.csv", "step,reward\n1,0.5\n")
	write(t, "iter.csv", "Step #,reward\n"+flatRows(60))
	write(t, "flat.csv", "step,reward\n"+flatRows(60))
	for _, tt := range []struct {
		args       []string
		code       int
		say, never string
	}{
		{[]string{"predict", "--help"}, 0, "95 % of the way)\n", "(default )"},
		{[]string{"fit", "--help"}, 0, "(default 0.3,0.5)", "0.300000"},
		{[]string{"fit", "flat.csv"}, exitInconclusive, "of a flat reward the level alone can be", "not flat"},
		{[]string{"fit", "one.csv"}, exitUsage, "got 1 row with a reward", "1 rows"},
		{[]string{"fit", "iter.csv"}, exitInconclusive, `if "Step #" is the step, rename it to step.`, ""},
		{[]string{"sweep", "smoke", "--dry-run", "--set", "grpo.group_size=8"}, 0, "1 cell, ", "1 cells"},
		{[]string{"init", "My_Sweep.yaml"}, 0, "wrote My_Sweep.yaml, named my-sweep: ", ""},
		{[]string{"init", "first run.yaml"}, 0, "named first-run: ", ""},
		{[]string{"init", strings.Repeat("a", 65) + ".yaml"}, 0, ", named first: ", ""},
	} {
		stdout, stderr := grposim(t, tt.code, tt.args...)
		if text := stdout + stderr; !strings.Contains(text, tt.say) || tt.never != "" && strings.Contains(text, tt.never) {
			t.Errorf("%v: want %q and never %q in\n%s", tt.args, tt.say, tt.never, text)
		}
	}
	if text, err := os.ReadFile("My_Sweep.yaml"); err != nil || !strings.Contains(string(text), "\nname: my-sweep ") {
		t.Errorf("%s, %v", text, err)
	}
}

// flatRows returns rows of a log whose reward is noise about a level.
func flatRows(n int) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	for step := range n {
		fmt.Fprintf(&b, "%d,%.4f\n", step+1, 0.8+0.03*rng.NormFloat64())
	}
	return b.String()
}
