package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rowsOf writes the steps and rewards of a log.
func rowsOf(l *Log) string {
	reward, _ := l.Column(Reward)
	return fmt.Sprint(l.Steps, reward.Values)
}

// Forms in which programs write, and consoles, terminals and people break, the same two rows.
func TestTextForms(t *testing.T) {
	const want = "[1 2] [0.5 0.75]"
	for name, text := range map[string]string{
		"a dict over several lines":              "{'reward': 0.5,\n 'step': 1}\n{'step': 2,\n 'reward':\n 0.75}\n",
		"Ray before every line":                  "(T pid=1) {'reward': 0.5,\n(T pid=1)  'step': 1}\n(T pid=2, ip=10.0.0.1) {'step': 2, 'reward': 0.75}\n",
		"cut within a key":                       "{'step': 1, 'rew\nard': 0.5, 'a': [1,\n2]}\n{'step': 2, 'reward': 0.75}\n",
		"cut within a number":                    "{'step': 1, 'reward': 0.\n5}\n{'step': 2, 'reward': 7.5e\n-1}\n",
		"a dict that breaks off":                 "{'step': 9, 'reward': 0.1, 'kl': 0.\n{'step': 1, 'reward': 0.5}\n{'step': 9, 'rew\n{'step': 2, 'reward': 0.75}\n",
		"colours":                                "\x1b[1m{'step'\x1b[0m: \x1b[36m1\x1b[0m, 'reward': 0.5}\n\x1b]0;title\a{'step': 2, 'reward': 0.75}\n",
		"colours of a web page":                  "> \ufffd[36m(T pid=1)\ufffd[0m │ ppo_actor/task_reward/avg │ 0.5 │\n> [36m(T pid=1)[0m │ ppo_actor/task_reward/avg │ 0.75 │\n",
		"without braces":                         "'step': 1, 'reward': 0.5\n'step': 2, 'rew\nard': 0.75\n",
		"without braces, by line":                "'step': 1,\n'reward': 0.5\n'step': 2,\n'reward': 0.75\n",
		"verl, cut before a dash":                "step:1 - a/b:1\n - critic/score/mean:0.5\nstep:2 - critic/score/\nmean:0.75\n",
		"verl, cut after a dash":                 "step:1 - a/b:1 -\ncritic/score/mean:0.5 - c/d:1\nstep:2 - critic/score/mean:0.7\n5\n(R pid=3) step of 5\n",
		"verl, then other text":                  "step:1 - critic/score/mean:0.5\nwandb: Synced\nstep:2 - critic/score/mean:0.75\n10.0.0.1:8265\n",
		"a configuration before":                 "{'learning_rate': 1e-06}\nStep 1/9\n• Avg Reward: 0.5\nStep 2/9\n• Avg Reward: 0.75\n",
		"a dict being written":                   "{'step': 1,\n 'reward': 0.5}\n{'step': 2,\n 'reward': 0.75}\n{'step': 3,\n 'reward': 1,\n 'kl': 0.1",
		"a quote that stays open":                "{'reward': 0.1, 'text': \"it\n{'step': 1, 'reward': 0.5}\n{'step': 2, 'reward': 0.75}\n",
		"labels":                                 "x rollout 1: {'rollout/raw_reward': 0.5}\nx rollout 2: {'rollout/raw_reward': 0.75}\nx step 1: {'train/loss': 0.1}\n",
		"headings":                               "Step 1/9\n• Avg Reward: 0.5\nvalidation of 3: 4\nStep 2/9\n• Avg Reward: 0.75\n",
		"equal signs":                            "step=1 reward=0.5\nstep=2 reward=0.75\n",
		"per cent":                               "Step 1 | Reward 50% | x\nStep 2 | Reward: 75.0% | x\n",
		"carriage returns":                       "  1%|  | 1/99 [00:01<01:00]\r{'reward': 0.5}\r  2%|  | 2/99 [00:01<01:00]{'reward': 0.75}\r\n",
		"a bar without a picture":                "1/99 [00:01<01:00]\n{'reward': 0.5}\n2/99 [00:01<01:00]\n{'reward': 0.75}\n",
		"a table":                                "text | with bars\n\nStep | reward\n:-: | -\n1 | 0.5\n2 | 0.75\n\nmore",
		"two tables":                             "|Step|reward|\n|-|-|\n|1|0.5|\n\nthen\n|reward|step|\n|-|-|\n|0.75|2|\n",
		"tabs":                                   "a table:\nStep\treward\tf\n1\t0.5\t\n2\t0.75\t—\n",
		"pandas":                                 "df\n   step  reward      kl\n0     1    0.50   1e-05\n1     2    0.75 -0.0001\nthat is all of it\n",
		"columns of text":                        "Step  Training Loss  reward\n1  0.0  0.5\n2  0.0  0.75\n",
		"only a closing brace":                   "'reward': 0.5, 'step': 1}\n'reward': 0.75, 'step': 2}\n",
		"bars between headings":                  "Step 1/9\nRollouts: 100%|█| 40/40 [00:10<00:00, 4.00it/s]\n• Avg Reward: 0.5\nStep 2/9\nRollouts: 100%|█| 40/40 [00:08<00:00, 5.00it/s]\n• Avg Reward: 0.75\n",
		"keys left out":                          "{'step': 1, 'reward': 0.5, ...}\n{'reward': 0.75, ..., 'step': 2}\n",
		"a table in a comment":                   "# text\n# | Step | reward |\n# |------|--------|\n# | 1    | 0.5    |\n#\n# | 2 | 0.75 |\n",
		"a table that is quoted":                 "> | Step | reward |\n> |--|--|\n>> | 1 | 0.5 |\n> | 2 | 0.75 |\n",
		"a table pasted twice":                   "|Step|reward|\n|-|-|\n|1|0.5|\n|2|0.75|\n\n|Step|reward|kl|\n|-|-|-|\n|1|0.5|0.1|\n|2|0.75|0.2|\n",
		"a picture that was read":                "Step Training Loss reward rewards / f / mean\n1 0.000000 0.5 1\n2 0.000000 0.75 1\nmore text\n",
		"decimals after a comma":                 "step;reward;kl\n1;0,5;1.000,125\n2;0,750;0,1\n",
		"decimals after a comma, with tabs":      "step\treward\tkl\n1\t0,5\t1,234\n2\t0,75\t0,1\n",
		"a page":                                 "<p>text</p>\n<table><tr><th>Step</th><th>reward</th></tr>\n<tr><td>1</td><td>0.5</td></tr><tr><td>2</td><td>0.75</td></tr></table>",
		"long form":                              "name,value,step,timestamp\ntrain/kl,0.1,1,9\ntrain/reward,0.5,1,9\nnobody,x,1,9\ntrain/kl,0.2,2,9\ntrain/reward,0.75,2,9\n",
		"long form, by key":                      "run,key,value,step\na,kl,0.1,1\na,kl,0.2,2\na,reward,0.5,1\na,reward,0.75,2\na,reward,0.6,",
		"iterations of Ray":                      "reward,training_iteration,config/lr,epoch\n0.5,1,1,0\n0.75,2,1,0\n",
		"CSV":                                    "step,reward\n1,0.5\n2,0.75\n",
		"CSV of R":                               "\"step\",\"reward\",\"kl\"\n1,0.5,NA\n2,0.75,NULL\n",
		"CSV of a spreadsheet":                   "\ufeffstep,reward\r\n1,0.5\r\n2,0.75\r\n",
		"tabs without an end":                    "step\treward\tkl\n1\t0.5\t0\n2\t0.75\t0",
		"a cut last cell of CSV":                 "step,reward,kl\n1,0.5,1e-05\n2,0.75,4.1e",
		"a bar of something else before":         "Loading: 100%|██| 2/2 [00:00<00:00]\nE [1/1](1/9), reward: 0.5, kl: 0.1\nE [1/1](2/9), reward: 0.75, kl: 0.1\n",
		"a bar in its own line, drawn again":     "A: 50%|█ | 1/2 [00:01<00:01, reward=0.5, kl=0]\rA: 100%|██| 2/2 [00:01<00:01, reward=0.7, kl=0]\rA: 100%|██| 2/2 [00:02<00:00, reward=0.75, kl=0]\n",
		"a printed sample before rows":           "sample: {'reward': 1.0}\n" + strings.Repeat("step: 1, reward: 0.5, kl: 0\n", 5) + "step: 2, reward: 0.75, kl: 0\n",
		"a step in two lines":                    "kl: 0.1  clip: 1\nreward: 0.5  entropy: 1\n\nkl: 0.2  clip: 1\nreward: 0.75  entropy: 1\n",
		"several processes":                      "[rank0]: {'reward': 0.5}\n[rank1]: {'reward': 0.5}\n[rank1]: {'reward': 0.75}\n[rank0]: {'reward': 0.75}\n",
		"several processes of srun":              "0: {'reward': 0.5}\n1: {'reward': 0.5}\n0: {'reward': 0.75}\n1: {'reward': 0.7}\n",
		"steps as labels":                        "1: {'reward': 0.5}\n2: {'reward': 0.75}\n",
		"bars and equal signs":                   "Step 1 | mean_reward=0.5 | reward_std=0.2\nStep 2 | mean_reward=0.75 | reward_std=0.2\n",
		"two spaces":                             "[GRPO] step 1/9  reward 0.5  kl 0.2\n[GRPO] step 2/9  reward 0.75  kl 0.2\n",
		"a bar that is drawn again":              "{'reward': 0.5}\n 1%|  | 1/9 [00:01<01:00]\n 2%|  | 2/9 [00:01<01:00]\n{'reward': 0.75}\n",
		"semicolons and quotes":                  "\"step\";\"note\";\"reward\"\n1.0;\"a;\nb\";0.5\n2e0;;0.75\n",
		"JSON lines":                             "{\"step\": 1, \"reward\": 0.5}\r\n\r\n{\"step\": 2, \"reward\": 7.5e-1}\n",
		"a JSON list":                            "\n [{\"step\": 1, \"reward\": 0.5},\n {\"step\": 2, \"reward\": 0.75}]",
		"escapes and values that are no numbers": `{"st\u0065p": 1, "reward": "0.5", "a\tb": [[], {}, "]", null]} {"step": 2, "reward": 0.75, "x": {}}`,
		"JSON over several lines":                "{\n  \"step\": 1,\n  \"train\": {\"reward\": 0.5}\n}\n{\"step\": 2, \"train/reward\": 0.75}",
		"an empty dict and a broken one":         "[2026-01-01] INFO start\n{'step': 1, 'reward': 0.5,}\r\n{}{'step': True, 'reward': }{\"step\": 2, \"reward\": 0.75}\n",
		"verl with a time before":                "step:1 - val-core/a:1 - critic/score/mean:0.5\nsteps of 5\nx step:2 - critic/score/mean:np.float32(0.75)\n",
		"history of W&B":                         "_step,_runtime,train/reward\n1,1,0.5\n2,2,0.75\n",
		"other cases":                            `{"Step": 1, "REWARD": 0.5}{"STEP": 2, "reward": 0.75}`,
	} {
		l := readText(t, text)
		if got := rowsOf(l); got != want {
			t.Errorf("%s: got %s, notes %q", name, got, l.Notes)
		}
	}
}

