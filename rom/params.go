package rom

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// checked returns p with its defaults filled in: a nil Reference as zero logits,
// a factor of 0 as 1. It panics with the name of a field that is out of its range.
// Optimizer and Lag have checks of their own, because most functions do not use
// them.
func (p Params) checked() Params {
	checkArms(p.Arms)
	arms := len(p.Arms)
	if p.Reference == nil {
		p.Reference = make([]float64, arms)
	}
	checkLogits("Params.Reference", p.Reference, arms)
	want(isFinite(p.Reference), "Params.Reference", p.Reference, "finite logits")
	if p.Start != nil {
		checkLogits("Params.Start", p.Start, arms)
		want(isFinite(p.Start), "Params.Start", p.Start, "finite logits")
	}
	want(p.GroupSize == Infinite || p.GroupSize >= 2, "Params.GroupSize", p.GroupSize, "Infinite or at least 2")
	want(p.Groups >= 1, "Params.Groups", p.Groups, "at least 1")
	want(among(p.Baseline, RunningMean), "Params.Baseline", p.Baseline, "GroupMean, LeaveOneOut, SecondBest, ConstantBaseline or RunningMean")
	want(among(p.Scale, BatchMean), "Params.Scale", p.Scale, "GroupStd, Unscaled, BatchStd, OthersStd, GroupMeanScale, PooledStd or BatchMean")
	p.checkAdvantage()
	if p.GroupSize == Infinite { // all scales are those of one reward
		switch p.Scale {
		case BatchStd, OthersStd, PooledStd:
			p.Baseline, p.Scale, p.Deviation = GroupMean, GroupStd, Population
		case BatchMean:
			p.Scale = GroupMeanScale
		}
	}
	want(among(p.Deviation, Sample), "Params.Deviation", p.Deviation, "Population or Sample")
	want(nonNegative(p.Epsilon), "Params.Epsilon", p.Epsilon, "finite and at least 0")
	p.checkWeighting()
	want(among(p.Filter, Drop), "Params.Filter", p.Filter, "KeepAll, Redraw or Drop")
	if p.GroupSize == Infinite {
		p.Filter = KeepAll // no group has equal rewards
	}
	if success, _ := twoValued(p.Arms); p.Filter != KeepAll {
		want(p.Baseline <= LeaveOneOut && p.Scale <= Unscaled, "Params.Filter", p.Filter, "KeepAll with this advantage")
		want(success != nil, "Params.Filter", p.Filter, "KeepAll where rewards take more than two values")
		want(p.Filter != Drop || p.KLEstimator == ExactKL || p.Strength == 0, "Params.KLEstimator", p.KLEstimator, "ExactKL with the filter Drop")
	}
	want(nonNegative(p.Strength), "Params.Strength", p.Strength, "finite and at least 0")
	want(among(p.KLEstimator, RatioK3), "Params.KLEstimator", p.KLEstimator, "ExactKL, K1, K2, K3, RatioK1 or RatioK3")
	if p.Strength == 0 {
		p.Placement = InLoss // of no penalty
	}
	want(among(p.Placement, InReward), "Params.Placement", p.Placement, "InLoss, InAdvantage or InReward")
	want(p.Placement != InAdvantage || p.Weighting <= Ratio, "Params.Weighting", p.Weighting, "Unweighted or Ratio, InAdvantage")
	want(nonNegative(p.Entropy), "Params.Entropy", p.Entropy, "finite and at least 0")
	want(among(p.Samples, Reused), "Params.Samples", p.Samples, "Fresh or Reused")
	if u := p.ReferenceUpdate; u.Interval != 0 {
		want(u.Interval > 0, "Params.ReferenceUpdate.Interval", u.Interval, "at least 0")
		want(u.Rate > 0 && u.Rate <= 1, "Params.ReferenceUpdate.Rate", u.Rate, "within (0, 1]")
	}
	want(among(p.Anchor, AtSnapshot), "Params.Anchor", p.Anchor, "AtCurrent or AtSnapshot")
	for _, f := range []struct {
		name  string
		value *float64
	}{
		{"Stiffness", &p.Factors.Stiffness}, {"Noise", &p.Factors.Noise},
		{"Lag", &p.Factors.Lag}, {"Mass", &p.Factors.Mass},
	} {
		want(nonNegative(*f.value), "Params.Factors."+f.name, *f.value, "finite and above 0, or 0 for 1")
		if *f.value == 0 {
			*f.value = 1
		}
	}
	if p.Measured != nil {
		checkMeasured("Params.Measured.Fresh", p.Measured.Fresh, arms)
		checkMeasured("Params.Measured.Stale", p.Measured.Stale, arms)
	}
	p.Prompts.check(&p)
	p.groups, p.integral, p.cut = nil, nil, p.cutForce()
	if p.Placement == InReward && p.Strength > 0 {
		if p.GroupSize != Infinite && p.Scale == GroupStd && p.Weighting <= Ratio && len(p.Arms) == 2 && p.Arms[0].Law != Normal && p.Arms[1].Law != Normal {
			p.groups = newCompositions(&p)
		}
		return p
	}
	if success, _ := twoValued(p.Arms); success == nil && p.GroupSize != Infinite && (p.Scale == GroupStd || p.bySign()) {
		p.groups = newCompositions(&p)
		if p.groups == nil && p.Scale == GroupStd {
			p.integral = newGroupIntegral(&p)
		}
	}
	return p
}

