package config

import "slices"

// draft holds a value for each of Keys before defaults are filled in; nil: the key is
// left out.
type draft []any

// with returns a copy of the draft with some keys assigned.
func (d draft) with(set []Assignment) draft {
	changed := slices.Clone(d)
	for _, a := range set {
		changed[keyIndex(a.Param)] = a.Value
	}
	return changed
}

// settings fills in the defaults. A list with one entry per item of bandit.arms gets
// one entry per arm: an entry is repeated Count times.
func (d draft) settings() Settings {
	var s Settings
	var groups []ArmGroup
	for i := range Keys {
		k, v := &Keys[i], d[i]
		if v == nil {
			v = k.Default
		}
		if v == nil {
			continue
		}
		if k.Kind == ArmsValue {
			groups = v.([]ArmGroup)
		}
		k.set(&s, perArm(v, groups, len(s.Bandit.Arms)))
	}
	for i := range Keys { // keys are large: none is copied
		if k := &Keys[i]; k.follow != nil && (d[i] == nil || k.Path == ScheduleTotalKey && d[i] == 0) {
			k.set(&s, k.follow(&s))
		}
	}
	return s
}

// perArm converts a list with one entry per item of bandit.arms to one entry per arm;
// any other value is returned unchanged.
func perArm(v any, groups []ArmGroup, arms int) any {
	if n, isList := listLength(v); !isList || n != len(groups) || n == arms {
		return v
	}
	if start, isInit := v.(Init); isInit {
		start.Logits = repeatEach(start.Logits, groups)
		return start
	}
	return repeatEach(v.([]float64), groups)
}

// repeatEach repeats entry i of the list groups[i].Count times.
func repeatEach(list []float64, groups []ArmGroup) []float64 {
	var long []float64
	for i, g := range groups {
		long = append(long, slices.Repeat(list[i:i+1], g.Count)...)
	}
	return long
}
