package probe

import (
	"fmt"
	"slices"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// checked returns the cell as package sim simulates it. It panics with the mistakes of its caller.
func (c Cell) checked() sim.Cell {
	if c.Location != nil {
		c.Location.set(&c.Cell, 1) // its own value is unused
	}
	m := new(option.Mistakes)
	c.Cell.Check(m)
	c.check(m)
	m.Panic("sim")
	if len(c.Stiffness) > 0 || c.Relaxation != nil {
		c.Probes = func(complete *sim.Cell) sim.Probes { return c.begin(complete) }
	}
	return c.Cell
}

// check adds each field of the probes that is out of its range, and what they cannot measure of the
// cell. At G = ∞ the numbers of pairs are not used.
func (c *Cell) check(m *option.Mistakes) {
	c.checkPossible(m)
	arms, sampled := len(c.Bandit.Arms), !c.Deterministic()
	for i, p := range c.Stiffness {
		field := fmt.Sprintf("Stiffness[%d].", i)
		known := slices.Contains([]sim.Displaced{sim.Both, sim.Current, sim.Behind}, p.Displaced)
		m.Want(known, field+"Displaced", p.Displaced, "total, fresh or stale")
		if c.Network == nil {
			m.PerArm(field+"Point", p.Point, arms)
			m.PerArm(field+"Direction", p.Direction, arms)
			m.PerArm(field+"Covector", p.Covector, arms)
		}
		wantPositive(m, field+"Displacement", p.Displacement)
		m.Want(!sampled || c.Network != nil || p.Pairs >= 1, field+"Pairs", p.Pairs, "at least 1")
	}
	if p := c.Relaxation; p != nil {
		wantPair(m, "Relaxation.", p.Point, p.Direction, p.Offset, arms)
	}
	if c.Location != nil {
		c.Location.check(c, m)
	}
}

// checkPossible adds what the probes cannot measure of the cell.
func (c *Cell) checkPossible(m *option.Mistakes) {
	lag, estimator, sampled := &c.Lag, &c.Estimator, !c.Deterministic()
	located, pairs := c.Location != nil, c.Relaxation != nil || c.Location != nil
	none := func(possible bool, want string) {
		any := len(c.Stiffness) > 0 || pairs
		m.Want(possible || !any, "Stiffness, Relaxation or Location", "a probe", want)
	}
	none(estimator.Advantage.Baseline != option.RunningMean, "none with the baseline running-mean")
	none(c.Prompts == nil, "none, with Prompts")
	if !lag.Kind.Regular() {
		m.Want(!sampled || !pairs, "Lag.Kind", lag.Kind,
			"block or delay where pairs of replicas draw groups")
		m.Want(!located || c.Location.Param != RefreshInterval, "Location.Param", RefreshInterval,
			fmt.Sprintf("optimizer.learning_rate, because a %v lag has no interval", lag.Kind))
	}
	if c.Network == nil {
		return
	}
	m.Want(c.Relaxation == nil, "Relaxation", "a probe", "none, with Network")
	if !located {
		m.Want(len(c.Stiffness) == 0 || !sampled, "Estimator.GroupSize", estimator.GroupSize,
			"option.Infinite for the stiffness of a Network")
		return
	}
	event := c.Location.Event
	m.Want(event != Visible, "Location.Event", event, "instability or ringing, with Network")
	grown := event == Instability && estimator.Advantage.Baseline == option.LeaveOneOut
	m.Want(!sampled || grown, "Estimator.GroupSize", estimator.GroupSize,
		"option.Infinite, or the instability of groups with the baseline leave-one-out, with Network")
	m.Want(!c.followsMode() || estimator.GradientAtSnapshot(), "Estimator", *estimator,
		"no weight, no scale and the exact KL at the snapshot, where one mode of a Network is followed")
}

func (p *Location) check(c *Cell, m *option.Mistakes) {
	named := func(s Stiffness) bool { return s.Name == StiffnessTotal }
	m.Want(slices.ContainsFunc(c.Stiffness, named), "Stiffness",
		fmt.Sprintf("%d probes of other names", len(c.Stiffness)),
		"one named "+StiffnessTotal+", from which Location takes its scale")
	known, visible := p.Event == Instability || p.Event == Ringing, p.Event == Visible
	m.Want(known || visible, "Location.Event", p.Event, "instability, ringing or visible")
	m.Want(!visible || c.Deterministic(), "Estimator.GroupSize", c.Estimator.GroupSize,
		"option.Infinite, where Location.Event is visible")
	m.Want(!visible || p.Visibility > 0 && p.Visibility < 1, "Location.Visibility", p.Visibility,
		"a number in (0, 1) where Location.Event is visible")
	m.Want(p.Event != Instability || Searchable(&c.Cell, p.Param), "Location.Event", p.Event,
		"none where groups of more than two arms, or of older snapshots than one, are drawn")
	m.Want(p.Param == LearningRate || p.Param == RefreshInterval, "Location.Param", p.Param,
		"optimizer.learning_rate or lag.interval")
	wantPositive(m, "Location.From", p.From)
	m.Want(p.To >= p.From && measure.Finite(p.To), "Location.To", p.To,
		fmt.Sprintf("a finite number ≥ Location.From, %v", p.From))
	m.Want(p.Tolerance >= 0 && measure.Finite(p.Tolerance), "Location.Tolerance", p.Tolerance,
		"a finite number ≥ 0")
	if c.Network == nil {
		wantPair(m, "Location.", p.Point, p.Direction, p.Offset, len(c.Bandit.Arms))
	} else {
		wantPositive(m, "Location.Offset", p.Offset)
	}
}

// wantPair checks the start of a pair of replicas about a point.
func wantPair(
	m *option.Mistakes, field string, point, direction []float64, offset float64, arms int,
) {
	m.PerArm(field+"Point", point, arms)
	m.PerArm(field+"Direction", direction, arms)
	moved := slices.ContainsFunc(direction, func(d float64) bool { return d != 0 })
	m.Want(moved, field+"Direction", direction, "a direction other than 0")
	wantPositive(m, field+"Offset", offset)
}

func wantPositive(m *option.Mistakes, field string, got float64) {
	m.Want(got > 0 && measure.Finite(got), field, got, "a finite number > 0")
}
