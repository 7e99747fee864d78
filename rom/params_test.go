package rom

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Predict and MeanField panic with the name of a field that is out of its range.
func TestParamsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Arms = p.Arms[:1] }, "Params.Arms: got 1, want at least 2"},
		{func(p *Params) { p.Arms[1].Law = 3 }, "Params.Arms[1].Law: got 3, want Bernoulli, Constant or Normal"},
		{func(p *Params) { p.Arms[1] = Arm{Law: Normal, Mean: math.NaN()} }, "Params.Arms[1].Mean: got NaN, want finite"},
		{func(p *Params) { p.Arms[0] = Arm{Law: Constant, Mean: math.Inf(-1)} }, "Params.Arms[0].Mean: got -Inf, want finite"},
		{func(p *Params) { p.Arms[0].Mean = 1.5 }, "Params.Arms[0].Mean: got 1.5, want within [0, 1] for a Bernoulli arm"},
		{func(p *Params) { p.Arms[0] = Arm{Law: Normal, Std: -1} }, "Params.Arms[0].Std: got -1, want finite and at least 0"},
		{func(p *Params) { p.Reference = []float64{0} }, "Params.Reference: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0} }, "Params.Start: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0, math.Inf(1)} }, "Params.Start: got [0 +Inf], want finite logits"},
		{func(p *Params) { p.Reference[1] = math.NaN() }, "Params.Reference: got [0 NaN], want finite logits"},
		{func(p *Params) { p.GroupSize = 1 }, "Params.GroupSize: got 1, want Infinite or at least 2"},
		{func(p *Params) { p.GroupSize = -1 }, "Params.GroupSize: got -1, want Infinite or at least 2"},
		{func(p *Params) { p.Groups = 0 }, "Params.Groups: got 0, want at least 1"},
		{func(p *Params) { p.Groups = -2 }, "Params.Groups: got -2, want at least 1"},
		{func(p *Params) { p.Baseline = 5 }, "Params.Baseline: got 5, want GroupMean, LeaveOneOut, SecondBest, ConstantBaseline or RunningMean"},
		{func(p *Params) { p.Scale = -1 }, "Params.Scale: got -1, want GroupStd, Unscaled, BatchStd, OthersStd, GroupMeanScale, PooledStd or BatchMean"},
		{func(p *Params) { p.Deviation = 2 }, "Params.Deviation: got 2, want Population or Sample"},
		{func(p *Params) { p.Epsilon = -1e-8 }, "Params.Epsilon: got -1e-08, want finite and at least 0"},
		{func(p *Params) { p.Weighting = 10 }, "Params.Weighting: got 10, want Unweighted, Ratio, Clipped, DualClipped, Truncated, Masked, Clamped, Sigmoid, Powered or ChangeClipped"},
		{func(p *Params) { p.Weighting = Clipped }, "Params.ClipLow: got 0, want within (0, 1)"},
		{func(p *Params) { p.Weighting, p.ClipLow = Clipped, 0.2 }, "Params.ClipHigh: got 0, want finite and above 0"},
		{func(p *Params) { p.Weighting, p.Cap = Truncated, 0.9 }, "Params.Cap: got 0.9, want finite and at least 1"},
		{func(p *Params) { p.Weighting, p.Cap, p.Floor = Masked, 2, -1 }, "Params.Floor: got -1, want within [0, 1]"},
		{func(p *Params) { p.Weighting = Sigmoid }, "Params.Temperature.Positive: got 0, want finite and above 0"},
		{func(p *Params) { p.Weighting, p.Power = Powered, BySign{1, 0} }, "Params.Power.Negative: got 0, want finite and above 0"},
		{func(p *Params) { p.Weighting, p.Power, p.Decay = Powered, BySign{1, 1}, BySign{1, -1} }, "Params.Decay.Negative: got -1, want finite and at least 0"},
		{func(p *Params) { p.Strength = math.NaN() }, "Params.Strength: got NaN, want finite and at least 0"},
		{func(p *Params) { p.KLEstimator = 6 }, "Params.KLEstimator: got 6, want ExactKL, K1, K2, K3, RatioK1 or RatioK3"},
		{func(p *Params) { p.Placement = 3 }, "Params.Placement: got 3, want InLoss, InAdvantage or InReward"},
		{func(p *Params) { p.Placement, p.Weighting, p.ClipLow, p.ClipHigh = InAdvantage, Clipped, 0.2, 0.2 }, "Params.Weighting: got 2, want Unweighted or Ratio, InAdvantage"},
		{func(p *Params) { p.Entropy = -1 }, "Params.Entropy: got -1, want finite and at least 0"},
		{func(p *Params) { p.Samples = 2 }, "Params.Samples: got 2, want Fresh or Reused"},
		{func(p *Params) { p.ReferenceUpdate.Interval = -1 }, "Params.ReferenceUpdate.Interval: got -1, want at least 0"},
		{func(p *Params) { p.ReferenceUpdate.Interval = 2 }, "Params.ReferenceUpdate.Rate: got 0, want within (0, 1]"},
		{func(p *Params) { p.Optimizer.MaxNorm = -1 }, "Params.Optimizer.MaxNorm: got -1, want finite and at least 0"},
		{func(p *Params) { p.Anchor = 2 }, "Params.Anchor: got 2, want AtCurrent or AtSnapshot"},
		{func(p *Params) { p.Factors.Noise = -1 }, "Params.Factors.Noise: got -1, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Factors.Mass = math.Inf(1) }, "Params.Factors.Mass: got +Inf, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Measured = &Measured{} }, "Params.Measured.Fresh: got nil, want a matrix"},
		{func(p *Params) { p.Measured = &Measured{mat.NewDense(2, 2, nil), mat.NewDense(2, 3, nil)} },
			"Params.Measured.Stale: got 2×3, want 2×2, a row per arm"},
		{func(p *Params) { p.Lag.Kind = 3 }, "Params.Lag.Kind: got 3, want Block, Delay or Random"},
		{func(p *Params) { p.Lag = Lag{Kind: Block, Age: 0} }, "Params.Lag.Age: got 0, want at least 1 for Block"},
		{func(p *Params) { p.Lag = Lag{Kind: Delay, Age: -1} }, "Params.Lag.Age: got -1, want at least 0"},
		{func(p *Params) { p.Optimizer.Method = 3 }, "Params.Optimizer.Method: got 3, want HeavyBall, Nesterov or Adam"},
		{func(p *Params) { p.Optimizer.Rate = 0 }, "Params.Optimizer.Rate: got 0, want finite and above 0"},
		{func(p *Params) { p.Optimizer.Momentum = 1 }, "Params.Optimizer.Momentum: got 1, want within [0, 1)"},
		{func(p *Params) { p.Optimizer.Method, p.Optimizer.Beta1 = Adam, -0.1 }, "Params.Optimizer.Beta1: got -0.1, want within [0, 1)"},
		{func(p *Params) { p.Optimizer.Method, p.Optimizer.Beta2 = Adam, 1 }, "Params.Optimizer.Beta2: got 1, want within [0, 1)"},
		{func(p *Params) { p.Optimizer.Method, p.Optimizer.Epsilon = Adam, math.NaN() },
			"Params.Optimizer.Epsilon: got NaN, want finite and at least 0"},
		{func(p *Params) { p.Optimizer.Decay = 3 }, "Params.Optimizer.Decay: got 3, want Steady, Linear or Cosine"},
		{func(p *Params) { p.Optimizer.Warmup = -1 }, "Params.Optimizer.Warmup: got -1, want at least 0"},
		{func(p *Params) { p.Optimizer.Decay, p.Optimizer.Warmup, p.Optimizer.Total = Cosine, 5, 5 },
			"Params.Optimizer.Total: got 5, want more than Warmup, unless Decay is Steady"},
	} {
		p := reference(GroupStd, 1.2, 16)
		p.Arms, p.Reference = append([]Arm{}, p.Arms...), append([]float64{}, p.Reference...)
		c.change(&p)
		wantPanic(t, c.want, func() { Predict(p) })
		wantPanic(t, c.want, func() { MeanField(p, make([]float64, 2), 1, func(int, []float64) {}) })
	}
}

