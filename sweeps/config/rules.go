package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom/fp"
	"grposim/sim/measure"
)

// rule is a rule between keys of a cell. In its texts {KEY} stands for the value of a key, and
// {NAME} for one of phrases.
type rule struct {
	key       string   // the key that the message names
	reads     []string // the other keys that the rule reads; it is not applied where one of them, or key, is bad
	broken    func(s *Settings) bool
	got, want string // what the cell has, "": {key}, and what it should have
}

// phrases are the words for numbers that follow from several keys.
var phrases = map[string]func(s *Settings) string{
	"arms":     func(s *Settings) string { return CountWords(len(s.Bandit.Arms), "arm") },
	"pairs":    func(s *Settings) string { return CountWords(len(*s.Prompts.List), "pair") },
	"instants": func(s *Settings) string { return CountWords(max(instants(s), 0), instantNoun(s)) },

	"directions": func(s *Settings) string { return CountWords(s.Directions(), "difference") + " of logits" },
	"weights":    func(s *Settings) string { return CountWords(s.WeightCount(), "weight") },
}

// placeholder is {KEY} or {NAME} in a text.
var placeholder = regexp.MustCompile(`\{[a-z0-9_.]+\}`)

// fill puts the values of a cell into a text.
func fill(text string, s *Settings) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		name = strings.Trim(name, "{}")
		if phrase := phrases[name]; phrase != nil {
			return phrase(s)
		}
		k, _ := LookupKey(name)
		return Format(k.get(s))
	})
}

// message returns what a cell has and what it should have.
func (r *rule) message(s *Settings) (got, want string) {
	if r.got == "" {
		return fill("{"+r.key+"}", s), fill(r.want, s)
	}
	return fill(r.got, s), fill(r.want, s)
}

// uses reports whether the rule reads a key.
func (r *rule) uses(key string) bool { return r.key == key || slices.Contains(r.reads, key) }

// breach is a rule between keys that a cell breaks: the key that the message names, what it
// has and what it should have.
type breach struct {
	rule           *rule
	key, got, want string
}

// breaches lists the rules between keys that a cell breaks. Function applies says whether a
// rule is applied; groups is the number of items of bandit.arms.
func breaches(s *Settings, groups int, applies func(r *rule) bool) (broken []breach) {
	for i, shared := range option.Rules {
		r := &optionRules[i]
		if !applies(r) {
			continue
		}
		if got, want := shared.Broken(&s.Estimator, s.Bandit.Arms); got != "" {
			broken = append(broken, breach{r, r.key, got, optionNames.Replace(want)})
		}
	}
	for i := range cellRules {
		if r := &cellRules[i]; applies(r) && r.broken(s) {
			got, want := r.message(s)
			broken = append(broken, breach{r, r.key, got, want})
		}
	}
	for i := range sharedRules {
		r := &sharedRules[i]
		if !applies(&r.rule) {
			continue
		}
		var m option.Mistakes
		r.check(s, &m)
		for _, mistake := range m.List() {
			if key := keyOfField(mistake.Field); applies(&rule{key: key}) {
				broken = append(broken, breach{&r.rule, key, fill("{"+key+"}", s), mistake.Want})
			}
		}
	}
	for i := range listRules {
		r := &listRules[i]
		n, arms := r.length(s), len(s.Bandit.Arms)
		if n == arms || !applies(&r.rule) { // a list with one entry per item of bandit.arms has been expanded before
			continue
		}
		want := fmt.Sprintf("%d, one per arm", arms)
		if groups != arms {
			want += fmt.Sprintf(", or %d, one per item of %s", groups, ArmsKey)
		}
		broken = append(broken, breach{&r.rule, r.key, CountWords(n, "number"), want})
	}
	return broken
}

// optionKeys are the keys of the fields that option.Rules name.
var optionKeys = map[string]string{
	"Advantage.Baseline": baselineKey, "Advantage.Scale": scaleKey, "Filter": filterKey, "Importance.Mode": modeKey,
	"KL.In": placementKey, "KL.Coefficient": coefficientKey, "KL.Gradient": gradientKey, "Arms": ArmsKey,
}

