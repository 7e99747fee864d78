package theory

import (
	"cmp"
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/arrive"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// MissingFixedPoint returns the theory's own reason for a prediction without fixed point.
func MissingFixedPoint(p *rom.Prediction) scope.Reason {
	if p.FixedPoint == nil {
		return p.Exact.Scope.Because
	}
	return scope.Reason{}
}

// stationaryScope returns the reason why the theory predicts no stationary state for the
// settings, as far as the prediction alone says.
func stationaryScope(s *config.Settings, p *rom.Prediction) scope.Reason {
	switch infinite := s.Estimator.GroupSize == option.Infinite; {
	case p.FixedPoint == nil:
		return MissingFixedPoint(p)
	case infinite && p.Exact.IsUnstable():
		return p.Exact.Unstable()
	case infinite && p.Exact.SpectralRadius == nil && p.Exact.Scope.In:
		return scope.NoNumber.Because("the multipliers of the linear map are not known")
	case infinite && !p.LeadingOrder.Scope.In:
		return p.LeadingOrder.Scope.Because
	case infinite:
		return scope.Reason{}
	case !p.Noise.In:
		return p.Noise.Because
	case s.Optimizer.Schedule.Warmup >= s.Run.Steps:
		return scope.RateVaries.Because("rises to the end of the run")
	}
	return scope.Reason{}
}

// StationaryKind returns the kind of the theory's prediction of a stationary state:
// leading order with Adam, else that of the mean force.
func StationaryKind(s *config.Settings, p *rom.Prediction) rom.Kind {
	if s.Optimizer.Kind == option.Adam {
		return rom.LeadingOrder
	}
	return p.ForceKind
}

// AtRest is what the theory says of the stationary state of the runs of a cell. Verdicts, tables,
// advice and `grposim predict` read its numbers.
type AtRest struct {
	settings   *config.Settings
	prediction *rom.Prediction
	settled    rest.Settled
}

// AtRest returns the stationary state of the runs of a cell by a prediction for its settings with
// scaled constants.
func (cache *Cache) AtRest(s *config.Settings, p *rom.Prediction, factors rom.Factors) *AtRest {
	a := &AtRest{s, p, rest.Settled{Reward: 1}}
	if !s.Deep() && !stationaryScope(s, p).Out() {
		a.settled = cache.Settled(s, factors)
	}
	return a
}

// Stationary is AtRest of the theory as derived.
func (cache *Cache) Stationary(s *config.Settings) *AtRest {
	return cache.AtRest(s, cache.Predict(s, rom.Unit), rom.Unit)
}

// Scope returns the reason why the theory says nothing of the stationary state.
func (a *AtRest) Scope() scope.Reason {
	return stationaryScope(a.settings, a.prediction)
}

// Numbers returns the numbers of the stationary state.
func (a *AtRest) Numbers() Numbers {
	return Numbers{a.Mean(""), a.Variance(), a.ZeroShare(), a.TrueMean()}
}

// number returns a number of the stationary state without its value.
func (a *AtRest) number(of func(*scope.Sizes) float64) scope.Number {
	n := a.prediction.Neglected.Number(math.NaN(), StationaryKind(a.settings, a.prediction), of)
	n.Because = a.Scope()
	return n
}

// Mean returns the stationary mean of J: J(θ*_G) plus the second-order shift by the noise, as much
// of it as the steps after burn-in have. By LeadingOrder it is J(θ*_G) alone. So it is where the
// noise is out of scope, if that leaves out less than half of NearInMean of the range.
func (a *AtRest) Mean(kind rom.Kind) scope.Number {
	n := a.number(scope.OfMean)
	if own := a.prediction.Noise.Because; a.prediction.MeanKnown && own == n.Because &&
		n.Size() <= scope.Decisive*NearInMean*span(a.settings.Bandit.Means()) {
		n.Because = scope.Reason{}
	}
	if n.Out() {
		return n
	}
	n.Value = a.prediction.FixedPoint.Reward
	shift, share := a.prediction.Moments.RewardShift, a.settled.Reward
	switch {
	case a.settings.Deep():
		n.Leave(scope.HigherOrder, math.Inf(1))
	case kind == rom.LeadingOrder:
		n.Kind = kind
		if shift != nil {
			n.Leave(scope.HigherOrder, *shift)
		}
	case shift != nil:
		n.Value += share * *shift
		n.Leave(scope.ShortRun, (1-share)**shift)
	}
	return n
}

// TrueMean returns Σ π_a t_a at the fixed point; nil where the true means t are those of the arms.
// Where t is linear in these, as with two arms, it leaves out what J does, times the slope. Else
// the shift by the noise is not known.
func (a *AtRest) TrueMean() *scope.Number {
	truth, means := Params(a.settings, rom.Unit).TrueMeans, a.settings.Bandit.Means()
	if truth == nil {
		return nil
	}
	n := a.Mean(rom.LeadingOrder)
	if point := a.prediction.FixedPoint; point != nil {
		n.Value = floats.Dot(point.Policy, truth)
	}
	_, slope := stat.LinearRegression(means, truth, nil, false)
	for i := range n.Neglected {
		n.Neglected[i].Size *= math.Abs(slope)
	}
	linear := math.Abs(stat.Correlation(means, truth, nil)) > 1-1e-12
	if !linear && a.settings.Estimator.GroupSize != option.Infinite {
		n.Neglected = []scope.Part{{Term: scope.HigherOrder, Size: math.Inf(1)}}
	}
	return &n
}

// ZeroShare returns the stationary share of groups whose rewards are all equal.
func (a *AtRest) ZeroShare() scope.Number {
	n, moments := a.number(scope.OfZeroShare), &a.prediction.Moments
	switch {
	case n.Out():
	case a.settings.Estimator.GroupSize == option.Infinite:
		n.Because = scope.NoNoise.Because()
	case moments.ZeroVariance == nil:
		n.Because = moments.Because
	default:
		n.Value = *moments.ZeroVariance
		if shift := moments.ZeroVarianceShift; shift != nil {
			n.Leave(scope.ShortRun, (1-a.settled.Reward)**shift)
		}
	}
	return n
}

// Variance returns the stationary Var J, to second order in the noise where that is known, else
// linear. Where the noise is too large it is out of scope and has the value of the runs that stay.
// Of a rate that decays it is RunVariance, since no Var J is stationary.
func (a *AtRest) Variance() scope.Number {
	if a.settings.Optimizer.Schedule.Kind != option.ConstantRate {
		return a.RunVariance("")
	}
	n, best := a.number(scope.OfVariance), a.prediction.Moments.RewardVariance
	switch {
	case n.Out() && !n.Because.Is(scope.NoiseTooLarge, scope.BoundWithinNoise):
	case best == nil:
		n.Because = scope.NoNumber.Because("variance")
	default:
		n.Value = *best
	}
	return n
}

// RunVariance returns Var J by a kind of prediction ("": its own), averaged over the steps after
// burn-in of runs from the fixed point.
func (a *AtRest) RunVariance(kind rom.Kind) scope.Number {
	s, p, n := a.settings, a.prediction, a.number(scope.OfVariance)
	own, best, linear := n.Kind, p.Moments.RewardVariance, p.Exact.StationaryVariance.ExpectedReward
	if own != rom.Exact {
		linear = p.LeadingOrder.StationaryVariance.ExpectedReward
	}
	n.Kind = cmp.Or(kind, own)
	if s.Deep() && n.Kind == rom.LeadingOrder && p.LeadingOrder.StationaryVariance.ExpectedReward != nil {
		n.Because = scope.Reason{} // that of the law where a run starts
	}
	if n.Out() {
		return n
	}
	if s.Estimator.GroupSize == option.Infinite {
		if n.Value = 0; best == nil {
			n.Because = scope.NoNumber.Because("variance")
		} else {
			n.Resolution = roundingOfVariance(s, p)
		}
		return n
	}
	beyond := 0.0 // of the linear variance
	if linear != nil && best != nil {
		beyond = *best - *linear
	}
	v := best
	switch {
	case n.Kind == own:
		n.Leave(scope.ShortRun, (1-a.settled.Reward)*beyond)
	case n.Kind == rom.LeadingOrder:
		v = p.Number(n.Kind, scope.VarianceOfReward)
		n.Leave(scope.HigherOrder, beyond)
	case n.Kind.IsRule():
		v, n.Neglected = p.Number(n.Kind, scope.VarianceOfReward), nil
		n.Because = MissingFormula(p, n.Kind, v)
	default:
		v = nil
	}
	kicks := 3 / a.settled.Kurtosis * float64(s.Run.Steps-s.Run.BurnIn) * float64(s.Run.Replicas)
	if v == nil {
		n.Because = cmp.Or(n.Because, scope.NoNumber.Because(fmt.Sprint(n.Kind, " ", "variance")))
	}
	if n.Because = cmp.Or(n.Because, RareSamples(kicks, "variance")); n.Out() {
		return n
	}
	n.Value = a.settled.Reward * *v
	for i := range n.Neglected {
		n.Neglected[i].Size *= a.settled.Reward // it grows with the variance, and not slower
	}
	n.Leave(scope.ShortRun, a.settled.Unknown**v)
	for _, arm := range s.Bandit.Arms { // the square of 4 ulp of J
		n.Resolution = max(n.Resolution, 0x1p-100*arm.Mean*arm.Mean)
	}
	return n
}

// InRun adds to a number of the stationary state what the mean path from the logits start leaves of
// the way after burn-in. Runs from the fixed point leave nothing. A path that is elsewhere is out
// of scope.
func (a *AtRest) InRun(n *scope.Number, params rom.Params, start []float64, of func(*scope.Sizes) float64) {
	s, init := a.settings, &a.settings.Policy.Init
	if n.Out() || init.Kind == config.AtFixedPoint && init.Offset == 0 {
		return
	}
	if s.Deep() {
		n.Because = scope.Networks.Because("the mean path")
		return
	}
	left, within := arrive.Unsettled(params, a.prediction, start, s.Run.BurnIn, s.Run.Steps)
	n.Leave(scope.OnTheWay, of(&left), fmt.Sprintf("after run.burn_in = %d steps the mean path is "+
		"still on its way to the fixed point", s.Run.BurnIn))
	n.Because = within.Because
}

// Unrested returns what InRun leaves, and why runs from the logits start are not at rest. Where the
// theory does not know whether they are, it is nothing.
func (a *AtRest) Unrested(params rom.Params, start []float64, of func(*scope.Sizes) float64) (
	left scope.Number) {
	left.Because = a.Scope()
	switch {
	case left.Because.Restless():
		return left
	case a.prediction.FixedPoint == nil:
		return scope.Number{}
	}
	left.Because = scope.Reason{}
	a.InRun(&left, params, start, of)
	if left.Out() && !left.Because.Restless() {
		return scope.Number{}
	}
	return left
}

// Arrival returns why runs from the logits start are not in the stationary state after burn-in.
// There is none, their mean path is elsewhere, or the rest of the way exceeds half of the margin of
// Var J.
func (a *AtRest) Arrival(start []float64, margin Margin) scope.Reason {
	n, about := scope.Number{Because: a.Scope()}, math.Inf(1)
	if best := a.Variance(); !best.Out() && best.Value > 0 && a.settings.Run.BurnIn > 0 {
		about = margin.About(best.Value)
	}
	a.InRun(&n, Params(a.settings, rom.Unit), start, scope.OfVariance)
	return n.JudgedWithin(about, margin.Called)
}

// roundingOfVariance returns the largest Var J that rounding leaves at the fixed point of the
// expected gradient. It is the square of 16 ulp of the largest reward, or of it times the largest
// logit, summed over a relaxation time.
func roundingOfVariance(s *config.Settings, p *rom.Prediction) float64 {
	reward, logit, time := 0.0, 1.0, 1.0
	if linear, _ := p.Linear(); linear.RelaxationRate != nil { // nil: infinite
		time = max(time, 1 / *linear.RelaxationRate)
	}
	for a, z := range p.FixedPoint.Logits {
		reward, logit = max(reward, math.Abs(s.Bandit.Arms[a].Mean)), max(logit, math.Abs(z))
	}
	deviation := 0x1p-48 * reward * logit * time
	return deviation * deviation
}

// MissingFormula returns the reason why the formulas of a kind give no number x.
func MissingFormula(p *rom.Prediction, kind rom.Kind, x *float64) scope.Reason {
	if x != nil {
		return scope.Reason{}
	}
	return cmp.Or(MissingFixedPoint(p), p.Rule(kind).Because, scope.NoNumber.Because("the rule has none"))
}

// fewestKicks is the least number of independent forces from which the scatter of the replicas
// tells an error: 3/kurtosis per step and replica.
const fewestKicks = 100

// RareSamples returns why so few independent forces decide no number of the given name; NaN, that
// of a law without a variance, is none.
func RareSamples(kicks float64, name string) scope.Reason {
	if kicks >= fewestKicks {
		return scope.Reason{}
	}
	if math.IsNaN(kicks) {
		kicks = 0
	}
	return scope.Undecided.Because(fmt.Sprintf("the noise is that of rare samples, about %.2g in the "+
		"whole run, of which fewer than %d decide no %s", kicks, fewestKicks, name))
}
