package main

import (
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
		{[]string{"advise", "smoke", "--percent", "kl"}, 2, "--percent: want it with --fit"},
	} {
		if stdout, stderr := grposim(t, tt.code, tt.args...); !strings.Contains(stdout+stderr, tt.say) {
			t.Errorf("%v: want %q in\n%s%s", tt.args, tt.say, stdout, stderr)
		}
	}
}