// optionNames puts keys in the place of fields in a text.
var optionNames = func() *strings.Replacer {
	var names []string
	for field, key := range optionKeys {
		names = append(names, "{"+field+"}", key)
	}
	return strings.NewReplacer(names...)
}()

// optionRules are the keys of each of option.Rules, which hold for whoever describes a cell.
var optionRules = func() (rules []rule) {
	for _, shared := range option.Rules {
		r := rule{key: optionKeys[shared.Field]}
		for _, field := range shared.Reads {
			r.reads = append(r.reads, optionKeys[field])
		}
		rules = append(rules, r)
	}
	return rules
}()

// sharedRules are the rules that package option has for the library too. A rule of option about
// one field is not applied where that key is bad, none where one of these keys is.
var sharedRules = []struct {
	rule
	check func(s *Settings, m *option.Mistakes)
}{
	{rule{key: lagKindKey, reads: []string{ageLawKey}}, func(s *Settings, m *option.Mistakes) { s.Lag.Check(m) }},
	{rule{key: ScheduleTotalKey, reads: []string{scheduleKey, optimizerKey, StepsKey}}, func(s *Settings, m *option.Mistakes) { s.Optimizer.Check(m) }},
}

// keyOfField returns the key of a field of Settings that package option names, such as
// lag.ages.to of Lag.Ages.To.
func keyOfField(field string) string {
	field, _, _ = strings.Cut(field, "[") // of a list
	var path strings.Builder
	for i, c := range field {
		if c >= 'A' && c <= 'Z' && i > 0 && field[i-1] != '.' {
			path.WriteByte('_')
		}
		path.WriteString(strings.ToLower(string(c)))
	}
	return path.String()
}

// listRules are the lists that have one entry per arm, with their lengths.
var listRules = []struct {
	rule
	length func(s *Settings) int
}{
	{rule{key: TrueMeansKey, reads: []string{ArmsKey}}, func(s *Settings) int { return len(s.Bandit.TrueMeans) }},
	{rule{key: InitKey, reads: []string{ArmsKey}}, func(s *Settings) int {
		if s.Policy.Init.Kind == AtFixedPoint {
			return len(s.Bandit.Arms)
		}
		return len(s.Policy.Init.Logits)
	}},
	{rule{key: referenceKey, reads: []string{ArmsKey}}, func(s *Settings) int { return len(s.Policy.Reference) }},
}

// sampled reports whether a cell draws groups.
func sampled(s *Settings) bool { return s.Estimator.GroupSize != option.Infinite }

// hasLaw reports whether an arm has a law of rewards.
func hasLaw(s *Settings, laws ...option.Law) bool {
	return slices.ContainsFunc(s.Bandit.Arms, func(arm option.Arm) bool { return slices.Contains(laws, arm.Law) })
}

// DrawsRewardsSingly reports whether the rewards of groups are drawn sample by sample: normal ones, where the weight of a
// sample depends on the sign of its advantage.
func (s *Settings) DrawsRewardsSingly() bool {
	return sampled(s) && hasLaw(s, option.Normal) && grpo.WeightsBySign(&s.Estimator.Importance)
}

// random reports whether the snapshots of a cell have random ages of such a law.
func random(s *Settings, law option.AgeLaw) bool {
	return s.Lag.Kind == option.Random && s.Lag.Ages.Law == law
}

// ofStep reports whether all groups of a step together decide the force.
func ofStep(e *option.Estimator) bool {
	return e.Filter == option.Drop || e.Advantage.Scale.OfStep() || e.Advantage.Baseline == option.RunningMean
}

// cellRules are the rules between keys that hold in every cell, beside those of sharedRules.
var cellRules = slices.Concat(generalRules, promptRules, networkRules, recordRules)

