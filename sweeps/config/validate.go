package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/sim/measure"
)

// maxJudged is the largest product of cells and checks; it bounds the time of Load.
const maxJudged = 4 * maxCells

// cellRule is a rule between keys. Function broken returns the value that a key has
// and what it should be, or "" where the rule holds; groups is the number of items of
// bandit.arms.
type cellRule struct {
	key    string   // the key that the message names
	keys   []string // all keys that the rule reads; it is not applied where one of them is bad
	broken func(s *Settings, groups int) (got, want string)
}

// cellRules are the rules between keys that hold in every cell.
var cellRules = slices.Concat(optionRules(), generalRules, promptRules)

// optionKeys are the keys of the fields that option.Rules name.
var optionKeys = map[string]string{
	"Advantage.Baseline": baselineKey, "Advantage.Scale": scaleKey, "Filter": filterKey, "Importance.Mode": modeKey,
	"KL.In": placementKey, "KL.Coefficient": coefficientKey, "KL.Gradient": gradientKey, "Arms": ArmsKey,
}

// optionRules are the rules between options, which hold for whoever describes a cell, in the names of keys.
func optionRules() (rules []cellRule) {
	var names []string
	for field, key := range optionKeys {
		names = append(names, "{"+field+"}", key)
	}
	named := strings.NewReplacer(names...)
	for _, rule := range option.Rules {
		keys := make([]string, len(rule.Reads))
		for i, field := range rule.Reads {
			keys[i] = optionKeys[field]
		}
		rules = append(rules, cellRule{optionKeys[rule.Field], keys, func(s *Settings, _ int) (got, want string) {
			got, want = rule.Broken(&s.Estimator, s.Bandit.Arms)
			return got, named.Replace(want)
		}})
	}
	return rules
}

