package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grposim/training/change"
)

// logged is a run as a trainer logs it: noise in every column, an evaluation in every
// fifth row, and no column that trainers lack.
func logged(rng *rand.Rand, rows int) Trace {
	t := Trace{Origin: Samples}
	for i := range rows {
		s := float64(i) / float64(rows)
		reward := 0.7 - 0.5*math.Exp(-8*s)
		t.Steps = append(t.Steps, 10*i)
		t.Reward = append(t.Reward, reward+0.03*rng.NormFloat64())
		t.TrueReward = append(t.TrueReward, math.NaN())
		if i%5 == 0 {
			t.TrueReward[i] = reward + 0.01*rng.NormFloat64()
		}
		t.Entropy = append(t.Entropy, 0.5+0.03*rng.NormFloat64())
		t.ZeroVariance = append(t.ZeroVariance, 0.1+0.05*rng.Float64())
		t.GradientNorm = append(t.GradientNorm, 0.3+0.1*rng.Float64())
		t.KLOld = append(t.KLOld, 1e-3*rng.Float64())
		t.ClipFraction = append(t.ClipFraction, 0.02*rng.Float64())
	}
	return t
}

// finding returns the verdict on a mode.
func finding(d Diagnosis, m Mode) Verdict {
	return d.Verdicts[slices.IndexFunc(d.Verdicts, func(v Verdict) bool { return v.Mode == m })]
}

// Each sign that a log can show gives its mode, since the step at which it appears.
func TestSigns(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int // rows that are changed
		change   func(l *Trace, i int)
		want     Mode
	}{
		{"healthy", 0, 0, nil, None},
		{"most tokens are clipped", 80, 200, func(l *Trace, i int) { l.ClipFraction[i] += 0.6 }, DynamicalInstability},
		{"many tokens are clipped", 80, 200, func(l *Trace, i int) { l.ClipFraction[i] += 0.4 }, None},
		{"far from the old policy", 80, 200, func(l *Trace, i int) { l.KLOld[i] += 0.02 }, DynamicalInstability},
		{"less far from it", 80, 200, func(l *Trace, i int) { l.KLOld[i] += 0.01 }, None},
		{"far in a few rows", 191, 198, func(l *Trace, i int) { l.KLOld[i] = 1 }, None},
		{"one arm step by step", 80, 200, func(l *Trace, i int) { l.Entropy[i] = 0.01 }, PolicyConcentration},
		{"evaluation falls", 0, 200, func(l *Trace, i int) { l.TrueReward[i] = 1 - l.TrueReward[i] }, RewardHacking},
		{"evaluation turns and falls steadily", 80, 200,
			func(l *Trace, i int) { l.TrueReward[i] -= 0.003 * float64(i-80) }, RewardHacking},
		{"no variance", 80, 200, func(l *Trace, i int) { l.ZeroVariance[i] += 0.7 }, AdvantageDegeneracy},
	} {
		run := logged(newRand(), 200)
		for i := c.from; i < c.to; i++ {
			c.change(&run, i)
		}
		d := Name(run)
		if d.Mode != c.want {
			t.Errorf("%s: named %s, want %s\n%s", c.name, d.Mode, c.want, table(d))
		}
		since := finding(d, DynamicalInstability).Since
		if c.want == DynamicalInstability && (since < 750 || since > 1250) {
			t.Errorf("%s: since step %d, want one of about 800 to 1200", c.name, since)
		}
	}
}

