package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"grposim/training/logs"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeLog writes n rows of CSV whose columns beside the step are functions of it.
func writeLog(t *testing.T, name string, from, n int, columns map[string]func(step float64) float64) string {
	t.Helper()
	var names []string
	for name := range columns {
		names = append(names, name)
	}
	var b strings.Builder
	b.WriteString("step," + strings.Join(names, ",") + "\n")
	for step := from; step < from+n; step++ {
		fmt.Fprint(&b, step)
		for _, name := range names {
			fmt.Fprintf(&b, ",%.8g", columns[name](float64(step)))
		}
		b.WriteString("\n")
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, name, b.String())
	return name
}

// fitted runs fit with --json and returns what it prints.
func fitted(t *testing.T, code int, file string) any {
	t.Helper()
	text, _ := grposim(t, code, "fit", file, "--json")
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// What fit says of the direction, and where nothing is identified.
func TestFitSaysWhatHappens(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 50))
	noisy := func(of func(step float64) float64) map[string]func(step float64) float64 {
		return map[string]func(float64) float64{"reward": func(step float64) float64 { return of(step) + 0.03*rng.NormFloat64() }}
	}
	for _, q := range []struct {
		name            string
		from            int
		of              func(step float64) float64
		code            int
		says, direction string
	}{
		{"rises", 1, func(s float64) float64 { return -math.Expm1(-s / 12) }, 0, "it rises without oscillation", "rises"},
		{"falls", 1, func(s float64) float64 { return math.Exp(-s / 12) }, 0, "it falls without oscillation", "falls"},
		{"goes-on", 5000, func(s float64) float64 { return -math.Expm1(-(s - 4999) / 12) }, 0, "from step 4999 on, one row before the first", "rises"},
		{"stays", 1, func(float64) float64 { return 0.5 }, 3, "flat; no law with growth beats a constant: nothing about the dynamics is identified", "none"},
	} {
		file := writeLog(t, q.name+".csv", q.from, 60, noisy(q.of))
		f, text := fitAlone(t, file)
		if !strings.Contains(text, q.says) || strings.Contains(text, "it grows") || strings.Count(text, "\nidentified: the 90 % interval ") != 1 {
			t.Errorf("%s: want %q in:\n%.400s", q.name, q.says, text)
		}
		o := fitOptions{out: &printer{stdout: io.Discard}}
		if got := exitCode(io.Discard, o.write(io.Discard, []*logFit{f})); got != q.code || string(f.result.Direction) != q.direction {
			t.Errorf("%s: exit code %d, direction %s, want %d and %s", q.name, got, f.result.Direction, q.code, q.direction)
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
	f, err := fitLog(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	f.print(&page{w: &text})
	return f, text.String()
}

// A learning rate that falls linearly to 0 in 100 steps makes the intrinsic time s − s²/200 at
// step s, and s = 100 (1 − √(1 − t/50)). An exponential of the timescale 20 in it has passed as
// much at step 100 (1 − √0.6); half of what the first row, at 0.995, lacks of the plateau
// comes 20 ln 2 later.
func TestFitUnits(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(2, 51))
	file := writeLog(t, "decay.csv", 1, 99, map[string]func(float64) float64{
		"learning_rate": func(s float64) float64 { return 1e-6 * (1 - s/100) },
		"reward":        func(s float64) float64 { return -math.Expm1(-(s-s*s/200)/20) + 0.01*rng.NormFloat64() },
	})
	out := fitted(t, 0, file)
	near := func(what string, got any, scale, want float64) {
		t.Helper()
		// The standard error of the timescale is about 1 %.
		if x, _ := got.(float64); !(math.Abs(x*scale/want-1) < 0.05) {
			t.Errorf("%s is %v, want %g", what, got, want/scale)
		}
	}
	const peak = 0.99 // the first row's rate over the extrapolated one at step 0
	for _, m := range at(out, "models").([]any) {
		if at(m, "name") != "exponential" {
			continue
		}
		p, plateau := at(m, "parameters", "timescale"), at(m, "parameters", "plateau")
		if at(p, "unit") != "steps at the peak rate" || at(plateau, "unit") != "reward" || at(plateau, "steps") != nil {
			t.Fatalf("got %v", at(m, "parameters"))
		}
		near("timescale", at(p, "value"), peak, 20)
		lo, value, hi := at(p, "steps", "lo").(float64), at(p, "steps", "value").(float64), at(p, "steps", "hi").(float64)
		near("timescale in steps", value, 1, 100*(1-math.Sqrt(0.6)))
		if !(lo < value && value < hi) {
			t.Errorf("in steps %v", at(p, "steps"))
		}
	}
	near("half-time in steps", at(out, "half_time", "step"), 1, 100*(1-math.Sqrt(1-(0.995+20*math.Ln2)/50)))
	text, _ := grposim(t, 0, "fit", file)
	for _, want := range []string{"timescale, steps at the peak rate ", "  passed after optimizer steps ", "half of the way from the first row to the plateau is made at step "} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

// No column of BIC is negative, and the reader is told why the constant is taken where
// another law has the lowest.
func TestFitNeverLeavesTheLowestBIC(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(3, 52))
	told := 0
	for i := range 8 {
		file := writeLog(t, fmt.Sprintf("%d.csv", i), 1, 40, map[string]func(float64) float64{
			"reward": func(s float64) float64 { return 0.6*s/40 + 0.35*rng.NormFloat64() },
		})
		_, text := fitAlone(t, file)
		_, table, _ := strings.Cut(text, "BIC − LOWEST")
		table, _, _ = strings.Cut(table, "VALUE")
		zero := false
		for _, line := range strings.Split(table, "\n")[1:] {
			if cells := strings.Fields(line); len(cells) == 4 {
				zero = zero || cells[1] == "0.0"
				if strings.HasPrefix(cells[1], "-") {
					t.Errorf("%s: %s", file, line)
				}
			}
		}
		if !zero {
			t.Errorf("%s: no law has the lowest BIC:\n%s", file, table)
		}
		if strings.Contains(table, "the constant law is taken: no other beats the constant by the 6 in BIC that growth needs") {
			told++
		}
	}
	if told == 0 {
		t.Error("no log of eight has a law below the constant that does not beat it")
	}
}

// Two logs of one name in different folders have four figures.
func TestFitFiguresOfOneName(t *testing.T) {
	t.Chdir(t.TempDir())
	reward := map[string]func(float64) float64{"reward": func(s float64) float64 { return -math.Expm1(-s / 5) }}
	grposim(t, 0, "fit", writeLog(t, "a/log.csv", 1, 30, reward), writeLog(t, "b/log.csv", 1, 30, reward), "--figures", "drawn")
	if svg, err := filepath.Glob("drawn/*.svg"); err != nil || fmt.Sprint(svg) != "[drawn/b-log-residuals.svg drawn/b-log.svg drawn/log-residuals.svg drawn/log.svg]" {
		t.Errorf("got %v: %v", svg, err)
	}
}
