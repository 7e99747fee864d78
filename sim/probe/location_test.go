package probe

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// locationCell returns a modeCell with a location probe and the stiffness probe that it
// needs.
func locationCell(importance option.ImportanceMode, at option.KLPoint, probe Location) Cell {
	c := modeCell(importance, at)
	c.Run.Steps = 2000
	probe.Point, probe.Direction, probe.Offset = c.Init, []float64{1, -1}, 1e-5
	c.Location = &probe
	c.Stiffness = []Stiffness{{
		Name: StiffnessTotal, Displaced: sim.Both, Point: c.Init,
		Direction: []float64{1, -1}, Covector: []float64{0.5, -0.5}, Displacement: 0.01, Pairs: 1,
	}}
	return c
}

// located simulates cells and returns for each the measured stiffness and the located
// bracket, NaN for a missing estimate.
func located(t *testing.T, cells []Cell) (stiffness, low, high []float64) {
	t.Helper()
	for i, r := range simulate(t, cells, 2) {
		if r.Status != sim.OK || r.Steps != nil || r.Trajectory != nil {
			t.Errorf("a located cell is %s, with %d recorded steps, want ok, 0", r.Status, len(r.Steps))
		}
		value := func(name string) float64 {
			e, found := estimate(r, name)
			if !found {
				return math.NaN()
			}
			if e.DF != measure.Exactly && name != StiffnessTotal {
				t.Errorf("%s has %d degrees of freedom, want an exact estimate", name, e.DF)
			}
			return e.Mean
		}
		stiffness = append(stiffness, value(StiffnessTotal))
		low = append(low, value(LocatedLow))
		high = append(high, value(LocatedHigh))
		if low[i] > high[i] {
			t.Errorf("located in [%g, %g], want an ordered interval", low[i], high[i])
		}
	}
	return stiffness, low, high
}

// rates searches for an event along the learning rate.
func rates(event Event, from, to, tolerance float64) Location {
	return Location{Event: event, Param: LearningRate, From: from, To: to, Tolerance: tolerance}
}

func block(k int) option.Lag   { return option.Lag{Interval: k} }
func delay(tau int) option.Lag { return option.Lag{Kind: option.Delay, Interval: tau} }

