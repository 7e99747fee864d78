package logs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wantRows fails unless a log has these steps, rewards and values of other columns.
func wantRows(t *testing.T, about string, l *Log, want string, others ...Quantity) {
	t.Helper()
	got := fmt.Sprint(l.Steps)
	for _, q := range append([]Quantity{Reward}, others...) {
		c, _ := l.Column(q)
		got += fmt.Sprint(" ", c.Values)
	}
	if got != want {
		t.Errorf("%s: got %s, want %s; notes %q", about, got, want, l.Notes)
	}
}

// wantNotes fails unless a log has a note; "" is for one without notes.
func wantNotes(t *testing.T, about string, l *Log, want string) {
	t.Helper()
	if want == "" && len(l.Notes) > 0 || want != "" && !slices.Contains(l.Notes, want) {
		t.Errorf("%s: got notes %q, want %q", about, l.Notes, want)
	}
}

// wantError fails unless a text is refused by a message with these words.
func wantError(t *testing.T, text, want string) {
	t.Helper()
	_, err := Read(strings.NewReader(text), "f", Options{})
	wantWords(t, text, err, want)
}

// wantWords fails unless an error has these words; a line feed is its end.
func wantWords(t *testing.T, about string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error()+"\n", want) {
		t.Errorf("%.200q: got %v, want %s", about, err, want)
	}
}

