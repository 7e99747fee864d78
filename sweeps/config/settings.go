package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// Settings are the values of all keys in one cell of a sweep, in the types of the simulator.
type Settings struct {
	Seed      uint64           // seed of all random streams
	Bandit    option.Bandit    // section `bandit`; arms with `count` are written out
	Prompts   Prompts          // its section `prompts`
	Contexts  Contexts         // its section `contexts`
	Network   Network          // section `policy.network`
	Policy    Policy           // section `policy`
	Estimator option.Estimator // section `grpo`
	Lag       option.Lag       // section `lag`
	Optimizer option.Optimizer // section `optimizer`
	Run       sim.Run          // section `run`
}

// Policy holds the policy at which a run starts and the reference policy of the KL penalty.
type Policy struct {
	Init      Init
	Reference []float64 // logits of π_ref, finite, one per arm

	ReferenceUpdate option.ReferenceUpdate
}

// InitKind is the form in which an initial policy is given.
type InitKind int

const (
	AtLogits     InitKind = iota // Init.Logits
	AtFixedPoint                 // the fixed point displaced by Init.Offset
)

// Init is the initial policy.
type Init struct {
	Kind   InitKind
	Logits []float64 // of AtLogits: finite, one per arm
	Offset float64   // of AtFixedPoint: x in z* + x (two arms) or θ* + x e (more arms), finite
}

// ArmGroup is one item of bandit.arms: a number of equal arms.
type ArmGroup struct {
	Arm   option.Arm
	Count int // ≥ 1
}

// groupArms joins equal neighbouring arms into groups.
func groupArms(arms []option.Arm) []ArmGroup {
	var groups []ArmGroup
	for _, arm := range arms {
		if n := len(groups); n > 0 && groups[n-1].Arm == arm {
			groups[n-1].Count++
		} else {
			groups = append(groups, ArmGroup{Arm: arm, Count: 1})
		}
	}
	return groups
}

// Weights are the weights of a table of ages, without zeros at the end.
type Weights []float64

// weightsOf returns the weights of ages.
func weightsOf(weights ageWeights) Weights {
	n := len(weights)
	for n > 0 && weights[n-1] == 0 {
		n--
	}
	return append(Weights(nil), weights[:n]...) // nil without weights
}

// listLength returns the length of a list that must have one entry per arm; isList is
// false for values of other keys.
func listLength(v any) (n int, isList bool) {
	switch v := v.(type) {
	case []float64:
		return len(v), true
	case Init:
		return len(v.Logits), v.Kind == AtLogits
	}
	return 0, false
}

// Words of policy.init.
const (
	fixedPointWord = "fixed-point"
	offsetField    = "fixed_point_offset"
)

