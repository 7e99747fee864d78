package explore

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/runs.txt")

// The runs are the same to the last bit everywhere: here, and as WebAssembly, where the long tests
// of tools/explorer run this one.
func TestRunsAreTheSameEverywhere(t *testing.T) {
	const file = "testdata/runs.txt"
	var got strings.Builder
	for _, preset := range Presets() {
		e := must(New().Ensemble(EnsembleRequest{State{preset,
			map[string]string{"run.steps": "100", "run.replicas": "3"}}, 0, 3, nil}))
		for i, run := range e.Runs[:1] { // more are a matter of time
			fmt.Fprintf(&got, "%s %d", preset, i)
			for _, j := range []float64{run[1], run[len(run)/2], run[len(run)-1]} {
				fmt.Fprintf(&got, " %x", j)
			}
			fmt.Fprintln(&got)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got.String() != string(want) {
		t.Errorf("%v: got\n%swant\n%s", err, got.String(), want)
	}
}
