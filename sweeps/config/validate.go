package config

import (
	"fmt"
	"slices"
	"strconv"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim/measure"
)

// maxJudged bounds the work of checking a file: cells times checks.
const maxJudged = 4 * maxCells

// cellRule is a rule between keys. Broken returns what one of them is and
// should be, "" where the rule holds.
type cellRule struct {
	key    string   // the one to repair
	keys   []string // all that the rule reads: it is off where one of them is a problem already
	broken func(s *Settings, groups int) (got, want string)
}

// cellRules are the rules between keys that every cell must keep.
var cellRules = []cellRule{
	{LagIntervalKey, []string{LagIntervalKey, lagKindKey}, func(s *Settings, _ int) (got, want string) {
		if s.Lag.Kind == grpo.Block && s.Lag.Interval < 1 {
			return Format(s.Lag.Interval), "an integer ≥ 1 for a block"
		}
		return "", ""
	}},
	{LagIntervalKey, []string{LagIntervalKey, lagKindKey}, func(s *Settings, _ int) (got, want string) {
		if s.Lag.Kind == grpo.Delay && s.Lag.Interval > maxDelay {
			return Format(s.Lag.Interval), fmt.Sprintf("at most %d for a delay, which remembers every step of it", maxDelay)
		}
		return "", ""
	}},
	{GroupSizeKey, []string{GroupSizeKey, modeKey, armsKey}, func(s *Settings, _ int) (got, want string) {
		normal := slices.ContainsFunc(s.Bandit.Arms, func(arm grpo.Arm) bool { return arm.Reward == grpo.Normal })
		if size := s.Estimator.GroupSize; normal && s.Estimator.Importance.Mode == grpo.Clip && size != grpo.Infinite && size > maxSamples {
			return Format(size), fmt.Sprintf("at most %d where normal rewards are clipped one by one", maxSamples)
		}
		return "", ""
	}},
	{BurnInKey, []string{BurnInKey, StepsKey}, func(s *Settings, _ int) (got, want string) {
		if s.Run.BurnIn >= s.Run.Steps {
			return Format(s.Run.BurnIn), fmt.Sprintf("fewer than run.steps, %d", s.Run.Steps)
		}
		return "", ""
	}},
	{warmupKey, []string{warmupKey, ScheduleTotalKey, scheduleKey, StepsKey}, func(s *Settings, _ int) (got, want string) {
		schedule := s.Optimizer.Schedule
		if schedule.Kind != grpo.ConstantRate && schedule.Warmup >= schedule.Total {
			return Format(schedule.Warmup), fmt.Sprintf("fewer than %s, %d, of a %s schedule", ScheduleTotalKey, schedule.Total, schedule.Kind)
		}
		return "", ""
	}},
	{TrueMeansKey, []string{TrueMeansKey, armsKey}, func(s *Settings, groups int) (got, want string) {
		return oneAnArm(s.Bandit.TrueMeans, s, groups)
	}},
	{InitKey, []string{InitKey, armsKey}, func(s *Settings, groups int) (got, want string) {
		return oneAnArm(s.Policy.Init, s, groups)
	}},
	{referenceKey, []string{referenceKey, armsKey}, func(s *Settings, groups int) (got, want string) {
		return oneAnArm(s.Policy.Reference, s, groups)
	}},
}

// oneAnArm is the rule that a list has one entry an arm; one an item of
// bandit.arms has been repeated by now.
func oneAnArm(v any, s *Settings, groups int) (got, want string) {
	n, isList := listLength(v)
	arms := len(s.Bandit.Arms)
	if !isList || n == arms {
		return "", ""
	}
	want = fmt.Sprintf("%d, one an arm", arms)
	if groups != arms {
		want += fmt.Sprintf(", or %d, one an item of %s", groups, armsKey)
	}
	return countWords(n, "number"), want
}

