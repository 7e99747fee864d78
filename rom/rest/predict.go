// Package rest has how runs move about the fixed point that they come to, and how they scatter there.
//
//  1. At the fixed point that is reached the force is linearized, with its noise.
//  2. With an optimizer and a lag that gives the linear dynamics, its thresholds and its stationary
//     law.
//  3. Moments of second order in the noise come from the curvature of the force.
//  4. Equilibrium shares the first steps among predictions; Prediction holds all numbers, with the
//     reduced-order model and the paper's formulas beside them.
package rest

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/paper"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// PaperStiffness returns the stiffness K of the paper's formulas as the paper measures
// it (docs/theory.md §9), in units of force per logit: on the mean-field curve J of
// p at G = ∞ without momentum and lag, with η = 0.01, from Params.Start,
//
//	K = λ/(η(1+λ)),   λ the least-squares slope, per step, of −ln|J* − J_t|, t = 0 … 100,
//
// where J* is the reward of the fixed point that is reached at G = ∞. Optimizer, Lag,
// GroupSize and Measured of p are not used. The scope is out where there is no such
// fixed point, where the curve starts within 1e-9 of J* or passes it, so that there is no
// slope, and where it leaves the range of floating point.
func PaperStiffness(p cell.Params) (float64, scope.Scope) {
	if p.Tabular() {
		return 0, scope.NoNumber.Because("each prompt has a policy of its own").Scope()
	}
	p.GroupSize, p.Measured = option.Infinite, nil
	point, ok := Reached(p)
	return paper.Stiffness(p, point.Reward, ok)
}

// roundedStiffness is the stiffness of the stiffest mode in units of β below which the dynamics is
// out of scope. The stiffness is at most of order β times the probability of all arms but one,
// which is computed with an absolute error of 1e-16: below this limit its relative error exceeds
// 1e-10, far more than the share linear.Negligible below which a part of the force counts as
// absent.
const roundedStiffness = 1e-6

// roundedTerm is the relative rounding error of the stationary law per step of the relaxation time.
const roundedTerm = 1e-15

// Predict returns everything the theory predicts about p near the fixed point that
// the on-policy mean field reaches from Params.Start.
//
// Exact holds the linear dynamics of the full map, LeadingOrder the reduced-order model of the
// stiffest mode. There are two exceptions: a force known as an expansion in 1/G only, and Adam,
// which near a fixed point is a heavy ball with μ = β1 and the rate (1−β1)η/√v_a of each logit
// (docs/theory-neglected.md §6.8). Then Exact is out of scope and LeadingOrder holds the linear
// dynamics. Under Adam its thresholds are those with v_a = Var g_a held, which are no limits of
// stability; multipliers and variances have the v_a = E g_a² of the stationary law.
//
// With Params.Measured the linear dynamics and the rules use the measured matrices, arm by arm;
// fixed point, noise and the curvature of the force remain the theory's.
//
// A pointer to a number that would not be finite is nil; where the fixed point or
// its stiffness is not finite every scope is out.
func Predict(p cell.Params) Prediction { return NewEquilibrium(p).Predict(p.Optimizer, p.Lag) }

// Equilibrium is the part of a prediction that does not depend on the optimizer, but for its
// largest norm, and the lag: fixed point, stiffness and noise. Predictions that differ in these two
// alone share it, and the memory of FixedPoint with it. Only one goroutine may use it.
type Equilibrium struct {
	params        cell.Params
	merged        fixed.Folded
	logits        []float64      // of the merged bandit; nil: no fixed point is known
	linearization *linearization // nil: there is no dynamics to predict
	directions    []mode         // stiffest first
	prediction    Prediction     // the part that optimizer and lag do not change

	paper func() (float64, scope.Scope) // PaperStiffness, computed at the first call

	// of prompts with a policy each: what the fields above are not for; nil: none
	prompts []promptGroup

	// of prompts that share a policy and are drawn by epochs: where each step draws anew; nil: none
	independent *Equilibrium

	// thresholds found so far.
	thresholds map[searchKey]linear.Threshold
	crossings  map[searchKey][]linear.Crossing
}

// searchKey holds what a threshold depends on, besides the equilibrium: the event, and optimizer
// and lag without the parameter that is searched for.
type searchKey struct {
	event     linear.Event
	optimizer option.Optimizer
	lag       option.Lag
}

// NewEquilibrium computes fixed point, stiffness and noise of p. It ignores Lag and, but for
// the largest norm, Optimizer of p.
func NewEquilibrium(p cell.Params) *Equilibrium {
	p = p.Checked()
	if p.Tabular() {
		return newTabularEquilibrium(p)
	}
	merged := fixed.Fold(p)
	var logits []float64
	if merged.Representable() {
		logits = merged.Reached()
	}
	return newEquilibrium(p, merged, logits)
}

