package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
)

// gauged holds numbers that tools/stiffness.py measured, and those that are known for them.
type gauged struct {
	Measured, Known struct{ Fresh, Total float64 }
}

// stiffnesses is what tools/stiffness.py prints with --example and with --check.
type stiffnesses struct {
	Example struct {
		Measured, Known struct {
			Fresh, Total struct{ Value, Error float64 }
		}
	}
	Check map[string]gauged
}

// tools/stiffness.py measures what is known in closed form, what dense matrices of finite
// differences give, and what the theory of a bandit gives that shares no code with it. Where no
// python3 has PyTorch (Debian: python3-torch), the numbers that it printed once are compared;
// -update keeps them.
func TestStiffnessTool(t *testing.T) {
	kept := filepath.Join("testdata", "stiffness.json")
	var want stiffnesses
	if err := json.Unmarshal(readDocument(t, kept), &want); err != nil {
		t.Fatal(err)
	}
	got := want
	if interpreter := pythonWith([]string{"torch"}); interpreter != "" {
		got = stiffnesses{}
		tool := filepath.Join(moduleRoot(t), "tools", "stiffness.py")
		printed(t, &got.Example, interpreter, tool, "--example")
		printed(t, &got.Check, interpreter, tool, "--check")
	}
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, kept, string(text)+"\n")
		want = got
	}
	close := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-8*math.Abs(want)) {
			t.Errorf("%s: got %.12g, want %.12g", what, got, want)
		}
	}
	e, k := got.Example.Measured, got.Example.Known
	close("example, λ_f", e.Fresh.Value, k.Fresh.Value)
	close("example, λ", e.Total.Value, k.Total.Value)
	close("example, error of λ_f", e.Fresh.Error, k.Fresh.Error)
	close("example, error of λ", e.Total.Error, k.Total.Error)
	close("kept example, λ", want.Example.Measured.Total.Value, e.Total.Value)
	if len(got.Check) != 4 {
		t.Errorf("%d checks, want 4", len(got.Check))
	}
	for name, c := range got.Check {
		close(name+", λ_f", c.Measured.Fresh, c.Known.Fresh)
		close(name+", λ", c.Measured.Total, c.Known.Total)
		close(name+", kept λ_f", want.Check[name].Measured.Fresh, c.Measured.Fresh)
	}

	p := rom.Params{Arms: []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant}}}
	p.GroupSize = 4
	p.Importance.Mode = option.Ratio
	p.KL = option.KL{Coefficient: 0.2, Gradient: option.K3}
	fresh, stale := force.Stiffness(p, []float64{0.8, 0})
	along := func(i, j int) float64 { return fresh.At(i, j) / 2 }
	lambda := along(0, 0) - along(0, 1) - along(1, 0) + along(1, 1) // along (1, −1)/√2
	close("std, λ_f of the theory", got.Check["std"].Measured.Fresh, lambda)
	lambda += (stale.At(0, 0) - stale.At(0, 1) - stale.At(1, 0) + stale.At(1, 1)) / 2
	close("std, λ of the theory", got.Check["std"].Measured.Total, lambda)
}

// printed reads the JSON that a command prints.
func printed(t *testing.T, into any, command string, args ...string) {
	t.Helper()
	c := exec.Command(command, args...)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// pythonWith returns a Python interpreter that has the modules, "" if there is none.
func pythonWith(modules []string) string {
	for _, interpreter := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(interpreter, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return interpreter
		}
	}
	return ""
}
