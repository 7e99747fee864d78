package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/rom/diagnose"
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
var checkFields = []string{
	"claim", "margin", "absolute_margin", "prediction", "expect", "over", "where", "variant", "control",
	"displacement", "draws", "offset", "locate", "mode",
}

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
	if c.Expect == Fails && judgesExact(&c, row) {
		l.problem(at.fields["expect"], path+".expect", "got fails with the exact prediction, want prediction: leading-order or paper-rule")
	}
	if known {
		l.measuringKeys(&c, row, n, fields, &at)
	}
	l.margins(&c, row, n, fields, path)
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
		c.Control, at.control = l.control(f, path+".control", &c, row)
	}
	at.broken = len(l.problems) > before
	return c, at
}

// judgesExact says whether a check judges the exact prediction; a prediction
// that is a problem already does not.
func judgesExact(c *Check, row ClaimRow) bool {
	switch {
	case c.Prediction != "":
		return c.Prediction == rom.Exact
	case len(row.Predictions) == 0: // the claim is a problem already
		return true
	}
	return row.Predictions[0] == rom.Exact
}

// margins reads the margin, relative or absolute.
func (l *loader) margins(c *Check, row ClaimRow, n *node, fields map[string]*node, path string) {
	relative, absolute := fields["margin"], fields["absolute_margin"]
	if relative != nil {
		c.Margin, _ = l.number(relative, path+".margin", positive, "a number > 0")
	}
	if absolute != nil {
		key, want := path+".absolute_margin", "a number > 0"
		if fields["locate"] != nil {
			want += ", or 0 where " + LagIntervalKey + " is located and the exact prediction judged: both are whole numbers"
		}
		x, ok := l.number(absolute, key, nonNegative, want)
		if wholeNumbers := c.Locate != nil && c.Locate.Param == LagIntervalKey && judgesExact(c, row); ok && x == 0 && !wholeNumbers {
			l.want(absolute, key, want)
		}
		c.AbsoluteMargin = x
	}
	switch {
	case relative != nil && absolute != nil:
		l.problem(absolute.at, path+".absolute_margin", "got margin and absolute_margin, want one of them")
	case relative != nil && row.Has(NeedsAbsolute):
		l.problem(relative.at, path+".margin", "got a margin relative to a prediction of 0, want absolute_margin")
	case relative == nil && absolute == nil:
		l.problem(n.at, path+".margin", "got nothing, want margin or absolute_margin")
	}
}

// measurable are the displacements and offsets that measure something: half the
// difference of a pair is known to the round-off of logits of order 1.
var measurable = Range{Low: 1e-9, High: math.Inf(1)}

const measurableWant = "a number ≥ 1e-9: a deviation of the size of round-off measures nothing"

// measuringKeys reads the keys that say how a claim measures, and refuses
// those that the claim has no use for.
func (l *loader) measuringKeys(c *Check, row ClaimRow, n *node, fields map[string]*node, at *checkPlaces) {
	path := at.path
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
	if f := uses("over", NeedsThreeSizes, GroupSizeKey); f != nil {
		c.Over, _ = l.word(f, path+".over", []string{GroupSizeKey})
	}
	if f := uses("displacement", NeedsDisplacement, measurableWant); f != nil {
		c.Displacement, _ = l.number(f, path+".displacement", measurable, measurableWant)
	}
	if f := uses("draws", NeedsDisplacement, "an integer ≥ 1"); f != nil {
		c.Draws, _ = l.integer(f, path+".draws", atLeast(1), "an integer ≥ 1")
	}
	if f := uses("offset", NeedsOffset, measurableWant); f != nil {
		c.Offset, _ = l.number(f, path+".offset", measurable, measurableWant)
	}
	if f := uses("locate", NeedsLocation, "{"+strings.Join(locateFields, ", ")+"}, from and to in multiples of "+ruleMeasured); f != nil {
		c.Locate, at.locate = l.locate(f, path+".locate")
	}
	if f := uses("mode", NeedsMode, listWords(failureModes)); f != nil {
		c.Mode, _ = l.word(f, path+".mode", failureModes)
	}
}