// Forms in which programs write, and consoles, terminals and people break, the same two rows.
func TestTextForms(t *testing.T) {
	rows := strings.NewReplacer("$a", "{'reward': 0.5}", "$b", "{'reward': 0.75}",
		"$1", "{'step': 1, 'reward': 0.5}", "$2", "{'step': 2, 'reward': 0.75}",
		"$s", "critic/score/mean", "$r", "rollout/raw_reward")
	for _, tt := range [][2]string{
		{"a dict over several lines", "{'reward': 0.5,\n 'step': 1}\n{'step': 2,\n 'reward':\n 0.75}\n"},
		{"Ray", "(T pid=1) {'reward': 0.5,\n(T pid=1)  'step': 1}\n(T pid=2, ip=1.2.3.4) $2"},
		{"cut within a key", "{'step': 1, 'rew\nard': 0.5, 'a': [1,\n2]}\n{'step': 2, 'reward': 0.75}\n"},
		{"cut within a number", "{'step': 1, 'reward': 0.\n5}\n{'step': 2, 'reward': 7.5e\n-1}\n"},
		{"a dict that breaks off", "{'step': 9, 'reward': 0.1, 'kl': 0.\n$1\n{'step': 9, 'rew\n$2\n"},
		{"colours", "\x1b[1m{'step'\x1b[0m: \x1b[36m1\x1b[0m, 'reward': 0.5}\n\x1b]0;title\a$2\n"},
		{"colours of a web page", "> \ufffd[36m(T pid=1)\ufffd[0m │ $r │ 0.5 │\n" +
			"> [36m(T pid=1)[0m │ $r │ 0.75 │\n"},
		{"without braces", "'step': 1, 'reward': 0.5\n'step': 2, 'rew\nard': 0.75\n"},
		{"without braces, by line", "'step': 1,\n'reward': 0.5\n'step': 2,\n'reward': 0.75\n"},
		{"verl, cut before a dash", "step:1 - a/b:1\n - $s:0.5\nstep:2 - critic/score/\nmean:0.75\n"},
		{"verl, cut after a dash", "step:1 - a:1 -\n$s:0.5\nstep:2 - $s:0.7\n5\n(R pid=3) step of 5\n"},
		{"verl, then other text", "step:1 - $s:0.5\nwandb: Synced\nstep:2 - $s:0.75\n10.0.0.1:826\n"},
		{"a configuration", "{'lr': 1e-06}\nStep 1/9\n• Reward: 0.5\nStep 2/9\n• Reward: 0.75\n"},
		{"an unfinished dict", "{'step': 1,\n 'reward': 0.5}\n$2\n{'step': 3,\n 'reward': 1,\n 'k': 0.1"},
		{"a quote that stays open", "{'reward': 0.1, 'text': \"it\n$1\n$2\n"},
		{"labels", "x rollout 1: {'$r': 0.5}\nx rollout 2/9 metrics: {'$r': 0.75}\nx step 1 {'loss': 0.1}\n"},
		{"headings", "Step 1/9\n• Reward: 0.5\nvalidation of 3: 4\nStep 2/9\n• Reward: 0.75\n"},
		{"per cent", "Step 1 | Reward 50% | x\nStep 2 | Reward: 75.0 % | x\n"},
		{"carriage returns", "  1%|  | 1/99 [00:01<01:00]\r$a\r  2%|  | 2/99 [00:01<01:00]$b\r\n"},
		{"a bar without a picture", "1/99 [00:01<01:00]\n$a\n2/99 [00:01<01:00]\n$b\n"},
		{"a table", "text | with bars\n\nStep | reward\n:-: | -\n1 | 0.5 ± 0.05\n2 | 0.75 (0.05)\n\nmore"},
		{"two tables", "|Step|reward|\n|-|-|\n|1|0.5|\n\nthen\n|reward|step|\n|-|-|\n|0.75|2|\n"},
		{"tabs", "a table:\nStep\treward\tf\n1\t0.5\t\n2\t0.75\t—\n"},
		{"pandas", "df\n   step  reward   kl\n0     1    0.50   1e-05\n1     2    0.75 -0.0001\nall\n"},
		{"columns of text", "Step  Training Loss  reward\n1  0.0  0.5\n2  0.0  0.75\n"},
		{"only a closing brace", "'reward': 0.5, 'step': 1}\n'reward': 0.75, 'step': 2}\n"},
		{"bars between headings", "Step 1/9\nx: 100%|█| 40/40 [00:10<00:00]\n• Reward: 0.5\n" +
			"Step 2/9\nx: 100%|█| 40/40 [00:08<00:00]\n• Reward: 0.75\n"},
		{"keys left out", "{'step': 1, 'reward': 0.5, ...}\n{'reward': 0.75, ..., 'step': 2}\n"},
		{"a table in a comment", "# t\n# | Step | reward |\n# |--|--|\n# | 1 | 0.5   |\n#\n# |2|0.75|\n"},
		{"a table that is quoted", "> | Step | reward |\n> |--|--|\n>> | 1 | 1/2 |\n> | 2 | 3/4 |\n"},
		{"decimals after a comma", "step;reward;kl\n1;0,5;1.000,125\n2;0,750;0,1\n"},
		{"decimals after a comma, with tabs", "step\treward\tkl\n1\t0,5\t1,234\n2\t0,75\t0,1\n"},
		{"a page", "<p>text</p>\n<table><tr><th>Step</th><th>reward</th></tr>\n" +
			"<tr><td>1</td><td>0.5</td></tr><tr><td>2</td><td>0.75</td></tr></table>"},
		{"long form", "name,value,step,timestamp\ntrain/kl,0.1,1,9\ntrain/reward,0.5,1,9\n" +
			"nobody,x,1,9\ntrain/kl,0.2,2,9\ntrain/reward,0.75,2,9\n"},
		{"long, by key", "run,key,value,step\na,kl,1,1\na,reward,0.5,1\na,reward,0.75,2\na,reward,0.6,"},
		{"iterations of Ray", "reward,training_iteration,config/lr,epoch\n0.5,1,1,0\n0.75,2,1,0\n"},
		{"CSV with its header again, and comments", "# run\nstep,reward,kl\n1,0.5,0\nstep,reward,kl\n# x\n2,0.75,0\n"},
		{"pairs after a step", "Step 1/9: reward 0.5, kl 0.01\nStep 2/9: reward 0.75, kl 0.02\n"},
		{"CSV of R", "\"step\",\"reward\",\"kl\"\n1,0.5,NA\n2,0.75,NULL\n"},
		{"CSV of a spreadsheet", "\ufeffstep,reward\r\n1,0.5\r\n2,0.75\r\n"},
		{"tabs without an end", "step\treward\tkl\n1\t0.5\t0\n2\t0.75\t0"},
		{"a cut last cell of CSV", "step,reward,kl\n1,0.5,1e-05\n2,0.75,4.1e"},
		{"a bar of something else before", "Loading: 100%|██| 2/2 [00:00<00:00]\n" +
			"E [1/1](1/9), reward: 0.5, kl: 0.1\nE [1/1](2/9), reward: 0.75, kl: 0.1\n"},
		{"a bar in its own line, drawn again", "A: 50%|█ | 1/2 [00:01<00:01, reward=0.5, kl=0]\r" +
			"A: 100%|██| 2/2 [00:01<00:01, reward=0.7, kl=0]\r" +
			"A: 100%|██| 2/2 [00:02<00:00, reward=0.75, kl=0]\n"},
		{"a printed sample before rows", "sample: {'reward': 1.0}\n" +
			strings.Repeat("step: 1, reward: 0.5, kl: 0\n", 5) + "step: 2, reward: 0.75, kl: 0\n"},
		{"two lines", "kl: 0.1  lr: 1\nreward: 0.5  loss: 1\n\nkl: 0.2  lr: 1\nreward: 0.75  loss: 1\n"},
		{"several processes", "[rank0]: $a\n[rank1]: $a\n[rank1]: $b\n[rank0]: $b\n"},
		{"several processes of srun", "0: $a\n1: $a\n0: $b\n1: {'reward': 0.7}\n"},
		{"several processes of torchrun", "[default0]:$a\n[default1]:$a\n[default0]:$b\n[default1]:$b\n"},
		{"several processes of mpirun", "[1,0]<stdout>:$a\n[1,1]<stdout>:$a\n" +
			"[1,0]<stdout>:$b\n[1,1]<stdout>:$b\n"},
		{"several processes of Ray", "(W pid=1) $a\n(W pid=2, ip=1) $a\n(W pid=1) $b\n(W pid=2, ip=1) $b\n"},
		{"a process that was started again", "(W pid=1) $a\n(W pid=2) $b\n"},
		{"samples among rows", "he says {'reward': 1.0}\n" +
			"{'reward': 0.5, 'kl': 0, 'step': 1}\n{'loss': 0, 'kl': 0, 'step': 1}\n" +
			strings.Repeat("{'lr': 0, 'step': 1}\n", 4) + "$2\n"},
		{"frames", "╭── Step 1/9 ──╮\n│ reward: 0.5  │\n╰──╯\n╭── Step 2/9 ──╮\n│ reward: 0.75 │\n╰──╯\n"},
		{"several processes, pairs", "Rank 0: step 1 reward=0.5\nRank 1: step 1 reward=0.6\n" +
			"Rank 1: step 2 reward=0.7\nRank 0: step 2 reward=0.75\n"},
		{"evaluation", "[train] step 1: reward=0.5 kl=0\n[eval] step 1: reward=0.1 kl=0\n" +
			"[train] step 2: reward=0.75 kl=0\nValidation at step 2: reward=0.1 kl=0\n"},
		{"two words", "step: 1, Format Reward: 1, Mean Reward: 0.5\n" +
			"step: 2, Format Reward: 1, Mean Reward: 0.75\n"},
		{"one known word", "at step 1 its reward: .5, kl: 0\nat step 2 its reward: 0.75, kl: 0\n"},
		{"steps as labels", "1: $a\n2: $b\n"},
		{"bars and equal signs", "Step 1 | mean_reward=0.5 kl=0.2 lr=0\nStep 2 | mean_reward=0.75 | kl=0\n"},
		{"bars, in small letters", "step 1 | reward 0.5 | kl 0.01\nstep 2 | reward 0.75 | kl 0.02\n"},
		{"brackets", "[00:01][t.py:88] Iter [1/9] reward: 0.5, kl: 0\n" +
			"[00:02][t.py:88] Iter [2/9] reward: 0.75, kl: 0\n"},
		{"two spaces", "[GRPO] step 1/9  reward 0.5  kl 0.2\n[GRPO] step 2/9  reward 0.75  kl 0.2\n"},
		{"a bar that is drawn again", "$a\n 1%|  | 1/9 [00:01<01:00]\n 2%|  | 2/9 [00:01<01:00]\n$b\n"},
		{"semicolons and quotes", "\"step\";\"note\";\"reward\"\n1.0;\"a;\nb\";0.5\n2e0;;0.75\n"},
		{"JSON lines", "{\"step\": 1, \"reward\": 0.5}\r\n\r\n{\"step\": 2, \"reward\": 7.5e-1}\n"},
		{"a JSON list", "\n [{\"step\": 1, \"reward\": 0.5},\n {\"step\": 2, \"reward\": 0.75}]"},
		{"escapes, and no numbers", `{"st\u0065p": 1, "reward": "0.5", "a\tb": [[], {}, "]", null]}` +
			` {"step": 2, "reward": 0.75, "x": {}}`},
		{"JSON over several lines", "{\n  \"step\": 1,\n  \"train\": {\"reward\": 0.5}\n}\n" +
			"{\"step\": 2, \"train/reward\": 0.75}"},
		{"an empty dict and a broken one", "[2026-01-01] INFO start\n{'step': 1, 'reward': 0.5,}\r\n" +
			"{}{'step': True, 'reward': }{\"step\": 2, \"reward\": 0.75}\n"},
		{"verl, prose", "step:1 - val-core/a:1 - $s:0.5\nsteps of 5\nx step:2 - $s:np.float32(0.75)\n"},
		{"a dict after a logger's words", "06-18 | INFO | 'reward/avg_raw_reward': '0.5', 'trainer/global_step': '1'\n" +
			"06-18 | INFO | 'reward/avg_raw_reward': '0.75', 'trainer/global_step': '2'\n"},
		{"a dict of two lines", "rollout 1: ... '$r': 0.5,\n  'rollout/x': 1.0\nstep 1: {'train/loss': 0.1}\nrollout 2: '$r': 0.75\n"},
		{"rows written twice", "step,my/reward\n1,0.5\n2,0.75\n2,0.75\n"},
		{"other cases", `{"Step": 1, "REWARD": 0.5}{"STEP": 2, "reward": 0.75}`},
	} {
		wantRows(t, tt[0], readText(t, rows.Replace(tt[1])), "[1 2] [0.5 0.75]")
	}
}