// With returns the equilibrium with other factors and at a measured stiffness, nil: that of the
// theory. The fixed point, whose search takes most of the time and which no factor moves, is e's.
func (e *Equilibrium) With(factors cell.Factors, measured *cell.Measured) *Equilibrium {
	p := e.params
	p.Factors, p.Measured = factors, measured
	p = p.Checked()
	if p.Tabular() {
		return newTabularEquilibrium(p)
	}
	merged := e.merged
	merged.Factors = p.Factors
	with := newEquilibrium(p, merged, e.logits)
	if p.Factors == e.params.Factors {
		with.paper = e.paper
	}
	return with
}

// newEquilibrium returns the equilibrium of checked parameters at the fixed point with the
// given logits of the merged bandit; nil: none is known.
func newEquilibrium(p cell.Params, merged fixed.Folded, logits []float64) *Equilibrium {
	e := &Equilibrium{
		params: p, merged: merged, logits: logits,
		thresholds: make(map[searchKey]linear.Threshold),
		crossings:  make(map[searchKey][]linear.Crossing),
	}
	e.paper = sync.OnceValues(func() (float64, scope.Scope) {
		if p.GroupSize == option.Infinite { // the fixed point of the paper's formulas is this one
			point, ok := linearized(&merged, logits)
			return paper.Stiffness(p, point.Reward, ok)
		}
		return PaperStiffness(p)
	})
	if because := e.locate(); because.Out() {
		e.linearization = nil
		e.prediction.excludeAll(because)
	}
	return e
}

// Reached is the function Reached.
func (e *Equilibrium) Reached() (fixed.Point, bool) {
	if e.prompts != nil {
		if e.prediction.FixedPoint == nil {
			return fixed.Point{}, false
		}
		return *e.prediction.FixedPoint, true
	}
	if e.linearization != nil && e.params.Measured == nil { // which is finite
		return *e.prediction.FixedPoint, true
	}
	return linearized(&e.merged, e.logits)
}

// Predict is the function Predict with this optimizer and lag.
func (e *Equilibrium) Predict(o option.Optimizer, l option.Lag) Prediction {
	return e.PredictPart(o, l, Everything)
}

// dropInfinite sets every pointer to a number that is not finite to nil.
func (prediction *Prediction) dropInfinite() {
	pointers := []**float64{
		&prediction.Moments.LogitGapShift, &prediction.Moments.RewardShift,
		&prediction.Moments.RewardVariance, &prediction.Moments.ZeroVariance,
		&prediction.Moments.ZeroVarianceShift,
	}
	for _, r := range prediction.rules() {
		pointers = append(pointers, &r.CriticalLearningRate, &r.CriticalRefreshInterval,
			&r.OscillationLearningRate, &r.DampingRatio, &r.RewardVariance, &r.Stiffness)
	}
	for _, d := range []*Dynamics{&prediction.Exact, &prediction.LeadingOrder} {
		pointers = append(pointers, &d.SpectralRadius, &d.CriticalLearningRate,
			&d.CriticalRefreshInterval, &d.OscillationLearningRate, &d.StationaryVariance.LogitGap,
			&d.StationaryVariance.ExpectedReward, &d.RelaxationRate, &d.DampingRatio)
	}
	for _, x := range pointers {
		if *x != nil && !linear.IsFinite(**x) {
			*x = nil
		}
	}
}

// excludeAll puts every prediction of dynamics and noise out of scope.
func (prediction *Prediction) excludeAll(because scope.Reason) {
	out := because.Scope()
	prediction.Exact.Scope, prediction.LeadingOrder.Scope, prediction.Noise = out, out, out
	if because.Is(scope.BeyondRange) {
		prediction.Stiffness, prediction.GradientVariance = ModeStiffness{}, 0
		prediction.Oscillator = paper.Oscillator{}
	}
}

