package sweeps

import (
	"encoding/json"
	"strings"

	"grposim/grpo"
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

func canonicalValue(v any, s *Settings) any {
	switch v := v.(type) {
	case int:
		if v == grpo.Infinite {
			return "inf"
		}
		return v
	case Init:
		switch {
		case v.Kind == AtLogits:
			return v.Logits
		case v.Offset == 0:
			return fixedPointWord
		}
		return map[string]any{offsetField: v.Offset}
	case []ArmGroup: // equal arms are written out: how a file counts them names no other cell
		arms := []any{}
		for _, arm := range s.Bandit.Arms {
			fields := map[string]any{"reward": arm.Reward, "mean": arm.Mean}
			if arm.Reward == grpo.Normal {
				fields["std"] = arm.Std
			}
			arms = append(arms, fields)
		}
		return arms
	default:
		return v
	}
}