// Slime counts steps and rollouts, of which each may have several steps. Only a step may repeat its
// number as a key.
func TestStepsOfRollouts(t *testing.T) {
	for _, key := range []string{"", "'train/step': $1, "} {
		l := readText(t, regexp.MustCompile(`(\d): {'t`).ReplaceAllString(
			"rollout 0: {'rollout/raw_reward': 0.5}\nstep 0: {'train/loss': 0}\n"+
				"step 1: {'train/loss': 0.1}\nrollout 1: {'rollout/raw_reward': 0.75}\n"+
				"step 2: {'train/loss': 0.2}\nstep 3: {'train/loss': 0.3}\n", "$1: {"+key+"'t"))
		wantRows(t, key, l, "[0 1 2 3] [0.5 NaN 0.75 NaN] [0 0.1 0.2 0.3]", Loss)
		wantNotes(t, key, l, "Steps are counted, of which a rollout has 2: it stands at its first.")
	}
}

// The line that transformers write after the last step is no row, wherever it stands.
func TestClosingLine(t *testing.T) {
	const rows = `{"reward": 0.5, "step": 1}%s{"reward": 0.75, "step": 2}%s` +
		`{"train_runtime": 60.1, "train_loss": 0.1, "reward": 9, "step": 2}`
	for _, text := range []string{
		fmt.Sprintf(rows, "", ""),
		`{"log_history": [` + fmt.Sprintf(rows, ",", ",") + `]}`,
		strings.ReplaceAll(fmt.Sprintf(rows+"\n", "\n", "\n"), `"`, "'"),
		"step,reward,train/train_runtime\n1,0.5,\n2,0.75,\n2,9,60.1\n",
		"step,train/loss,train/reward,train/train_runtime\n1,0,0.5,\n2,0,0.75,60\n", // in the last row
	} {
		wantRows(t, text, readText(t, text), "[1 2] [0.5 0.75]")
	}
}

