package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"

	"grposim/training/change"
)

// The sums of the periodogram are those of sinusoids less their lines, at uneven steps.
func TestPeriodogramAgainstTheSlowWay(t *testing.T) {
	rng := newRand()
	for _, n := range []int{8, 60, 500} {
		at, y, step := make([]float64, n), make([]float64, n), 0.0
		for i := range at {
			step += 1 + float64(rng.IntN(4))
			at[i], y[i] = step, 100+0.1*step+rng.NormFloat64()
		}
		p := newPeriodogram(at, y)
		for cycles := 0.5; cycles <= float64(n)/2; cycles += float64(n) / 16 {
			cos, sin := make([]float64, n), make([]float64, n)
			for i, t := range at {
				sin[i], cos[i] = math.Sincos(2 * math.Pi * cycles * (t - at[0]) / (at[n-1] - at[0]))
			}
			want := explained(p.y, change.Detrended(at, cos), change.Detrended(at, sin))
			from := math.Mod(cycles, cycleStep) // the trial is reached by turning
			got := p.best(cycles, cycles).explained
			turned := p.best(from+cycleStep, cycles)
			if math.Abs(got-want) > 1e-9*p.total || turned.explained < want-1e-9*p.total {
				t.Errorf("%d values, %g cycles: explains %g, turned to %g, want %g", n, cycles, got, turned.explained, want)
			}
		}
	}
}

// A regular oscillation is there, or not observable where the last half does not hold
// enough of it or the noise hides it; never absent. Amplitude 0.4, period 40 rows.
func TestOscillationIsNotAbsent(t *testing.T) {
	for _, c := range []struct {
		rows  int
		noise float64
		want  Finding
	}{
		{40, 0.03, NotObservable}, {60, 0.03, NotObservable}, {80, 0.03, NotObservable}, {100, 0.03, NotObservable}, {140, 0.03, NotObservable},
		{200, 0.03, NotObservable}, {320, 0.03, Present}, {800, 0.03, Present}, {5000, 0.03, Present},
		{60, 0.3, NotObservable}, {120, 0.3, NotObservable}, {200, 0.3, NotObservable},
	} {
		rng := newRand()
		l := logged(rng, c.rows)
		for i := range l.Steps {
			l.Reward[i] += 0.4*math.Sin(2*math.Pi*float64(i)/40) + c.noise*rng.NormFloat64()
		}
		d := Name(l)
		if v := finding(d, DynamicalInstability); v.Finding != c.want {
			t.Errorf("%d rows, noise %g: %+v, want %s\n%s", c.rows, c.noise, v, c.want, table(d))
		}
	}
}

// In long logs fast and slow oscillations are found all the same, and none in noise.
func TestLongLogs(t *testing.T) {
	for _, c := range []struct {
		period float64
		want   Finding
	}{{2.7, Present}, {5, Present}, {33, Present}, {700, Present}, {4000, NotObservable}, {math.Inf(1), Absent}} {
		rng := newRand()
		l := logged(rng, 20_000)
		for i := range l.Steps {
			l.Reward[i] += 0.4 * math.Sin(2*math.Pi*float64(i)/c.period)
		}
		d := Name(l)
		if v := finding(d, DynamicalInstability); v.Finding != c.want {
			t.Errorf("period %g: %+v, want %s\n%s", c.period, v, c.want, table(d))
		}
	}
}

// Rises of any shape that never fall are no oscillation and no loss, and with little noise
// most are told from one.
func TestRisesDoNotRing(t *testing.T) {
	rng := newRand()
	const runs = 200
	count := make(map[Finding]int)
	for range runs {
		l := logged(rng, 150)
		width, middle := 0.2*rng.Float64(), rng.Float64()
		for i := range l.Steps {
			l.Reward[i] = 0.2 + 0.5/(1+math.Exp((middle-float64(i)/150)/width)) + 0.003*rng.NormFloat64()
		}
		count[finding(Name(l), DynamicalInstability).Finding]++
	}
	if count[Present] > declaredMost(runs, 10*change.FalseAlarm) || count[Absent] < runs/2 {
		t.Errorf("rises are unstable or not in %v, want hardly any present and at least half absent", count)
	}
}

// A level that changes inside the late window is the level since the change. Cases: a share of
// groups that rises to 1, an entropy that falls, most tokens clipped.
func TestChangeInsideTheLateWindow(t *testing.T) {
	for _, c := range []struct {
		mode   Mode
		change func(l *Trace, i int)
	}{
		{AdvantageDegeneracy, func(l *Trace, i int) { l.ZeroVariance[i] = 1; l.Reward[i] = 0 }},
		{PolicyConcentration, func(l *Trace, i int) { l.Entropy[i] = 0.02 }},
		{DynamicalInstability, func(l *Trace, i int) { l.ClipFraction[i] += 0.6 }},
	} {
		for _, at := range []int{121, 160, 180} {
			l := logged(newRand(), 200)
			for i := at; i < 200; i++ {
				c.change(&l, i)
			}
			d := Name(l)
			if v := finding(d, c.mode); v.Finding != Present || v.Since < 10*at-10 || v.Since > 10*at+10 {
				t.Errorf("%s from row %d on: %+v, want present since %d or a row beside it\n%s", c.mode, at, v, 10*at, table(d))
			}
		}
	}
}

// What the noise hides is not absent: a clip fraction about the threshold, and a gradient.
func TestHiddenIsNotAbsent(t *testing.T) {
	l := logged(newRand(), 200)
	for i := range l.ClipFraction {
		l.ClipFraction[i] = 0
		if i%40 < 19 && i > 40 {
			l.ClipFraction[i] = 1
		}
	}
	if v := finding(Name(l), DynamicalInstability); v.Finding != NotObservable || !strings.Contains(v.Because, "the noise hides") {
		t.Errorf("a clip fraction of 0.475 ± 0.2: %+v", v)
	}
}

// Two swings of the entropy are too few to be a sign, and too many to exclude it.
func TestFewSwings(t *testing.T) {
	l := logged(newRand(), 200)
	for i := 110; i < 200; i++ {
		l.Entropy[i] = 0.3 + 0.25*math.Cos(2*math.Pi*float64(i-110)/45)
	}
	if v := finding(Name(l), DynamicalInstability); v.Finding != NotObservable || !strings.Contains(v.Because, "the entropy swings") {
		t.Errorf("two swings: %+v", v)
	}
}

// A constant reward, or two values, is no oscillation and has no hidden one.
func TestQuietRewards(t *testing.T) {
	for _, x := range [][]float64{slices.Repeat([]float64{0.5}, 60), append(slices.Repeat([]float64{0}, 20), slices.Repeat([]float64{1}, 60)...)} {
		trace := Trace{Origin: Samples, Reward: x, Steps: make([]int, len(x))}
		for i := range x {
			trace.Steps[i] = i
		}
		if e := rewardRinging(&trace); e.Says != None || e.noisy() {
			t.Errorf("%g …: %+v", x[0], e)
		}
	}
}

// explained returns the part of the sum of squares of y that the best linear
// combination of u and v explains.
func explained(y, u, v []float64) float64 {
	return explainedBy(change.Dot(u, u), change.Dot(u, v), change.Dot(v, v), change.Dot(u, y), change.Dot(v, y))
}
