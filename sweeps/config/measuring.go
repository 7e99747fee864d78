package config

import (
	"math"
	"strings"

	"grposim/rom/diagnose"
)

// measuringKey is a row of the table of the keys that say how a claim measures.
type measuringKey struct {
	name   string
	need   Need   // a claim that has it needs the key; others refuse it
	want   string // what its value must be
	doc    string
	read   func(l *loader, n *node, path string, c *Check, at *checkPlaces)
	given  func(m *Measuring) any // its value in a file, nil where it has none
	schema func() object
}

// measurable are the displacements and offsets that measure something: half the
// difference of a pair is known to the round-off of logits of order 1.
var measurable = Range{Low: 1e-9, High: math.Inf(1)}

const measurableWant = "a number ≥ 1e-9: a deviation of the size of round-off measures nothing"

// ruleMeasured is the unit of the ends of a search.
const ruleMeasured = "the paper's rule at the measured stiffness"

// failureModes are the names that the diagnostics give a run.
var failureModes = func() []string {
	var names []string
	for _, mode := range diagnose.Modes {
		names = append(names, string(mode))
	}
	return names
}()

// measuringKeys is the table of the keys that say how a claim measures, in the
// order of the reference document.
var measuringKeys = []measuringKey{
	{
		name: "over", need: NeedsThreeSizes, want: GroupSizeKey,
		doc: "The key that a claim across cells runs over: the cells of a group differ only in it, keys of `run` ignored.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Over, _ = l.word(n, path, []string{GroupSizeKey})
		},
		given:  func(m *Measuring) any { return unlessZero(m.Over) },
		schema: func() object { return object{"const": GroupSizeKey} },
	},
	{
		name: "displacement", need: NeedsDisplacement, want: measurableWant,
		doc: "Largest |entry| d of the displacement of the logits about the fixed point; one pair in nine is at 2d, so that the error is O(d⁴). At least 1e-9: less is round-off.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Displacement, _ = l.number(n, path, measurable, measurableWant)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Displacement) },
		schema: func() object { return schemaRange("number", measurable) },
	},
	{
		name: "draws", need: NeedsDisplacement, want: "an integer ≥ 1",
		doc: "Pairs of groups drawn at either sign of the displacement.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Draws, _ = l.integer(n, path, atLeast(1), "an integer ≥ 1")
		},
		given:  func(m *Measuring) any { return unlessZero(m.Draws) },
		schema: func() object { return schemaInteger(atLeast(1)) },
	},
	{
		name: "offset", need: NeedsOffset, want: measurableWant,
		doc: "Where the pairs of runs start, x on either side of the fixed point: two arms z* ± x, more θ* ± x e, e as for `policy.init`. At least 1e-9: less is round-off.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Offset, _ = l.number(n, path, measurable, measurableWant)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Offset) },
		schema: func() object { return schemaRange("number", measurable) },
	},
	{
		name: "locate", need: NeedsLocation,
		want: "{" + strings.Join(locateFields, ", ") + "}, from and to in multiples of " + ruleMeasured,
		doc:  "`{param, from, to, tolerance}`: the search for the first event along `param`, `optimizer.learning_rate` or `lag.interval`, from `from` to `to` (multiples of the paper's rule at the measured stiffness) down to the relative `tolerance`.",
		read: func(l *loader, n *node, path string, c *Check, at *checkPlaces) {
			c.Locate, at.locate = l.locate(n, path)
		},
		given: func(m *Measuring) any {
			if m.Locate == nil {
				return nil
			}
			return map[string]any{"param": m.Locate.Param, "from": m.Locate.From, "to": m.Locate.To, "tolerance": m.Locate.Tolerance}
		},
		schema: func() object {
			number := schemaRange("number", positive)
			return object{
				"type": "object", "additionalProperties": false, "required": locateFields,
				"properties": object{
					"param": object{"enum": locatedParams}, "from": number, "to": number,
					"tolerance": schemaRange("number", openUnit),
				},
			}
		},
	},
	{
		name: "mode", need: NeedsMode, want: listWords(failureModes),
		doc: "The failure mode that the replicas must be named: none, reward-hacking, advantage-degeneracy, policy-concentration or dynamical-instability.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Mode, _ = l.word(n, path, failureModes)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Mode) },
		schema: func() object { return object{"enum": failureModes} },
	},
}

// unlessZero is a value, nil where it is zero.
func unlessZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// readMeasuring reads the keys that say how the claim of a check measures, and
// refuses those that it has no use for.
func (l *loader) readMeasuring(c *Check, n *node, fields map[string]*node, at *checkPlaces) {
	for _, key := range measuringKeys {
		f, path := fields[key.name], at.path+"."+key.name
		switch needed := c.Claim.Has(key.need); {
		case f != nil && !needed:
			l.problem(f.at, path, "got a key that %s has no use for, want it left out", c.Claim.Name)
		case f != nil:
			key.read(l, f, path, c, at)
		case needed:
			l.problem(n.at, path, "got nothing, want %s", key.want)
		}
	}
}

// locateFields are the names in `locate`, all of them required.
var locateFields = []string{"param", "from", "to", "tolerance"}

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
