package fixed

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Refreshed returns the centred logits, one per arm, to which a block without end
// converges from the snapshot with logits old, if the motion inside the block is
// stable. It is the maximum of the frozen objective, which for Ratio, ExactKL and
// AtCurrent is, for any number of arms (docs/theory-neglected.md §6),
//
//	π ∝ π_ref e^{tm},   t = φ_G(π_old)/β;   0/1 arms, G = ∞: t = 1/(β(√(p(1−p)) + ε)).
//
// At G = ∞, where the rewards of old have no variance, it is the reference. The scope is out, and
// the logits nil, for other estimators, for β = 0, and where the mean force is not φ_G
// π_a(m_a − J): at finite G with scale for rewards of more than two values.
func Refreshed(p cell.Params, old []float64) ([]float64, scope.Scope) {
	p = p.Checked()
	cell.CheckLogits("old", old, len(p.Arms))
	m := force.New(&p)
	if because := noRecurrence(m); because.Out() {
		return nil, because.Scope()
	}
	m.Set(old, old)
	phi, _, _ := m.Law.Factor()
	logits := newCurve(m).logits(phi / m.Pull())
	mean := 0.0
	for _, l := range logits {
		mean += l / float64(len(logits))
	}
	floats.AddConst(-mean, logits)
	if !linear.IsFinite(logits...) {
		return nil, scope.BeyondRange.Because().Scope()
	}
	return logits, scope.Scope{In: true}
}

// RefreshSteps returns how many steps at the full learning rate a block takes from the snapshot
// with logits old, of two arms, to come within a distance in logits of the gap z′ of Refreshed,
// which is in scope. Inside the block a step at the gap z multiplies z′ − z by 1 − κ, κ = 2ηβp(1−p)
// with α added to β, so that they are
//
//	∫ d ln|z′ − z| / −ln|1 − κ|
//
// or, with momentum, in the flow ∫ d ln|z′ − z| (1−μ)/κ. Where p tends to 1 that is beyond any run.
// It is 0 where z starts within the distance and for Adam, whose steps do not shrink with the
// force, and +Inf where a step overshoots by as much as it was away or more.
func RefreshSteps(p cell.Params, old []float64, within float64) (steps float64) {
	const points = 400
	p = p.Checked()
	cell.Want(len(p.Arms) == 2, "Params.Arms", len(p.Arms), "two")
	cell.Want(within > 0, "within", within, "above 0")
	end, refreshed := Refreshed(p, old)
	cell.Want(refreshed.In, "Refreshed", refreshed.Because, "in scope")
	next := end[0] - end[1]
	way := next - (old[0] - old[1])
	away, o := math.Abs(way), &p.Optimizer
	if away <= within || o.Kind == option.Adam {
		return 0
	}
	rate := func(z float64) float64 { // of ln|z′ − z|, per step
		kappa := 2 * o.LearningRate * p.Factors.Stiffness * p.Pull() / (2 + 2*fp.Cosh(z))
		switch {
		case kappa >= 2*(1+o.Momentum):
			return 0
		case o.Momentum > 0:
			return kappa / (1 - o.Momentum)
		}
		return -math.Log(math.Abs(1 - kappa))
	}
	last := 0.0
	for i := range points + 1 { // the trapezoidal rule in ln|z′ − z|
		now := 1 / rate(next-way*fp.Pow(within/away, float64(i)/points))
		if i > 0 {
			steps += (last + now) / 2 * math.Log(away/within) / points
		}
		last = now
	}
	return steps
}

// noRecurrence returns the reason why Refreshed is out of scope, none where it is in.
func noRecurrence(m *force.Model) scope.Reason {
	because := m.NotDerived(cell.BlockRecurrence)
	if !because.Out() && !m.Factored() {
		because = scope.Recurrence.Because(
			"the mean force of these rewards has no common factor for all arms")
	}
	return because
}
