package config

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// rule is a rule between keys of a cell. In its texts {KEY} stands for the value of a key, and
// {NAME} for one of phrases.
type rule struct {
	// when says where the rule is broken: KEY=VALUE, KEY!=VALUE and, for keys that only function
	// and reads, KEY. VALUE may be several with | between. The first key is named in messages.
	when      string
	got, want string                 // what the cell has, "": the first key, and what it should have
	and       func(s *Settings) bool // a further condition; nil: none
	tests     []keyTest              // of when, by compile
}

// keyTest is a part of rule.when.
type keyTest struct {
	key    int      // index in Keys
	values []string // as Format writes them; nil: any
	not    bool     // the key must have none of them
}

// compile reads the conditions of rules.
func compile(rules []rule) []rule {
	for i := range rules {
		for _, part := range strings.Fields(rules[i].when) {
			var test keyTest
			path, values, equal := strings.Cut(part, "=")
			path, test.not = strings.CutSuffix(path, "!")
			if test.key = keyIndex(path); test.key < 0 {
				panic("config: no key " + path)
			}
			if equal {
				test.values = strings.Split(values, "|")
			}
			rules[i].tests = append(rules[i].tests, test)
		}
	}
	return rules
}

// broken reports whether a cell breaks the rule.
func (r *rule) broken(s *Settings) bool {
	for _, t := range r.tests {
		if t.values != nil && slices.Contains(t.values, Format(Keys[t.key].get(s))) == t.not {
			return false
		}
	}
	return r.and == nil || r.and(s)
}

// keys lists the keys that the rule reads.
func (r *rule) keys() []string {
	return each(r.tests, func(t keyTest) string { return Keys[t.key].Path })
}

// phrases are the words for numbers that follow from several keys.
var phrases = map[string]func(s *Settings) string{
	"arms":  func(s *Settings) string { return CountWords(len(s.Bandit.Arms), "arm") },
	"pairs": func(s *Settings) string { return CountWords(len(*s.Prompts.List), "pair") },
	"instants": func(s *Settings) string {
		if s.Lag.Kind == option.Block {
			return CountWords(max(instants(s), 0), "refresh instant")
		}
		return CountWords(max(instants(s), 0), "step")
	},
	"directions": func(s *Settings) string { return CountWords(s.Directions(), "difference") + " of logits" },
	"weights":    func(s *Settings) string { return CountWords(s.WeightCount(), "weight") },
}

// placeholder is {KEY} or {NAME} in a text.
var placeholder = regexp.MustCompile(`\{[\w.]+\}`)

// replaceNames replaces every {NAME} in a text.
func replaceNames(text string, of func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		return of(strings.Trim(name, "{}"))
	})
}

// fill puts the values of a cell into a text.
func fill(text string, s *Settings) string {
	return replaceNames(text, func(name string) string {
		if phrase := phrases[name]; phrase != nil {
			return phrase(s)
		}
		k, _ := LookupKey(name)
		return Format(k.get(s))
	})
}

