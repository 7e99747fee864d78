package rom

import (
	"errors"
	"math"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// The earlier of two thresholds is the lower one, unless the other was not searched
// that far; a search up to +Inf means never, and one up to 0 leaves both unknown.
func TestThresholdOfEither(t *testing.T) {
	for _, c := range []struct{ a, b, want threshold }{
		{first(2), first(3), first(2)},
		{first(2), never, first(2)},
		{never, never, never},
		{first(2), upTo(5), first(2)},
		{first(5), upTo(2), upTo(2)},
		{first(2), upTo(2), first(2)},
		{upTo(2), upTo(5), upTo(2)},
		{never, upTo(5), upTo(5)},
		{first(2), threshold{}, threshold{}},
		{first(0), threshold{}, first(0)},
		{first(math.NaN()), never, threshold{}},
		{first(-1e-7), never, threshold{}},
		{upTo(math.Inf(1)), never, threshold{}},
	} {
		if got, swapped := c.a.or(c.b), c.b.or(c.a); got != c.want || swapped != c.want {
			t.Errorf("%v or %v: %v, %v; want %v", c.a, c.b, got, swapped, c.want)
		}
	}
}

// A search ends where the function is NaN, that is, unknown. A threshold found before
// is kept; beyond that point there is no result, and the point itself is no
// threshold.
func TestSearchEndsWhereNothingIsKnown(t *testing.T) {
	const n = 100
	knownTo := func(limit float64, f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			if x > limit {
				return math.NaN()
			}
			return f(x)
		}
	}
	rising := func(x float64) float64 { return x / 3 }
	if got := firstCrossing(rising, 1, 9, n); !got.known || math.Abs(got.at-3) > 1e-12 {
		t.Errorf("crossing at 3: %v", got)
	}
	if got := firstCrossing(rising, 1, 2, n); got != upTo(2) {
		t.Errorf("no crossing up to 2: %v", got)
	}
	if got := firstCrossing(knownTo(3.2, rising), 1, 9, n); !got.known || math.Abs(got.at-3) > 1e-12 {
		t.Errorf("crossing at 3, known to 3.2: %v", got)
	}
	// The grid steps by 0.02 in √x: by at most 0.08 below 4.
	if got := firstCrossing(knownTo(2.5, rising), 1, 9, n); got.known || got.at > 2.5 || got.at < 2.4 {
		t.Errorf("known to 2.5: %v", got)
	}
	if got := firstCrossing(knownTo(0.5, rising), 1, 9, n); got != (threshold{}) {
		t.Errorf("never known: %v", got)
	}
	// NaN around the crossing, within one cell of the grid: there is no crossing before.
	gap := func(x float64) float64 {
		if 2.99 < x && x < 3.001 {
			return math.NaN()
		}
		return rising(x)
	}
	if got := firstCrossing(gap, 1, 9, n); got.known || got.at > 3 || got.at < 2.9 {
		t.Errorf("NaN around the crossing: %v", got)
	}
	// A peak between two grid points.
	peak := func(x float64) float64 { return 1.001 - 10*(x-3.03)*(x-3.03) }
	if got := firstCrossing(peak, 1, 9, n); !got.known || math.Abs(got.at-(3.03-0.01)) > 1e-9 {
		t.Errorf("a peak reaches 1 at 3.02: %v", got)
	}
	if got := firstCrossing(rising, 1, math.Inf(1), n); got != (threshold{}) {
		t.Errorf("a scan up to +Inf: %v", got)
	}

	hill := func(z float64) float64 { return (1 - z) * (z - 0.5) }
	if got := firstMaximum(hill, 0.5); !got.known || math.Abs(got.at-0.0625) > 1e-12 {
		t.Errorf("the maximum of (1−z)(z−½) is 1/16: %v", got)
	}
	for _, hole := range []float64{math.NaN(), math.Inf(1)} {
		got := firstMaximum(func(z float64) float64 {
			if z < 0.8 {
				return hole
			}
			return hill(z)
		}, 0.5)
		if got != (threshold{}) {
			t.Errorf("%v before the maximum: %v", hole, got)
		}
	}
}

