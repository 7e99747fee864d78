package config

import (
	"math"
	"reflect"
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/training/diagnose"
)

// measuringKey is a key of a check that sets how its claim is measured.
type measuringKey struct {
	Key                        // Path is its name in the check
	need  Need                 // claims with this need require the key; other claims refuse it
	field func(*Measuring) any // pointer to its value
}

// measurable is the range of displacements and offsets. Half the difference of a pair
// carries the round-off of logits of order 1, so it must be far larger than 1e-16.
var measurable = Range{Low: 1e-9, High: math.Inf(1)}

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

// laws are the laws that can be fitted to a log.
var laws = func() []string {
	var names []string
	for _, law := range measure.Laws {
		names = append(names, string(law))
	}
	return names
}()

// classes are the classes of the mean reward that the paper distinguishes, in the words
// of sweeps.Classes.
var classes = []string{"monotone", "overshooting", "oscillatory", "sustained"}

// measuringKeys are the keys of a check that set how its claim is measured, in the
// order of the reference document.
var measuringKeys = []measuringKey{
	{Key{
		Path: "over", Kind: WordValue, Words: []string{GroupSizeKey, coefficientKey, LagIntervalKey, LearningRateKey, MomentumKey, ArmsKey},
		Doc: "The key whose values a claim across cells compares: the cells of a group differ only in it (keys of `run` are ignored). Claims that compare group sizes alone refuse the others.",
	}, NeedsThreeValues, func(m *Measuring) any { return &m.Over }},
	{Key{
		Path: "displacement", Kind: NumberValue, Range: measurable,
		Doc: "Largest |entry| d of the displacement of the logits about the fixed point; one pair in nine is displaced by 2d, which reduces the error to O(d⁴). At least 1e-9: smaller displacements are lost in round-off. No larger than keeps every ratio within the bounds of its weight.",
	}, NeedsDisplacement, func(m *Measuring) any { return &m.Displacement }},
	{Key{
		Path: "draws", Kind: IntegerValue, Range: atLeast(1),
		Doc: "Number of pairs of groups drawn at ±displacement.",
	}, NeedsDisplacement, func(m *Measuring) any { return &m.Draws }},
	{Key{
		Path: "offset", Kind: NumberValue, Range: measurable,
		Doc: "Distance x of the starts of paired runs from the fixed point: z* ± x for two arms, θ* ± x e for more, with e as for `policy.init`. At least 1e-9: smaller offsets are lost in round-off. With a lag, no larger than keeps every ratio within the bounds of its weight.",
	}, NeedsOffset, func(m *Measuring) any { return &m.Offset }},
	{Key{
		Path: "locate", Kind: searchValue,
		Doc: "`{param, from, to, tolerance}`: search for the first event along `param` (`optimizer.learning_rate` or `lag.interval`) from `from` to `to`, in multiples of the paper's rule at the measured stiffness, until the bracket has the relative width `tolerance`. For claims about visible oscillation `visibility` is the smallest passage that counts, as a share of the range of J (default 0.001).",
	}, NeedsLocation, func(m *Measuring) any { return &m.Locate }},
	{Key{
		Path: "mode", Kind: WordValue, Words: failureModes,
		Doc: "The failure mode that the diagnostics must name in every replica: none, reward-hacking, advantage-degeneracy, policy-concentration or dynamical-instability.",
	}, NeedsMode, func(m *Measuring) any { return &m.Mode }},
	{Key{
		Path: "law", Kind: WordValue, Words: laws,
		Doc: "The law of the reward curve that is fitted to the log: exponential, critically-damped (the paper's) or logistic.",
	}, NeedsLaw, func(m *Measuring) any { return &m.Law }},
	{Key{
		Path: "class", Kind: WordValue, Words: classes,
		Doc: "The class of the mean reward, as in `map`: monotone, overshooting, oscillatory (with decreasing amplitude) or sustained (without).",
	}, NeedsClass, func(m *Measuring) any { return &m.Class }},
}

// given returns the value of a measuring key as a file has it, nil where it has none.
func (key measuringKey) given(m *Measuring) any {
	value := reflect.ValueOf(key.field(m)).Elem()
	if value.IsZero() {
		return nil
	}
	if l, isSearch := value.Interface().(*Locate); isSearch {
		search := map[string]any{"param": l.Param, "from": l.From, "to": l.To, "tolerance": l.Tolerance}
		if l.Visibility > 0 {
			search[visibilityField] = l.Visibility
		}
		return search
	}
	return value.Interface()
}

// readMeasuring decodes the keys that set how the claim of a check is measured, and
// refuses those that the claim does not use.
func (l *loader) readMeasuring(c *Check, n *node, fields map[string]*node, at *checkPlaces) {
	if search := fields["locate"]; search != nil {
		at.locate = search.at
		for _, f := range search.fields {
			if f.name == "param" {
				at.locate = f.value.at
			}
		}
	}
	for _, key := range measuringKeys {
		f, path := fields[key.Path], at.path+"."+key.Path
		switch needed := c.Claim.Has(key.need); {
		case f != nil && !needed:
			l.problem(f.at, path, "got a key that %s does not use, want it left out", c.Claim.Name)
		case f != nil:
			if v, ok := l.value(key.Key, f, path); ok {
				reflect.ValueOf(key.field(&c.Measuring)).Elem().Set(reflect.ValueOf(v))
				if search := c.Locate; key.Path == "locate" && search.Visibility > 0 && c.Claim.Event != sim.Visible {
					l.problem(f.at, path+"."+visibilityField, "got a visibility, want none for %s", c.Claim.Name)
				}
				if key.Path == "over" && !slices.Contains(c.Claim.Over, c.Over) {
					l.want(f, path, listWords(c.Claim.Over)+" for "+c.Claim.Name)
				}
			}
		case needed:
			l.problem(n.at, path, "got nothing, want %s", key.Want())
		}
	}
}

// locateFields are the names in `locate` that are required; visibilityField is the name of
// one that claims about visible oscillation may have.
var locateFields = []string{"param", "from", "to", "tolerance"}

const visibilityField = "visibility"

// locatedParams are the parameters along which an event can be located: those for
// which the paper's rule gives a threshold.
var locatedParams = []string{LearningRateKey, LagIntervalKey}

// locate decodes a search; one with a problem is returned as far as it goes.
func (l *loader) locate(n *node, path string) (*Locate, bool) {
	fields := l.fields(n, path, append(slices.Clone(locateFields), visibilityField))
	if fields == nil {
		return nil, false
	}
	given := func(name, want string) *node {
		if fields[name] == nil {
			l.problem(n.at, path+"."+name, "got nothing, want %s", want)
		}
		return fields[name]
	}
	locate := &Locate{}
	if f := given("param", listWords(locatedParams)); f != nil {
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
	if f := fields[visibilityField]; f != nil {
		locate.Visibility, _ = l.number(f, path+"."+visibilityField, openUnit, "a number in (0, 1)")
	}
	return locate, true
}