// locate computes the stiffness and the noise of the fixed point. It returns the reason
// why no dynamics can be predicted, none where it can.
func (e *Equilibrium) locate() (because scope.Reason) {
	p, f, prediction := &e.params, &e.merged, &e.prediction
	m := force.New(&f.Params)
	if prediction.ForceKind = m.Kind(); m.Factored() { // at rest weights do not depend on the sign
		prediction.ForceKind = scope.Exact
	}
	if !f.Representable() {
		return scope.BeyondRange.Because()
	}
	if because := p.NotDerived(cell.RewardsInDigits); because.Out() {
		return because
	}
	if e.logits == nil {
		return f.Because
	}
	point := &f.Points([][]float64{e.logits})[0]
	if !linear.IsFinite(point.Logits...) || !linear.IsFinite(point.Policy...) ||
		!linear.IsFinite(point.Reward) {
		return scope.BeyondRange.Because()
	}
	prediction.FixedPoint = point
	if because := p.NotDerived(cell.WeightsAtRest); because.Out() {
		return because
	}
	if because := p.NotDerived(cell.StateAtRest); because.Out() {
		own, merged := *p, *f
		own.Prompts.Order, merged.Prompts.Order = option.Independent, option.Independent
		e.independent = newEquilibrium(own, merged, e.logits)
		return cmp.Or(e.independent.prediction.Noise.Because, because)
	}
	m.Set(e.logits, e.logits)
	if because := m.Sliding(); because.Out() {
		return because
	}
	if left, _ := m.Law.LeftOut(); left > mostExpanded { // NaN where rewards are equal: it locks
		return scope.NotPredicted.Because(fmt.Sprintf("rewards of many values in such small groups: "+
			"the expansion in 1/G leaves out about %.0f %% of the force on an arm", 100*left))
	}
	e.linearization = newLinearization(*f, e.logits)
	if p.Measured != nil {
		if len(p.Arms) > linear.MaxClasses {
			return scope.TooLarge.Because("the measured stiffness of more than 64 arms")
		}
		e.linearization = newLinearization(fixed.Unmerged(*p), f.Unfold(e.logits))
	}
	if !e.linearization.finite() {
		if floats.Max(point.Policy) > 1-lockedRest {
			return e.locked()
		}
		return scope.BeyondRange.Because()
	}
	e.directions = e.linearization.modes()
	prediction.stiffen(e.directions, len(p.Arms))
	s := prediction.Stiffness
	if !linear.IsFinite(s.Total, s.Fresh, s.Stale, s.Slowest, prediction.GradientVariance) {
		return scope.BeyondRange.Because()
	}
	if math.Abs(s.Total) < roundedStiffness*p.Pull() {
		return e.locked()
	}
	return scope.Reason{}
}

// stiffen sets stiffness and noise of the prediction to those of the modes, stiffest first.
func (prediction *Prediction) stiffen(directions []mode, arms int) {
	top := directions[0]
	prediction.Stiffness = ModeStiffness{top.total, top.fresh, top.stale,
		directions[len(directions)-1].total}
	prediction.GradientVariance = top.noise
	if arms == 2 {
		prediction.GradientVariance = 4 * top.noise // of z = θ_1 − θ_0, twice the mode's amplitude
	}
}

// mostExpanded is the share of the force on an arm that its expansion may leave out at rest.
const mostExpanded = 0.25

// lockedRest is the probability of all arms but one below which a policy counts as locked on that
// arm. The stiffness is of order β times that probability, so that a rounded one is far below it.
const lockedRest = 1e-3

// locked says why there is no dynamics at a fixed point whose stiffness is rounding: the policy is
// locked on one arm, and the least coefficient of the penalty at which it is not.
func (e *Equilibrium) locked() scope.Reason {
	p, point := &e.params, e.prediction.FixedPoint
	name, coefficient := balance(p)
	arm, rest := floats.MaxIdx(point.Policy), 0.0
	for a, q := range point.Policy {
		if a != arm {
			rest += q
		}
	}
	if rest > lockedRest {
		return scope.RoundedStiffness.Because(
			fmt.Sprintf("the stiffness at the fixed point is less than a millionth of the %s coefficient",
				name))
	}
	// a search of fixed points takes up to seconds
	if m := force.New(&e.merged.Params); len(m.Arms) > 2 && !m.Factored() {
		return scope.Locked.Because(name, coefficient, arm, rest, "")
	}
	least := leastResolved(p, coefficient)
	if math.IsInf(least, 1) { // the reference itself is locked
		return scope.RoundedStiffness.Because(
			fmt.Sprintf("whatever the %s coefficient, the policy is locked on arm %d, the first being "+
				"0, beside which the others have a probability of %.1g in all", name, arm, rest))
	}
	article := map[string]string{"KL": "a", "entropy": "an"}[name]
	from := fmt.Sprintf("; there is one from %s %s coefficient of %.2g on", article, name, least)
	return scope.Locked.Because(name, coefficient, arm, rest, from)
}

// balance returns the name and the coefficient of what pulls the policy to the reference.
func balance(p *cell.Params) (name string, coefficient float64) {
	if p.Restoring() == 0 {
		return "entropy", p.Entropy
	}
	return "KL", p.KL.Coefficient
}

