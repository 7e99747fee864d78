package main

import (
	"strings"
	"testing"
)

// answer is what a command line has to say, with its exit code.
type answer struct {
	args string
	code int
	say  string
}

func checkAnswers(t *testing.T, answers []answer) {
	t.Helper()
	for _, a := range answers {
		says(t, a.code, a.say, strings.Fields(a.args)...)
	}
}

const watchOnce = "watch log.jsonl --every 1ms --until-idle 2ms"

// A log without a reward is diagnosed and watched, and refused where its reward is asked for.
func TestLogWithoutReward(t *testing.T) {
	t.Chdir(t.TempDir())
	text := trlLog(40, func(_ int, values numbers) { delete(values, "reward") })
	text = strings.ReplaceAll(text, `{"step": 10, "eval_reward"`, `{"step": 10, "eval_kl"`)
	write(t, "log.jsonl", text)
	const refusal = "log.jsonl: got no reward of training, want the log of a run"
	checkAnswers(t, []answer{
		{"diagnose log.jsonl", exitInconclusive, "note: The log has no mean reward of training."},
		{watchOnce, exitInconclusive, "stands still at step 400"},
		{"fit log.jsonl", 2, refusal},
		{"compare log.jsonl log.jsonl", 2, refusal},
		{"advise --fit log.jsonl", 2, refusal},
	})
}

// A share in per cent is not believed, so that a healthy run is not stopped, and read where
// --percent names it.
func TestPercent(t *testing.T) {
	t.Chdir(t.TempDir())
	inPercent := func(_ int, values numbers) { values["frac_reward_zero_std"] *= 100 }
	write(t, "log.jsonl", trlLog(160, inPercent))
	const named = " --percent frac_reward_zero_std"
	checkAnswers(t, []answer{
		{"diagnose log.jsonl", exitInconclusive, "say" + named + "."},
		{"diagnose log.jsonl" + named, 0, "zero-variance groups 0.09"},
		{watchOnce, exitInconclusive, "advantage-degeneracy not-observable"},
		{watchOnce + named, 0, "advantage-degeneracy absent"},
		{"fit log.jsonl --percent kl", 0, "--percent kl: the log has no share of that name."},
		{"advise smoke --percent kl", 2, "--percent: want it with --fit"},
	})
}
