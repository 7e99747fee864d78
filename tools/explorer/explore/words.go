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

// say returns an answer, to whatever question.
func say(tone Tone, format string, args ...any) Word {
	return Word{Answer: fmt.Sprintf(format, args...), Tone: tone}
}

// to returns the answer with its question.
func (w Word) to(question string) Word {
	w.Question = question
	return w
}

// reader puts a prediction into words.
type reader struct {
	s    *config.Settings
	p    *theory.Prediction
	rest *theory.Rest
	d    *rom.Dynamics // at the fixed point; nil: not known
}

// newReader returns the reader of the prediction of a cell.
func newReader(c *cell, p *theory.Prediction) reader {
	rest := theory.NewRest(c.settings, &p.Prediction, p.AtRest)
	return reader{c.settings, p, rest, rest.Dynamics}
}

// words returns the answers to all questions about the state at rest, and what to know of the unit
// of the learning rate.
func (r reader) words() []Word {
	words := []Word{
		r.stability().to("Is it stable?"),
		r.oscillation().to("Does it oscillate?"),
		r.settling().to("How long does a small displacement last?"),
		r.noise().to("How noisy at rest?"),
		r.end().to(endQuestion),
	}
	if units := r.s.Units(); units != "" {
		words = append(words, say(Warn, "No: %s", units).to("Is that a rate of logits?"))
	}
	return words
}

// The gain margin that is customary in control engineering: closer to a threshold than this
// factor is worth a remark.
const gainMargin = 2

// endQuestion is about end.
const endQuestion = "Where does it end?"

// lockedFrom is the smallest probability of one arm that counts as locked on it.
const lockedFrom = 0.99

// stability says whether the fixed point is stable, and how far the thresholds are.
func (r reader) stability() Word {
	switch {
	case r.d == nil:
		return say(None, "%s", r.rest.Says())
	case r.rest.Neutral:
		return say(Warn, "Neither stable nor unstable: in some direction nothing moves a displacement")
	case r.rest.Unstable:
		growth := percent(math.Pow(*r.d.SpectralRadius, 1/float64(r.s.Lag.StepsPerSnapshot())) - 1)
		w := say(Bad, "No: a displacement grows by %s a step", growth)
		if limits := r.limits(" or ", -1); limits != "" {
			w.Answer += "; stable below " + limits
		}
		return w
	case r.d.Neutral > 0:
		return say(Warn, "Yes, but for %d directions in which nothing pulls back: "+
			"their answers are hardly drawn", r.d.Neutral)
	}
	w := say(Good, "Yes; no larger η or K that was searched is unstable")
	if limits := r.limits(", or at ", 1); limits != "" {
		w.Answer = "Yes; it would become unstable at " + limits
		// whose second moments grow with the force
		if r.s.Optimizer.Kind == option.Adam && r.s.Estimator.GroupSize != option.Infinite {
			w.Answer = "Yes, at every η; the runs would scatter more from " + limits + " on"
		}
	}
	rate, interval := r.d.CriticalLearningRate, r.d.CriticalRefreshInterval
	if rate != nil && r.s.Optimizer.LearningRate*gainMargin > *rate ||
		interval != nil && float64(r.s.Lag.Interval*gainMargin) > *interval {
		w.Tone = Warn
	}
	return w
}

// limits names the thresholds of stability on one side of the present values (−1: below, 1: above),
// and the present values, joined by the word between.
func (r reader) limits(between string, side int) string {
	var limits []string
	now, interval := r.s.Optimizer.LearningRate, float64(r.s.Lag.Interval)
	if x := r.d.CriticalLearningRate; x != nil && *x > 0 && cmp.Compare(*x, now) == side {
		limits = append(limits, fmt.Sprintf("η = %.3g (now %.3g)", *x, now))
	}
	if x := r.d.CriticalRefreshInterval; x != nil && *x > 1 && cmp.Compare(*x, interval) == side {
		limits = append(limits, fmt.Sprintf("K = %.0f (now %.0f)", *x, interval))
	}
	return strings.Join(limits, between)
}

