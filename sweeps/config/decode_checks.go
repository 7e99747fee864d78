package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/rom"
)

// decodeChecks decodes the list of checks.
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
var checkFields = func() []string {
	fields := []string{"claim", "about", "margin", "absolute_margin", "prediction", "expect", "where", "variant", "control"}
	for _, relation := range Relations {
		fields = append(fields, string(relation))
	}
	for _, key := range measuringKeys {
		fields = append(fields, key.Path)
	}
	return fields
}()

var expectations = []string{string(Holds), string(Fails)}

// check decodes one check.
func (l *loader) check(n *node, path string) (Check, checkPlaces) {
	c := Check{Claim: new(Claim), Expect: Holds} // an unknown claim has no needs
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

	known := false
	if f := fields["claim"]; f == nil {
		missing("claim", listWords(claimNames()))
	} else if name, ok := l.word(f, path+".claim", claimNames()); ok {
		c.Claim, known = LookupClaim(name)
	}
	if f := fields["expect"]; f != nil {
		if word, ok := l.word(f, path+".expect", expectations); ok {
			c.Expect = Expectation(word)
		}
	}
	if f := fields["prediction"]; f != nil {
		kinds := []string{string(rom.Exact), string(rom.LeadingOrder), string(rom.PaperRule), string(rom.RuleAtStiffness), string(rom.RuleAtLargestAge), string(rom.SufficientRule)}
		if known {
			kinds = nil
			for _, kind := range c.Claim.Predictions {
				kinds = append(kinds, string(kind))
			}
		}
		word, _ := l.word(f, path+".prediction", kinds)
		c.Prediction = rom.Kind(word)
	}
	if known {
		l.readMeasuring(&c, n, fields, &at)
	}
	if l.hypothesis(&c, fields, path); c.Hypothesis == nil && c.Expect == Fails && c.judgesExact() {
		l.problem(at.fields["expect"], path+".expect", "got fails with the exact prediction, want prediction: leading-order, paper-rule or rule-at-stiffness")
	}
	l.margins(&c, n, fields, path)
	if f := fields["where"]; f != nil {
		c.Where = l.conditions(f, path+".where")
	}
	if f := fields["variant"]; f != nil {
		var names []string
		for _, v := range l.spec.Variants {
			names = append(names, v.Name)
		}
		if len(names) == 0 {
			l.want(f, path+".variant", "no variant, because the file has none")
		} else {
			c.Variant, _ = l.word(f, path+".variant", names)
		}
	}
	if f := fields["about"]; f != nil {
		c.About = l.about(f, path+".about")
	}
	if f := fields["control"]; f != nil {
		c.Control, at.control = l.control(f, path+".control", &c)
	}
	at.broken = len(l.problems) > before || l.aim != ToJudge
	return c, at
}

// hypothesis decodes the claim of a check about the value of its quantity, and refuses
// what has no meaning beside it.
func (l *loader) hypothesis(c *Check, fields map[string]*node, path string) {
	for _, relation := range Relations {
		f, key := fields[string(relation)], path+"."+string(relation)
		switch {
		case f == nil:
		case c.Hypothesis != nil:
			l.problem(f.at, key, "got %s and %s, want one of them", c.Hypothesis.Relation, relation)
		default:
			c.Hypothesis = &Hypothesis{Relation: relation}
			x, ok := l.number(f, key, Range{Low: math.Inf(-1), High: math.Inf(1)}, "a number")
			if !ok {
				x = math.NaN() // no other problem follows from it
			}
			c.Hypothesis.Value = x
		}
	}
	if c.Hypothesis == nil {
		return
	}
	for _, name := range []string{"expect", "control", "about"} {
		if f := fields[name]; f != nil {
			l.problem(f.at, path+"."+name, "got a key that judges a prediction, want it left out beside %s", c.Hypothesis.Relation)
		}
	}
}

