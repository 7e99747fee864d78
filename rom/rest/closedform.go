package rest

import (
	"math"

	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/paper"
	"grposim/rom/scope"
)

// ClosedForm returns the reduced-order model's J(t), t ≥ 0 in steps, from rest
// at init (docs/theory.md §4):
//
//	J(t) = J* + (J_0 − J*) x(t + ½),  x the free motion of m x″ + γ x′ + k x = 0.
//
// The ½ is there because the discrete start x_{−1} = x_0 is at rest half a step before t = 0. In
// scope are two arms, or a start displaced from the fixed point along one mode (every other mode's
// share below 1e-6 of it), for a constant learning rate and any optimizer except Adam. Out of scope
// j is nil and scope says why.
func ClosedForm(p cell.Params, init []float64) (j func(t float64) float64, within scope.Scope) {
	p = p.Checked()
	cell.Must(p.Optimizer.Check)
	cell.Must(p.Lag.Check)
	cell.CheckLogits("init", init, len(p.Arms))
	if because := p.NotDerived(cell.OscillatorOfPath); because.Out() {
		return nil, because.Scope()
	}
	point, ok := Reached(p)
	if !ok {
		return nil, scope.NotReached.Because().Scope()
	}
	all := Modes(linearised(force.New(&p), point.Logits))
	shares := make([]float64, len(all))
	chosen := 0
	for k, m := range all {
		for a, c := range m.Covector {
			shares[k] += c * (init[a] - point.Logits[a])
		}
		if math.Abs(shares[k]) > math.Abs(shares[chosen]) {
			chosen = k
		}
	}
	largest, rest := math.Abs(shares[chosen]), 0.0
	for k, m := range all {
		if !alike(m, all[chosen]) {
			rest = max(rest, math.Abs(shares[k]))
		}
	}
	if rest > 1e-6*largest {
		return nil, scope.NoNumber.Because("the start lies along more than one mode").Scope()
	}
	m := all[chosen]
	s := linear.Mode{Fresh: m.Fresh, Stale: m.Stale, Update: linear.Update{
		Method: p.Optimizer.Kind, Rate: p.Optimizer.LearningRate, Momentum: p.Optimizer.Momentum,
		Lag: linear.NewLag(&p.Lag),
	}}
	o := paper.OscillatorOf(&s, p.Factors)
	if o.Mass <= 0 {
		return nil, scope.NoNumber.Because("the reduced-order model has no positive mass").Scope()
	}
	start := cell.Expected(p.Arms, cell.PolicyAt(init))
	return func(t float64) float64 {
		return point.Reward + (start-point.Reward)*o.Response(t+0.5)
	}, scope.Scope{In: true}
}

// alike reports whether two modes have the same fresh and stale stiffness, as
// modes of equal arms do. They then move in the same way.
func alike(a, b Mode) bool {
	small := 1e-9 * math.Abs(b.Total)
	return math.Abs(a.Total-b.Total) <= small && math.Abs(a.Fresh-b.Fresh) <= small
}