// generalRules are those that do not belong to one option.
var generalRules = []rule{
	{LagIntervalKey, []string{lagKindKey}, func(s *Settings) bool { return s.Lag.Kind == option.Delay && s.Lag.Interval > maxDelay },
		"", fmt.Sprintf("at most %d for a delay, which keeps the policies of that many steps", maxDelay)},
	{agesToKey, []string{lagKindKey, ageLawKey, agesFromKey}, func(s *Settings) bool {
		return random(s, option.UniformAges) && s.Lag.Ages.From == 0 && s.Lag.Ages.To == 0
	}, "", "an integer ≥ 1, the largest of uniform random ages"},
	{agesDrawnKey, []string{lagKindKey, GroupSizeKey}, func(s *Settings) bool {
		return s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerStep && !sampled(s)
	}, "", "group where " + GroupSizeKey + " is inf: the force is then the mean over the law of ages"},
	{GroupSizeKey, []string{modeKey, ArmsKey, groupsKey}, func(s *Settings) bool {
		return s.DrawsRewardsSingly() && s.Estimator.GroupSize*max(s.Estimator.GroupsPerStep, 1) > maxSamples
	}, "", fmt.Sprintf("at most %d samples of a step (%s {%s}) for normal rewards with weights by the sign of the advantage ({%s}), which are drawn one by one", maxSamples, groupsKey, groupsKey, modeKey)},
	{samplesKey, []string{lagKindKey}, func(s *Settings) bool { return s.Estimator.Samples == option.Reused && s.Lag.Kind != option.Block },
		"", "fresh unless the lag is a block: else every step has another snapshot"},
	{placementKey, []string{coefficientKey, gradientKey, anchorKey}, func(s *Settings) bool {
		kl := s.Estimator.KL
		return kl.Outside() && (kl.Gradient != option.ExactKL || kl.At != option.AtCurrent)
	}, "", "loss, or no " + gradientKey + " and " + anchorKey + ", which are of the loss"},
	{placementKey, []string{coefficientKey, lagKindKey, agesDrawnKey}, func(s *Settings) bool {
		return s.Estimator.KL.Outside() && s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerGroup
	}, "", "loss where each group has a snapshot of a random age of its own"},
	{filterKey, []string{GroupSizeKey, ArmsKey}, func(s *Settings) bool {
		return s.Estimator.Filter.Changes() && sampled(s) && hasLaw(s, option.Constant, option.Normal)
	}, "", "none unless all arms are bernoulli"},
	{baselineKey, []string{GroupSizeKey}, func(s *Settings) bool {
		b := s.Estimator.Advantage.Baseline
		return (b == option.SecondBest || b == option.RunningMean) && !sampled(s)
	}, "", "mean, leave-one-out or constant at " + GroupSizeKey + " inf"},
	{agesDrawnKey, []string{lagKindKey, filterKey, scaleKey, baselineKey}, func(s *Settings) bool {
		return s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerGroup && ofStep(&s.Estimator)
	}, "", "step where all groups of a step together decide the force (" + filterKey + " drop, " + scaleKey + " batch-std, pooled-std or batch-mean, " + baselineKey + " running-mean)"},
	{BurnInKey, []string{StepsKey}, func(s *Settings) bool { return s.Run.BurnIn >= s.Run.Steps }, "", "less than run.steps ({run.steps})"},
}

// ofAdvantage names the scale and the baseline of a cell.
const ofAdvantage = "{" + scaleKey + "} with the baseline {" + baselineKey + "}"

