package explore

import (
	"fmt"
	"math"
	"strings"

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
	if !e.sure(c.settings) {
		return n, nil
	}
	larger, more := *c.settings, *c.settings
	var answers []string
	if size, found := e.quieter(c.settings, now/4); found {
		if larger.Estimator.GroupSize = size; e.sure(&larger) {
			answers = append(answers, fmt.Sprintf("G = %d in the place of %d", size, c.settings.Estimator.GroupSize))
		}
	}
	more.Estimator.GroupsPerStep *= 4
	if v, known := e.variance(&more); known && v < now && e.sure(&more) {
		answers = append(answers, fmt.Sprintf("4 times the groups a step leave %s of it", percent(math.Sqrt(v/now))))
	}
	if len(answers) > 0 {
		n.Words = append(n.Words, Word{"What halves the noise?", strings.Join(answers, "; "), Good})
	}
	return n, nil
}

// doubt returns why the stationary variance of J that p predicts may be far off; "" where it is not.
func (e *Explorer) doubt(s *config.Settings, p *rom.Prediction, variance float64) string {
	if p.Neglected.RewardVariance > variance/2 {
		return "the theory neglects as much"
	}
	return e.cache.Settled(s, rom.Unit).Escape
}

// sure reports whether the stationary variance of J is known, and not in doubt.
func (e *Explorer) sure(s *config.Settings) bool {
	v, known := e.variance(s)
	return known && e.doubt(s, e.at(s), v) == ""
}

// at returns the prediction of the stationary law.
func (e *Explorer) at(s *config.Settings) *rom.Prediction {
	return e.cache.At(s, rom.Unit, nil, rom.Multipliers|rom.StationaryLaw)
}

// variance returns the stationary variance of J, and whether it is known.
func (e *Explorer) variance(s *config.Settings) (variance float64, known bool) {
	p := e.at(s)
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
