package diagnose

import (
	"math"
	"slices"
)

// fewestCycles of a ringing are in the last half of a run. With fewer a slow
// random walk passes for one in up to one run of ten; with four, noise of any
// memory, a random walk among it, in less than two of a thousand.
const fewestCycles = 4

// halfCycle is the spacing of the trial frequencies, in cycles per last half of
// the run: finer ones are not independent.
const halfCycle = 0.5

// persistent is the ratio of amplitudes, late over early, from which a ringing
// is taken not to decay. Undamped it is 1. A mode that decays loses a factor e
// or more in half a run, or its decay is too slow for this run to show.
const persistent = 1 / math.E

// roundOff is the amplitude, relative to the values themselves, below which
// everything is rounding.
const roundOff = 1e-9

// ringing reads the amplitude of the regular oscillation of the reward in the
// last half of a run, as a share of how far the first half reaches to either
// side of its middle (half its range); 0 where there is none. A bounded limit
// cycle and a growing oscillation give about 1 and more, a damped one goes to 0
// with the length of the run.
//
// Noise about a fixed point does not decay either, but is not regular: the
// oscillation is the best sinusoid beside a straight line, by least squares at
// any spacing of the steps (a Lomb–Scargle periodogram). It counts only if it
// takes away most of the variance, and more than the best of as many trials
// does in white noise, but with probability falseAlarm: for n values, two for
// the line and two for the sinusoid, a share beyond c comes by chance with
// probability (1−c)^((n−4)/2) in one trial. What has more cycles than half the
// number of values is not resolved.
func ringing(t *Trace) Evidence {
	const name = "reward ringing"
	r, o := t.rows(t.Reward)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	early := extent(r.columns[0][:r.late]) / 2
	return observed(name, DynamicalInstability, regular(&r)/early, atLeast, persistent)
}

// regular returns the amplitude of the regular oscillation in the last half.
func regular(r *run) float64 {
	x := r.columns[0]
	at, late := r.at[r.late:], x[r.late:]
	n := float64(len(late))
	rest := detrended(at, late)
	total := dot(rest, rest)
	scale := 0.0
	for _, v := range x {
		scale = max(scale, math.Abs(v))
	}
	if !(math.Sqrt(total/n) > roundOff*scale) {
		return 0
	}
	span := at[len(at)-1] - at[0]
	trials, best := 0.0, 0.0
	for cycles := float64(fewestCycles); cycles <= n/2; cycles += halfCycle {
		trials++
		cos, sin := make([]float64, len(at)), make([]float64, len(at))
		for i, t := range at {
			sin[i], cos[i] = math.Sincos(2 * math.Pi * cycles * (t - at[0]) / span)
		}
		c, s := detrended(at, cos), detrended(at, sin)
		best = max(best, explained(rest, c, s))
	}
	share := best / total
	if chance := 1 - math.Pow(falseAlarm/trials, 2/(n-4)); !(share > max(chance, 0.5)) {
		return 0
	}
	return math.Sqrt(2 * best / n)
}

// swinging counts how often the policy closes and opens again in the last half
// of a run: a fall of the entropy and a rise after it, each by at least half of
// its largest value, so that the effective number of arms e^H changes by its
// square root, there and back. An instability far past its threshold is not
// regular, but grows until the softmax saturates. As many as the cycles of a
// ringing are asked for: noise may wander there and back, but not so often.
func swinging(t *Trace) Evidence {
	const name = "entropy swings"
	r, o := t.rows(t.Entropy)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	half := slices.Max(r.columns[0]) / 2
	if !(half > 0) {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	swings, falling, turn := 0.0, true, r.columns[0][r.late] // turn: the extreme since the last one
	for _, h := range r.columns[0][r.late:] {
		switch {
		case falling && h <= turn-half:
			falling, turn = false, h
		case !falling && h >= turn+half:
			swings++
			falling, turn = true, h
		case falling:
			turn = max(turn, h)
		default:
			turn = min(turn, h)
		}
	}
	return observed(name, DynamicalInstability, swings, atLeast, fewestCycles)
}

// extent returns the largest less the smallest value.
func extent(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// detrended returns y less its least-squares line in x.
func detrended(x, y []float64) []float64 {
	slope, _ := line(x, y)
	mx, my := mean(x), mean(y)
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - my - slope*(x[i]-mx)
	}
	return rest
}

// explained returns the sum of squares of y that the best combination of u and
// v takes away.
func explained(y, u, v []float64) float64 {
	uu, uv, vv := dot(u, u), dot(u, v), dot(v, v)
	uy, vy := dot(u, y), dot(v, y)
	determinant := uu*vv - uv*uv
	switch { // sampled at the same two phases throughout there is one wave only
	case determinant > roundOff*uu*vv:
	case uu > vv:
		return uy * uy / uu
	case vv > 0:
		return vy * vy / vv
	default:
		return 0
	}
	return (vv*uy*uy - 2*uv*uy*vy + uu*vy*vy) / determinant
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
