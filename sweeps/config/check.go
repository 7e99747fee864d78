package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/training/diagnose"
)

// ruleMeasured names the unit of the ends of a search.
const ruleMeasured = "the paper's rule at the measured stiffness"

// visibilityField is the key of `locate` that claims about visible oscillation may have.
const visibilityField = "visibility"

// locatedParams are the parameters along which an event can be located: those for
// which the paper's rule gives a threshold.
var locatedParams = []string{LearningRateKey, LagIntervalKey}

// predictions are the kinds of predictions that a check can judge.
var predictions = []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness,
	rom.RuleAtLargestAge, rom.SufficientRule}

// names are the keys of a check that name what its claim expects of a run: a control can name
// another.
var names = []string{"mode", "law", "class"}

// words are what a claim expects, in the order of names.
func (n *Names) words() []*string { return []*string{&n.Mode, &n.Law, &n.Class} }

// wordsOf returns words as a file writes them.
func wordsOf[Word ~string](words []Word) []string {
	return Each(words, func(w Word) string { return string(w) })
}

// followedQuantities are the recorded quantities whose means a check can follow.
var followedQuantities = append(sim.Quantities(2), sim.Strata.Parts()...)

// checkKeys are the keys of a check in the order of the reference document. One without an index
// has no plain value.
var checkKeys = func() []Key {
	words := map[string][]string{
		"prediction": wordsOf(predictions), "quantity": wordsOf(followedQuantities),
		"mode": wordsOf(diagnose.Modes), "law": wordsOf(measure.Laws),
	}
	return Each(table.Check, func(r Row) Key {
		if own := words[r.Path]; own != nil {
			r.Words, r.Doc = own, strings.Replace(r.Doc, "{words}", listWords(own), 1)
		}
		return r.key(reflect.TypeFor[Check]())
	})
}()

// checkKeyOf returns the key of a check with a name of the table.
func checkKeyOf(name string) *Key {
	return &checkKeys[slices.Index(checkFields, name)]
}

// unless returns the value of a key in a document, nil where it is left out.
func unless(leftOut bool, value any) any {
	if leftOut {
		return nil
	}
	return value
}

// bounds reports whether the check claims a bound, which has no margin.
func (c *Check) bounds() bool { return c.Hypothesis != nil && c.Hypothesis.Relation != Equals }

// checkFields are the names that a check may have.
var checkFields = Each(checkKeys, func(key Key) string { return key.Path })

// refusedBy reports whether checks of a claim must not have the key.
func (k *Key) refusedBy(claim *Claim) bool {
	return k.Need != "" && !claim.Has(k.Need) || k.Claims != nil && !slices.Contains(k.Claims, claim.Name)
}

// written returns the value of a key in a document, nil where the check has none.
func (key *Key) written(c *Check) any {
	switch key.Path {
	case "claim":
		return c.Claim.Name
	case "about":
		return unless(c.About == nil, c.About)
	case "absolute_margin": // it may be 0
		return unless(c.Margin > 0 || c.bounds(), c.AbsoluteMargin)
	case "expect":
		return unless(c.Expect == Holds, c.Expect)
	case "where":
		return documentWhere(c)
	case "control":
		return documentControl(c)
	case string(Equals), string(AtMost), string(AtLeast):
		if h := c.Hypothesis; h != nil && string(h.Relation) == key.Path {
			return h.Value
		}
		return nil
	}
	value := reflect.ValueOf(key.of(c)).Elem()
	return unless(value.IsZero(), value.Interface())
}

// of returns a pointer to the value of a key of a check.
func (key *Key) of(c *Check) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(key.index).Addr().Interface()
}

type checkReader struct {
	*loader
	*Check
	path   string
	fields map[string]*node
	known  bool // whether the claim is
}

func pathOf(check int) string { return fmt.Sprintf("checks[%d]", check) }

func (l *loader) decodeChecks(n *node) {
	if n.kind != list {
		l.want(n, "checks", "a list of checks")
		return
	}
	for i, item := range n.items {
		before := len(l.problems)
		c := &checkReader{loader: l, path: pathOf(i)}
		c.Check = &Check{Claim: new(Claim), Expect: Holds} // an unknown claim has no needs
		if c.fields = l.reader.fields(item, c.path, checkFields); c.fields != nil {
			c.read()
		}
		l.spec.Checks = append(l.spec.Checks, *c.Check)
		l.broken = append(l.broken, len(l.problems) > before || l.aim != ToJudge)
	}
}

