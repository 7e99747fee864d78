package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/training/change"
	"grposim/training/diagnose"
	"grposim/training/logs"
)

const (
	// clip is the bound of an importance weight, 1 ± clip, that of the clipped objective. Beyond it a
	// sample counts as drawn from another policy.
	clip = 0.2
	// half is the midpoint from which most of the samples or groups lack something.
	half = 0.5
	// aQuarter is the share of samples from which what they lack is worth a remark.
	aQuarter = 0.25
)

// limit are the levels of a quantity at and beyond which it is a finding.
type limit struct {
	of          logs.Quantity
	in          within
	least, most float64
	level       Level // if it lasts to the end
}

// exceeded says which quantities are beyond their limits in every row or in a stretch that is no
// accident, and since when.
func exceeded(l *logs.Log, what string, limits ...limit) (found []Finding) {
	f := Finding{Level: Remark, Since: math.MaxInt}
	var texts []string
	for _, m := range limits {
		s := read(l, m.in, m.of)
		at := longest(s.steps, func(i int) bool { return s.values[i] <= m.least || s.values[i] >= m.most })
		if !at.certain() {
			continue
		}
		if at.atEnd && m.level == Failure {
			f.Level = Failure
		}
		f.Since = min(f.Since, at.from)
		texts = append(texts, fmt.Sprintf("%s is %s %s", s.key, span(s.values[at.begin:at.end], plain), at.text()))
	}
	if len(texts) == 0 {
		return nil
	}
	if f.Text = what + ": " + strings.Join(texts, "; "); f.Level == Failure {
		f = f.unlessLearnt(l)
	}
	return []Finding{f}
}

// samplerMismatch finds a sampling engine whose probabilities differ from the trainer's by as much
// as an update may change them. Engines in bfloat16 that agree differ by 1e-3 to 1e-2 nats a token.
//
// Probabilities that differ by half of the log ratio at the clip bound have at least the divergence
// there, by Pinsker's inequality. A KL estimate may have either sign. An effective sample size of
// less than half says that most samples carry no weight. A mean importance weight away from 1, its
// expectation, is a remark: trainers cap it, and weights of whole completions scatter widely.
func samplerMismatch(l *logs.Log) []Finding {
	return exceeded(l, "the sampling engine and the trainer disagree about the probabilities of "+
		"the sampled tokens",
		limit{logs.MismatchKL, anything, -diagnose.KLLimit, diagnose.KLLimit, Failure},
		limit{logs.LogpMismatch, notBelow0, -1, diagnose.LogLimit, Failure},
		limit{logs.ProbMismatch, aShare, -1, diagnose.LogLimit / 2, Failure},
		limit{logs.ISEffective, aShare, half, 2, Failure},
		limit{logs.ISRatioMean, positive, 1 - clip, 1 + clip, Remark})
}

// staleSamples finds samples older than trainers' guides allow, in policy versions: AReaL's allows
// 4 (max_head_offpolicyness), examples of prime-rl 8 (max_off_policy_steps).
func staleSamples(l *logs.Log) []Finding {
	return exceeded(l, "samples are old, in policy versions",
		limit{logs.Staleness, notBelow0, -1, math.Nextafter(4, 5), Remark},
		limit{logs.StalenessMax, notBelow0, -1, math.Nextafter(8, 9), Remark})
}

// truncation finds completions that are cut at the length limit. The reward of a cut completion
// says nothing about the answer that it does not reach. From ½ on most of what is trained on is
// cut: a failure, unless it passes, or the reward of the others rises. From a quarter on it is a
// remark.
//
// Where no share is logged, completions that all have one length have reached the limit
// (oneLength).
func truncation(l *logs.Log) []Finding {
	share := read(l, aShare, logs.LenClipped)
	if len(share.values) == 0 {
		return oneLength(l)
	}
	if at := share.past(half); at.certain() {
		which, values := "most completions are", share.values[at.begin:at.end]
		if change.Median(values) >= 0.995 { // 1 but for the rounding of a mean
			which = "every completion is"
		}
		f := Finding{Level: Failure, Since: at.from,
			Text: fmt.Sprintf("%s cut at the length limit %s: %s %s", which, at.text(), share.key,
				span(values, percent))}
		if !at.atEnd {
			f.Level = Remark
		}
		return []Finding{f.unlessLearnt(l)}
	}
	at, values := share.past(aQuarter), share.values
	switch {
	case at.certain():
		values = values[at.begin:at.end]
	case change.Mean(values) < aQuarter:
		return nil
	}
	return []Finding{{Level: Remark, Since: at.since(),
		Text: fmt.Sprintf("many completions are cut at the length limit %s: %s %s", at.text(), share.key,
			span(values, percent)),
		Next: "raise the length limit, or leave cut completions out of the loss"}}
}

// shortest is the number of tokens of the shortest length limit in use: answers of fewer may all
// have one length.
const shortest = 64