// validate expands the sweep and holds every cell against the rules between
// keys, and every check against the cells that it selects.
func (l *loader) validate() {
	grids := l.spec.Grids()
	l.deadOverrides(grids)
	if l.cells > maxCells {
		return
	}
	if l.cells*len(l.spec.Checks) > maxJudged {
		l.problem(l.checks[0].fields[""], "checks", "got %d checks of %d cells, want at most %d verdicts", len(l.spec.Checks), l.cells, maxJudged)
		return
	}
	states := make([]checkState, len(l.spec.Checks))
	shared := newSharing()
	for _, g := range grids {
		arms := keyIndex(armsKey)
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
			if l.bad[armsKey] {
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
		if !l.checks[i].broken && !l.bad[armsKey] {
			states[i].finish(l, &l.spec.Checks[i], &l.checks[i])
		}
	}
	shared.finish(l)
}

// deadOverrides refuses an override that every grid replaces: it would change
// nothing, silently.
func (l *loader) deadOverrides(grids []Grid) {
	for _, k := range Keys {
		if l.at[k.Path].source != override {
			continue
		}
		replaced := func(g Grid) bool {
			set := g.variant >= 0 && slices.ContainsFunc(l.spec.Variants[g.variant].Set, func(a Assignment) bool { return a.Param == k.Path })
			return set || varies(g.Axes, k.Path)
		}
		if !slices.ContainsFunc(grids, func(g Grid) bool { return !replaced(g) }) {
			l.problem(l.at[k.Path], k.Path, "got a value that every cell of the file replaces, want a key that is not swept")
		}
	}
}

// checkState gathers what a check needs to know of the cells that it selects.
type checkState struct {
	selected int
	sizes    map[string]map[int]bool // finite group sizes of the cells that differ in nothing else
	order    []string                // of the keys of sizes
	changed  bool                    // the control changes a cell, or cannot be applied to one
}

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
	if check.Locate != nil && slices.ContainsFunc(p.Axes, func(a Assignment) bool { return a.Param == check.Locate.Param }) {
		l.cellProblem(at.locate, at.path+".locate.param", check.Locate.Param+", which the sweep varies", "a key that no axis varies: a located cell does not use its own value")
	}
	if search := check.Locate; search != nil && search.Param == LagIntervalKey && p.Settings.Lag.Kind == grpo.Delay && sampled(&p.Settings) {
		l.cellProblem(at.locate, at.path+".locate.param", "a delay at finite "+GroupSizeKey, "a block: pairs under sampled groups tell delays of at most 1")
	}
	if check.Claim.Has(NeedsThreeSizes) {
		c.addSize(check, p)
	}
	if check.Control != nil && len(check.Control.Set) > 0 {
		c.addControl(l, check, at, p)
	}
}

// needRule is what a claim's need asks of every cell that a check selects.
// Broken returns what a cell has and should have, "" where the rule holds.
type needRule struct {
	need   Need
	keys   []string // all that the rule reads: it is off where one of them is a problem already
	broken func(s *Settings) (got, want string)
}

// fewestInstants is how many values of a deviation determine the two
// coefficients of its recurrence.
const fewestInstants = 4