// promptRules say what is possible with many prompts.
var promptRules = func() []rule {
	const more = " where " + promptsKey + " is more than 1"
	atDefault := func(key string) rule {
		k, _ := LookupKey(key)
		return rule{key, nil, func(s *Settings) bool { return !k.AtDefault(s) }, "", Format(k.Default) + more}
	}
	law := func(key, other string, of func(*Settings) BetaLaw) rule {
		return rule{key, []string{other}, func(s *Settings) bool { return !of(s).Drawn() && of(s) != BetaLaw{} }, "", "a number > 0 beside " + other + " > 0, or 0 beside 0"}
	}
	rules := []rule{
		{ArmsKey, nil, func(s *Settings) bool { return len(s.Bandit.Arms) != 2 || hasLaw(s, option.Constant, option.Normal) }, "", "2 Bernoulli arms" + more},
		{TrueMeansKey, []string{ArmsKey}, func(s *Settings) bool { return !slices.Equal(s.Bandit.TrueMeans, s.ArmMeans()) }, "", "the arms' means" + more},
		{GroupSizeKey, nil, func(s *Settings) bool { return !sampled(s) }, "", "a finite size" + more},
		law(meansBetaKey, meansAlphaKey, func(s *Settings) BetaLaw { return s.Prompts.Means }),
		{meansListKey, []string{meansAlphaKey, meansBetaKey}, func(s *Settings) bool { return s.Prompts.List != nil && s.Prompts.Means != BetaLaw{} },
			"{pairs}", "none beside " + meansAlphaKey + " and beta, or these 0"},
		{meansListKey, []string{meansAlphaKey, meansBetaKey}, func(s *Settings) bool {
			return s.Prompts.List != nil && s.Prompts.Means == BetaLaw{} && len(*s.Prompts.List) != s.Prompts.Count
		}, "{pairs}", "{" + promptsKey + "}, one per prompt (" + promptsKey + ")"},
		law(startBetaKey, startAlphaKey, func(s *Settings) BetaLaw { return s.Prompts.Start }),
		{promptParametersKey, []string{startAlphaKey, startBetaKey}, func(s *Settings) bool { return s.Prompts.Start.Drawn() && s.Prompts.Parameters == option.Shared },
			"", "tabular, where bandit.prompts.start gives each prompt a start of its own"},
		{InitKey, []string{startAlphaKey, startBetaKey, referenceKey}, func(s *Settings) bool {
			isSet := func(v float64) bool { return v != 0 }
			return s.Prompts.Start.Drawn() && (slices.ContainsFunc(s.Policy.Init.Logits, isSet) || slices.ContainsFunc(s.Policy.Reference, isSet))
		}, "logits in section policy", "none, where bandit.prompts.start gives each prompt a start of its own"},
		{InitKey, nil, func(s *Settings) bool {
			return s.Prompts.Parameters == option.Tabular && s.Policy.Init.Kind == AtFixedPoint
		},
			"", "logits for tabular prompts, which have a fixed point each"},
		{lagKindKey, nil, func(s *Settings) bool { return s.Lag.Kind == option.Random }, "", "block or delay" + more},
		{lagKindKey, nil, func(s *Settings) bool { return s.Prompts.Parameters != option.Shared && s.Lag.Kind == option.Delay }, "", "block for tabular prompts"},
		{behindKey, []string{lagKindKey}, func(s *Settings) bool { return s.Lag.Kind == option.Block && s.Lag.Behind > 0 }, "", "0" + more},
		{scaleKey, []string{baselineKey}, func(s *Settings) bool { return s.Estimator.Advantage.BinaryOnly() }, ofAdvantage, "std or none with mean or leave-one-out" + more},
		{filterKey, nil, func(s *Settings) bool { return s.Estimator.Filter == option.Drop }, "", "none or redraw" + more},
		{filterKey, []string{promptOrderKey}, func(s *Settings) bool {
			return s.Estimator.Filter == option.Redraw && s.Prompts.Order != option.Independent
		},
			"{" + filterKey + "} with the order {" + promptOrderKey + "}", "none, or " + promptOrderKey + " independent," + more},
		atDefault(placementKey), atDefault(entropyKey), atDefault(samplesKey), atDefault(maxNormKey), atDefault(updateKey),
		{modeKey, nil, func(s *Settings) bool {
			return s.Prompts.Parameters == option.Tabular && !s.Estimator.Importance.Linear()
		}, "", "none or ratio for tabular prompts"},
	}
	for i := range rules {
		broken := rules[i].broken
		rules[i].reads = append(rules[i].reads, promptsKey, promptParametersKey)
		rules[i].broken = func(s *Settings) bool { return s.Prompts.Count > 1 && broken(s) }
	}
	return rules
}()

// needRule is the requirement of a Need on every cell that a check selects.
type needRule struct {
	need Need
	rule
}

// fewestInstants is the number of successive values of a deviation that determine the
// two coefficients of its recurrence.
const fewestInstants = 4

// instants is the number of values of a deviation from run.burn_in on: one per refresh of a
// block, else one per step.
func instants(s *Settings) int {
	apart := max(s.Lag.StepsPerSnapshot(), 1)
	return s.Run.Steps/apart - (s.Run.BurnIn+apart-1)/apart + 1
}

