package findings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grposim/training/logs"
)

// rewards is a log of rewards at the steps 10, 20, …
func rewards(x []float64) *logs.Log {
	l := &logs.Log{Table: logs.Table{Columns: []logs.Column{{Quantity: logs.Reward, Key: "reward", Values: x}}}}
	for i := range x {
		l.Steps = append(l.Steps, 10*(i+1))
	}
	return l
}

// A reward that collapses, early, late or slowly, is a failure since its fall; one that
// loses little or overshoots is a remark; one that rises, recovers or is missing is
// nothing.
func TestRewardCollapse(t *testing.T) {
	rise := func(i int) float64 { return 0.7 - 0.5*math.Exp(-float64(i)/20) }
	fallen := func(at int, by float64) func(int) float64 {
		return func(i int) float64 {
			if i >= at {
				return rise(i) - by
			}
			return rise(i)
		}
	}
	for _, c := range []struct {
		name        string
		curve       func(int) float64
		level       Level
		since, last int // steps between which the fall begins
	}{
		{"rises", rise, "", 0, 0},
		{"collapses", fallen(80, 0.6), Failure, 800, 820},
		{"collapses in the last rows", fallen(190, 0.6), Failure, 1900, 1920},
		{"loses a fifth", fallen(120, 0.1), Remark, 1190, 1230},
		{"recovers", func(i int) float64 {
			if i > 60 && i < 80 {
				return 0.1
			}
			return rise(i)
		}, "", 0, 0},
		{"declines", func(i int) float64 { return rise(i) - 0.004*math.Max(0, float64(i-80)) }, Failure, 400, 1300},
		{"oscillates", func(i int) float64 { return 0.5 + 0.3*math.Sin(2*math.Pi*float64(i)/74) }, Remark, 1600, 1900},
		{"declines without noise", func(i int) float64 { return 1e6 - float64(i) }, Failure, 10, 10},
	} {
		rng := rand.New(rand.NewPCG(3, 9))
		x := make([]float64, 200)
		for i := range x {
			x[i] = c.curve(i) + 0.03*rng.NormFloat64()
			if i%17 == 5 {
				x[i] = math.NaN()
			}
		}
		got := rewardCollapse(rewards(x))
		switch {
		case c.level == "" && len(got) > 0, c.level != "" && (len(got) != 1 || got[0].Level != c.level || got[0].Since < c.since || got[0].Since > c.last):
			t.Errorf("%s: %+v, want %s since %d to %d", c.name, got, c.level, c.since, c.last)
		}
	}
	if got := rewardCollapse(new(logs.Log)); got != nil {
		t.Errorf("no reward: %+v", got)
	}
}

// The bend of an exact one is found wherever it is, and that of one with noise of half
// the fall of ten rows within 15 rows; a line falls from its start, what rises does not fall.
func TestBend(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for k := range 99 {
		exact, noisy, rising := make([]float64, 100), make([]float64, 100), make([]float64, 100)
		for i := range exact {
			exact[i] = 0.7 - 0.01*max(0, float64(i-k))
			noisy[i] = exact[i] + 0.05*rng.NormFloat64()
			rising[i] = -exact[i]
		}
		if got := bend(exact); got != k {
			t.Errorf("bend at %d, want %d", got, k)
		}
		if got := bend(noisy); k < 70 && (got < k-15 || got > k+15) {
			t.Errorf("bend of noise at %d, want about %d", got, k)
		}
		if got := bend(rising); got != 0 {
			t.Errorf("what rises falls from %d", got)
		}
	}
}

// A slow fall that has ended goes between rewards that the log has, though the line through
// it leaves their range on both sides.
func TestSlowFallStaysInRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x := make([]float64, 300)
	for i := range x {
		rise := 0.2 + 0.5/(1+math.Exp((75-float64(i))/24))
		fall := 0.66 * min(1, max(0, float64(i-195)/40))
		x[i] = max(0.02, rise-fall) + 0.02*rng.NormFloat64()
	}
	found := rewardCollapse(rewards(x))
	if len(found) != 1 || found[0].Level != Failure {
		t.Fatalf("found %v, want one failure", found)
	}
	var from, to float64
	if _, err := fmt.Sscanf(found[0].Text, "reward falls slowly from %g to %g,", &from, &to); err != nil {
		t.Fatalf("%q: %v", found[0].Text, err)
	}
	if lowest, highest := slices.Min(x), slices.Max(x); from > highest+0.001 || to < lowest-0.001 {
		t.Errorf("%q, of rewards between %.3g and %.3g", found[0].Text, lowest, highest)
	}
}

// A slow fall that ended before the last rows is a failure since its begin, down to where it
// ended: what the first rows of a log state, and no later row contradicts, all of it states.
func TestSlowFallThatHasEnded(t *testing.T) {
	const rows, begin, bottom = 120, 86, 0.02
	for _, fall := range []float64{0.022, 0.03} { // a row: down within 31 and 23 rows
		missed := 0
		for seed := range uint64(12) {
			rng := rand.New(rand.NewPCG(seed, 41))
			x := make([]float64, rows)
			for i := range x {
				x[i] = max(bottom, 0.7-0.5*math.Exp(-float64(i)/25)-fall*max(0, float64(i-begin+1))) + 0.02*rng.NormFloat64()
			}
			early := slices.ContainsFunc(rewardCollapse(rewards(x[:begin+16])), func(f Finding) bool { return f.Level == Failure })
			got := rewardCollapse(rewards(x))
			if len(got) != 1 || got[0].Level != Failure {
				missed++
				if early {
					t.Errorf("%g a row, seed %d: %+v, want the failure that %d rows state", fall, seed, got, begin+16)
				}
				continue
			}
			var from, to float64
			if _, err := fmt.Sscanf(got[0].Text, "reward falls slowly from %g to %g,", &from, &to); err != nil {
				t.Errorf("%g a row, seed %d: %q: %v", fall, seed, got[0].Text, err)
			} else if from < 0.55 || to > bottom+0.1 || got[0].Since < 10*(begin-8) || got[0].Since > 10*(begin+8) {
				t.Errorf("%g a row, seed %d: %q since %d, want from about 0.7 to about %g since %d", fall, seed, got[0].Text, got[0].Since, bottom, 10*begin)
			}
		}
		if missed > 1 {
			t.Errorf("%g a row: %d of 12 falls are missed, want at most 1", fall, missed)
		}
	}
}