// no records a problem with a key of the check, at its place or the nearest section.
func (c *checkReader) no(key, format string, args ...any) {
	c.reject(c.path+"."+key, format, args...)
}

func (c *checkReader) read() {
	if f := c.fields["claim"]; f == nil {
		c.no("claim", "got nothing, want %s", listWords(claimNames()))
	} else if name, ok := c.word(f, c.path+".claim", claimNames()); ok {
		c.Claim, c.known = LookupClaim(name)
	}
	for _, key := range checkKeys {
		c.plain(key)
	}
	c.followed()
	if c.hypothesis(); c.Hypothesis == nil && c.Expect == Fails && c.judgesExact() {
		c.no("expect", "got fails with the exact prediction, "+
			"want prediction: leading-order, paper-rule or rule-at-stiffness")
	}
	c.margins()
	if f := c.fields["where"]; f != nil {
		c.Where = c.conditions(f, c.path+".where")
	}
	if f := c.fields["about"]; f != nil {
		c.About = c.about(f, c.path+".about")
	}
	if f := c.fields["control"]; f != nil {
		c.control(f, c.path+".control")
	}
}

// plain decodes a key that has a plain value, and refuses one that the claim does not use.
func (c *checkReader) plain(key Key) {
	f, path := c.fields[key.Path], c.path+"."+key.Path
	needed := c.Claim.Has(key.Need)
	switch key.Path {
	case "prediction":
		if c.known {
			key.Words = wordsOf(c.Claim.Predictions)
		}
	case "variant":
		for _, v := range c.spec.Variants {
			key.Kind, key.Words = WordValue, append(key.Words, v.Name)
		}
	}
	switch {
	case f != nil && c.known && key.refusedBy(c.Claim):
		c.no(key.Path, "got a key that %s does not use, want it left out", c.Claim.Name)
	case key.index == nil || key.Need != "" && !c.known:
	case f == nil && needed:
		c.no(key.Path, "got nothing, want %s", key.Want())
	case f == nil:
	case key.Path == "variant" && key.Words == nil:
		c.want(f, path, "no variant, because the file has none")
	case c.store(part{Key: key, to: key.of(c.Check)}, f, path):
		seen := key.Path == "locate" && c.Locate.Visibility > 0
		if seen && c.Claim.Event != probe.Visible {
			c.problem(f.at, path+"."+visibilityField, "got a visibility, want none for %s", c.Claim.Name)
		}
		if key.Path == "over" && !slices.Contains(c.Claim.Over, c.Over) {
			c.want(f, path, listWords(c.Claim.Over)+" for "+c.Claim.Name)
		}
	}
}

// followed refuses what no theory has of a quantity other than the expected reward.
func (c *checkReader) followed() {
	if c.Recorded() == sim.ExpectedReward {
		return
	}
	if c.Prediction != "" && c.Prediction != rom.Exact {
		c.no("prediction", "got %s of %s, want exact: other predictions are of expected_reward alone",
			c.Prediction, c.Quantity)
	}
	if c.fields["level"] == nil && c.Claim.Name == "time-to-level" {
		c.no("level", "got nothing, want a number: a level of %s has no default", c.Quantity)
	}
}

// hypothesis decodes the claim of a check about the value of its quantity, and refuses
// what has no meaning beside it.
func (c *checkReader) hypothesis() {
	for _, relation := range Relations {
		name := string(relation)
		f := c.fields[name]
		switch {
		case f == nil:
		case c.Hypothesis != nil:
			c.no(name, "got %s and %s, want one of them", c.Hypothesis.Relation, relation)
		default:
			k := checkKeyOf(name)
			x, ok := c.number(f, c.path+"."+name, k.Range, k.Want())
			if !ok {
				x = math.NaN() // no other problem follows from it
			}
			c.Hypothesis = &Hypothesis{Relation: relation, Value: x}
		}
	}
	if c.Hypothesis == nil {
		return
	}
	for _, name := range []string{"expect", "control", "about"} {
		if c.fields[name] != nil {
			c.no(name, "got a key that judges a prediction, want it left out beside %s",
				c.Hypothesis.Relation)
		}
	}
}

