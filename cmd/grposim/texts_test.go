package main

import (
	"strings"
	"testing"
)

// line fails unless a command line of words says what is wanted.
func line(t *testing.T, code int, words, want string) {
	t.Helper()
	says(t, code, want, strings.Fields(words)...)
}

const watchOnce = "watch log.jsonl --every 1ms --until-idle 2ms"

// A log without a reward is diagnosed and watched, and refused where its reward is asked for.
func TestLogWithoutReward(t *testing.T) {
	t.Chdir(t.TempDir())
	text := trlLog(40, func(_ int, values numbers) { delete(values, "reward") })
	text = strings.ReplaceAll(text, `{"step": 10, "eval_reward"`, `{"step": 10, "eval_kl"`)
	write(t, "log.jsonl", text)
	const refusal = "log.jsonl: got no reward of training, want the log of a run"
	line(t, exitInconclusive, "diagnose log.jsonl", "note: The log has no mean reward of training.")
	line(t, exitInconclusive, watchOnce, "stands still at step 400")
	line(t, 2, "fit log.jsonl", refusal)
	line(t, 2, "compare log.jsonl log.jsonl", refusal)
	line(t, 2, "advise --fit log.jsonl", refusal)
}

// A share in per cent is not believed, so that a healthy run is not stopped, and read where
// --percent names it.
func TestPercent(t *testing.T) {
	t.Chdir(t.TempDir())
	inPercent := func(_ int, values numbers) { values["frac_reward_zero_std"] *= 100 }
	write(t, "log.jsonl", trlLog(160, inPercent))
	const named = " --percent frac_reward_zero_std"
	line(t, exitInconclusive, "diagnose log.jsonl", "say"+named+".")
	line(t, 0, "diagnose log.jsonl"+named, "zero-variance groups 0.09")
	line(t, exitInconclusive, watchOnce, "no failure is found; 1 of 4 failure modes")
	line(t, 0, watchOnce+named, "no failure is found")
	line(t, 0, "fit log.jsonl --percent kl", "--percent kl: the log has no share of that name.")
	line(t, 2, "advise smoke --percent kl", "--percent: want it with --fit")
}