// Located thresholds agree with the ηλ of docs/theory.md §5 to its digits and 0.3 %. The linear map
// is stable at the lower and unstable at the upper end of each bracket. Its width is the tolerance,
// or twice that if it contains an undecided value.
func TestLocatedThresholds(t *testing.T) {
	const tolerance = 1e-3
	type threshold struct {
		setting int // of twoArmModes
		lag     option.Lag
		mu      float64
		kappa   float64 // ηλ
	}
	const frozen, current, ratio = 0, 1, 2
	thresholds := []threshold{
		{frozen, block(1), 0, 2}, {frozen, block(8), 0, 0.25},
		{frozen, block(1), 0.5, 3}, {frozen, block(2), 0.5, 1.25}, {frozen, block(4), 0.5, 0.447368421},
		{frozen, block(8), 0.5, 0.166235446}, {frozen, block(16), 0.5, 0.07142826},
		{frozen, block(1), 0.9, 3.8}, {frozen, block(2), 0.9, 0.211111111}, {frozen, block(4), 0.9, 0.0730613979},
		{frozen, block(8), 0.9, 0.0338592952}, {frozen, block(16), 0.9, 0.0186538614},
		{frozen, delay(0), 0.9, 3.8}, {frozen, delay(1), 0.9, 0.1}, {frozen, delay(1), 0.5, 0.5},
		{frozen, delay(4), 0, 2 * math.Sin(math.Pi/18)},
		{current, block(2), 0.9, 0.249506437}, {current, block(4), 0.9, 0.0874026745},
		{current, block(8), 0.9, 0.0413077025}, {current, block(16), 0.9, 0.0239999318},
		{current, delay(1), 0.9, 0.11819}, {current, delay(2), 0.9, 0.06085}, {current, delay(4), 0.9, 0.03168},
		{current, delay(8), 0.9, 0.01686}, {current, delay(16), 0.9, 0.00922},
		{ratio, block(1), 0.9, 3.8}, {ratio, block(4), 0.9, 3.8}, {ratio, block(16), 0.9, 3.8},
		{ratio, block(4), 0.5, 3},
	}
	p := 1 / (1 + math.Exp(-1.4))
	var cells []Cell
	for _, x := range thresholds {
		setting := twoArmModes[x.setting]
		c := locationCell(setting.importance, setting.at, rates(Instability, 0.5, 1000, tolerance))
		c.Lag, c.Optimizer.Momentum = x.lag, x.mu
		cells = append(cells, c)
	}
	stiffness, low, high := located(t, cells)
	for i, x := range thresholds {
		name := fmt.Sprintf("%s, %v, μ = %g", twoArmModes[x.setting].name, x.lag, x.mu)
		lo, hi := low[i]*stiffness[i], high[i]*stiffness[i]
		if !(math.Abs(lo/x.kappa-1) < 3e-3 && math.Abs(hi/x.kappa-1) < 3e-3) {
			t.Errorf("%s: located in [%g, %g], want %g", name, lo, hi, x.kappa)
		}
		m := twoArmModes[x.setting].mode(p, p*(1-p))
		o := cells[i].Optimizer
		o.LearningRate = low[i] * (1 - tolerance/5)
		below := cmplx.Abs(m.multipliers(o, x.lag)[0])
		o.LearningRate = high[i] * (1 + tolerance/5)
		above := cmplx.Abs(m.multipliers(o, x.lag)[0])
		if !(below < 1 && above > 1) || !(high[i]-low[i] <= 2*tolerance*low[i]) {
			t.Errorf("%s: located in [%g, %g], radius %g below, %g above", name, low[i], high[i], below, above)
		}
	}
}

// Located onsets of ringing agree with closed forms, also if the multipliers are near each other.
// Of a frozen force (docs/theory.md §5) they are: on-policy (1−√μ)², block ((√(Ks) − s√μ)/a)²,
// delay max z^(τ−1)(1−z)(z−μ). Under geometric ages the mean of old policies is a third mode, with
// the onset max (1−z)(z−μ)(z−r)/((1−r)z²). Without a stale part it is (1−√μ)² for every K. A
// rotation inside a block is seen also if its K-th power is half a circle.
func TestLocatedOnsets(t *testing.T) {
	var cells []Cell
	var want []float64
	tried := 0
	add := func(c Cell, lag option.Lag, mu, onset float64) {
		if tried++; tried%min(thin, 5) == 0 {
			c.Lag, c.Optimizer.Momentum = lag, mu
			cells, want = append(cells, c), append(want, onset)
		}
	}
	search := rates(Ringing, 0.001, 100, 1e-3)
	for _, mu := range []float64{0, 0.5, 0.9, 0.99} {
		frozen := locationCell(option.NoImportance, option.AtSnapshot, search)
		frozen.Run.Steps = 4000
		for _, lag := range []option.Lag{block(1), block(2), block(16), delay(1), delay(4), delay(16)} {
			k := float64(lag.Interval)
			s, a := 0.0, 0.0 // velocity and displacement after a block under a unit force
			for range lag.Interval {
				s = mu*s + 1
				a += s
			}
			onset := math.Pow((math.Sqrt(k*s)-s*math.Sqrt(mu))/a, 2)
			if lag.Kind == option.Delay {
				b := k * (1 + mu)
				z := (b + math.Sqrt(b*b-4*(k+1)*(k-1)*mu)) / (2 * (k + 1))
				onset = math.Pow(z, k-1) * (1 - z) * (z - mu)
			}
			add(frozen, lag, mu, onset)
		}
		for _, k := range []int{2, 8, 64} {
			add(locationCell(option.Ratio, option.AtCurrent, search), block(k), mu, (1-math.Sqrt(mu))*(1-math.Sqrt(mu)))
		}
		if mu == 0.99 { // these onsets are of rates below 0.02
			continue
		}
		search := search
		search.From, search.To = 0.02, 4
		frozen = locationCell(option.NoImportance, option.AtSnapshot, search)
		frozen.Run.Steps = 500
		for _, mean := range []float64{0.2, 1} {
			r, onset := mean/(1+mean), 0.0
			for z := max(mu, r); z < 1; z += 1e-5 {
				onset = max(onset, (1-z)*(z-mu)*(z-r)/((1-r)*z*z))
			}
			add(frozen, option.Lag{Kind: option.Random,
				Ages: option.Ages{Law: option.GeometricAges, Mean: mean}}, mu, onset)
		}
	}
	stiffness, low, high := located(t, cells)
	for i, onset := range want {
		lo, hi := low[i]*stiffness[i], high[i]*stiffness[i]
		if !(math.Abs(lo/onset-1) < 2e-3 && math.Abs(hi/onset-1) < 2e-3) {
			t.Errorf("%v, μ = %g: located in [%.6g, %.6g], want %.6g", cells[i].Lag,
				cells[i].Optimizer.Momentum, lo, hi, onset)
		}
	}
}