// checkWeighting panics unless every field that the weighting uses is in its range.
func (p *Params) checkWeighting() {
	want(among(p.Weighting, ChangeClipped), "Params.Weighting", p.Weighting, "Unweighted, Ratio, Clipped, DualClipped, Truncated, Masked, Clamped, Sigmoid, Powered or ChangeClipped")
	positive := func(name string, x float64) {
		want(x > 0 && nonNegative(x), "Params."+name, x, "finite and above 0")
	}
	switch p.Weighting {
	case Clipped, DualClipped, Clamped, ChangeClipped:
		want(p.ClipLow > 0 && p.ClipLow < 1, "Params.ClipLow", p.ClipLow, "within (0, 1)")
		positive("ClipHigh", p.ClipHigh)
	case Masked:
		want(p.Floor >= 0 && p.Floor <= 1, "Params.Floor", p.Floor, "within [0, 1]")
	case Sigmoid:
		positive("Temperature.Positive", p.Temperature.Positive)
		positive("Temperature.Negative", p.Temperature.Negative)
	case Powered:
		positive("Power.Positive", p.Power.Positive)
		positive("Power.Negative", p.Power.Negative)
		want(nonNegative(p.Decay.Positive), "Params.Decay.Positive", p.Decay.Positive, "finite and at least 0")
		want(nonNegative(p.Decay.Negative), "Params.Decay.Negative", p.Decay.Negative, "finite and at least 0")
	}
	switch p.Weighting {
	case DualClipped, Truncated, Masked:
		want(p.Cap >= 1 && nonNegative(p.Cap), "Params.Cap", p.Cap, "finite and at least 1")
	}
}

// checkArms panics unless there are at least 2 arms, each with a known law, a
// finite mean (of a Bernoulli arm a probability) and a finite deviation ≥ 0.
func checkArms(arms []Arm) {
	want(len(arms) >= 2, "Params.Arms", len(arms), "at least 2")
	for a, arm := range arms {
		field := func(name string) string { return fmt.Sprintf("Params.Arms[%d].%s", a, name) }
		switch {
		case !among(arm.Law, Normal):
			want(false, field("Law"), arm.Law, "Bernoulli, Constant or Normal")
		case math.IsNaN(arm.Mean) || math.IsInf(arm.Mean, 0):
			want(false, field("Mean"), arm.Mean, "finite")
		case arm.Law == Bernoulli && !(arm.Mean >= 0 && arm.Mean <= 1):
			want(false, field("Mean"), arm.Mean, "within [0, 1] for a Bernoulli arm")
		case !nonNegative(arm.Std):
			want(false, field("Std"), arm.Std, "finite and at least 0")
		}
	}
}

// check panics unless the lag has a known kind and an age in its range.
func (l Lag) check() {
	want(among(l.Kind, Random), "Params.Lag.Kind", l.Kind, "Block, Delay or Random")
	if l.Kind == Block {
		want(l.Age >= 1, "Params.Lag.Age", l.Age, "at least 1 for Block")
	}
	want(l.Age >= 0, "Params.Lag.Age", l.Age, "at least 0")
	if l.Kind == Block {
		want(l.Behind >= 0, "Params.Lag.Behind", l.Behind, "at least 0")
	}
	if l.Kind == Random {
		l.Ages.check()
	}
}

func (a *Ages) check() {
	want(among(a.Law, TableAges), "Params.Lag.Ages.Law", a.Law, "UniformAges, GeometricAges or TableAges")
	want(a.Draws >= 0, "Params.Lag.Ages.Draws", a.Draws, "at least 0")
	switch a.Law {
	case UniformAges:
		want(a.From >= 0, "Params.Lag.Ages.From", a.From, "at least 0")
		want(a.To >= a.From, "Params.Lag.Ages.To", a.To, "at least From")
	case GeometricAges:
		want(a.Mean > 0 && nonNegative(a.Mean), "Params.Lag.Ages.Mean", a.Mean, "finite and above 0")
	case TableAges:
		sum := 0.0
		for age, w := range a.Weights {
			want(nonNegative(w), fmt.Sprintf("Params.Lag.Ages.Weights[%d]", age), w, "finite and at least 0")
			sum += w
		}
		want(sum > 0, "Params.Lag.Ages.Weights", sum, "a sum above 0")
	}
}

