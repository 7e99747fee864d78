package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"grposim/training/findings"
	"grposim/training/logs"
)

type numbers = map[string]float64 // of a row of a log

// trlLog returns the JSON lines of a run of TRL with the given number of rows of 10 steps.
// The reward rises; change may change a row.
func trlLog(rows int, change func(row int, values numbers)) string {
	var b strings.Builder
	for i := range rows {
		noise := 0.02 * math.Sin(1e4*float64(i*i))
		values := numbers{
			"step": float64(10 * (i + 1)), "reward": 0.7 - 0.4*math.Exp(-float64(i)/20) + noise,
			"reward_std": 0.4 + noise, "frac_reward_zero_std": 0.1 + noise, "entropy": 0.5 + noise,
			"kl": 0.001, "grad_norm": 0.3 + noise, "clip_ratio/region_mean": 0.01 + noise/10,
			"completions/mean_length": 200,
		}
		if change != nil {
			change(i, values)
		}
		line, err := json.Marshal(values)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s\n", line)
		if i%4 == 0 {
			fmt.Fprintf(&b, `{"step": %d, "eval_reward": %g}`+"\n", 10*(i+1), values["reward"]-0.05)
		}
	}
	return b.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The exit code of diagnose, and the JSON of each run.
func TestDiagnose(t *testing.T) {
	t.Chdir(t.TempDir())
	dropped := func(keys ...string) func(int, numbers) {
		return func(_ int, values numbers) {
			for _, key := range keys {
				delete(values, key)
			}
		}
	}
	write(t, "healthy.jsonl", trlLog(160, nil))
	write(t, "degenerate.jsonl", trlLog(160, func(i int, values numbers) {
		if i >= 60 {
			values["frac_reward_zero_std"] = 0.9
		}
	}))
	write(t, "concentrated.jsonl", trlLog(160, func(i int, values numbers) {
		values["reward"] = 0.5 + values["reward_std"] - 0.4
		if i >= 60 {
			values["entropy"] = 0.02
		}
	}))
	learnt := func(i int, values numbers) { values["entropy"] /= 1 + float64(i)/10 }
	write(t, "learnt.jsonl", trlLog(160, learnt))
	write(t, "collapsed.jsonl", trlLog(160, func(i int, values numbers) {
		values["reward"] -= 0.4 / (1 + math.Exp(float64(110-i)))
	}))
	write(t, "frozen.jsonl", trlLog(160, func(_ int, values numbers) { values["grad_norm"] = 0 }))
	write(t, "cut.jsonl", trlLog(160, func(i int, values numbers) {
		values["completions/clipped_ratio"], values["reward"] = 1, 0.1+values["reward_std"]-0.4
		if i >= 60 {
			values["frac_reward_zero_std"] = 0.9
		}
	}))
	write(t, "stock.jsonl", trlLog(160, dropped("entropy", "frac_reward_zero_std")))
	write(t, "tuned.jsonl", trlLog(160, func(_ int, values numbers) { values["mean_token_accuracy"] = 0.7 }))
	write(t, "short.jsonl", trlLog(12, nil))
	write(t, "broken.jsonl", "{}\n")
	for _, c := range []struct {
		args    string
		code    int
		leading string
		find    string // in the output as text
	}{
		{"healthy.jsonl", 0, "none", "absent: policy-concentration: remaining entropy"},
		{"degenerate.jsonl", 0, "none", "zero-variance groups 0.9"},
		{"degenerate.jsonl --mode policy-concentration", 0, "none", ""},
		{"degenerate.jsonl --mode advantage-degeneracy", 1, "none", ""},
		{"learnt.jsonl", 0, "none", "remark: policy-concentration since step"},
		{"concentrated.jsonl", 1, "policy-concentration", "failure: policy-concentration since step 610"},
		{"healthy.jsonl concentrated.jsonl", 1, "none", ""},
		{"collapsed.jsonl", 1, "reward-collapse", "reward falls from 0.687 to 0.313"},
		{"frozen.jsonl", 1, "no-update",
			"not observable: no update trains the policy in any row (no-update)"},
		{"cut.jsonl", 1, "truncation",
			"groups have equal rewards because completions are cut (truncation)"},
		{"cut.jsonl --mode advantage-degeneracy", exitInconclusive, "truncation", ""},
		{"stock.jsonl", exitInconclusive, "none",
			"next: entropy: log the mean entropy per token as entropy."},
		{"stock.jsonl --mode dynamical-instability", 0, "none", ""},
		{"tuned.jsonl", exitInconclusive, "none",
			"tuned.jsonl: this is a log of supervised fine-tuning (mean_token_accuracy), not of GRPO; it is not judged"},
		{"short.jsonl", exitInconclusive, "none", "the log has 12 rows, and they need 16"},
	} {
		args := strings.Fields(c.args)
		says(t, c.code, c.find, append([]string{"diagnose"}, args...)...)
		r := diagnosed(t, c.code, args...)
		modes, leading, file := at(r, "modes").([]any), at(r, "leading"), at(r, "file")
		if leading != c.leading || file != args[0] || len(modes) != 4 {
			t.Errorf("%s: leading %s of %s with %d modes, want %+v", c.args, leading, file, len(modes), c)
		}
		for _, m := range modes {
			since, present := at(m, "since_step").(float64)
			if present != (at(m, "verdict") == "present") || len(at(m, "evidence").([]any)) == 0 {
				t.Errorf("%v: %v", c.args, m)
			}
			if present && at(m, "mode") == "advantage-degeneracy" && (since < 580 || since > 640) {
				t.Errorf("%v: since step %g, want about 610", c.args, since)
			}
		}
	}
	for _, args := range []string{"missing.jsonl", "broken.jsonl", ".", "healthy.jsonl --mode hacking",
		"healthy.jsonl --true-reward none", ""} {
		_, stderr := grposim(t, exitUsage, strings.Fields("diagnose "+args)...)
		if !strings.HasPrefix(stderr, "grposim: ") {
			t.Errorf("%v: got %s", args, stderr)
		}
	}
}

// diagnosed returns the first object that diagnose prints with --json.
func diagnosed(t *testing.T, code int, args ...string) (r any) {
	t.Helper()
	text, _ := grposim(t, code, append([]string{"diagnose", "--json"}, args...)...)
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A component is the true reward if it is named.
func TestDiagnoseTrueReward(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "log.jsonl", trlLog(160, func(i int, values numbers) {
		values["rewards/correct/mean"] = 0.5 - 0.3*(values["reward"]-0.3)
		values["rewards/format/mean"] = values["reward"] - values["rewards/correct/mean"]
	}))
	for column, want := range map[string]int{"": 0, "rewards/format/mean": 0, "rewards/correct/mean": 1} {
		args := []string{"diagnose", "log.jsonl", "--mode", "reward-hacking"}
		if column != "" {
			args = append(args, "--true-reward", column)
		}
		grposim(t, want, args...)
	}
}

// What a log does not say of its groups is deduced: that all are equal where the largest
// score is the smallest, every advantage is 0, or the deviation is a hundredth of that at the
// start; and the share from counts.
func TestDeducedGroups(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, row := range map[string]struct {
		columns string // that of the reward last
		values  map[bool]float64
	}{
		"scores": {`"critic/score/max": 1, "critic/score/min": %g, "actor/pg_loss": 0.1, "critic/score/mean"`,
			map[bool]float64{true: 1}},
		"advantages": {`"critic/advantages/max": %g, "critic/advantages/min": 0, "actor/pg_loss": 0.1, ` +
			`"critic/score/mean"`, map[bool]float64{false: 2}},
		"deviation": {`"reward_std_batch": %g, "reward"`, map[bool]float64{true: 2e-4, false: 0.38}},
		"counts": {`"count_all0": %g, "count_all1": 3, "groups": 16, "reward"`,
			map[bool]float64{true: 12, false: 1}},
	} {
		for _, degenerate := range []bool{true, false} {
			var b strings.Builder
			for i := range 80 {
				value, reward := row.values[degenerate && i >= 30], 0.5+0.01*math.Sin(float64(i*i))
				fmt.Fprintf(&b, `{"step": %d, `+row.columns+`: %g}`+"\n", i, value, reward)
			}
			write(t, "log.jsonl", b.String())
			runs, err := sources("log.jsonl", logs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range runs[0].report(findings.Of(runs[0].log)).modes {
				want := map[bool]string{true: "present", false: "not-observable"}[degenerate]
				if name == "counts" && !degenerate {
					want = "absent" // the share is known
				}
				if m.Mode == "advantage-degeneracy" && string(m.Finding) != want {
					t.Errorf("%s, degenerate %v: %s, want %s", name, degenerate, m.Finding, want)
				}
			}
		}
	}
}

// watch ends when a mode is present, or when the log stands still. TestWatchDisturbed has logs that
// grow.
func TestWatch(t *testing.T) {
	t.Chdir(t.TempDir())
	watch := func(ctx context.Context, code int, args ...string) string {
		var stdout, stderr bytes.Buffer
		args = append([]string{"watch", "log.jsonl", "--every", "2ms"}, args...)
		if got := run(ctx, args, &stdout, &stderr); got != code {
			t.Errorf("%v: exit code %d, want %d\n%s%s", args, got, code, &stdout, &stderr)
		}
		return stdout.String()
	}
	write(t, "log.jsonl", trlLog(160, nil))
	out := watch(t.Context(), 0, "--until-idle", "20ms")
	if strings.Contains(out, ": failure") || !strings.Contains(out, "stands still at step 1600: no failure is found") {
		t.Errorf("a healthy run gives\n%s", out)
	}
	write(t, "log.jsonl", trlLog(200, func(i int, values numbers) {
		values["reward"] = 0.5 + values["reward_std"] - 0.4
		if i >= 90 {
			values["entropy"] = 0.02
		}
	}))
	const found = "step 1080: policy-concentration: failure since step 910: " // the second look
	out = watch(t.Context(), 1)
	if lines := strings.Split(out, "\n"); !strings.HasPrefix(lines[len(lines)-2], found) {
		t.Errorf("got\n%swant %q in the last line", out, found)
	}
	out = watch(t.Context(), 1, "--until-idle", "20ms", "--keep-going")
	if !strings.Contains(out, "stands still") {
		t.Errorf("--keep-going ends before the end:\n%s", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	watch(ctx, exitInterrupted, "--keep-going")
	watch(t.Context(), exitUsage, "--every", "0s")
}
