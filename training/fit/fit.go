package fit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"grposim/training/change"
)

// Result compares the laws on one curve.
type Result struct {
	Models      []Model // one per law, in the order of their declaration
	Best        Name    // of the lowest BIC; a law must be below the constant by GrowthEvidence
	Regime      Regime
	Independent float64 // number of independent rows: n (1 − r)/(1 + r)
	Correlation float64 // r: of the residuals of the best model at successive rows
	Origin      float64 // where the laws' times begin: 0, or one row before a log that begins late
	Evidence    float64 // Independent × ln of the best monotone law's SSE over the oscillator's
	Direction   Direction
}

// Direction says where the best law without oscillation ends, compared with where it begins.
type Direction string

const (
	Rises       Direction = "rises"
	Falls       Direction = "falls"
	NoDirection Direction = "none" // that law is the constant
)

// Regime names the dynamics that a curve gives evidence for.
type Regime string

const (
	Flat        Regime = "flat"        // no law with growth beats a constant
	Overdamped  Regime = "overdamped"  // an oscillator with ζ > 1 fits better than any with ζ ≤ 1
	Underdamped Regime = "underdamped" // an oscillator with ζ < 0.7 beats every monotone law
	Monotone    Regime = "monotone"    // it grows; the damping ratio is not identified
)

// Model is one law fitted to a curve.
type Model struct {
	Name        Name
	R2          float64 // share of the variance of the reward that the fit explains; at most 1
	R2Smoothed  float64 // the same of its moving average over 5 % of the rows
	BIC         float64 // n ln(SSE/n) + k ln n over independent rows n; only differences count
	law         law
	unit        float64 // of the rewards of problem and best
	independent float64 // independent rows per row
	spurious    bool    // growth of a curve that is flat: nothing of it is identified
	best        solution
	problem     *problem
}

// Parameter is a fitted value with its 90 % interval by profile likelihood.
type Parameter struct {
	Name   string
	Value  float64
	Lo, Hi float64 // ±Inf or 0 where the curve does not bound it
	Is     Dimension
	// The interval is narrower than ×2, or, for start, plateau and level, than a quarter of the
	// curve's range. Of a flat curve only the level is.
	Identifiable bool
}

// outlier is a distance from a running median, in standard deviations of the noise. Beyond it a
// row's weight falls as the inverse of the distance.
const outlier = 4

// GrowthEvidence is the difference of BIC by which a law must beat the constant, a likelihood ratio
// of 20. Laws with a midpoint can pick the most conspicuous among many.
const GrowthEvidence = 6

// oscillationEvidence is the evidence that a claim of oscillation needs. Of 150
// simulated curves without any, one reached it.
const oscillationEvidence = 10

// Fit fits every law to the curve by least squares. Rows are weighted by the inverse of
// the local variance of the noise; rows far from their neighbours count less.
func Fit(c Curve) Result {
	unit := c.unit()
	r := Result{Origin: c.origin()}
	c = c.in(unit)
	b, smoothed := c.average(), smooth(c.Reward, 0.05)
	weight := weights(b)
	for _, l := range laws {
		p := newProblem(l, b, weight, r.Origin)
		best := p.solve()
		best.sse = max(best.sse, float64(len(b.y))*square(rounding))
		m := Model{Name: l.name, law: l, unit: unit, problem: p, best: best}
		fitted := m.predict(c.Time)
		m.R2, m.R2Smoothed = explained(c.Reward, fitted), explained(smoothed, fitted)
		r.Models = append(r.Models, m)
	}
	closest := slices.MinFunc(r.Models, func(a, b Model) int { return cmp.Compare(a.best.sse, b.best.sse) })
	r.weigh(min(max(closest.correlation(), 0), largestCorrelation))
	r.judge()
	return r
}

// weigh compares the models by their BIC, at a correlation of residuals.
func (r *Result) weigh(correlation float64) {
	n := float64(len(r.Models[0].problem.b.time))
	independent := change.Independent(correlation)
	r.Correlation, r.Independent = correlation, n*independent
	for i := range r.Models {
		m := &r.Models[i]
		m.independent = independent
		// Less than one independent row is none: no parameter may lower a BIC.
		m.BIC = r.Independent*(math.Log(m.best.sse/n)+2*math.Log(m.unit)) + float64(m.parameters())*max(0,
			math.Log(r.Independent))
	}
}