// With a fresh part λ_f < 0 a mode oscillates from η = 1.185 to about 4. Beyond, it grows by 30 and
// more in a block without turning. What leaves the linear range within a block is no oscillation.
func TestLocatedOnsetBeyondItsWindow(t *testing.T) {
	rest := []float64{-0.8534357460385023, 0.8534357460385024}
	cell := func(from float64) Cell {
		c := locationCell(option.NoImportance, option.AtCurrent, rates(Ringing, from, 12, 1e-3))
		c.Bandit.Arms = []option.Arm{{Law: option.Normal, Mean: 0.5, Std: 0.6}, {Mean: 0.6}}
		c.Estimator.Advantage.Scale, c.Estimator.Advantage.Epsilon = option.StdScale, 6
		c.Estimator.KL.Gradient, c.Estimator.KL.Coefficient, c.Estimator.Entropy = option.K1, 1, 0.009
		c.Lag, c.Optimizer.Momentum = block(4), 0.5
		c.Init, c.Reference = rest, []float64{0, 0}
		c.Location.Point, c.Stiffness[0].Point = rest, rest
		return c
	}
	_, low, high := located(t, []Cell{cell(0.01), cell(0.2)})
	if !(low[0] <= 1.186 && high[0] >= 1.184 && high[0] < 1.01*low[0]) {
		t.Errorf("located in [%.6g, %.6g], want 1.185", low[0], high[0])
	}
	if !math.IsNaN(high[1]) {
		t.Errorf("located in [%.6g, %.6g], want none beyond 10", low[1], high[1])
	}
}

