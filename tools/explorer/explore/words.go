package explore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// Word is the answer to one question in words, made from the numbers of a prediction.
type Word struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Tone     Tone   `json:"tone"`
}

// Tone says whether an answer is good news for somebody who trains.
type Tone string

// The tones.
const (
	Good Tone = "good"
	Warn Tone = "warn" // it works, with a remark
	Bad  Tone = "bad"
	None Tone = "none" // the theory has no answer
)

// Summary is the answer in one sentence, and in a few words for a small screen.
type Summary struct {
	Text  string `json:"text"`
	Short string `json:"short"`
	Tone  Tone   `json:"tone"`
}

// reader puts a prediction into words.
type reader struct {
	e *Explorer
	c *cell
	p *theory.Prediction
}

// words returns the answers to all questions about the state at rest, and what to know of the unit
// of the learning rate.
func (r reader) words() []Word {
	words := []Word{r.stability(), r.oscillation(), r.settling(), r.noise(), r.end()}
	if units := r.c.settings.Units(); units != "" {
		words = append(words, Word{"Is that a rate of logits?", "No: " + units, Warn})
	}
	return words
}

// The gain margin that is customary in control engineering: closer to a threshold than this
// factor is worth a remark.
const gainMargin = 2

// lockedFrom is the smallest probability of one arm that counts as locked on it.
const lockedFrom = 0.99

// stability says whether the fixed point is stable, and how far the thresholds are.
func (r reader) stability() Word {
	w := Word{Question: "Is it stable?", Tone: None}
	d, known := linearOf(r.p)
	if !known {
		w.Answer = r.unknown()
		return w
	}
	radius, rate := *d.SpectralRadius, r.c.settings.Optimizer.LearningRate
	if r.neutral() {
		w.Tone, w.Answer = Warn, "Neither stable nor unstable: in some direction nothing moves a displacement"
		return w
	}
	if r.unstable() {
		w.Tone, w.Answer = Bad, fmt.Sprintf("No: a displacement grows by %s a step", percent(math.Pow(radius, 1/span(r.c.settings))-1))
		if limits := r.limits(d, " or ", func(limit, now float64) bool { return limit < now }); limits != "" {
			w.Answer += "; stable below " + limits
		}
		return w
	}
	w.Tone, w.Answer = Good, "Yes; no larger η or K that was searched is unstable"
	if limits := r.limits(d, ", or at ", func(limit, now float64) bool { return limit > now }); limits != "" {
		w.Answer = "Yes; it would become unstable at " + limits
		// whose second moments grow with the force
		if s := r.c.settings; s.Optimizer.Kind == option.Adam && s.Estimator.GroupSize != option.Infinite {
			w.Answer = "Yes, at every η; the runs would scatter more from " + limits + " on"
		}
	}
	if critical := d.CriticalLearningRate; critical != nil && rate*gainMargin > *critical {
		w.Tone = Warn
	}
	if interval := d.CriticalRefreshInterval; interval != nil && float64(r.c.settings.Lag.Interval*gainMargin) > *interval {
		w.Tone = Warn
	}
	if d.Neutral > 0 {
		w.Tone, w.Answer = Warn, fmt.Sprintf("Yes, but for %d directions in which nothing pulls back: their answers are hardly drawn", d.Neutral)
	}
	return w
}

// limits names the thresholds of stability on one side of the present values, and the present
// values, joined by the word between.
func (r reader) limits(d *rom.Dynamics, between string, side func(limit, now float64) bool) string {
	var limits []string
	if x := d.CriticalLearningRate; x != nil && *x > 0 && side(*x, r.c.settings.Optimizer.LearningRate) {
		limits = append(limits, fmt.Sprintf("η = %s (now %s)", digits(*x), digits(r.c.settings.Optimizer.LearningRate)))
	}
	if x := d.CriticalRefreshInterval; x != nil && *x > 1 && side(*x, float64(r.c.settings.Lag.Interval)) {
		limits = append(limits, fmt.Sprintf("K = %.0f (now %d)", *x, r.c.settings.Lag.Interval))
	}
	return strings.Join(limits, between)
}