// leastResolved returns the least coefficient of the KL penalty, or of the entropy bonus where the
// penalty has no pull, above the given one, of which the stiffness is rounding, from which on it is
// not: rounded up to two digits, and +Inf where none is found up to 2⁴⁰ times the given one.
func leastResolved(p *cell.Params, from float64) float64 {
	rounded := func(coefficient float64) bool {
		q := *p
		if q.Restoring() == 0 {
			q.Entropy = coefficient
		} else {
			q.KL.Coefficient = coefficient
		}
		f := fixed.Fold(q.Checked())
		logits := f.Reached()
		if logits == nil {
			return true
		}
		l := newLinearization(f, logits)
		return !l.finite() || !(math.Abs(l.modes()[0].total) >= roundedStiffness*q.Pull())
	}
	return fixed.LeastWithout(from, rounded)
}

// PredictPart is Predict of a part of the prediction.
func (e *Equilibrium) PredictPart(o option.Optimizer, l option.Lag, of Extent) Prediction {
	l.Complete()
	cell.Must(o.Check)
	cell.Must(l.Check)
	cell.Want(o.MaxNorm == e.params.Optimizer.MaxNorm, "Optimizer.MaxNorm", o.MaxNorm,
		"that of the equilibrium")
	if e.prompts != nil {
		return e.predictTabular(o, l, of)
	}
	prediction := e.prediction
	if e.linearization != nil {
		if because := e.addDynamics(&prediction, o, l, of); because.Out() {
			prediction.excludeAll(because)
		}
	}
	if e.independent != nil {
		drawn := e.independent.PredictPart(o, l, of)
		prediction.MeanKnown, prediction.Neglected = drawn.Noise.In || drawn.MeanKnown, drawn.Neglected
		if shift := drawn.Moments.RewardShift; shift != nil { // the order makes one of its own
			prediction.Neglected.Add(scope.HigherOrder, scope.Sizes{RewardMean: 2 * math.Abs(*shift)})
		}
	}
	prediction.dropInfinite()
	prediction.answer(o.Kind)
	return prediction
}

// answer gives Var J of the linear law where there is no better one, and a reason where a moment or
// a rule is missing.
func (prediction *Prediction) answer(method option.Method) {
	m, law := &prediction.Moments, &prediction.LeadingOrder
	if prediction.ForceKind == scope.Exact && method != option.Adam {
		law = &prediction.Exact
	}
	if m.RewardVariance == nil {
		m.RewardVariance = law.StationaryVariance.ExpectedReward
	}
	if prediction.Noise.In && (m.RewardShift == nil || m.ZeroVariance == nil) {
		m.Because = cmp.Or(m.Because, scope.NoNumber.Because("second-order mean"))
	}
	for _, r := range prediction.rules() {
		if r.CriticalLearningRate == nil {
			r.Because = cmp.Or(r.Because, scope.NoNumber.Because("the rule has none"))
		}
	}
}

