package fixed

import (
	"math"

	"grposim/rom/linear"
)

// scanStep is the step of the scan for zeros in units of log-odds. Where the policy no longer
// varies on that scale t grows by the factor scanRatio from one point to the next. A pair of zeros
// within one step shows as an extremum of βt − φ and is found too.
const (
	scanStep  = 0.25
	scanRatio = 1.05
)

// scan collects the zeros of f, which is visited from point to point.
type scan struct {
	f          func(t float64) float64
	ts, values [3]float64 // the last three points
	n          int        // points visited
	zeros      []float64
}

// visit adds the zeros up to t, where f has the given value.
func (s *scan) visit(t, value float64) {
	s.ts = [3]float64{s.ts[1], s.ts[2], t}
	s.values = [3]float64{s.values[1], s.values[2], value}
	ts, values := s.ts, s.values
	s.n++
	if s.n >= 2 && (values[1] < 0) != (values[2] < 0) {
		s.zeros = append(s.zeros, linear.Root(s.f, ts[1], ts[2], values[1]))
	} else if s.n >= 3 && (values[0] < 0) == (values[1] < 0) {
		// Three values of one sign, the middle one nearest to zero: the
		// extremum between them may have the other sign.
		side := math.Copysign(1, values[1])
		if side*values[1] < side*values[0] && side*values[1] < side*values[2] {
			top, value := linear.Golden(func(t float64) float64 { return -side * s.f(t) }, ts[0], ts[2])
			if value > 0 {
				s.zeros = append(s.zeros, linear.Root(s.f, ts[0], top, values[0]),
					linear.Root(s.f, top, ts[2], -side*value))
			}
		}
	}
}