// generalRules are those that do not belong to one option.
var generalRules = []cellRule{
	{LagIntervalKey, []string{LagIntervalKey, lagKindKey}, func(s *Settings, _ int) (got, want string) {
		if s.Lag.Kind == option.Block && s.Lag.Interval < 1 {
			return Format(s.Lag.Interval), "an integer ≥ 1 for a block"
		}
		return "", ""
	}},
	{LagIntervalKey, []string{LagIntervalKey, lagKindKey}, func(s *Settings, _ int) (got, want string) {
		if s.Lag.Kind == option.Delay && s.Lag.Interval > maxDelay {
			return Format(s.Lag.Interval), fmt.Sprintf("at most %d for a delay, which keeps the policies of that many steps", maxDelay)
		}
		return "", ""
	}},
	{agesToKey, []string{lagKindKey, ageLawKey, agesFromKey, agesToKey}, func(s *Settings, _ int) (got, want string) {
		a := &s.Lag.Ages
		if least := max(a.From, 1); s.Lag.Kind == option.Random && a.Law == option.UniformAges && a.To < least {
			return Format(a.To), fmt.Sprintf("an integer ≥ %d, the largest of uniform random ages", least)
		}
		return "", ""
	}},
	{ageMeanKey, []string{lagKindKey, ageLawKey, ageMeanKey}, func(s *Settings, _ int) (got, want string) {
		if a := &s.Lag.Ages; s.Lag.Kind == option.Random && a.Law == option.GeometricAges && a.Mean <= 0 {
			return Format(a.Mean), "a number > 0, the mean of geometric random ages"
		}
		return "", ""
	}},
	{ageWeightsKey, []string{lagKindKey, ageLawKey, ageWeightsKey}, func(s *Settings, _ int) (got, want string) {
		if a := &s.Lag.Ages; s.Lag.Kind == option.Random && a.Law == option.TableAges && len(weightsOf(a)) == 0 {
			return Format(weightsOf(a)), "a list with a number > 0, the weights of random ages"
		}
		return "", ""
	}},
	{agesDrawnKey, []string{lagKindKey, agesDrawnKey, GroupSizeKey}, func(s *Settings, _ int) (got, want string) {
		if s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerStep && !sampled(s) {
			return s.Lag.Ages.Drawn.String(), "group where " + GroupSizeKey + " is inf: the force is then the mean over the law of ages"
		}
		return "", ""
	}},
	{GroupSizeKey, []string{GroupSizeKey, modeKey, ArmsKey}, func(s *Settings, _ int) (got, want string) {
		normal := slices.ContainsFunc(s.Bandit.Arms, func(arm option.Arm) bool { return arm.Law == option.Normal })
		if size := s.Estimator.GroupSize; normal && grpo.WeightsBySign(&s.Estimator.Importance) && size != option.Infinite && size > maxSamples {
			return Format(size), fmt.Sprintf("at most %d for normal rewards with weights by the sign of the advantage (%s), which are drawn sample by sample", maxSamples, s.Estimator.Importance.Mode)
		}
		return "", ""
	}},
	{samplesKey, []string{samplesKey, lagKindKey}, func(s *Settings, _ int) (got, want string) {
		if s.Estimator.Samples == option.Reused && s.Lag.Kind != option.Block {
			return option.Reused.String(), "fresh unless the lag is a block: else every step has another snapshot"
		}
		return "", ""
	}},
	{placementKey, []string{placementKey, coefficientKey, gradientKey, anchorKey}, func(s *Settings, _ int) (got, want string) {
		if kl := s.Estimator.KL; kl.Outside() && (kl.Gradient != option.ExactKL || kl.At != option.AtCurrent) {
			return kl.In.String(), "loss, or no " + gradientKey + " and " + anchorKey + ", which are of the loss"
		}
		return "", ""
	}},
	{placementKey, []string{placementKey, coefficientKey, lagKindKey, agesDrawnKey}, func(s *Settings, _ int) (got, want string) {
		if kl := s.Estimator.KL; kl.Outside() && s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerGroup {
			return kl.In.String(), "loss where each group has a snapshot of a random age of its own"
		}
		return "", ""
	}},
	{filterKey, []string{filterKey, GroupSizeKey, ArmsKey}, func(s *Settings, _ int) (got, want string) {
		other := slices.ContainsFunc(s.Bandit.Arms, func(arm option.Arm) bool { return arm.Law != option.Bernoulli })
		if filter := s.Estimator.Filter; other && filter.Changes() && sampled(s) {
			return filter.String(), "none unless all arms are bernoulli"
		}
		return "", ""
	}},
	{baselineKey, []string{baselineKey, GroupSizeKey}, func(s *Settings, _ int) (got, want string) {
		if b := s.Estimator.Advantage.Baseline; (b == option.SecondBest || b == option.RunningMean) && !sampled(s) {
			return b.String(), "mean, leave-one-out or constant at " + GroupSizeKey + " inf"
		}
		return "", ""
	}},
	{agesDrawnKey, []string{agesDrawnKey, lagKindKey, filterKey, scaleKey, baselineKey}, func(s *Settings, _ int) (got, want string) {
		if e := &s.Estimator; s.Lag.Kind == option.Random && s.Lag.Ages.Drawn == option.AgePerGroup && (e.Filter == option.Drop || e.Advantage.Scale.OfStep() || e.Advantage.Baseline == option.RunningMean) {
			return s.Lag.Ages.Drawn.String(), option.AgePerStep.String() + " where all groups of a step together decide the force (" + filterKey + " drop, " + scaleKey + " batch-std, pooled-std or batch-mean, " + baselineKey + " running-mean)"
		}
		return "", ""
	}},
	{BurnInKey, []string{BurnInKey, StepsKey}, func(s *Settings, _ int) (got, want string) {
		if s.Run.BurnIn >= s.Run.Steps {
			return Format(s.Run.BurnIn), fmt.Sprintf("less than run.steps (%d)", s.Run.Steps)
		}
		return "", ""
	}},
	{warmupKey, []string{warmupKey, ScheduleTotalKey, scheduleKey, StepsKey}, func(s *Settings, _ int) (got, want string) {
		schedule := s.Optimizer.Schedule
		if schedule.Kind != option.ConstantRate && schedule.Warmup >= schedule.Total {
			return Format(schedule.Warmup), fmt.Sprintf("less than %s (%d) of a %s schedule", ScheduleTotalKey, schedule.Total, schedule.Kind)
		}
		return "", ""
	}},
	{TrueMeansKey, []string{TrueMeansKey, ArmsKey}, func(s *Settings, groups int) (got, want string) {
		return onePerArm(s.Bandit.TrueMeans, s, groups)
	}},
	{InitKey, []string{InitKey, ArmsKey}, func(s *Settings, groups int) (got, want string) {
		return onePerArm(s.Policy.Init, s, groups)
	}},
	{referenceKey, []string{referenceKey, ArmsKey}, func(s *Settings, groups int) (got, want string) {
		return onePerArm(s.Policy.Reference, s, groups)
	}},
}