// addDynamics adds to prediction everything that depends on the optimizer and the
// lag. It returns the reason why that cannot be predicted, none where it can.
func (e *Equilibrium) addDynamics(
	prediction *Prediction, o option.Optimizer, l option.Lag, of Extent) (because scope.Reason) {
	p, directions := e.params, e.directions
	p.Optimizer, p.Lag = o, l
	p = cell.Meeting(p, func(free cell.Params) (most float64, ok bool) {
		logits := e.merged.Unfold(e.logits)
		return force.New(&free).NormMet(logits, logits), p.Cut() == 0 || p.Optimizer.Kind == option.Adam
	})
	o = p.Optimizer
	if because := p.NotDerived(cell.DynamicsAtRest); because.Out() {
		return because
	}
	at, m, because := e.dynamicsOf(p)
	if because.Out() {
		return because
	}
	if at.missed != nil { // the law of a normal gradient
		directions, prediction.ForceKind = at.modes(), scope.Expansion
		prediction.stiffen(directions, len(p.Arms))
	}
	s := m.stiffest(directions)
	prediction.Oscillator = paper.OscillatorOf(s, p.Factors)
	free := &prediction.Oscillator
	if !linear.IsFinite(free.LagSteps, free.Mass, free.Damping, free.Spring, free.DampingRatio) {
		return scope.BeyondRange.Because()
	}
	reason := m.TooLarge()
	switch {
	case of == RulesAlone:
		prediction.excludeAll(scope.NoNumber.Because("the rules alone were asked for"))
	case reason.Out():
		prediction.Exact.Scope.Because = reason
		prediction.LeadingOrder = m.reduced(p, s, directions, prediction.Oscillator)
		prediction.Noise.Because = reason
	case p.Optimizer.Kind == option.Adam:
		prediction.Exact.Scope.Because = scope.NoNumber.Because(
			"Adam is a heavy ball to leading order only")
		if of&StationaryLaw != 0 { // which needs the rate at which runs escape
			of |= CriticalRate
		}
		prediction.LeadingOrder = e.dynamics(m, o, l, of)
		m = at.atRestUnderAdam(prediction, m, o, of)
	case prediction.ForceKind == scope.Expansion:
		prediction.Exact.Scope.Because = scope.NoNumber.Because(
			"the force of these rewards is an expansion in 1/G")
		prediction.LeadingOrder = e.dynamics(m, o, l, of)
	default:
		prediction.Exact = e.dynamics(m, o, l, of)
		prediction.LeadingOrder = m.reduced(p, s, directions, prediction.Oscillator)
	}
	if p.Optimizer.Kind == option.Adam { // m has the learning rate (1−β1)η
		d := &prediction.LeadingOrder
		for _, rate := range []*float64{
			d.CriticalLearningRate, d.MeanSquareLearningRate, d.OscillationLearningRate,
			&d.Searched.LearningRate, &d.Searched.Onset,
		} {
			if rate != nil {
				*rate /= 1 - p.Optimizer.Beta1
			}
		}
		stiffest := prediction.Oscillator.Spring / ((1 - o.Beta1) * o.LearningRate)
		prediction.Adam = adamAtRest(d, o.LearningRate, stiffest)
	} else {
		noise := 0.0
		if len(p.Arms) == 2 && p.GroupSize != option.Infinite {
			noise = at.squaredSlope() * prediction.GradientVariance
		}
		prediction.RuleAtStiffness = paper.RuleOf(s.Total(), s, noise)
		if stiffness, scope := e.paper(); scope.In {
			prediction.PaperRule = paper.RuleOf(stiffness, s, noise)
		} else {
			prediction.PaperRule.Because = scope.Because
		}
		prediction.RuleAtLargestAge = paper.RuleAt(s.Total(), s, noise, s.Lag.Age(linear.LargestAge))
		if s.Total() <= 0 {
			prediction.RuleAtLargestAge = prediction.RuleAtStiffness
		}
		if m.Mixed {
			prediction.SufficientRule.Because = scope.NoNumber.Because(
				"the sufficient rule is for modes that do not mix")
		} else {
			prediction.SufficientRule = paper.Sufficient(m.Moving())
		}
	}
	switch {
	case reason.Out():
	case of&StationaryLaw == 0:
		prediction.Noise.Because = scope.NoNumber.Because("a part without the noise was asked for")
	default:
		at.stationary(prediction, p, m)
	}
	if len(p.Arms) == 2 && p.GroupSize != option.Infinite && p.Optimizer.Kind != option.Adam {
		prediction.leadingVariances(at, m)
	}
	return scope.Reason{}
}

// dynamicsOf returns the linearization and the linear dynamics under the optimizer and
// lag of p, or the reason why there is none.
func (e *Equilibrium) dynamicsOf(p cell.Params) (
	at *linearization, m *motion, because scope.Reason) {
	local := *e.linearization
	local.Optimizer, local.Lag = p.Optimizer, p.Lag
	at = &local
	method, rate, momentum := p.Optimizer.Kind, p.Optimizer.LearningRate, p.Optimizer.Momentum
	var gain []float64
	if limited := p.LimitedOnTheWay(); limited || method == option.Adam {
		if at, because = e.ofArms(p); because.Out() {
			return nil, nil, because
		}
		if limited {
			at.limit(p.Optimizer.MaxNorm)
		}
	}
	if method == option.Adam {
		gain = at.adamGain(p.Optimizer)
		method, rate, momentum = option.HeavyBall, (1-p.Optimizer.Beta1)*rate, p.Optimizer.Beta1
	}
	if m = at.newMotion(method, rate, momentum, gain); m == nil {
		return nil, nil, scope.BeyondRange.Because()
	}
	return at, m, scope.Reason{}
}

// ofArms returns the linearization of all arms, or the reason why there is none. Equal arms are not
// merged: Adam scales every logit by its own noise, and a largest norm all by that of all.
func (e *Equilibrium) ofArms(p cell.Params) (at *linearization, because scope.Reason) {
	if len(p.Arms) > linear.MaxClasses {
		return nil, scope.TooLarge.Because("Adam with more than 64 arms")
	}
	at = newLinearization(fixed.Unmerged(cell.WithoutNorm(p)), e.merged.Unfold(e.logits))
	rounded := 0.0 // the square of 4 ulp: rewards with a KL in them may be equal
	for _, arm := range p.Arms {
		rounded = max(rounded, 0x1p-100*arm.Mean*arm.Mean)
	}
	for a := range p.Arms {
		if p.Optimizer.Kind == option.Adam && !(at.noise.At(a, a) > rounded) {
			return nil, scope.NotPredicted.Because("Adam where a logit has no noise")
		}
	}
	return at, scope.Reason{}
}

