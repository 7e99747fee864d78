package advice

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/arrive"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// trained is the share of the way of J, from the start to its end, after which a run has learnt.
const trained = 0.9

// latest is the share of a run after which this is too late, madeBy that by which it is to be.
// onTrials is what to do where the theory does not say.
const latest, madeBy, onTrials = 0.85, 0.75, "take the suggestion below, of trials"

// mostFollowed is the largest number of steps times squared arms of a way, about a second. Adam
// counts ten times.
const mostFollowed = 4_000_000

// course is the predicted way of runs, and when it is made.
type course struct {
	theory.Path                // of J
	equal, entropy theory.Path // share of groups of equal rewards
	arrival        *arrive.Prediction
	end, near      float64      // J where it should end, and how near it is to be
	made           scope.Number // steps that the trained share of the way takes; +Inf: not in the run
	samples        float64      // drawn until then, or in the run; 0: not known
}

// newCourse returns the course of a cell, nil where it is too long.
func newCourse(cache *theory.Cache, s *config.Settings, p *rom.Prediction) *course {
	work := s.Run.Steps * len(s.Bandit.Arms) * len(s.Bandit.Arms)
	if s.Optimizer.Kind == option.Adam {
		work *= 10
	}
	if s.Deep() || work > mostFollowed {
		return nil
	}
	steps := theory.ComparedSteps(s)
	paths := cache.Courses(s, steps, sim.ExpectedReward, sim.ZeroVarianceFraction, sim.Entropy)
	c := &course{Path: paths[0], equal: paths[1], entropy: paths[2]}
	if !c.Scope.In {
		return c
	}
	start := cache.Start(s)
	arrival := rom.Arrival(theory.Params(s, rom.Unit), start, s.Run.Steps)
	target := theory.NewTarget(s, start, p)
	c.arrival, c.end, c.near = &arrival, target.Reward, theory.NearInMean*target.Span
	c.made = theory.TimeOf(steps, c.Reward, c.Neglected, c.level(), c.end >= c.Reward[0])
	until := *s
	if s.Estimator.GroupSize != option.Infinite && s.Estimator.Filter != option.Redraw {
		until.Run.Steps = int(min(c.made.Value, float64(s.Run.Steps)))
		c.samples = theory.Samples(&until)
	}
	return c
}

// level returns J where the trained share of the way is made.
func (c *course) level() float64 { return c.Reward[0] + trained*(c.end-c.Reward[0]) }

// isThere reports whether J starts where it should end.
func (c *course) isThere() bool { return math.Abs(c.end-c.Reward[0]) < 1e-9 }

// then returns a path when the trained share of the way is made, or at the end; NaN: not known.
func (c *course) then(of *theory.Path) float64 {
	i := sort.Search(len(c.Steps), func(i int) bool { return float64(c.Steps[i]) >= c.made.Value })
	if last := len(of.Reward) - 1; last >= 0 {
		return of.Reward[min(i, last)]
	}
	return math.NaN()
}

// NotBefore returns the step before which a mean path does not reach a level, even displaced toward
// that by all that it leaves out.
func NotBefore(path *theory.Path, level float64) float64 {
	way, nearer := level-path.Reward[0], slices.Clone(path.Reward)
	for i, size := range path.Neglected {
		nearer[i] += math.Copysign(size, way)
	}
	return theory.Reaches(path.Steps, nearer, level, way >= 0)
}

// mechanisms says what each does to runs that do not end where they should.
var mechanisms = map[arrive.Mechanism]string{
	arrive.K3Kicks:        "one sample of a rare answer throws them off under k3",
	arrive.Locking:        "they lock on another arm before they find the best",
	arrive.UnclippedReuse: "ratios of reused samples run away",
	arrive.ClipReversal:   "the clip reverses the force of late samples",
	arrive.SpreadAtRest:   "the noise at rest carries them off",
}