// A refresh interval below 100 is located exactly, also if the next are stable again
// (docs/theory.md §5, ratio with the penalty at the snapshot). A longer one is located between
// neighbours, or to the tolerance.
func TestLocatedInterval(t *testing.T) {
	const plain, ratio = option.NoImportance, option.Ratio
	none := math.NaN()
	rows := []struct {
		importance option.ImportanceMode
		mu, kappa  float64
		steps      int
		from, to   float64
		tolerance  float64
		low, high  float64
	}{
		{ratio, 0.9, 0.62, 2000, 0.5, 100, 0, 4, 4},
		{plain, 0, 0.0301, 20_000, 0.5, 10, 0, 67, 67},         // 2/κ = 66.4
		{plain, 0, 0.00501, 200_000, 0.5, 10, 1e-9, 399, 400},  // 2/κ = 399.2
		{plain, 0, 0.0301, 2000, 2.5, 10, 0, 1, 84},            // ⌈2.5/κ⌉ = 84 is unstable
		{plain, 0, 0.0301, 2000, 0.5, 1.5, 0, 49, none},        // stable up to 1.5/κ = 49.8
		{plain, 0.9, 5, 2000, 0.5, 0.9, 0, 1, 1},               // unstable for every K
		{plain, 0.9, 0.03, 2000, 0.5, 10, 0, 0, 0},             // by the linear map
		{plain, 0.9, 0.06, 2000, 0.1, 10, 0, 0, 0},             // a delay, by the linear map
		{plain, 0, 0.00501, 20_000, 0.5, 10, 0.02, none, none}, // to 2 %
	}
	var cells []Cell
	for i, x := range rows {
		c := locationCell(x.importance, option.AtSnapshot, Location{
			Event: Instability, Param: RefreshInterval, From: x.from, To: x.to, Tolerance: x.tolerance})
		c.Optimizer.Momentum, c.Optimizer.LearningRate, c.Run.Steps = x.mu, x.kappa/0.1586848975, x.steps
		c.Lag.Interval = 777 // unused
		if i == 7 {
			c.Lag = delay(0)
		}
		cells = append(cells, c)
	}
	_, low, high := located(t, cells)
	for i, x := range rows {
		if x.low == 0 { // the first interval at which the linear map grows
			lag := cells[i].Lag
			stiff, o := mode{0, 0.1586848975}, cells[i].Optimizer
			for lag.Interval = 1; cmplx.Abs(stiff.multipliers(o, lag)[0]) < 1; lag.Interval++ {
			}
			x.low, x.high = float64(lag.Interval), float64(lag.Interval)
		}
		switch {
		case math.IsNaN(x.low):
			if !(low[i] < 399.2 && 399.2 < high[i] && high[i]-low[i] <= 0.02*low[i] && high[i]-low[i] > 1) {
				t.Errorf("%d: located in [%g, %g], want 399.2 to 2 %%", i, low[i], high[i])
			}
		case low[i] != x.low || high[i] != x.high && !(math.IsNaN(high[i]) && math.IsNaN(x.high)):
			t.Errorf("%d: located in [%g, %g], want [%g, %g]", i, low[i], high[i], x.low, x.high)
		}
	}
}

// The skew law's flip (docs/theory-neglected.md §6) is at K* = 265.404, at the lower fixed point
// L = −3.0014. It has L_ref = −6, β = 1.57, η = 0.05.
func TestLocatedSkewFlip(t *testing.T) {
	c := locationCell(option.Ratio, option.AtCurrent, Location{
		Event: Instability, Param: RefreshInterval, From: 2, To: 10, Tolerance: 1e-9})
	c.Bandit.Arms = []option.Arm{{Law: option.Constant, Mean: 1}, {Law: option.Constant}}
	c.Estimator.Advantage.Scale, c.Estimator.KL.Coefficient = option.StdScale, 1.57
	c.Optimizer.LearningRate = 0.05
	c.Reference = []float64{-3, 3}
	lower, upper := -3.1, -2.9 // of 2cosh(L/2) = β(L − L_ref)
	for range 60 {
		middle := (lower + upper) / 2
		if 2*math.Cosh(middle/2) > 1.57*(middle+6) {
			lower = middle
		} else {
			upper = middle
		}
	}
	c.Init = []float64{lower / 2, -lower / 2}
	c.Location.Point, c.Stiffness[0].Point, c.Run.Steps = c.Init, c.Init, 400_000
	if _, low, high := located(t, []Cell{c}); low[0] != 265 || high[0] != 266 {
		t.Errorf("located in [%g, %g], want 265, 266", low[0], high[0])
	}
}

// If the event is absent up to To, LocatedLow is To and there is no LocatedHigh. If it is present
// at the first value, LocatedLow is 0. Without a positive stiffness there is no search.
func TestLocatedNowhere(t *testing.T) {
	search := func(from, to float64) Cell {
		return locationCell(option.NoImportance, option.AtSnapshot, rates(Instability, from, to, 1e-3))
	}
	cells := []Cell{search(0.5, 1.5), search(3, 4), search(0.5, 3), search(0.5, 3)}
	cells[2].Stiffness[0].Covector = []float64{-0.5, 0.5}
	cells[3].Stiffness[0].Covector = []float64{0, 0}
	stiffness, low, high := located(t, cells)
	if want := 1.5 / stiffness[0]; math.Abs(low[0]/want-1) > 1e-12 || !math.IsNaN(high[0]) {
		t.Errorf("stable up to To: located in [%g, %g], want %g and no upper end", low[0], high[0], want)
	}
	if want := 3 / stiffness[1]; low[1] != 0 || math.Abs(high[1]/want-1) > 1e-12 {
		t.Errorf("unstable at From: located in [%g, %g], want [0, %g]", low[1], high[1], want)
	}
	for i := 2; i < 4; i++ {
		if !math.IsNaN(low[i]) || !math.IsNaN(high[i]) {
			t.Errorf("stiffness %g: located in [%g, %g], want no estimates", stiffness[i], low[i], high[i])
		}
	}
}

