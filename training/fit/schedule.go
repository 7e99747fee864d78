package fit

import "math"

// LoggedTime returns the intrinsic time ∫η dt / max η of each step, in steps at the peak learning
// rate. rates has one per step. In this time a run under a schedule follows the law of a constant
// rate. Over steps a warm-up looks like inertia, and a decay like saturation. The rate is linear
// between rows, and before the first that of the first. A rate of 0 advances the time by 1e-9 of a
// step, so that it increases strictly. ok is false if no rate is positive, or one is negative or
// not finite.
func LoggedTime(steps, rates []float64) (time []float64, ok bool) {
	peak := 0.0
	for _, r := range rates {
		if !(r >= 0) || math.IsInf(r, 0) {
			return nil, false
		}
		peak = max(peak, r)
	}
	if peak == 0 {
		return nil, false
	}
	const least = 1e-9
	at, before, sum := min(0, steps[0]), rates[0], 0.0
	for i, step := range steps {
		width := step - at
		sum += width * max((before+rates[i])/2/peak, least)
		time = append(time, sum)
		at, before = step, rates[i]
	}
	return time, true
}