// instantNoun names one of instants.
func instantNoun(s *Settings) string {
	if s.Lag.Kind == option.Block {
		return "refresh instant"
	}
	return "step"
}

// needRules are the requirements of the needs on cells.
var needRules = func() []needRule {
	const finite, orInfinite = " at finite " + GroupSizeKey, " or " + GroupSizeKey + " inf"
	equal := func(need Need, key, must string) needRule {
		k, _ := LookupKey(key)
		return needRule{need, rule{key, nil, func(s *Settings) bool { return Format(k.get(s)) != must }, "with " + key + " {" + key + "}", must}}
	}
	// Pairs of groups and runs have no running mean of their own.
	withoutRunningMean := rule{baselineKey, nil, func(s *Settings) bool { return s.Estimator.Advantage.Baseline == option.RunningMean },
		"with the baseline running-mean", "another baseline"}
	return []needRule{
		{NeedsBurnIn, rule{BurnInKey, nil, func(s *Settings) bool { return s.Run.BurnIn == 0 }, "with run.burn_in 0", "run.burn_in > 0"}},
		{NeedsDistance, rule{InitKey, nil, func(s *Settings) bool { return s.Policy.Init.Kind == AtFixedPoint && s.Policy.Init.Offset == 0 },
			"that starts at its fixed point", "a start away from the fixed point"}},
		equal(NeedsExpected, GroupSizeKey, "inf"),
		{NeedsNetwork, rule{networkKey, nil, func(s *Settings) bool { return !s.Deep() }, "without a network", "a network"}},
		{NeedsTwoArms, rule{ArmsKey, nil, func(s *Settings) bool { return len(s.Bandit.Arms) != 2 && !s.Deep() }, "with {arms}", "2 arms"}},
		{NeedsStiffness, rule{recordKey, nil, withoutStiffness, "that does not record stiffness", "stiffness in " + recordKey}},
		equal(NeedsSteadyRate, scheduleKey, "constant"),
		equal(NeedsSteadyRate, warmupKey, "0"),
		// The recurrence fitted to pairs under sampled groups has two multipliers. Where the
		// dynamics have more, the noise excites all of them.
		{NeedsMultipliers, rule{GroupSizeKey, []string{ArmsKey}, func(s *Settings) bool { return sampled(s) && len(s.Bandit.Arms) != 2 },
			"with {arms}" + finite, "2 arms" + orInfinite}},
		{NeedsMultipliers, rule{lagKindKey, []string{GroupSizeKey, LagIntervalKey, behindKey}, func(s *Settings) bool { return sampled(s) && s.Lag.Kind == option.Random },
			"with random ages" + finite, "a block, a delay of at most 1" + orInfinite}},
		{NeedsMultipliers, rule{behindKey, []string{GroupSizeKey, LagIntervalKey, lagKindKey}, func(s *Settings) bool { return sampled(s) && s.Lag.Kind == option.Block && s.Lag.Behind > 0 },
			"with " + behindKey + " {" + behindKey + "}" + finite, "0," + orInfinite}},
		{NeedsMultipliers, rule{LagIntervalKey, []string{GroupSizeKey, lagKindKey, behindKey}, func(s *Settings) bool { return sampled(s) && s.Lag.Kind == option.Delay && s.Lag.Interval > 1 },
			"with a delay of {" + LagIntervalKey + "}" + finite, "a block, a delay of at most 1" + orInfinite}},
		{NeedsOneAge, rule{lagKindKey, []string{GroupSizeKey}, func(s *Settings) bool { return sampled(s) && s.Lag.Kind == option.Random },
			"with random ages" + finite, "a block, a delay" + orInfinite}},
		{NeedsScatter, rule{replicasKey, []string{GroupSizeKey}, func(s *Settings) bool { return sampled(s) && s.Run.Replicas < 2 },
			"with " + replicasKey + " {" + replicasKey + "}" + finite, "at least 2"}},
		{NeedsKnownRule, rule{optimizerKey, nil, func(s *Settings) bool { return s.Optimizer.Kind == option.Adam }, "with " + optimizerKey + " adam", "heavy-ball or nesterov"}},
		{NeedsOnPolicy, rule{lagKindKey, nil, func(s *Settings) bool { return s.Lag.Kind == option.Random }, "with random ages", "a block of 1 or a delay of 0"}},
		{NeedsOnPolicy, rule{behindKey, []string{LagIntervalKey, lagKindKey}, func(s *Settings) bool {
			return s.Lag.Kind == option.Block && s.Lag.Interval == 1 && s.Lag.Behind > 0
		}, "with " + behindKey + " {" + behindKey + "}", "0"}},
		{NeedsOnPolicy, rule{LagIntervalKey, []string{lagKindKey, behindKey}, func(s *Settings) bool {
			return s.Lag.Kind == option.Block && s.Lag.Interval != 1 || s.Lag.Kind == option.Delay && s.Lag.Interval != 0
		}, "with a {" + lagKindKey + "} of {" + LagIntervalKey + "}", "a block of 1 or a delay of 0"}},
		equal(NeedsOnPolicy, MomentumKey, "0"),
		{NeedsHundredSteps, rule{StepsKey, nil, func(s *Settings) bool { return s.Run.Steps <= measure.EarlySteps },
			"with " + StepsKey + " {" + StepsKey + "}", "more than " + Format(measure.EarlySteps)}},
		{NeedsDisplacement, withoutRunningMean},
		{NeedsOffset, withoutRunningMean},
		{NeedsOffset, rule{StepsKey, []string{BurnInKey, LagIntervalKey, lagKindKey}, func(s *Settings) bool { return instants(s) < fewestInstants },
			"with {instants} from run.burn_in on", "at least " + strconv.Itoa(fewestInstants)}},
		equal(NeedsRecurrence, modeKey, "ratio"),
		equal(NeedsRecurrence, gradientKey, "exact"),
		equal(NeedsRecurrence, placementKey, "loss"),
		equal(NeedsRecurrence, anchorKey, "current"),
		equal(NeedsRecurrence, epsilonKey, "0"),
		equal(NeedsRecurrence, lagKindKey, "block"),
		equal(NeedsRecurrence, behindKey, "0"),
		{NeedsRecurrence, rule{StepsKey, []string{LagIntervalKey}, func(s *Settings) bool { return s.Lag.Interval > s.Run.Steps },
			"with run.steps {run.steps}, less than one block", "at least lag.interval ({lag.interval})"}},
	}
}()