// margins decodes the margin, relative or absolute.
func (l *loader) margins(c *Check, n *node, fields map[string]*node, path string) {
	relative, absolute := fields["margin"], fields["absolute_margin"]
	if relative != nil {
		c.Margin, _ = l.number(relative, path+".margin", positive, "a number > 0")
	}
	if absolute != nil {
		key, want := path+".absolute_margin", "a number > 0"
		if fields["locate"] != nil {
			want += ", or 0 where " + LagIntervalKey + " is located and the exact prediction is judged (both are whole numbers)"
		}
		x, ok := l.number(absolute, key, nonNegative, want)
		if wholeNumbers := c.Locate != nil && c.Locate.Param == LagIntervalKey && c.judgesExact(); ok && x == 0 && !wholeNumbers {
			l.want(absolute, key, want)
		}
		c.AbsoluteMargin = x
	}
	if h := c.Hypothesis; h != nil && h.Relation != Equals {
		for name, f := range map[string]*node{"margin": relative, "absolute_margin": absolute} {
			if f != nil {
				l.problem(f.at, path+"."+name, "got a margin of a bound, want it left out beside %s", h.Relation)
			}
		}
		return
	}
	switch {
	case c.Hypothesis != nil && c.Hypothesis.Value == 0 && relative != nil:
		l.problem(relative.at, path+".margin", "got a margin relative to expected: 0, want absolute_margin")
	case relative != nil && absolute != nil:
		l.problem(absolute.at, path+".absolute_margin", "got margin and absolute_margin, want one of them")
	case relative != nil && c.Claim.Has(NeedsAbsolute):
		l.problem(relative.at, path+".margin", "got a margin relative to a prediction of 0, want absolute_margin")
	case relative == nil && absolute == nil:
		l.problem(n.at, path+".margin", "got nothing, want margin or absolute_margin")
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
			l.problem(f.at, join(path, f.name), "got an unknown key, want a dotted key of the base%s", l.keyHint("", f.name, keyPaths()))
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

// isOneValue reports whether a list is a single value of a key whose values are lists.
func isOneValue(k Key, n *node) bool {
	if len(n.items) == 0 {
		return false
	}
	first := n.items[0]
	switch k.Kind {
	case WeightsValue, ListValue:
		return first.kind != list
	case MeansValue:
		return first.kind != list || len(first.items) == 0 || first.items[0].kind != list
	case InitValue:
		return first.kind == plain && numberSyntax.MatchString(first.text)
	case ArmsValue:
		return first.kind != list
	}
	return false
}

// controlFields are the names that a control may have.
var controlFields = []string{"set", "scale", "mode", "law", "class"}

// faults returns the controlFields that apply to a claim, and an example of each.
func (c *Claim) faults() (useful []string, want string) {
	const theory = "{set: {key: value}} or {scale: {constant: factor}}"
	switch {
	case c.Has(NeedsMode):
		return []string{"mode"}, "{mode: another mode}"
	case c.Has(NeedsClass):
		return []string{"class"}, "{class: another class}"
	case c.Has(NeedsLaw):
		return []string{"set", "scale", "law"}, theory + " or {law: another law}"
	}
	return []string{"set", "scale"}, theory
}

// control decodes the fault that a check plants. It returns the places of `set` by key.
func (l *loader) control(n *node, path string, check *Check) (*Control, map[string]place) {
	fields := l.fields(n, path, controlFields)
	if fields == nil {
		return nil, nil
	}
	useful, want := check.Claim.faults()
	for _, name := range controlFields {
		if f := fields[name]; f != nil && !slices.Contains(useful, name) {
			l.problem(f.at, path+"."+name, "got a fault that does not apply to %s, want %s", check.Claim.Name, listWords(useful))
			delete(fields, name)
		}
	}
	if len(n.fields) == 0 {
		l.problem(n.at, path, "got nothing, want %s", want)
	}
	c := &Control{Scale: rom.Unit}
	var places map[string]place
	if f := fields["set"]; f != nil {
		c.Set, places = l.assignments(f, path+".set")
		slices.SortFunc(c.Set, func(a, b Assignment) int { // arms precede lists with one entry per arm
			return cmp.Compare(keyIndex(a.Param), keyIndex(b.Param))
		})
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".set", "at least 1 key")
		}
		for _, a := range c.Set {
			k, _ := LookupKey(a.Param)
			switch {
			case !k.Faulty():
				l.problem(places[a.Param], path+".set."+a.Param, "got a key that the theory does not use, want one that changes the prediction")
			case check.Locate != nil && check.Locate.Param == a.Param:
				l.problem(places[a.Param], path+".set."+a.Param, "got the located key, want one that changes the prediction")
			}
		}
	}
	if f := fields["scale"]; f != nil {
		factors := l.fields(f, path+".scale", faultNames)
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".scale", "at least 1 factor")
		}
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
			case ok && i >= 2 && (check.Prediction == "" || check.Prediction == rom.Exact):
				l.want(factor, key, "no factor, because the exact prediction does not contain the constant "+name)
			case ok:
				*factorsOf(&c.Scale)[i] = x
			}
		}
	}
	if f := fields["mode"]; f != nil {
		mode, ok := l.word(f, path+".mode", failureModes)
		if ok && mode == check.Mode {
			l.want(f, path+".mode", "another mode than the check's")
		}
		c.Mode = mode
	}
	if f := fields["law"]; f != nil {
		law, ok := l.word(f, path+".law", laws)
		if ok && law == check.Law {
			l.want(f, path+".law", "another law than the check's")
		}
		c.Law = law
	}
	if f := fields["class"]; f != nil {
		class, ok := l.word(f, path+".class", classes)
		if ok && class == check.Class {
			l.want(f, path+".class", "another class than the check's")
		}
		c.Class = class
	}
	return c, places
}
