package sweeps

import (
	"cmp"
	"fmt"
	"slices"

	"grposim/rom"
)

func (l *loader) decodeChecks(n *node) {
	if n.kind != list {
		l.want(n, "checks", "a list of checks")
		return
	}
	for i, item := range n.items {
		c, places := l.check(item, fmt.Sprintf("checks[%d]", i))
		l.spec.Checks = append(l.spec.Checks, c)
		l.checks = append(l.checks, places)
	}
}

// checkFields are the names that a check may have.
var checkFields = []string{"claim", "margin", "absolute_margin", "prediction", "expect", "over", "where", "variant", "control", "displacement", "draws"}

var expectations = []string{string(Holds), string(Fails)}

func (l *loader) check(n *node, path string) (Check, checkPlaces) {
	c := Check{Expect: Holds}
	at := checkPlaces{path: path, fields: map[string]place{"": n.at}}
	before := len(l.problems)
	fields := l.fields(n, path, checkFields)
	for name, f := range fields {
		at.fields[name] = f.at
	}
	if fields == nil {
		at.broken = true
		return c, at
	}
	missing := func(name, want string) { l.problem(n.at, path+"."+name, "got nothing, want %s", want) }

	var row ClaimRow
	known := false
	if f := fields["claim"]; f == nil {
		missing("claim", listWords(claimNames()))
	} else {
		c.Claim, known = l.word(f, path+".claim", claimNames())
		row, _ = LookupClaim(c.Claim)
	}
	if f := fields["margin"]; f != nil {
		c.Margin, _ = l.number(f, path+".margin", positive, "a number > 0")
	}
	if f := fields["absolute_margin"]; f != nil {
		c.AbsoluteMargin, _ = l.number(f, path+".absolute_margin", positive, "a number > 0")
	}
	switch relative, absolute := fields["margin"] != nil, fields["absolute_margin"] != nil; {
	case relative && absolute:
		l.problem(at.fields["absolute_margin"], path+".absolute_margin", "got margin and absolute_margin, want one of them")
	case relative && row.Has(NeedsAbsolute):
		l.problem(at.fields["margin"], path+".margin", "got a margin relative to a prediction of 0, want absolute_margin")
	case !relative && !absolute:
		missing("margin", "margin or absolute_margin")
	}
	if f := fields["expect"]; f != nil {
		if word, ok := l.word(f, path+".expect", expectations); ok {
			c.Expect = Expectation(word)
		}
	}
	if f := fields["prediction"]; f != nil {
		kinds := []string{string(rom.Exact), string(rom.LeadingOrder), string(rom.PaperRule)}
		if known {
			kinds = nil
			for _, kind := range row.Predictions {
				kinds = append(kinds, string(kind))
			}
		}
		word, _ := l.word(f, path+".prediction", kinds)
		c.Prediction = rom.Kind(word)
	}
	if c.Expect == Fails && (fields["prediction"] == nil || c.Prediction == rom.Exact) {
		l.problem(at.fields["expect"], path+".expect", "got fails with the exact prediction, want prediction: leading-order or paper-rule")
	}
	if known {
		l.measuringKeys(&c, row, n, fields, path)
	}
	if f := fields["where"]; f != nil {
		c.Where = l.conditions(f, path+".where")
	}
	if f := fields["variant"]; f != nil {
		var names []string
		for _, v := range l.spec.Variants {
			names = append(names, v.Name)
		}
		if len(names) == 0 {
			l.want(f, path+".variant", "no variant: the file has none")
		} else {
			c.Variant, _ = l.word(f, path+".variant", names)
		}
	}
	if f := fields["control"]; f != nil {
		c.Control, at.control = l.control(f, path+".control", c.Prediction)
	}
	at.broken = len(l.problems) > before
	return c, at
}

