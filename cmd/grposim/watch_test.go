package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/training/logs"
)

type logged = map[logs.Quantity]float64 // a row

// healthyLog returns a log of a run that learns, in rows of 10 steps: its reward rises and
// saturates, entropy falls by less than half, KL and length grow, with noise of a random
// size and memory in every column. change may change a row.
func healthyLog(rng *rand.Rand, rows int, largest float64, change func(int, logged)) *logs.Log {
	noise := math.Exp(math.Log(0.02) + rng.Float64()*math.Log(largest/0.02))
	memory, start, rise := 0.7*rng.Float64(), 0.3+0.3*rng.Float64(), 0.4*rng.Float64()
	speed, entropy, fall := 1+15*rng.Float64(), 0.2+rng.Float64(), 0.4*rng.Float64()
	kl, length := 0.2*rng.Float64(), 100+900*rng.Float64()
	quantities := []logs.Quantity{logs.Reward, logs.RewardStdWithin, logs.FracZeroStd, logs.KLRef,
		logs.Entropy, logs.ClipAny, logs.GradNorm, logs.LenMean, logs.LenClipped}
	l := &logs.Log{File: "log", Averaged: 10}
	for _, q := range quantities {
		l.Columns = append(l.Columns, logs.Column{Quantity: q, Key: string(q)})
	}
	l.Evaluation = &logs.Table{Columns: []logs.Column{{Quantity: logs.EvalScore, Key: "eval_reward"}}}
	walk := make([]float64, len(quantities))
	for i := range rows {
		for k := range walk {
			walk[k] = memory*walk[k] + math.Sqrt(1-memory*memory)*rng.NormFloat64()
		}
		s := 1 - math.Exp(-speed*float64(i)/float64(rows))
		mean := start + rise*s
		share := func(x float64) float64 { return min(max(x, 0), 1) }
		values := logged{
			logs.Reward:          share(mean + noise*walk[0]),
			logs.RewardStdWithin: 0.8 * math.Sqrt(mean*(1-mean)) * math.Exp(noise*walk[1]),
			logs.FracZeroStd:     share(0.2 + 0.2*s + noise*walk[2]/2),
			logs.KLRef:           kl * s * math.Exp(noise*walk[3]),
			logs.Entropy:         entropy * (1 - fall*s) * math.Exp(noise*walk[4]),
			logs.ClipAny:         0.01 * math.Exp(noise*walk[5]),
			logs.GradNorm:        0.3 * math.Exp(2*noise*walk[6]),
			logs.LenMean:         length * (1 + s/2) * math.Exp(noise*walk[7]),
			logs.LenClipped:      share(0.05 + noise*walk[8]/20),
		}
		if change != nil {
			change(i, values)
		}
		l.Steps = append(l.Steps, 10*(i+1))
		for k, q := range quantities {
			c := &l.Columns[k]
			if c.Values = append(c.Values, values[q]); math.IsNaN(values[q]) {
				c.NotFinite = append(c.NotFinite, i)
			}
		}
		if i%10 == 9 {
			e, score := l.Evaluation, values[logs.Reward]-0.05+0.01*rng.NormFloat64()
			e.Steps = append(e.Steps, 10*(i+1))
			e.Columns[0].Values = append(e.Columns[0].Values, score)
		}
	}
	return l
}

// watched returns the lines that watch prints of a log, and whether it ends with a failure.
func watched(t *testing.T, l *logs.Log) (lines []string, found bool) {
	t.Helper()
	return watcher{}.watched(t, l, len(l.Steps))
}

