package advice

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
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

// Suggest sets the suggestion: the first choice of which the trial from the start decides that it
// arrives. If that has a longer interval, the present one arrives too and is kept, and the rise
// takes at most slowestRise times as long.
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
	for _, c := range advice.choices(s) {
		trial, still, err := c.row, (*Trial)(nil), error(nil)
		longer := c.interval > s.Lag.Interval
		if longer {
			still, err = t.Of(ctx, withoutNoise)
		}
		if trial == nil && err == nil {
			trial, err = t.hopeful(ctx, c.set(s), still)
		}
		if err != nil {
			return err
		}
		if trial != nil && trial.Outcome == Arrives && !(longer && trial.slower(advice.Start, slowestRise)) {
			*out = c.suggestion(s, advice.Start, trial)
			return nil
		}
	}
	return nil
}

// slower reports whether the rise takes more than so many times as long as the present one's.
func (t *Trial) slower(present *Trial, factor float64) bool {
	if t.rise == nil {
		return true
	}
	before, rises := present.reaches(present)
	after, _ := t.reaches(present)
	return rises && after > factor*before
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

// choices returns the choices in the order in which they are tried. Where the present ones do not
// arrive, first the changes that do, those of the learning rate before those of the interval.
//
// Then comes what the limits give: the present learning rate with half of the limit of the interval,
// of which a run has at least fewestPeriods. Where no interval can be halved it is the present one
// with the present learning rate, or half of the limit of that. Shorter intervals down to the
// present one follow, then smaller learning rates, and the cell as it stands.
func (advice *Advice) choices(s *config.Settings) (all []choice) {
	arrives := advice.Start.Outcome == Arrives
	if !arrives {
		for _, key := range []string{config.LearningRateKey, config.LagIntervalKey, ""} {
			for _, c := range advice.Cures {
				if c.Outcome == Arrives && strings.HasPrefix(c.Set, key) {
					rate, interval := c.settings.Optimizer.LearningRate, c.settings.Lag.Interval
					all = append(all, choice{rate, interval, "the change above", Simulated, c})
				}
			}
		}
	}
	best := safe(s, advice.Lines)
	asItStands := choice{s.Optimizer.LearningRate, s.Lag.Interval, "the present ones", Simulated, nil}
	first, name := shortestLag(s.Lag.Kind)
	for n := best.interval; n > s.Lag.Interval; n /= 2 {
		if arrives {
			all = append(all, best)
		}
		best.because = fmt.Sprintf("halved until the rise takes at most %g times as long", slowestRise)
		if best.interval, best.kind = n/2, Simulated; best.interval <= s.Lag.Interval {
			best.interval, best.because = s.Lag.Interval, "the present "+name
		}
	}
	all = append(all, best)
	for _, interval := range []int{best.interval, int(first)} {
		because := "η halved until the runs arrive"
		if interval < s.Lag.Interval {
			because = fmt.Sprintf("the %s cut from %d and ", name, s.Lag.Interval) + because
		}
		rate := best.rate
		for range halvings {
			rate = config.Round(rate / 2)
			all = append(all, choice{rate, interval, because, Simulated, nil})
		}
	}
	return append(all, asItStands)
}

// safe returns the choice that the limits of lines give.
func safe(s *config.Settings, lines []Line) choice {
	best := choice{s.Optimizer.LearningRate, s.Lag.Interval, "the present ones", Simulated, nil}
	first, name := shortestLag(s.Lag.Kind)
	longest := max(s.Run.Steps/fewestPeriods, s.Lag.Interval)
	if l := limit(lines, ofInterval); l != nil && l.safe > first && !math.IsInf(l.safe, 1) {
		best.because = fmt.Sprintf("half of %.0f, the limit of the %s at rest", l.safe, name)
		best.interval, best.kind = int(l.safe/safetyFactor), l.Kind
		if best.interval > longest {
			best.interval, best.because = longest, "an eighth of the run, less than "+best.because
		}
		if best.interval = max(best.interval, int(first)); best.interval <= s.Lag.Interval {
			best.because = "the present η, and " + best.because
		}
	} else if l := limit(lines, ofRate); l != nil && l.safe > 0 {
		best.because = "the present ones; η is at most half of its limit at rest"
		best.kind = l.Kind
		if half := rounded(l.safe/safetyFactor, 2); half < best.rate && half >= option.SmallestNormal {
			best.because = fmt.Sprintf("the present %s, and half of %.3g, the limit of η at rest",
				name, l.safe)
			best.rate = half
		}
	}
	return best
}

// safest returns the largest value of a parameter that some line knows to be safe; +Inf: any.
func safest(lines []Line, of bounded) float64 {
	most := math.Inf(1)
	for i := range lines {
		if l := &lines[i]; l.bounds == of && (l.safe > most || math.IsInf(most, 1)) {
			most = l.safe
		}
	}
	return most
}

// limit returns the line with the least value of a parameter that may be unsafe. Of equal ones it is
// that with the largest safe value. It is nil where there is none.
func limit(lines []Line, of bounded) (least *Line) {
	for i := range lines {
		l := &lines[i]
		if l.bounds == of && (least == nil ||
			cmp.Or(cmp.Compare(l.unsafe, least.unsafe), cmp.Compare(least.safe, l.safe)) < 0) {
			least = l
		}
	}
	return least
}

func rounded(x float64, digits int) float64 {
	if x == 0 {
		return 0
	}
	unit := fp.Pow(10, math.Floor(math.Log10(math.Abs(x)))+1-float64(digits))
	return config.Round(math.Round(x/unit) * unit)
}