// Eigenvalues that do not converge make a result unknown, not unstable; a map that
// overflows is unstable; any other panic is passed on.
func TestUnconverged(t *testing.T) {
	if unconverged(nil) {
		t.Error("the absence of a panic counts as no convergence")
	}
	if !unconverged("lapack: bad length of wr") {
		t.Error("gonum's panic for a QR iteration that does not converge is not recognized")
	}
	for _, other := range []any{"lapack: bad length of wi", errors.New("lapack: bad length of wr"), []int{1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the panic %v is not passed on", other)
				}
			}()
			unconverged(other)
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a matrix that is not square")
			}
		}()
		multipliers(mat.NewDense(2, 3, nil))
	}()
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		if r := radius(single(x)); !math.IsInf(r, 1) {
			t.Errorf("radius %v of %v", r, x)
		}
	}
}

// A force of equal fresh and stale parts vanishes at w = π under an odd delay: at no
// rate is a multiplier there. On the circle e^{iw} − 1 = −η cos(τw/2)e^{−iτw/2}
// without momentum: w(τ+1) = π, and η = 2 sin(w/2)/cos(τw/2) = 2.
func TestDelayedForceThatVanishes(t *testing.T) {
	for tau := 1; tau <= 9; tau += 2 {
		s := scalar{fresh: 0.5, stale: 0.5, lag: option.Lag{Kind: option.Delay, Interval: tau}}
		got := s.criticalRate()
		if !got.known || math.Abs(got.at-2) > 1e-9 {
			t.Errorf("τ = %d: critical rate %v, want 2", tau, got)
		}
		l := s.linear()
		if r := radius(l.at(2*(1-1e-6), tau).monodromy()); r >= 1 {
			t.Errorf("τ = %d: radius %v below", tau, r)
		}
		if r := radius(l.at(2*(1+1e-6), tau).monodromy()); r <= 1 {
			t.Errorf("τ = %d: radius %v above", tau, r)
		}
	}
}

