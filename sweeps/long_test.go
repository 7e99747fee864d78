//go:build long

package sweeps

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/change"
	"grposim/training/diagnose"
)

// Of 100 runs of each mode 95 or more are named rightly.
func TestLongTrainedRunsAreNamed(t *testing.T) {
	n := nameTrained(t, 100, 20)
	var b strings.Builder
	b.WriteString("| by construction |")
	for _, m := range diagnose.Modes {
		fmt.Fprintf(&b, " %s |", m)
	}
	b.WriteString(" mode not observable | mode absent |\n|---|" + strings.Repeat("---|",
		len(diagnose.Modes)+2) + "\n")
	for _, truth := range diagnose.Modes {
		fmt.Fprintf(&b, "| %s |", truth)
		for _, m := range diagnose.Modes {
			fmt.Fprintf(&b, " %d |", n.modes[truth][m])
		}
		if truth == diagnose.None {
			b.WriteString(" – | – |\n")
			continue
		}
		fmt.Fprintf(&b, " %d | %d |\n", n.findings[truth][diagnose.NotObservable],
			n.findings[truth][diagnose.Absent])
	}
	t.Log(b.String())
}

// Of 40 healthy runs of a trainer watch ends none, but for at most 1 % of their rows. Of ten runs of
// each failure mode it says the mode that is asked for in nine or more, each from its file alone.
// The table says at which row. That groups have no signal is said after a hundred rows of it.
func TestLongTrainedRunsAreWatched(t *testing.T) {
	const least = 160 // rows
	dir := t.TempDir()
	program, log := filepath.Join(dir, "grposim"), filepath.Join(dir, "log.jsonl")
	build := exec.Command("go", "build", "-o", program, "grposim/cmd/grposim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The row since which a look at the log has ended it, 0 if none has.
	watch := func(run *trained, args ...string) int {
		args = append([]string{"watch", log, "--every", "1ms", "--until-idle", "2ms"}, args...)
		var stdout strings.Builder
		c := exec.Command(program, args...)
		c.Stdout = &stdout
		err := c.Run()
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		step := 0
		if _, said := fmt.Sscanf(lines[len(lines)-1], "step %d:", &step); said != nil {
			return 0
		}
		if code := c.ProcessState.ExitCode(); code != 1 {
			t.Errorf("%s: exit code %d, %v\n%s", run.about, code, err, &stdout)
		}
		row, _ := slices.BinarySearch(run.log.Steps, step)
		return row + 1
	}
	table := "| by construction | runs | rows of a run | ended | the mode is said |\n|---|---|---|---|---|\n"
	for i, truth := range diagnose.Modes {
		rng := rand.New(rand.NewPCG(20261129, uint64(i)))
		runs, rows, alarmed := 10, 0, 0
		if truth == diagnose.None {
			runs = 40
		}
		var ended, said []float64
		for range runs {
			run := trained{}
			for len(run.log.Steps) < least {
				d := draw(rng, truth)
				run = d.train(rng)
			}
			if err := os.WriteFile(log, []byte(run.lines()), 0o644); err != nil {
				t.Fatal(err)
			}
			rows += len(run.log.Steps)
			if row := watch(&run); row > 0 {
				ended = append(ended, float64(row))
				alarmed += len(run.log.Steps) - row + 1
				t.Logf("%s: ended at row %d of %d", run.about, row, len(run.log.Steps))
			}
			if truth == diagnose.None {
				continue
			}
			if row := watch(&run, "--mode", string(truth)); row > 0 {
				said = append(said, float64(row))
			} else {
				t.Logf("%s: not said", run.about)
			}
		}
		table += fmt.Sprintf("| %s | %d | %d | %s | %s |\n", truth, runs, rows/runs,
			atRows(ended), atRows(said))
		if truth == diagnose.None && 100*alarmed > rows {
			t.Errorf("%d of %d rows of healthy runs are behind an alarm, want at most 1 %%", alarmed, rows)
		}
		if truth != diagnose.None && len(said) < 9*runs/10 {
			t.Errorf("%s is said of %d of %d runs", truth, len(said), runs)
		}
	}
	t.Log("\n" + table)
}

// atRows says of how many runs something was said, and at which rows.
func atRows(rows []float64) string {
	if len(rows) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, at row %.0f (%.0f to %.0f)", len(rows), change.Median(rows),
		slices.Min(rows), slices.Max(rows))
}

// lines is the log as JSON lines with the keys of TRL; a step that is evaluated has another line.
func (t *trained) lines() string {
	var b strings.Builder
	names := []string{"reward", "frac_reward_zero_std", "entropy", "kl", "approx_kl",
		"clip_ratio/region_mean", "grad_norm"}
	l := &t.log
	columns := [][]float64{l.Reward, l.ZeroVariance, l.Entropy, l.KL, l.KLOld, l.ClipFraction, l.GradientNorm}
	for row, step := range l.Steps {
		values := map[string]float64{"step": float64(step)}
		for i, c := range columns {
			if x := c[row]; !math.IsNaN(x) {
				values[names[i]] = x
			}
		}
		if len(values) > 1 {
			line, _ := json.Marshal(values)
			fmt.Fprintf(&b, "%s\n", line)
		}
		if x := l.TrueReward[row]; !math.IsNaN(x) {
			fmt.Fprintf(&b, `{"step": %d, "eval_reward": %g}`+"\n", step, x)
		}
	}
	return b.String()
}

// A plan holds less than 1.2 kB a cell, of which the keys of networks take 0.13, and a shard
// nothing of the cells of others but their work.
func TestLongMemoryOfAPlan(t *testing.T) {
	const cells, most = 8000, 1200
	text := strings.TrimSuffix(resting, "checks:\n") + `sweep:
  - {param: optimizer.learning_rate, range: {from: 0.001, to: 0.08, step: 0.001}}
  - {param: seed, range: {from: 1, to: 100, step: 1}}
`
	spec := planText(t, text).Spec
	if spec.Size() != cells {
		t.Fatalf("%d cells", spec.Size())
	}
	plan.New(spec) // fills what is computed once
	if held := heapOf(func() *plan.Plan { return plan.New(spec) }) / cells; held > most {
		t.Errorf("a plan holds %.0f bytes a cell, want at most %d", held, most)
	}
	held := heapOf(func() *plan.Plan { return plan.NewPart(spec, store.Shard{Index: 3, Of: 1000}) })
	if held > 100*most {
		t.Errorf("a shard of 8 cells holds %.0f bytes", held)
	}
}

// heapOf returns the bytes of heap memory that what make returns holds.
func heapOf[T any](make func() T) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	held := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(held)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
