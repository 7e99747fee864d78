package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"grposim/sim/measure"
)

// The peers in C, which have targets.
const (
	scalarC = "scalar C"
	vectorC = "vectorised C"
)

// tools holds the paths of the programs and folders that peers need.
type tools struct {
	peers    string // folder with their sources
	python   string // Python interpreter with NumPy and Numba
	compiler string // C compiler
	work     string // folder for compiled programs
}

// find returns the peers that can run on this machine, and for each of the others the
// reason why it cannot.
func (t *tools) find(ctx context.Context) (peers []contender, missing []string, err error) {
	if _, err := exec.LookPath(t.compiler); err != nil {
		missing = append(missing, fmt.Sprintf("C is skipped: no %s (Debian: gcc libc6-dev)", t.compiler))
	} else {
		var wide []string
		if runtime.GOARCH == "amd64" {
			wide = []string{"-mprefer-vector-width=512"}
		}
		for _, program := range []struct {
			name, file   string
			largestGroup int
			flags        []string
		}{
			{scalarC, "scalar.c", 0, nil},
			{vectorC, "lanes.c", 64, append(wide, "-ffast-math")},
		} {
			binary := filepath.Join(t.work, program.file+".out")
			flags := slices.Concat([]string{"-O3", "-march=native"}, program.flags, []string{"-o", binary, filepath.Join(t.peers, program.file), "-lm"})
			if text, err := exec.CommandContext(ctx, t.compiler, flags...).CombinedOutput(); err != nil {
				return nil, nil, fmt.Errorf("%s: %w\n%s", program.file, err, text)
			}
			peers = append(peers, t.contender(contender{name: program.name, replicas: 256, largestGroup: program.largestGroup}, binary))
		}
	}
	for _, script := range []struct {
		name, file, module     string
		replicas, largestGroup int
	}{
		{"Numba", "numba_prange.py", "numba", 256, 0},
		{"NumPy counts", "numpy_counts.py", "numpy", 2048, 0},
		{"NumPy arms", "numpy_arms.py", "numpy", 2048, 64},
	} {
		if t.version(ctx, script.module) == "" {
			missing = append(missing, fmt.Sprintf("%s is skipped: no %s in %s (Debian: python3-%[2]s)", script.name, script.module, t.python))
			continue
		}
		c := contender{name: script.name, replicas: script.replicas, largestGroup: script.largestGroup, mostArms: 10}
		peers = append(peers, t.contender(c, t.python, filepath.Join(t.peers, script.file)))
	}
	return peers, missing, nil
}

// version returns the version of a Python module, or "" if it is not installed.
func (t *tools) version(ctx context.Context, module string) string {
	text, err := exec.CommandContext(ctx, t.python, "-c", fmt.Sprintf("import %s; print(%[1]s.__version__)", module)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// contender returns the peer that the given command line runs on one worker.
func (t *tools) contender(c contender, command ...string) contender {
	c.run = func(ctx context.Context, p process, l length, seed int) (outcome, error) {
		args := append(command[1:len(command):len(command)], p.flags(l, seed)...)
		cmd := exec.CommandContext(ctx, command[0], args...)
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "NUMBA_NUM_THREADS=1", "NUMBA_CACHE_DIR="+t.work)
		line, err := cmd.Output()
		if err != nil {
			if exit, is := errors.AsType[*exec.ExitError](err); is {
				err = fmt.Errorf("%w\n%s", err, exit.Stderr)
			}
			return outcome{}, fmt.Errorf("%s: %w", c.name, err)
		}
		o, err := parse(line, l)
		if err != nil {
			return outcome{}, fmt.Errorf("%s: %w", c.name, err)
		}
		return o, nil
	}
	return c
}

// parse reads the answer that a peer printed (bench/peers/README.md) and checks that its
// run had the wanted length.
func parse(line []byte, want length) (outcome, error) {
	var answer struct {
		Seconds       float64 `json:"seconds"`
		Steps         int     `json:"steps"`
		Replicas      int     `json:"replicas"`
		Mean          float64 `json:"mean"`
		MeanError     float64 `json:"mean_error"`
		Variance      float64 `json:"variance"`
		VarianceError float64 `json:"variance_error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return outcome{}, fmt.Errorf("printed %q: %w", line, err)
	}
	if got := (length{answer.Steps, answer.Replicas}); got != want {
		return outcome{}, fmt.Errorf("ran %d replicas of %d steps, not %d of %d", got.replicas, got.steps, want.replicas, want.steps)
	}
	if !(answer.Seconds > 0) || !(answer.MeanError > 0) || !(answer.VarianceError > 0) || math.IsInf(answer.MeanError+answer.VarianceError, 0) {
		return outcome{}, fmt.Errorf("printed %q: the time and the standard errors must be positive", line)
	}
	return outcome{
		seconds:  answer.Seconds,
		mean:     measure.Estimate{Mean: answer.Mean, StdErr: answer.MeanError, DF: answer.Replicas - 1},
		variance: measure.Estimate{Mean: answer.Variance, StdErr: answer.VarianceError, DF: answer.Replicas - 1},
	}, nil
}
