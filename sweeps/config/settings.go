package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// Settings are the values of all keys in one cell of a sweep, in the types of the
// simulator.
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

// Policy holds the policy at which a run starts and the reference policy of the KL
// penalty.
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

// expandArms lists the arms of all groups, one entry per arm.
func expandArms(groups []ArmGroup) []option.Arm {
	var arms []option.Arm
	for _, g := range groups {
		arms = append(arms, slices.Repeat([]option.Arm{g.Arm}, g.Count)...)
	}
	return arms
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

// ArmMeans lists the arms' mean rewards.
func (s *Settings) ArmMeans() []float64 {
	return each(s.Bandit.Arms, func(arm option.Arm) float64 { return arm.Mean })
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
	switch v := v.(type) {
	case int:
		if v == option.Infinite {
			return "inf"
		}
		return strconv.Itoa(v)
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []float64:
		return formatList(v, func(x float64) string { return Format(x) })
	case Weights:
		return Format([]float64(v))
	case Record:
		return formatList(recordWords(v), func(word string) string { return word })
	case PromptMeans:
		return formatList(v, func(pair [2]float64) string { return Format(pair[:]) })
	case Init:
		switch {
		case v.Kind == AtLogits:
			return Format(v.Logits)
		case v.Offset == 0:
			return fixedPointWord
		}
		return "{" + offsetField + ": " + Format(v.Offset) + "}"
	case []ArmGroup:
		return formatList(v, formatArms)
	default:
		return fmt.Sprint(v)
	}
}

// formatList writes a list in YAML's flow style.
func formatList[T any](list []T, format func(T) string) string {
	return "[" + strings.Join(each(list, format), ", ") + "]"
}

// formatArms writes an item of bandit.arms in YAML's flow style.
func formatArms(g ArmGroup) string {
	text := "{reward: " + g.Arm.Law.String() + ", mean: " + Format(g.Arm.Mean)
	if g.Arm.Law == option.Normal {
		text += ", std: " + Format(g.Arm.Std)
	}
	if g.Count != 1 {
		text += ", count: " + Format(g.Count)
	}
	return text + "}"
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
	case []ArmGroup:
		var arms []any
		for _, g := range v {
			arm := map[string]any{"reward": g.Arm.Law, "mean": g.Arm.Mean}
			if g.Arm.Law == option.Normal {
				arm["std"] = g.Arm.Std
			}
			if g.Count != 1 {
				arm["count"] = g.Count
			}
			arms = append(arms, arm)
		}
		return arms
	}
	return v
}

// roundValue rounds all numbers in a value of an axis to 12 significant digits.
func roundValue(v any) any {
	switch v := v.(type) {
	case float64:
		return Round(v)
	case []float64:
		return RoundAll(v)
	case Weights:
		return Weights(RoundAll(v))
	case PromptMeans:
		for i := range v {
			v[i] = [2]float64(RoundAll(v[i][:]))
		}
	case Init:
		return Init{Kind: v.Kind, Logits: RoundAll(v.Logits), Offset: Round(v.Offset)}
	case []ArmGroup:
		for i := range v {
			v[i].Arm.Mean, v[i].Arm.Std = Round(v[i].Arm.Mean), Round(v[i].Arm.Std)
		}
	}
	return v
}

// comparable12 converts a value to a form in which == compares numbers to 12
// significant digits: axes round their values so, and conditions must match them.
func comparable12(v any) any {
	switch v := v.(type) {
	case int, string:
		return v
	case float64:
		return Round(v)
	default:
		return Format(v)
	}
}

// networkRate is the learning rate below which a rate is taken for that of a network. The
// force on a logit is of order 1 at most, and a step of Adam moves it by about the rate, so
// that below 1e-4 a logit changes by 1 in 10,000 steps at best: more than trainers' runs
// have. Their rates are lower because each weight moves the logits of many tokens: 1e-6 by
// default in TRL (configs/presets/trl.yaml). The smallest rate of a built-in experiment is
// 1.8e-4.
const networkRate = 1e-4

// onLogits says how to find a learning rate.
const onLogits = "rates act on logits here and do not carry over from a network: grposim advise --fit LOG shows how to find one's own (docs/trainers.md)"

// Units says in a sentence what a reader has to know of the unit of the learning rate, and of
// all steps and rates that follow from it; "" where it is one of logits.
func (s *Settings) Units() string {
	if s.Optimizer.LearningRate >= networkRate {
		return ""
	}
	return LearningRateKey + " " + Format(s.Optimizer.LearningRate) + " is that of a network, and numbers of steps follow from it; " + onLogits
}
