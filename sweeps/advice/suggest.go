package advice

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Suggestion is one choice of learning rate and interval: the present ones where they arrive and
// are safe. Where none arrives, it is a change of another key that does, which Choice names. Both
// are NaN, and Kind is "", where nothing that was tried arrives, or the rate is a network's.
type Suggestion struct {
	LearningRate store.Number `json:"learning_rate"`
	Interval     store.Number `json:"interval"` // refresh interval or delay, in steps
	Choice       string       `json:"choice"`   // in words
	Says         string       `json:"says"`     // the choice and its reason
	// of the limit that it keeps a distance from; Simulated where the trials alone decide
	Kind rom.Kind `json:"kind"`
	// of this choice from the file's start; nil where there is none
	Trial *Trial `json:"trial"`

	// of a suggestion to keep the present ones; nil: none is known to be safe
	Longer *Longer `json:"longer,omitempty"`
}

// Longer is an interval to which the present one may grow.
type Longer struct {
	Interval int    `json:"interval"`
	Trial    *Trial `json:"trial"` // of this interval from the file's start
}

// safetyFactor is the distance of a suggestion from the limit, a gain margin of 2 (6 dB) as is
// customary in control engineering. At half of the largest interval Var J is at most about twice
// that without lag, in a block without momentum (docs/theory.md §5, Stationary variance).
const safetyFactor = 2

// Limits of the search for a suggestion.
const (
	halvings      = 6   // of the learning rate
	doublings     = 14  // where runs are not there yet: from the smallest rate of logits, 1e-4, to 1.6
	fewestPeriods = 8   // of the longest interval in a run
	slowestRise   = 1.2 // of the rise with the present interval, with one to which that may grow
)

// choice is a learning rate and an interval that may be suggested.
type choice struct {
	rate     float64
	interval int
	because  string
	kind     rom.Kind // of the limit that it is half of
	row      *Trial   // of Advice.Cures, whose settings it takes; nil: those of the cell
}

// Suggest sets the suggestion: the first choice of walks of which the trial from the start decides
// that it arrives. If that has a longer interval, the present one arrives too and is kept, and the
// rise takes at most slowestRise times as long.
func (advice *Advice) Suggest(ctx context.Context, t *Trials) error {
	out, nan, s := &advice.Suggestion, store.Number(math.NaN()), &t.cell.Settings
	*out = Suggestion{LearningRate: nan, Interval: nan, Choice: "none", Says: "none: " + noStart}
	switch {
	case advice.Start == nil:
		return nil
	case advice.Units != "":
		out.Says = "none: the learning rate is that of a network. What carries over is r = ηλ/(1−μ) a " +
			"step, the row stiffness of grposim advise --fit LOG; λ is the STIFFNESS of grposim predict " +
			"FILE, and η = r(1−μ)/λ for a heavy ball (docs/trainers.md)"
		return nil
	}
	out.Says = "none: nothing that was tried arrives"
	present := s.Optimizer.LearningRate
	for _, walk := range advice.walks(t.cell) {
		for _, c := range walk {
			trial, err := c.row, error(nil)
			if trial == nil {
				trial, err = t.Of(ctx, c.set(s)...)
			}
			if err != nil {
				return err
			}
			if trial == nil {
				continue
			}
			longer := c.interval > s.Lag.Interval
			if trial.Outcome == Arrives && !(longer && trial.slower(advice.Start)) {
				*out = c.suggestion(s, advice.Start, trial)
				return nil
			}
			if c.rate < present && trial.late() || c.rate > present && !trial.late() {
				break // slower ones are later, or faster ones not late any more
			}
		}
	}
	return nil
}

// slower reports whether the rise takes more than slowestRise times as long as the present one's.
func (t *Trial) slower(present *Trial) bool {
	before, rises := present.reaches(present)
	after, _ := t.reaches(present)
	return rises && after > slowestRise*before
}

// set returns the changes of settings that a choice makes.
func (c *choice) set(s *config.Settings) (set []config.Assignment) {
	if c.rate != s.Optimizer.LearningRate {
		set = append(set, config.Assignment{Param: config.LearningRateKey, Value: c.rate})
	}
	if c.interval != s.Lag.Interval {
		set = append(set, config.Assignment{Param: config.LagIntervalKey, Value: c.interval})
	}
	return set
}