// With many sampled groups a step the bracket contains the threshold and is narrow. The long test
// has as many groups as the committed experiment, and twice as many pairs.
func TestLocatedThresholdOfSampledGroups(t *testing.T) {
	groups, offset, width := 1024, 0.02, 0.1
	if thin == 1 {
		groups, offset, width = 4096, 0.01, 0.04
	}
	c, stiffness := sampledLocation(16, groups, 16, offset)
	c.Optimizer.Momentum, c.Lag = 0.5, block(4)
	c.Run.Steps = 400
	_, low, high := located(t, []Cell{c})
	want := 0.447368421 / stiffness
	if !(low[0] < want && want < high[0] && high[0]-low[0] < width*want) {
		t.Errorf("located in [%g, %g], want about %g, to within %g", low[0], high[0], want, width)
	}
	t.Logf("located at %.4f to %.4f of the threshold", low[0]/want, high[0]/want)
}

// sampledLocation searches for the instability of a frozen force under groups of the given size.
// Its fixed point is z* = Δ(1 − 1/G)/β, where λ = 2β p(1−p).
func sampledLocation(size, groups, replicas int, offset float64) (c Cell, stiffness float64) {
	c = locationCell(option.NoImportance, option.AtSnapshot, rates(Instability, 0.5, 10, 0.01))
	c.Estimator.GroupSize, c.Estimator.GroupsPerStep = size, groups
	half := 0.7 * (1 - 1/float64(size))
	c.Init = []float64{half, -half}
	c.Location.Point, c.Location.Offset = c.Init, offset
	c.Stiffness[0].Point, c.Stiffness[0].Pairs = c.Init, 1_000_000/groups
	c.Stiffness[0].Displacement = 0.1
	c.Run = sim.Run{Steps: 200, Replicas: replicas}
	p := 1 / (1 + math.Exp(-2*half))
	return c, p * (1 - p)
}

// With one pair nothing is certain, whatever its noise. With more pairs the bracket narrows and
// contains the threshold. An end is decided beyond three standard errors. The noise of 8 groups of
// 8,192 shifts the threshold by at most 2 %.
func TestLittleDataGivesAWideBracket(t *testing.T) {
	var cells []Cell
	var want float64
	for _, replicas := range []int{1, 4, 16} {
		for i := range max(1, 3/thin) {
			c, stiffness := sampledLocation(8192, 8, replicas, 0.02)
			want = 1 / stiffness // ηλ = 2/K
			c.ID, c.Lag = fmt.Sprint("search ", i), block(2)
			cells = append(cells, c)
		}
	}
	_, low, high := located(t, cells)
	for i, c := range cells {
		switch {
		case c.Run.Replicas == 1 && (low[i] != 0 || !math.IsNaN(high[i])):
			t.Errorf("one pair: located in [%g, %g], want nothing decided", low[i], high[i])
		case low[i] > 1.02*want || high[i] < 0.98*want:
			t.Errorf("%d pairs: located in [%g, %g], want %g", c.Run.Replicas, low[i], high[i], want)
		case c.Run.Replicas == 16 && !(high[i]-low[i] < 0.4*want):
			t.Errorf("%d pairs: located in [%g, %g], want about %g", c.Run.Replicas, low[i], high[i], want)
		}
	}
}

