//go:build long

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// otherModule is a program of another module that simulates one cell and prints the
// prediction next to the measurement.
const otherModule = `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"grposim/rom"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

func main() {
	spec, err := config.Load("mine.yaml", []byte("{name: mine, seed: 1, " +
		"bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}, " +
		"policy: {init: fixed-point}, grpo: {group_size: 16, " + os.Args[1] + "kl: {coefficient: 1}}, " +
		"optimizer: {learning_rate: 0.05}, run: {steps: 4000, burn_in: 400, replicas: 64}}"))
	if err != nil {
		log.Fatal(err)
	}
	plan := plan.New(spec)
	outcomes, err := plan.Simulate(context.Background(), plan, 2)
	if err != nil {
		log.Fatal(err)
	}
	cell := &plan.Cells[0]
	p := rom.Predict(theory.Params(&cell.Settings, rom.Unit))
	e, _ := outcomes[cell.ID].Estimate("expected_reward_variance")
	fmt.Printf("measured %.2g, predicted %.2g\n", e.Mean, *p.Exact.StationaryVariance.ExpectedReward)
}
`

// The packages can be imported by another module; a wrong word is named, with what it
// must be.
func TestLongAnotherModule(t *testing.T) {
	root, dir := moduleRoot(t), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module other\n\ngo 1.26\n\nrequire grposim v0.0.0\n\nreplace grposim => " + root + "\n",
		"go.sum":  string(readDocument(t, root, "go.sum")),
		"main.go": otherModule,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	build := exec.Command("go", "build", "-mod=mod", "-ldflags=-s -w", "-o", "other", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for more, want := range map[string]string{
		"":                                 "measured 6.3e-05, predicted 6.3e-05\n",
		"advantage: {baseline: average}, ": `grpo.advantage.baseline: got "average", want mean, leave-one-out, second-best, constant or running-mean`,
	} {
		// a wrong word ends it with exit code 1
		out, _ := exec.Command(filepath.Join(dir, "other"), more).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
}