// onePerArm is the rule that a list has one entry per arm. A list with one entry per
// item of bandit.arms has been expanded before.
func onePerArm(v any, s *Settings, groups int) (got, want string) {
	n, isList := listLength(v)
	arms := len(s.Bandit.Arms)
	if !isList || n == arms {
		return "", ""
	}
	want = fmt.Sprintf("%d, one per arm", arms)
	if groups != arms {
		want += fmt.Sprintf(", or %d, one per item of %s", groups, ArmsKey)
	}
	return countWords(n, "number"), want
}

// validate expands the sweep, applies the rules between keys to every cell, and checks
// each check's requirements on the cells that it selects.
func (l *loader) validate() {
	grids := l.spec.Grids()
	if l.cells > maxCells {
		return
	}
	if l.cells*len(l.spec.Checks) > maxJudged {
		l.problem(l.checks[0].fields[""], "checks", "got %d checks of %d cells, want a product of at most %d", len(l.spec.Checks), l.cells, maxJudged)
		return
	}
	states := make([]checkState, len(l.spec.Checks))
	shared, idle := newSharing(), l.newIdleKeys(grids)
	for _, g := range grids {
		arms := keyIndex(ArmsKey)
		for choice, p := range g.points {
			groups, _ := g.value(arms, choice).([]ArmGroup)
			for _, rule := range cellRules {
				if slices.ContainsFunc(rule.keys, func(key string) bool { return l.bad[key] }) {
					continue
				}
				if got, want := rule.broken(&p.Settings, len(groups)); got != "" {
					l.cellProblem(l.placeIn(g, choice, rule.key), rule.key, got, want)
				}
			}
			idle.cell(&p.Settings)
			if l.bad[ArmsKey] {
				continue
			}
			var selected []int
			for i := range states {
				if !l.checks[i].broken && l.spec.Checks[i].Selects(&p) {
					states[i].add(l, &l.spec.Checks[i], &l.checks[i], &p)
					selected = append(selected, i)
				}
			}
			shared.cell(l, g, choice, &p, selected)
		}
	}
	for i := range states {
		if !l.checks[i].broken && !l.bad[ArmsKey] {
			states[i].finish(l, &l.spec.Checks[i], &l.checks[i])
		}
	}
	shared.finish(l)
	l.spec.Notes = idle.notes(l, grids)
}

// replaces reports whether an axis of a grid, or its variant, gives the key a value.
func (l *loader) replaces(g Grid, key string) bool {
	set := g.variant >= 0 && slices.ContainsFunc(l.spec.Variants[g.variant].Set, func(a Assignment) bool { return a.Param == key })
	return set || varies(g.Axes, key)
}

// checkState collects facts about the cells that a check selects.
type checkState struct {
	selected int                        // number of selected cells
	values   map[string]map[string]bool // by OverID: the values of Check.Over that are judged
	order    []string                   // the keys of values in the order of the cells
	changed  bool                       // whether the control changes some cell, or has been reported
}

