//go:build long

package sweeps

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"grposim/sweeps/plan"
	"grposim/sweeps/store"
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
	b.WriteString(" mode not observable | mode absent |\n|---|" + strings.Repeat("---|", len(diagnose.Modes)+2) + "\n")
	for _, truth := range diagnose.Modes {
		fmt.Fprintf(&b, "| %s |", truth)
		for _, m := range diagnose.Modes {
			fmt.Fprintf(&b, " %d |", n.modes[truth][m])
		}
		if truth == diagnose.None {
			b.WriteString(" – | – |\n")
			continue
		}
		fmt.Fprintf(&b, " %d | %d |\n", n.findings[truth][diagnose.NotObservable], n.findings[truth][diagnose.Absent])
	}
	t.Log(b.String())
}

// So it is in two more cells.
func TestLongLocatedThresholdsOfManyArms(t *testing.T) {
	checkManyArms(t, manyArms(rand.New(rand.NewPCG(1, 3)), 3, 8192), 2)
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
	if held := heapOf(func() *plan.Plan { return plan.NewPart(spec, store.Shard{Index: 3, Of: 1000}) }); held > 100*most {
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