// check panics unless every field that the method and the schedule use is in its
// range.
func (o Optimizer) check() {
	want(among(o.Method, Adam), "Params.Optimizer.Method", o.Method, "HeavyBall, Nesterov or Adam")
	want(o.Rate > 0 && nonNegative(o.Rate), "Params.Optimizer.Rate", o.Rate, "finite and above 0")
	if o.Method == Adam {
		want(belowOne(o.Beta1), "Params.Optimizer.Beta1", o.Beta1, "within [0, 1)")
		want(belowOne(o.Beta2), "Params.Optimizer.Beta2", o.Beta2, "within [0, 1)")
		want(nonNegative(o.Epsilon), "Params.Optimizer.Epsilon", o.Epsilon, "finite and at least 0")
	} else {
		want(belowOne(o.Momentum), "Params.Optimizer.Momentum", o.Momentum, "within [0, 1)")
	}
	want(nonNegative(o.MaxNorm), "Params.Optimizer.MaxNorm", o.MaxNorm, "finite and at least 0")
	want(among(o.Decay, Cosine), "Params.Optimizer.Decay", o.Decay, "Steady, Linear or Cosine")
	want(o.Warmup >= 0, "Params.Optimizer.Warmup", o.Warmup, "at least 0")
	if o.Decay != Steady {
		want(o.Total > o.Warmup, "Params.Optimizer.Total", o.Total, "more than Warmup, unless Decay is Steady")
	}
}

// checkAdvantage panics unless baseline, scale and rewards go together.
func (p *Params) checkAdvantage() {
	switch p.Scale {
	case OthersStd:
		want(p.Baseline == LeaveOneOut, "Params.Baseline", p.Baseline, "LeaveOneOut with OthersStd")
	case GroupMeanScale, PooledStd, BatchMean:
		want(p.Baseline == GroupMean, "Params.Baseline", p.Baseline, "GroupMean with GroupMeanScale, PooledStd or BatchMean")
	case BatchStd:
		want(p.Baseline <= LeaveOneOut, "Params.Baseline", p.Baseline, "GroupMean or LeaveOneOut with BatchStd")
	}
	if p.givenBaseline() {
		want(p.Scale == Unscaled, "Params.Scale", p.Scale, "Unscaled with ConstantBaseline or RunningMean")
		want(p.BaselineValue >= 0 && p.BaselineValue <= 1, "Params.BaselineValue", p.BaselineValue, "within [0, 1]")
	}
	if p.Baseline == RunningMean {
		want(p.BaselineRate > 0 && p.BaselineRate <= 1, "Params.BaselineRate", p.BaselineRate, "within (0, 1]")
	}
	if p.Baseline > LeaveOneOut || p.Scale > Unscaled {
		for _, arm := range p.Arms {
			want(arm.Law == Bernoulli, "Params.Arms", p.Arms, "Bernoulli arms with this advantage")
		}
	}
}

// checkLogits panics unless logits has one entry per arm.
func checkLogits(name string, logits []float64, arms int) {
	if len(logits) != arms {
		want(false, name, fmt.Sprintf("%d logits", len(logits)), fmt.Sprintf("%d, one per arm", arms))
	}
}

// checkMeasured panics unless m is a square matrix with one row per arm.
func checkMeasured(name string, m *mat.Dense, arms int) {
	want(m != nil, name, "nil", "a matrix")
	if rows, columns := m.Dims(); rows != arms || columns != arms {
		want(false, name, fmt.Sprintf("%d×%d", rows, columns), fmt.Sprintf("%d×%d, a row per arm", arms, arms))
	}
}

// want panics with the name of the caller's mistake unless ok.
func want(ok bool, name string, got any, wanted string) {
	if !ok {
		panic(fmt.Sprintf("rom: %s: got %v, want %s", name, got, wanted))
	}
}

// among reports whether an enumeration value is one of those from 0 to last.
func among[Enumeration ~int](value, last Enumeration) bool { return value >= 0 && value <= last }

// nonNegative reports whether x is finite and at least 0.
func nonNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// belowOne reports whether x lies within [0, 1).
func belowOne(x float64) bool { return x >= 0 && x < 1 }