// Dangers says what keeps runs from where the mean path should end, and which share is lost, NaN
// where it is the mean path itself.
func Dangers(arrival *arrive.Prediction) (says []string, lost float64) {
	if arrival == nil {
		return nil, 0
	}
	for _, row := range arrival.Rows {
		if !row.Flag {
			continue
		}
		runs := "runs may be lost"
		if share := row.Share.Value; row.Share.Out() || share == 0 {
			lost = math.NaN()
		} else {
			lost += share
			runs = fmt.Sprintf("about %.2g %% of the runs are lost", 100*share)
		}
		says = append(says, fmt.Sprintf("%s: %s (%s: %.3g, the bound %.3g)",
			runs, mechanisms[row.Mechanism], row.Quantity, row.Value, row.Bound))
	}
	return says, lost
}

// follow adds the way of runs from their start.
func (a *adviser) follow() {
	c := newCourse(a.cache, &a.settings, a.p)
	switch a.course = c; {
	case c == nil:
		a.unknown(Way, "the path takes more than a second: `predict --path` has it")
		return
	case !c.Scope.In:
		a.unknown(Way, c.Scope.Because.String())
		return
	}
	const assumes = "mean path of J to its fixed point, without one to the best arms: `predict --path`"
	a.add(Way, c.made.Value, c.takes(), c.Kind, assumes)
	if !(c.made.Size() < c.made.Value) {
		return
	}
	when := " by then"
	if math.IsInf(c.made.Value, 1) {
		when = " at the end"
	}
	add := func(asked string, x float64, says string) {
		if !math.IsNaN(x) && x != 0 {
			a.add(asked+when, x, says, c.Kind, "the same")
		}
	}
	equal, entropy := c.then(&c.equal), c.then(&c.entropy)
	add("samples drawn", c.samples, number(c.samples))
	add("groups without signal", equal, number(100*equal)+" %, of equal rewards")
	add("entropy left", entropy, number(entropy))
}

// takes says by which step the trained share of the way is made.
func (c *course) takes() string {
	if c.isThere() {
		return "none to go"
	}
	return When(&c.Path, &c.made, c.level())
}

// When says by which step a mean path reaches a level, which takes it a time t.
func When(path *theory.Path, t *scope.Number, level float64) string {
	last, size, first := len(path.Steps)-1, t.Size(), NotBefore(path, level)
	switch {
	case t.Out():
		return "at a step that is not known: " + t.Because.String()
	case math.IsInf(t.Value, 1) && size == 0:
		return fmt.Sprintf("not within %d steps, after which it is %s", path.Steps[last],
			About(path.Reward[last], path.Neglected[last]))
	case size < t.Value:
		return fmt.Sprintf("by step %s of %d", About(t.Value, size), path.Steps[last])
	case first >= 1:
		return fmt.Sprintf("not before step %s of %d", number(first), path.Steps[last])
	}
	return "at a step that is not known: the path leaves out too much"
}

// About writes x ± size with four digits and two.
func About(x, size float64) string {
	return config.Format(rounded(x, 4)) + " ± " + config.Format(rounded(size, 2))
}

// number writes a number with three digits.
func number(x float64) string { return config.Format(rounded(x, 3)) }

// inWords returns the answer in three sentences: the way, the end, and what to do.
func (a *adviser) inWords() []string {
	s, at := &a.settings, a.cache.Stationary(&a.settings).Numbers()
	way, do := a.wayInWords()
	name := map[option.LagKind]string{option.Block: "K", option.Delay: "delay"}[s.Lag.Kind]
	switch best := safe(s, a.lines); {
	case s.Units() != "":
		do = "give a learning rate of logits, such as 0.01: this one is a network's"
	case at.NoiseDecides():
		do = onTrials
	case best.rate < s.Optimizer.LearningRate:
		do = fmt.Sprintf("cut η to %s: %s", config.Format(best.rate), best.because)
	case best.interval < s.Lag.Interval:
		do = fmt.Sprintf("cut %s to %d: %s", name, best.interval, best.because)
	case do == "":
		do = "keep η = " + config.Format(s.Optimizer.LearningRate)
		if name != "" {
			do += fmt.Sprintf(" and %s = %d", name, s.Lag.Interval)
		}
		do += ", unless the trials below say otherwise"
	}
	return []string{way + ".", a.endInWords(at) + ".", "Do: " + do + "."}
}

