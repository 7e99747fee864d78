package main

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"grposim/option"
	"grposim/sim/measure"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/tools/internal/tool"
)

var ctx = context.Background()

func TestParse(t *testing.T) {
	const line = `{"seconds": 2.5, "steps": 1000, "replicas": 64, "mean": 1.5, "mean_error": 0.25, "variance": 0.125, "variance_error": 0.0625}` + "\n"
	l := length{1000, 64}
	got, err := parse([]byte(line), l)
	want := outcome{
		seconds:  2.5,
		mean:     measure.Estimate{Mean: 1.5, StdErr: 0.25, DF: 63},
		variance: measure.Estimate{Mean: 0.125, StdErr: 0.0625, DF: 63},
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if ns := got.nanoseconds(l); ns != 2.5e9/64000 {
		t.Errorf("%g ns a replica-step", ns)
	}
	for _, x := range []struct{ old, new, want string }{
		{line, "", "printed"},
		{"}", "", "printed"},
		{"1.5", "NaN", "printed"},
		{"1000", "999", "64 replicas of 999 steps, not 64 of 1000"},
		{"64", "65", "65 replicas"},
		{"2.5", "0", "positive"},
		{"0.0625", "0", "positive"},
		{`"mean_error"`, `"another"`, "positive"},
	} {
		if _, err := parse([]byte(strings.Replace(line, x.old, x.new, 1)), l); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s for %s: %v, want %q", x.new, x.old, err, x.want)
		}
	}
}

// planted returns grposim as a contender with a fault in its process.
func planted(fault func(p *process)) contender {
	c := grposim
	c.name = "planted"
	c.run = func(ctx context.Context, p process, l length, seed int) (outcome, error) {
		fault(&p)
		return simulate(ctx, p, l, seed+1000)
	}
	return c
}

// race returns a disagreement if a peer simulates a slightly different process, for
// either bandit, and accepts the same process. (With other seeds the same process would be
// rejected with probability 1e-5.)
func TestDisagreement(t *testing.T) {
	two, ten := newProcess(2, 16, 4), newProcess(10, 16, 4).with(option.Ratio, option.StdScale)
	for _, x := range []struct {
		name    string
		process process
		fault   func(p *process)
	}{
		{"", two, func(*process) {}},
		{"", ten, func(*process) {}},
		{"learning rate", two, func(p *process) { p.learningRate *= 1.1 }},
		{"learning rate", ten, func(p *process) { p.learningRate *= 1.1 }},
		{"no importance ratios", ten, func(p *process) { p.importance = option.NoImportance }},
		{"importance ratios", two, func(p *process) { p.importance = option.Ratio }},
	} {
		e := brief
		if x.name == "learning rate" && len(x.process.means) == 10 {
			e = effort{rounds: 1, replicaSteps: full.replicaSteps} // as in the command
		}
		comparisons, err := race(ctx, e, x.process, nil, []contender{planted(x.fault)})
		var unmet tool.Unmet
		switch {
		case x.name == "" && (err != nil || len(comparisons) != 1):
			t.Errorf("no fault, %s: %v", x.process, err)
		case x.name != "" && !errors.As(err, &unmet):
			t.Errorf("%s, %s: want a disagreement, got %v", x.name, x.process, err)
		case x.name != "" && !strings.Contains(err.Error(), "planted and grposim disagree on "):
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// agree rejects from the quantile of Student's t on, which is 4.95 standard errors of the
// difference at 510 degrees of freedom (4.89 for a normal law), and it rejects NaN.
func TestAgree(t *testing.T) {
	at := func(mean, variance float64) outcome {
		return outcome{
			mean:     measure.Estimate{Mean: mean, StdErr: 0.3, DF: 255},
			variance: measure.Estimate{Mean: variance, StdErr: 0.4, DF: 255},
		}
	}
	p := newProcess(2, 16, 4)
	for _, x := range []struct {
		theirs outcome
		want   string
	}{
		{at(1, 1), ""},
		{at(1+4.9*0.3*1.41421, 1), ""},
		{at(1, 1-4.9*0.4*1.41421), ""},
		{at(1-5.1*0.3*1.41421, 1), "mean"},
		{at(1, 1+5.1*0.4*1.41421), "variance"},
		{at(math.NaN(), 1), "mean"},
	} {
		err := agree(p, "peer", at(1, 1), x.theirs)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), ": "+x.want+" of the logit gap") {
			t.Errorf("%+v: %v, want %q", x.theirs, err, x.want)
		}
	}
}

// The peers in C, the only ones without dependencies, simulate the same process as grposim,
// with each of their methods of drawing, numbers of arms and options.
func TestPeersInC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	tools := tools{peers: "../../bench/peers", python: "/no/python", compiler: "gcc", work: t.TempDir()}
	peers, missing, err := tools.find(ctx)
	if err != nil || len(peers) != 2 || len(missing) != 3 {
		t.Fatalf("%d peers, missing %q, %v", len(peers), missing, err)
	}
	few := effort{rounds: 1, replicaSteps: 1000 * 256}
	for _, p := range []process{
		newProcess(2, 16, 4),
		newProcess(2, 16, 4).with(option.Ratio, option.NoScale),
		newProcess(2, 40, 4), // inversion
		newProcess(2, 1024, 1),
		newProcess(3, 16, 4).with(option.Ratio, option.StdScale),
		newProcess(10, 64, 4),
	} {
		if _, err := race(ctx, few, p, nil, peers); err != nil {
			t.Error(err)
		}
	}
}