// add applies the claim's requirements to a selected cell.
func (c *checkState) add(l *loader, check *Check, at *checkPlaces, p *Point) {
	c.selected++
	for _, rule := range needRules {
		if !check.Claim.Has(rule.need) || slices.ContainsFunc(rule.keys, func(key string) bool { return l.bad[key] }) {
			continue
		}
		if got, want := rule.broken(&p.Settings); got != "" {
			l.cellProblem(at.fields["claim"], at.path+".claim", "a cell "+got, want+" for "+check.Claim.Name)
		}
	}
	if got, want := promptClaim(check.Claim, &p.Settings); got != "" && !l.bad[promptsKey] {
		l.cellProblem(at.fields["claim"], at.path+".claim", got, want)
	}
	if check.Locate != nil && slices.ContainsFunc(p.Axes, func(a Assignment) bool { return a.Param == check.Locate.Param }) {
		l.cellProblem(at.locate, at.path+".locate.param", check.Locate.Param+", which the sweep varies", "a key that no axis varies (a located cell ignores its own value)")
	}
	if search := check.Locate; search != nil && search.Param == LagIntervalKey && p.Settings.Lag.Kind == option.Delay && sampled(&p.Settings) {
		l.cellProblem(at.locate, at.path+".locate.param", "a delay at finite "+GroupSizeKey, "a block (with sampled groups, a delay above 1 cannot be fitted)")
	}
	if search := check.Locate; search != nil && search.Param == LagIntervalKey && p.Settings.Lag.Kind == option.Random {
		l.cellProblem(at.locate, at.path+".locate.param", "random ages, which have no interval", "a block or a delay")
	}
	if key, got, want := beyondClip(check, &p.Settings); got != "" && !l.bad[modeKey] && !l.bad[clipLowKey] && !l.bad[clipHighKey] {
		l.cellProblem(at.fields[key], at.path+"."+key, got, want)
	}
	if check.Claim.Has(NeedsThreeValues) && !l.bad[check.Over] {
		c.addValue(check, p)
	}
	if check.Control != nil && len(check.Control.Set) > 0 {
		c.addControl(l, check, at, p)
	}
}

// needRule is the requirement of a Need on every cell that a check selects. Function
// broken returns what a cell has and what it should have, or "" where the rule holds.
type needRule struct {
	need   Need
	keys   []string // all keys that the rule reads; it is not applied where one of them is bad
	broken func(s *Settings) (got, want string)
}

// fewestInstants is the number of successive values of a deviation that determine the
// two coefficients of its recurrence.
const fewestInstants = 4

// fewestBlocks is the number of blocks in a run whose second half has more than two
// refreshes.
const fewestBlocks = 4

// withoutRunningMean is the requirement of pairs of groups and runs, which have no running mean
// of their own.
func withoutRunningMean(s *Settings) (got, want string) {
	if s.Estimator.Advantage.Baseline == option.RunningMean {
		return "with the baseline running-mean", "another baseline"
	}
	return "", ""
}