// A stable deviation that decays much more slowly than a trial lasts is undecided, not
// unstable. A deviation that starts near round-off is undecided in every case. Near a flip with
// momentum a stable one, which grows at first to (1+μ)/(1−μ) times its start, is not unstable.
func TestUndecided(t *testing.T) {
	tried := func(event Event, rate, offset float64) outcome {
		c := locationCell(option.NoImportance, option.AtSnapshot, Location{Event: event})
		c.Location.Offset, c.Optimizer.LearningRate, c.Run.Steps = offset, rate, 100
		return newTrial(c).outcome(t.Context(), event)
	}
	for _, x := range []struct {
		event        Event
		rate, offset float64
		want         outcome
	}{
		{Instability, 1e-6, 1e-5, undecided}, // decays by 3e-4 of its start over 1,600 steps
		{Instability, 1, 1e-5, absent},
		{Instability, 13, 1e-5, present}, // ηλ = 2.06
		{Instability, 1, 1e-12, undecided},
		{Instability, 13, 1e-12, undecided},
		{Ringing, 13, 1e-12, undecided},
		{Ringing, 1, 1e-5, absent},
		{Ringing, 7, 1e-5, present}, // 1 − ηλ = −0.11
	} {
		if got := tried(x.event, x.rate, x.offset); got != x.want {
			t.Errorf("%s at η = %g from %g: outcome %d, want %d", x.event, x.rate, x.offset, got, x.want)
		}
	}
	for _, mu := range []float64{0.5, 0.9, 0.99} {
		for _, off := range []float64{-1e-2, -1e-3, -1e-5, 1e-2} {
			c := locationCell(option.NoImportance, option.AtSnapshot, Location{Event: Instability})
			c.Optimizer.Momentum, c.Optimizer.LearningRate = mu, 2*(1+mu)*(1+off)/0.1586848975
			got := newTrial(c).outcome(t.Context(), Instability)
			if off < 0 && got == present || off > 0 && got != present {
				t.Errorf("μ = %g, %g relative to the threshold: outcome %d", mu, off, got)
			}
		}
	}
}

// The bracket after given outcomes of trials, and the value that is tried next.
func TestBracket(t *testing.T) {
	type trial struct {
		value float64
		outcome
	}
	none := math.Inf(1)
	for _, x := range []struct {
		whole     bool
		trials    []trial
		low, high float64
		middle    float64 // at a tolerance of 0.01; 0: none
	}{
		{false, nil, 0, none, 0},
		{false, []trial{{1, absent}, {2, present}}, 1, 2, 1.5},
		{false, []trial{{1, absent}, {2, undecided}}, 1, none, 1.5},
		{false, []trial{{1, undecided}, {2, present}}, 0, 2, 1.5},
		{false, []trial{{1, undecided}, {2, absent}, {2.01, present}}, 2, 2.01, 0},
		{false, []trial{{1, absent}, {1.005, undecided}, {2, undecided}, {3, present}}, 1, 3, 2.5},
		{false, []trial{{1, absent}, {2, undecided}, {3, undecided}, {4, present}, {2.5, present}}, 1, 2.5, 1.5},
		{true, []trial{{1, present}}, 1, 1, 0},
		{true, []trial{{5, present}}, 1, 5, 0}, // nothing below has been tried
		{true, []trial{{1, absent}, {2, absent}, {3, present}}, 3, 3, 0},
		{true, []trial{{1, absent}, {2, undecided}, {3, absent}, {4, present}}, 2, 4, 0},
		{true, []trial{{120, absent}, {126, present}}, 120, 126, 123},
		{true, []trial{{120, absent}, {126, undecided}, {127, absent}, {133, present}}, 120, 133, 123},
	} {
		b := bracket{high: none, whole: x.whole}
		for _, try := range x.trials {
			b.add(try.value, try.outcome)
		}
		middle, wide := b.middle(0.01)
		if b.lowest() != x.low || b.high != x.high || wide != (x.middle > 0) || wide && middle != x.middle {
			t.Errorf("%v: in [%g, %g], next %g (%v); want [%g, %g], next %g",
				x.trials, b.lowest(), b.high, middle, wide, x.low, x.high, x.middle)
		}
	}
}

