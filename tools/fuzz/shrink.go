package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/sweeps/config"
)

// simplifications lists the changes that make a file simpler, the largest first: a check
// left out, an arm left out, a key at its default, a number with fewer digits.
func simplifications(f file) []func(file) {
	var all []func(file)
	if checks := f.checks(); len(checks) > 1 {
		for i := range checks {
			all = append(all, func(f file) {
				if i < len(f.checks()) {
					f["checks"] = slices.Delete(f.checks(), i, i+1)
				}
			})
		}
	}
	arms, _ := f.get("bandit.arms").([]any)
	for i := len(arms) - 1; i >= 0 && len(arms) > 2; i-- {
		all = append(all, func(f file) { f.removeArm(i) })
	}
	for _, k := range config.Keys {
		if f.get(k.Path) == nil || !k.Faulty() {
			continue
		}
		if !k.Required() {
			all = append(all, func(f file) { f.remove(k.Path) })
		}
		for digits := 1; digits <= 2; digits++ {
			all = append(all, func(f file) {
				if v := f.get(k.Path); v != nil {
					f.set(k.Path, simpler(v, digits))
				}
			})
		}
	}
	return all
}

// removeArm leaves out an arm, and its entry in every list with one entry per arm.
func (f file) removeArm(arm int) {
	for _, k := range config.Keys {
		if list, isList := f.get(k.Path).([]any); isList && arm < len(list) && strings.Contains(k.Want(), "arm") {
			f.set(k.Path, slices.Delete(list, arm, arm+1))
		}
	}
}

// simpler returns a value with all its numbers rounded to a number of significant
// digits.
func simpler(v any, digits int) any {
	switch v := v.(type) {
	case json.Number:
		if x, err := v.Float64(); err == nil {
			return json.Number(strconv.FormatFloat(significant(x, digits), 'g', -1, 64))
		}
	case []any:
		for i := range v {
			v[i] = simpler(v[i], digits)
		}
	case map[string]any:
		for name := range v {
			v[name] = simpler(v[name], digits)
		}
	}
	return v
}

// significant rounds a finite number to a number of significant digits.
func significant(x float64, digits int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil || math.IsInf(y, 0) {
		return x
	}
	return y
}
