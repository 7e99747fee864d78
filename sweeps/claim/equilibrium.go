package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// The claims about the stationary state; their pictures show deviations.

// atRest returns the theory of the stationary state of settings, fault included.
func (m *Model) atRest(s *config.Settings) *theory.AtRest {
	return m.cache.AtRest(s, m.predictSettings(s), m.Fault.Scale)
}

// rewardMean returns the mean of J at rest; by the paper's rule J(θ*_∞), without the noise.
func (m *Model) rewardMean(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	at := m.atRest(s)
	mean := at.Mean(m.Kind)
	mean.Because = cmp.Or(mean.Because, m.missingExact(mean.Kind))
	if m.Kind == rom.PaperRule && !mean.Out() { // the fixed point does not depend on G
		if shift := m.predictSettings(s).Moments.RewardShift; shift != nil {
			mean.Leave(scope.LeftModel, *shift)
		}
		unlimited := *s
		unlimited.Estimator.GroupSize = option.Infinite
		limit := m.predictSettings(&unlimited)
		if mean.Kind = m.Kind; limit.FixedPoint == nil {
			mean.Because = scope.NotReached.Because()
			return mean
		}
		mean.Value = limit.FixedPoint.Reward
	}
	at.InRun(&mean, m.Params(c), c.Start, scope.OfMean)
	return mean
}

// fluctuation returns the time average of Var J in the run of a cell.
func (m *Model) fluctuation(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	at := m.atRest(s)
	variance := at.RunVariance(m.Kind)
	if !variance.Out() && !s.Deep() {
		// from the start, about which the square of J is measured
		way := -m.predictSettings(s).FixedPoint.Reward
		for a, p := range grpo.NewPolicy(c.Start).Probs {
			way += p * c.Settings.Bandit.Arms[a].Mean
		}
		variance.Resolution += 0x1p-52 * float64(s.Run.Steps) * way * way
	}
	at.InRun(&variance, m.Params(c), c.Start, scope.OfVariance)
	return variance
}

// zeroVariance returns the expected share of zero-variance groups at rest. Without a fixed point it
// is the mean along the path from the start.
func (m *Model) zeroVariance(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	if m.prediction(c).FixedPoint == nil && c.Start != nil {
		steps := theory.EveryStep(s.Run.Steps - 1)[s.Run.BurnIn:]
		way := rom.Paths(m.Params(c), c.Start, steps, path.ZeroVariance)[0]
		share := scope.Number{Value: stat.Mean(way.Mean, nil), Kind: way.Kind}
		share.Leave(scope.HigherOrder, stat.Mean(way.Neglected, nil))
		share.Because = cmp.Or(way.Scope.Because, m.missingExact(share.Kind))
		return share
	}
	at := m.atRest(s)
	share := at.ZeroShare()
	share.Because = cmp.Or(share.Because, m.missingExact(share.Kind))
	at.InRun(&share, m.Params(c), c.Start, scope.OfZeroShare)
	return share
}

// unrested returns what the way to rest leaves in a number of the run of a cell, and why the run is
// not at rest. Without a fixed point a share of groups is one along the path.
func (m *Model) unrested(c *plan.Cell, of func(*scope.Sizes) float64) scope.Number {
	if m.Check.Claim.Name == "degenerate-groups" && m.prediction(c).FixedPoint == nil {
		return scope.Number{}
	}
	return m.atRest(m.Settings(c)).Unrested(m.Params(c), c.Start, of)
}

// missingStiffness returns the theory's own reason for a prediction without stiffness.
func missingStiffness(p *rom.Prediction) scope.Reason {
	if p.FixedPoint == nil || p.Stiffness == (rest.ModeStiffness{}) {
		return p.Exact.Scope.Because
	}
	return scope.Reason{}
}

// stiffnessRounding is the rounding error of a stiffness in multiples of the KL
// coefficient, to which the terms that cancel in it are proportional.
const stiffnessRounding = 1e-14

// stiffnessNumbers compares the measured stiffness of the stiffest mode, its two parts, and that of
// the slowest mode with the closed forms. They are along the probed directions, on which the parts
// depend where two modes have the same stiffness.
func stiffnessNumbers(m *Model, cells []*plan.Cell) (all []scalar) {
	if cells[0].Settings.Deep() {
		return networkStiffness()
	}
	names := []string{plan.StiffnessTotal, plan.StiffnessFresh, plan.StiffnessStale}
	if len(cells[0].Settings.Bandit.Arms) > 2 {
		names = append(names, plan.StiffnessSlowest)
	}
	uninformed := func(_ *plan.Cell, f *Finding) string {
		if math.IsInf(f.Hi, 1) && m.Check.Draws >= probe.FewestInformative {
			return fmt.Sprintf(
				"fewer than %d informative draws among %d: in the others all rewards are equal, or the displacement changes no group", probe.FewestInformative, m.Check.Draws)
		}
		return ""
	}
	// one with a fault is not kept
	predict := sync.OnceValue(func() *rom.Prediction { return m.prediction(cells[0]) })
	for _, name := range names {
		all = append(all, scalar{quantity: name, estimate: name, unresolved: uninformed,
			predict: func(m *Model, c *plan.Cell) scope.Number {
				p, s, params := predict(), m.Settings(c), m.Params(c)
				of := scope.Number{Kind: p.ForceKind}
				of.Leave(scope.Rounding, stiffnessRounding*s.Estimator.KL.Coefficient)
				of.Because = cmp.Or(missingStiffness(p), m.missingExact(of.Kind),
					cell.KnownForce(params).Because)
				if !of.Out() {
					var across float64
					of.Value, across = probed(c, name, params, p.FixedPoint.Logits)
					of.Leave(scope.Probe, across)
				}
				return of
			}})
	}
	return all
}