// The ladder begins at From times the rule, which for Adam has no momentum. It ends at the longest
// affordable interval. There is no search if it would begin beyond that.
func TestWhereASearchBeginsAndEnds(t *testing.T) {
	c := locationCell(option.NoImportance, option.AtSnapshot, rates(Instability, 0.5, 2, 0.01))
	c.Optimizer.Momentum, c.Lag = 0.9, block(4)
	if l := c.Location.ladder(&c, 0.25); math.Abs(l.first-0.05) > 1e-15 || math.Abs(l.last-0.2) > 1e-15 {
		t.Errorf("heavy ball: got %+v, want 0.05 to 0.2", l)
	}
	c.Optimizer.Kind = option.Adam
	if l := c.Location.ladder(&c, 0.25); l.first != 0.5 || l.last != 2 {
		t.Errorf("Adam: got %+v, want 0.5 to 2", l)
	}
	c.Optimizer.Kind, c.Optimizer.Momentum, c.Location.Param = option.HeavyBall, 0, RefreshInterval
	c.Run.Steps = 100
	for _, x := range []struct{ rate, first, last float64 }{{0.01, 200, 800}, {0.001, 2000, 1600},
		{1e-300, math.Inf(1), 1600}, {0.004, 500, 1600}, {10, 1, 1}} {
		c.Optimizer.LearningRate = x.rate
		l := c.Location.ladder(&c, 0.25)
		if l.last != x.last || !(math.Abs(l.first/x.first-1) < 1e-9) && x.rate > 1e-300 {
			t.Errorf("η = %g: %+v, want %g to %g", x.rate, l, x.first, x.last)
		}
	}
	c.Optimizer.LearningRate = 1e-8
	if got := c.Location.locate(t.Context(), &c, measure.Certain(0.25)); got != nil {
		t.Errorf("got %v without a trial, want no estimates", got)
	}
}

// SearchSteps agrees with counts by hand. η has 3 values and one halving for 1.05/0.6, each with a
// pair of 64 periods of 4 steps. K has the intervals 1, 2 and 3, with 32 periods for 8 pairs.
func TestSearchSteps(t *testing.T) {
	rate := locationCell(option.NoImportance, option.AtSnapshot, rates(Instability, 1, 1.1, 0.6))
	rate.Lag, rate.Run.Steps = block(4), 10
	interval := locationCell(option.NoImportance, option.AtSnapshot,
		Location{Event: Instability, Param: RefreshInterval, From: 0.1, To: 3, Tolerance: 1.2})
	interval.Run, interval.Optimizer.LearningRate = sim.Run{Steps: 10, Replicas: 8}, 1
	interval.Estimator.GroupSize = 16
	if a, b := rate.SearchSteps(1), interval.SearchSteps(1); a != 2*(3+1)*256 || b != 2*8*32*(1+2+3) {
		t.Errorf("got %g and %g steps, want 2048 and 3072", a, b)
	}
}

// A pair that leaves the range of floating point in its first step has grown, with
// sampled groups and at G = ∞.
func TestDivergenceIsGrowth(t *testing.T) {
	for _, size := range []int{16, option.Infinite} {
		c := locationCell(option.NoImportance, option.AtCurrent, Location{Event: Instability})
		c.Estimator.GroupSize = size
		c.Estimator.KL = option.KL{Coefficient: 50, Gradient: option.K3}
		c.Optimizer.LearningRate = 1.7e308 // a force of 1.1 makes the logits overflow
		c.Run = sim.Run{Steps: 100, Replicas: 4}
		trial := newTrial(c)
		if trial.outcome(t.Context(), Instability) != present {
			t.Errorf("G = %d: the event is not present", size)
		}
		if trial.pair.begin(sim.ForLocation, 0); trial.pair.step(0) {
			t.Errorf("G = %d: step reports finite logits, which are %v",
				size, func() []float64 { x, _ := trial.pair.Sides[0].Moved(); return x }())
		}
	}
}