// needRules are the requirements of the needs on cells.
var needRules = []needRule{
	{NeedsBurnIn, []string{BurnInKey}, func(s *Settings) (got, want string) {
		if s.Run.BurnIn == 0 {
			return "with run.burn_in 0", "run.burn_in > 0"
		}
		return "", ""
	}},
	{NeedsDistance, []string{InitKey}, func(s *Settings) (got, want string) {
		if s.Policy.Init.Kind == AtFixedPoint && s.Policy.Init.Offset == 0 {
			return "that starts at its fixed point", "a start away from the fixed point"
		}
		return "", ""
	}},
	{NeedsExpected, []string{GroupSizeKey}, func(s *Settings) (got, want string) {
		if sampled(s) {
			return "with " + GroupSizeKey + " " + Format(s.Estimator.GroupSize), "inf"
		}
		return "", ""
	}},
	{NeedsTwoArms, []string{ArmsKey}, func(s *Settings) (got, want string) {
		if n := len(s.Bandit.Arms); n != 2 {
			return "with " + countWords(n, "arm"), "2 arms"
		}
		return "", ""
	}},
	{NeedsSteadyRate, []string{scheduleKey}, func(s *Settings) (got, want string) {
		return unequal(scheduleKey, s.Optimizer.Schedule.Kind, option.ConstantRate)
	}},
	{NeedsSteadyRate, []string{warmupKey}, func(s *Settings) (got, want string) {
		return unequal(warmupKey, s.Optimizer.Schedule.Warmup, 0)
	}},
	// The recurrence fitted to pairs under sampled groups has two multipliers. Where the
	// dynamics have more, the noise excites all of them.
	{NeedsMultipliers, []string{GroupSizeKey, ArmsKey}, func(s *Settings) (got, want string) {
		if n := len(s.Bandit.Arms); sampled(s) && n != 2 {
			return "with " + countWords(n, "arm") + " at finite " + GroupSizeKey, "2 arms or " + GroupSizeKey + " inf"
		}
		return "", ""
	}},
	{NeedsMultipliers, []string{GroupSizeKey, LagIntervalKey, lagKindKey, behindKey}, func(s *Settings) (got, want string) {
		switch lag := s.Lag; {
		case sampled(s) && lag.Kind == option.Random:
			return "with random ages at finite " + GroupSizeKey, "a block, a delay of at most 1 or " + GroupSizeKey + " inf"
		case sampled(s) && lag.Kind == option.Block && lag.Behind > 0:
			return "with " + behindKey + " " + Format(lag.Behind) + " at finite " + GroupSizeKey, "0, or " + GroupSizeKey + " inf"
		}
		if s.Lag.Kind == option.Delay && s.Lag.Interval > 1 && sampled(s) {
			return "with a delay of " + Format(s.Lag.Interval) + " at finite " + GroupSizeKey, "a block, a delay of at most 1 or " + GroupSizeKey + " inf"
		}
		return "", ""
	}},
	{NeedsScatter, []string{GroupSizeKey, replicasKey}, func(s *Settings) (got, want string) {
		if n := s.Run.Replicas; n < 2 && sampled(s) {
			return "with " + replicasKey + " " + Format(n) + " at finite " + GroupSizeKey, "at least 2"
		}
		return "", ""
	}},
	{NeedsKnownRule, []string{optimizerKey}, func(s *Settings) (got, want string) {
		if s.Optimizer.Kind == option.Adam {
			return "with " + optimizerKey + " adam", "heavy-ball or nesterov"
		}
		return "", ""
	}},
	{NeedsOnPolicy, []string{LagIntervalKey, lagKindKey, behindKey}, func(s *Settings) (got, want string) {
		switch lag := s.Lag; {
		case lag.Kind == option.Random:
			return "with random ages", "a block of 1 or a delay of 0"
		case grpo.OnPolicy(&lag):
		case lag.Kind == option.Block && lag.Interval == 1:
			return "with " + behindKey + " " + Format(lag.Behind), "0"
		default:
			return "with a " + lag.Kind.String() + " of " + Format(lag.Interval), "a block of 1 or a delay of 0"
		}
		return "", ""
	}},
	{NeedsOnPolicy, []string{MomentumKey}, func(s *Settings) (got, want string) {
		if mu := s.Optimizer.Momentum; mu != 0 {
			return "with " + MomentumKey + " " + Format(mu), "0"
		}
		return "", ""
	}},
	{NeedsHundredSteps, []string{StepsKey}, func(s *Settings) (got, want string) {
		if n := s.Run.Steps; n <= measure.EarlySteps {
			return "with " + StepsKey + " " + Format(n), "more than " + Format(measure.EarlySteps)
		}
		return "", ""
	}},
	{NeedsDisplacement, []string{baselineKey}, withoutRunningMean},
	{NeedsOffset, []string{baselineKey}, withoutRunningMean},
	{NeedsOffset, []string{StepsKey, BurnInKey, LagIntervalKey, lagKindKey}, func(s *Settings) (got, want string) {
		apart, noun := 1, "step"
		if s.Lag.Kind == option.Block {
			apart, noun = max(s.Lag.Interval, 1), "refresh instant"
		}
		first := (s.Run.BurnIn + apart - 1) / apart
		if n := s.Run.Steps/apart - first + 1; n < fewestInstants {
			return "with " + countWords(max(n, 0), noun) + " from run.burn_in on", "at least " + Format(fewestInstants)
		}
		return "", ""
	}},
	{NeedsRecurrence, []string{modeKey}, func(s *Settings) (got, want string) {
		return unequal(modeKey, s.Estimator.Importance.Mode, option.Ratio)
	}},
	{NeedsRecurrence, []string{gradientKey}, func(s *Settings) (got, want string) {
		return unequal(gradientKey, s.Estimator.KL.Gradient, option.ExactKL)
	}},
	{NeedsRecurrence, []string{placementKey}, func(s *Settings) (got, want string) {
		return unequal(placementKey, s.Estimator.KL.In, option.InLoss)
	}},
	{NeedsRecurrence, []string{anchorKey}, func(s *Settings) (got, want string) {
		return unequal(anchorKey, s.Estimator.KL.At, option.AtCurrent)
	}},
	{NeedsRecurrence, []string{epsilonKey}, func(s *Settings) (got, want string) {
		return unequal(epsilonKey, s.Estimator.Advantage.Epsilon, 0)
	}},
	{NeedsRecurrence, []string{lagKindKey}, func(s *Settings) (got, want string) {
		return unequal(lagKindKey, s.Lag.Kind, option.Block)
	}},
	{NeedsRecurrence, []string{behindKey}, func(s *Settings) (got, want string) {
		return unequal(behindKey, s.Lag.Behind, 0)
	}},
	{NeedsRecurrence, []string{LagIntervalKey, StepsKey}, func(s *Settings) (got, want string) {
		if s.Lag.Interval > s.Run.Steps {
			return "with run.steps " + Format(s.Run.Steps) + ", less than one block", "at least lag.interval (" + Format(s.Lag.Interval) + ")"
		}
		return "", ""
	}},
	{NeedsBlocks, []string{lagKindKey}, func(s *Settings) (got, want string) {
		return unequal(lagKindKey, s.Lag.Kind, option.Block)
	}},
	{NeedsBlocks, []string{lagKindKey, LagIntervalKey, StepsKey}, func(s *Settings) (got, want string) {
		if n := s.Run.Steps / max(s.Lag.Interval, 1); n < fewestBlocks && s.Lag.Kind == option.Block {
			return "with " + countWords(n, "block"), "at least " + Format(fewestBlocks)
		}
		return "", ""
	}},
}

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
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return math.Floor(x/unit) * unit
}

