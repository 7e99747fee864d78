package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/training/diagnose"
)

// checkKey is a key of a check. Loader and document are derived from the
// table of them, and in tests schema and reference.
type checkKey struct {
	Key // Path is its name in the check
	// claims with this need require the key, other claims refuse it; "": every check may have it
	need  Need
	may   []*Claim         // claims that may have the key, others refuse it; nil: as need says
	field func(*Check) any // pointer to its value; nil: it has no plain value
	// its value in a document, nil where the check has none; nil: the value unless it is zero
	write func(*Check) any
}

// measurable is the range of displacements and offsets. Half the difference of a pair
// carries the round-off of logits of order 1, so it must be far larger than 1e-16.
var measurable = Range{Low: 1e-9, High: math.Inf(1)}

// ruleMeasured names the unit of the ends of a search.
const ruleMeasured = "the paper's rule at the measured stiffness"

// visibilityField is the key of `locate` that claims about visible oscillation may have.
const visibilityField = "visibility"

// locatedParams are the parameters along which an event can be located: those for
// which the paper's rule gives a threshold.
var locatedParams = []string{LearningRateKey, LagIntervalKey}

// predictions are the kinds of predictions that a check can judge.
var predictions = []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness, rom.RuleAtLargestAge, rom.SufficientRule}

var expectations = []string{string(Holds), string(Fails)}

// named are the keys of a check that name what its claim expects of a run, with their words: a
// control can name another.
var named = []struct {
	name  string
	need  Need
	words []string
	of    func(*Names) *string
}{
	{"mode", NeedsMode, wordsOf(diagnose.Modes), func(n *Names) *string { return &n.Mode }},
	{"law", NeedsLaw, wordsOf(measure.Laws), func(n *Names) *string { return &n.Law }},
	// The classes of the mean reward that the paper distinguishes, in the words of sweeps.Classes.
	{"class", NeedsClass, []string{"monotone", "overshooting", "oscillatory", "sustained"}, func(n *Names) *string { return &n.Class }},
}

// wordsOf returns words as a file writes them.
func wordsOf[Word ~string](words []Word) []string {
	return each(words, func(w Word) string { return string(w) })
}

// followedQuantities are the recorded quantities whose means a check can follow.
var followedQuantities = append(sim.Quantities(2), sim.Strata.Parts()...)