// margins decodes the absolute margin, and checks that the check has the margin that it needs.
func (c *checkReader) margins() {
	relative, absolute := c.fields["margin"], c.fields["absolute_margin"]
	if absolute != nil {
		k := *checkKeyOf("absolute_margin")
		zero := c.Locate != nil && c.Locate.Param == LagIntervalKey && c.judgesExact()
		if k.Range.LowOpen = true; c.fields["locate"] != nil {
			k.Note = ", or 0 where lag.interval is located and the exact prediction is judged " +
				"(both are whole numbers)"
		}
		want := k.Want()
		k.Range.LowOpen = !zero
		c.AbsoluteMargin, _ = c.number(absolute, c.path+".absolute_margin", k.Range, want)
	}
	h := c.Hypothesis
	if c.bounds() {
		for _, name := range []string{"margin", "absolute_margin"} {
			if c.fields[name] != nil {
				c.no(name, "got a margin of a bound, want it left out beside %s", h.Relation)
			}
		}
		return
	}
	switch {
	case h != nil && h.Value == 0 && relative != nil:
		c.no("margin", "got a margin relative to expected: 0, want absolute_margin")
	case relative != nil && absolute != nil:
		c.no("absolute_margin", "got margin and absolute_margin, want one of them")
	case relative != nil && c.Claim.Has(NeedsAbsolute):
		c.no("margin", "got a margin relative to a prediction of 0, want absolute_margin")
	case relative == nil && absolute == nil:
		c.no("margin", "got nothing, want margin or absolute_margin")
	}
}

// controlFields are the names that a control may have.
var controlFields = append([]string{"set", "scale"}, names...)

// faults returns the controlFields that apply to a claim, and an example of each.
func (c *Claim) faults() (useful []string, want string) {
	useful, want = []string{"set", "scale"}, "{set: {key: value}} or {scale: {constant: factor}}"
	for _, name := range names {
		other := "{" + name + ": another " + name + "}"
		switch need := checkKeyOf(name).Need; {
		case !c.Has(need):
		case need == NeedsLaw: // theory predicts how well it fits
			useful, want = append(useful, name), want+" or "+other
		default:
			return []string{name}, other
		}
	}
	return useful, want
}

// control decodes the fault that the check plants.
func (c *checkReader) control(n *node, path string) {
	useful, want := c.Claim.faults()
	fault := &Control{Scale: rom.Unit}
	var parts []part
	for _, name := range controlFields {
		p := part{Key: Key{Row: Row{Path: name}}, optional: true}
		if i := slices.Index(names, name); i >= 0 {
			p.Key, p.to = *checkKeyOf(name), fault.Names.words()[i]
		}
		if c.known && !slices.Contains(useful, name) {
			p.refused = "no " + name + " for " + c.Claim.Name + ", but " + want
		}
		parts = append(parts, p)
	}
	fields, _ := c.record(n, path, parts...)
	if fields == nil {
		return
	}
	if c.Control = fault; len(n.fields) == 0 {
		c.reject(path, "got nothing, want %s", want)
	}
	if f := fields["set"]; f != nil {
		c.controlSet(f, path+".set")
	}
	if f := fields["scale"]; f != nil {
		c.controlScale(f, path+".scale")
	}
	for i, name := range names {
		if word := *fault.Names.words()[i]; word != "" && word == *c.Names.words()[i] {
			c.want(fields[name], path+"."+name, "another "+name+" than the check's")
		}
	}
}

// controlSet decodes the settings that a fault replaces.
func (c *checkReader) controlSet(n *node, path string) {
	c.Control.Set = c.assignments(n, path)
	// arms precede lists with one entry per arm
	slices.SortFunc(c.Control.Set, func(a, b Assignment) int {
		return cmp.Compare(keyIndex(a.Param), keyIndex(b.Param))
	})
	if n.kind == mapping && len(n.fields) == 0 {
		c.want(n, path, "at least 1 key")
	}
	for _, a := range c.Control.Set {
		got := ""
		if k, _ := LookupKey(a.Param); !k.Faulty() {
			got = "a key that the theory does not use"
		} else if c.Locate != nil && c.Locate.Param == a.Param {
			got = "the located key"
		}
		if got != "" {
			c.reject(path+"."+a.Param, "got %s, want one that changes the prediction", got)
		}
	}
}

// controlScale decodes the constants that a fault scales.
func (c *checkReader) controlScale(n *node, path string) {
	if n.kind == mapping && len(n.fields) == 0 {
		c.want(n, path, "at least 1 factor")
	}
	exact := c.Prediction == "" || c.Prediction == rom.Exact
	var parts []part
	for i, factor := range factorsOf(&c.Control.Scale) {
		p := numberPart(faultNames[i], positive.except(1), factor).orNot()
		if i >= 2 && exact {
			p.refused = "no factor, because the exact prediction does not contain the constant " + p.Path
		}
		parts = append(parts, p)
	}
	c.record(n, path, parts...)
}
