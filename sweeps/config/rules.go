package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
)

//go:embed rules.yaml
var rulesText []byte

// rules has the rows of rules.yaml, which says what the columns are.
var rules = DecodeTable[struct {
	Scopes        map[string]struct{ When, Says string }
	Cells, Checks []rule
	Needs         map[Need]string
}]("rules.yaml", rulesText)

// rule is a rule between keys of a cell, or a requirement of some checks on every cell that they
// select.
type rule struct {
	When, Any, Got, Want string
	In                   []string

	Needs          []Need
	Claims, Except []string
	Check, Field   string

	all, any []test   // of When and Any
	keys     []string // that the tests read
}

// cellRules are the rules between keys that hold in every cell, beside those of package option.
var cellRules = compile(rules.Cells, "")

// demands are the requirements of checks.
var demands = compile(rules.Checks, "with {KEY} ")

// compile reads the tests of rules, once for each scope. What a cell has that a rule does not say
// is the value of the first key, after these words.
func compile(rows []rule, got string) (all []rule) {
	for _, r := range rows {
		for i := range max(len(r.In), 1) {
			r := r
			if r.In != nil {
				scope := rules.Scopes[r.In[i]]
				r.When, r.Want = r.When+" "+scope.When, strings.Replace(r.Want, "{in}", scope.Says, 1)
			}
			r.all, r.any = Each(strings.Fields(r.When), newTest), Each(strings.Fields(r.Any), newTest)
			for _, t := range slices.Concat(r.all, r.any) {
				if keyIndex(t.name) >= 0 {
					r.keys = append(r.keys, t.name)
				}
			}
			first := r.keys[0]
			r.Got = cmp.Or(r.Got, strings.Replace(got, "{KEY}", first, 1)+"{"+first+"}")
			r.Field = cmp.Or(r.Field, "claim")
			all = append(all, r)
		}
	}
	return all
}

// test is a condition on a key or a fact.
type test struct {
	name, op string
	value    func(*Settings) any
	values   []any               // with which it is compared: words of a Record
	other    func(*Settings) any // that of another key, in their place; nil: they are numbers or words
}

var testSyntax = regexp.MustCompile(`^(\w[\w.]*)(=|!=|<|>=?|)(.*)$`)

// parseTest splits KEY=VALUE or the like. VALUE may be several with | between.
func parseTest(text string) (name, op string, values []string) {
	part := testSyntax.FindStringSubmatch(text)
	return part[1], part[2], strings.Split(part[3], "|")
}

func newTest(text string) test {
	name, op, values := parseTest(text)
	t := test{name: name, op: op}
	if i := keyIndex(name); i >= 0 {
		t.value, t.values = Keys[i].Get, Each(values, Keys[i].parse)
	} else if fact := facts[name]; fact != nil {
		t.value = func(s *Settings) any { return fact(s) }
		t.values = Each(values, (&Key{}).parse)
	} else {
		panic("config: rules.yaml: no key or fact " + name)
	}
	if other, is := strings.CutPrefix(values[0], "{"); is {
		t.other = Keys[keyIndex(strings.TrimSuffix(other, "}"))].Get
	}
	return t
}

func (t *test) holds(s *Settings) bool {
	if t.op == "" {
		return true
	}
	v, values := t.value(s), t.values
	if t.other != nil {
		values = []any{t.other(s)}
	}
	if equal := t.op == "="; equal || t.op == "!=" {
		return equal == slices.ContainsFunc(values, func(w any) bool { return same(v, w) })
	}
	x, y := numberOf(v), numberOf(values[0])
	return t.op == "<" && x < y || t.op == ">" && x > y || t.op == ">=" && x >= y
}

func (r *rule) broken(s *Settings) bool {
	holds := func(t test) bool { return t.holds(s) }
	fails := func(t test) bool { return !t.holds(s) }
	return !slices.ContainsFunc(r.all, fails) && (r.any == nil || slices.ContainsFunc(r.any, holds))
}

// of reports whether the rule is one of a check.
func (r *rule) of(c *Check) bool {
	return (r.Needs == nil || slices.ContainsFunc(r.Needs, c.Claim.Has)) &&
		(r.Claims == nil || slices.Contains(r.Claims, c.Claim.Name)) &&
		!slices.Contains(r.Except, c.Claim.Name) && (r.Check == "" || checkFacts[r.Check](c))
}

// checkFacts are the conditions on a check itself.
var checkFacts = map[string]func(*Check) bool{
	"locates lag.interval": func(c *Check) bool {
		return c.Locate != nil && c.Locate.Param == LagIntervalKey
	},
	"has no level":      func(c *Check) bool { return c.Level == nil },
	"follows logit_gap": func(c *Check) bool { return c.Quantity == sim.LogitGap },
	"follows a stratum": func(c *Check) bool { _, is := c.Quantity.Stratum(); return is },
}

