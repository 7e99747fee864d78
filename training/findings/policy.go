package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/training/logs"
)

// The bound of a ratio of probabilities is that of the clipped objective, 1 ± ε with ε = 0.2,
// as in package diagnose: beyond it a sample counts as drawn from another policy.
const clip = 0.2

var (
	// logLimit is the log ratio at the bound, in nats.
	logLimit = math.Log(1 + clip)
	// klLimit is the divergence of log ratios whose root mean square is logLimit, ½ log²(1+ε) =
	// 0.017 nats, since KL = ½E[(log ratio)²] for small ones.
	klLimit = logLimit * logLimit / 2
	// probLimit is the difference of probabilities from which the divergence is at least
	// klLimit, ½ log(1+ε) = 0.09: the mean of |p − q| at tokens drawn from p is at most the
	// total variation T, since max|p − q| ≤ T, and KL ≥ 2T² (Pinsker's inequality).
	probLimit = logLimit / 2
)

// samplerMismatch finds a sampling engine whose probabilities differ from the trainer's by
// as much as an update may change them. Engines in bfloat16 that agree differ by 1e-3 to
// 1e-2 nats a token.
//
// The mean absolute difference of log probabilities is compared with logLimit, which it
// reaches after its root mean square. The KL estimate may have either sign. An effective
// sample size of less than half says that most samples carry no weight. A mean importance
// weight away from 1, its expectation, is a remark: trainers cap it, and weights of whole
// completions scatter widely.
func samplerMismatch(l *logs.Log) []Finding {
	var texts []string
	f := Finding{Level: Remark, Since: math.MaxInt}
	sign := func(q logs.Quantity, least, most, threshold float64, number func(float64) string, level Level, transform func(float64) float64) {
		s, has := read(l, least, most, q)
		if !has {
			return
		}
		shown := slices.Clone(s.values)
		for i, x := range s.values {
			s.values[i] = transform(x)
		}
		at := s.past(threshold)
		if at.total == 0 {
			return
		}
		if !at.certain() || !at.atEnd {
			level = Remark
		}
		if at.certain() {
			shown = shown[at.begin:at.end]
		} else {
			shown = slices.DeleteFunc(shown, func(x float64) bool { return transform(x) < threshold })
		}
		if level == Failure {
			f.Level = Failure
		}
		f.Since = min(f.Since, at.since())
		texts = append(texts, fmt.Sprintf("%s is %s %s", s.key, span(shown, number), at.text()))
	}
	nats := func(x float64) string { return plain(x) + " nats" }
	same := func(x float64) float64 { return x }
	sign(logs.MismatchKL, math.Inf(-1), math.Inf(1), klLimit, nats, Failure, math.Abs)
	sign(logs.LogpMismatch, 0, math.Inf(1), logLimit, nats, Failure, same)
	sign(logs.ProbMismatch, 0, 1, probLimit, plain, Failure, same)
	sign(logs.ISEffective, 0, 1, half, percent, Failure, func(x float64) float64 { return 1 - x })
	sign(logs.ISRatioMean, math.SmallestNonzeroFloat64, math.Inf(1), clip, plain, Remark, func(x float64) float64 { return math.Abs(x - 1) })
	if len(texts) == 0 {
		return nil
	}
	f.Text = "the sampling engine and the trainer disagree about the probabilities of the sampled tokens: " + strings.Join(texts, "; ")
	if f.Level == Remark {
		f.Next = "log the difference of log probabilities itself: caps and masks move mean weights too, and weights with a cap make single steps harmless"
	}
	return []Finding{f}
}

// Documented ages of samples up to which trainers run asynchronously, in policy versions:
// AReaL's guide allows 4 (max_head_offpolicyness), examples of prime-rl 8
// (max_off_policy_steps). NeMo-RL's default is 1.
const (
	meanAge    = 4
	largestAge = 8
)

// staleSamples finds samples that are older than trainers' guides allow. By itself that is
// a remark; with most tokens clipped, or a policy that has moved by klLimit since it drew
// them, it is a failure.
func staleSamples(l *logs.Log) []Finding {
	age, has := read(l, 0, math.Inf(1), logs.Staleness)
	limit := float64(meanAge)
	if !has {
		age, has = read(l, 0, math.Inf(1), logs.StalenessMax)
		limit = largestAge
	}
	if !has {
		return nil
	}
	at := age.past(math.Nextafter(limit, math.Inf(1)))
	if !at.certain() {
		return nil
	}
	f := Finding{Level: Remark, Since: at.since(), Text: fmt.Sprintf("samples are %s policy versions old %s (%s)", span(age.within(at, limit), plain), at.text(), age.key),
		Next: "lower the allowed age, or the learning rate, if the policy moves far within that age"}
	if clipped, has := read(l, 0, 1, logs.ClipAny); has && clipped.past(half).certain() {
		f.Level, f.Text = Failure, f.Text+"; most tokens are clipped: "+clipped.ends()
	}
	if moved, has := read(l, 0, math.Inf(1), logs.KLOld); has && moved.past(klLimit).certain() {
		f.Level, f.Text = Failure, f.Text+"; the policy has moved far from the one that drew them: "+moved.ends()
	}
	if f.Level == Failure {
		f.Next = ""
	}
	return []Finding{f}
}