// networkStiffness compares the largest eigenvalues of Λ and Λ_f on the weights of a network.
func networkStiffness() []scalar {
	of := func(name string, number func(*rest.ModeStiffness) float64) scalar {
		return scalar{quantity: name, estimate: name,
			unresolved: func(*plan.Cell, *Finding) string { return "" },
			predict: func(m *Model, c *plan.Cell) scope.Number {
				p := m.prediction(c)
				n := scope.Number{Kind: p.ForceKind, Because: missingStiffness(p)}
				if !n.Out() {
					n.Value = number(&p.Stiffness)
				}
				return n
			}}
	}
	return []scalar{
		of(plan.StiffnessTotal, func(s *rest.ModeStiffness) float64 { return s.Total }),
		of(plan.StiffnessFresh, func(s *rest.ModeStiffness) float64 { return s.Fresh }),
	}
}

// edge returns the stiffness at which the learning rate of a cell is critical. The whole force is
// stale or the run on-policy: else one number does not decide.
func (m *Model) edge(c *plan.Cell) (n scope.Number) {
	p, s := m.prediction(c), m.Settings(c)
	n.Kind, n.Because = rom.LeadingOrder, missingStiffness(p)
	if !n.Out() && p.Stiffness.Fresh != 0 && !grpo.OnPolicy(&s.Lag) {
		n.Because = scope.Networks.Because(
			"where training beyond the threshold ends if a part of the gradient is fresh")
		return n
	}
	// nothing drives a run below the threshold along the manifold; a planted fault does not decide
	// what is claimed
	nearest := m.cache.Predict(&c.Settings, rom.Unit).LeadingOrder.CriticalLearningRate
	if !n.Out() && nearest != nil && c.Settings.Optimizer.LearningRate < *nearest {
		n.Because = scope.Networks.Because(
			fmt.Sprintf("where a run ends whose learning rate is below the threshold of the nearest fixed point, %.3g,", *nearest))
		return n
	}
	if rate := p.LeadingOrder.CriticalLearningRate; rate != nil {
		n.Value = p.Stiffness.Total * *rate / s.Optimizer.LearningRate
	}
	return n
}

// probed returns what the cell's stiffness probe of a name measures by the theory at the given
// logits: c·(Λ v) with its covector c and direction v. across is the error of its central
// difference where the force has a kink, a jump or a bent weight.
func probed(
	c *plan.Cell, name string, params rom.Params, logits []float64,
) (slope, across float64) {
	fresh, stale := force.Stiffness(params, logits)
	for _, p := range c.Sim().Stiffness {
		if p.Name != name {
			continue
		}
		covector, direction := mat.NewVecDense(len(p.Covector), p.Covector),
			mat.NewVecDense(len(p.Direction), p.Direction)
		if p.Displaced != sim.Behind {
			slope += mat.Inner(covector, fresh, direction)
		}
		if p.Displaced != sim.Current {
			slope += mat.Inner(covector, stale, direction)
		}
		kinked := params.GroupSize != option.Infinite &&
			(params.Optimizer.MaxNorm > 0 || params.KL.In == option.InReward)
		if bent := params.Importance.Mode == option.SAPO ||
			params.Importance.Mode == option.VESPO; !kinked && !bent {
			continue
		}
		near, far := centralSlope(&p, params, logits, p.Displacement),
			centralSlope(&p, params, logits, 2*p.Displacement)
		across = math.Abs((4*near-far)/3 - slope)
	}
	return slope, across
}

// centralSlope returns −c·(E[g](θ + dv) − E[g](θ − dv))/2d of the policies that a probe displaces.
func centralSlope(
	p *probe.Stiffness, params rom.Params, logits []float64, d float64,
) (slope float64) {
	pushed := make([]float64, len(logits))
	for _, d := range [2]float64{d, -d} {
		moved := slices.Clone(logits)
		floats.AddScaled(moved, d, p.Direction)
		current, old := moved, moved
		switch p.Displaced {
		case sim.Current:
			old = logits
		case sim.Behind:
			current = logits
		}
		force.Mean(pushed, params, current, old)
		slope -= floats.Dot(p.Covector, pushed) / (2 * d)
	}
	return slope
}

// fittedRate returns the predicted relaxation rate per step of a cell, as the probe fits it.
func (m *Model) fittedRate(c *plan.Cell) scope.Number {
	s := m.Settings(c)
	p := m.relaxationRate(s)
	rate, _, because := m.fitted(c)
	p.Because = cmp.Or(p.Because, because)
	own := m.By("").relaxationRate(s)
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
	floats.Scale(in.Relaxation.Offset, start)
	force, params := 0.0, m.Params(c)
	before, g := make([]float64, len(start)), make([]float64, len(start))
	rate, dampingRatio = probe.FitRelaxation(&in, func(yield func(x, v []float64) bool) {
		for x, v := range path.Deviations(params, p.FixedPoint.Logits, start) {
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
		of := m.predictSettings(s)
		x := of.Number(m.Kind, scope.DampingRatio)
		p := scope.Number{Kind: m.Kind, Because: cmp.Or(theory.MissingFormula(of, m.Kind, x), because)}
		if x != nil {
			p.Value = *x
		}
		return p
	}
	p := m.numberOfDynamics(s, scope.DampingRatio)
	p.Because = cmp.Or(p.Because, because)
	p.Leave(scope.FasterModes, missed(ratio, m.By("").numberOfDynamics(s, scope.DampingRatio)))
	addGrowth(&p, m.By("").relaxationRate(s), c.Sim())
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