// wayInWords says how long the way takes, and what to do if that is not to keep all as it is.
func (a *adviser) wayInWords() (says, do string) {
	c := a.course
	switch {
	case c == nil:
		return "The way from the start is too long to follow here", onTrials
	case !c.Scope.In:
		return "The way from the start: " + c.Scope.Because.String(), onTrials
	case c.isThere():
		return fmt.Sprintf("J starts where it should end, at %.3g", c.end), ""
	}
	says = fmt.Sprintf("J goes from %.3g to %.3g: 90 %% of the way %s", c.Reward[0], c.end, c.takes())
	if dangers, lost := Dangers(c.arrival); dangers != nil && !(lost <= 1-wantedShare) {
		return says, "see which of the changes below brings the runs home"
	}
	if !(c.made.Size() < c.made.Value) {
		return says, onTrials
	}
	if c.samples > 0 && !math.IsInf(c.made.Value, 1) {
		says += fmt.Sprintf(", %s samples", number(c.samples))
	}
	s, at, steps := a.settings, a.settings, float64(a.settings.Run.Steps)
	switch {
	case c.made.Value <= latest*steps:
		if math.Abs(c.end-c.Reward[len(c.Reward)-1]) > c.near { // as where the rate decays
			do = onTrials
		}
		return says, do
	case math.IsInf(c.made.Value, 1):
		longer, broken := config.Change(s, longer(&s)[1]...)
		if broken == "" {
			at, c = longer, newCourse(a.cache, &longer, a.p)
		}
	}
	if c == nil || !c.Scope.In || !(c.made.Size() < c.made.Value) || math.IsInf(c.made.Value, 1) {
		return says, fmt.Sprintf("raise η: even %d steps may be few for this one", 4*s.Run.Steps)
	}
	rated := func(s *config.Settings, steps float64) (sum float64) {
		for t := range int(math.Ceil(steps)) {
			sum += grpo.RateFactor(&s.Optimizer.Schedule, t)
		}
		return sum
	}
	factor := rated(&at, c.made.Value) / rated(&s, madeBy*steps)
	return says, fmt.Sprintf("run about %s steps, or raise η to about %.2g", number(factor*steps),
		factor*s.Optimizer.LearningRate)
}

// unpulled reports whether nothing pulls the policy back, so that there is no state at rest.
func (a *adviser) unpulled() bool {
	params := theory.Params(&a.settings, rom.Unit)
	return a.p.FixedPoint == nil && params.Pull() == 0
}

// endInWords says where runs end, whether that is stable, and up to which limits, given the numbers
// at rest.
func (a *adviser) endInWords(at theory.Numbers) string {
	c := a.course
	if c != nil {
		if says, lost := Dangers(c.arrival); says != nil && !(lost <= 1-wantedShare) {
			danger, _, _ := strings.Cut(says[0], " (")
			return strings.ToUpper(danger[:1]) + danger[1:]
		}
	}
	switch {
	case a.unpulled() && c != nil && c.Scope.In && !math.IsNaN(c.then(&c.equal)):
		return fmt.Sprintf("With β = 0 it heads for the best arm and does not rest; at that step %.0f %% of "+
			"the groups give no signal", 100*c.then(&c.equal))
	case a.unpulled():
		return "With β = 0 it does not rest, and runs end on one arm"
	}
	return theory.NewRest(&a.settings, a.p, at).Says()
}
