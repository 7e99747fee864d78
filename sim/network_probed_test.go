package sim_test

import (
	"math"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
)

func simulate(t *testing.T, cells []probe.Cell, workers int) []sim.Result {
	t.Helper()
	results := make([]sim.Result, len(cells))
	done := func(i int, r sim.Result) error { results[i] = r; return nil }
	if err := probe.Simulate(t.Context(), cells, workers, done); err != nil {
		t.Fatal(err)
	}
	return results
}

// A table's stiffness is that of its stiffest context. Its fixed point loses stability, and its
// stiffest mode oscillates, where that context does; so it is under sampled groups.
func TestProbesOfTable(t *testing.T) {
	base := sim.BaseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	base.Estimator.Advantage.Baseline = option.LeaveOneOut
	cell, alone := sim.DeepCell(base, []float64{1, 2})
	deep, settle := probe.Cell{Cell: cell}, probe.Cell{Cell: alone[1]}
	// π* without scale and with the exact KL: log π_ref + m/β
	point := []float64{settle.Reference[0] + 0.9/0.5, settle.Reference[1] + 0.2/0.5}
	direction := []float64{0.5, -0.5}
	for x, one := range alone {
		for a, arm := range base.Bandit.Arms {
			deep.Network.Weights[2*x+a] = (one.Reference[a] + arm.Mean/0.5) / []float64{1, 2}[x]
		}
	}
	deep.Stiffness = []probe.Stiffness{{Name: probe.StiffnessTotal, Displaced: sim.Both,
		Displacement: 1e-5}}
	settle.Stiffness = []probe.Stiffness{{
		Name: probe.StiffnessTotal, Displaced: sim.Both, Point: point, Direction: direction,
		Covector: []float64{1, -1}, Displacement: 1e-3, Pairs: 1,
	}}
	for _, x := range []struct {
		event probe.Event
		size  int
		near  float64
	}{{probe.Ringing, option.Infinite, 3e-3}, {probe.Instability, option.Infinite, 3e-3},
		{probe.Instability, 16, 0.05}} {
		of, context := deep, settle
		at := probe.Location{Event: x.event, Param: probe.LearningRate, From: 0.01, To: 8,
			Tolerance: 1e-3, Offset: 1e-5}
		one := at
		one.Point, one.Direction = point, direction
		of.Location, context.Location = &at, &one
		if x.size != option.Infinite {
			of.Estimator.GroupSize, of.Estimator.GroupsPerStep = x.size, 256
			of.Run = sim.Run{Replicas: 64, Steps: 96}
			at.From, at.Tolerance, at.Offset = 0.5, 0.02, 0.05
		}
		results := simulate(t, []probe.Cell{of, context}, 2)
		for name, share := range map[string]float64{probe.LocatedLow: 0.5, probe.LocatedHigh: 0.5,
			probe.StiffnessTotal: 2} {
			got, want := estimate(t, results[0], name).Mean, share*estimate(t, results[1], name).Mean
			if math.Abs(got/want-1) > x.near {
				t.Errorf("%s, G = %d: %s %v, want %v", x.event, x.size, name, got, want)
			}
		}
	}
}

// A stiffness is known within its error where the next is near, if the power iteration ends.
func TestNearStiffnesses(t *testing.T) {
	base := sim.BaseOfNetworks()
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	stiffness := []probe.Stiffness{{Name: probe.StiffnessTotal, Displaced: sim.Both, Displacement: 1e-5}}
	of := func(next float64) measure.Estimate {
		scales := []float64{2, 0.1, 0.1, next} // the first and the last context have the same reference
		deep, alone := sim.DeepCell(base, scales)
		for x, one := range alone {
			for a, arm := range base.Bandit.Arms { // π* without scale and with the exact KL: log π_ref + m/β
				deep.Network.Weights[3*x+a] = (one.Reference[a] + arm.Mean/0.5) / scales[x]
			}
		}
		r := simulate(t, []probe.Cell{{Cell: deep, Stiffness: stiffness}}, 1)[0]
		return estimate(t, r, probe.StiffnessTotal)
	}
	alone := of(0.1)
	for _, next := range []float64{1.8, 1.98, 1.99} { // ratios of stiffnesses of 0.81, 0.98 and 0.99
		near := of(next)
		off := math.Abs(near.Mean - alone.Mean)
		if off > near.Systematic+alone.Systematic || near.DF != measure.Exactly {
			t.Errorf("next to a scale of %v: off by %v, %+v and %+v", next, off, near, alone)
		}
	}
	if near := of(1.9995); near.DF != 0 {
		t.Errorf("off by %v at the last iteration, error %v", near.Mean-alone.Mean, near.Systematic)
	}
}

func estimate(t *testing.T, r sim.Result, name string) measure.Estimate {
	t.Helper()
	i := slices.IndexFunc(r.Estimates, func(e measure.Named) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no estimate %s", name)
	}
	return r.Estimates[i].Estimate
}

// The recorded stiffness is the largest of all contexts, even if another has a larger modulus.
func TestRecordedStiffness(t *testing.T) {
	base := sim.BaseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate = 1e-9
	base.Run, base.Edge = sim.Run{Steps: 4, Record: []sim.Quantity{sim.Stiffest}}, true
	base.Estimator.KL = option.KL{Coefficient: 0.05, At: option.AtSnapshot}
	scales := []float64{1, 2}
	deep, alone := sim.DeepCell(base, scales)
	var each []float64
	for x, gap := range []float64{1.4, -1.4} { // where the force falls and grows
		copy(deep.Network.Weights[2*x:], []float64{gap / 2 / scales[x], -gap / 2 / scales[x]})
		one := probe.Cell{Cell: alone[x]}
		one.Run.Record, one.Edge = nil, false
		one.Stiffness = []probe.Stiffness{{Name: probe.StiffnessTotal, Displaced: sim.Both,
			Point: []float64{gap / 2, -gap / 2}, Direction: []float64{0.5, -0.5},
			Covector: []float64{1, -1}, Displacement: 1e-4, Pairs: 1}}
		each = append(each, scales[x]*scales[x]/2*estimate(t, simulate(t, []probe.Cell{one}, 1)[0],
			probe.StiffnessTotal).Mean)
	}
	if each[0] < 0 || each[1] > -each[0] {
		t.Fatalf("stiffnesses %v, want the second negative and of the larger modulus", each)
	}
	r := simulate(t, []probe.Cell{{Cell: deep}}, 1)[0]
	row := slices.Index(r.Quantities, sim.Stiffest)
	for i, step := range r.Steps {
		if got := r.Trajectory[i][row].Mean; math.Abs(got/each[0]-1) > 1e-5 {
			t.Errorf("step %d: stiffness %v, want %v", step, got, each[0])
		}
	}
	if end := estimate(t, r, sim.StiffnessAtEnd).Mean; math.Abs(end/each[1]-1) > 1e-5 {
		t.Errorf("the stiffness of the largest modulus at the end is %v, want %v", end, each[1])
	}
}