func (m *Model) parameters() int {
	if m.Name == ConstantLaw {
		return 1
	}
	return len(m.law.shape) + 2
}

// Parameters returns the parameters with their intervals: level for the constant, else
// start, plateau and those of the shape. It takes most of the time of a fit.
func (m *Model) Parameters() []Parameter {
	p, n := m.problem, m.independent*float64(len(m.problem.b.time))
	smoothed := smooth(p.b.y, 0.05)
	given := func(name string, value float64, which held) Parameter {
		out := Parameter{Name: name, Value: value, Is: OfReward}
		out.Lo, out.Hi = p.interval(m.best, which, n)
		if which >= firstShape {
			out.Is = m.law.shape[which-firstShape].is
			out.Identifiable = !m.spurious && out.Hi <= 2*out.Lo
			return out
		}
		out.Identifiable = !m.spurious && out.Hi-out.Lo <= max((slices.Max(smoothed)-slices.Min(smoothed))/4, 10*rounding)
		// A start can lie beyond every row, and beyond the numbers where they end there.
		out.Value, out.Lo, out.Hi = min(max(m.unit*out.Value, -math.MaxFloat64), math.MaxFloat64),
			m.unit*out.Lo, m.unit*out.Hi
		return out
	}
	if m.Name == ConstantLaw {
		return []Parameter{given("level", m.best.start, startHeld)}
	}
	all := []Parameter{
		given("start", m.best.start, startHeld),
		given("plateau", m.best.plateau, plateauHeld),
	}
	for k, s := range m.law.shape {
		all = append(all, given(s.name, m.best.shape[k], firstShape+held(k)))
	}
	return all
}

func weights(b blocks) []float64 {
	w := make([]float64, len(b.y))
	const half = 4
	for i, y := range b.y {
		near := change.Median(b.y[max(0, i-half):min(len(b.y), i+half+1)])
		distance := math.Abs(y-near) / math.Sqrt(b.variance[i])
		w[i] = min(1, outlier/distance) / b.variance[i]
	}
	scale := mean(w)
	for i := range w {
		w[i] /= scale
	}
	return w
}

// explained is the share of the variance of y that the fitted values explain, 0 if y does not vary.
func explained(y, fitted []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return 0
	}
	return stat.RSquaredFrom(fitted, y, nil)
}

// largestCorrelation is the largest correlation of residuals that is believed. A negative one
// counts as 0, as of a reward whose noise causes the step (docs/theory-neglected.md §6). Intervals
// are then too wide rather than too narrow.
const largestCorrelation = 0.98

// correlation is that of weighted residuals of successive blocks.
func (m *Model) correlation() float64 {
	fitted := m.predict(m.problem.b.time)
	var before, product, all float64
	for i, y := range m.problem.b.y {
		r := (y - fitted[i]) * math.Sqrt(m.problem.weight[i])
		product += r * before
		all += r * r
		before = r
	}
	if all == 0 {
		return 0
	}
	return product / all
}

// HalfTime is the time at which half of the way from the first row to the plateau is made.
// It is NaN for the constant, and for the oscillator, which may turn before.
func (m *Model) HalfTime() float64 {
	first := m.problem.b.time[0]
	y := m.predict([]float64{first})[0]
	level := y + (m.best.plateau-y)/2
	if m.Name == ConstantLaw || m.Name == Inertial || level == y {
		return math.NaN()
	}
	before := func(t float64) bool { return (m.predict([]float64{t})[0]-level)*(m.best.plateau-y) < 0 }
	return first + crossing(func(t float64) bool { return !before(first + t) }, 1, 1e12, 1e-10)
}

// Predict returns the fitted curve at the given increasing times.
func (m *Model) Predict(at []float64) []float64 { return times(m.predict(at), m.unit, 1) }

// predict is Predict in the unit of the model.
func (m *Model) predict(times []float64) []float64 {
	y := make([]float64, len(times))
	for i, t := range times {
		g := m.law.at(t-m.problem.origin, m.best.shape)
		y[i] = m.best.start + (m.best.plateau-m.best.start)*g
	}
	return y
}