// dynamics returns that of m, the linear dynamics under this optimizer and lag. A
// threshold is searched for once for all learning rates, or all refresh intervals.
func (e *Equilibrium) dynamics(m *motion, o option.Optimizer, l option.Lag, of Extent) Dynamics {
	byRate := searchKey{optimizer: o, lag: l}
	byRate.optimizer.LearningRate = 0
	threshold := func(event linear.Event, key searchKey) (value *float64, limit float64) {
		key.event = event
		return cached(e.thresholds, key, func() linear.Threshold { return m.Threshold(event) }).Result()
	}
	d := Dynamics{Scope: scope.Scope{In: true}, Neutral: m.Neutral}
	if of&Margin != 0 {
		if margin := linear.StabilityMargin(
			cached(e.crossings, byRate, m.Crossings), m.Whole.Rate); linear.IsFinite(margin) {
			d.StabilityMargin = &margin
		}
	}
	if of&(Multipliers|Margin) != 0 && d.StabilityMargin == nil {
		d = multipliersAlone(m.Dynamics)
	}
	if of&Onset != 0 {
		d.OscillationLearningRate, d.Searched.Onset = threshold(linear.OnsetRate, byRate)
	}
	if of&CriticalRate != 0 {
		d.CriticalLearningRate, d.Searched.LearningRate = threshold(linear.CriticalRate, byRate)
		if o.Kind != option.Adam { // whose second moments grow with the spread
			d.MeanSquareLearningRate, _ = m.MeanSquareRate().Result()
		}
	}
	if of&CriticalInterval != 0 {
		byInterval := searchKey{optimizer: o, lag: l}
		byInterval.lag.Interval = 0
		d.CriticalRefreshInterval, d.Searched.RefreshInterval =
			threshold(linear.CriticalInterval, byInterval)
	}
	return d
}

// cached returns the value stored at key, or searches for it and stores it.
func cached[Key comparable, Value any](known map[Key]Value, key Key, search func() Value) Value {
	t, found := known[key]
	if !found {
		t = search()
		known[key] = t
	}
	return t
}

// stiffest returns the stiffest mode under m's optimizer and lag: the first of
// directions, or with a gain (Adam) that of the preconditioned stiffness.
func (m *motion) stiffest(directions []mode) *linear.Mode {
	top := directions[0]
	if m.gain != nil {
		top = mode{total: math.Inf(-1)}
		values, right, left := linear.Eigenvectors(linear.Sum(m.Whole.Fresh, m.Whole.Stale))
		for k, v := range values {
			if v <= top.total {
				continue
			}
			scale := mat.Dot(left.ColView(k), right.ColView(k))
			top = mode{
				total: v,
				fresh: mat.Inner(left.ColView(k), m.Whole.Fresh, right.ColView(k)) / scale,
				stale: mat.Inner(left.ColView(k), m.Whole.Stale, right.ColView(k)) / scale,
			}
		}
	}
	return new(m.Whole.Mode(top.fresh, top.stale))
}

// reduced returns the dynamics of the reduced-order model: γ > 0 of the stiffest mode s as the
// condition of stability, its ζ = 1 as the onset, and the slowest decay of all modes. The formulas
// are closed, so a threshold that has no value does not exist.
func (m *motion) reduced(
	p cell.Params, s *linear.Mode, directions []mode, o paper.Oscillator) Dynamics {
	d := Dynamics{Scope: scope.Scope{In: true}, Neutral: m.Neutral}
	slowest, known := math.Inf(1), true
	for _, x := range directions {
		s := m.Whole.Mode(x.fresh, x.stale)
		if m.gain == nil && m.IsNeutral(&s) {
			continue
		}
		rate, ok := paper.OscillatorOf(&s, p.Factors).Decay()
		slowest, known = min(slowest, rate), known && ok
	}
	if known {
		d.RelaxationRate = &slowest
	}
	if o.Spring > 0 && o.Mass > 0 {
		d.DampingRatio = &o.DampingRatio
	}
	if s.Total() <= 0 {
		d.CriticalLearningRate, d.Searched.LearningRate = linear.KnownAt(0).Result()
		return d
	}
	rate, interval := linear.Never, linear.Never
	// γ = 1 − μ − ηλ_s ā [+ μηλ with Nesterov] falls through 0.
	advance := 0.0
	if s.Method == option.Nesterov {
		advance = s.Momentum * s.Total()
	}
	if slope := s.Stale*o.LagSteps - advance; slope > 0 {
		rate = linear.KnownAt((1 - s.Momentum) / slope)
	}
	age := (1 - s.Momentum + s.Rate*advance) / (s.Rate * s.Stale * p.Factors.Lag)
	if k, ok := s.Lag.Interval(linear.MeanAge, age); !ok {
		interval = linear.Threshold{} // there is no interval
	} else if s.Stale > 0 {
		interval = linear.KnownAt(k)
	}
	d.CriticalLearningRate, d.Searched.LearningRate = rate.Result()
	d.CriticalRefreshInterval, d.Searched.RefreshInterval = interval.Result()
	d.OscillationLearningRate, d.Searched.Onset = paper.RingingRate(s, p.Factors).Result()
	return d
}

