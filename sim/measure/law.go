package measure

import (
	"math"
	"slices"

	"grposim/fp"
)

// Law is a shape of a reward curve over time, J(t) = a + b s(t) with free a and b. The shape s(t)
// tends to 1, so that a + b is the plateau. t counts from the first step of the data.
type Law string

// The laws. With a and b the first two have three free parameters, the logistic has four.
const (
	Exponential      Law = "exponential"       // s = 1 − e^{−ωt}
	CriticallyDamped Law = "critically-damped" // s = 1 − (1 + ωt) e^{−ωt}, the paper's
	Logistic         Law = "logistic"          // s = 1/(1 + e^{−ω(t − t₀)})
)

// Laws lists every law.
var Laws = []Law{Exponential, CriticallyDamped, Logistic}

// Parameters returns the number of free parameters of the law.
func (l Law) Parameters() int {
	if l == Logistic {
		return 4
	}
	return 3
}

// Shape returns s at time t, for ω = rate and t₀ = middle.
func (l Law) Shape(rate, middle, t float64) float64 {
	x := float64(rate * (t - middle))
	e := fp.Exp(-x)
	switch l {
	case Exponential:
		return 1 - e
	case CriticallyDamped:
		return 1 - float64((1+x)*e)
	default:
		return 1 / (1 + e)
	}
}

// LawFit is the least-squares fit of a law to a curve.
type LawFit struct {
	Law     Law
	Start   float64 // a, in the unit of the reward
	Plateau float64 // a + b, in the unit of the reward
	R2      float64 // 1 − Σ residual²/Σ (J − mean)², in [0, 1]
	Rate    float64 // ω > 0, per step
	Middle  float64 // t₀ ≥ 0 of the logistic, in steps from the first; else 0
	first   int     // the first step of the data
}

// At returns the fitted reward at a step.
func (f *LawFit) At(step int) float64 {
	return f.Start + float64((f.Plateau-f.Start)*f.Law.Shape(f.Rate, f.Middle, float64(step-f.first)))
}

// The first grid of a fit: successive rates have the ratio gridRatio, and gridMiddles
// values of t₀ are evenly spaced over the data.
const (
	gridRatio   = 1.5
	gridMiddles = 16
	fitted      = 1e-5 // log of the ratio of rates at which the search ends
)

// FitLaw fits a law to the rewards at the given increasing steps by least squares in all of its
// parameters. ω is searched from 0.01/T to 20/Δt, where T is the length of the data and Δt their
// first interval. t₀ is searched within the data. The search is first on a grid, then about its
// best point. ok is false for fewer than five points and for rewards that are all equal.
//
// Data that do not determine ω, such as the beginning of a rise, are fitted with the smallest one.
// Near the data the curve is then a parabola or a straight line, and its plateau is far outside.
func FitLaw(law Law, steps []int, reward []float64) (fit LawFit, ok bool) {
	if len(steps) < 5 {
		return LawFit{}, false
	}
	c := newCurve(steps, reward)
	if !(c.square > 0) {
		return LawFit{}, false
	}
	end := c.time[len(c.time)-1]
	lowest, highest := fp.Log(slowest/end), fp.Log(fastest/c.time[1])
	ratio, gap, middles := fp.Log(gridRatio), 0.0, 1
	if law == Logistic {
		gap, middles = end/gridMiddles, gridMiddles+1
	}
	shape := make([]float64, len(c.time))
	regress := func(logRate, middle float64) regression {
		rate := fp.Exp(logRate)
		for i, t := range c.time {
			shape[i] = law.Shape(rate, middle, t)
		}
		return c.regress(shape)
	}
	best := regression{explained: -1}
	logRate, middle := 0.0, 0.0
	try := func(x, m float64) (better bool) {
		if x < lowest || x > highest || m < 0 || m > end {
			return false
		}
		r := regress(x, m)
		if better = r.explained > best.explained; better {
			best, logRate, middle = r, x, m
		}
		return better
	}
	for x := lowest; x <= highest; x += ratio {
		for i := range middles {
			try(x, float64(gap*float64(i)))
		}
	}
	directions := [][2]float64{{1, 0}, {-1, 0}}
	if law == Logistic {
		directions = append(directions, [][2]float64{{0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}}...)
	}
	for ; ratio > fitted; ratio, gap = ratio/2, gap/2 {
		for slices.ContainsFunc(directions, func(d [2]float64) bool {
			return try(logRate+float64(d[0]*ratio), middle+float64(d[1]*gap))
		}) {
		}
	}
	start := Average(reward) - float64(best.slope*best.mean)
	return LawFit{Law: law, Start: start, Plateau: start + best.slope, R2: best.explained / c.square,
		Rate: fp.Exp(logRate), Middle: middle, first: steps[0]}, true
}

// regression is the linear regression of the rewards on a shape.
type regression struct {
	slope     float64 // b
	mean      float64 // of the shape
	explained float64 // Σ reward² − Σ residual², of centred rewards
}

// regress returns the regression on a shape; the zero value for a constant one.
func (c *curve) regress(shape []float64) regression {
	mean := Average(shape)
	square, product := 0.0, 0.0
	for i, s := range shape {
		d := s - mean
		square += float64(d * d)
		product += float64(d * c.reward[i])
	}
	if !(square > 0) {
		return regression{}
	}
	b := product / square
	return regression{slope: b, mean: mean, explained: float64(b * product)}
}

// Shares of a log that a forecast uses.
const (
	knownShare  = 0.3  // the beginning, from which the rest is forecast
	recentShare = 0.05 // the end of what is known, whose mean is the forecast of persistence
	plateauNear = 0.2  // largest error of a plateau that counts as found, as a share of the rise
)

// KnownPoints returns the number of the first of n points from which a forecast is made.
func KnownPoints(n int) int { return int(knownShare * float64(n)) }

// Forecast is the forecast of a log from its beginning by a law.
type Forecast struct {
	Gain  float64 // RMS error of persistence over that of the law
	Found bool    // the plateau is within a fifth of the rise of the mean over the end of the log
}

// ForecastLog fits a law to the first 30 % of a log and compares it with the rest. Persistence
// forecasts the mean of the last 5 % of what is known. The rise is the difference of the means over
// the last and the first 5 % of the log. ok is false if the beginning cannot be fitted.
func ForecastLog(law Law, steps []int, reward []float64) (f Forecast, ok bool) {
	known := KnownPoints(len(steps))
	fit, ok := FitLaw(law, steps[:known], reward[:known])
	if !ok {
		return Forecast{}, false
	}
	recent := func(values []float64) []float64 {
		return values[len(values)-max(1, int(recentShare*float64(len(values)))):]
	}
	persistent := Average(recent(reward[:known]))
	ofLaw, ofPersistence := 0.0, 0.0
	for i := known; i < len(steps); i++ {
		d, p := fit.At(steps[i])-reward[i], persistent-reward[i]
		ofLaw += float64(d * d)
		ofPersistence += float64(p * p)
	}
	end := Average(recent(reward))
	rise := end - Average(reward[:len(recent(reward))])
	return Forecast{
		Gain:  math.Sqrt(ofPersistence / ofLaw),
		Found: math.Abs(fit.Plateau-end) <= float64(plateauNear*math.Abs(rise)),
	}, true
}
