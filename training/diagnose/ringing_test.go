package diagnose

import (
	"math"
	"slices"
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
				t.Errorf("%d, %g cycles: explains %g, turned to %+v, want %g", n, cycles, got, turned, want)
			}
		}
	}
}

// A regular oscillation is there, or not observable where the last half does not hold
// enough of it or the noise hides it; never absent. Amplitude 0.4, period 40 rows.
func TestOscillationIsNotAbsent(t *testing.T) {
	for _, c := range []struct {
		noise float64
		want  Finding
		rows  []int
	}{
		{0.03, NotObservable, []int{40, 60, 80, 100, 140, 200}},
		{0.03, Present, []int{320, 800, 5000}},
		{0.3, NotObservable, []int{60, 120, 200}},
	} {
		for _, rows := range c.rows {
			rng := newRand()
			l := logged(rng, rows)
			for i := range l.Steps {
				l.Reward[i] += 0.4*math.Sin(2*math.Pi*float64(i)/40) + c.noise*rng.NormFloat64()
			}
			d := Name(l)
			if v := finding(d, DynamicalInstability); v.Finding != c.want {
				t.Errorf("%d rows, noise %g: %+v, want %s\n%s", rows, c.noise, v, c.want, table(d))
			}
		}
	}
}

// In long logs fast and slow oscillations are found all the same, and none in noise.
func TestLongLogs(t *testing.T) {
	for period, want := range map[float64]Finding{2.7: Present, 5: Present, 33: Present, 700: Present,
		4000: NotObservable, math.Inf(1): Absent} {
		rng := newRand()
		l := logged(rng, 20_000)
		for i := range l.Steps {
			l.Reward[i] += 0.4 * math.Sin(2*math.Pi*float64(i)/period)
		}
		d := Name(l)
		if v := finding(d, DynamicalInstability); v.Finding != want {
			t.Errorf("period %g: %+v, want %s\n%s", period, v, want, table(d))
		}
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
				t.Errorf("%s: %+v, want present since %d ± 10\n%s", c.mode, v, 10*at, table(d))
			}
		}
	}
}

// A constant reward, two values, or rounding errors at a fixed point are no oscillation and hide none.
func TestQuietRewards(t *testing.T) {
	equal := slices.Repeat([]float64{0.5}, 60)
	rounding := slices.Repeat([]float64{0.7, 0.7 + 2e-16}, 300)
	for _, x := range [][]float64{equal, append(make([]float64, 20), equal...), rounding} {
		for _, origin := range []Origin{Samples, Expectations} {
			trace := Trace{Origin: origin, Reward: x, Steps: everyStep()[:len(x)]}
			if e := rewardRinging(&trace); e.Says != None || e.noisy() {
				t.Errorf("origin %v, %g …: %+v", origin, x[0], e)
			}
		}
	}
}

// explained returns the part of the sum of squares of y that the best linear
// combination of u and v explains.
func explained(y, u, v []float64) float64 {
	dot := change.Dot
	return explainedBy(dot(u, u), dot(u, v), dot(v, v), dot(u, y), dot(v, y))
}