// A row with a key that only rows of training have is one of both. Other rows with a key of
// evaluation are of evaluation alone, with the keys that they write without the prefix.
func TestRowOfBoth(t *testing.T) {
	l := readText(t, `{"step": 1, "reward": 0.5, "learning_rate": 1e-6, "eval_reward": 0.25,
 "completions/mean_length": 100, "rewards/f/mean": 0.5}
{"step": 2, "reward": 0.75, "completions/mean_length": 90, "rewards/f/mean": 0.5, "eval_loss": 0.1}
{"step": 3, "reward": 1, "loss": 0.1, "completions/mean_length": 80, "rewards/f/mean": 0.5}
`)
	wantRows(t, "training", l, "[1 3] [0.5 1]")
	l.Table = *l.Evaluation
	wantRows(t, "evaluation", l, "[1 2] [] [0.25 NaN] [NaN 90]", EvalScore, LenMean)
	l = readText(t, `{"step": 1, "type": "value", "reward": 0.5}{"step": 1, "reward": 0.25, "split": "eval"}`)
	wantRows(t, "training of a split", l, "[1] [0.5]")
	l.Table = *l.Evaluation
	wantRows(t, "evaluation of a split", l, "[1] [] [0.25]", EvalScore)
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
	const verl = `{"critic/score/mean": 1, "actor/lr": 0}`
	for _, tt := range []struct {
		text    string
		percent string
		of      Quantity
		values  string // "": there is no column
		note    string
	}{
		{column("entropy", 1, -5, -6), "", Entropy, "[1 NaN NaN]",
			"entropy: 2 values outside of [0, ∞) left out, the first -5 at step 6."},
		{column("grad_norm", 1, -1), "", GradNorm, "[1 NaN]",
			"grad_norm: 1 value outside of [0, ∞) left out, the first -1 at step 6."},
		{column("staleness", -2, 1), "", Staleness, "[NaN 1]",
			"staleness: 1 value outside of [0, ∞) left out, the first -2 at step 5."},
		{column("kl", -0.003, 0.001), "", KLRef, "[-0.003 0.001]", ""}, // a k1 estimate can be negative
		{column("grpo_loss/kl_divergence_mean", -0.003, -0.1, 2), "", KLRef, "[-0.003 NaN 2]",
			"grpo_loss/kl_divergence_mean: 1 value outside of [0, ∞) left out, the first -0.1 at step 6."},
		{column("clip_any", 0, 1.0000001, -1e-9), "", ClipAny, "[0 1.0000001 -1e-09]", ""},
		{column("frac_zero_std", 0.5, 0.25, 200), "", FracZeroStd, "[0.5 0.25 NaN]",
			"frac_zero_std: 1 value outside of [0, 1] left out, the first 200 at step 7."},
		{column("Frac_Zero_Std", 0, 12.5, 0.5, 25), "", FracZeroStd, "",
			"Frac_Zero_Std: not believed, because shares are in [0, 1] and it is 12.5 at step 6; " +
				"if it is in per cent, say --percent Frac_Zero_Std."},
		{column("frac_zero_std", 0, 12.5, 0.5), "FRAC_zero_std", FracZeroStd, "[0 0.125 0.005]", ""},
		{column("frac_zero_std", 0, 0.5), "len_clipped", FracZeroStd, "[0 0.5]",
			"--percent len_clipped: the log has no share of that name."},
		{column("actor/entropy_loss", -0.5, 0, -0.25) + verl, "", Entropy, "[0.5 -0 0.25]",
			"actor/entropy_loss is nowhere above 0: read as a loss, the entropy with the opposite sign."},
		{column("actor/entropy_loss", -0.5, 0.5) + verl, "", Entropy, "[NaN 0.5]",
			"actor/entropy_loss: 1 value outside of [0, ∞) left out, the first -0.5 at step 5."},
	} {
		l := readAs(t, "f", tt.text, Options{Percent: strings.Fields(tt.percent)})
		c, has := l.Column(tt.of)
		if has != (tt.values != "") || has && fmt.Sprint(c.Values) != tt.values {
			t.Errorf("%s: got %v, want %s", tt.text, c.Values, tt.values)
		}
		wantNotes(t, tt.text, l, tt.note)
	}
}