// locateFields are the names in `locate`, all of them required.
var locateFields = []string{"param", "from", "to", "tolerance"}

// ruleMeasured is the unit of the ends of a search.
const ruleMeasured = "the paper's rule at the measured stiffness"

// locatedParams are the parameters along which an event can be located: those
// that the paper's rule speaks of.
var locatedParams = []string{LearningRateKey, LagIntervalKey}

// locate reads a search, and where its parameter stands.
func (l *loader) locate(n *node, path string) (*Locate, place) {
	fields := l.fields(n, path, locateFields)
	if fields == nil {
		return nil, n.at
	}
	given := func(name, want string) *node {
		if fields[name] == nil {
			l.problem(n.at, path+"."+name, "got nothing, want %s", want)
		}
		return fields[name]
	}
	locate, param := &Locate{}, n.at
	if f := given("param", listWords(locatedParams)); f != nil {
		param = f.at
		locate.Param, _ = l.word(f, path+".param", locatedParams)
	}
	const multiple = "a number > 0, a multiple of " + ruleMeasured
	ordered := true
	if f := given("from", multiple); f != nil {
		locate.From, ordered = l.number(f, path+".from", positive, multiple)
	}
	if f := given("to", multiple); f != nil {
		x, ok := l.number(f, path+".to", positive, multiple)
		if ok && ordered && x <= locate.From {
			l.want(f, path+".to", "a number > from, "+Format(locate.From))
		}
		locate.To = x
	}
	if f := given("tolerance", "a number in (0, 1)"); f != nil {
		locate.Tolerance, _ = l.number(f, path+".tolerance", openUnit, "a number in (0, 1)")
	}
	return locate, param
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

// failureModes are the names that the diagnostics give a run.
var failureModes = func() []string {
	var names []string
	for _, mode := range diagnose.Modes {
		names = append(names, string(mode))
	}
	return names
}()

// faultNames are the constants of the theory that a control may scale.
var faultNames = []string{"stiffness", "noise", "lag", "mass"}

// control reads the fault that a check plants: of a failure mode another mode,
// of everything else a wrong theory.
func (l *loader) control(n *node, path string, check *Check, row ClaimRow) (*Control, map[string]place) {
	fields := l.fields(n, path, []string{"set", "scale", "mode"})
	if fields == nil {
		return nil, nil
	}
	useful, useless, want := []string{"set", "scale"}, []string{"mode"}, "{set: {key: value}} or {scale: {constant: factor}}"
	if row.Has(NeedsMode) {
		useful, useless, want = useless, useful, "{mode: another mode}"
	}
	for _, name := range useless {
		if f := fields[name]; f != nil {
			l.problem(f.at, path+"."+name, "got a fault that %s has no use for, want %s", row.Name, listWords(useful))
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
		slices.SortFunc(c.Set, func(a, b Assignment) int { // arms before what has one entry an arm
			return cmp.Compare(keyIndex(a.Param), keyIndex(b.Param))
		})
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".set", "at least 1 key")
		}
		for _, a := range c.Set {
			k, _ := LookupKey(a.Param)
			switch {
			case !usedByTheory(k):
				l.problem(places[a.Param], path+".set."+a.Param, "got a key that the theory does not use, want one that changes the prediction")
			case check.Locate != nil && check.Locate.Param == a.Param:
				l.problem(places[a.Param], path+".set."+a.Param, "got the key that is located, want one that changes the prediction")
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
			case ok && i >= 2 && (check.Prediction == "" || check.Prediction == rom.Exact):
				l.want(factor, key, "no factor: "+name+" is a constant of the leading-order prediction only")
			case ok:
				*targets[i] = x
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
	return c, places
}