// facts are numbers that follow from several keys; 1 where something is so.
var facts = map[string]func(s *Settings) int{
	"arms":       func(s *Settings) int { return len(s.Bandit.Arms) },
	"pairs":      func(s *Settings) int { return len(*s.Prompts.List) },
	"instants":   func(s *Settings) int { return max(instants(s), 0) },
	"steps":      func(s *Settings) int { return max(instants(s), 0) },
	"directions": (*Settings).Directions,
	"weights":    (*Settings).WeightCount,
	"entries":    func(s *Settings) int { return s.WeightCount() * s.Directions() },
	"beyond_arms": func(s *Settings) int {
		return Count(s.Run.Record, func(q sim.Quantity) bool { a, is := q.Arm(); return is && a >= len(s.Bandit.Arms) })
	},
	"quantities": func(s *Settings) int { return len(s.Run.Record) },
	"others": func(s *Settings) int {
		return Count(s.Bandit.Arms, func(a option.Arm) bool { return a.Law != option.Bernoulli })
	},
	"reference_logits": func(s *Settings) int { return Count(s.Policy.Reference, notZero) },
	"logits":           func(s *Settings) int { return Count(s.Policy.Init.Logits, notZero) },
	"offsets":          func(s *Settings) int { return truth(s.Policy.Init.Offset != 0) },
	"fixed_points":     func(s *Settings) int { return truth(s.Policy.Init.Kind == AtFixedPoint) },
	"many_valued":      func(s *Settings) int { return truth(!sim.Binary(s.Bandit.Arms)) },
	"mixed":            func(s *Settings) int { return truth(!s.Estimator.GradientAtSnapshot()) },
	"left_over":        func(s *Settings) int { return s.Network.Width % s.Network.Heads },
	"beyond_tens":      func(s *Settings) int { return s.Contexts.Count % 10 },
	"hacked": func(s *Settings) int {
		return truth(!slices.Equal(s.Bandit.TrueMeans, s.Bandit.Means()))
	},
	"unequal": func(s *Settings) int {
		return Count(s.Bandit.Arms[2:], func(a option.Arm) bool { return a != s.Bandit.Arms[1] })
	},
	"singles": func(s *Settings) int { // samples of a step that are drawn one by one
		if !s.DrawsRewardsSingly() {
			return 0
		}
		return s.Estimator.GroupSize * max(s.Estimator.GroupsPerStep, 1)
	},
}

// nouns are those of facts that messages count.
var nouns = map[string]string{"arms": "arm", "pairs": "pair", "instants": "refresh instant",
	"steps": "step", "directions": "difference", "weights": "weight"}

func notZero(x float64) bool { return x != 0 }

// Count counts the items of a list that something holds of.
func Count[T any](list []T, of func(T) bool) (n int) {
	for _, item := range list {
		n += truth(of(item))
	}
	return n
}

// truth counts 1 where something is so.
func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// placeholder is {KEY} or {FACT} in a text.
var placeholder = regexp.MustCompile(`\{[\w.]+\}`)

// replaceNames replaces every {NAME} in a text.
func replaceNames(text string, of func(name string) string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		return of(strings.Trim(name, "{}"))
	})
}

// fill puts the values of a cell into a text.
func fill(text string, s *Settings) string {
	return replaceNames(text, func(name string) string {
		if fact := facts[name]; fact != nil {
			return CountWords(fact(s), nouns[name])
		}
		k, _ := LookupKey(name)
		return Format(k.Get(s))
	})
}

type breach struct {
	keys      []string // all that the rule reads; a message names the first
	got, want string
}

