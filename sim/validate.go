package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grposim/grpo"
)

// maxGroupSize is the largest finite group size that package draw can draw.
const maxGroupSize = 1 << 31

// mustBeValid panics if a cell cannot be simulated, with the name of the field, its
// value and the values it may have.
func mustBeValid(cells []Cell) {
	for i := range cells {
		if problem := cells[i].problem(); problem != "" {
			panic(fmt.Sprintf("sim: Cell.%s (cells[%d], ID %q)", problem, i, cells[i].ID))
		}
	}
}

// problem describes the first field that is invalid, "" if none is: as all functions
// below, in the form "Field: got x, want y".
func (c *Cell) problem() string {
	return cmp.Or(
		banditProblem(&c.Bandit),
		c.estimatorProblem(),
		c.lagProblem(),
		c.optimizerProblem(),
		numbers("Init", c.Init, c.arms(), c.Init == nil),
		numbers("Reference", c.Reference, c.arms(), c.Reference == nil),
		c.runProblem(),
		c.probeProblem(),
	)
}

func (c *Cell) arms() int { return len(c.Bandit.Arms) }

func banditProblem(b *grpo.Bandit) string {
	if n := len(b.Arms); n < 2 {
		return unwanted("Bandit.Arms", fmt.Sprintf("%d arms", n), "at least 2")
	}
	for a, arm := range b.Arms {
		field := fmt.Sprintf("Bandit.Arms[%d].", a)
		mean, std := number(field+"Mean", arm.Mean, true, "a finite number"), ""
		switch arm.Reward {
		case grpo.Bernoulli:
			mean = number(field+"Mean", arm.Mean, arm.Mean >= 0 && arm.Mean <= 1, "a number in [0, 1]")
		case grpo.Normal:
			std = nonNegative(field+"Std", arm.Std)
		}
		if problem := cmp.Or(word(field+"Reward", arm.Reward, grpo.Laws...), mean, std); problem != "" {
			return problem
		}
	}
	return numbers("Bandit.TrueMeans", b.TrueMeans, len(b.Arms), b.TrueMeans == nil)
}

func (c *Cell) estimatorProblem() string {
	e := &c.Estimator
	size, clip := "", ""
	if n := e.GroupSize; n < 2 || n > maxGroupSize && n != grpo.Infinite {
		size = unwanted("Estimator.GroupSize", n, fmt.Sprintf("an integer in [2, %d], or grpo.Infinite", maxGroupSize))
	}
	if i := &e.Importance; i.Mode == grpo.Clip {
		clip = cmp.Or(
			number("Estimator.Importance.ClipLow", i.ClipLow, i.ClipLow > 0 && i.ClipLow < 1, "a number in (0, 1)"),
			positive("Estimator.Importance.ClipHigh", i.ClipHigh),
		)
	}
	return cmp.Or(
		size,
		atLeast("Estimator.GroupsPerStep", e.GroupsPerStep, 1),
		word("Estimator.Advantage.Baseline", e.Advantage.Baseline, grpo.Baselines...),
		word("Estimator.Advantage.Scale", e.Advantage.Scale, grpo.Scales...),
		word("Estimator.Advantage.Std", e.Advantage.Std, grpo.Deviations...),
		nonNegative("Estimator.Advantage.Epsilon", e.Advantage.Epsilon),
		word("Estimator.Importance.Mode", e.Importance.Mode, grpo.ImportanceModes...),
		clip,
		nonNegative("Estimator.KL.Coefficient", e.KL.Coefficient),
		word("Estimator.KL.Gradient", e.KL.Gradient, grpo.KLGradients...),
		word("Estimator.KL.At", e.KL.At, grpo.KLPoints...),
	)
}

// varies reports whether the cell has a location probe that varies the parameter, so
// that the cell's own value of it is unused.
func (c *Cell) varies(param LocationParam) bool {
	return c.Location != nil && c.Location.Param == param
}

func (c *Cell) lagProblem() string {
	least := 0
	if c.Lag.Kind == grpo.Block && !c.varies(RefreshInterval) {
		least = 1
	}
	return cmp.Or(word("Lag.Kind", c.Lag.Kind, grpo.LagKinds...), atLeast("Lag.Interval", c.Lag.Interval, least))
}

func (c *Cell) optimizerProblem() string {
	o := &c.Optimizer
	const belowOne = "a number in [0, 1)"
	rate, rule, total := "", "", ""
	if !c.varies(LearningRate) {
		rate = positive("Optimizer.LearningRate", o.LearningRate)
	}
	if o.Kind == grpo.Adam {
		rule = cmp.Or(
			number("Optimizer.Beta1", o.Beta1, o.Beta1 >= 0 && o.Beta1 < 1, belowOne),
			number("Optimizer.Beta2", o.Beta2, o.Beta2 >= 0 && o.Beta2 < 1, belowOne),
			nonNegative("Optimizer.Epsilon", o.Epsilon),
		)
	} else {
		rule = number("Optimizer.Momentum", o.Momentum, o.Momentum >= 0 && o.Momentum < 1, belowOne)
	}
	if o.Schedule.Kind != grpo.ConstantRate {
		total = atLeast("Optimizer.Schedule.Total", o.Schedule.Total, o.Schedule.Warmup+1)
	}
	return cmp.Or(
		word("Optimizer.Kind", o.Kind, grpo.Methods...),
		rate,
		rule,
		word("Optimizer.Schedule.Kind", o.Schedule.Kind, grpo.ScheduleKinds...),
		atLeast("Optimizer.Schedule.Warmup", o.Schedule.Warmup, 0),
		total,
	)
}