const (
	// klPerToken is the divergence from the reference, in nats a token, from which it
	// counts as blown up: the odds of a token have changed by a factor of e on average, as
	// if the reference did not bind.
	klPerToken = 1
	// vocabulary is the logarithm of the largest vocabulary in use, log 262,144 = 12.5 nats: more
	// than that, the estimate is carried by a few tokens.
	vocabulary = 12.5
)

// klBlowUp finds a divergence from the reference of 1 nat a token or more. It is a failure
// where it lasts to the end and the reward does not rise, and where it cannot be one of
// distributions (vocabulary).
//
// Most trainers log the k3 estimate, e^x − x − 1 with x = log π_ref/π of sampled tokens. It
// is never negative and has the divergence as its mean, but a single token that was sampled
// though the policy gives it no probability contributes e^x: such tokens come from
// constrained decoding or another engine. The k1 estimate, −x, is then far below 0.
func klBlowUp(l *logs.Log) []Finding {
	c, has := l.Column(logs.KLRef)
	if !has {
		return nil
	}
	kl := numbers(l, c, math.Inf(-1), math.Inf(1))
	size := series{kl.key, kl.steps, make([]float64, len(kl.values))}
	for i, x := range kl.values {
		size.values[i] = math.Abs(x)
	}
	at := size.past(klPerToken)
	if at.total == 0 {
		return nil
	}
	largest := slices.Max(size.within(at, klPerToken))
	f := Finding{Level: Remark, Since: at.since(), Text: fmt.Sprintf("the divergence from the reference policy reaches %s nats a token %s (%s, %s)", plain(largest), at.text(), kl.key, estimator(c))}
	if !at.certain() {
		return []Finding{f}
	}
	f.Text = fmt.Sprintf("the divergence from the reference policy blows up %s: %s is %s nats a token (%s)", at.text(), kl.key, span(kl.values[at.begin:at.end], plain), estimator(c))
	if first := size.values[0]; first < klPerToken && first > 0 {
		f.Text += fmt.Sprintf(", %s at the start", plain(first))
	}
	switch rises := meanwhile(l); {
	case largest >= vocabulary:
		f.Level = Failure
		f.Text += fmt.Sprintf("; above %g nats, the logarithm of a vocabulary, it is carried by a few tokens that were sampled though the policy gives them almost no probability", vocabulary)
		f.Next = "look for constrained decoding, a mask of logits, or an engine that samples other tokens than the trainer scores; then lower the learning rate or the gradient clip"
	case rises != "":
		f.Text += rises
	case at.atEnd:
		f.Level = Failure
	default:
		f.Text += "; it has come back"
	}
	return []Finding{f}
}

// estimator says by which estimate of the divergence a column was made.
func estimator(c logs.Column) string {
	switch c.Estimator {
	case "":
		return "an estimate"
	case logs.Configured:
		return "the estimate that is configured"
	}
	return fmt.Sprintf("the %s estimate", c.Estimator)
}

// entropyGrowth finds an entropy that grows by a factor of e (factorChange). It is a
// failure unless the reward rises meanwhile: a policy that explores can learn.
func entropyGrowth(l *logs.Log) []Finding {
	entropy, has := read(l, 0, math.Inf(1), logs.Entropy)
	if !has {
		return nil
	}
	c, found := entropy.factorChange()
	if !found || c.to < c.from {
		return nil
	}
	f := Finding{Level: Failure, Since: c.since, Text: fmt.Sprintf("the entropy grows %s, from %s to %s nats (%s), since about step %d", c.factor(), plain(c.from), plain(c.to), entropy.key, c.since)}
	reward, has := read(l, math.Inf(-1), math.Inf(1), logs.Reward)
	switch {
	case !has:
	case reward.trend() > 0:
		f.Level = Remark
		f.Text += meanwhile(l)
	case reward.trend() < 0:
		f.Text += "; the reward falls meanwhile: " + reward.ends()
	default:
		f.Text += "; the reward does not rise"
	}
	return []Finding{f}
}