// measuringKeys reads the keys that say how a claim measures, and refuses
// those that the claim has no use for.
func (l *loader) measuringKeys(c *Check, row ClaimRow, n *node, fields map[string]*node, path string) {
	uses := func(name string, need Need, want string) *node {
		f := fields[name]
		switch {
		case f != nil && !row.Has(need):
			l.problem(f.at, path+"."+name, "got a key that %s has no use for, want it left out", c.Claim)
			return nil
		case f == nil && row.Has(need):
			l.problem(n.at, path+"."+name, "got nothing, want %s", want)
		}
		return f
	}
	if f := uses("over", NeedsThreeSizes, groupSizeKey); f != nil {
		c.Over, _ = l.word(f, path+".over", []string{groupSizeKey})
	}
	if f := uses("displacement", NeedsDisplacement, "a number > 0"); f != nil {
		c.Displacement, _ = l.number(f, path+".displacement", positive, "a number > 0")
	}
	if f := uses("draws", NeedsDisplacement, "an integer ≥ 1"); f != nil {
		c.Draws, _ = l.integer(f, path+".draws", atLeast(1), "an integer ≥ 1")
	}
}

func (l *loader) conditions(n *node, path string) []Condition {
	if n.kind != mapping {
		l.want(n, path, "a mapping of dotted keys to a value or a list of values")
		return nil
	}
	var conditions []Condition
	for _, f := range n.fields {
		k, known := LookupKey(f.name)
		if !known {
			l.problem(f.at, join(path, f.name), "got an unknown key, want a dotted key of the base%s", keyHint(f.name, keyPaths()))
			continue
		}
		c := Condition{Param: k.Path}
		if f.value.kind != list || isOneValue(k, f.value) {
			if v, ok := l.value(k, f.value, join(path, f.name)); ok {
				c.Values = []any{v}
			}
		} else {
			for i, item := range f.value.items {
				if v, ok := l.value(k, item, fmt.Sprintf("%s[%d]", join(path, f.name), i)); ok {
					c.Values = append(c.Values, v)
				}
			}
			if len(f.value.items) == 0 {
				l.want(f.value, join(path, f.name), "at least 1 value")
			}
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// isOneValue says whether a list is one value of a key whose values are lists.
func isOneValue(k Key, n *node) bool {
	if len(n.items) == 0 {
		return false
	}
	first := n.items[0]
	switch k.Kind {
	case ListValue:
		return first.kind != list
	case InitValue:
		return first.kind == plain && numberSyntax.MatchString(first.text)
	case ArmsValue:
		return first.kind != list
	}
	return false
}

// faultNames are the constants of the theory that a control may scale.
var faultNames = []string{"stiffness", "noise", "lag", "mass"}

func (l *loader) control(n *node, path string, prediction rom.Kind) (*Control, map[string]place) {
	fields := l.fields(n, path, []string{"set", "scale"})
	if fields == nil {
		return nil, nil
	}
	if len(n.fields) == 0 {
		l.want(n, path, "set or scale")
	}
	c := &Control{Scale: rom.Unit}
	var places map[string]place
	if f := fields["set"]; f != nil {
		c.Set, places = l.assignments(f, path+".set")
		slices.SortFunc(c.Set, func(a, b Assignment) int { // arms before what has one entry an arm
			return cmp.Compare(keyIndex(a.Param), keyIndex(b.Param))
		})
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".set", "at least 1 key")
		}
		for _, a := range c.Set {
			if k, _ := LookupKey(a.Param); !usedByTheory(k) {
				l.problem(places[a.Param], path+".set."+a.Param, "got a key that the theory does not use, want one that changes the prediction")
			}
		}
	}
	if f := fields["scale"]; f != nil {
		factors := l.fields(f, path+".scale", faultNames)
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".scale", "at least 1 factor")
		}
		targets := []*float64{&c.Scale.Stiffness, &c.Scale.Noise, &c.Scale.Lag, &c.Scale.Mass}
		for i, name := range faultNames {
			factor := factors[name]
			if factor == nil {
				continue
			}
			key := path + ".scale." + name
			x, ok := l.number(factor, key, positive, "a number > 0 other than 1")
			switch {
			case ok && x == 1:
				l.want(factor, key, "a number > 0 other than 1")
			case ok && i >= 2 && (prediction == "" || prediction == rom.Exact):
				l.want(factor, key, "no factor: "+name+" is a constant of the leading-order prediction only")
			case ok:
				*targets[i] = x
			}
		}
	}
	return c, places
}