// Format writes a value of a key as tables, labels and --set show it: numbers in
// the shortest form that reads back as the same number, `inf` for option.Infinite,
// lists and arms in YAML's flow style.
func Format(v any) string {
	switch v := documentValue(v).(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any:
		var fields []string
		for _, name := range []string{"reward", "mean", "std", "count", offsetField} {
			if field, given := v[name]; given {
				fields = append(fields, name+": "+Format(field))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	default:
		list := reflect.ValueOf(v)
		if kind := list.Kind(); kind != reflect.Slice && kind != reflect.Array {
			return fmt.Sprint(v)
		}
		items := make([]string, list.Len())
		for i := range items {
			items[i] = Format(list.Index(i).Interface())
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
}

// documentValue converts a value of a key to its form in a JSON document.
func documentValue(v any) any {
	switch v := v.(type) {
	case int:
		if v == option.Infinite {
			return "inf"
		}
	case Record:
		return recordWords(v)
	case Init:
		switch {
		case v.Kind == AtLogits:
			return v.Logits
		case v.Offset == 0:
			return fixedPointWord
		}
		return map[string]any{offsetField: v.Offset}
	case ArmGroup:
		arm := map[string]any{"reward": v.Arm.Law.String(), "mean": v.Arm.Mean}
		if v.Arm.Law == option.Normal {
			arm["std"] = v.Arm.Std
		}
		if v.Count != 1 {
			arm["count"] = v.Count
		}
		return arm
	case []ArmGroup:
		return Each(v, func(g ArmGroup) any { return documentValue(g) })
	}
	return v
}

// networkRate is the learning rate below which a rate is taken for that of a network. The force on
// a logit is of order 1 at most, and a step of Adam moves it by about the rate, so that below 1e-4
// a logit changes by 1 in 10,000 steps at best: more than trainers' runs have. Their rates are
// lower because each weight moves the logits of many tokens: 1e-6 by default in TRL
// (configs/presets/trl.yaml). The smallest rate of a built-in experiment is 1.8e-4.
const networkRate = 1e-4

// onLogits says how to find a learning rate.
const onLogits = "rates act on logits here and do not carry over from a network: " +
	"grposim advise --fit LOG shows how to find one's own (docs/trainers.md)"

// Units says in a sentence what a reader has to know of the unit of the learning rate, and of
// all steps and rates that follow from it; "" where it is one of logits.
func (s *Settings) Units() string {
	if s.Optimizer.LearningRate >= networkRate {
		return ""
	}
	return LearningRateKey + " " + Format(s.Optimizer.LearningRate) +
		" is that of a network, and numbers of steps follow from it; " + onLogits
}

// Prompts holds section `bandit.prompts`.
type Prompts struct {
	Count      int // C, the number of prompts; 1: the bandit itself
	Parameters option.Parameters
	Order      option.PromptOrder
	Means      BetaLaw      // of a number by which a prompt multiplies the mean of an arm
	List       *PromptMeans // nil: none; a pointer because a plan holds this for every cell
	Start      BetaLaw      // of the probability of the first arm under the initial policy of a prompt
}

// PromptMeans lists the mean rewards of both arms by prompt, each in [0, 1].
type PromptMeans [][2]float64

// BetaLaw is the law Beta(α, β) of numbers drawn by the seed. The zero value stands for none.
type BetaLaw struct{ Alpha, Beta float64 }

// Drawn reports whether there is a law.
func (b BetaLaw) Drawn() bool { return b.Alpha > 0 && b.Beta > 0 }

// Contexts holds section `bandit.contexts`: the questions that a network is asked.
type Contexts struct {
	Task   string  // "" for none
	Count  int     // C, of a task that does not fix it
	Inputs int     // numbers that describe a context of the task gaussian
	Noise  float64 // standard deviation of the pixels of the task digits
}

// Network holds section `policy.network`.
type Network struct {
	Kind        string  // "" for none
	Layers      int     // hidden layers of an MLP
	Width       int     // of each; numbers per position of a transformer
	Activation  string  // of an MLP
	Heads       int     // of a transformer
	Unembedding string  // of a transformer
	Seed        int     // of the first weights, and of what the task draws
	Right       float64 // probability of the right arm to which the reference is trained; 0: it is not
}

// Deep reports whether the policy is a network.
func (s *Settings) Deep() bool { return cmp.Or(s.Network.Kind, "none") != "none" }

// ContextCount returns C, the number of contexts of a network; of `addition` all pairs.
func (s *Settings) ContextCount() int {
	if arms := len(s.Bandit.Arms); s.Contexts.Task == addition {
		return arms * arms
	}
	return s.Contexts.Count
}

// Directions returns C(A−1), the number of differences of logits.
func (s *Settings) Directions() int { return s.ContextCount() * (len(s.Bandit.Arms) - 1) }

// WeightCount returns P, the number of weights of the network.
func (s *Settings) WeightCount() int {
	arms, d := len(s.Bandit.Arms), s.Network.Width
	affine := func(n, m int) int { return (n + 1) * m }
	// arms and the sign = in three places, three norms, attention, and a layer of 4d
	if s.Network.Kind == transformer {
		weights := (arms+1+3)*d + 3*2*d + affine(d, 3*d) + affine(d, d) + affine(d, 4*d) + affine(4*d, d)
		if s.Network.Unembedding != "tied" {
			weights += d * arms
		}
		return weights
	}
	inputs := s.Contexts.Inputs
	switch s.Contexts.Task {
	case addition:
		inputs = 2 * arms
	case "digits":
		inputs = 5 * 7
	}
	return affine(inputs, d) + (s.Network.Layers-1)*affine(d, d) + affine(d, arms)
}

const (
	transformer = "transformer"
	addition    = "addition"
)