// suggestion returns a choice of which a trial has arrived. One with a longer interval than the
// present one is made only where the present ones arrive: then these are kept.
func (c *choice) suggestion(s *config.Settings, present, trial *Trial) Suggestion {
	out := Suggestion{LearningRate: store.Number(c.rate), Kind: c.kind, Trial: trial}
	longer := c.interval > s.Lag.Interval
	if longer {
		out.Trial, out.Longer = present, &Longer{c.interval, trial}
	}
	out.Interval = store.Number(min(c.interval, s.Lag.Interval))
	name := map[option.LagKind]string{option.Block: "K", option.Delay: "delay"}[s.Lag.Kind]
	out.Choice = fmt.Sprintf("η = %s and %s = %.0f", config.Format(c.rate), name, out.Interval)
	if !s.Lag.Kind.Regular() {
		out.Interval = store.Number(math.NaN())
		out.Choice = fmt.Sprintf("η = %s with the present ages", config.Format(c.rate))
	}
	switch {
	case c.row != nil && len(c.set(s)) == 0:
		out.Choice = c.row.Set + " with " + out.Choice
	case len(c.set(s)) == 0 || longer:
		out.Choice = "keep " + out.Choice
	}
	if out.Says = out.Choice + ": "; !longer {
		out.Says += c.because + "; "
	}
	out.Says += "from the file's start " + out.Trial.arrive()
	if longer {
		out.Says += fmt.Sprintf("; %s may grow to %d", name, c.interval)
		if before, rises := present.reaches(present); rises {
			after, _ := trial.reaches(present)
			out.Says += fmt.Sprintf(": %.0f %% of the way at step %.0f instead of %.0f",
				100*theory.WayMade, after, before)
		}
		out.Says += fmt.Sprintf(", %s: %s", c.because, trial.arrive())
	}
	return out
}

// arrive says how many runs arrive of a trial that has arrived.
func (t *Trial) arrive() string {
	if t.Runs == 1 {
		return "the run arrives"
	}
	return fmt.Sprintf("%d of %d runs arrive, %s", t.Count(theory.AtTarget), t.Runs, t.Arrived.Says())
}

// walks returns the choices in the order in which they are tried: that of choose; shorter
// intervals down to the present one; smaller learning rates; shorter intervals than the present
// one, and smaller learning rates with the shortest; where runs are late, larger ones; the cell as
// it stands; changes of other keys that arrived. A walk ends where slower is later, or faster lost.
func (advice *Advice) walks(cell *plan.Cell) [][]choice {
	s := &cell.Settings
	first, name := shortestLag(s.Lag.Kind)
	shortest := int(first)
	if !s.Lag.Kind.Regular() {
		shortest = s.Lag.Interval // which is unused
	}
	best := advice.choose(cell)
	present := min(best.interval, s.Lag.Interval)
	if advice.Start.Outcome != Arrives && best.interval > present {
		// a longer one is not to cure it
		best = choice{best.rate, present, "the present ones", Simulated, nil}
	}
	tried := func(rate float64, interval int) choice {
		var changes []string
		if interval < s.Lag.Interval {
			changes = append(changes, fmt.Sprintf("the %s cut from %d", name, s.Lag.Interval))
		}
		switch {
		case rate > s.Optimizer.LearningRate:
			changes = append(changes, "η doubled")
		case rate < s.Optimizer.LearningRate:
			changes = append(changes, "η halved")
		}
		because := strings.Join(changes, " and ") + " until the runs arrive"
		if interval > s.Lag.Interval {
			because = fmt.Sprintf("halved until the rise takes at most %g times as long", slowestRise)
		}
		return choice{rate, interval, because, Simulated, nil}
	}
	rates := func(interval, most int, factor float64) (walk []choice) {
		for n, rate := 0, best.rate; n < most; n++ {
			rate = config.Round(rate * factor)
			walk = append(walk, tried(rate, interval))
		}
		return walk
	}
	shorter := func(from, to int) (walk []choice) {
		for n := from / 2; n >= to && n < from; from, n = n, n/2 {
			walk = append(walk, tried(best.rate, n))
		}
		return walk
	}
	toPresent := []choice{best}
	if toPresent = append(toPresent, shorter(best.interval, present+1)...); best.interval != present {
		toPresent = append(toPresent, choice{best.rate, present, "the present " + name, Simulated, nil})
	}
	walks := [][]choice{toPresent, rates(present, halvings, 0.5)}
	rows := advice.rows(config.LearningRateKey)
	if advice.Start.Outcome != Arrives && present < s.Lag.Interval {
		walks = slices.Concat([][]choice{rates(s.Lag.Interval, halvings, 0.5), rows}, walks)
	} else {
		walks = append(walks, rows)
	}
	walks = append(walks, shorter(present, shortest), advice.rows(config.LagIntervalKey))
	if present > shortest {
		walks = append(walks, rates(shortest, halvings, 0.5))
	}
	if advice.Start.late() {
		largest := math.Inf(1) // that all limits know to be safe
		for i := range advice.Lines {
			if l := &advice.Lines[i]; l.bounds == ofRate {
				largest = min(largest, l.safe)
			}
		}
		tooLarge := func(c choice) bool { return c.rate > largest/safetyFactor }
		walks = append(walks, slices.DeleteFunc(rates(present, doublings, 2), tooLarge))
	}
	asItStands := choice{s.Optimizer.LearningRate, s.Lag.Interval, "the present ones", Simulated, nil}
	return append(walks, []choice{asItStands}, advice.rows(""))
}