// claimsOfPrompts are the claims that can be made about cells with many prompts: the theory
// of the others is that of one bandit.
var claimsOfPrompts = []*Claim{Trajectory, TimeToLevel, Arrival, SaturationFit, StationaryFluctuation, FixedPoint, DegenerateGroups, FluctuationScaling}

// beyondClip is the rule that probes about a fixed point keep importance ratios within the
// bounds of their weights, beyond which the force is another one. It returns the key that breaks it, what the
// key has and what it should have, or "".
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
	onPolicy := s.Lag.Kind != option.Random && grpo.OnPolicy(&s.Lag)
	switch x := check.Offset; {
	case 4*check.Displacement > most:
		return "displacement", Format(check.Displacement), fmt.Sprintf("at most %.4g, with which no ratio leaves the bounds of its weight at twice the displacement", roundedDown(most/4))
	case perOffset*x > most && !onPolicy:
		return "offset", Format(x), fmt.Sprintf("at most %.4g, with which no ratio leaves the bounds of its weight", roundedDown(most/perOffset))
	}
	return "", "", ""
}

// roundedDown returns the largest number of four digits that is not above x ≥ 0.
func roundedDown(x float64) float64 {
	if x == 0 {
		return 0
	}
	unit := fp.Pow(10, math.Floor(math.Log10(x))-3)
	return math.Floor(x/unit) * unit
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
	if broken := breaches(&s, len(s.Bandit.Arms), func(*rule) bool { return true }); len(broken) > 0 {
		b := broken[0]
		return s, fmt.Sprintf("%s: got %s, want %s", b.key, b.got, b.want)
	}
	return s, ""
}
