package rom

import (
	"grposim/option"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

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
		{"all stale, K* = 2e7", at(option.Lag{Kind: option.Block, Interval: 4}, 1e-7, 0, 1), interval, 1_000_000},
		{"more stale than fresh, τ* ~ 1e4", at(option.Lag{Kind: option.Delay, Interval: 4}, 1e-4, -0.1, 1.1), interval, 512},
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
	if got := NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, DynamicsAlone).Exact.Searched; got != want {
		t.Errorf("thresholds that were not asked for: %+v, want %+v", got, want)
	}
	if got := Predict(at(option.Lag{Kind: option.Block, Interval: 4}, 0.1, 1, 0)).LeadingOrder.Searched; got.LearningRate != inf || got.RefreshInterval != inf {
		t.Errorf("the reduced-order model without lag is always stable: %+v", got)
	}
	p.KL.Coefficient, p.Reference = 0, []float64{0, 0}
	if none := Predict(p); none.FixedPoint != nil || none.Exact.Searched != (Limits{}) || none.LeadingOrder.Searched != (Limits{}) {
		t.Errorf("predictions without a fixed point: %+v", none)
	}
}

func rate(d Dynamics) (*float64, float64) { return d.CriticalLearningRate, d.Searched.LearningRate }
func interval(d Dynamics) (*float64, float64) {
	return d.CriticalRefreshInterval, d.Searched.RefreshInterval
}
func onset(d Dynamics) (*float64, float64) { return d.OscillationLearningRate, d.Searched.Onset }