// What looks like metrics and is not understood is quoted with its line, the first few.
func TestUnread(t *testing.T) {
	l := readText(t, "Step  kl  reward\n1  0.1  0.5\n2  0.5\n3  high  0.75\nthat is all\n")
	wantRows(t, "a table", l, "[1 3] [0.5 0.75]")
	const why = "was not understood: "
	wantNotes(t, "a table", l, `Line 3, "2  0.5", `+why+"it has 2 cells, the table 3 columns.")
	wantNotes(t, "a table", l, `Line 4, "kl: high", `+why+"want a number.")
	wantError(t, "step,reward\n1,\""+strings.Repeat("x", 2*longRecord), "is a quote not closed?")
	wantNotes(t, "prose", readText(t, "it says 'reward': 0.9 there\n{'reward': 0.5, 'step': 1}\n"),
		`Line 1, "it says 'reward': 0.9 there", `+why+"a dict without its braces, and with a single key.")
	text, want := "{'step': 1, 'reward': 0.5}\n", []string(nil)
	for i := range 5 {
		text += fmt.Sprintf("{'reward': 0.%d, 'kl': oops}\n", i)
		want = append(want, fmt.Sprintf(`Line %d, "{'reward': 0.%d, 'kl': oops}", `+why+
			"a dict that breaks off or is mixed with other text.", i+2, i))
	}
	want = append(want[:3], "2 more were not understood.")
	if got := readText(t, text).Notes; !slices.Equal(got, want) {
		t.Errorf("got notes %q", got)
	}
}

