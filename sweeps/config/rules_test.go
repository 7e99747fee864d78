package config

import (
	"slices"
	"strings"
	"testing"

	"grposim/option"
)

// The tests of rules name words of their keys, the texts keys and counted facts, and the rows of
// checks claims and needs. Every claim is said in words.
func TestRulesNameKeys(t *testing.T) {
	for _, c := range Claims {
		if c.Quantity == "" || c.Says == "" {
			t.Errorf("claims.yaml says of %s: %+v", c.Name, c)
		}
		for _, need := range c.Needs {
			if need.String() == "" {
				t.Errorf("claim %s: unknown need %s", c.Name, need)
			}
		}
		for _, key := range c.Over {
			if keyIndex(key) < 0 {
				t.Errorf("claim %s: unknown key %s", c.Name, key)
			}
		}
	}
	for _, r := range slices.Concat(cellRules, demands) {
		for _, test := range slices.Concat(r.all, r.any) {
			k, _ := LookupKey(test.name)
			if k.Kind != WordValue || test.op == "" {
				continue
			}
			for _, v := range test.values {
				if !slices.Contains(k.Words, v.(string)) {
					t.Errorf("%q: %s is no word of %s", r.When, v, test.name)
				}
			}
		}
		for _, name := range placeholder.FindAllString(r.When+r.Any+r.Got+r.Want, -1) {
			if name = strings.Trim(name, "{}"); keyIndex(name) < 0 &&
				(facts[name] == nil || nouns[name] == "") {
				t.Errorf("%q: {%s} is neither a key nor a fact", r.When, name)
			}
		}
		for _, name := range slices.Concat(r.Claims, r.Except) {
			if _, known := LookupClaim(name); !known {
				t.Errorf("%q: no claim %s", r.When, name)
			}
		}
		for _, need := range r.Needs {
			if rules.Needs[need] == "" {
				t.Errorf("%q: no need %s", r.When, need)
			}
		}
	}
}

// Every mistake that package option finds in a lag or an optimizer is about a key.
func TestFieldsOfOptionsAreKeys(t *testing.T) {
	var m option.Mistakes
	for _, lag := range []option.Lag{
		{Behind: -1}, {Kind: option.Delay, Interval: -1}, {Kind: 9},
		{Kind: option.Random, Ages: option.Ages{From: -1, To: -2, Drawn: 9}},
		{Kind: option.Random, Ages: option.Ages{Law: option.GeometricAges}}, {Kind: option.Random,
			Ages: option.Ages{Law: option.TableAges, Weights: [option.MaxTableAge + 1]float64{-1}}},
		{Kind: option.Random, Ages: option.Ages{Law: 9}},
	} {
		lag.Check(&m)
	}
	for _, o := range []option.Optimizer{
		{Momentum: 1, MaxNorm: -1, Schedule: option.Schedule{Warmup: -1}}, {Kind: option.Adam, Beta1: 1,
			Beta2: 1, Epsilon: -1}, {Kind: 9}, {Schedule: option.Schedule{Kind: 9}},
	} {
		o.Check(&m)
	}
	if len(m.List()) < 18 {
		t.Errorf("%d mistakes, want at least 18", len(m.List()))
	}
	for _, mistake := range m.List() {
		keyOfField(mistake.Field) // panics where there is none
	}
}
