package logs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Read reads a log of a single run, or the run that the options name.
func Read(r io.Reader, name string, how Options) (*Log, error) {
	all, err := ReadAll(r, name, how)
	return only(name, all, err)
}

// readText reads a log that must be good.
func readText(t *testing.T, text string) *Log {
	t.Helper()
	return readAs(t, "f", text, Options{})
}

func readAs(t *testing.T, name, text string, how Options) *Log {
	t.Helper()
	l, err := Read(strings.NewReader(text), name, how)
	if err != nil {
		t.Fatalf("%.200q: %v", text, err)
	}
	return l
}

// The meaning of reward_std follows from keys that tell TRL's version, and is never guessed.
func TestRewardStd(t *testing.T) {
	const row = `"reward": 0.5, "reward_std": 0.25, "completions/mean_length": 9`
	for _, tt := range []struct {
		name, text string
		want       Quantity
	}{
		{"a column alone", "step,reward,reward_std\n1,0.5,0.25\n", RewardStdAmbiguous},
		{"v0.16", `{"step": 1, "reward": 0.5, "reward_std": 0.25, "rewards/f": 0.5}`, RewardStdWithin},
		{"JSON lines may lack keys", `{"step": 1, ` + row + `}`, RewardStdAmbiguous},
		{"v0.17 on the console", `{'a': 0, ` + row + `}`, RewardStdWithin},
		{"v0.18 on the console", `{'frac_reward_zero_std': 0, ` + row + `}`, RewardStdAmbiguous},
		{"asynchronous", `{"step": 1, ` + row + `, "rewards/f": 0.5, "ratio": 1}`, RewardStdWithin},
		{"v1.0", `{"step": 1, ` + row + `, "vespo/phi_seq_mean": 1}`, RewardStdBatch},
	} {
		l := readText(t, tt.text)
		if c, _ := l.Column(tt.want); c.Key != "reward_std" {
			t.Errorf("%s: got %+v, want %s", tt.name, l.Columns, tt.want)
		}
	}
}

// Scores of evaluation are found whatever the reward is called, and any column can be named.
func TestNamedColumns(t *testing.T) {
	for _, tt := range []struct {
		header         string
		how            Options
		reward, scores string // keys
	}{
		{"step,reward,eval_reward", Options{}, "reward", "eval_reward"},
		{"step,train_reward,grad_norm,kl,eval_reward", Options{}, "train_reward", "eval_reward"},
		{"step,train/reward,train/kl,eval/reward", Options{}, "train/reward", "eval/reward"},
		{"step,train_reward,val_accuracy", Options{}, "train_reward", "val_accuracy"},
		{"step,reward,kl,accuracy", Options{}, "reward", "accuracy"},
		{"step,a,b,reward", Options{Reward: "A", TrueReward: "b"}, "a", "b"},
		{"step,kl,b", Options{Reward: "kl", TrueReward: "b"}, "kl", "b"},
	} {
		n := strings.Count(tt.header, ",")
		text := tt.header + "\n1" + strings.Repeat(",0.5", n) + "\n2" + strings.Repeat(",0.6", n) + "\n"
		l := readAs(t, "f", text, tt.how)
		reward, _ := l.Column(Reward)
		columns, scores := l.Columns, []string(nil)
		if l.Evaluation != nil {
			columns = slices.Concat(columns, l.Evaluation.Columns)
		}
		for _, c := range columns {
			if c.Quantity.Family() == EvalScore && !slices.Contains(scores, c.Key) {
				scores = append(scores, c.Key)
			}
		}
		if reward.Key != tt.reward || !slices.Equal(scores, []string{tt.scores}) {
			t.Errorf("%s: got %q and %q, want %q and %q",
				tt.header, reward.Key, scores, tt.reward, tt.scores)
		}
	}
	_, err := Read(strings.NewReader("step,reward\n1,0\n"), "f", Options{Reward: "x"})
	wantWords(t, "a column that is not there", err, "--reward")
}