// breach is a rule that a cell breaks.
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
			keys := each(append([]string{r.Field}, r.Reads...), keyOfOption)
			broken = append(broken, breach{keys, got, replaceNames(want, keyOfOption)})
		}
	}
	for i := range cellRules {
		if r := &cellRules[i]; r.broken(s) {
			broken = append(broken, breach{r.keys(), fill(cmp.Or(r.got, "{"+r.keys()[0]+"}"), s), fill(r.want, s)})
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
		if n, isList := listLength(Keys[keyIndex(key)].get(s)); isList && n != arms {
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
	return "grpo." + keyOfField(field)
}

var innerCapital = regexp.MustCompile(`([a-z])([A-Z])`)

// keyOfField returns the key of a field of Settings that package option names, such as
// lag.ages.to of Lag.Ages.To.
func keyOfField(field string) string {
	field, _, _ = strings.Cut(field, "[") // of a list
	return strings.ToLower(innerCapital.ReplaceAllString(field, "${1}_$2"))
}

// sampled reports whether a cell draws groups.
func sampled(s *Settings) bool { return s.Estimator.GroupSize != option.Infinite }

// DrawsRewardsSingly reports whether the rewards of groups are drawn sample by sample: normal
// ones, where the weight of a sample depends on the sign of its advantage.
func (s *Settings) DrawsRewardsSingly() bool {
	return sampled(s) && slices.ContainsFunc(s.Bandit.Arms, func(a option.Arm) bool { return a.Law == option.Normal }) &&
		grpo.WeightsBySign(&s.Estimator.Importance)
}

// otherThanBernoulli reports whether an arm has another law of rewards.
func otherThanBernoulli(s *Settings) bool {
	return slices.ContainsFunc(s.Bandit.Arms, func(a option.Arm) bool { return a.Law != option.Bernoulli })
}

// isSet reports whether a list has an entry other than 0.
func isSet(list []float64) bool {
	return slices.ContainsFunc(list, func(v float64) bool { return v != 0 })
}

// cellRules are the rules between keys that hold in every cell, beside those of package option.
var cellRules = compile(slices.Concat(generalRules, promptRules, networkRules, recordRules))

// generalRules are those that do not belong to one option.
var generalRules = []rule{
	{when: "lag.interval lag.kind=delay",
		want: fmt.Sprintf("at most %d for a delay, which keeps the policies of that many steps", maxDelay),
		and:  func(s *Settings) bool { return s.Lag.Interval > maxDelay }},
	{when: "lag.ages.to=0 lag.kind=random lag.ages.law=uniform lag.ages.from=0",
		want: "an integer ≥ 1, the largest of uniform random ages"},
	{when: "lag.ages.drawn=step lag.kind=random grpo.group_size=inf",
		want: "group where grpo.group_size is inf: the force is then the mean over the law of ages"},
	{when: "grpo.group_size grpo.importance.mode bandit.arms grpo.groups_per_step",
		want: fmt.Sprintf("at most %d samples of a step (grpo.groups_per_step {grpo.groups_per_step}) for normal rewards "+
			"with weights by the sign of the advantage ({grpo.importance.mode}), which are drawn one by one", maxSamples),
		and: func(s *Settings) bool {
			return s.DrawsRewardsSingly() && s.Estimator.GroupSize*max(s.Estimator.GroupsPerStep, 1) > maxSamples
		}},
	{when: "lag.samples=reused lag.kind!=block",
		want: "fresh unless the lag is a block: else every step has another snapshot"},
	{when: "grpo.kl.in!=loss grpo.kl.coefficient!=0 grpo.kl.gradient grpo.kl.at",
		want: "loss, or no grpo.kl.gradient and grpo.kl.at, which are of the loss",
		and: func(s *Settings) bool {
			return s.Estimator.KL.Gradient != option.ExactKL || s.Estimator.KL.At != option.AtCurrent
		}},
	{when: "grpo.kl.in!=loss grpo.kl.coefficient!=0 lag.kind=random lag.ages.drawn=group",
		want: "loss where each group has a snapshot of a random age of its own"},
	{when: "grpo.filter!=none grpo.group_size!=inf bandit.arms",
		want: "none unless all arms are bernoulli", and: otherThanBernoulli},
	{when: "grpo.advantage.baseline=second-best|running-mean grpo.group_size=inf",
		want: "mean, leave-one-out or constant at grpo.group_size inf"},
	{when: "lag.ages.drawn=group lag.kind=random grpo.filter grpo.advantage.scale grpo.advantage.baseline",
		want: "step where all groups of a step together decide the force (grpo.filter drop, grpo.advantage.scale " +
			"batch-std, pooled-std or batch-mean, grpo.advantage.baseline running-mean)",
		and: func(s *Settings) bool {
			e := &s.Estimator
			return e.Filter == option.Drop || e.Advantage.Scale.OfStep() || e.Advantage.Baseline == option.RunningMean
		}},
	{when: "run.burn_in run.steps", want: "less than run.steps ({run.steps})",
		and: func(s *Settings) bool { return s.Run.BurnIn >= s.Run.Steps }},
}

// mustBeDefault is the rule that a key has its default in the cells that the text where names.
func mustBeDefault(path, where string) rule {
	byDefault := Format(Keys[keyIndex(path)].Default)
	return rule{when: path + "!=" + byDefault, want: byDefault + where}
}

// rulesWhere returns rules for the cells with a condition, which the text where names: own rules,
// and those of options that neither prompts nor networks have.
func rulesWhere(condition, where string, own ...rule) []rule {
	rules := append(own,
		rule{when: TrueMeansKey + " bandit.arms", want: "the arms' means" + where,
			and: func(s *Settings) bool { return !slices.Equal(s.Bandit.TrueMeans, s.ArmMeans()) }},
		rule{when: "lag.kind=random", want: "block or delay" + where},
		rule{when: "lag.behind!=0 lag.kind=block", want: "0" + where},
		rule{when: "grpo.advantage.scale grpo.advantage.baseline",
			got:  "{grpo.advantage.scale} with the baseline {grpo.advantage.baseline}",
			want: "std or none with mean or leave-one-out" + where,
			and:  func(s *Settings) bool { return s.Estimator.Advantage.BinaryOnly() }},
		mustBeDefault("grpo.kl.in", where), mustBeDefault("grpo.entropy.coefficient", where), mustBeDefault("lag.samples", where),
		mustBeDefault("optimizer.max_norm", where), mustBeDefault("policy.reference_update.interval", where))
	for i := range rules {
		rules[i].when += " " + condition
	}
	return rules
}

// promptRules say what is possible with many prompts.
var promptRules = func() []rule {
	const more = " where bandit.prompts.count is more than 1"
	const own = ", where bandit.prompts.start gives each prompt a start of its own"
	const start = " bandit.prompts.start.alpha bandit.prompts.start.beta"
	law := func(section string, of func(*Settings) BetaLaw) rule {
		return rule{when: section + ".beta " + section + ".alpha",
			want: "a number > 0 beside " + section + ".alpha > 0, or 0 beside 0",
			and:  func(s *Settings) bool { return !of(s).Drawn() && of(s) != BetaLaw{} }}
	}
	const list = "bandit.prompts.means.list!=[] bandit.prompts.means.alpha bandit.prompts.means.beta"
	return rulesWhere("bandit.prompts.count!=1 bandit.prompts.parameters", more,
		rule{when: "bandit.arms", want: "2 Bernoulli arms" + more,
			and: func(s *Settings) bool { return len(s.Bandit.Arms) != 2 || otherThanBernoulli(s) }},
		rule{when: "grpo.group_size=inf", want: "a finite size" + more},
		law("bandit.prompts.means", func(s *Settings) BetaLaw { return s.Prompts.Means }),
		rule{when: list, got: "{pairs}", want: "none beside bandit.prompts.means.alpha and beta, or these 0",
			and: func(s *Settings) bool { return s.Prompts.Means != BetaLaw{} }},
		rule{when: list, got: "{pairs}", want: "{bandit.prompts.count}, one per prompt (bandit.prompts.count)",
			and: func(s *Settings) bool {
				return s.Prompts.Means == BetaLaw{} && len(*s.Prompts.List) != s.Prompts.Count
			}},
		law("bandit.prompts.start", func(s *Settings) BetaLaw { return s.Prompts.Start }),
		rule{when: "bandit.prompts.parameters=shared" + start, want: "tabular" + own,
			and: func(s *Settings) bool { return s.Prompts.Start.Drawn() }},
		rule{when: "policy.init policy.reference" + start, got: "logits in section policy", want: "none" + own,
			and: func(s *Settings) bool {
				return s.Prompts.Start.Drawn() && (isSet(s.Policy.Init.Logits) || isSet(s.Policy.Reference))
			}},
		rule{when: "policy.init bandit.prompts.parameters=tabular",
			want: "logits for tabular prompts, which have a fixed point each",
			and:  func(s *Settings) bool { return s.Policy.Init.Kind == AtFixedPoint }},
		rule{when: "lag.kind=delay bandit.prompts.parameters=tabular", want: "block for tabular prompts"},
		rule{when: "grpo.filter=drop", want: "none or redraw" + more},
		rule{when: "grpo.filter=redraw bandit.prompts.order!=independent",
			got: "{grpo.filter} with the order {bandit.prompts.order}", want: "none, or bandit.prompts.order independent," + more},
		rule{when: "grpo.importance.mode!=none|ratio bandit.prompts.parameters=tabular",
			want: "none or ratio for tabular prompts"})
}()

// fewestInstants is the number of successive values of a deviation that determine the
// two coefficients of its recurrence.
const fewestInstants = 4

// instants is the number of values of a deviation from run.burn_in on: one per refresh of a
// block, else one per step.
func instants(s *Settings) int {
	apart := max(s.Lag.StepsPerSnapshot(), 1)
	return s.Run.Steps/apart - (s.Run.BurnIn+apart-1)/apart + 1
}

// demand is a requirement of some checks on every cell that they select. Where got is "" it is
// "with KEY VALUE".
type demand struct {
	of    func(*Check) bool // whether it is one of a check
	field string            // the key of the check that a message names
	rule
}

// demands are those of needs, and of claims and quantities that not every cell has.
var demands = func() (all []demand) {
	const finite, deep = " at finite grpo.group_size", " policy.network.kind!=none"
	add := func(field string, of func(*Check) bool, rules ...rule) {
		for _, r := range compile(rules) {
			if r.got == "" {
				r.got = "with " + r.keys()[0] + " {" + r.keys()[0] + "}"
			}
			all = append(all, demand{of, field, r})
		}
	}
	need := func(need Need, rules ...rule) {
		add("claim", func(c *Check) bool { return c.Claim.Has(need) }, rules...)
	}
	claims := func(claims []*Claim, rules ...rule) {
		add("claim", func(c *Check) bool { return slices.Contains(claims, c.Claim) }, rules...)
	}
	equal := func(path, must string) rule { return rule{when: path + "!=" + must, want: must} }
	otherThanTwo := func(s *Settings) bool { return len(s.Bandit.Arms) != 2 }
	need(NeedsBurnIn, rule{when: "run.burn_in=0", want: "run.burn_in > 0"})
	need(NeedsDistance, rule{when: "policy.init=fixed-point", got: "that starts at its fixed point", want: "a start away from the fixed point"})
	need(NeedsExpected, equal("grpo.group_size", "inf"))
	need(NeedsNetwork, rule{when: "policy.network.kind=none", got: "without a network", want: "a network"})
	need(NeedsTwoArms, rule{when: "bandit.arms policy.network.kind=none", got: "with {arms}", want: "2 arms", and: otherThanTwo})
	need(NeedsStiffness, rule{when: "run.record", got: "that does not record stiffness", want: "stiffness in run.record",
		and: func(s *Settings) bool { return !records(s, sim.Stiffest) }})
	need(NeedsSteadyRate, equal("optimizer.schedule.kind", "constant"), equal("optimizer.schedule.warmup", "0"))
	// The recurrence fitted to pairs under sampled groups has two multipliers. Where the
	// dynamics have more, the noise excites all of them.
	const fits = "a block, a delay of at most 1 or grpo.group_size inf"
	need(NeedsMultipliers,
		rule{when: "bandit.arms grpo.group_size!=inf", got: "with {arms}" + finite, want: "2 arms or grpo.group_size inf", and: otherThanTwo},
		rule{when: "lag.kind=random grpo.group_size!=inf", got: "with random ages" + finite, want: fits},
		rule{when: "lag.behind!=0 lag.kind=block grpo.group_size!=inf",
			got: "with lag.behind {lag.behind}" + finite, want: "0, or grpo.group_size inf"},
		rule{when: "lag.interval!=0|1 lag.kind=delay grpo.group_size!=inf", got: "with a delay of {lag.interval}" + finite, want: fits})
	need(NeedsOneAge, rule{when: "lag.kind=random grpo.group_size!=inf",
		got: "with random ages" + finite, want: "a block, a delay or grpo.group_size inf"})
	need(NeedsScatter, rule{when: "run.replicas=1 grpo.group_size!=inf", got: "with run.replicas 1" + finite, want: "at least 2"})
	need(NeedsKnownRule, rule{when: "optimizer.kind=adam", want: "heavy-ball or nesterov"})
	const onPolicy, ofInterval = "a block of 1 or a delay of 0", "with a {lag.kind} of {lag.interval}"
	need(NeedsOnPolicy,
		rule{when: "lag.kind=random", got: "with random ages", want: onPolicy},
		rule{when: "lag.behind!=0 lag.interval=1 lag.kind=block", want: "0"},
		rule{when: "lag.interval!=1 lag.kind=block", got: ofInterval, want: onPolicy},
		rule{when: "lag.interval!=0 lag.kind=delay", got: ofInterval, want: onPolicy},
		equal(MomentumKey, "0"))
	need(NeedsHundredSteps, rule{when: "run.steps", want: "more than " + Format(measure.EarlySteps),
		and: func(s *Settings) bool { return s.Run.Steps <= measure.EarlySteps }})
	// Pairs of groups and runs have no running mean of their own.
	withoutRunningMean := rule{when: "grpo.advantage.baseline=running-mean", got: "with the baseline running-mean", want: "another baseline"}
	need(NeedsDisplacement, withoutRunningMean)
	need(NeedsOffset, withoutRunningMean, rule{when: "run.steps run.burn_in lag.interval lag.kind",
		got: "with {instants} from run.burn_in on", want: fmt.Sprintf("at least %d", fewestInstants),
		and: func(s *Settings) bool { return instants(s) < fewestInstants }})
	need(NeedsRecurrence,
		equal("grpo.importance.mode", "ratio"), equal("grpo.kl.gradient", "exact"), equal("grpo.kl.in", "loss"),
		equal("grpo.kl.at", "current"), equal("grpo.advantage.epsilon", "0"), equal("lag.kind", "block"), equal("lag.behind", "0"),
		rule{when: "run.steps lag.interval", got: "with run.steps {run.steps}, less than one block",
			want: "at least lag.interval ({lag.interval})", and: func(s *Settings) bool { return s.Lag.Interval > s.Run.Steps }})

	add("claim", func(c *Check) bool { return !slices.Contains(claimsOfPrompts, c.Claim) }, equal("bandit.prompts.count", "1"))
	add("claim", func(c *Check) bool { return !slices.Contains(claimsOfNetworks, c.Claim) }, equal("policy.network.kind", "none"))
	claims([]*Claim{OscillationOnset, Stiffness}, rule{when: "grpo.group_size!=inf" + deep,
		got: "with a network" + finite, want: "grpo.group_size inf"})
	mixes := func(s *Settings) bool { return !s.Estimator.GradientAtSnapshot() }
	mixed := rule{when: "grpo.kl.coefficient grpo.kl.gradient grpo.kl.at grpo.importance.mode grpo.advantage.scale" + deep,
		got:  "with a network with modes that mix",
		want: "grpo.importance.mode none, grpo.advantage.scale none and the exact KL at the snapshot", and: mixes}
	claims([]*Claim{OscillationOnset}, mixed)
	mixed.when += " grpo.group_size!=inf"
	claims([]*Claim{StabilityThreshold}, mixed, rule{when: "grpo.advantage.baseline!=leave-one-out grpo.group_size!=inf" + deep,
		got: "with a network with the baseline {grpo.advantage.baseline}" + finite, want: "leave-one-out"})
	overInterval := func(c *Check) bool { return c.Locate != nil && c.Locate.Param == LagIntervalKey }
	add("locate.param", overInterval, rule{when: "lag.kind=random", got: "with random ages, which have no interval", want: "a block or a delay"})
	add("locate.param", func(c *Check) bool { return overInterval(c) && c.Claim.Has(NeedsMultipliers) },
		rule{when: "lag.kind=delay grpo.group_size!=inf", got: "with a delay" + finite,
			want: "a block (with sampled groups, a delay above 1 cannot be fitted)"})
	add("level", func(c *Check) bool { return c.Claim == TimeToLevel && c.Level == nil }, rule{when: "policy.network.kind!=none",
		got: "with a network", want: "a number: of a network the way to 95 % has no default"})
	add("quantity", func(c *Check) bool { return c.Quantity == sim.LogitGap },
		rule{when: "bandit.arms", got: "with {arms}", want: "2 arms, or another quantity", and: otherThanTwo})
	add("quantity", func(c *Check) bool { _, is := c.Quantity.Stratum(); return is }, rule{when: "run.record",
		got: "that does not record it", want: "strata in run.record, or another quantity",
		and: func(s *Settings) bool { return !records(s, sim.Strata) }})
	return all
}()

// claimsOfPrompts are the claims that can be made about cells with many prompts: the theory
// of the others is that of one bandit.
var claimsOfPrompts = []*Claim{
	Trajectory, TimeToLevel, Arrival, SaturationFit, StationaryFluctuation, FixedPoint, DegenerateGroups, FluctuationScaling,
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
