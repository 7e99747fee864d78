package config

import (
	"slices"
	"strings"
	"testing"

	"grposim/option"
)

// The conditions of rules name words of their keys, and the texts name keys and phrases.
func TestRulesNameKeys(t *testing.T) {
	rules := slices.Concat(cellRules, each(demands, func(d demand) rule { return d.rule }))
	for _, r := range rules {
		for _, test := range r.tests {
			k := Keys[test.key]
			known := func(v string) bool { return k.Kind != WordValue || slices.Contains(k.Words, v) }
			if i := slices.IndexFunc(test.values, func(v string) bool { return !known(v) }); i >= 0 {
				t.Errorf("%q: %s is no word of %s", r.when, test.values[i], k.Path)
			}
		}
		for _, name := range placeholder.FindAllString(r.got+r.want, -1) {
			if name = strings.Trim(name, "{}"); keyIndex(name) < 0 && phrases[name] == nil {
				t.Errorf("%q: {%s} is neither a key nor a phrase", r.when, name)
			}
		}
	}
}

// Every mistake that package option finds in a lag or an optimizer is about a key.
func TestFieldsOfOptionsAreKeys(t *testing.T) {
	var m option.Mistakes
	for _, lag := range []option.Lag{
		{Behind: -1}, {Kind: option.Delay, Interval: -1}, {Kind: 9}, {Kind: option.Random, Ages: option.Ages{From: -1, To: -2, Drawn: 9}},
		{Kind: option.Random, Ages: option.Ages{Law: option.GeometricAges}}, {Kind: option.Random, Ages: option.Ages{Law: option.TableAges, Weights: [option.MaxTableAge + 1]float64{-1}}},
		{Kind: option.Random, Ages: option.Ages{Law: 9}},
	} {
		lag.Check(&m)
	}
	for _, o := range []option.Optimizer{
		{Momentum: 1, MaxNorm: -1, Schedule: option.Schedule{Warmup: -1}}, {Kind: option.Adam, Beta1: 1, Beta2: 1, Epsilon: -1}, {Kind: 9}, {Schedule: option.Schedule{Kind: 9}},
	} {
		o.Check(&m)
	}
	if len(m.List()) < 18 {
		t.Errorf("%d mistakes, want at least 18", len(m.List()))
	}
	for _, mistake := range m.List() {
		if keyIndex(keyOfField(mistake.Field)) < 0 {
			t.Errorf("%s is no key", mistake.Field)
		}
	}
}
