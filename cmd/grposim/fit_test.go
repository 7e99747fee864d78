package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grposim/training/fit"
	"grposim/training/logs"
)

type ofStep = func(step float64) float64

// writeLog writes n rows of CSV whose columns beside the step are functions of it.
func writeLog(t *testing.T, name string, from, n int, columns map[string]ofStep) string {
	t.Helper()
	names := slices.Collect(maps.Keys(columns))
	var b strings.Builder
	b.WriteString("step," + strings.Join(names, ",") + "\n")
	for step := from; step < from+n; step++ {
		fmt.Fprint(&b, step)
		for _, name := range names {
			fmt.Fprintf(&b, ",%.8g", columns[name](float64(step)))
		}
		b.WriteString("\n")
	}
	write(t, name, b.String())
	return name
}

// What fit says of the direction, and where nothing is identified.
func TestFitSaysWhatHappens(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 50))
	rises := func(s float64) float64 { return -math.Expm1(-s / 12) }
	for _, q := range []struct {
		name      string
		from      int
		of        ofStep
		code      int
		direction string
		says      string
	}{
		{"rises", 1, rises, 0, "rises", "it rises without oscillation"},
		{"falls", 1, func(s float64) float64 { return 1 - rises(s) }, 1, "falls",
			"too early to be fitted before it: all rows are. regime: overdamped; it falls without oscillation"},
		{"rises and collapses", 1, func(s float64) float64 { return rises(s) * max(0.1, math.Copysign(1, 45-s)) }, 1,
			"rises", "the run is lost since step 46 (reward-collapse), and fitted before it. regime: over"},
		{"goes-on", 5000, func(s float64) float64 { return rises(s - 4999) }, 0, "rises",
			"from step 4999 on, one row before the first"},
		{"stays", 1, func(float64) float64 { return 0.5 }, 3, "none",
			"trust the constant law. forecast for step 90 by the level: 0.49"},
	} {
		noisy := func(step float64) float64 { return q.of(step) + 0.03*rng.NormFloat64() }
		file := writeLog(t, q.name+".csv", q.from, 60, map[string]ofStep{"reward": noisy})
		f, text := fitAlone(t, file)
		text = strings.Join(strings.Fields(text), " ")
		if !strings.Contains(text, q.says) || strings.Contains(text, "it grows") {
			t.Errorf("%s: want %q in:\n%.400s", q.name, q.says, text)
		}
		o, direction := fitOptions{out: &printer{stdout: io.Discard}}, string(f.result.Direction)
		got := exitCode(io.Discard, o.write(io.Discard, []*logFit{f}))
		if got != q.code || direction != q.direction {
			t.Errorf("%s: exit code %d, direction %s, want %+v", q.name, got, direction, q)
		}
	}
}

// fitAlone returns the fit of a log, without forecasts of its own rows, and its text.
func fitAlone(t *testing.T, file string) (*logFit, string) {
	t.Helper()
	log, err := openLog(io.Discard, file, logs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fitLog(log)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	f.print(&page{w: &text})
	return f, text.String()
}

// A learning rate that falls linearly to 0 in 100 steps makes the intrinsic time s − s²/200 at
// step s. Half of what the first row lacks of the plateau of an exponential comes T ln 2 later.
func TestFitUnits(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(2, 51))
	reward := func(s float64) float64 { return -math.Expm1(-(s-s*s/200)/20) + 0.01*rng.NormFloat64() }
	f, text := fitAlone(t, writeLog(t, "decay.csv", 1, 99, map[string]ofStep{
		"learning_rate": func(s float64) float64 { return 1e-6 * (1 - s/100) }, "reward": reward,
	}))
	got := f.time.step(f.result.Model(fit.Exponential).HalfTime())
	if want := 100 * (1 - math.Sqrt(1-(0.995+20*math.Ln2)/50)); math.Abs(got/want-1) > 0.05 {
		t.Errorf("half-time at step %g, want %g", got, want)
	}
	for _, want := range []string{"timescale, steps at the peak rate ",
		"Half of the way from the"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

// Logs never overwrite each other's figures.
func TestFigureNames(t *testing.T) {
	taken := make(map[string]bool)
	long := strings.Repeat("long", 100)
	for _, file := range []struct{ path, run, want string }{
		{"/runs/a/log.csv", "", "log"}, {"/runs/b/log.csv", "", "log-2"}, {"/runs/a/log.csv", "", "log-3"},
		{"/x/\x1b[31m.csv", "", `\u001b[31m`},
		{"/w/chart.csv", "../../x", "chart-..-..-x"}, {"/w/chart.csv", long, ("chart-" + long)[:50]},
	} {
		if got := figureName(&logs.Log{File: file.path, Run: file.run}, taken); got != file.want {
			t.Errorf("%s: %s, want %s", file.path, got, file.want)
		}
	}
}
