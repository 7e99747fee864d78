package logs

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// believe takes the values out of a column that its quantity cannot have, and says so. A share may
// be in per cent if values are above 1 and none above 100 or below 0. It is not believed unless the
// user says that it is one: values below 1 would be read a hundred times too large.
func (a *assembly) believe(c *Column, of estimator, steps []int) {
	within := c.Quantity.within()
	rounding := 1e-6 // of sums of float32
	if of == k2 || of == k3 {
		within, rounding = notBelow0, roundedKL
	}
	isKey := func(key string) bool { return strings.EqualFold(key, c.Key) }
	if within == share && slices.ContainsFunc(a.how.Percent, isKey) {
		for i := range c.Values {
			c.Values[i] /= 100
		}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range c.Values {
		if !math.IsNaN(x) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if c.Quantity == Entropy && strings.Contains(strings.ToLower(c.Key), "loss") && lo < 0 && hi <= 0 {
		for i := range c.Values {
			c.Values[i] = -c.Values[i]
		}
		lo, hi = -hi, -lo
		a.note("%s is nowhere above 0: read as a loss, the entropy with the opposite sign.", c.Key)
	}
	wrong := func(x float64) bool { return x < within.lo-rounding || x > within.hi+rounding }
	switch first := slices.IndexFunc(c.Values, wrong); {
	case first < 0:
		return
	case within == share && lo >= 0 && hi <= 100:
		a.note("%s: not believed, because shares are in [0, 1] and it is %v at step %d; "+
			"if it is in per cent, say --percent %s.", c.Key, c.Values[first], steps[first], c.Key)
		wrong = func(float64) bool { return true }
	default:
		n := len(c.Values) - len(slices.DeleteFunc(slices.Clone(c.Values), wrong))
		a.note("%s: %s outside of %s left out, the first %v at step %d.", c.Key, CountWords(n, "value"),
			within, c.Values[first], steps[first])
	}
	for i, x := range c.Values {
		if wrong(x) {
			c.Values[i] = math.NaN()
		}
	}
}

// roundedKL is how far below 0 an estimate that cannot be negative may be by rounding: the
// log probabilities of bfloat16 models have eight bits.
const roundedKL = 1.0 / 256

// String writes the bounds as an interval.
func (b bounds) String() string {
	if math.IsInf(b.hi, 1) {
		return fmt.Sprintf("[%v, ∞)", b.lo)
	}
	return fmt.Sprintf("[%v, %v]", b.lo, b.hi)
}

// otherKind is training of another kind than GRPO.
type otherKind struct {
	keys []string // that only its trainers write; of KEY+KEY both
	says string   // what its logs are
	task bool     // its reward is that of a task
}

var otherKinds = []otherKind{
	{[]string{"rewards/chosen", "rewards/margins", "rewards/accuracies", "logps/chosen", "dpo_loss",
		"chosen_reward", "reject_reward", "preference_loss", "margin+accuracy"},
		"a log of preference optimization or of a reward model (%s), not of GRPO", false},
	{[]string{"critic/vf_loss", "loss/value_avg", "critic_loss", "vf_loss", "value_loss",
		"ppo/loss/value"},
		"a log of PPO (%s), which has a value function, not of GRPO", true},
	{[]string{"mean_token_accuracy", "logits_loss", "train_mean_nll"},
		"a log of supervised fine-tuning (%s), not of GRPO", false},
	{[]string{"_wandb/runtime"}, "the summary of W&B (%s), " +
		"the last values of a run and not its rows: export its history", true},
	{[]string{"teacher_kl", "kd_loss", "distillation_loss", "distill_loss"},
		"a log of distillation (%s), not of GRPO", false},
}

// other returns the other kind of training that a file is of, with the key that shows it. It is ""
// if the file is not known to be of any.
func (c *collector) other() (kind otherKind, key string) {
	keys := make(map[string]string) // as in the file, by name
	for _, key := range append(c.keysByLikeness(c.series), c.texts...) {
		keys[strings.TrimPrefix(strings.ToLower(key), "train/")] = key
	}
	for _, o := range otherKinds {
		for _, key := range o.keys {
			one, other, both := strings.Cut(key, "+")
			if key, has := keys[one]; has && (!both || keys[other] != "") {
				return o, key
			}
		}
	}
	return otherKind{}, ""
}

// samplesAtLeast is the number of rewards of which chance makes no step's mean 0 or 1 each time. Of
// groups that are solved half of the time, one in 2⁷ has so many of one kind.
const samplesAtLeast = 8

// ofSamples reports whether the rows of a log are single samples, as consoles print them among
// completions. They have rewards and nothing else, each 0 or 1, and both occur.
func (l *Log) ofSamples() bool {
	var rewards []float64
	for _, c := range l.Columns {
		if family := c.Quantity.Family(); family == Reward {
			rewards = c.Values
		} else if family != RewardComponent {
			return false
		}
	}
	between := func(x float64) bool { return x != 0 && x != 1 }
	return len(rewards) >= samplesAtLeast && !slices.ContainsFunc(rewards, between) &&
		slices.Contains(rewards, 0) && slices.Contains(rewards, 1)
}