// A log without a reward is a log; one without a known quantity is none.
func TestNoReward(t *testing.T) {
	const rename = `if "my_score" is the mean reward, rename it to reward`
	l := readText(t, `{"step": 1, "grad_norm": 0.5, "my_score": 1}`)
	wantRows(t, "no reward", l, "[1] [] [0.5]", GradNorm)
	wantNotes(t, "no reward", l, "The log has no mean reward of training; "+rename+".")
	// Rows without steps are numbered, but not of a learning rate alone.
	l = readText(t, "{\"lr\": 1}\n{\"kl\": 1}\n{\"entropy\": 1}\n")
	wantRows(t, "no steps", l, "[1 2] []")
	wantError(t, `{"step": 1, "lr": 1, "my_score": 1}`, "f: got no key of training that is known, "+
		"want reward, critic/score/mean or another of grposim help log-keys; "+
		`its keys are "my_score", "step", "lr"; `+rename+"\n")
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
	for text, steps := range map[string]string{
		bars("5/99") + bars("10/99") + bars("20/99"):                             "[5 10 20]",
		bars("9/9", "5/99", "1/8") + bars("7/7", "10/99", "1/8"):                 "[5 10]",
		bars("9/9") + bars("9/9"):                                                "[1 2]",
		bars("3/9") + bars("3/9"):                                                "[1 2]",
		bars() + bars("10/99"):                                                   "[1 2]",
		"• Reward: 0.5\n 5/9 [00:01<00:02]\n• Reward: 0.7\n 7/9 [00:01<00:02]\n": "[5 7]",
		bars("20/99") + bars("20/99") + bars("50/99") + bars("50/99"):            "[1 2 3 4]",
	} {
		if l := readText(t, text); fmt.Sprint(l.Steps) != steps {
			t.Errorf("%s: got steps %v, want %s", text, l.Steps, steps)
		}
	}
}

// A table of the same run that is pasted again with more columns gives its rows more values. Rows
// that are written twice are one, and rows that differ are those of a resumed run.
func TestPastedAgain(t *testing.T) {
	const first = "|Step|reward|kl|\n|-|-|-|\n|1|0.5|0.1|\n|2|0.75|0.2|\n|3|0.8|0.3|\n\n"
	for _, more := range []string{"|Step|reward|grad_norm|\n|1|0.5|7|\n|2|0.75|8|\n", "|Step|grad_norm|\n|1|7|\n|2|8|\n"} {
		l := readText(t, first+more)
		wantRows(t, "more columns", l, "[1 2 3] [0.5 0.75 0.8] [7 8 NaN]", GradNorm)
		wantNotes(t, "more columns", l, "")
	}
	l := readText(t, first+"|Step|reward|kl|\n|-|-|-|\n|2|0.7|0.2|\n")
	wantRows(t, "others", l, "[1 2] [0.5 0.7] []", GradNorm)
	if !slices.Equal(l.Resumes, []int{2}) {
		t.Errorf("resumed from %v, notes %q", l.Resumes, l.Notes)
	}
}

// Several updates of a batch: rows between those of a new batch lack the reward, and are rows.
func TestRowsBetweenBatches(t *testing.T) {
	l := readText(t, `{'loss': 0.1, 'reward': 0.5, 'clip_ratio/low_mean': 0, 'clip_ratio/high_mean': 0}
{'loss': 0.2, 'clip_ratio/low_mean': 0.01, 'clip_ratio/high_mean': 0.0}
{'loss': 0.3, 'reward': 0.75, 'clip_ratio/low_mean': 0.0, 'clip_ratio/high_mean': 0.0}
`)
	wantRows(t, "updates", l, "[1 2 3] [0.5 NaN 0.75] [0 0.01 0]", ClipLow)
}

