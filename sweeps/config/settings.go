package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/sim"
)

// Settings is what one cell of a sweep sets: its fields are the algorithm's
// own types.
type Settings struct {
	Bandit    grpo.Bandit // arms with `count` are expanded
	Policy    Policy
	Estimator grpo.Estimator
	Lag       grpo.Lag
	Optimizer grpo.Optimizer
	Run       sim.Run
}

// Policy is where a run starts and what the KL penalty pulls towards.
type Policy struct {
	Init      Init
	Reference []float64 // one an arm
}

// InitKind is the way an initial policy is given.
type InitKind int

const (
	AtLogits     InitKind = iota // Init.Logits, one an arm
	AtFixedPoint                 // the fixed point plus Init.Offset
)

// Init is the initial policy.
type Init struct {
	Kind   InitKind
	Logits []float64 // AtLogits
	Offset float64   // AtFixedPoint: two arms z* + x; more θ* + x e
}

// ArmGroup is one item of bandit.arms: Count equal arms.
type ArmGroup struct {
	Arm   grpo.Arm
	Count int
}

// expandArms writes out the arms that the groups stand for.
func expandArms(groups []ArmGroup) []grpo.Arm {
	var arms []grpo.Arm
	for _, g := range groups {
		arms = append(arms, slices.Repeat([]grpo.Arm{g.Arm}, g.Count)...)
	}
	return arms
}

// groupArms joins equal neighbours.
func groupArms(arms []grpo.Arm) []ArmGroup {
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

func armMeans(arms []grpo.Arm) []float64 {
	means := make([]float64, len(arms))
	for i, arm := range arms {
		means[i] = arm.Mean
	}
	return means
}

// listLength is how many entries a value has that must have one an arm.
func listLength(v any) (n int, isList bool) {
	switch v := v.(type) {
	case []float64:
		return len(v), true
	case Init:
		return len(v.Logits), v.Kind == AtLogits
	}
	return 0, false
}

// The words of policy.init.
const (
	fixedPointWord = "fixed-point"
	offsetField    = "fixed_point_offset"
)

// Format gives a value as it stands in tables, labels and --set: numbers in
// the shortest form that reads back the same, `inf` for grpo.Infinite, lists
// and arms in YAML's flow style.
func Format(v any) string {
	switch v := v.(type) {
	case int:
		if v == grpo.Infinite {
			return "inf"
		}
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []float64:
		return formatList(v, func(x float64) string { return Format(x) })
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

func formatList[T any](list []T, format func(T) string) string {
	var parts []string
	for _, item := range list {
		parts = append(parts, format(item))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func formatArms(g ArmGroup) string {
	text := "{reward: " + string(g.Arm.Reward) + ", mean: " + Format(g.Arm.Mean)
	if g.Arm.Reward == grpo.Normal {
		text += ", std: " + Format(g.Arm.Std)
	}
	if g.Count != 1 {
		text += ", count: " + Format(g.Count)
	}
	return text + "}"
}

// documentValue gives a key's value the form it has in a file.
func documentValue(v any) any {
	switch v := v.(type) {
	case int:
		if v == grpo.Infinite {
			return "inf"
		}
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
			arm := map[string]any{"reward": g.Arm.Reward, "mean": g.Arm.Mean}
			if g.Arm.Reward == grpo.Normal {
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

// roundValue rounds the numbers of an axis value to 12 significant digits.
func roundValue(v any) any {
	switch v := v.(type) {
	case float64:
		return Round(v)
	case []float64:
		return RoundAll(v)
	case Init:
		return Init{Kind: v.Kind, Logits: RoundAll(v.Logits), Offset: Round(v.Offset)}
	case []ArmGroup:
		for i := range v {
			v[i].Arm.Mean, v[i].Arm.Std = Round(v[i].Arm.Mean), Round(v[i].Arm.Std)
		}
	}
	return v
}

// comparable12 gives a value a form in which equal means equal to 12
// significant digits: an axis rounds its values so, and a condition must be
// able to name them.
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