// oscillation says whether the way to the fixed point swings.
func (r reader) oscillation() Word {
	if r.d == nil {
		return say(None, "Not known; see how J goes over the steps")
	}
	period, left, swings := r.rest.Swing()
	switch {
	case !swings && r.rest.Unstable:
		return say(Bad, "No: it runs away without swings")
	case !swings:
		w := say(Good, "No: it creeps to the fixed point without overshoot")
		if x := r.d.OscillationLearningRate; x != nil && *x > r.s.Optimizer.LearningRate {
			w.Answer += fmt.Sprintf(". It would ring from η = %.3g on", *x)
		}
		return w
	case r.rest.Unstable:
		return say(Bad, "Yes, and small swings about it grow: %s larger with every period of %s",
			percent(left-1), theory.Steps(period))
	case left < 0.01:
		return say(Good, "Barely: it overshoots by about %s, and of a swing less than 1 %% is left "+
			"after its period of %s", percent(math.Sqrt(left)), theory.Steps(period))
	}
	w := say(Warn, "Yes, with a period of %s; %s of a swing is left after it",
		theory.Steps(period), percent(left))
	if left < 0.2 {
		w.Tone = Good
	}
	return w
}

// settling says how long a small displacement from the fixed point takes to decay.
func (r reader) settling() Word {
	switch {
	case r.d == nil:
		return say(None, "Not known; see how J goes over the steps")
	case r.rest.Unstable:
		return say(Bad, "It grows: the fixed point is unstable")
	case r.rest.Neutral:
		return say(Warn, "For ever in some direction, in which nothing moves it")
	case r.d.RelaxationRate == nil || !(*r.d.RelaxationRate > 0):
		return say(None, "The theory has no relaxation rate here")
	}
	fold := 1 / *r.d.RelaxationRate
	gone := -math.Log(0.05) * fold
	w := say(Good, "Near the fixed point it is down to 1/e after %s and 95 %% gone after %s",
		theory.Steps(fold), theory.Steps(gone))
	if gone > float64(r.s.Run.Steps) {
		w.Tone = Warn
		w.Answer += ", which is longer than the run"
	}
	return w
}

func (r reader) noise() Word {
	variance, uncertain := r.p.Variance, r.p.AtRest.Variance
	switch {
	case reach(r.s) == 0:
		return say(None, "All answers have the same reward: J is constant")
	case r.rest.Unstable:
		return say(Bad, "It does not come to rest")
	case r.s.Estimator.GroupSize == option.Infinite:
		return say(None, "G = inf has no noise; choose a finite group size")
	case variance != nil && *variance < 0 && !(uncertain.Value > 0):
		return say(None, "Too noisy for this theory; the simulated runs show it")
	case variance == nil || !(uncertain.Value > 0):
		return say(None, "Not known: %s", r.p.Scope.Because)
	}
	deviation := math.Sqrt(*variance)
	if doubt := uncertain.Judged(*variance); doubt.Out() {
		return say(Warn, "About ± %.3g (s.d.), but %s; see the simulated runs", deviation, doubt)
	}
	return say(Good, "J fluctuates by ± %.3g (s.d.), %s of the range of rewards",
		deviation, percent(deviation/reach(r.s)))
}

// reach returns the range of the arms' mean rewards.
func reach(s *config.Settings) float64 {
	means := s.Bandit.Means()
	return slices.Max(means) - slices.Min(means)
}

func (r reader) end() Word {
	best, point := force.BestReward(theory.Params(r.s, rom.Unit)), r.p.FixedPoint
	if point == nil {
		return say(None, "At no fixed point. The best answer has J = %.3g; runs can also lock on another",
			best)
	}
	most := slices.Max(point.Policy)
	front, share := 1+slices.Index(point.Policy, most), r.p.Moments.ZeroVariance
	switch {
	case r.rest.Unstable:
		return say(Bad, "Not at its fixed point J* = %.3g, which is unstable; "+
			"the simulated runs show where", point.Reward)
	case most >= lockedFrom && share != nil:
		return say(Warn, "Nearly locked on answer %d, J* = %.3g; in %s of groups all rewards are equal",
			front, point.Reward, percent(*share))
	}
	w := say(Good, "J* = %.3g of at most %.3g; answer %d has probability %.3g",
		point.Reward, best, front, most)
	if most >= lockedFrom {
		w.Tone = Warn
	}
	return w
}

func (r reader) summary(words []Word) Summary {
	if units := r.s.Units(); units != "" { // all else follows from it
		return Summary{units + ".", "this η is that of a network, not of logits", Warn}
	}
	sentence := r.rest.Says()
	short, _, _ := strings.Cut(sentence, ";")
	if r.d == nil {
		return Summary{sentence + ".", "stability not known: see the path and the runs", None}
	}
	s := Summary{sentence + ".", short, Good}
	for _, w := range words {
		if w.Tone == Bad || w.Tone == Warn && s.Tone == Good {
			s.Tone = w.Tone
		}
	}
	return s
}

// percent writes a share with two digits.
func percent(x float64) string {
	if x >= 0.995 || x == 0 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}