// sampled reports whether a cell draws groups.
func sampled(s *Settings) bool { return s.Estimator.GroupSize != option.Infinite }

// unequal is the rule that a key has one particular value.
func unequal[Value comparable](key string, has, must Value) (got, want string) {
	if has == must {
		return "", ""
	}
	return "with " + key + " " + Format(has), Format(must)
}

// addValue records the cell's value of Check.Over under its OverID.
func (c *checkState) addValue(check *Check, p *Point) {
	over, known := LookupKey(check.Over)
	if !known {
		return // reported where it was read
	}
	key := OverID(check.Over, p.Variant, &p.Settings)
	if c.values == nil {
		c.values = map[string]map[string]bool{}
	}
	if c.values[key] == nil {
		c.values[key] = map[string]bool{}
		c.order = append(c.order, key)
	}
	size := p.Settings.Estimator.GroupSize
	if check.Over != GroupSizeKey || size != option.Infinite && size >= check.SmallestJudged() {
		c.values[key][Format(over.get(&p.Settings))] = true
	}
}

// addControl applies the rules between keys to the cell with its planted fault.
func (c *checkState) addControl(l *loader, check *Check, at *checkPlaces, p *Point) {
	faulty := p.Settings
	for _, a := range check.Control.Set {
		k, _ := LookupKey(a.Param)
		k.set(&faulty, a.Value)
	}
	for _, rule := range cellRules {
		for _, a := range check.Control.Set {
			if !slices.Contains(rule.keys, a.Param) {
				continue
			}
			if got, want := rule.broken(&faulty, len(faulty.Bandit.Arms)); got != "" {
				l.cellProblem(at.control[a.Param], at.path+".control.set."+rule.key, got, want)
				c.changed = true
				return
			}
		}
	}
	c.changed = c.changed || string(Canonical(faulty)) != string(Canonical(p.Settings))
}

// finish records problems of the selection as a whole.
func (c *checkState) finish(l *loader, check *Check, at *checkPlaces) {
	if c.selected == 0 {
		if slices.ContainsFunc(check.Where, func(c Condition) bool { return l.bad[c.Param] }) {
			return
		}
		key := "where"
		if _, given := at.fields[key]; !given {
			key = "variant"
		}
		where, given := at.fields[key]
		path := at.path + "." + key
		if !given {
			where, path = at.fields[""], at.path
		}
		l.problem(where, path, "got a selection without cells, want at least 1 cell of the sweep")
		return
	}
	for _, key := range c.order {
		if n := len(c.values[key]); n < 3 {
			value, least := "value", "3"
			if check.Over == GroupSizeKey {
				value = "finite value"
				if from := check.SmallestJudged(); from > 0 {
					least += " that are ≥ " + strconv.Itoa(from)
				}
			}
			l.cellProblem(at.fields["over"], at.path+".over", countWords(n, value)+" of "+check.Over, "at least "+least+" for "+check.Claim.Name)
		}
	}
	if check.Control != nil && len(check.Control.Set) > 0 && !c.changed && check.Control.Scale == rom.Unit {
		l.problem(at.fields["control"], at.path+".control.set", "got values that all judged cells already have, want a value that changes a cell")
	}
}
