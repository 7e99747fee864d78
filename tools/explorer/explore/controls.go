package explore

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/sweeps/config"
)

// Control is one thing that the page lets its reader change: a key of the configuration, or
// one of the controls without a key of their own, which changes several.
type Control struct {
	Key    string   `json:"key"`
	Label  string   `json:"label"`
	Symbol string   `json:"symbol,omitempty"`
	Doc    string   `json:"doc"`  // one line
	Kind   string   `json:"kind"` // number, integer or word
	Group  string   `json:"group"`
	Words  []string `json:"words,omitempty"` // of a word, in the order of the configuration
	Also   []string `json:"also,omitempty"`  // words that stand beside a number
	Min    float64  `json:"min"`             // range of the slider; the key itself can allow more
	Max    float64  `json:"max"`
	Step   float64  `json:"step,omitempty"` // on a linear scale
	Scale  string   `json:"scale,omitempty"`
	Zero   bool     `json:"zero,omitempty"` // on a logarithmic scale the lower end is exactly 0
	Unit   string   `json:"unit,omitempty"`
}

// Scales of sliders.
const (
	logarithmic = "log"
	linear      = "linear"
	logit       = "logit" // even in log(p/(1−p))
)

// The controls without a key of their own.
const (
	firstMean  = "arms.first"
	secondMean = "arms.second"
	passRate   = "start.first_arm"
)

// Keys that this package names.
const (
	agesToKey    = "lag.ages.to"
	lagKindKey   = "lag.kind"
	referenceKey = "policy.reference"
	strengthKey  = "grpo.kl.coefficient"
)