// Peers whose tools are missing are skipped with a message. A tool that fails is an error.
func TestMissingTools(t *testing.T) {
	dir := t.TempDir()
	none := tools{peers: dir, python: filepath.Join(dir, "python"), compiler: filepath.Join(dir, "cc"), work: dir}
	peers, missing, err := none.find(ctx)
	if err != nil || len(peers) > 0 {
		t.Errorf("%d peers, %v", len(peers), err)
	}
	text := strings.Join(missing, "\n")
	for _, want := range []string{"C is skipped: no " + none.compiler, "Numba is skipped: no numba in " + none.python, "NumPy counts is skipped", "NumPy arms is skipped"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not contain %q", text, want)
		}
	}
	for name, script := range map[string]string{"python": "exit 1", "cc": "echo broken >&2; exit 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err = none.find(ctx); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a compiler that fails: %v", err)
	}
	broken := none.contender(contender{name: "broken", replicas: 64}, none.compiler)
	if _, err := broken.run(ctx, newProcess(2, 16, 4), length{1000, 64}, 1); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a peer that fails: %v", err)
	}
}

// A peer is not run on groups larger than it can draw.
func TestLargestGroup(t *testing.T) {
	peer := planted(func(*process) { t.Error("the peer was run") })
	peer.largestGroup = 64
	comparisons, err := race(ctx, effort{rounds: 1, replicaSteps: 64000}, newProcess(2, 65, 1), nil, []contender{peer})
	if err != nil || len(comparisons) > 0 {
		t.Errorf("%d comparisons, %v", len(comparisons), err)
	}
}

func TestTargets(t *testing.T) {
	for _, x := range []struct {
		target target
		ratio  float64
		want   string
	}{
		{target{bound: 0.6}, 0.59, "yes"},
		{target{bound: 0.6}, 0.6, "yes"},
		{target{bound: 0.6}, 0.61, "no"},
		{target{bound: 1.9, least: true}, 1.9, "yes"},
		{target{bound: 1.9, least: true}, 1.89, "no"},
		{target{}, 1, ""},
	} {
		if got := x.target.met(x.ratio); got != x.want {
			t.Errorf("%g against %s: %q, want %q", x.ratio, x.target, got, x.want)
		}
	}
}

