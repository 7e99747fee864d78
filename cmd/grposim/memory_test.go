//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// The largest memory that a sweep takes, of several shapes, is that of the forecast, within a fifth of the larger. Other programs on the
// machine delay the collector of garbage, which costs memory: the better of two tries counts.
func TestLongForecastOfMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the largest memory of a process is read from /proc")
	}
	const bandit = `seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.5}}
lag: {interval: 4}
optimizer: {learning_rate: 0.1}
run: {steps: 2, burn_in: 1, replicas: 8}
`
	const seeds = "sweep: [{param: seed, range: {from: 1, to: %d, step: 1}}]\n"
	for name, text := range map[string]string{
		"few":    bandit + fmt.Sprintf(seeds, 100),
		"many":   bandit + fmt.Sprintf(seeds, 12_000),
		"judged": bandit + "policy: {init: fixed-point}\n" + fmt.Sprintf(seeds, 4000) + "checks: [{claim: fixed-point, margin: 0.5}]\n",
		"networks": `seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2, count: 2}], contexts: {task: addition}}
policy: {init: fixed-point, network: {kind: mlp, layers: 1, width: 16, activation: tanh, seed: 1}}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.4}}
optimizer: {learning_rate: 0.3}
run: {steps: 20, replicas: 8}
` + fmt.Sprintf(seeds, 50),
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte("name: "+name+"\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
		said, _ := grposim(t, 0, "sweep", file, "--dry-run", "--json", "--workers", "2")
		var f struct {
			Memory        float64 `json:"memory"`
			JudgingMemory float64 `json:"judging_memory"`
		}
		if err := json.Unmarshal([]byte(said), &f); err != nil {
			t.Fatal(err)
		}
		forecast, took := max(f.Memory, f.JudgingMemory), math.Inf(1)
		for try := 0; try < 2 && took > 1.2*forecast; try++ {
			took = min(took, largestMemory(t, exec.Command(program(t), "sweep", file, "--workers", "2", "--out", filepath.Join(dir, fmt.Sprint(try)))))
		}
		if t.Logf("%s: %.0f MB, forecast %.0f MB", name, took/1e6, forecast/1e6); math.Abs(took-forecast) > 0.2*max(took, forecast) {
			t.Errorf("%s takes %.0f MB, forecast %.0f MB", name, took/1e6, forecast/1e6)
		}
	}
}

// largestMemory runs a command and returns the largest memory that it took, in bytes.
func largestMemory(t *testing.T, c *exec.Cmd) (most float64) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if exit, left := err.(*exec.ExitError); err != nil && (!left || exit.ExitCode() > exitInconclusive || exit.ExitCode() < 0) {
				t.Fatalf("%v: %v", c.Args, err)
			}
			return most
		case <-time.After(5 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)) // it may have ended
			if largest := highWater.FindSubmatch(status); largest != nil {
				kb, _ := strconv.ParseFloat(string(largest[1]), 64)
				most = max(most, 1024*kb)
			}
		}
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)