// controls are those of the page, in its order. The first group is the one that the page opens: the
// controls that most readers move. Labels and words that are left out come from config.Keys.
var controls = []Control{
	{Key: config.GroupSizeKey, Group: "Main controls", Doc: "Samples of a prompt: num_generations of TRL, rollout.n of verl. ∞ (inf) has no noise.", Min: 2, Max: 1024, Scale: logarithmic, Also: []string{"inf"}},
	{Key: strengthKey, Group: "Main controls", Doc: "Pull to the reference policy: beta of TRL, kl_loss_coef of verl. At 0: no fixed point.", Min: 0.001, Max: 4, Scale: logarithmic, Zero: true},
	{Key: config.LagIntervalKey, Group: "Main controls", Doc: "Steps from one refresh to the next, or the delay; 1 in a block is on-policy.", Min: 1, Max: 128, Scale: logarithmic},
	{Key: config.LearningRateKey, Group: "Main controls", Doc: "Acts on logits, not on the weights of a network: its value does not carry over.", Min: 1e-4, Max: 10, Scale: logarithmic},

	{Key: firstMean, Label: "reward of the first answer", Group: "Task", Doc: "Chance that the first answer is rewarded; 1 for a right answer and a verifier without errors.", Max: 1, Step: 0.01, Scale: linear},
	{Key: secondMean, Label: "reward of the second answer", Group: "Task", Doc: "Chance that the second answer is rewarded; 0 for a wrong answer.", Max: 1, Step: 0.01, Scale: linear},
	{Key: passRate, Label: "first answer at the start", Group: "Task", Doc: "Probability of the first answer at the start, and in the reference policy: the pass rate if it is the right one.", Min: 0.001, Max: 0.999, Scale: logit},

	{Key: "grpo.groups_per_step", Group: "Sampling", Doc: "Groups, or prompts, that are averaged in a step.", Min: 1, Max: 1024, Scale: logarithmic},
	{Key: "grpo.filter", Label: "groups of equal rewards", Group: "Sampling", Doc: "They teach nothing: keep them, draw others in their place (dynamic sampling), or drop them."},

	{Key: "grpo.advantage.baseline", Label: "baseline", Group: "Advantage", Doc: "What is subtracted from a reward: the mean of its group, or of the other samples (RLOO)."},
	{Key: "grpo.advantage.scale", Label: "scale", Group: "Advantage", Doc: "What the advantage is divided by: the standard deviation of the group (GRPO), or nothing (Dr. GRPO)."},
	{Key: "grpo.importance.mode", Label: "importance weight", Group: "Advantage", Doc: "Weight of a sample of an older policy: none, its probability ratio, or the ratio while it is within the clip."},
	{Key: "grpo.importance.clip_low", Label: "clip below", Group: "Advantage", Doc: "A sample of negative advantage counts while its ratio is at least 1 − this: epsilon of TRL.", Min: 0.01, Max: 0.9, Step: 0.01, Scale: linear},
	{Key: "grpo.importance.clip_high", Label: "clip above", Group: "Advantage", Doc: "A sample of positive advantage counts while its ratio is at most 1 + this: epsilon_high of TRL.", Min: 0.01, Max: 2, Step: 0.01, Scale: linear},
	{Key: "grpo.importance.cap", Label: "cap of the ratio", Group: "Advantage", Doc: "Largest ratio of a dual clip, a truncated or a masked weight.", Min: 1, Max: 10, Step: 0.1, Scale: linear},

	{Key: "grpo.kl.gradient", Label: "KL estimator", Group: "Penalty", Doc: "The exact gradient, or that of a sampled estimator: TRL and verl use k3."},
	{Key: "grpo.kl.at", Label: "KL is that of", Group: "Penalty", Doc: "The policy in the penalty: the current one, or the snapshot that draws the samples."},

	{Key: lagKindKey, Label: "kind of lag", Group: "Lag", Doc: "Samples come from a snapshot refreshed every K steps (block), from the policy K steps ago (delay), or of random ages (asynchronous)."},
	{Key: "lag.samples", Label: "samples of a block", Group: "Lag", Doc: "Each step of a block draws its own samples, or all use the same: num_iterations of TRL, ppo_epochs of verl."},
	{Key: agesToKey, Label: "largest age", Group: "Lag", Doc: "Random ages are spread evenly from 0 to this: max_off_policy_steps of prime-rl.", Min: 1, Max: 64, Scale: logarithmic},

	{Key: "optimizer.kind", Label: "optimizer", Group: "Optimizer", Doc: "SGD with momentum (heavy-ball), Nesterov's, or Adam, which the theory knows to leading order."},
	{Key: config.MomentumKey, Group: "Optimizer", Doc: "Share of the last step that is kept: the inertia of the paper.", Max: 0.99, Step: 0.01, Scale: linear},
	{Key: "optimizer.beta1", Label: "β1 of Adam", Group: "Optimizer", Doc: "Decay of the mean of gradients.", Max: 0.99, Step: 0.01, Scale: linear},
	{Key: "optimizer.beta2", Label: "β2 of Adam", Group: "Optimizer", Doc: "Decay of the mean of squared gradients.", Min: 0.9, Max: 0.999, Step: 0.001, Scale: linear},
	{Key: "optimizer.schedule.kind", Label: "schedule", Group: "Optimizer", Doc: "Course of the learning rate; the theory of the noise at rest needs a constant one."},

	{Key: config.StepsKey, Label: "steps", Group: "Run", Doc: "Length of a run in optimizer steps.", Min: 50, Max: 20000, Scale: logarithmic},
}

// described returns a control with what config.Keys says of its key.
func (c Control) described() Control {
	c.Kind = "number"
	key, known := config.LookupKey(c.Key)
	if !known {
		return c
	}
	switch key.Kind {
	case config.WordValue:
		c.Kind, c.Words = "word", key.Words
	case config.IntegerValue:
		c.Kind = "integer"
	}
	if c.Label == "" {
		c.Label = key.Noun + " " + key.Symbol
	}
	c.Symbol, c.Unit = key.Symbol, key.Unit
	return c
}

// text returns what stands at the control in a cell.
func (c Control) text(s *config.Settings) string {
	switch c.Key {
	case firstMean:
		return config.Format(s.Bandit.Arms[0].Mean)
	case secondMean:
		return config.Format(s.Bandit.Arms[1].Mean)
	case passRate:
		return strconv.FormatFloat(share(s.Policy.Reference), 'g', 4, 64)
	}
	return text(s, c.Key)
}

// idle returns why the control has no effect in a cell; "" where it has.
func (c Control) idle(s *config.Settings) string {
	if c.Key == firstMean || c.Key == secondMean {
		if n := len(s.Bandit.Arms); n != 2 {
			return fmt.Sprintf("this preset has %d answers of its own", n)
		}
		return ""
	}
	key, _ := config.LookupKey(c.Key)
	if key.IdleIn(s) {
		return "no effect while " + key.Idle.Param + " is " + text(s, key.Idle.Param)
	}
	return ""
}