func TestPage(t *testing.T) {
	fast := comparison{what: raced[1].process.String(), over: scalarC, target: raced[1].targets[scalarC]}
	fast.add(50, 100)
	fast.add(56, 100)
	fast.add(70, 100)
	r := results{
		machine:     "a machine",
		missing:     []string{"Numba is skipped: no numba"},
		comparisons: []comparison{fast},
		matrix:      []matrixRow{{"2, none, std", make([]float64, 15)}},
	}
	section := r.String()
	for _, want := range []string{
		"Measured on a machine.\n",
		"**Numba is skipped: no numba.**",
		"| 2 arms, G = 16, K = 4, none | scalar C | **0.56** | ≤ 0.27 | no | 0.10 | 56.0 | 100 | 0.50 to 0.70 |\n",
		"| 4 / 1 | 4 / 4 | 4 / 16 | 16 / 1 ",
	} {
		if !strings.Contains(section, want) {
			t.Errorf("no %q in\n%s", want, section)
		}
	}
	columns := 0
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") {
			columns = max(columns, strings.Count(line, "|")-1)
		} else if strings.HasPrefix(line, "|--") && strings.Count(line, "|")-1 != 9 && strings.Count(line, "|")-1 != 16 {
			t.Errorf("%d columns: %s", strings.Count(line, "|")-1, line)
		}
	}

	const page = "# Prose\n\n<!-- bench -->\nold\n<!-- /bench -->\n\nmore prose\n"
	got, err := replaceSection([]byte(page), "new\n")
	if want := strings.Replace(page, "old", "new", 1); string(got) != want || err != nil {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, text := range []string{"", "<!-- bench -->\n", "<!-- /bench -->\n<!-- bench -->\n"} {
		if _, err := replaceSection([]byte(text), ""); err == nil {
			t.Errorf("markers of %q", text)
		}
	}
	performance, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replaceSection(performance, ""); err != nil {
		t.Errorf("docs/performance.md: %v", err)
	}
}

// A sample belongs to the innermost of grposim's packages; garbage collection belongs to
// none.
func TestShares(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}}}
	for i, stack := range [][]string{
		{"grposim/sim.(*twoArmBatch).move", "grposim/sim.Simulate.func2"},
		{"runtime.mallocgc", "grposim/sim.newBatch", "grposim/sim.Simulate.func2"},
		{"grposim/grpo/fp.Exp", "grposim/sim/draw.(*Pair).Draw"},
		{"strconv.AppendFloat", "grposim/sweeps/store.AppendLine", "grposim/sim.Simulate"},
		{"grposim/rom.(*Equilibrium).Predict", "grposim/sweeps.Run"},
		{"runtime.gcBgMarkWorker"},
	} {
		sample := &profile.Sample{Value: []int64{1, 1 << i}}
		for _, name := range stack {
			sample.Location = append(sample.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		p.Sample = append(p.Sample, sample)
	}
	if inside, all := shares(p); inside != 1+2+4 || all != 63 {
		t.Errorf("%b of %b are inside, want 111 of 111111", int(inside), int(all))
	}
}

// The sweep of tiny cells has the size that its name says. The measured share lies between
// 0 and 0.5.
func TestTinyCells(t *testing.T) {
	spec, err := config.Load("tiny", tinyYAML(brief))
	if err != nil {
		t.Fatal(err)
	}
	plan := sweeps.NewPlan(spec)
	if run := plan.Cells[0].Settings.Run; len(plan.Cells) != 100 || run.Steps != 1000 || run.Replicas != 256 || !strings.HasPrefix(tinySweep(brief), "100 cells of 1000 steps of 256 replicas:") {
		t.Errorf("%d cells of %d steps of %d replicas are called %q", len(plan.Cells), run.Steps, run.Replicas, tinySweep(brief))
	}
	c, err := outside(ctx, brief, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if share := c[0].ratio(); share <= 0 || share >= 0.5 {
		t.Errorf("a share of %g is outside", share)
	}
}