// rows returns the changes that have arrived of those whose keys begin with one; all for "".
func (advice *Advice) rows(key string) (walk []choice) {
	for _, c := range advice.Cures {
		if c.Outcome == Arrives && strings.HasPrefix(c.Set, key) {
			rate, interval := c.settings.Optimizer.LearningRate, c.settings.Lag.Interval
			walk = append(walk, choice{rate, interval, "the change above", Simulated, c})
		}
	}
	return walk
}

// rounded rounds to two significant digits, to what a suggestion prints.
func rounded(x float64) float64 {
	unit := fp.Pow(10, math.Floor(math.Log10(x))-1)
	return config.Round(math.Round(x/unit) * unit)
}

// choose returns the choice that the limits give: the present learning rate with half of the limit
// of the interval, of which there are at least fewestPeriods in a run. If that limit is the
// shortest interval, or there is none, it is the present interval with the present learning
// rate, or half of the limit of the learning rate if that is less.
func (advice *Advice) choose(cell *plan.Cell) choice {
	a := &adviser{cache: advice.cache, settings: cell.Settings}
	s := &cell.Settings
	first, name := shortestLag(s.Lag.Kind)
	longest := max(float64(s.Run.Steps/fewestPeriods), float64(s.Lag.Interval))
	limit, at := a.limitOf(advice.Lines, ofInterval, func(s *config.Settings, safe float64) bool {
		ofInterval.set(s, min(safe/safetyFactor, longest))
		return safe > first && !math.IsInf(safe, 1)
	})
	if limit != nil {
		because := fmt.Sprintf("half of %.0f, the largest %s known to be safe", limit.safe, name)
		if limit.safe/safetyFactor > longest {
			because = "an eighth of the run, less than " + because
		}
		if at.Lag.Interval <= s.Lag.Interval {
			because = "the present η, and " + because
		}
		return choice{s.Optimizer.LearningRate, at.Lag.Interval, because, limit.Kind, nil}
	}
	limit, at = a.limitOf(advice.Lines, ofRate, func(s *config.Settings, safe float64) bool {
		if half := safe / safetyFactor; half < s.Optimizer.LearningRate {
			ofRate.set(s, rounded(half))
		}
		return safe > 0 && s.Optimizer.LearningRate >= option.SmallestNormal
	})
	if limit == nil {
		return choice{s.Optimizer.LearningRate, s.Lag.Interval, "the present ones", Simulated, nil}
	}
	because := "the present ones; η is at most half of the largest known to be safe"
	if at.Optimizer.LearningRate < s.Optimizer.LearningRate {
		because = fmt.Sprintf("the present %s, and half of %.3g, the largest safe η", name, limit.safe)
	}
	return choice{at.Optimizer.LearningRate, s.Lag.Interval, because, limit.Kind, nil}
}

// limitOf returns the line with the limit of a parameter, and the settings that half changes so;
// nil if half accepts none, or a simulation found none. Beyond that only exact theory counts.
func (a *adviser) limitOf(lines []Line, of bounded,
	half func(s *config.Settings, safe float64) bool) (limit *Line, at config.Settings) {
	isSimulated := func(l Line) bool { return l.bounds == of && l.Kind == Simulated }
	simulated := slices.ContainsFunc(lines, isSimulated)
	var noisy *Line // the least limit of all that noise makes uncertain
	var loud config.Settings
	for i := range lines {
		line, s := &lines[i], a.settings
		switch {
		case line.bounds != of,
			simulated && line.Kind != Simulated && line.Kind != rom.Exact && math.IsInf(line.unsafe, 1):
			continue
		case !half(&s, line.safe):
			if line.Kind == Simulated {
				return nil, at
			}
			continue
		case limit != nil &&
			cmp.Or(cmp.Compare(line.unsafe, limit.unsafe), cmp.Compare(limit.safe, line.safe)) > 0:
			continue
		}
		switch {
		case line.Kind == Simulated || !a.tooNoisy(s):
			limit, at = line, s
		case noisy == nil || line.unsafe < noisy.unsafe:
			noisy, loud = line, s
		}
	}
	if limit == nil { // trials from the start decide
		return noisy, loud
	}
	return limit, at
}