// watched watches a log that grows by the given number of rows until there is a failure.
func (w watcher) watched(t *testing.T, l *logs.Log, growth int) (lines []string, found bool) {
	t.Helper()
	var stdout bytes.Buffer
	w.path, w.stdout, w.stderr = "log", &stdout, new(bytes.Buffer)
	w.restart()
	for rows := growth; rows <= len(l.Steps) && !found; rows += growth {
		var err error
		if found, err = w.judge(l.Prefix(rows)); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Split(strings.TrimSpace(stdout.String()), "\n"), found
}

// Of a mode that comes and goes watch says that it is present and that it is no longer, once
// each, and of modes that change from not observable to absent and back nothing.
func TestWatchSaysWhatBecomesPresent(t *testing.T) {
	const mode = "dynamical-instability"
	said := []string{mode + ": remark since step ", mode + ": no longer present: "}
	for clipped, want := range map[bool][]string{true: said, false: {""}} {
		l := healthyLog(rand.New(rand.NewPCG(2, 8)), 400, 0.03, func(row int, values logged) {
			if clipped && row >= 40 && row < 100 {
				values[logs.ClipAny] = 0.8
			}
		})
		lines, found := watcher{goOn: true, asked: question{mode}}.watched(t, l, 400)
		if found != clipped || !slices.EqualFunc(lines, want, strings.Contains) {
			t.Errorf("clipped %t: found %t, got %q, want %q", clipped, found, lines, want)
		}
	}
}

// successes are runs that learn: the reward rises, soon or slowly, a little or to the largest, and at
// most a fifth of the entropy is left. Most groups are equal then, and answers get one length. At
// most one of a hundred may be stopped.
func successes(t *testing.T, runs, rows int) {
	rng := rand.New(rand.NewPCG(20261129, 1))
	stopped := 0
	for range runs {
		speed, start := 3*math.Pow(10, rng.Float64()), 0.05+0.4*rng.Float64()
		top, noise := start+(0.98-start)*(0.3+0.7*rng.Float64()), 0.1*rng.Float64()
		if lines, found := watched(t, healthyLog(rng, rows, 0.1, func(i int, values logged) {
			s := 1 - math.Exp(-speed*float64(i)/float64(rows))
			mean := start + (top-start)*s
			values[logs.Reward] = min(1, max(0, mean+noise*rng.NormFloat64()))
			values[logs.RewardStdWithin] = math.Sqrt(mean * (1 - mean))
			values[logs.FracZeroStd] = s * s * mean
			values[logs.Entropy] *= 1 - 0.93*s
			values[logs.LenMean] = 5
		})); found {
			stopped++
			t.Log(lines[len(lines)-1])
		}
	}
	if 100*stopped > runs {
		t.Errorf("%d of %d runs that are solved are stopped, want at most 1 %%", stopped, runs)
	}
}

func TestWatchLeavesSuccesses(t *testing.T) { successes(t, 5, 120) }

// fallen is a run whose reward falls at some row and after it. Where the data become harder it loses
// 10 to 70 % once or more, and climbs again. Other columns change by up to a factor of e^½, and the
// score of evaluation does not fall. By kind the score is rare, frequent, or missing.
//
// Else the run is broken, and loses 50 to 72 %. By kind the gradient norm and KL leap before, the
// score falls too, or the reward sags in 100 rows. In the last kind nothing but the reward is logged.
func fallen(rng *rand.Rand, kind int, broken bool) (l *logs.Log, at int) {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	at = 60 + rng.IntN(100)
	rows, noise, next := at+150, between(0.01, 0.1), at
	mean, top, pace := between(0.1, 0.3), between(0.6, 0.95), between(15, 50)
	left, width := between(0.28, 0.5), []float64{5, 5, 100, 5}[kind]
	factors := logged{logs.GradNorm: 1, logs.KLRef: 1, logs.Entropy: 1, logs.LenMean: 1}
	l = healthyLog(rng, rows, 0.2, func(i int, values logged) {
		share := 1.0
		switch {
		case broken && i >= at:
			share = left + (1-left)*max(0, 1-float64(i-at)/width)
		case !broken && i == next:
			next += 30 + rng.IntN(rows)
			mean *= between(0.3, 0.9)
			top, pace = min(0.95, mean+between(0.1, 0.6)), between(20, 150)
			for q := range factors {
				factors[q] *= math.Exp(between(-0.5, 0.5))
			}
		}
		if broken && kind == 0 && i == at-3 {
			factors[logs.GradNorm], factors[logs.KLRef] = 30, 10
		}
		mean += (top - mean) / pace
		values[logs.Reward] = min(1, max(0, mean*share+noise*rng.NormFloat64()))
		for q, x := range factors {
			values[q] *= x
		}
	})
	scores := l.Evaluation.Columns[0].Values
	for k := range scores {
		if !broken {
			scores[k] = between(0.42, 0.46)
		}
		if kind == 0 && k%5 > 0 {
			scores[k] = math.NaN()
		}
	}
	if kind > 1 || broken && kind == 0 {
		l.Evaluation = nil
	}
	if kind == 3 {
		l.Columns = l.Columns[:1]
	}
	return l, at
}

// falls watches runs with harder data, of which at most 2 % may be stopped, and as many that
// collapse, of which at least three of four must be: half of them within the rows of their kind.
func falls(t *testing.T, runs int) {
	rng := rand.New(rand.NewPCG(20261129, 2))
	stopped, found, late := 0, 0, [4][]int{}
	for i := range runs {
		l, _ := fallen(rng, i%4, false)
		if lines, is := watched(t, l); is {
			stopped++
			t.Logf("kind %d: %s", i%4, lines[len(lines)-1])
		}
		l, at := fallen(rng, i%4, true)
		if lines, is := watched(t, l); is {
			var step int
			fmt.Sscanf(lines[len(lines)-1], "step %d:", &step)
			found, late[i%4] = found+1, append(late[i%4], step/10-at)
		}
	}
	t.Logf("%d of %d with harder data are stopped, and %d that collapse, after rows %v", stopped, runs,
		found, late)
	if 50*stopped > runs || 4*found < 3*runs {
		t.Errorf("%d of %d runs with harder data are stopped, and %d that collapse", stopped, runs, found)
	}
	for kind, most := range []int{12, 30, 100, 110} {
		slices.Sort(late[kind])
		if middle := late[kind][len(late[kind])/2]; middle > most {
			t.Errorf("collapses of kind %d are said after %v rows, want half of them within %d", kind, late[kind], most)
		}
	}
}

func TestWatchLeavesHarderData(t *testing.T) { falls(t, 16) }

// What a log states is said soon after the row that confirms it, whether rows come one by one or
// all at once.
func TestWatchConfirms(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261126, 5))
	whole := healthyLog(rng, 160, 0.03, func(i int, values logged) {
		if i >= 100 {
			values[logs.Reward] = 0
		}
	})
	for _, growth := range []int{1, 160} {
		lines, _ := watcher{}.watched(t, whole, growth)
		var said int
		last := lines[len(lines)-1]
		_, err := fmt.Sscanf(last, "step %d: reward-collapse: failure since step 1010:", &said)
		if err != nil || said < 1050 || said > 1120 {
			t.Errorf("the collapse at step 1010 is said as %q", last)
		}
	}
}