// oscillation says whether the way to the fixed point swings.
func (r reader) oscillation() Word {
	w := Word{Question: "Does it oscillate?", Tone: None}
	d, known := linearOf(r.p)
	if !known {
		w.Answer = "Not known; see how J goes over the steps"
		return w
	}
	period, left, swings := swing(r.c.settings, d)
	switch {
	case !swings:
		w.Tone, w.Answer = Good, "No: it creeps to the fixed point without overshoot"
		if x := d.OscillationLearningRate; x != nil && *x > r.c.settings.Optimizer.LearningRate {
			w.Answer += ". It would ring from η = " + digits(*x) + " on"
		}
		if r.unstable() {
			w.Tone, w.Answer = Bad, "No: it runs away without swings"
		}
	case r.unstable():
		w.Tone, w.Answer = Bad, fmt.Sprintf("Yes, and small swings about it grow: %s larger with every period of %s", percent(left-1), steps(period))
	case left < 0.01:
		w.Tone, w.Answer = Good, fmt.Sprintf("Barely: it overshoots by about %s, and of a swing less than 1 %% is left after its period of %s", percent(math.Sqrt(left)), steps(period))
	default:
		w.Tone, w.Answer = Warn, fmt.Sprintf("Yes, with a period of %s; %s of a swing is left after it", steps(period), percent(left))
		if left < 0.2 {
			w.Tone = Good
		}
	}
	return w
}

// settling says how long a small displacement from the fixed point takes to decay.
func (r reader) settling() Word {
	w := Word{Question: "How long does a small displacement last?", Tone: None}
	d, known := linearOf(r.p)
	switch {
	case !known:
		w.Answer = "Not known; see how J goes over the steps"
	case r.unstable():
		w.Tone, w.Answer = Bad, "It grows: the fixed point is unstable"
	case r.neutral():
		w.Tone, w.Answer = Warn, "For ever in some direction, in which nothing moves it"
	case d.RelaxationRate == nil || !(*d.RelaxationRate > 0):
		w.Answer = "The theory has no relaxation rate here"
	default:
		fold := 1 / *d.RelaxationRate
		w.Tone, w.Answer = Good, fmt.Sprintf("Near the fixed point it is down to 1/e after %s and 95 %% gone after %s", steps(fold), steps(-math.Log(0.05)*fold))
		if -math.Log(0.05)*fold > float64(r.c.settings.Run.Steps) {
			w.Tone = Warn
			w.Answer += ", which is longer than the run"
		}
	}
	return w
}

// noise says how far J fluctuates at rest.
func (r reader) noise() Word {
	w := Word{Question: "How noisy at rest?", Tone: None}
	variance := r.p.Variance
	switch {
	case reach(r.c.settings) == 0:
		w.Answer = "All answers have the same reward: J is constant"
	case r.unstable():
		w.Tone, w.Answer = Bad, "It does not come to rest"
	case r.c.settings.Estimator.GroupSize == option.Infinite:
		w.Answer = "G = inf has no noise; choose a finite group size"
	case variance == nil || !(r.p.AtRest.Variance.Value > 0):
		w.Answer = "Not known: " + r.p.Scope.Because.String()
		if variance != nil && *variance < 0 {
			w.Answer = "Too noisy for this theory; the simulated runs show it"
		}
	default:
		deviation := math.Sqrt(*variance)
		w.Tone, w.Answer = Good, fmt.Sprintf("J fluctuates by ± %s (s.d.), %s of the range of rewards", digits(deviation), percent(deviation/reach(r.c.settings)))
		if doubt := r.p.AtRest.Variance.Judged(*variance); doubt.Out() {
			w.Tone, w.Answer = Warn, fmt.Sprintf("About ± %s (s.d.), but %s; see the simulated runs", digits(deviation), doubt)
		}
	}
	return w
}

// reach returns the range of the arms' mean rewards.
func reach(s *config.Settings) float64 {
	means := s.ArmMeans()
	return slices.Max(means) - slices.Min(means)
}

// end says where the policy ends.
func (r reader) end() Word {
	w := Word{Question: "Where does it end?", Tone: None}
	best := force.BestReward(theory.Params(r.c.settings, rom.Unit))
	point := r.p.FixedPoint
	if point == nil {
		w.Answer = fmt.Sprintf("At no fixed point. The best answer has J = %s; runs can also lock on another", digits(best))
		return w
	}
	front := 0
	for a, q := range point.Policy {
		if q > point.Policy[front] {
			front = a
		}
	}
	w.Tone, w.Answer = Good, fmt.Sprintf("J* = %s of at most %s; answer %d has probability %s", digits(point.Reward), digits(best), front+1, digits(point.Policy[front]))
	if point.Policy[front] >= lockedFrom {
		w.Tone = Warn
		if share := r.p.Moments.ZeroVariance; share != nil {
			w.Answer = fmt.Sprintf("Nearly locked on answer %d, J* = %s; in %s of groups all rewards are equal", front+1, digits(point.Reward), percent(*share))
		}
	}
	if r.unstable() {
		w.Tone, w.Answer = Bad, fmt.Sprintf("Not at its fixed point J* = %s, which is unstable; the simulated runs show where", digits(point.Reward))
	}
	return w
}