// noStationaryLaw returns why linear dynamics have no stationary law, none where they have one.
func noStationaryLaw(p *cell.Params, d *Dynamics, m *motion) scope.Reason {
	switch {
	case d.SpectralRadius == nil:
		return scope.NoNumber.Because("the multipliers of the linear map are not known")
	case d.IsUnstable():
		return d.Unstable()
	case *d.SpectralRadius >= 1 || d.Neutral > 0:
		return scope.RoundedStiffness.Because(
			fmt.Sprintf("the fixed point is neutral, neither stable nor unstable, in %d of %d "+
				"directions of the logits", d.marginal(), len(p.Arms)-1))
	case m.Whole.Lag.Period() > linear.MaxPeriod:
		return scope.TooLarge.Because("a refresh interval longer than 10,000 steps")
	case d.RelaxationRate != nil && *d.RelaxationRate < roundedTerm:
		return scope.RoundedStiffness.Because(
			fmt.Sprintf("the relaxation time is %.2g steps", 1 / *d.RelaxationRate))
	}
	return scope.Reason{}
}

// stationary adds the stationary law to prediction: linear variances, the scope of
// the noise, and the moments of second order.
func (l *linearization) stationary(prediction *Prediction, p cell.Params, m *motion) {
	d := &prediction.Exact
	if !d.Scope.In {
		d = &prediction.LeadingOrder
	}
	noise := &prediction.Noise
	if p.GroupSize == option.Infinite {
		noise.Because = scope.NoNoise.Because()
		// which makes steps of rounding errors
		if d.SpectralRadius != nil && *d.SpectralRadius < 1 && p.Optimizer.Kind != option.Adam {
			d.StationaryVariance.ExpectedReward = new(float64)
		}
		return
	}
	if noise.Because = noStationaryLaw(&p, d, m); noise.Because.Out() {
		return
	}
	if a := prediction.Adam; a != nil && p.Optimizer.LearningRate > LeastEscape*a.EscapeLearningRate {
		noise.Because = scope.AdamEscapes.Because(a.EscapeLearningRate, LeastEscape*a.EscapeLearningRate)
		return
	}
	law, ok := m.Whole.Law()
	if !ok {
		noise.Because = scope.NearThreshold.Because("")
		if m.Whole.AgeDraws > 0 {
			below := ""
			if rate := d.MeanSquareLearningRate; rate != nil {
				below = fmt.Sprintf("; it is finite with a learning rate below about %.3g", *rate)
			}
			noise.Because = scope.NearThreshold.Because(
				fmt.Sprintf(": the noise of random ages makes the variance grow without bound%s", below))
		}
		return
	}
	sigma := law.TimeAverage()
	laws := make([]linear.Law, len(l.relatives)) // of the relative modes
	variances := make([]float64, len(laws))
	for i := range laws {
		if laws[i], ok = m.Relative(i, l.relatives[i].noise).Law(); !ok {
			noise.Because = scope.NearThreshold.Because("")
			return
		}
		variances[i] = laws[i].TimeAverage().At(0, 0)
	}
	gradient := l.rewardGradient()
	reward := linear.Form(gradient, sigma, gradient)
	d.StationaryVariance.ExpectedReward = &reward
	if len(p.Arms) == 2 { // z = θ_1 − θ_0 is √2 times the unit coordinate
		d.StationaryVariance.LogitGap = new(2 * sigma.At(0, 0))
	}
	gap := l.gapVariance(sigma, variances)
	if !linear.IsFinite(reward, gap) {
		noise.Because = scope.BeyondRange.Because()
		return
	}
	_, quadratic := l.rewardCurvature(sigma, variances)
	neglected, skew, missing := &prediction.Neglected, 0.0, 0.0
	size, spread, felt := l.sizeOfNoise(m, sigma, variances) // of the noise, relative to Var J
	// J changes by √(Var J/V) per gap of the variance V, which is 2 to 4 times what two arms' J feels,
	// and its mean by that times V and half of its curvature.
	higher := scope.Sizes{RewardMean: 1.5 * math.Sqrt(reward*min(gap, 4*felt)),
		RewardVariance: max(size*reward, 2*quadratic), ZeroVariance: 1}
	if prediction.Moments.Because = p.NotDerived(cell.SecondOrderLaw); l.missed != nil {
		prediction.Moments.Because = scope.NoNumber.Because("second-order mean under a largest norm")
		cut, _ := l.missing(sigma)
		neglected.Add(scope.NextInSize, scope.Sizes{RewardMean: cut})
	}
	shift := higher.RewardMean
	if p.Optimizer.Kind == option.Adam {
		skew, missing = l.addMomentError(prediction, p.Optimizer, &law, reward)
		higher.RewardMean /= max(1-missing, 0)
	}
	switch {
	case p.Optimizer.Kind != option.Adam && m.Whole.Dim() <= maxCurved && !prediction.Moments.Because.Out():
		size = l.moments(prediction, &higher, m, &law, laws, sigma, variances, size, spread)
	case reward > 0:
		l.zeroVariance(prediction, &higher, make([]float64, m.Whole.Dim()), &law, laws, size,
			(higher.RewardMean+skew)/math.Sqrt(reward))
	}
	*noise = l.outOfReach(&law, gap, size).Scope()
	switch beyond := l.shiftBeyond(shift, max(size, missing)); {
	case noise.In:
	case p.Optimizer.Kind == option.Adam:
		front := floats.Max(prediction.FixedPoint.Policy)
		if size < 1 || adamKick(&p.Optimizer) <= max(mostKicked, math.Log(front/(1-front))) {
			prediction.MeanKnown, higher.RewardMean = true, beyond
		}
	case noise.Because.Is(scope.NoiseTooLarge) && l.longestKick() <= mostKicked:
		prediction.MeanKnown, higher.RewardMean = true, min(beyond, l.rareReward())
		prediction.Moments.RewardShift = nil
	}
	neglected.Add(scope.HigherOrder, higher)
	perStep := math.Inf(1)
	if rate := d.RelaxationRate; rate != nil {
		perStep = *rate
	}
	rounded := l.rounding() + reward*roundedTerm/perStep // the series of the law has 1/rate terms
	neglected.Add(scope.Rounding, scope.Sizes{RewardVariance: rounded})
	neglected.Add(scope.NextInSize, l.expansionNeglect(reward))
}