// Groups without signal are said after 100 rows: a run that finds a success before is not stopped.
func TestWatchIsPatient(t *testing.T) {
	noise := rand.New(rand.NewPCG(20261126, 8))
	silent := func(rows int) func(int, logged) {
		return func(i int, values logged) {
			if i < rows {
				values[logs.Reward], values[logs.FracZeroStd] = 0.1+0.02*noise.NormFloat64(), 0.97
			}
		}
	}
	for _, c := range []struct {
		rows  int
		found bool
	}{{90, false}, {160, true}} {
		rng := rand.New(rand.NewPCG(20261126, 7))
		lines, found := watched(t, healthyLog(rng, 160, 0.03, silent(c.rows)))
		text := strings.Join(lines, "\n")
		if said := strings.Contains(text, "no-signal: failure"); said != c.found || found != c.found {
			t.Errorf("%d rows with silent groups: said %t, found %t\n%s", c.rows, said, found, text)
		}
	}
	l := &logs.Log{}
	l.Columns = []logs.Column{{Quantity: logs.Reward, Key: "reward"}, {Quantity: logs.RewardStdWithin}}
	for i := range 120 {
		l.Steps = append(l.Steps, i+1)
		for k := range l.Columns {
			l.Columns[k].Values = append(l.Columns[k].Values, 0)
		}
	}
	if lines, found := watched(t, l); !found || !strings.Contains(lines[0], ": no-signal: failure since step 1: ") {
		t.Errorf("got %q, want no-signal after 100 rows", lines)
	}
}

