package config

import (
	"encoding/json"
	"strings"

	"grposim/sim"
)

// Canonical gives settings as JSON: nested as in a file, keys sorted, numbers
// in the shortest form that reads back the same, keys at their default left
// out. A key added later with a default renames nothing.
func Canonical(s Settings) []byte {
	root := map[string]any{}
	for _, k := range Keys {
		v := k.get(&s)
		if atDefault(k, v, &s) {
			continue
		}
		nest(root, k.Path, canonicalValue(v, &s))
	}
	data, err := json.Marshal(root) // sorts keys
	if err != nil {
		panic("sweeps: " + err.Error()) // settings are finite numbers and plain strings
	}
	return data
}

// nest puts a value at a dotted path, as a file nests it.
func nest(root map[string]any, path string, v any) {
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		inner, exists := root[name].(map[string]any)
		if !exists {
			inner = map[string]any{}
			root[name] = inner
		}
		root = inner
	}
	root[names[last]] = v
}

// atDefault says whether v is what the key has when left out; a list that is
// not there counts as left out.
func atDefault(k Key, v any, s *Settings) bool {
	if n, isList := listLength(v); isList && n == 0 {
		return true
	}
	standard := k.standard(s)
	return standard != nil && Format(v) == Format(standard)
}

// canonicalValue is a value as a document has it, but for equal arms, which are
// written out: how a file counts them names no other cell.
func canonicalValue(v any, s *Settings) any {
	if _, isArms := v.([]ArmGroup); !isArms {
		return documentValue(v)
	}
	var groups []ArmGroup
	for _, arm := range s.Bandit.Arms {
		groups = append(groups, ArmGroup{Arm: arm, Count: 1})
	}
	return documentValue(groups)
}

// forceID names what an on-policy force depends on: bandit, estimator and
// reference, not lag and optimizer.
func ForceID(s *Settings) string {
	force := Settings{Bandit: s.Bandit, Estimator: s.Estimator}
	force.Policy.Reference = s.Policy.Reference
	return string(Canonical(force))
}

// sizeKey names what a cell is but for its group size: cells with one key are
// the sizes that a claim over them compares. Keys of `run` do not count, nor
// does a schedule that ends with the run, as it does by default.
func SizeID(variant string, s *Settings) string {
	rest := *s
	if rest.Optimizer.Schedule.Total == rest.Run.Steps {
		rest.Optimizer.Schedule.Total = 0
	}
	rest.Run = sim.Run{}
	rest.Estimator.GroupSize = 0
	return variant + "\n" + string(Canonical(rest))
}