// judge names the best law and the regime.
func (r *Result) judge() {
	steady, monotoneSSE := &r.Models[0], math.Inf(1) // of the laws without oscillation
	inertial := r.Model(Inertial)
	for i := range r.Models {
		if m := &r.Models[i]; m != inertial {
			monotoneSSE = min(monotoneSSE, m.best.sse)
			if m.BIC < steady.BIC {
				steady = m
			}
		}
	}
	best := steady
	if inertial.BIC < best.BIC {
		best = inertial
	}
	for _, m := range []**Model{&best, &steady} {
		if (*m).BIC > r.Models[0].BIC-GrowthEvidence {
			*m = &r.Models[0]
		}
	}
	r.Best = best.Name
	r.Evidence = r.Independent * math.Log(monotoneSSE/inertial.best.sse)
	switch zeta := inertial.best.shape[1]; {
	case best.Name != ConstantLaw && r.Evidence > oscillationEvidence && zeta < 0.7:
		r.Regime = Underdamped
	case best.Name == ConstantLaw:
		r.Regime = Flat
	case best.Name == Exponential || zeta > 1 && r.beatsCritical(inertial):
		r.Regime = Overdamped
	default:
		r.Regime = Monotone
	}
	r.Direction = steady.direction()
	if r.Regime == Overdamped || r.Regime == Monotone {
		r.Direction = best.direction() // an oscillator, perhaps, that does not oscillate
	}
	for i := range r.Models {
		r.Models[i].spurious = best.Name == ConstantLaw && i > 0
	}
}

// direction compares the law at the last row with the first.
func (m *Model) direction() Direction {
	time := m.problem.b.time
	y := m.predict([]float64{time[0], time[len(time)-1]})
	switch change := y[1] - y[0]; {
	case m.Name == ConstantLaw || math.Abs(change) < rounding:
		return NoDirection
	case change > 0:
		return Rises
	}
	return Falls
}

// beatsCritical reports whether the oscillator is better than the best with ζ = 1. It must be by as
// much as the end of a 90 % interval is worse.
func (r *Result) beatsCritical(inertial *Model) bool {
	return r.Independent*math.Log(r.Model(ThreePhase).best.sse/inertial.best.sse) > chi90
}

// Model returns the fit of a law. It panics if the law is not one of those fitted.
func (r *Result) Model(name Name) *Model {
	return &r.Models[slices.IndexFunc(r.Models, func(m Model) bool { return m.Name == name })]
}

// Forecast predicts rows that follow those of a curve.
type Forecast struct {
	Mean   float64   // expected reward of every future row
	Lo, Hi []float64 // 90 % predictive interval of its logged value
}

const (
	smoothing = 0.2               // weight of the newest row in exponential smoothing
	normal90  = 1.644853626951473 // half-width of the central 90 % of the standard normal law
)

// Predict forecasts rows at times after the last one. Where no law with growth beats the constant
// it is the level of that. Else it is exponential smoothing, of means of rows if they are many. h of
// them ahead the variance is σ² (1 + (h − 1) smoothing²), σ² the mean square of the errors one
// ahead. That of a row about its mean is added. No later take-off or collapse is foreseen.
func (r *Result) Predict(c Curve, times []float64) (f Forecast) {
	unit := c.unit()
	means, rows := c.in(unit).Thin()
	level, weight, squares, n := means.Reward[0], smoothing, 0.0, float64(len(means.Time)-1)
	if r.Regime == Flat {
		level, weight = r.Models[0].best.start, 0
	}
	for _, y := range means.Reward {
		squares += square(y - level)
		level += weight * (y - level)
	}
	f.Mean = unit * level
	row := mean(noise(c.in(unit).Reward)) * (1 - 1/float64(rows))
	for _, t := range times {
		ahead := max(0, (t-means.end())/means.known()*n-1)
		half := unit * normal90 * math.Sqrt(row+squares/n*(1+ahead*weight*weight))
		f.Lo, f.Hi = append(f.Lo, f.Mean-half), append(f.Hi, f.Mean+half)
	}
	return f
}
