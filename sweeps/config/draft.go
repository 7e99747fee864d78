package config

import "slices"

// draft is a value for each of Keys; nil leaves a key to its default.
type draft []any

// with returns the draft with some keys given.
func (d draft) with(set []Assignment) draft {
	changed := slices.Clone(d)
	for _, a := range set {
		changed[keyIndex(a.Param)] = a.Value
	}
	return changed
}

// settings fills in the defaults, and repeats an entry that a list has for one
// item of bandit.arms as often as the item counts arms.
func (d draft) settings() Settings {
	var s Settings
	var groups []ArmGroup
	for i, k := range Keys {
		v := d[i]
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
	for i, k := range Keys {
		if d.follows(i) {
			k.set(&s, k.follow(&s))
		}
	}
	return s
}

// follows says whether key i takes a default that depends on other keys.
func (d draft) follows(i int) bool {
	return Keys[i].follow != nil && (d[i] == nil || Keys[i].Path == ScheduleTotalKey && d[i] == 0)
}

// perArm turns a list with one entry an item of bandit.arms into one with one
// entry an arm; any other value stays as it is.
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

func repeatEach(list []float64, groups []ArmGroup) []float64 {
	var long []float64
	for i, g := range groups {
		long = append(long, slices.Repeat(list[i:i+1], g.Count)...)
	}
	return long
}
