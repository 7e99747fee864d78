package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/option"
	"grposim/rom"
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

// tools/stiffness.py measures what is known in closed form, what dense matrices of finite differences give, and what
// the theory of a bandit gives that shares no code with it. Where no python3 has PyTorch (Debian: python3-torch), the
// numbers that it printed once are compared; -update keeps them.
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

	p := rom.Params{Arms: []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant, Mean: 0}}}
	p.GroupSize = 4
	p.Importance.Mode = option.Ratio
	p.KL = option.KL{Coefficient: 0.2, Gradient: option.K3}
	fresh, stale := rom.StiffnessAt(p, []float64{0.8, 0})
	along := func(i, j int) float64 { return fresh.At(i, j) / 2 }
	lambda := along(0, 0) - along(0, 1) - along(1, 0) + along(1, 1) // along (1, −1)/√2
	close("std, λ_f of the theory", got.Check["std"].Measured.Fresh, lambda)
	lambda += (stale.At(0, 0) - stale.At(0, 1) - stale.At(1, 0) + stale.At(1, 1)) / 2
	close("std, λ of the theory", got.Check["std"].Measured.Total, lambda)
}

// What is wrong with the arguments of tools/stiffness.py is said in a line for each problem, with exit code 2.
func TestStiffnessToolErrors(t *testing.T) {
	interpreter := pythonWith([]string{"torch"})
	if interpreter == "" {
		t.Skip("no python3 has torch (Debian: python3-torch)")
	}
	tool := filepath.Join(moduleRoot(t), "tools", "stiffness.py")
	t.Chdir(t.TempDir())
	write(t, "r.py", `
import torch
model = torch.nn.Linear(1, 2)
base = dict(model=model, parts=[0, 1], log_probs=lambda part: model(torch.ones(3, 1)).log_softmax(1)[:, 0],
            loss=lambda z, q, part: -(z - q).exp().mean())
def good(): return base
def short(): return {"model": model}
def one(): return {**base, "parts": [0], "adam": torch.optim.Adam(model.parameters())}
def still(): return {**base, "log_probs": lambda part: torch.zeros(3)}
def listed(): return {**base, "log_probs": lambda part: [0.0]}
def numbered(): return {**base, "loss": lambda z, q, part: 1.0}
def held(): return {**base, "loss": lambda z, q, part: z.detach().mean()}
def detached(): return {**base, "loss": lambda z, q, part: -(z - q.detach()).exp().mean()}
def noisy(): return {**base, "log_probs": lambda part: model(torch.rand(3, 1))[:, 0]}
`)
	write(t, "all.py", `
import sys
tool, *lines = sys.argv[1:]
sys.path.insert(0, tool.rpartition("/")[0])
import stiffness
for line in lines:
    sys.argv = [tool, *line.split()]
    print(line, file=sys.stderr)
    try:
        stiffness.main()
    except SystemExit as end:
        print("exit", end.code, file=sys.stderr)
`)
	type mistake struct{ args, say string }
	mistakes := []mistake{
		{"", "stiffness.py: want one of FILE.py:FUNCTION, --example and --check\n"},
		{"missing.py:f", "stiffness.py: missing.py: got no such file, want a Python file\n"},
		{"r.py:f", "stiffness.py: r.py: got no function f\n"},
		{"r.py:short", "stiffness.py: r.py:short: got ['model'], want a dictionary of log_probs, loss, model, parts, and groups and adam where they are used\n"},
		{"r.py:good --adam", "stiffness.py: --adam: the dictionary has no adam\n"},
		{"r.py:good --gauss-newton", "stiffness.py: gauss_newton: log_probs gives z alone, want (z, logits)\n"},
		{"r.py:one --adam --products 1", "stiffness.py: parts: want a list of two or more: the error comes from their differences\n" +
			"stiffness.py: products: got 1, want 2 or more\n" +
			"stiffness.py: adam: 2 of 2 parameters have no second moment: take the optimizer that trains this model, after its first step\n"},
		{"r.py:listed", "stiffness.py: log_probs: got a list, want a tensor, or a tuple of two\n"},
		{"r.py:numbered", "stiffness.py: loss: got a float, want a tensor that is computed with gradients\n"},
		{"r.py:held", "stiffness.py: loss: got no graph, want a number that is computed with gradients from the log-probabilities\n"},
		{"r.py:still", "stiffness.py: log_probs: got no graph, want log-probabilities computed with gradients\n"},
		{"r.py:detached", "stiffness.py: loss: it depends on q without a gradient: do not detach q inside\n"},
		{"r.py:noisy", "stiffness.py: log_probs: two passes differ: turn dropout and other randomness off\n"},
	}
	args, want := []string{"all.py", tool}, ""
	for _, m := range mistakes {
		args = append(args, m.args)
		want += m.args + "\n" + m.say + "exit 2\n"
	}
	out, err := exec.Command(interpreter, args...).CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
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