// breaches lists the rules between keys that a cell breaks. Function bad says whether one of some
// keys has a reported value; groups is the number of items of bandit.arms.
func breaches(s *Settings, groups int, bad func(keys ...string) bool) (broken []breach) {
	for i := range option.Rules {
		r := &option.Rules[i]
		if got, want := r.Broken(&s.Estimator, s.Bandit.Arms); got != "" {
			keys := Each(append([]string{r.Field}, strings.Fields(r.Reads)...), keyOfOption)
			broken = append(broken, breach{keys, got, replaceNames(want, keyOfOption)})
		}
	}
	for i := range cellRules {
		if r := &cellRules[i]; r.broken(s) {
			broken = append(broken, breach{r.keys, fill(r.Got, s), fill(r.Want, s)})
		}
	}
	shared := func(check func(*option.Mistakes), reads ...string) {
		var m option.Mistakes
		check(&m)
		for _, mistake := range m.List() {
			key := keyOfField(mistake.Field)
			broken = append(broken, breach{append([]string{key}, reads...), fill("{"+key+"}", s), mistake.Want})
		}
	}
	shared(s.Lag.Check, "lag.kind", "lag.ages.law")
	shared(s.Optimizer.Check, ScheduleTotalKey, "optimizer.schedule.kind", "optimizer.kind", StepsKey)
	for _, key := range []string{TrueMeansKey, InitKey, "policy.reference"} {
		arms := len(s.Bandit.Arms)
		// A list with one entry per item of bandit.arms has been expanded before.
		if n, isList := listLength(Keys[keyIndex(key)].Get(s)); isList && n != arms {
			want := fmt.Sprintf("%d, one per arm", arms)
			if groups != arms {
				want += fmt.Sprintf(", or %d, one per item of %s", groups, ArmsKey)
			}
			broken = append(broken, breach{[]string{key, ArmsKey}, CountWords(n, "number"), want})
		}
	}
	return slices.DeleteFunc(broken, func(b breach) bool { return bad(b.keys...) })
}

// keyOfOption returns the key of a field that option.Rules name, such as grpo.kl.in of KL.In.
func keyOfOption(field string) string {
	if field == "Arms" {
		return ArmsKey
	}
	return keyOfField("Estimator." + field)
}

// keyOfField returns the key of a field of Settings that package option names, such as
// lag.ages.to of Lag.Ages.To.
func keyOfField(field string) string {
	field, _, _ = strings.Cut(field, "[") // of a list
	return Keys[slices.IndexFunc(Keys, func(k Key) bool { return k.Field == field })].Path
}

// DrawsRewardsSingly reports whether the rewards of groups are drawn sample by sample: normal
// ones, where the weight of a sample depends on the sign of its advantage.
func (s *Settings) DrawsRewardsSingly() bool {
	normal := func(a option.Arm) bool { return a.Law == option.Normal }
	return s.Estimator.GroupSize != option.Infinite && slices.ContainsFunc(s.Bandit.Arms, normal) &&
		grpo.WeightsBySign(&s.Estimator.Importance)
}

// instants is the number of values of a deviation from run.burn_in on: one per refresh of a
// block, else one per step.
func instants(s *Settings) int {
	apart := max(s.Lag.StepsPerSnapshot(), 1)
	return s.Run.Steps/apart - (s.Run.BurnIn+apart-1)/apart + 1
}

// beyondClip is the rule that probes about a fixed point keep importance ratios within the
// bounds of their weights, beyond which the force is another one. It returns the key of the check
// that breaks it, what the key has and what it should have, or "".
//
// With max |v_a| = 1 the logits of two arms differ by at most 2, so a displacement 2d of
// one policy changes log ratios by at most 4d. Pairs that start at ± offset x have a
// current policy and a snapshot both within x: log ratios are at most 2x for two arms,
// whose offset is that of the logit gap, else 4x.
func beyondClip(check *Check, s *Settings) (key, got, want string) {
	within := grpo.SmoothRange(&s.Estimator.Importance)
	most := min(math.Log(within.High), -math.Log(max(within.Low, 0)))
	perOffset := 4.0
	if len(s.Bandit.Arms) == 2 {
		perOffset = 2
	}
	atMost := func(x float64) string { // rounded down
		return fmt.Sprintf("at most %.3g, with which no ratio leaves the bounds of its weight", 0.995*x+0)
	}
	onPolicy := s.Lag.Kind != option.Random && grpo.OnPolicy(&s.Lag)
	switch {
	case 4*check.Displacement > most:
		return "displacement", Format(check.Displacement), atMost(most/4) + " at twice the displacement"
	case perOffset*check.Offset > most && !onPolicy:
		return "offset", Format(check.Offset), atMost(most / perOffset)
	}
	return "", "", ""
}

// Change returns settings with new values of some keys and, in words, the first rule between
// keys that they break, "" if they break none. It changes no other key.
func Change(s Settings, set ...Assignment) (changed Settings, broken string) {
	for _, a := range set {
		k, known := LookupKey(a.Param)
		if !known {
			panic("config: no key " + a.Param)
		}
		if err := k.Set(&s, a.Value); err != nil {
			return s, err.Error()
		}
	}
	for _, b := range breaches(&s, len(s.Bandit.Arms), func(...string) bool { return false }) {
		return s, fmt.Sprintf("%s: got %s, want %s", b.keys[0], b.got, b.want)
	}
	return s, ""
}