// Every exported function that takes Params checks them, and the number of logits.
func TestExportedFunctionsCheckParams(t *testing.T) {
	good := reference(GroupStd, 1.2, 16)
	bad := good
	bad.Arms = append([]Arm{}, good.Arms...)
	bad.Arms[1].Mean = math.NaN()
	ignore := func(int, []float64) {}
	for name, call := range map[string]func(p Params, logits []float64){
		"Predict":         func(p Params, _ []float64) { Predict(p) },
		"PredictDynamics": func(p Params, _ []float64) { PredictDynamics(p) },
		"NewEquilibrium":  func(p Params, _ []float64) { NewEquilibrium(p) },
		"FixedPoints":     func(p Params, _ []float64) { FixedPoints(p) },
		"Reached":         func(p Params, _ []float64) { Reached(p) },
		"MeanForce":       func(p Params, x []float64) { MeanForce(make([]float64, 2), p, x, x) },
		"ForceCovariance": func(p Params, x []float64) { ForceCovariance(p, x, x) },
		"StiffnessAt":     func(p Params, x []float64) { StiffnessAt(p, x) },
		"ExpectedReward":  func(p Params, x []float64) { ExpectedReward(p, x) },
		"MeanField":       func(p Params, x []float64) { MeanField(p, x, 1, ignore) },
		"ClosedForm":      func(p Params, x []float64) { ClosedForm(p, x) },
		"Refreshed":       func(p Params, x []float64) { Refreshed(p, x) },
		"SkewMultiplier":  func(p Params, x []float64) { SkewMultiplier(p, x) },
	} {
		t.Run(name, func(t *testing.T) {
			wantPanic(t, "Params.Arms[1].Mean: got NaN, want finite", func() { call(bad, make([]float64, 2)) })
			switch name {
			case "Predict", "PredictDynamics", "NewEquilibrium", "FixedPoints", "Reached":
			default:
				wantPanic(t, "got 3 logits, want 2, one per arm", func() { call(good, make([]float64, 3)) })
			}
		})
	}
	wantPanic(t, "rom: steps: got -1, want at least 0", func() { MeanField(good, make([]float64, 2), -1, ignore) })
}

// A nil Reference is the uniform policy, and a factor of 0 is 1.
func TestDefaultsOfParams(t *testing.T) {
	p := reference(GroupStd, 1.2, 16)
	p.Reference, p.Factors = []float64{0, 0}, Unit
	want := Predict(p)
	p.Reference, p.Factors = nil, Factors{}
	if got := Predict(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if p.Reference != nil || p.Factors != (Factors{}) {
		t.Errorf("Predict changed its caller's Params: %+v", p)
	}
}

// wantPanic fails the test unless f panics with a text that contains want.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, _ := recover().(string); !strings.Contains(text, "rom: ") || !strings.Contains(text, want) {
			t.Errorf("panic %q, want %q", text, want)
		}
	}()
	f()
}
