package explore

import (
	"fmt"
	"math"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// Noise is the answer to what makes the fluctuation at rest smaller.
type Noise struct {
	Words []Word `json:"words"`
}

// largestGroup is the largest group size that is tried.
const largestGroup = 1024

// Noise returns the group size at which the standard deviation of J at rest is half.
func (e *Explorer) Noise(state State) (*Noise, error) {
	c, err := e.cell(state)
	if err != nil {
		return nil, err
	}
	n := &Noise{Words: []Word{}}
	now, known := e.variance(c.settings)
	if !known || c.settings.Estimator.GroupSize == grpo.Infinite {
		return n, nil
	}
	w := Word{Question: "What halves the noise?", Tone: Good}
	if size, found := e.quieter(c.settings, now/4); found {
		w.Answer = fmt.Sprintf("G = %d in the place of %d", size, c.settings.Estimator.GroupSize)
	}
	more := *c.settings
	more.Estimator.GroupsPerStep *= 4
	if v, known := e.variance(&more); known {
		if w.Answer != "" {
			w.Answer += "; "
		}
		w.Answer += fmt.Sprintf("4 times the groups a step leave %s of it", percent(math.Sqrt(v/now)))
	}
	if w.Answer == "" {
		return n, nil
	}
	n.Words = append(n.Words, w)
	return n, nil
}

// variance returns the stationary variance of J, and whether it is known.
func (e *Explorer) variance(s *config.Settings) (variance float64, known bool) {
	p := e.cache.At(s, rom.Unit, nil, rom.Multipliers|rom.StationaryLaw)
	if theory.StationaryScope(s, p) != "" {
		return 0, false
	}
	_, best := theory.Variance(theory.StationaryKind(s, p), p)
	if best == nil || !(*best > 0) {
		return 0, false
	}
	return *best, true
}

// quieter returns the smallest group size with at most this variance, if the variance
// decreases over the sizes that are tried.
func (e *Explorer) quieter(s *config.Settings, variance float64) (size int, found bool) {
	with := func(size int) bool {
		changed := *s
		changed.Estimator.GroupSize = size
		v, known := e.variance(&changed)
		return known && v <= variance
	}
	low, high := s.Estimator.GroupSize, s.Estimator.GroupSize
	for !with(high) {
		if high == largestGroup {
			return 0, false
		}
		low, high = high, min(2*high, largestGroup)
	}
	for high-low > 1 {
		if middle := (low + high) / 2; with(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