// Without what shows a mode, or hidden by noise, it is not observable, and the reason and
// the missing series are given.
func TestNotObservable(t *testing.T) {
	noise := func(i int) float64 { return math.Sin(float64(7 * i * i)) }
	for _, c := range []struct {
		mode    Mode
		because string
		missing []string
		change  func(l *Trace)
	}{
		{RewardHacking, "not recorded: true reward", []string{"true reward"},
			func(l *Trace) { l.TrueReward = nil }},
		{DynamicalInstability, "not recorded: reward", []string{"reward"}, func(l *Trace) { l.Reward = nil }},
		{RewardHacking, "not recorded: reward", []string{"reward"}, func(l *Trace) { l.Reward = nil }},
		{RewardHacking, "the noise hides", nil, func(l *Trace) {
			for i := range l.TrueReward {
				l.TrueReward[i] += 0.5 * noise(i)
			}
		}},
		{RewardHacking, "has not risen", nil, func(l *Trace) {
			for i := range l.Reward {
				l.Reward[i] = 0.5 + 0.01*noise(i)
			}
		}},
		{PolicyConcentration, "not recorded: entropy", []string{"entropy"}, func(l *Trace) { l.Entropy = nil }},
		{PolicyConcentration, "the noise hides", nil, func(l *Trace) {
			for i := range l.Entropy {
				l.Entropy[i] = (0.5 - 0.25*float64(i/100)) * (1 + noise(i))
			}
		}},
		{AdvantageDegeneracy, "not recorded", []string{"share of zero-variance groups"},
			func(l *Trace) { l.ZeroVariance = nil }},
		{DynamicalInstability, "not recorded: entropy", []string{"entropy", "KL to the old policy", "clip fraction"},
			func(l *Trace) { l.Entropy, l.KLOld, l.ClipFraction = nil, nil, nil }},
		{PolicyConcentration, "ends before the last eighth", nil, func(l *Trace) {
			copy(l.Entropy[120:], slices.Repeat([]float64{math.NaN()}, 80))
		}},
		{RewardHacking, "no diagnostic of it has a value", nil, func(l *Trace) {
			l.TrueReward = slices.Repeat([]float64{math.NaN()}, 200)
			l.TrueReward[100] = 0.5
		}},
		{RewardHacking, "12 evaluations are too few: evaluate every 99 steps", nil, func(l *Trace) {
			for i := range l.TrueReward {
				l.Reward[i], l.TrueReward[i] = 0.3+0.001*float64(i), math.NaN()
				if i%18 == 0 { // 12 of them
					l.TrueReward[i] = 0.5 - 0.2*float64(i)/198
				}
			}
		}},
		{DynamicalInstability, "fewer than 8 values", nil, func(l *Trace) { *l = l.Prefix(12) }},
		{DynamicalInstability, "the noise hides", nil, func(l *Trace) { // 0.475 ± 0.2
			for i := range l.ClipFraction {
				l.ClipFraction[i] = 0
				if i%40 < 19 && i > 40 {
					l.ClipFraction[i] = 1
				}
			}
		}},
		{DynamicalInstability, "the entropy swings", nil, func(l *Trace) { // twice, too few for a sign
			for i := 110; i < 200; i++ {
				l.Entropy[i] = 0.3 + 0.25*math.Cos(2*math.Pi*float64(i-110)/45)
			}
		}},
	} {
		run := logged(newRand(), 200)
		c.change(&run)
		v := finding(Name(run), c.mode)
		if v.Finding != NotObservable || !strings.Contains(v.Because, c.because) ||
			!slices.Equal(v.Missing, c.missing) || v.Since != -1 {
			t.Errorf("got %+v, want %s hidden because %s, missing %v", v, c.mode, c.because, c.missing)
		}
	}
}

// Rows whose deviation is 0 are a lower bound of the share of groups without variance:
// a sign, but never the absence of one.
func TestLowerBoundOfSilence(t *testing.T) {
	// Of ten rows.
	for zeros, want := range map[int]Finding{9: Present, 3: NotObservable, 0: NotObservable} {
		run := logged(newRand(), 200)
		run.AtLeast = true
		for i := range run.ZeroVariance {
			run.ZeroVariance[i] = map[bool]float64{true: 1}[i%10 < zeros]
		}
		if v := finding(Name(run), AdvantageDegeneracy); v.Finding != want {
			t.Errorf("%d of 10 rows: %+v, want %s", zeros, v, want)
		}
	}
}

// Healthy logs of any length, with noise of any size and correlation, are named for no failure more
// often than declared. That is a hundred diagnostics of one in a thousand.
func TestHealthyLogsRaiseNoAlarm(t *testing.T) {
	rng := newRand()
	alarms, runs := 0, 0
	for _, rows := range []int{16, 20, 40, 100, 300} {
		for range 100 {
			l := logged(rng, rows)
			memory, walk := rng.Float64(), 0.0
			size := math.Exp(-4 + 4*rng.Float64())
			for i := range l.Steps {
				walk = memory*walk + rng.NormFloat64()
				l.Reward[i] += 0.1 * size * walk
				l.GradientNorm[i] *= math.Exp(size * rng.NormFloat64())
				l.Entropy[i] *= 1 + 0.2*rng.NormFloat64()
			}
			runs++
			if d := Name(l); d.Mode != None {
				alarms++
				t.Logf("%d rows, noise %.2g, memory %.2g: %s\n%s", rows, size, memory, d.Mode, table(d))
			}
		}
	}
	if most := declaredMost(runs, 10*change.FalseAlarm); alarms > most {
		t.Errorf("%d of %d healthy logs are named for a failure, want at most %d", alarms, runs, most)
	}
}