// checkKeys are the keys of a check in the order of the reference document.
var checkKeys = slices.Concat([]checkKey{
	{Key: Key{Path: "claim", Kind: WordValue, Doc: "A row of the claim table below; required."},
		write: func(c *Check) any { return c.Claim.Name }},
	{Key: Key{Path: "about", Doc: "What the check is about: `exact-theory` (a prediction of the theory against a simulation with sampling or a search), `code` (two codes, written independently, compute the same deterministic number), or `{statement: ID, reading: NAME, regime: limit}`, a statement of the paper (docs/paper.md) in one of its readings (required where it has several) and at one of its choices (`choice`, required where it has some: values of what the paper leaves open). The regime is `limit` (default: where the statement claims to hold, asymptotically or in the place that the paper names) or `beyond` (elsewhere, where a statement to leading order may fail). Outcomes of statements are counted by it; verdicts do not depend on it."},
		write: func(c *Check) any { return c.About.document() }},
	{Key: Key{Path: "margin", Kind: NumberValue, Range: margins, Doc: "Half the width of the accepted range about the prediction, relative to |predicted|."},
		field: func(c *Check) any { return &c.Margin }},
	{Key: Key{Path: "absolute_margin", Kind: NumberValue, Range: absoluteMargins, Doc: "The same in the units of the quantity, for a prediction that may be 0; a check has exactly one of the two, unless it has `at_most` or `at_least`. 0 is allowed only where `lag.interval` is located and the exact prediction is judged: both are whole numbers, which predictions by the paper's rule and to leading order are not."},
		// it may be 0
		write: func(c *Check) any { return unless(c.Margin > 0 || c.bounds(), c.AbsoluteMargin) }},
	{Key: Key{Path: "prediction", Kind: WordValue, Words: wordsOf(predictions), Doc: "The prediction that is judged. Default: the first of the claim's predictions; where that is exact and the theory has no exact prediction, its own: an expansion in 1/G (named `expansion` in verdicts), or leading-order with Adam."},
		field: func(c *Check) any { return &c.Prediction }},
	{Key: Key{Path: "expect", Kind: WordValue, Words: expectations, Default: string(Holds), Doc: "`holds` (default), or `fails`: the measurement must lie wholly outside predicted ± margin. `fails` is not allowed for the exact prediction."},
		field: func(c *Check) any { return &c.Expect }, write: func(c *Check) any { return unless(c.Expect == Holds, c.Expect) }},
	{Key: Key{Path: "where", Doc: "Selects cells: dotted keys, each with a value or a list of values."},
		write: documentWhere},
	{Key: Key{Path: "variant", Doc: "Restricts the check to the cells of one variant."},
		field: func(c *Check) any { return &c.Variant }},
	{Key: Key{Path: "control", Doc: "The planted fault that the check must catch, a change of the theory only: `{set: {key: value}}` replaces settings from which it predicts, after the sweep; `{scale: {stiffness: factor}}` scales one of its constants stiffness, noise, lag or mass (lag and mass: not for the exact prediction). For `failure-mode` it is another mode, as in `{mode: none}`, for `class-occurs` and `class-throughout` another class; for claims about a law it may be another law, as in `{law: exponential}`."},
		write: documentControl},
	relationKey(Equals, "A value of your own that is judged in the place of the prediction, within the margin (relative to |expected|): `expected: -1` with `absolute_margin: 0.05` asks whether the claim's quantity (the first of several, of saturation-fit R²) is −1 ± 0.05. The verdict says what was claimed and what was measured, and what the theory predicts. A claim about rest is out of scope where the runs are not at rest, as without it. Not together with `expect`, `control`, `about`."),
	relationKey(AtMost, "As `expected`, for an upper bound: *agree* if the whole interval lies at or below it, *disagree* if it lies wholly above. There is no margin."),
	relationKey(AtLeast, "As `at_most`, for a lower bound."),
	{Key: Key{Path: "over", Kind: WordValue, Words: []string{GroupSizeKey, "grpo.kl.coefficient", LagIntervalKey, LearningRateKey, MomentumKey, ArmsKey}, Doc: "The key whose values a claim across cells compares: the cells of a group differ only in it (keys of `run` are ignored). Claims that compare group sizes alone refuse the others."},
		need: NeedsThreeValues, field: func(c *Check) any { return &c.Over }},
	{Key: Key{Path: "displacement", Kind: NumberValue, Range: measurable, Doc: "Largest |entry| d of the displacement of the logits about the fixed point; one pair in nine is displaced by 2d, which reduces the error to O(d⁴). At least 1e-9: smaller displacements are lost in round-off. No larger than keeps every ratio within the bounds of its weight."},
		need: NeedsDisplacement, field: func(c *Check) any { return &c.Displacement }},
	{Key: Key{Path: "draws", Kind: IntegerValue, Range: atLeast(1), Doc: "Number of pairs of groups drawn at ±displacement."},
		need: NeedsDisplacement, field: func(c *Check) any { return &c.Draws }},
	{Key: Key{Path: "offset", Kind: NumberValue, Range: measurable, Doc: "Distance x of the starts of paired runs from the fixed point: z* ± x for two arms, θ* ± x e for more, with e as for `policy.init`. At least 1e-9: smaller offsets are lost in round-off. With a lag, no larger than keeps every ratio within the bounds of its weight."},
		need: NeedsOffset, field: func(c *Check) any { return &c.Offset }},
	{Key: Key{Path: "locate", Kind: searchValue, Doc: "`{param, from, to, tolerance}`: search for the first event along `param` (`optimizer.learning_rate` or `lag.interval`) from `from` to `to`, in multiples of the paper's rule at the measured stiffness, until the bracket has the relative width `tolerance`. For claims about visible oscillation `visibility` is the smallest passage that counts, as a share of the range of J (default 0.001)."},
		need: NeedsLocation, field: func(c *Check) any { return &c.Locate }},
	{Key: Key{Path: "quantity", Kind: WordValue, Words: wordsOf(followedQuantities), Default: string(sim.ExpectedReward), Doc: "The recorded quantity whose mean over the replicas is followed: " + listWords(wordsOf(followedQuantities)) + " (default expected_reward; `grposim help columns` says what they are; strata need `strata` in `run.record`). Of blocks clip_fraction and importance_ratio_max are over the steps since the last record. Predictions by the paper's rule and to leading order are of expected_reward alone."},
		may: []*Claim{Trajectory, TimeToLevel}, field: func(c *Check) any { return &c.Quantity }},
	{Key: Key{Path: "level", Kind: NumberValue, Range: anyNumber, Doc: "The value of `quantity` that is reached, in its unit; above its value at the start it is reached from below, else from above. Default for expected_reward: 95 % of the way from J_0 to J*, without a fixed point, as at β = 0, to the best arm. Other quantities have none."},
		may: []*Claim{TimeToLevel}, field: func(c *Check) any { return &c.Level }},
	nameKey(0, "The failure mode that the diagnostics must name in every replica: none, reward-hacking, advantage-degeneracy, policy-concentration or dynamical-instability."),
	nameKey(1, "The law of the reward curve that is fitted to the log: exponential, critically-damped (the paper's) or logistic."),
	nameKey(2, "The class of the mean reward, as in `map`: monotone, overshooting, oscillatory (with decreasing amplitude) or sustained (without)."),
})

