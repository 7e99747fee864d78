package config

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// Canonical writes settings as JSON: nested as in a file, keys sorted, numbers in the shortest form
// that reads back as the same number. Keys at their default are left out, so a key added later,
// with a default, changes no cell's id. The keys without are left out too.
func Canonical(s Settings, without ...string) []byte {
	root := map[string]any{}
	for i := range Keys {
		k := &Keys[i]
		v := k.Get(&s)
		if atDefault(k, v, &s) || slices.Contains(without, k.Path) {
			continue
		}
		if k.Kind == ArmsValue { // an id does not depend on how the file counts equal arms
			v = Each(s.Bandit.Arms, func(arm option.Arm) ArmGroup { return ArmGroup{Arm: arm, Count: 1} })
		}
		nest(root, k.Path, documentValue(v))
	}
	data, err := json.Marshal(root) // sorts keys
	if err != nil {
		panic("config: " + err.Error()) // settings are finite numbers and plain strings
	}
	return data
}

// nest stores a value at a dotted path of nested objects.
func nest(root map[string]any, path string, v any) {
	name, rest, inner := strings.Cut(path, ".")
	if !inner {
		root[name] = v
		return
	}
	if root[name] == nil {
		root[name] = map[string]any{}
	}
	nest(root[name].(map[string]any), rest, v)
}

// atDefault reports whether v is the key's default under the settings. An empty list
// counts as the default. −0 is written out.
func atDefault(k *Key, v any, s *Settings) bool {
	if n, isList := listLength(v); isList && n == 0 {
		return true
	}
	byDefault := k.Default
	if k.follow != nil {
		byDefault = k.follow(s)
	}
	return same(v, byDefault)
}

// same reports whether two values of a key are equal, −0 and 0 not. A record is the same as a word
// of one of its quantities.
func same(v, w any) bool {
	switch v := v.(type) {
	case float64:
		x, is := w.(float64)
		return is && math.Float64bits(v) == math.Float64bits(x)
	case int, uint64, string:
		return v == w
	case Record:
		if word, is := w.(string); is {
			return slices.ContainsFunc(v, func(q sim.Quantity) bool { return recordWord(q) == word })
		}
	}
	return w != nil && Format(v) == Format(w)
}

// ForceID identifies a measurement of the on-policy mean force of a cell: it is equal for cells
// with equal `seed`, `bandit`, `grpo`, `policy.reference`, `policy.reference_update` and
// `optimizer.max_norm`, whatever their lag, optimizer and run are besides.
func ForceID(s *Settings) string {
	force := *s
	force.Prompts, force.Lag, force.Run = Prompts{}, option.Lag{}, sim.Run{}
	force.Policy.Init = Init{}
	force.Optimizer = option.Optimizer{MaxNorm: s.Optimizer.MaxNorm}
	return string(Canonical(force))
}

// Compared returns the keys in which the cells may differ that a claim across cells compares
// over a key: that key, and over bandits the refresh interval.
func Compared(over string) []string {
	if over == ArmsKey {
		return []string{ArmsKey, LagIntervalKey}
	}
	return []string{over}
}

// OverID identifies a cell up to the keys Compared over one of Claim.Over: it is equal for the
// cells of a variant that a claim across cells compares. Keys of section `run` are ignored, as is
// optimizer.schedule.total where it equals run.steps, its default.
func OverID(over, variant string, s *Settings) string {
	rest := *s
	if rest.Optimizer.Schedule.Total == rest.Run.Steps {
		rest.Optimizer.Schedule.Total = 0
	}
	rest.Run = sim.Run{}
	return variant + "\n" + string(Canonical(rest, Compared(over)...))
}
