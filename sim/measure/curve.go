package measure

import (
	"math"
	"slices"

	"grposim/fp"
)

// Saturation searches rates from slowest/T to fastest/Δt, where T is the length of the
// curve and Δt its first interval. At lower rates an exponential is a straight line, at
// higher rates it has decayed before the second point; neither determines a rate.
const (
	slowest  = 0.01
	fastest  = 20
	rateStep = 1.25 // ratio of successive rates of the coarse search
)

// Saturation fits J(t) = a − b e^{−rate·t} to the rewards at the given increasing steps, by least
// squares. It returns the rate, per step, and R² = 1 − Σ residual²/Σ (J − mean)², in [0, 1]. Both
// are NaN if the data do not determine a rate: fewer than four points, a constant, a straight line.
func Saturation(steps []int, reward []float64) (rate, r2 float64) {
	none := math.NaN()
	if len(steps) < 4 {
		return none, none
	}
	c := newCurve(steps, reward)
	if !(c.square > 0) {
		return none, none
	}
	last := fastest / c.time[1]
	best, most := 0.0, 0.0
	lowest := slowest / c.time[len(c.time)-1]
	for r := lowest; r < last; r *= rateStep {
		if explained, _ := c.fit(r); explained > most {
			best, most = r, explained
		}
	}
	if best == 0 {
		return none, none
	}
	rate, found := root(best/rateStep, best*rateStep, func(r float64) float64 {
		_, slope := c.fit(r)
		return slope
	})
	if !found || rate <= lowest || rate >= last {
		return none, none
	}
	explained, _ := c.fit(rate)
	return rate, explained / c.square
}

// curve holds centred data for fits of an exponential.
type curve struct {
	time   []float64 // steps since the first point
	reward []float64 // reward less its mean
	square float64   // Σ reward²
}

func newCurve(steps []int, reward []float64) *curve {
	c := &curve{time: make([]float64, len(steps)), reward: make([]float64, len(steps))}
	mean := Average(reward)
	for i, t := range steps {
		c.time[i] = float64(t - steps[0])
		c.reward[i] = reward[i] - mean
		c.square += float64(c.reward[i] * c.reward[i])
	}
	return c
}

// fit fits an exponential of the given rate, per step. It returns Σ reward² − Σ residual², and a
// number of the sign of its derivative in the rate.
func (c *curve) fit(rate float64) (explained, slope float64) {
	decay := make([]float64, len(c.time))
	for i, t := range c.time {
		decay[i] = fp.Exp(-float64(rate * t))
	}
	r := c.regress(decay)
	if r == (regression{}) {
		return 0, 0
	}
	residual := 0.0
	for i, e := range decay {
		d := c.reward[i] - float64(r.slope*(e-r.mean))
		residual += float64(d * d)
		slope -= float64(d * float64(c.time[i]*e))
	}
	return c.square - residual, float64(r.slope * slope)
}

// root returns the x between low and high at which f changes sign, by bisection to the last bit. It
// reports whether f(low) and f(high) differ in sign.
func root(low, high float64, f func(float64) float64) (x float64, found bool) {
	below := f(low)
	if !(float64(below*f(high)) <= 0) {
		return 0, false
	}
	for {
		middle := low + float64((high-low)/2)
		if middle <= low || middle >= high {
			return middle, true
		}
		if value := f(middle); float64(value*below) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
}

// EarlySteps is the last step that enters an EarlySlope.
const EarlySteps = 100

// converged is the largest change of a converged curve over the second half of the run,
// relative to its change over the whole run. An exponential approach is then within a
// relative 1e-6 of its limit at the end.
const converged = 1e-3

// EarlySlope returns the paper's stiffness K = λ/(η(1+λ)), where η = learningRate > 0
// (docs/theory.md §9). λ is the least-squares slope of −log(J_end − J(t)) over the steps up to
// EarlySteps but the last. J_end is the last reward. The steps increase and must contain half the
// last one, where J is J_half. The result is NaN if the run has not converged: |J_end − J_half| >
// 1e-3 |J_end − J_0|. It is too if J(t) ≥ J_end at an early step, and for fewer than three points.
func EarlySlope(steps []int, reward []float64, learningRate float64) float64 {
	last := len(steps) - 1
	if last < 2 {
		return math.NaN()
	}
	half, found := slices.BinarySearch(steps, steps[last]/2)
	if !found || !(math.Abs(reward[last]-reward[half]) <= float64(converged*math.Abs(reward[last]-reward[0]))) {
		return math.NaN()
	}
	var time, distance []float64
	for i, t := range steps[:last] {
		if t > EarlySteps {
			break
		}
		gap := reward[last] - reward[i]
		if !(gap > 0) {
			return math.NaN()
		}
		time = append(time, float64(t))
		distance = append(distance, -fp.Log(gap))
	}
	meanTime, meanDistance := Average(time), Average(distance)
	square, product := 0.0, 0.0
	for i, t := range time {
		square += float64((t - meanTime) * (t - meanTime))
		product += float64((t - meanTime) * (distance[i] - meanDistance))
	}
	rate := product / square
	return rate / float64(learningRate*(1+rate))
}

// VisibleShare is the share of a curve's range that a turn or a passage must exceed to count as
// visible. At G = ∞ J is recorded up to rounding. Any share from 1e-12 to 1e-3 gives the cells of
// the stand-in of docs/theory.md §9 at η = 0.3 the same classes.
const VisibleShare = 1e-3

// Spread returns max − min of the values, 0 for none.
func Spread(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values) - slices.Min(values)
}

// Passages counts how often a curve passes from one side of its last value to the other.
// Values within the tolerance of the last one are on neither side.
func Passages(curve []float64, tolerance float64) int {
	level := curve[len(curve)-1]
	n, side := 0, 0.0
	for _, v := range curve {
		if math.Abs(v-level) <= tolerance {
			continue
		}
		if now := math.Copysign(1, v-level); now != side {
			if side != 0 {
				n++
			}
			side = now
		}
	}
	return n
}