// Logs of other kinds of training say so.
func TestOtherTraining(t *testing.T) {
	for _, tt := range [][2]string{
		{"{'loss': 0.5, 'grad_norm': 1.5, 'rewards/chosen': 0.1, 'rewards/rejected': -0.1}\n",
			"a log of preference optimization or of a reward model (rewards/chosen), not of GRPO."},
		{`{"train/reward": 0, "train/global_step": 9, "_wandb": {"runtime": 5}}`, "the summary of " +
			"W&B (_wandb/runtime), the last values of a run and not its rows: export its history."},
		{"{'loss': 0.5, 'mean_reward': 1.5, 'accuracy': 0.7, 'margin': 1}\n",
			"a log of preference optimization or of a reward model (margin), not of GRPO."},
		{"{'loss': 1.5, 'grad_norm': 1.5, 'mean_token_accuracy': 0.7}\n",
			"a log of supervised fine-tuning (mean_token_accuracy), not of GRPO."},
		{"step:1 - critic/vf_loss:0.1 - critic/score/mean:0.5 - actor/grad_norm:0.1\n",
			"a log of PPO (critic/vf_loss), which has a value function, not of GRPO."},
		{"{'loss': 1.5, 'grad_norm': 1.5}\n",
			"a log of training by a loss alone, not of GRPO: it has no reward."},
	} {
		l := readText(t, tt[0])
		wantNotes(t, tt[0], l, "This is "+tt[1])
		isPair := func(c Column) bool { return strings.HasPrefix(c.Key, "rewards/") }
		notes := strings.Join(l.Notes, "")
		if slices.ContainsFunc(l.Columns, isPair) || strings.Contains(notes, "rename it") {
			t.Errorf("%s: got columns %v, notes %q", tt[0], l.Columns, notes)
		}
	}
}

// Rewards of single samples, which a trainer prints among completions, are no steps.
func TestSamples(t *testing.T) {
	var text string
	for i := range 8 {
		text += fmt.Sprintf("Metrics:  {'format_reward': 1.0, 'reward': %d.0}\n", i%2)
	}
	wantError(t, text, "f: got 8 rows without a step, each with a reward of 0 or 1 "+
		"and nothing else: they are single samples, want the means of steps\n")
	for _, other := range []string{"{'reward': 0.5}\n", "{'reward': 1.0, 'loss': 0.1}\n"} {
		readText(t, text+other)
	}
}

// Notebooks are read by what their cells printed: a table of HTML before texts.
func TestNotebooks(t *testing.T) {
	const page = `<div><progress value='2'></progress>[2/2 00:10]</div>` +
		`<table border=\"1\" class=\"dataframe\">\n<thead><tr style=\"x\"><th>Step</th>` +
		`<th>Training Loss</th><th>reward</th><th>completions / mean_length</th></tr></thead><tbody>\n` +
		`<tr><td>1</td><td>0.000000</td><td>0.5</td><td>No Log</td></tr>` +
		`<tr><td>2</td><td>0.1</td><td>0.75</td><td>9</td></tr></tbody></table>`
	for name, text := range map[string]string{
		"a table": `{"cells": [{"cell_type": "code", "source": ["x"], "outputs": [` +
			`{"output_type": "stream", "text": ["a: {'reward': 9, 'step': 1}\n"]},` +
			` {"data": {"text/html": ["` + page + `"], "image/png": "x"}}]}], "nbformat": 4}`,
		"text": `{"nbformat": 4, "cells": [{"outputs": [{"text": ["{'reward': 0.5, 'step': 1}\n",` +
			` "{'reward': 0.75,"]}, {"text": " 'step': 2}\n"}]}, {"source": "y"}]}`,
		"Kaggle": `[{"stream_name":"stdout","time":1.5,"data":"{'reward': 0.5, 'step': 1}\n"}` + "\n" +
			`,{"stream_name":"stderr","time":2.5,"data":"{'reward': 0.75, 'step': 2}\n"}]`,
	} {
		wantRows(t, name, readText(t, text), "[1 2] [0.5 0.75]")
	}
	wantError(t, `{"cells": [{"outputs": []}]}`, "got a notebook without metrics in its outputs")
	wantError(t, "wandb: Run summary:\nwandb: train/reward 0.7\n", "got the summary that W&B prints")
	wantError(t, `{"cells": [{"outputs": [`, "got a notebook that is not whole")
}