// A score of evaluation that does not fall makes a fall of the reward a remark, one that falls
// too or that has too few values does not; and a fall where the run was resumed says so.
func TestRewardFallsAlone(t *testing.T) {
	for _, c := range []struct {
		scores []float64 // at the steps 110, 410, …
		want   Level
	}{
		{[]float64{0.3, 0.4, 0.5, 0.5, 0.6, 0.6}, Remark},
		{[]float64{0.3, 0.4, 0.5, 0.4, 0.3, 0.3}, Failure},
		{[]float64{0.3, math.NaN(), 0.5, 0.5, 0.6, math.NaN()}, Failure},
	} {
		x := make([]float64, 200)
		rng := rand.New(rand.NewPCG(3, 11))
		for i := range x {
			if x[i] = 0.7 + 0.03*rng.NormFloat64(); i >= 100 {
				x[i] -= 0.3
			}
		}
		l := rewards(x)
		l.Resumes = []int{1010}
		l.Evaluation = &logs.Table{Columns: []logs.Column{{Quantity: logs.EvalScore, Key: "eval_reward", Values: c.scores}}}
		for i := range c.scores {
			l.Evaluation.Steps = append(l.Evaluation.Steps, 110+300*i)
		}
		got := rewardCollapse(l)
		if len(got) != 1 || got[0].Level != c.want || got[0].Since != 1010 || !strings.Contains(got[0].Text, "where the run was resumed") || strings.Contains(got[0].Text, "eval_reward does not fall") != (c.want == Remark) {
			t.Errorf("%v: %+v, want a %s since the resume at 1010", c.scores, got, c.want)
		}
	}
}

// A large fall of fifteen rows is clear, but chance may have made it: a remark with the odds.
func TestRewardPerhapsFalls(t *testing.T) {
	got := rewardCollapse(rewards([]float64{0.74, 0.6, 0.52, 0.48, 0.31, 0.19, 0.27, 0.2, 0.18, 0.12, 0.17, 0.16, 0.23, 0.1, 0.14}))
	if len(got) != 1 || got[0].Level != Remark || !strings.Contains(got[0].Text, "logs of 15 rows") {
		t.Errorf("got %+v, want a remark with its odds", got)
	}
}

// Rewards that fall with the data in every epoch, and come back, are no collapse.
func TestEpochsAreNoCollapse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	failures := 0
	for range 100 {
		x := make([]float64, 400)
		for i := range x {
			x[i] = 0.6 - 0.2*float64(i%50)/50 + 0.06*rng.NormFloat64()
		}
		for _, f := range rewardCollapse(rewards(x)) {
			if f.Level == Failure {
				failures++
			}
		}
	}
	if failures > 5 {
		t.Errorf("%d of 100 runs of eight epochs fail, want at most 5", failures)
	}
}

// Of a few rows a drop is a remark, however clear.
func TestRewardDrop(t *testing.T) {
	for _, c := range []struct {
		x     []float64
		since int // 0: nothing
	}{
		{[]float64{0.725, 0.059, 0.051, 0.045}, 20},
		{[]float64{0.7, 0.65, 0.75, 0.1, 0.05}, 40},
		{[]float64{0.725, 0.059}, 0},
		{[]float64{0.7, 0.3, 0.1, 0.05}, 0},
		{[]float64{0.1, 0.3, 0.5}, 0},
		{[]float64{0, 0, 0}, 0},
		{[]float64{-0.1, -0.9, -0.9}, 0},
		{nil, 0},
	} {
		got := rewardCollapse(rewards(c.x))
		if len(got) > 0 != (c.since > 0) || len(got) > 0 && (got[0].Since != c.since || got[0].Level != Remark || !strings.Contains(got[0].Text, "too few")) {
			t.Errorf("%v: %+v, want a remark since %d", c.x, got, c.since)
		}
	}
}

// Rewards that do not fall in the mean are said to fall in at most one of a thousand
// runs; of 500, 5 are exceeded with probability 2e-5.
func TestHealthyRewardsDoNotFall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 10))
	alarms, perhaps := 0, 0
	for range 500 {
		n, memory, walk := 12+rng.IntN(200), 0.6*rng.Float64(), 0.0
		size, speed := rng.Float64(), 20*rng.Float64()
		x := make([]float64, n)
		for i := range x {
			walk = memory*walk + rng.NormFloat64()
			x[i] = size*(1-math.Exp(-speed*float64(i)/float64(n))) + 0.1*walk
		}
		for _, f := range rewardCollapse(rewards(x)) {
			if strings.Contains(f.Text, "chance alone") {
				perhaps++
			} else {
				alarms++
			}
		}
	}
	if alarms > 5 {
		t.Errorf("%d of 500 healthy rewards are said to fall, want at most 5", alarms)
	}
	if perhaps > 25 {
		t.Errorf("%d of 500 healthy rewards are said to fall perhaps, want at most a share of %g", perhaps, rewardPerhaps)
	}
}