// A file that is half written, truncated, copied and truncated, rotated or removed is
// followed: rows are counted once, and what is gone is said.
func TestWatchDisturbed(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := func(from, to int) string { // of the rows after from up to to
		var b strings.Builder
		for line := range strings.Lines(trlLog(200, nil)) {
			var values struct{ Step int }
			if err := json.Unmarshal([]byte(line), &values); err != nil {
				t.Fatal(err)
			}
			if values.Step > 10*from && values.Step <= 10*to {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	var stderr bytes.Buffer
	w := watcher{path: "log.jsonl", stdout: new(bytes.Buffer), stderr: &stderr}
	w.log = logs.Follow("log.jsonl", logs.Options{})
	w.restart()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	appendTo := func(text string) {
		f, err := os.OpenFile("log.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		must(err)
		_, err = f.WriteString(text)
		must(err)
		must(f.Close())
	}
	look := func(about string, rows int, said string) {
		t.Helper()
		stderr.Reset()
		eventually(t, fmt.Sprintf("%s: %d rows and %q", about, rows, said), func() bool {
			if found, err := w.read(); found || err != nil {
				t.Fatalf("%s: found %v, %v", about, found, err)
			}
			return w.rows == rows && strings.Contains(stderr.String(), said)
		})
	}
	look("no file", 0, "waiting for the file")
	half := lines(29, 30)[:20]
	appendTo(lines(0, 29) + half)
	look("half a line", 29, "")
	appendTo(lines(29, 30)[20:])
	look("the other half", 30, "")
	appendTo(lines(30, 40))
	look("grown", 40, "")
	must(os.Truncate("log.jsonl", 0)) // copytruncate
	look("emptied", 40, "waiting for more")
	appendTo(lines(40, 45))
	look("after copytruncate", 5, "the 40 rows read before")
	must(os.Rename("log.jsonl", "log.jsonl.1"))
	look("moved away", 5, "waiting for the file")
	appendTo(lines(45, 60))
	look("rotated", 15, "the 5 rows read before")
	write(t, "next", lines(45, 70))
	must(os.Rename("next", "log.jsonl"))
	look("replaced by the same rows and more", 25, "")
	if strings.Contains(stderr.String(), "anew") {
		t.Errorf("a file with the same rows is said to be another: %q", &stderr)
	}
	appendTo(strings.ReplaceAll(lines(60, 62), `"kl":0.001`, `"kl":0.002`))
	look("resumed from row 61", 17, "are no longer in it: read anew")
	must(os.Remove("log.jsonl"))
	must(os.Mkdir("log.jsonl", 0o755))
	for steps := 20; steps <= 40; steps += 10 {
		dir := filepath.Join("log.jsonl", fmt.Sprint("checkpoint-", steps))
		must(os.Mkdir(dir, 0o755))
		text := strings.Join(strings.Split(strings.TrimSpace(lines(0, steps)), "\n"), ",")
		write(t, filepath.Join(dir, "trainer_state.json"), `{"log_history": [`+text+`]}`)
		look("a new checkpoint", steps, "")
	}
}

// stopWriter stops what writes to it once it has written a text.
type stopWriter struct {
	written []byte
	text    string
	stop    func()
}

func (w *stopWriter) Write(p []byte) (int, error) {
	if w.written = append(w.written, p...); strings.Contains(string(w.written), w.text) {
		w.stop()
	}
	return len(p), nil
}

// The heartbeat says where the run is.
func TestHeartbeat(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "log.jsonl", trlLog(30, nil))
	beat := func(most time.Duration, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		var stdout bytes.Buffer
		stderr := stopWriter{text: "30 rows", stop: cancel}
		run(ctx, append([]string{"watch", "log.jsonl", "--every", "2ms"}, args...), &stdout, &stderr)
		if strings.Contains(stdout.String(), "30 rows") {
			t.Errorf("the heartbeat is on stdout: %s", &stdout)
		}
		return string(stderr.written)
	}
	got := beat(time.Minute, "--heartbeat", "10ms")
	if !strings.Contains(got, "log.jsonl: 30 rows, step 300, reward 0.") ||
		!strings.Contains(got, ": found nothing\n") {
		t.Errorf("got %q, want where the run is", got)
	}
	if got := beat(60*time.Millisecond, "--heartbeat", "0s"); strings.Contains(got, "30 rows") {
		t.Errorf("got %q, want no heartbeat", got)
	}
}
