package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/scope"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// fittedRate returns the predicted relaxation rate per step of a cell, as the probe fits it.
func (m *Model) fittedRate(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	p := m.relaxationRate(&s)
	rate, _, because := m.fitted(c)
	p.Because = cmp.Or(p.Because, because)
	own := m.By("").relaxationRate(&s)
	p.Leave(scope.FasterModes, missed(rate, own))
	addGrowth(&p, own, c.Sim())
	return p
}

// addGrowth adds to what a prediction neglects its share x², x the largest fitted deviation that
// grows at the theory's rate. The force is odd in x to first order.
func addGrowth(to *scope.Number, own scope.Number, in probe.Cell) {
	if own.Out() || own.Value >= 0 || in.Relaxation == nil {
		return
	}
	grown := func(steps int) float64 {
		return in.Relaxation.Offset * fp.MathExp(-own.Value*float64(steps))
	}
	x := min(probe.FittedGrowth*grown(in.Run.BurnIn), grown(in.Run.Steps))
	to.Leave(scope.HigherOrder, to.Value*x*x, fmt.Sprintf("the deviation grows to %.2g", x))
}

// fitted returns what the probe of a cell estimates from the linear dynamics of the theory, NaN for
// Adam. It differs from the theory's numbers where modes that the fit does not have outlive the
// burn-in. because says why the fit gives none: the largest norm may clip the fitted force v_{t+1}
// − μ v_t, or noise decides (rarelyDiffer).
func (m *Model) fitted(c *plan.Cell) (rate, dampingRatio float64, because scope.Reason) {
	p := m.prediction(c)
	in := c.Sim()
	if p.FixedPoint == nil || in.Relaxation == nil || c.Settings.Optimizer.Kind == option.Adam {
		return math.NaN(), math.NaN(), scope.Reason{}
	}
	start := slices.Clone(in.Relaxation.Direction)
	for a := range start {
		start[a] *= in.Relaxation.Offset
	}
	force, params := 0.0, m.Params(c)
	before, g := make([]float64, len(start)), make([]float64, len(start))
	rate, dampingRatio = probe.FitRelaxation(&in, func(yield func(x, v []float64) bool) {
		for x, v := range rom.Deviations(params, p.FixedPoint.Logits, start) {
			force = max(force, floats.Norm(floats.AddScaledTo(g, v, -params.Optimizer.Momentum, before), 2))
			copy(before, v)
			if !yield(x, v) {
				return
			}
		}
	})
	return rate, dampingRatio, cmp.Or(cell.Unclipped(params, force).Because,
		rarelyDiffer(&in, p, rate))
}

// rarelyDiffer says that noise decides the deviation of a pair, where it does. While the groups of
// both sides are equal, a deviation x changes by the fresh stiffness alone; where they differ it
// jumps. In a step
//
//	G B ½Σ_a |Δπ_a|,  Δπ_a = 2x π_a(e_a − Σ_b π_b e_b),
//
// samples are expected to differ. With less than one in the time 1/|rate| the mean is that of few
// jumps, and far pairs weigh most in a fit. Without stale stiffness jumps have no mean effect.
func rarelyDiffer(c *probe.Cell, p *rom.Prediction, rate float64) scope.Reason {
	if c.Deterministic() || p.Stiffness.Stale == 0 {
		return scope.Reason{}
	}
	probs, e, differ := p.FixedPoint.Policy, c.Relaxation.Direction, 0.0
	mean := floats.Dot(probs, e)
	for a, p := range probs {
		differ += math.Abs(c.Relaxation.Offset * p * (e[a] - mean))
	}
	differ *= float64(c.Estimator.GroupSize) * float64(c.Estimator.GroupsPerStep)
	if n := differ / math.Abs(rate); n < 1 {
		return scope.Undecided.Because(
			fmt.Sprintf("the two sides of a pair differ %.2g times in a relaxation time; in scope with an offset above %.2g", n, c.Relaxation.Offset/n))
	}
	return scope.Reason{}
}

// missed returns by how much the fit to the linear dynamics of the theory differs from their own
// number; 0 where there is none.
func missed(fitted float64, own scope.Number) float64 {
	if math.IsNaN(fitted) || own.Out() {
		return 0
	}
	return math.Abs(fitted - own.Value)
}

// relaxationRate returns the predicted relaxation rate per step, negative where a deviation grows.
func (m *Model) relaxationRate(s *config.Settings) scope.Number {
	return m.numberOfDynamics(s, scope.RelaxationRate)
}

// dampingRatio returns the damping ratio ζ of the two dominant multipliers of a cell, as the
// probe fits it.
func (m *Model) dampingRatio(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	_, ratio, because := m.fitted(c)
	if m.Kind.IsRule() {
		of := m.predictSettings(&s)
		x := of.Number(m.Kind, scope.DampingRatio)
		p := scope.Number{Kind: m.Kind, Because: cmp.Or(theory.MissingFormula(of, m.Kind, x), because)}
		if x != nil {
			p.Value = *x
		}
		return p
	}
	p := m.numberOfDynamics(&s, scope.DampingRatio)
	p.Because = cmp.Or(p.Because, because)
	p.Leave(scope.FasterModes, missed(ratio, m.By("").numberOfDynamics(&s, scope.DampingRatio)))
	addGrowth(&p, m.By("").relaxationRate(&s), c.Sim())
	return p
}

// unfitted returns the function that says why a fit gave no number, the given reason, or no
// error; see scalar.unresolved.
func unfitted(because string) func(*plan.Cell, *Finding) string {
	return func(c *plan.Cell, f *Finding) string {
		switch {
		case math.IsNaN(f.Measured):
			return "not resolved: the fit finds " + because
		case math.IsInf(f.Hi, 1) && c.Settings.Run.Replicas > 1:
			return fmt.Sprintf(
				"fewer than %d steps in which the two sides of a pair draw different groups, so that the error is not known", probe.FewestInformative)
		}
		return ""
	}
}

// numberOfDynamics returns the relaxation rate or the damping ratio of the linear dynamics
// at the fixed point, which may be unstable, and what it neglects.
func (m *Model) numberOfDynamics(s *config.Settings, number scope.Quantity) scope.Number {
	of := m.predictSettings(s)
	p := m.dynamics(s, of)
	switch x := of.Number(p.Kind, number); {
	case p.Out():
	case x == nil:
		p.Because = scope.NoNumber.Because(fmt.Sprint(p.Kind, " ", "number"))
	case number == scope.DampingRatio:
		p = of.Neglected.Number(*x, p.Kind, scope.OfDamping)
	default:
		p = of.Neglected.Number(*x, p.Kind, scope.OfRelaxation)
	}
	return p
}

// dynamics returns the kind and scope of the linear dynamics that is judged, of the full map
// or to leading order, without a value.
func (m *Model) dynamics(s *config.Settings, p *rom.Prediction) scope.Number {
	kind := theory.StationaryKind(s, p)
	number := scope.Number{Kind: cmp.Or(m.Kind, kind)}
	number.Because = cmp.Or(theory.MissingFixedPoint(p), m.missingExact(kind))
	if d := p.Dynamics(number.Kind); !number.Out() && !d.Scope.In {
		number.Because = d.Scope.Because
	}
	return number
}

// paperAge returns the age of the snapshot in the paper's formulas, in steps: K_ref, and
// 0 on-policy.
func paperAge(s *config.Settings) float64 {
	if grpo.OnPolicy(&s.Lag) {
		return 0
	}
	return grpo.LagAge(&s.Lag)
}