// relationKey is the row of a key that gives a hypothesis.
func relationKey(relation Relation, doc string) checkKey {
	return checkKey{
		Key: Key{Path: string(relation), Kind: NumberValue, Range: hypotheses, Doc: doc},
		write: func(c *Check) any {
			if c.Hypothesis != nil && c.Hypothesis.Relation == relation {
				return c.Hypothesis.Value
			}
			return nil
		},
	}
}

// nameKey is the row of an entry of named.
func nameKey(i int, doc string) checkKey {
	n := named[i]
	return checkKey{Key: Key{Path: n.name, Kind: WordValue, Words: n.words, Doc: doc}, need: n.need, field: func(c *Check) any { return n.of(&c.Names) }}
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
var checkFields = each(checkKeys, func(key checkKey) string { return key.Path })

// refusedBy reports whether checks of a claim must not have the key.
func (key *checkKey) refusedBy(claim *Claim) bool {
	return key.need != "" && !claim.Has(key.need) || key.may != nil && !slices.Contains(key.may, claim)
}

// written returns the value of a key in a document, nil where the check has none.
func (key *checkKey) written(c *Check) any {
	if key.write != nil {
		return key.write(c)
	}
	value := reflect.ValueOf(key.field(c)).Elem()
	return unless(value.IsZero(), value.Interface())
}

// checkReader decodes one check.
type checkReader struct {
	*loader
	*Check
	n      *node
	path   string
	fields map[string]*node
	known  bool // whether the claim is
}

// pathOf is the path of a check, by its index.
func pathOf(check int) string { return fmt.Sprintf("checks[%d]", check) }

// decodeChecks decodes the list of checks.
func (l *loader) decodeChecks(n *node) {
	if n.kind != list {
		l.want(n, "checks", "a list of checks")
		return
	}
	for i, item := range n.items {
		before := len(l.problems)
		c := &checkReader{loader: l, n: item, path: pathOf(i)}
		c.Check = &Check{Claim: new(Claim), Expect: Holds} // an unknown claim has no needs
		if c.fields = l.reader.fields(item, c.path, checkFields); c.fields != nil {
			c.read()
		}
		l.spec.Checks = append(l.spec.Checks, *c.Check)
		l.broken = append(l.broken, len(l.problems) > before || l.aim != ToJudge)
	}
}

// read decodes the check.
func (c *checkReader) read() {
	if f := c.fields["claim"]; f == nil {
		c.reject(c.path+".claim", "got nothing, want %s", listWords(claimNames()))
	} else if name, ok := c.word(f, c.path+".claim", claimNames()); ok {
		c.Claim, c.known = LookupClaim(name)
	}
	for _, key := range checkKeys {
		c.plain(key)
	}
	c.followed()
	if c.hypothesis(); c.Hypothesis == nil && c.Expect == Fails && c.judgesExact() {
		c.reject(c.path+".expect", "got fails with the exact prediction, want prediction: leading-order, paper-rule or rule-at-stiffness")
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
func (c *checkReader) plain(key checkKey) {
	f, path := c.fields[key.Path], c.path+"."+key.Path
	needed := c.Claim.Has(key.need)
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
		c.reject(path, "got a key that %s does not use, want it left out", c.Claim.Name)
	case key.field == nil || key.need != "" && !c.known:
	case f == nil && needed:
		c.reject(path, "got nothing, want %s", key.Want())
	case f == nil:
	case key.Path == "variant" && key.Words == nil:
		c.want(f, path, "no variant, because the file has none")
	case c.store(part{Key: key.Key, to: key.field(c.Check)}, f, path):
		if search := c.Locate; key.Path == "locate" && search.Visibility > 0 && c.Claim.Event != sim.Visible {
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
		c.reject(c.path+".prediction", "got %s of %s, want exact: other predictions are of expected_reward alone", c.Prediction, c.Quantity)
	}
	if c.fields["level"] == nil && c.Claim == TimeToLevel {
		c.reject(c.path+".level", "got nothing, want a number: a level of %s has no default", c.Quantity)
	}
}

// hypothesis decodes the claim of a check about the value of its quantity, and refuses
// what has no meaning beside it.
func (c *checkReader) hypothesis() {
	for _, relation := range Relations {
		f, path := c.fields[string(relation)], c.path+"."+string(relation)
		switch {
		case f == nil:
		case c.Hypothesis != nil:
			c.reject(path, "got %s and %s, want one of them", c.Hypothesis.Relation, relation)
		default:
			x, ok := c.number(f, path, hypotheses, "a number "+hypotheses.String())
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
			c.reject(c.path+"."+name, "got a key that judges a prediction, want it left out beside %s", c.Hypothesis.Relation)
		}
	}
}

// margins decodes the absolute margin, and checks that the check has the margin that it needs.
func (c *checkReader) margins() {
	relative, absolute := c.fields["margin"], c.fields["absolute_margin"]
	margin, absoluteMargin := c.path+".margin", c.path+".absolute_margin"
	if absolute != nil {
		want, allowed := "a number "+margins.String(), margins
		if c.fields["locate"] != nil {
			want += ", or 0 where lag.interval is located and the exact prediction is judged (both are whole numbers)"
		}
		if c.Locate != nil && c.Locate.Param == LagIntervalKey && c.judgesExact() {
			allowed = absoluteMargins
		}
		c.AbsoluteMargin, _ = c.number(absolute, absoluteMargin, allowed, want)
	}
	h := c.Hypothesis
	if c.bounds() {
		for _, name := range []string{"margin", "absolute_margin"} {
			if c.fields[name] != nil {
				c.reject(c.path+"."+name, "got a margin of a bound, want it left out beside %s", h.Relation)
			}
		}
		return
	}
	switch {
	case h != nil && h.Value == 0 && relative != nil:
		c.reject(margin, "got a margin relative to expected: 0, want absolute_margin")
	case relative != nil && absolute != nil:
		c.reject(absoluteMargin, "got margin and absolute_margin, want one of them")
	case relative != nil && c.Claim.Has(NeedsAbsolute):
		c.reject(margin, "got a margin relative to a prediction of 0, want absolute_margin")
	case relative == nil && absolute == nil:
		c.reject(margin, "got nothing, want margin or absolute_margin")
	}
}

// controlFields are the names that a control may have.
var controlFields = []string{"set", "scale", named[0].name, named[1].name, named[2].name}

// faults returns the controlFields that apply to a claim, and an example of each.
func (c *Claim) faults() (useful []string, want string) {
	useful, want = []string{"set", "scale"}, "{set: {key: value}} or {scale: {constant: factor}}"
	for _, n := range named {
		other := "{" + n.name + ": another " + n.name + "}"
		switch {
		case !c.Has(n.need):
		case n.need == NeedsLaw: // theory predicts how well it fits
			useful, want = append(useful, n.name), want+" or "+other
		default:
			return []string{n.name}, other
		}
	}
	return useful, want
}

// control decodes the fault that the check plants.
func (c *checkReader) control(n *node, path string) {
	fields := c.reader.fields(n, path, controlFields)
	if fields == nil {
		return
	}
	useful, want := c.Claim.faults()
	for _, name := range controlFields {
		if fields[name] != nil && !slices.Contains(useful, name) {
			c.reject(path+"."+name, "got a fault that does not apply to %s, want %s", c.Claim.Name, listWords(useful))
			delete(fields, name)
		}
	}
	if len(n.fields) == 0 {
		c.reject(path, "got nothing, want %s", want)
	}
	c.Control = &Control{Scale: rom.Unit}
	if f := fields["set"]; f != nil {
		c.controlSet(f, path+".set")
	}
	if f := fields["scale"]; f != nil {
		c.controlScale(f, path+".scale")
	}
	for _, other := range named {
		f := fields[other.name]
		if f == nil {
			continue
		}
		word, ok := c.word(f, path+"."+other.name, other.words)
		if ok && word == *other.of(&c.Names) {
			c.want(f, path+"."+other.name, "another "+other.name+" than the check's")
		}
		*other.of(&c.Control.Names) = word
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
		k, _ := LookupKey(a.Param)
		switch {
		case !k.Faulty():
			c.reject(path+"."+a.Param, "got a key that the theory does not use, want one that changes the prediction")
		case c.Locate != nil && c.Locate.Param == a.Param:
			c.reject(path+"."+a.Param, "got the located key, want one that changes the prediction")
		}
	}
}

// controlScale decodes the constants that a fault scales.
func (c *checkReader) controlScale(n *node, path string) {
	const want = "a number > 0 other than 1"
	factors := c.reader.fields(n, path, faultNames)
	if n.kind == mapping && len(n.fields) == 0 {
		c.want(n, path, "at least 1 factor")
	}
	for i, name := range faultNames {
		f, key := factors[name], path+"."+name
		if f == nil {
			continue
		}
		switch x, ok := c.number(f, key, positive, want); {
		case ok && x == 1:
			c.want(f, key, want)
		case ok && i >= 2 && (c.Prediction == "" || c.Prediction == rom.Exact):
			c.want(f, key, "no factor, because the exact prediction does not contain the constant "+name)
		case ok:
			*factorsOf(&c.Control.Scale)[i] = x
		}
	}
}
