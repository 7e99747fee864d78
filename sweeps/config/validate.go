package config

import (
	"fmt"
	"slices"
	"strconv"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
)

// maxJudged is the largest product of cells and checks; it bounds the time of Load.
const maxJudged = 4 * maxCells

// validate expands the sweep, applies the rules between keys to every cell, and checks
// each check's requirements on the cells that it selects.
func (l *loader) validate() {
	grids := l.spec.Grids()
	if l.cells > maxCells {
		return
	}
	if l.cells*len(l.spec.Checks) > maxJudged {
		l.problem(l.at["checks[0]"], "checks", "got %d checks of %d cells, want a product of at most %d", len(l.spec.Checks), l.cells, maxJudged)
		return
	}
	shared, idle := newSharing(l), l.newIdleKeys(grids)
	states := make([]*checkState, len(l.spec.Checks))
	for i := range states {
		if !l.broken[i] && !l.bad[ArmsKey] {
			states[i] = &checkState{loader: l, Check: &l.spec.Checks[i], path: pathOf(i)}
		}
	}
	for _, g := range grids {
		arms := keyIndex(ArmsKey)
		for choice, p := range g.points {
			groups, _ := g.value(arms, choice).([]ArmGroup)
			for _, b := range breaches(&p.Settings, len(groups), l.applies) {
				l.cellProblem(l.placeIn(g, choice, b.key), b.key, b.got, b.want)
			}
			idle.cell(&p.Settings)
			var selected []int
			for i, state := range states {
				if state != nil && state.Selects(p) {
					state.add(p)
					selected = append(selected, i)
				}
			}
			if !l.bad[ArmsKey] {
				shared.cell(g, choice, p, selected)
			}
		}
	}
	for _, state := range states {
		if state != nil {
			state.finish()
		}
	}
	shared.finish()
	l.spec.Notes = idle.notes(l, grids)
}

// applies reports whether a rule is applied: none of the keys that it reads is bad.
func (l *loader) applies(r *rule) bool {
	return len(l.bad) == 0 || !l.bad[r.key] && !slices.ContainsFunc(r.reads, func(key string) bool { return l.bad[key] })
}

// replaces reports whether an axis of a grid, or its variant, gives the key a value.
func (l *loader) replaces(g Grid, key string) bool {
	set := g.variant >= 0 && slices.ContainsFunc(l.spec.Variants[g.variant].Set, func(a Assignment) bool { return a.Param == key })
	return set || varies(g.Axes, key)
}

// checkState collects facts about the cells that a check selects, and records their problems.
type checkState struct {
	*loader
	*Check
	path     string                     // checks[i]
	selected int                        // number of selected cells
	values   map[string]map[string]bool // by OverID: the values of Check.Over that are judged
	order    []string                   // the keys of values in the order of the cells
	changed  bool                       // whether the control changes some cell, or has been reported
}

// add applies the claim's requirements to a selected cell.
func (c *checkState) add(p *Point) {
	c.selected++
	s, claim := &p.Settings, c.path+".claim"
	for i := range needRules {
		if r := &needRules[i]; c.Claim.Has(r.need) && c.applies(&r.rule) && r.broken(s) {
			got, want := r.message(s)
			c.rejectCell(claim, "a cell "+got, want+" for "+c.Claim.Name)
		}
	}
	if s.Prompts.Count > 1 && !slices.Contains(claimsOfPrompts, c.Claim) && !c.bad[promptsKey] {
		c.rejectCell(claim, fmt.Sprintf("a cell with %s %d", promptsKey, s.Prompts.Count), "1 for "+c.Claim.Name)
	}
	if s.Deep() && !slices.Contains(claimsOfNetworks, c.Claim) && !c.bad[networkKey] {
		c.rejectCell(claim, "a cell with "+networkKey+" "+s.Network.Kind, "none for "+c.Claim.Name)
	}
	if s.Deep() && c.Claim == TimeToLevel && c.Level == nil && !c.bad[networkKey] {
		c.rejectCell(c.path+".level", "nothing for a network", "a number: of a network the way to 95 % has no default")
	}
	if s.Deep() && !c.bad[networkKey] {
		c.addNetwork(s)
	}
	if n := len(s.Bandit.Arms); n != 2 && c.Quantity == sim.LogitGap {
		c.rejectCell(c.path+".quantity", "logit_gap in a cell with "+CountWords(n, "arm"), "2 arms, or another quantity")
	}
	if _, ofStratum := c.Quantity.Stratum(); ofStratum && !records(s, sim.Strata) && !c.bad[recordKey] {
		c.rejectCell(c.path+".quantity", string(c.Quantity)+" in a cell that does not record it", "strata in "+recordKey+", or another quantity")
	}
	if c.Locate != nil {
		c.addLocation(p)
	}
	if key, got, want := beyondClip(c.Check, s); got != "" && !c.bad[modeKey] && !c.bad[clipLowKey] && !c.bad[clipHighKey] {
		c.rejectCell(c.path+"."+key, got, want)
	}
	if c.Claim.Has(NeedsThreeValues) && !c.bad[c.Over] {
		c.addValue(p)
	}
	if c.Control != nil && len(c.Control.Set) > 0 {
		c.addControl(p)
	}
}