var needRules = []needRule{
	{NeedsBurnIn, []string{BurnInKey}, func(s *Settings) (got, want string) {
		if s.Run.BurnIn == 0 {
			return "with run.burn_in 0", "run.burn_in > 0"
		}
		return "", ""
	}},
	{NeedsDistance, []string{InitKey}, func(s *Settings) (got, want string) {
		if s.Policy.Init.Kind == AtFixedPoint && s.Policy.Init.Offset == 0 {
			return "that starts at its fixed point", "a start away from it"
		}
		return "", ""
	}},
	{NeedsTwoArms, []string{armsKey}, func(s *Settings) (got, want string) {
		if n := len(s.Bandit.Arms); n != 2 {
			return "with " + countWords(n, "arm"), "2"
		}
		return "", ""
	}},
	{NeedsSteadyRate, []string{scheduleKey}, func(s *Settings) (got, want string) {
		return unless(scheduleKey, s.Optimizer.Schedule.Kind, grpo.ConstantRate)
	}},
	{NeedsSteadyRate, []string{warmupKey}, func(s *Settings) (got, want string) {
		return unless(warmupKey, s.Optimizer.Schedule.Warmup, 0)
	}},
	// What is fitted to pairs under sampled groups has two multipliers; where the
	// motion has more, the noise keeps them all alive.
	{NeedsMultipliers, []string{GroupSizeKey, armsKey}, func(s *Settings) (got, want string) {
		if n := len(s.Bandit.Arms); sampled(s) && n != 2 {
			return "with " + countWords(n, "arm") + " at finite " + GroupSizeKey, "2"
		}
		return "", ""
	}},
	{NeedsMultipliers, []string{GroupSizeKey, LagIntervalKey, lagKindKey}, func(s *Settings) (got, want string) {
		if s.Lag.Kind == grpo.Delay && s.Lag.Interval > 1 && sampled(s) {
			return "with a delay of " + Format(s.Lag.Interval) + " at finite " + GroupSizeKey, "a block, or at most 1"
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
		if s.Optimizer.Kind == grpo.Adam {
			return "with " + optimizerKey + " adam", "heavy-ball or nesterov"
		}
		return "", ""
	}},
	{NeedsOnPolicy, []string{LagIntervalKey, lagKindKey}, func(s *Settings) (got, want string) {
		if lag := s.Lag; lag.Kind == grpo.Block && lag.Interval != 1 || lag.Kind == grpo.Delay && lag.Interval != 0 {
			return "with a " + string(lag.Kind) + " of " + Format(lag.Interval), "a block of 1 or a delay of 0"
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
	{NeedsOffset, []string{StepsKey, BurnInKey, LagIntervalKey, lagKindKey}, func(s *Settings) (got, want string) {
		apart, noun := 1, "step"
		if s.Lag.Kind == grpo.Block {
			apart, noun = max(s.Lag.Interval, 1), "refresh instant"
		}
		first := (s.Run.BurnIn + apart - 1) / apart
		if n := s.Run.Steps/apart - first + 1; n < fewestInstants {
			return "with " + countWords(max(n, 0), noun) + " from run.burn_in on", "at least " + Format(fewestInstants)
		}
		return "", ""
	}},
	{NeedsRecurrence, []string{modeKey}, func(s *Settings) (got, want string) {
		return unless(modeKey, s.Estimator.Importance.Mode, grpo.Ratio)
	}},
	{NeedsRecurrence, []string{gradientKey}, func(s *Settings) (got, want string) {
		return unless(gradientKey, s.Estimator.KL.Gradient, grpo.ExactKL)
	}},
	{NeedsRecurrence, []string{anchorKey}, func(s *Settings) (got, want string) {
		return unless(anchorKey, s.Estimator.KL.At, grpo.AtCurrent)
	}},
	{NeedsRecurrence, []string{epsilonKey}, func(s *Settings) (got, want string) {
		return unless(epsilonKey, s.Estimator.Advantage.Epsilon, 0)
	}},
	{NeedsRecurrence, []string{lagKindKey}, func(s *Settings) (got, want string) {
		return unless(lagKindKey, s.Lag.Kind, grpo.Block)
	}},
	{NeedsRecurrence, []string{LagIntervalKey, StepsKey}, func(s *Settings) (got, want string) {
		if s.Lag.Interval > s.Run.Steps {
			return "with no whole block: run.steps " + Format(s.Run.Steps), "at least lag.interval, " + Format(s.Lag.Interval) + ","
		}
		return "", ""
	}},
}

// sampled says whether a cell draws groups.
func sampled(s *Settings) bool { return s.Estimator.GroupSize != grpo.Infinite }

// unless is the rule that a key has one value.
func unless[Value comparable](key string, has, must Value) (got, want string) {
	if has == must {
		return "", ""
	}
	return "with " + key + " " + Format(has), Format(must)
}

// addSize sorts the cell's group size under everything else that it sets.
func (c *checkState) addSize(check *Check, p *Point) {
	size, key := p.Settings.Estimator.GroupSize, SizeID(p.Variant, &p.Settings)
	if c.sizes == nil {
		c.sizes = map[string]map[int]bool{}
	}
	if c.sizes[key] == nil {
		c.sizes[key] = map[int]bool{}
		c.order = append(c.order, key)
	}
	if size != grpo.Infinite && size >= check.SmallestJudged() {
		c.sizes[key][size] = true
	}
}

// addControl holds the cell with its planted fault against the rules between
// keys.
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

func (c *checkState) finish(l *loader, check *Check, at *checkPlaces) {
	if c.selected == 0 {
		key := "where"
		if _, given := at.fields[key]; !given {
			key = "variant"
		}
		where, given := at.fields[key]
		path := at.path + "." + key
		if !given {
			where, path = at.fields[""], at.path
		}
		l.problem(where, path, "got no cell of the sweep, want at least 1")
		return
	}
	for _, key := range c.order {
		if n := len(c.sizes[key]); n < 3 {
			least := "3"
			if from := check.SmallestJudged(); from > 0 {
				least += " from " + strconv.Itoa(from) + " on"
			}
			l.cellProblem(at.fields["over"], at.path+".over", countWords(n, "finite value")+" of "+check.Over, "at least "+least+" for a slope")
		}
	}
	if check.Control != nil && len(check.Control.Set) > 0 && !c.changed && check.Control.Scale == rom.Unit {
		l.problem(at.fields["control"], at.path+".control.set", "got the settings of every cell it judges, want a fault")
	}
}