// Slime counts steps and rollouts, of which each may have several steps.
func TestStepsOfRollouts(t *testing.T) {
	l := readText(t, "rollout 0: {'rollout/raw_reward': 0.5}\nstep 0: {'train/loss': 0}\nstep 1: {'train/loss': 0.1}\n"+
		"rollout 1: {'rollout/raw_reward': 0.75}\nstep 2: {'train/loss': 0.2}\nstep 3: {'train/loss': 0.3}\n")
	loss, _ := l.Column(Loss)
	if got, want := rowsOf(l)+fmt.Sprint(loss.Values), "[0 1 2 3] [0.5 NaN 0.75 NaN][0 0.1 0.2 0.3]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := "Steps are counted, of which a rollout has 2: it stands at its first."; !slices.Contains(l.Notes, want) {
		t.Errorf("got notes %q", l.Notes)
	}
}

// The line that transformers write after the last step is no row, wherever it stands.
func TestClosingLine(t *testing.T) {
	const closing = `"train_runtime": 60.1, "train_loss": 0.1, "reward": 9, "step": 2}`
	for _, text := range []string{
		`{"reward": 0.5, "step": 1}{"reward": 0.75, "step": 2}{` + closing,
		`{"log_history": [{"reward": 0.5, "step": 1}, {"reward": 0.75, "step": 2}, {` + closing + `]}`,
		"{'reward': 0.5, 'step': 1}\n{'reward': 0.75, 'step': 2}\n{" + strings.ReplaceAll(closing, `"`, "'") + "\n",
		"step,reward,train/train_runtime\n1,0.5,\n2,0.75,\n2,9,60.1\n",
		"step,train/loss,train/reward,train/train_runtime\n1,0,0.5,\n2,0,0.75,60\n", // in the last row
	} {
		if got := rowsOf(readText(t, text)); got != "[1 2] [0.5 0.75]" {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// A row with a key that only rows of training have is one of both. Other rows with a key of
// evaluation are of evaluation alone, with the keys that they write without the prefix.
func TestRowOfBoth(t *testing.T) {
	l := readText(t, `{"step": 1, "reward": 0.5, "learning_rate": 1e-6, "completions/mean_length": 100, "rewards/f/mean": 0.5, "eval_reward": 0.25}
{"step": 2, "reward": 0.75, "completions/mean_length": 90, "rewards/f/mean": 0.5, "eval_loss": 0.1}
{"step": 3, "reward": 1, "loss": 0.1, "completions/mean_length": 80, "rewards/f/mean": 0.5}
`)
	if got := rowsOf(l); got != "[1 3] [0.5 1]" {
		t.Errorf("training: got %s", got)
	}
	score, _ := l.Evaluation.Column(EvalScore)
	length, _ := l.Evaluation.Column(LenMean)
	if got, want := fmt.Sprint(l.Evaluation.Steps, score.Values, length.Values), "[1 2] [0.25 NaN] [NaN 90]"; got != want {
		t.Errorf("evaluation: got %s, want %s", got, want)
	}
}

// Values that a quantity cannot have are said and missing.
func TestImplausible(t *testing.T) {
	column := func(key string, values ...float64) string {
		var b strings.Builder
		for i, x := range values {
			fmt.Fprintf(&b, `{"step": %d, "reward": 0, %q: %v}`+"\n", i+5, key, x)
		}
		return b.String()
	}
	for _, tt := range []struct {
		text    string
		percent []string
		of      Quantity // "": there is no column
		values  string
		note    string
	}{
		{column("entropy", 1, -5, -6), nil, Entropy, "[1 NaN NaN]", "entropy: 2 values outside of [0, ∞) left out, the first -5 at step 6."},
		{column("grad_norm", 1, -1), nil, GradNorm, "[1 NaN]", "grad_norm: 1 value outside of [0, ∞) left out, the first -1 at step 6."},
		{column("staleness", -2, 1), nil, Staleness, "[NaN 1]", "staleness: 1 value outside of [0, ∞) left out, the first -2 at step 5."},
		{column("kl", -0.003, 0.001), nil, KLRef, "[-0.003 0.001]", ""}, // a k1 estimate can be negative
		{column("grpo_loss/kl_divergence_mean", -0.003, -0.1, 2), nil, KLRef, "[-0.003 NaN 2]", "grpo_loss/kl_divergence_mean: 1 value outside of [0, ∞) left out, the first -0.1 at step 6."},
		{column("clip_any", 0, 1.0000001, -1e-9), nil, ClipAny, "[0 1.0000001 -1e-09]", ""},
		{column("frac_zero_std", 0.5, 0.25, 200), nil, FracZeroStd, "[0.5 0.25 NaN]", "frac_zero_std: 1 value outside of [0, 1] left out, the first 200 at step 7."},
		{column("frac_zero_std", 0.5, 1.5, 0.25), nil, "", "", "frac_zero_std: not believed, because shares are in [0, 1] and it is 1.5 at step 6; if it is in per cent, say --percent frac_zero_std."},
		{column("Frac_Zero_Std", 0, 12.5, 0.5, 25), nil, "", "", "Frac_Zero_Std: not believed, because shares are in [0, 1] and it is 12.5 at step 6; if it is in per cent, say --percent Frac_Zero_Std."},
		{column("frac_zero_std", 0, 12.5, 0.5, 25), []string{"FRAC_zero_std"}, FracZeroStd, "[0 0.125 0.005 0.25]", ""},
		{column("frac_zero_std", 0, 0.5), []string{"len_clipped"}, FracZeroStd, "[0 0.5]", "--percent len_clipped: the log has no share of that name."},
		{column("actor/entropy_loss", -0.5, 0, -0.25) + `{"critic/score/mean": 1, "actor/lr": 0}`, nil, Entropy, "[0.5 -0 0.25]", "actor/entropy_loss is nowhere above 0: read as a loss, the entropy with the opposite sign."},
		{column("actor/entropy_loss", -0.5, 0.5) + `{"critic/score/mean": 1, "actor/lr": 0}`, nil, Entropy, "[NaN 0.5]", "actor/entropy_loss: 1 value outside of [0, ∞) left out, the first -0.5 at step 5."},
	} {
		l, err := Read(strings.NewReader(tt.text), "f", Options{Percent: tt.percent})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		c, has := l.Column(cmp.Or(tt.of, FracZeroStd))
		if has != (tt.of != "") || has && fmt.Sprint(c.Values) != tt.values {
			t.Errorf("%s: got %v, want %s", tt.text, c.Values, tt.values)
		}
		if tt.note != "" && !slices.Contains(l.Notes, tt.note) || tt.note == "" && len(l.Notes) > 0 {
			t.Errorf("%s: got notes %q, want %q", tt.text, l.Notes, tt.note)
		}
	}
}

// What looks like metrics and is not understood is quoted with its line, the first few.
func TestUnread(t *testing.T) {
	var b strings.Builder
	b.WriteString("{'step': 1, 'reward': 0.5}\n")
	for i := range 5 {
		fmt.Fprintf(&b, "{'reward': 0.%d, 'kl': oops}\n", i)
	}
	table := readText(t, "Step  kl  reward\n1  0.1  0.5\n2  0.5\n3  high  0.75\nthat is all\n")
	if got, want := rowsOf(table)+fmt.Sprint(table.Notes), `[1 3] [0.5 0.75][Rows are 2 steps apart and taken for means over 2 steps; if rows were left out instead, each is a single step. `+
		`Line 3, "2  0.5", was not understood: it has 2 cells, the table 3 columns. Line 4, "kl: high", was not understood: want a number.]`; got != want {
		t.Errorf("got %s", got)
	}
	l := readText(t, b.String())
	want := []string{
		`Line 2, "{'reward': 0.0, 'kl': oops}", was not understood: a dict that breaks off or is mixed with other text.`,
		`Line 3, "{'reward': 0.1, 'kl': oops}", was not understood: a dict that breaks off or is mixed with other text.`,
		`Line 4, "{'reward': 0.2, 'kl': oops}", was not understood: a dict that breaks off or is mixed with other text.`,
		"2 more were not understood.",
	}
	if got := l.Notes; !slices.Equal(got, want) {
		t.Errorf("got notes %q", got)
	}
}

// A log without a reward is a log; one without a known quantity is none.
func TestNoReward(t *testing.T) {
	l := readText(t, `{"step": 1, "grad_norm": 0.5, "my_score": 1}`)
	if _, has := l.Column(Reward); has || !slices.Equal(l.Steps, []int{1}) {
		t.Errorf("got %+v", l)
	}
	if want := `The log has no mean reward of training; if "my_score" is the mean reward, rename it to reward.`; !slices.Contains(l.Notes, want) {
		t.Errorf("got notes %q", l.Notes)
	}
	// Rows without steps are numbered, but not of a learning rate alone.
	l = readText(t, "{\"lr\": 1}\n{\"kl\": 1}\n{\"entropy\": 1}\n")
	if !slices.Equal(l.Steps, []int{1, 2}) {
		t.Errorf("got steps %v", l.Steps)
	}
	_, err := Read(strings.NewReader(`{"step": 1, "lr": 1, "my_score": 1}`), "f", Options{})
	if want := `f: got no key of training that is known, want reward, critic/score/mean or another of grposim help log-keys; its keys are "my_score", "step", "lr"; if "my_score" is the mean reward, rename it to reward`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// Bars of other things than training give no steps.
func TestBars(t *testing.T) {
	bars := func(at ...string) string {
		var b strings.Builder
		for _, bar := range at {
			fmt.Fprintf(&b, "x: 10%%|█   | %s [00:01<00:02]\n", bar)
		}
		return b.String() + "{'reward': 0.5}\n"
	}
	for _, tt := range []struct {
		text, steps string
	}{
		{bars("5/99") + bars("10/99") + bars("20/99"), "[5 10 20]"},
		{bars("9/9", "5/99", "1/8") + bars("7/7", "10/99", "1/8"), "[5 10]"},
		{bars("9/9") + bars("9/9"), "[1 2]"},
		{bars("3/9") + bars("3/9"), "[1 2]"},
		{bars() + bars("10/99"), "[1 2]"},
		{bars("20/99") + bars("20/99") + bars("50/99") + bars("50/99"), "[1 2 3 4]"},
	} {
		if l := readText(t, tt.text); fmt.Sprint(l.Steps) != tt.steps {
			t.Errorf("%s: got steps %v, want %s", tt.text, l.Steps, tt.steps)
		}
	}
}

// A table of the same run that is pasted again with more columns gives its rows more values. Rows
// that are written twice are one, and rows that differ are those of a resumed run.
func TestPastedAgain(t *testing.T) {
	const first = "|Step|reward|kl|\n|-|-|-|\n|1|0.5|0.1|\n|2|0.75|0.2|\n|3|0.8|0.3|\n\n"
	l := readText(t, first+"|Step|reward|grad_norm|\n|-|-|-|\n|1|0.5|7|\n|2|0.75|8|\n")
	norm, _ := l.Column(GradNorm)
	if got := rowsOf(l) + fmt.Sprint(norm.Values); got != "[1 2 3] [0.5 0.75 0.8][7 8 NaN]" || len(l.Resumes)+len(l.Notes) > 0 {
		t.Errorf("got %s, resumed from %v, notes %q", got, l.Resumes, l.Notes)
	}
	l = readText(t, "step,reward\n1,0.5\n2,0.75\n2,0.75\n3,0.8\n3,0.8\n")
	if got := rowsOf(l); got != "[1 2 3] [0.5 0.75 0.8]" || len(l.Resumes)+len(l.Notes) > 0 {
		t.Errorf("rows written twice: got %s, resumed from %v, notes %q", got, l.Resumes, l.Notes)
	}
	l = readText(t, first+"|Step|reward|kl|\n|-|-|-|\n|2|0.7|0.2|\n")
	if got := rowsOf(l); got != "[1 2] [0.5 0.7]" || !slices.Equal(l.Resumes, []int{2}) {
		t.Errorf("got %s, resumed from %v", got, l.Resumes)
	}
}

// Several updates of a batch: rows between those of a new batch lack the reward, and are rows.
func TestRowsBetweenBatches(t *testing.T) {
	l := readText(t, `{'loss': 0.1, 'reward': 0.5, 'clip_ratio/low_mean': 0.0, 'clip_ratio/high_mean': 0.0}
{'loss': 0.2, 'clip_ratio/low_mean': 0.01, 'clip_ratio/high_mean': 0.0}
{'loss': 0.3, 'reward': 0.75, 'clip_ratio/low_mean': 0.0, 'clip_ratio/high_mean': 0.0}
`)
	low, _ := l.Column(ClipLow)
	if got := rowsOf(l) + fmt.Sprint(low.Values); got != "[1 2 3] [0.5 NaN 0.75][0 0.01 0]" {
		t.Errorf("got %s", got)
	}
	if slices.ContainsFunc(l.Notes, func(n string) bool { return strings.Contains(n, "0 throughout") }) {
		t.Errorf("got notes %q, want none about a ratio of 1", l.Notes)
	}
}

// A dict without braces may follow what a logger set before it; a single key in a line of
// prose is said.
func TestDictWithoutBraces(t *testing.T) {
	for _, text := range []string{
		"2026-06-18 | INFO | 'reward/avg_raw_reward': '0.5', 'trainer/global_step': '1'\n2026-06-18 | INFO | 'reward/avg_raw_reward': '0.75', 'trainer/global_step': '2'\n",
		"rollout 1: ... 'rollout/raw_reward': 0.5,\n  'rollout/x': 1.0\nstep 1: {'train/loss': 0.1}\nrollout 2: 'rollout/raw_reward': 0.75\n",
	} {
		if l := readText(t, text); rowsOf(l) != "[1 2] [0.5 0.75]" {
			t.Errorf("%s: got %s, notes %q", text, rowsOf(l), l.Notes)
		}
	}
	l := readText(t, "it says 'reward': 0.9 there\n{'reward': 0.5, 'step': 1}\n")
	if want := `Line 1, "it says 'reward': 0.9 there", was not understood: a dict without its braces, and with a single key.`; rowsOf(l) != "[1] [0.5]" || !slices.Contains(l.Notes, want) {
		t.Errorf("got %s, notes %q", rowsOf(l), l.Notes)
	}
}

// Logs of other kinds of training say so.
func TestOtherTraining(t *testing.T) {
	for text, want := range map[string]string{
		"{'loss': 0.5, 'grad_norm': 1.5, 'rewards/chosen': 0.1, 'rewards/rejected': -0.1, 'epoch': 1}\n": "It is a log of preference optimization or of a reward model (rewards/chosen), not of GRPO: there are no groups and no sampled rewards.",
		`{"train/reward": 0, "train/global_step": 9, "_wandb": {"runtime": 5}}`:                          "It is the summary of W&B (_wandb/runtime), the last values of a run and not its rows: export its history.",
		"{'loss': 1.5, 'grad_norm': 1.5, 'mean_token_accuracy': 0.7, 'epoch': 1}\n":                      "It is a log of supervised fine-tuning (mean_token_accuracy), not of GRPO.",
		"step:1 - critic/vf_loss:0.1 - critic/score/mean:0.5 - actor/grad_norm:0.1\n":                    "It is a log of PPO (critic/vf_loss), which has a value function: advantages are not relative to a group, and what is said of groups does not hold.",
	} {
		l := readText(t, text)
		if !slices.Contains(l.Notes, want) {
			t.Errorf("%s: got notes %q, want %q", text, l.Notes, want)
		}
		if slices.ContainsFunc(l.Columns, func(c Column) bool { return strings.HasPrefix(c.Key, "rewards/") }) || strings.Contains(strings.Join(l.Notes, ""), "rename it") {
			t.Errorf("%s: got columns %v, notes %q", text, l.Columns, l.Notes)
		}
	}
}

// Rewards of single samples, which a trainer prints among completions, are no steps.
func TestSamples(t *testing.T) {
	var text string
	for i := range 8 {
		text += fmt.Sprintf("Metrics:  {'format_reward': 1.0, 'reward': %d.0}\n", i%2)
	}
	const want = "f: got 8 rows without a step, each with a reward of 0 or 1 and nothing else: they are single samples, want the means of steps"
	if _, err := Read(strings.NewReader(text), "f", Options{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, other := range []string{"{'reward': 0.5}\n", "{'reward': 1.0, 'loss': 0.1}\n"} {
		if _, err := Read(strings.NewReader(text+other), "f", Options{}); err != nil {
			t.Errorf("with %s: %v", other, err)
		}
	}
}

// Notebooks are read by what their cells printed: a table of HTML before texts.
func TestNotebooks(t *testing.T) {
	const page = `<div><progress value='2'></progress>[2/2 00:10]</div><table border=\"1\" class=\"dataframe\">\n<thead><tr style=\"x\"><th>Step</th><th>Training Loss</th><th>reward</th><th>completions / mean_length</th></tr></thead>` +
		`<tbody>\n<tr><td>1</td><td>0.000000</td><td>0.5</td><td>No Log</td></tr><tr><td>2</td><td>0.1</td><td>0.75</td><td>9</td></tr></tbody></table>`
	for name, text := range map[string]string{
		"a table": `{"cells": [{"cell_type": "code", "source": ["x"], "outputs": [{"output_type": "stream", "text": ["a: {'reward': 9, 'step': 1}\n"]}, {"data": {"text/html": ["` + page + `"], "image/png": "x"}}]}], "nbformat": 4}`,
		"text":    `{"nbformat": 4, "cells": [{"outputs": [{"text": ["{'reward': 0.5, 'step': 1}\n", "{'reward': 0.75,"]}, {"text": " 'step': 2}\n"}]}, {"source": "y"}]}`,
		"Kaggle":  `[{"stream_name":"stdout","time":1.5,"data":"{'reward': 0.5, 'step': 1}\n"}` + "\n" + `,{"stream_name":"stderr","time":2.5,"data":"{'reward': 0.75, 'step': 2}\n"}]`,
	} {
		l, err := Read(strings.NewReader(text), "f", Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := rowsOf(l); got != "[1 2] [0.5 0.75]" {
			t.Errorf("%s: got %s, notes %q", name, got, l.Notes)
		}
	}
	for text, want := range map[string]string{
		`{"cells": [{"outputs": []}]}`: "got a notebook without metrics in its outputs",
		`{"cells": [{"outputs": [`:     "got a notebook that is not whole",
	} {
		if _, err := Read(strings.NewReader(text), "f", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