// Every note of a log that can be read in more than one way.
func TestNotes(t *testing.T) {
	const numbered = "The file has no steps: rows are numbered, " +
		"and each may be the mean of several optimizer steps."
	for text, want := range map[string]string{
		`{"step": 1, "train/agg/all/a/reward/mean": 1, "train/agg/all/b/reward/mean": 0}`: "" +
			"train/agg/all/b/reward/mean left out: reward is read from train/agg/all/a/reward/mean.",
		"step,reward\n1,0\n2,0\n5,0\n6,0\n": "Rows are unevenly spaced: 1 of 3 distances are not 1.",
		`{"step": 5, "critic/score/mean": 1}{"step": 10, "critic/score/mean": 1}`: "" +
			"Rows are 5 steps apart; each is a single step.",
		"step,reward\n5,0\n10,0\n": "Rows are 5 steps apart and taken for means over 5 steps; " +
			"if rows were left out instead, each is a single step.",
		"step,reward\n1,0\n,0.5\n":                       "1 row of training without step left out.",
		"reward\n0.5\n":                                  numbered,
		"step_time,batch_size,epoch,reward\n1,1,1,0.5\n": numbered,
		"step,_runtime,reward\n1,1,0.5\n": "W&B exports a sample of a long history; " +
			"the artifact RUN-history:v0 holds all of it.",
		`{"step": 1, "reward": 0, "name": "x", "other": 1}`: `1 column not understood: "other".`,
		"_step,_runtime,train/reward\n1,1,0.5\n": "_step counts the calls that log to W&B: " +
			"these are optimizer steps only if the trainer passes its step to W&B, which TRL does not; " +
			"a row may be the mean of several.",
	} {
		wantNotes(t, text, readText(t, text), want)
	}
}

// A folder gives its own state, or that of its newest checkpoint if that is longer.
func TestOpenFolder(t *testing.T) {
	piped := t.TempDir()
	if exec.Command("mkfifo", filepath.Join(piped, string(TrainerState))).Run() == nil {
		_, err := OpenAll(piped, Options{})
		wantWords(t, "a folder with a pipe", err, "got a folder without")
	}
	_, err := Open(t.TempDir(), Options{})
	wantWords(t, "an empty folder", err, "want a log or the output folder of a trainer")
	if _, err := Open(filepath.Join(piped, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	state := func(steps int) []byte {
		var rows []string
		for s := range steps {
			rows = append(rows, fmt.Sprintf(`{"step": %d, "reward": 0.5, "rewards/f/mean": 0.5}`, s+1))
		}
		return []byte(`{"log_history": [` + strings.Join(rows, ", ") + `], "max_steps": 9}`)
	}
	for own, want := range map[int]int{0: 3, 2: 3, 4: 4} {
		files := map[string][]byte{
			"checkpoint-9/trainer_state.json": state(2), "checkpoint-10/trainer_state.json": state(3)}
		if own > 0 {
			files["trainer_state.json"] = state(own)
		}
		l, err := Open(writeFiles(t, files), Options{})
		if err != nil || len(l.Steps) != want || l.Format != (Format{TRL, TrainerState}) {
			t.Errorf("beside a state of %d steps: got %+v, %v, want %d", own, l, err, want)
		}
	}
}

// Memory is that of the rows of the known columns. Of 100 keys a row, three are known; a
// row of the file has 2.2 kB, of memory some 50 bytes.
func TestMemory(t *testing.T) {
	const rows = 10_000
	var other, text strings.Builder
	for i := range 97 {
		fmt.Fprintf(&other, `, "perf/some_timer_%d": 0.%d`, i, i)
	}
	for i := range rows {
		fmt.Fprintf(&text, "{\"step\": %d, \"reward\": 0.5, \"kl\": 0.001%s}\n", i, &other)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := readText(t, text.String())
	runtime.ReadMemStats(&after)
	if len(l.Steps) != rows {
		t.Errorf("got %d rows", len(l.Steps))
	}
	// Growing slices allocate a few times what they hold.
	if got := float64(after.TotalAlloc-before.TotalAlloc) / rows; got > 600 {
		t.Errorf("%.0f bytes allocated per row of %d bytes, want at most 600", got, other.Len())
	}
}

// checkLog fails unless the rows and columns of a log fit.
func checkLog(t *testing.T, l *Log) {
	t.Helper()
	check := func(table *Table, name string) {
		for i, s := range table.Steps {
			if s < 0 || i > 0 && s <= table.Steps[i-1] {
				t.Errorf("%s: steps %v", name, table.Steps)
			}
		}
		for i, c := range table.Columns {
			if len(c.Values) != len(table.Steps) {
				t.Errorf("%s: %s has %d values for %d steps", name, c.Quantity, len(c.Values), len(table.Steps))
			}
			before := table.Columns[max(0, i-1)]
			if c.Meaning == "" || c.Key == "" || c.Quantity.rank() < before.Quantity.rank() {
				t.Errorf("%s: column %d: %+v", name, i, c)
			}
			for _, x := range c.Values {
				if math.IsInf(x, 0) {
					t.Errorf("%s: %s: %v", name, c.Quantity, c.Values)
				}
			}
		}
	}
	check(&l.Table, "training")
	if len(l.Steps) == 0 || l.Averaged < 1 || len(l.Columns) == 0 {
		t.Errorf("%+v", l)
	}
	if l.Evaluation != nil {
		check(l.Evaluation, "evaluation")
	}
}
