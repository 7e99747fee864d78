package config

import (
	"math"
	"strings"

	"grposim/rom/diagnose"
)

// measuringKey is a key of a check that sets how its claim is measured.
type measuringKey struct {
	name   string
	need   Need   // claims with this need require the key; other claims refuse it
	want   string // what the value must be, in words
	doc    string // meaning, for the reference document
	read   func(l *loader, n *node, path string, c *Check, at *checkPlaces)
	given  func(m *Measuring) any // the value as in a file; nil: not given
	schema func() object          // the JSON Schema of the value
}

// measurable is the range of displacements and offsets. Half the difference of a pair
// carries the round-off of logits of order 1, so it must be far larger than 1e-16.
var measurable = Range{Low: 1e-9, High: math.Inf(1)}

const measurableWant = "a number ≥ 1e-9 (smaller deviations are lost in round-off)"

// ruleMeasured names the unit of the ends of a search.
const ruleMeasured = "the paper's rule at the measured stiffness"

// failureModes are the names that the diagnostics can give a run.
var failureModes = func() []string {
	var names []string
	for _, mode := range diagnose.Modes {
		names = append(names, string(mode))
	}
	return names
}()

// measuringKeys are the keys of a check that set how its claim is measured, in the
// order of the reference document.
var measuringKeys = []measuringKey{
	{
		name: "over", need: NeedsThreeSizes, want: GroupSizeKey,
		doc: "The key whose values a claim across cells compares: the cells of a group differ only in it (keys of `run` are ignored).",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Over, _ = l.word(n, path, []string{GroupSizeKey})
		},
		given:  func(m *Measuring) any { return unlessZero(m.Over) },
		schema: func() object { return object{"const": GroupSizeKey} },
	},
	{
		name: "displacement", need: NeedsDisplacement, want: measurableWant,
		doc: "Largest |entry| d of the displacement of the logits about the fixed point; one pair in nine is displaced by 2d, which reduces the error to O(d⁴). At least 1e-9: smaller displacements are lost in round-off.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Displacement, _ = l.number(n, path, measurable, measurableWant)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Displacement) },
		schema: func() object { return schemaRange("number", measurable) },
	},
	{
		name: "draws", need: NeedsDisplacement, want: "an integer ≥ 1",
		doc: "Number of pairs of groups drawn at ±displacement.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Draws, _ = l.integer(n, path, atLeast(1), "an integer ≥ 1")
		},
		given:  func(m *Measuring) any { return unlessZero(m.Draws) },
		schema: func() object { return schemaInteger(atLeast(1)) },
	},
	{
		name: "offset", need: NeedsOffset, want: measurableWant,
		doc: "Distance x of the starts of paired runs from the fixed point: z* ± x for two arms, θ* ± x e for more, with e as for `policy.init`. At least 1e-9: smaller offsets are lost in round-off.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Offset, _ = l.number(n, path, measurable, measurableWant)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Offset) },
		schema: func() object { return schemaRange("number", measurable) },
	},
	{
		name: "locate", need: NeedsLocation,
		want: "{" + strings.Join(locateFields, ", ") + "}, from and to in multiples of " + ruleMeasured,
		doc:  "`{param, from, to, tolerance}`: search for the first event along `param` (`optimizer.learning_rate` or `lag.interval`) from `from` to `to`, in multiples of the paper's rule at the measured stiffness, until the bracket has the relative width `tolerance`.",
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
		doc: "The failure mode that the diagnostics must name in every replica: none, reward-hacking, advantage-degeneracy, policy-concentration or dynamical-instability.",
		read: func(l *loader, n *node, path string, c *Check, _ *checkPlaces) {
			c.Mode, _ = l.word(n, path, failureModes)
		},
		given:  func(m *Measuring) any { return unlessZero(m.Mode) },
		schema: func() object { return object{"enum": failureModes} },
	},
}

// unlessZero returns the value, or nil where it is zero.
func unlessZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// readMeasuring decodes the keys that set how the claim of a check is measured, and
// refuses those that the claim does not use.
func (l *loader) readMeasuring(c *Check, n *node, fields map[string]*node, at *checkPlaces) {
	for _, key := range measuringKeys {
		f, path := fields[key.name], at.path+"."+key.name
		switch needed := c.Claim.Has(key.need); {
		case f != nil && !needed:
			l.problem(f.at, path, "got a key that %s does not use, want it left out", c.Claim.Name)
		case f != nil:
			key.read(l, f, path, c, at)
		case needed:
			l.problem(n.at, path, "got nothing, want %s", key.want)
		}
	}
}

// locateFields are the names in `locate`, all of them required.
var locateFields = []string{"param", "from", "to", "tolerance"}

// locatedParams are the parameters along which an event can be located: those for
// which the paper's rule gives a threshold.
var locatedParams = []string{LearningRateKey, LagIntervalKey}

// locate decodes a search and returns the place of its parameter.
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
			l.want(f, path+".to", "a number > from ("+Format(locate.From)+")")
		}
		locate.To = x
	}
	if f := given("tolerance", "a number in (0, 1)"); f != nil {
		locate.Tolerance, _ = l.number(f, path+".tolerance", openUnit, "a number in (0, 1)")
	}
	return locate, param
}