// oneLength finds completions that all have the largest length of the log: the shortest is as long
// as the longest. Where these are not logged, it is a mean that is the same whole number.
func oneLength(l *logs.Log) []Finding {
	length, low := read(l, tokens, logs.LenMean), read(l, tokens, logs.LenMin)
	text := length.key + " is exactly %s %s, as if every completion were cut at the length limit or " +
		"had a fixed length"
	if len(low.values) > 0 {
		length = read(l, tokens, logs.LenMax)
		if len(low.values) != len(length.values) {
			return nil
		}
		text = "every completion has %s tokens %s (" + low.key + " = " + length.key +
			"): they are cut at the length limit, or have a fixed length"
		for i, x := range low.values {
			if x != length.values[i] {
				length.values[i] = 0
			}
		}
	}
	if len(length.values) < 2 {
		return nil
	}
	most := slices.Max(length.values)
	at := longest(length.steps, func(i int) bool { return length.values[i] == most })
	if most != math.Trunc(most) || most < shortest || !at.certain() {
		return nil
	}
	return []Finding{{Level: Remark, Since: at.from, Text: fmt.Sprintf(text, plain(most), at.text())}}
}

// lengthChange finds a mean length that grows or shrinks by a factor of e. Completions that grow
// until they are cut are a failure, which truncation says.
func lengthChange(l *logs.Log) []Finding {
	length := read(l, notBelow0, logs.LenMean)
	from, to, since, found := length.factorChange()
	if !found {
		return nil
	}
	verb, next := "shrink", "check that short answers still reason; a length penalty or a format reward may pay for it"
	if to > from {
		verb, next = "grow", "" // that of the table
	}
	f := Finding{Level: Remark, Since: since, Next: next,
		Text: fmt.Sprintf("completions %s %s, from %s to %s tokens (%s), half of the way at step %d",
			verb, factor(from, to), plain(from), plain(to), length.key, since)}
	return []Finding{f.unlessLearnt(l)}
}

const (
	// klPerToken is the divergence from the reference, in nats a token, from which it counts as blown
	// up. The odds of a token have then changed by a factor of e on average.
	klPerToken = 1
	// vocabulary is the logarithm of the largest vocabulary in use, log 262,144 nats. A larger
	// estimate comes from a few sampled tokens to which the policy gives almost no probability.
	vocabulary = 12.5
)

// klBlowUp finds a divergence from the reference of 1 nat a token or more. It is a failure where it
// lasts to the end and the reward does not rise, and where it cannot be one of distributions.
func klBlowUp(l *logs.Log) []Finding {
	kl := read(l, anything, logs.KLRef)
	if len(kl.values) == 0 {
		return nil
	}
	if x := kl.values[0]; l.Averaged == 1 && kl.steps[0] <= 1 && x >= diagnose.LogLimit && x < klPerToken {
		return []Finding{{Level: Remark, Since: kl.steps[0],
			Text: fmt.Sprintf("at the first step the divergence from the reference policy is %s nats a "+
				"token (%s), where it should be 0", plain(x), kl.key),
			Next: "compare policy and reference: model, chat template, temperature, precision, tokens scored"}}
	}
	at, values := longest(kl.steps, func(i int) bool { return math.Abs(kl.values[i]) >= klPerToken }), kl.values
	if at.total == 0 {
		return nil
	}
	if at.certain() {
		values = values[at.begin:at.end]
	}
	largest := max(slices.Max(values), -slices.Min(values))
	f := Finding{Level: Remark, Since: at.since(),
		Text: fmt.Sprintf("the divergence from the reference policy reaches %s nats a token %s (%s)",
			plain(largest), at.text(), kl.key)}
	switch {
	case !at.certain():
	case largest >= vocabulary:
		f.Level = Failure
		f.Text += fmt.Sprintf("; above %g nats, the logarithm of a vocabulary, "+
			"it is carried by a few tokens", vocabulary)
		f.Next = "look for constrained decoding, a mask of logits, " +
			"or an engine that samples other tokens than the trainer scores; " +
			"then lower the learning rate or the gradient clip"
	case at.atEnd, Learnt(l) != "":
		f.Level = Failure
		f = f.unlessLearnt(l)
	default:
		f.Text += "; it has come back"
	}
	return []Finding{f}
}

// entropyGrowth finds an entropy that grows by a factor of e. It is a failure if the reward
// falls: a policy that explores can learn. Half of the logarithm of a vocabulary at the start is
// a remark, and a failure if it stays without a reward.
func entropyGrowth(l *logs.Log) []Finding {
	entropy := read(l, notBelow0, logs.Entropy)
	start := entropy.values[:min(leastExcess, len(entropy.values))]
	if len(start) > 0 && change.Median(start) >= vocabulary/2 {
		level := Remark
		if falls(l) && entropy.values[len(entropy.values)-1] >= vocabulary/2 {
			level = Failure
		}
		return []Finding{{Level: level, Since: entropy.steps[0],
			Text: fmt.Sprintf("the entropy is %s nats a token at the start (%s), "+
				"near the logarithm of the vocabulary as of random text",
				span(start, plain), entropy.key),
			Next: "read completions: are weights loaded, is it the tokenizer, is the temperature too high?"}}
	}
	from, to, since, found := entropy.factorChange()
	if !found || to < from {
		return nil
	}
	f := Finding{Level: Failure, Since: since,
		Text: fmt.Sprintf("the entropy grows %s, from %s to %s nats (%s), half of the way at step %d",
			factor(from, to), plain(from), plain(to), entropy.key, since)}
	if f = f.unlessLearnt(l); f.Level == Failure && !falls(l) {
		f.Level = Remark
	}
	return []Finding{f}
}