// Searched is +Inf for closed forms and where a threshold provably does not exist;
// everywhere else it is the limit of the search.
func TestHowFarThresholdsAreSearched(t *testing.T) {
	at := func(lag option.Lag, rate, fresh, stale float64) Params {
		p := reference(option.NoScale, 0.5, option.Infinite)
		p.Lag, p.Optimizer = lag, option.Optimizer{LearningRate: rate}
		direction := func(stiffness float64) *mat.Dense {
			return mat.NewDense(2, 2, []float64{stiffness / 2, -stiffness / 2, -stiffness / 2, stiffness / 2})
		}
		p.Measured = &Measured{Fresh: direction(fresh), Stale: direction(stale)}
		return p
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		p     Params
		value func(d Dynamics) (*float64, float64)
		want  float64 // the limit
	}{
		{"nothing stale, block", at(option.Lag{Kind: option.Block, Interval: 4}, 0.1, 1, 0), interval, inf},
		{"nothing stale, delay", at(option.Lag{Kind: option.Delay, Interval: 4}, 0.1, 1, 0), interval, inf},
		{"less stale than fresh: a long block comes to rest", at(option.Lag{Kind: option.Block, Interval: 4}, 0.1, 0.7, 0.3), interval, inf},
		{"less stale than fresh: any delay", at(option.Lag{Kind: option.Delay, Interval: 4}, 0.1, 0.7, 0.3), interval, inf},
		{"all stale, K* = 2e7", at(option.Lag{Kind: option.Block, Interval: 4}, 1e-7, 0, 1), interval, maxInterval},
		{"more stale than fresh, τ* ~ 1e4", at(option.Lag{Kind: option.Delay, Interval: 4}, 1e-4, -0.1, 1.1), interval, maxDelay},
		// M = 1e-6(1−κ)³ + 1 − 1e-6 reaches −1 at κ = 127 only.
		{"a block nearly at its snapshot", at(option.Lag{Kind: option.Block, Interval: 3}, 0.1, 1, -1+1e-6), rate, 10},
		// The stiffness λ_f + λ_s z^{−τ} vanishes before two multipliers meet.
		{"an onset beyond the longest companion", at(option.Lag{Kind: option.Delay, Interval: 200}, 0.1, 1, -0.5), onset, 0},
	} {
		got := Predict(c.p).Exact
		value, limit := c.value(got)
		if value != nil || math.Abs(limit-c.want) > 1e-12*c.want {
			t.Errorf("%s: %v, none up to %v; want none up to %v", c.name, value, limit, c.want)
		}
	}

	p := at(option.Lag{Kind: option.Block, Interval: 4}, 0.1, 0.7, 0.3)
	want := Predict(p).Exact.Searched
	if want.LearningRate == 0 || want.Onset == 0 {
		t.Errorf("critical rate and onset of a block are not searched: %+v", want)
	}
	want.LearningRate, want.RefreshInterval = 0, 0
	if got := PredictDynamics(p).Exact.Searched; got != want {
		t.Errorf("thresholds that were not asked for: %+v, want %+v", got, want)
	}
	if got := Predict(at(option.Lag{Kind: option.Block, Interval: 4}, 0.1, 1, 0)).LeadingOrder.Searched; got.LearningRate != inf || got.RefreshInterval != inf {
		t.Errorf("the reduced-order model without lag is always stable: %+v", got)
	}
	p.KL.Coefficient, p.Reference = 0, []float64{0, 0}
	if none := Predict(p); none.FixedPoint != nil || none.Exact.Searched != (Limits{}) || none.LeadingOrder.Searched != (Limits{}) {
		t.Errorf("predictions without a fixed point: %+v", none)
	}

	// Coupled modes (Λ_f and Λ_s do not commute) at a rate below every threshold. The
	// limit of delays is lower for many arms, whose companion matrix is large.
	for _, c := range []struct {
		kind option.LagKind
		n    int
		want float64
	}{{option.Delay, 2, maxCoupledDelay}, {option.Delay, 8, maxCompanion/2/8 - 2}, {option.Block, 2, maxCoupledBlock}} {
		fresh, stale := identity(c.n), identity(c.n)
		fresh.Set(0, 1, 0.3)
		stale.Set(1, 0, 0.3)
		l := &linear{fresh: fresh, stale: stale, rate: 1e-4, lag: option.Lag{Kind: c.kind, Interval: 3}}
		if got := l.criticalInterval(); got != upTo(c.want) {
			t.Errorf("kind %v, n = %d: critical interval %v, want none up to %v", c.kind, c.n, got, c.want)
		}
		if got := l.criticalRate(); !got.known {
			t.Errorf("kind %v, n = %d: critical rate %v", c.kind, c.n, got)
		}
	}
	// The dynamics inside the block converge within 512 steps, after which
	// x_old ↦ −Λ_f⁻¹Λ_s x_old, a contraction to a third.
	fresh, stale := identity(2), identity(2)
	fresh.Set(0, 1, 0.3)
	stale.Set(1, 0, 0.3)
	stale.Scale(1.0/3, stale)
	l := &linear{fresh: fresh, stale: stale, rate: 0.5, lag: option.Lag{Kind: option.Block, Interval: 3}}
	if got := l.criticalInterval(); got != never {
		t.Errorf("a block whose inner dynamics converge: %v", got)
	}
}

func rate(d Dynamics) (*float64, float64) { return d.CriticalLearningRate, d.Searched.LearningRate }
func interval(d Dynamics) (*float64, float64) {
	return d.CriticalRefreshInterval, d.Searched.RefreshInterval
}
func onset(d Dynamics) (*float64, float64) { return d.OscillationLearningRate, d.Searched.Onset }