// addNetwork checks that what the claim measures of a network can be measured in the cell: an onset, and a threshold under sampled
// groups, of modes that do not mix.
func (c *checkState) addNetwork(s *Settings) {
	claim := c.path + ".claim"
	follows := c.Claim == OscillationOnset || c.Claim == StabilityThreshold && sampled(s)
	switch {
	case c.Claim == OscillationOnset && sampled(s), c.Claim == Stiffness && sampled(s):
		c.rejectCell(claim, "a network at finite "+GroupSizeKey, GroupSizeKey+" inf for "+c.Claim.Name)
	case follows && !s.Estimator.GradientAtSnapshot():
		c.rejectCell(claim, "a network with modes that mix", modeKey+" none, "+scaleKey+" none and the exact KL at the snapshot for "+c.Claim.Name)
	case follows && sampled(s) && s.Estimator.Advantage.Baseline != option.LeaveOneOut:
		c.rejectCell(claim, "a network with the baseline "+s.Estimator.Advantage.Baseline.String()+" at finite "+GroupSizeKey, "leave-one-out for "+c.Claim.Name)
	}
}

// addLocation checks that the cell's parameter can be located.
func (c *checkState) addLocation(p *Point) {
	param, path := c.Locate.Param, c.path+".locate.param"
	if slices.ContainsFunc(p.Axes, func(a Assignment) bool { return a.Param == param }) {
		c.rejectCell(path, param+", which the sweep varies", "a key that no axis varies (a located cell ignores its own value)")
	}
	switch lag := p.Settings.Lag.Kind; {
	case param != LagIntervalKey:
	case lag == option.Delay && sampled(&p.Settings) && c.Claim.Has(NeedsMultipliers):
		c.rejectCell(path, "a delay at finite "+GroupSizeKey, "a block (with sampled groups, a delay above 1 cannot be fitted)")
	case lag == option.Random:
		c.rejectCell(path, "random ages, which have no interval", "a block or a delay")
	}
}

// addValue records the cell's value of Check.Over under its OverID.
func (c *checkState) addValue(p *Point) {
	over, known := LookupKey(c.Over)
	if !known {
		return // reported where it was read
	}
	id := OverID(c.Over, p.Variant, &p.Settings)
	if c.values == nil {
		c.values = map[string]map[string]bool{}
	}
	if c.values[id] == nil {
		c.values[id] = map[string]bool{}
		c.order = append(c.order, id)
	}
	size := p.Settings.Estimator.GroupSize
	if c.Over != GroupSizeKey || size != option.Infinite && size >= c.SmallestJudged() {
		c.values[id][Format(over.get(&p.Settings))] = true
	}
}

// addControl applies the rules between keys to the cell with its planted fault.
func (c *checkState) addControl(p *Point) {
	faulty := p.Settings
	for _, a := range c.Control.Set {
		k, _ := LookupKey(a.Param)
		k.set(&faulty, a.Value)
	}
	broken := breaches(&faulty, len(faulty.Bandit.Arms), c.applies)
	if len(broken) > 0 && len(breaches(&p.Settings, len(p.Settings.Bandit.Arms), c.applies)) == 0 { // else the cell is reported
		b, set := broken[0], c.path+".control.set."
		blamed := max(slices.IndexFunc(c.Control.Set, func(a Assignment) bool { return a.Param == b.key || b.rule.uses(a.Param) }), 0)
		c.cellProblem(c.near(set+c.Control.Set[blamed].Param), set+b.key, b.got, b.want)
		c.changed = true
		return
	}
	c.changed = c.changed || string(Canonical(faulty)) != string(Canonical(p.Settings))
}

// finish records problems of the selection as a whole.
func (c *checkState) finish() {
	if c.selected == 0 {
		if slices.ContainsFunc(c.Where, func(where Condition) bool { return c.bad[where.Param] }) {
			return
		}
		path := c.path
		for _, key := range []string{".variant", ".where"} {
			if _, given := c.at[c.path+key]; given {
				path = c.path + key
			}
		}
		c.reject(path, "got a selection without cells, want at least 1 cell of the sweep")
		return
	}
	for _, id := range c.order {
		if n := len(c.values[id]); n < 3 {
			value, least := "value", "3"
			if c.Over == GroupSizeKey {
				value = "finite value"
				if from := c.SmallestJudged(); from > 0 {
					least += " that are ≥ " + strconv.Itoa(from)
				}
			}
			c.rejectCell(c.path+".over", CountWords(n, value)+" of "+c.Over, "at least "+least+" for "+c.Claim.Name)
		}
	}
	if c.Control != nil && len(c.Control.Set) > 0 && !c.changed && c.Control.Scale == rom.Unit {
		c.problem(c.near(c.path+".control"), c.path+".control.set", "got values that all judged cells already have, want a value that changes a cell")
	}
}
