package explore

import (
	"fmt"
	"math"
	"strings"

	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// Changes says which changes of the settings help: which bring the answers of the theory that are
// missing, and which halve the noise. It tries many, and takes longer than an answer may.
type Changes struct {
	Words []Word `json:"words"`
}

// largestGroup is the largest group size that is tried.
const largestGroup = 1024

// guesses is how many sizes are guessed between two before the rest is halved.
const guesses = 8

// Changes returns the changes that help.
func (e *Explorer) Changes(state State) (*Changes, error) {
	c, err := e.cell(state)
	if err != nil {
		return nil, err
	}
	out := &Changes{Words: []Word{}}
	if answer := e.known(c); answer != "" {
		out.Words = append(out.Words, Word{"When does the theory have an answer?", answer, None})
	}
	if answer := e.halved(c.settings); answer != "" {
		out.Words = append(out.Words, Word{"What halves the noise?", answer, Good})
	}
	return out, nil
}

// known names the changes with which the theory answers what it leaves open now; "" where there are
// none, or nothing is open.
func (e *Explorer) known(c *cell) string {
	var cures []string
	subjects := make(map[string][]string) // by cure
	for _, unknown := range []struct {
		words string
		known func(s *config.Settings) bool
	}{
		{"the stability", func(s *config.Settings) bool {
			p := e.cache.PredictRegime(s)
			d, _ := p.Linear()
			return p.FixedPoint != nil && d.Scope.In && d.SpectralRadius != nil
		}},
		{"the noise at rest", func(s *config.Settings) bool {
			return e.sure(s) || s.Estimator.GroupSize == option.Infinite || e.unstable(s)
		}},
		{"the path", func(s *config.Settings) bool {
			return c.start == nil || rom.MeanRewardAlone(theory.Params(s, rom.Unit), c.start, []int{1}).Scope.In
		}},
	} {
		if !unknown.known(c.settings) {
			if cure := e.cure(c.settings, unknown.known); cure != "" {
				if subjects[cure] == nil {
					cures = append(cures, cure)
				}
				subjects[cure] = append(subjects[cure], unknown.words)
			}
		}
	}
	for i, cure := range cures {
		cures[i] = "With " + cure + " it knows " + strings.Join(subjects[cure], " and ")
	}
	return strings.Join(cures, ". ")
}

// unstable reports whether the fixed point is known to be unstable, where nothing comes to rest.
func (e *Explorer) unstable(s *config.Settings) bool {
	p := e.cache.PredictRegime(s)
	return theory.NewRegime(s, p).Name() == theory.Unstable
}

// halved says what halves the standard deviation of J at rest; "" where nothing is known to, or the noise is in doubt.
func (e *Explorer) halved(s *config.Settings) string {
	now, known := e.variance(s)
	if !known || s.Estimator.GroupSize == option.Infinite || !e.sure(s) {
		return ""
	}
	larger, more := *s, *s
	var answers []string
	if size, found := e.quieter(s, now/4); found {
		if larger.Estimator.GroupSize = size; e.sure(&larger) {
			answers = append(answers, fmt.Sprintf("G = %d in the place of %d", size, s.Estimator.GroupSize))
		}
	}
	more.Estimator.GroupsPerStep *= 4
	if v, known := e.variance(&more); known && v < now && e.sure(&more) {
		answers = append(answers, fmt.Sprintf("4 times the groups a step leave %s of it", percent(math.Sqrt(v/now))))
	}
	return strings.Join(answers, "; ")
}

// sure reports whether the stationary variance of J is known and beyond doubt.
func (e *Explorer) sure(s *config.Settings) bool {
	v := e.atRest(s).Variance()
	return !v.Judged(v.Value).Out()
}

// atRest returns the stationary state.
func (e *Explorer) atRest(s *config.Settings) *theory.AtRest {
	return e.cache.AtRest(s, e.cache.At(s, rom.Unit, nil, rom.Multipliers|rom.StationaryLaw), rom.Unit)
}

// variance returns the stationary variance of J, and whether it is known.
func (e *Explorer) variance(s *config.Settings) (variance float64, known bool) {
	v := e.atRest(s).Variance()
	return v.Value, v.Value > 0
}

// quieter returns the smallest group size with at most this variance, if the variance
// decreases over the sizes that are tried. It is about a power of the size, by which the next one is guessed.
func (e *Explorer) quieter(s *config.Settings, variance float64) (size int, found bool) {
	with := func(size int) float64 {
		changed := *s
		changed.Estimator.GroupSize = size
		if v, known := e.variance(&changed); known {
			return v
		}
		return math.Inf(1)
	}
	low := s.Estimator.GroupSize
	high, above := low, with(low)
	below := above
	for below > variance {
		if high >= largestGroup {
			return 0, false
		}
		low, above, high = high, below, min(4*high, largestGroup)
		below = with(high)
	}
	for turn := 0; high-low > 1; turn++ {
		middle := (low + high) / 2
		if share := math.Log(above/variance) / math.Log(above/below); turn < guesses && share <= 1 {
			middle = min(max(int(math.Round(float64(low)*math.Pow(float64(high)/float64(low), share))), low+1), high-1)
		}
		if v := with(middle); v <= variance {
			high, below = middle, v
		} else {
			low, above = middle, v
		}
	}
	return high, true
}

// change is one that can bring a cell into the scope of the theory.
type change struct {
	words string
	apply func(s *config.Settings)
}

// changes are tried in this order.
var changes = []change{
	{"β = 0.04", func(s *config.Settings) { s.Estimator.KL.Coefficient = max(s.Estimator.KL.Coefficient, 0.04) }},
	{"β = 0.4", func(s *config.Settings) { s.Estimator.KL.Coefficient = max(s.Estimator.KL.Coefficient, 0.4) }},
	{"a constant learning rate", func(s *config.Settings) { s.Optimizer.Schedule = option.Schedule{Kind: option.ConstantRate} }},
	{"heavy-ball in the place of Adam", func(s *config.Settings) { s.Optimizer.Kind = option.HeavyBall }},
	{"the exact KL gradient", func(s *config.Settings) { s.Estimator.KL.Gradient = option.ExactKL }},
	{"the importance weight ratio", func(s *config.Settings) { s.Estimator.Importance.Mode = option.Ratio }},
	{"fresh samples", func(s *config.Settings) { s.Estimator.Samples = option.Fresh }},
	{"a lag of kind block", func(s *config.Settings) { s.Lag.Kind, s.Lag.Interval = option.Block, max(s.Lag.Interval, 1) }},
	{"all groups kept", func(s *config.Settings) { s.Estimator.Filter = option.KeepAll }},
}

// cure returns in words the first change, or else the first two changes, with which a cell is
// within a scope; "" if there is none. Each that the configuration allows is tried.
func (e *Explorer) cure(s *config.Settings, within func(*config.Settings) bool) string {
	try := func(chosen ...change) bool {
		changed := *s
		for _, c := range chosen {
			c.apply(&changed)
		}
		_, err := config.ToPredict.Load("changed", []byte(document("changed", &changed)))
		return err == nil && within(&changed)
	}
	for _, c := range changes {
		if try(c) {
			return c.words
		}
	}
	for i, a := range changes {
		for _, b := range changes[i+1:] {
			if try(a, b) {
				return a.words + " and " + b.words
			}
		}
	}
	return ""
}