// unstable reports whether the fixed point is known to be unstable.
func (r reader) unstable() bool {
	d, known := linearOf(r.p)
	return known && d.IsUnstable()
}

// neutral reports whether the fixed point is neither stable nor unstable.
func (r reader) neutral() bool {
	d, known := linearOf(r.p)
	return known && *d.SpectralRadius >= 1 && !d.IsUnstable()
}

// summary is the answer in one sentence.
func (r reader) summary(words []Word) Summary {
	d, known := linearOf(r.p)
	if units := r.c.settings.Units(); units != "" { // all else follows from it
		return Summary{Text: units + ".", Short: "this η is that of a network, not of logits", Tone: Warn}
	}
	if !known {
		return Summary{Text: r.unknown(), Short: "stability not known: see the path and the runs", Tone: None}
	}
	period, left, swings := swing(r.c.settings, d)
	point := r.p.FixedPoint
	s := Summary{Tone: Good}
	for _, w := range words {
		switch {
		case w.Tone == Bad:
			s.Tone = Bad
		case w.Tone == Warn && s.Tone == Good:
			s.Tone = Warn
		}
	}
	ringing := "without swings"
	switch {
	case swings && left >= 0.01:
		ringing = "in swings of " + steps(period)
	case swings && left >= 0.01*0.01:
		// after half a period the deviation has the other sign and is the square root of this
		ringing = "with a small overshoot"
	}
	if r.neutral() {
		s.Text = fmt.Sprintf("Neither stable nor unstable at its fixed point J* = %s: in some direction nothing moves a displacement.", digits(point.Reward))
		s.Short = "neither stable nor unstable"
		return s
	}
	if r.unstable() {
		s.Text, s.Short = "Unstable: it leaves its fixed point "+ringing+".", "unstable, "+ringing
		if x := d.CriticalLearningRate; x != nil && *x > 0 && *x < r.c.settings.Optimizer.LearningRate {
			s.Text = strings.TrimSuffix(s.Text, ".") + ". It is stable below η = " + digits(*x) + "."
		}
		return s
	}
	s.Text, s.Short = fmt.Sprintf("Stable at its fixed point J* = %s, %s", digits(point.Reward), ringing), "stable, "+ringing
	if rate := d.RelaxationRate; rate != nil && *rate > 0 {
		gone := "; a small displacement is 95 % gone after " + steps(-math.Log(0.05) / *rate)
		s.Text += gone
		s.Short += gone
	}
	if v := r.p.Variance; v != nil && !r.p.AtRest.Variance.Judged(*v).Out() && *v > 0 {
		s.Text += "; J fluctuates by ± " + digits(math.Sqrt(*v))
	}
	s.Text += "."
	if _, kind := r.p.Linear(); kind != rom.Exact {
		s.Text += " (" + kinds[kind] + ")"
	}
	return s
}

// kinds names the kinds of a prediction.
var kinds = map[rom.Kind]string{rom.Exact: "exact theory", rom.Expansion: "theory expanded in 1/G", rom.LeadingOrder: "theory to leading order"}

// unknown says why there is no dynamics.
func (r reader) unknown() string {
	d, _ := r.p.Linear()
	because := theory.MissingFixedPoint(&r.p.Prediction)
	return "The theory does not say whether it is stable: " + cmp.Or(because, d.Scope.Because, scope.NoNumber.Because("the multipliers of the linear map are not known")).String() + "."
}

// digits writes a number with three significant digits.
func digits(x float64) string { return fmt.Sprintf("%.3g", x) }

// percent writes a share with two digits.
func percent(x float64) string {
	if x >= 0.995 || x == 0 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}

// steps writes a number of steps.
func steps(x float64) string {
	switch {
	case x < 9.95:
		return fmt.Sprintf("%.2g steps", x)
	case x < 1e6:
		return fmt.Sprintf("%.0f steps", x)
	}
	return fmt.Sprintf("%.2g steps", x)
}