// squaredSlope returns (dJ/dz)² of two arms.
func (l *linearization) squaredSlope() float64 {
	slope := l.rewardGradient()[0] / (l.q.At(0, 0) - l.q.At(1, 0))
	return slope * slope
}

// leadingVariances adds, for two arms and unless LeadingOrder holds the full linear
// dynamics, the variances N/(2γk) of the reduced-order model, N = η² Var[2g_1].
func (prediction *Prediction) leadingVariances(at *linearization, m *motion) {
	s := m.Parts[0]
	o := &prediction.Oscillator
	if prediction.ForceKind == scope.Exact && o.Spring > 0 && o.Damping > 0 {
		gap := s.Rate * s.Rate * prediction.GradientVariance / (2 * o.Damping * o.Spring)
		if at.Samples == option.Reused {
			gap *= float64(s.Lag.Period())
		}
		prediction.LeadingOrder.StationaryVariance = Variance{LogitGap: &gap,
			ExpectedReward: new(at.squaredSlope() * gap)}
	}
}

// Reached returns the fixed point that the on-policy mean field dθ/dt = E[g](θ, θ) reaches from
// Params.Start, or false if it reaches none, or none whose stiffness is finite; false too for
// prompts with a policy each, see Equilibrium.Reached.
func Reached(p cell.Params) (fixed.Point, bool) {
	p = p.Checked()
	f := fixed.Fold(p)
	if p.Tabular() || !f.Representable() {
		return fixed.Point{}, false
	}
	return linearized(&f, f.Reached())
}

// linearized returns the fixed point at logits, or false if these are nil or the stiffness
// there is not finite.
func linearized(f *fixed.Folded, logits []float64) (fixed.Point, bool) {
	if logits == nil || !linear.IsFinite(cell.PolicyAt(logits)...) ||
		!newLinearization(*f, logits).finite() {
		return fixed.Point{}, false
	}
	return f.Points([][]float64{logits})[0], true
}