func (c *Cell) runProblem() string {
	burnIn, replicas := "", ""
	if n := c.Run.BurnIn; n < 0 || n >= c.Run.Steps {
		burnIn = unwanted("Run.BurnIn", n, fmt.Sprintf("an integer in [0, Run.Steps), Run.Steps being %d", c.Run.Steps))
	}
	if !c.Deterministic() {
		replicas = atLeast("Run.Replicas", c.Run.Replicas, 1)
	}
	return cmp.Or(atLeast("Run.Steps", c.Run.Steps, 1), burnIn, replicas, atLeast("Traces", c.Traces, 0))
}

func (c *Cell) probeProblem() string {
	for i, p := range c.Stiffness {
		field, pairs := fmt.Sprintf("Stiffness[%d].", i), ""
		if !c.Deterministic() {
			pairs = atLeast(field+"Pairs", p.Pairs, 1)
		}
		if problem := cmp.Or(
			word(field+"Displaced", p.Displaced, Both, Current, Behind),
			numbers(field+"Point", p.Point, c.arms(), false),
			numbers(field+"Direction", p.Direction, c.arms(), false),
			numbers(field+"Covector", p.Covector, c.arms(), false),
			positive(field+"Displacement", p.Displacement),
			pairs,
		); problem != "" {
			return problem
		}
	}
	for i, fit := range c.Fits {
		if problem := word(fmt.Sprintf("Fits[%d]", i), fit, SaturationFit, EarlySlopeFit); problem != "" {
			return problem
		}
	}
	relaxation, location := "", ""
	if p := c.Relaxation; p != nil {
		relaxation = c.pairProblem("Relaxation.", p.Point, p.Direction, p.Offset)
	}
	if p := c.Location; p != nil {
		scale := ""
		if !slices.ContainsFunc(c.Stiffness, func(s StiffnessProbe) bool { return s.Name == StiffnessTotal }) {
			scale = unwanted("Stiffness", fmt.Sprintf("%d probes of other names", len(c.Stiffness)), fmt.Sprintf("one named %s, from which Location takes its scale", StiffnessTotal))
		}
		location = cmp.Or(
			scale,
			word("Location.Event", p.Event, Instability, Ringing),
			word("Location.Param", p.Param, LearningRate, RefreshInterval),
			positive("Location.From", p.From),
			number("Location.To", p.To, p.To >= p.From, fmt.Sprintf("a number ≥ Location.From, %v", p.From)),
			nonNegative("Location.Tolerance", p.Tolerance),
			c.pairProblem("Location.", p.Point, p.Direction, p.Offset),
		)
	}
	return cmp.Or(relaxation, location)
}

// pairProblem checks the start of a pair of replicas.
func (c *Cell) pairProblem(field string, point, direction []float64, offset float64) string {
	zero := ""
	if !slices.ContainsFunc(direction, func(d float64) bool { return d != 0 }) {
		zero = unwanted(field+"Direction", direction, "a direction other than 0")
	}
	return cmp.Or(
		numbers(field+"Point", point, c.arms(), false),
		numbers(field+"Direction", direction, c.arms(), false),
		zero,
		positive(field+"Offset", offset),
	)
}

func unwanted(field string, got any, want string) string {
	return fmt.Sprintf("%s: got %v, want %s", field, got, want)
}

// word checks that a value is one of the given words.
func word[W ~string](field string, got W, words ...W) string {
	if slices.Contains(words, got) {
		return ""
	}
	var list strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			list.WriteString(" or ")
		default:
			list.WriteString(", ")
		}
		list.WriteString(string(w))
	}
	return unwanted(field, fmt.Sprintf("%q", got), list.String())
}

func atLeast(field string, got, least int) string {
	if got >= least {
		return ""
	}
	return unwanted(field, got, fmt.Sprintf("an integer ≥ %d", least))
}

// number checks that a value is finite and satisfies a condition that want describes.
func number(field string, got float64, satisfied bool, want string) string {
	if satisfied && finite([]float64{got}) {
		return ""
	}
	return unwanted(field, got, want)
}

func positive(field string, got float64) string {
	return number(field, got, got > 0, "a finite number > 0")
}

func nonNegative(field string, got float64) string {
	return number(field, got, got >= 0, "a finite number ≥ 0")
}

// numbers checks that a list has one finite number an arm, or may be left out.
func numbers(field string, got []float64, arms int, leftOut bool) string {
	switch {
	case leftOut:
		return ""
	case len(got) != arms:
		return unwanted(field, fmt.Sprintf("%d numbers", len(got)), fmt.Sprintf("%d, one an arm", arms))
	}
	for a, x := range got {
		if problem := number(fmt.Sprintf("%s[%d]", field, a), x, true, "a finite number"); problem != "" {
			return problem
		}
	}
	return ""
}