// values returns the text at every control.
func values(s *config.Settings) map[string]string {
	all := make(map[string]string)
	for _, c := range controls {
		all[c.Key] = c.text(s)
	}
	return all
}

// Preset is a configuration to begin with.
type Preset struct {
	Name   string            `json:"name"`
	Title  string            `json:"title"`
	Doc    string            `json:"doc"`
	Values map[string]string `json:"values"` // by key of a control
}

// Description tells the page its controls and presets before anything is asked.
type Description struct {
	Controls []Control `json:"controls"`
	Presets  []Preset  `json:"presets"`
}

// titles of the presets, short enough for a row of buttons.
var titles = map[string]string{
	"two-arms": "Two answers", "six-arms": "Six answers", "trl-penalty": "TRL, with penalty", "as-trl": "TRL as it comes",
	"asynchronous": "Random ages", "no-penalty": "β = 0", "unstable": "Unstable",
}

// Describe returns the controls and the presets.
func Describe() (*Description, error) {
	d := &Description{}
	for _, c := range controls {
		d.Controls = append(d.Controls, c.described())
	}
	for _, name := range Presets() {
		spec, err := load(name)
		if err != nil {
			return nil, err
		}
		d.Presets = append(d.Presets, Preset{Name: name, Title: titles[name], Doc: spec.Claim, Values: values(&spec.Base)})
	}
	return d, nil
}

// share returns the probability of the first arm.
func share(logits []float64) float64 { return grpo.NewPolicy(logits).Probs[0] }

// overrides returns the state as overrides `key=value` of its preset, in the order of config.Keys.
// The controls without a key of their own become the keys that they change. A lag that becomes
// random gets ages, and a run that becomes short half of its steps as burn-in, if none are given.
func (s State) overrides() (set []string, err error) {
	spec, err := load(s.Preset)
	if err != nil {
		return nil, err
	}
	base, problems, given := spec.Base, config.Problems(nil), maps.Clone(s.Set)
	number := func(control string, within func(x float64) bool, want string) (x float64, known bool) {
		text, known := given[control]
		delete(given, control)
		if x, err = strconv.ParseFloat(text, 64); known && (err != nil || !within(x)) {
			problems = append(problems, config.Problem{Source: "the page", Key: control, Text: fmt.Sprintf("got %q, want %s", text, want)})
			return 0, false
		}
		return x, known
	}
	base.Bandit.Arms = slices.Clone(base.Bandit.Arms)
	for i, control := range []string{firstMean, secondMean} {
		if mean, known := number(control, func(x float64) bool { return 0 <= x && x <= 1 && len(base.Bandit.Arms) == 2 }, "0 to 1, in a preset of two answers"); known {
			base.Bandit.Arms[i].Mean = mean
			given[config.ArmsKey] = text(&base, config.ArmsKey)
		}
	}
	if p, known := number(passRate, func(x float64) bool { return 0 < x && x < 1 }, "a probability above 0 and below 1"); known {
		logits := make([]float64, len(base.Bandit.Arms)) // the other arms are equally probable
		logits[0] = config.Round(math.Log(p/(1-p)) + math.Log(float64(len(logits)-1)))
		given[config.InitKey], given[referenceKey] = config.Format(logits), config.Format(logits)
	}
	if base.Lag.Kind != option.Random && given[lagKindKey] == option.Random.String() && given[agesToKey] == "" {
		given[agesToKey] = firstAges
	}
	if steps, err := strconv.Atoi(given[config.StepsKey]); err == nil && steps <= base.Run.BurnIn && given[config.BurnInKey] == "" {
		given[config.BurnInKey] = config.Format(steps / 2)
	}
	place := func(key string) int {
		return slices.IndexFunc(config.Keys, func(k config.Key) bool { return k.Path == key })
	}
	for _, key := range slices.SortedFunc(maps.Keys(given), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	}) {
		set = append(set, key+"="+given[key])
	}
	if problems != nil {
		return nil, problems
	}
	return set, nil
}

// text returns the value of a key in a cell, as --set takes it.
func text(s *config.Settings, path string) string {
	key, _ := config.LookupKey(path)
	return config.Format(key.Get(s))
}

// firstAges is the largest random age where the lag becomes random and none is given.
const firstAges = "8"
