package sim

import (
	"math"
	"slices"
	"testing"

	"grposim/network"
	"grposim/option"
	"grposim/sim/measure"
)

// table is the network whose logits are its weights, times a scale in each context.
type table struct {
	arms   int
	scales []float64
}

func (n table) Weights() int  { return len(n.scales) * n.arms }
func (n table) Contexts() int { return len(n.scales) }
func (n table) Arms() int     { return n.arms }
func (n table) Logits(w, logits []float64) {
	for i, x := range w {
		logits[i] = n.scales[i/n.arms] * x
	}
}
func (n table) Pull(u, gradient []float64) { n.Logits(u, gradient) }
func (n table) Push(d, change []float64)   { n.Logits(d, change) }

// deepCell returns a cell with the table, of contexts with equal arms, and the cells of its
// contexts. A step of C contexts has for each the learning rate times scale²/C.
func deepCell(base Cell, scales []float64) (deep Cell, alone []Cell) {
	arms := len(base.Bandit.Arms)
	n := &Network{New: func() network.Network { return table{arms, scales} }}
	for x, scale := range scales {
		one := base
		one.Reference = make([]float64, arms)
		one.Reference[x%arms] = 0.5
		one.Init = slices.Clone(one.Reference)
		one.Optimizer.LearningRate *= scale * scale / float64(len(scales))
		n.Means, n.Reference = append(n.Means, means(&base.Bandit)), append(n.Reference, one.Reference)
		for _, logit := range one.Init {
			n.Weights = append(n.Weights, logit/scale)
		}
		alone = append(alone, one)
	}
	base.Network = n
	return base, alone
}

func baseOfNetworks() Cell {
	return Cell{
		ID: "deep", Seed: 1, Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.4}}},
		Estimator: option.Estimator{GroupSize: option.Infinite, Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 0.5, Gradient: option.K3}},
		Lag:       option.Lag{Interval: 3}, Optimizer: option.Optimizer{LearningRate: 0.3, Momentum: 0.5},
		Run: Run{Steps: 60},
	}
}

// The mean field of a table of logits is that of its contexts alone, for blocks and delays, with
// and without weights. Adam, which divides by the gradient of each weight, is another.
func TestTableIsItsContexts(t *testing.T) {
	for _, change := range []func(c *Cell){
		func(c *Cell) {},
		func(c *Cell) { c.Lag = option.Lag{Kind: option.Delay, Interval: 2} },
		func(c *Cell) { c.Estimator.Importance.Mode = option.Ratio },
		func(c *Cell) { c.Optimizer.Kind = option.Nesterov },
		func(c *Cell) { c.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot} },
	} {
		base := baseOfNetworks()
		change(&base)
		deep, alone := deepCell(base, []float64{1, 0.5, 2})
		results := simulate(t, append([]Cell{deep}, alone...), 1)
		for i := range results[0].Steps {
			for q, quantity := range results[0].Quantities {
				want := 0.0
				for x := range alone {
					want += results[1+x].Trajectory[i][q].Mean / float64(len(alone))
				}
				if quantity == ImportanceRatioMax || quantity == GradientNorm {
					continue
				}
				if got := results[0].Trajectory[i][q].Mean; math.Abs(got-want) > 1e-12 {
					t.Errorf("step %d: %s %v, want %v", results[0].Steps[i], quantity, got, want)
				}
			}
		}
	}
}

// Sampled groups of a single context are those of the cell alone, from the same words.
func TestSampledTable(t *testing.T) {
	base := baseOfNetworks()
	base.Estimator.GroupSize, base.Estimator.GroupsPerStep, base.Run.Replicas, base.Run.BurnIn = 8, 2, 2, 10
	deep, alone := deepCell(base, []float64{1})
	results := simulate(t, []Cell{deep, alone[0]}, 1)
	for n, e := range results[0].Estimates {
		if want := results[1].Estimates[n]; e.Name != want.Name || math.Abs(e.Mean-want.Mean) > 1e-12 {
			t.Errorf("%s %v, want %s %v", e.Name, e.Mean, want.Name, want.Mean)
		}
	}
}

// A table's stiffness is that of its stiffest context. Its fixed point loses stability, and its
// stiffest mode oscillates, where that context does; so it is under sampled groups.
func TestProbesOfTable(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Estimator.KL, base.Estimator.Advantage.Baseline = option.KL{Coefficient: 0.5, At: option.AtSnapshot}, option.LeaveOneOut
	deep, alone := deepCell(base, []float64{1, 2})
	settle := alone[1] // π* without scale and with the exact KL: log π_ref + m/β
	point, direction := []float64{settle.Reference[0] + 0.9/0.5, settle.Reference[1] + 0.2/0.5}, []float64{0.5, -0.5}
	for x, one := range alone {
		for a, arm := range base.Bandit.Arms {
			deep.Network.Weights[2*x+a] = (one.Reference[a] + arm.Mean/0.5) / []float64{1, 2}[x]
		}
	}
	deep.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Displacement: 1e-5}}
	settle.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Point: point, Direction: direction, Covector: []float64{1, -1}, Displacement: 1e-3, Pairs: 1}}
	for _, x := range []struct {
		event Event
		size  int
		near  float64
	}{{Ringing, option.Infinite, 3e-3}, {Instability, option.Infinite, 3e-3}, {Instability, 16, 0.05}} {
		of, context := deep, settle
		at := LocationProbe{Event: x.event, Param: LearningRate, From: 0.01, To: 8, Tolerance: 1e-3, Offset: 1e-5}
		one := at
		one.Point, one.Direction = point, direction
		of.Location, context.Location = &at, &one
		if x.size != option.Infinite {
			of.Estimator.GroupSize, of.Estimator.GroupsPerStep, of.Run = x.size, 256, Run{Replicas: 64, Steps: 96}
			at.From, at.Tolerance, at.Offset = 0.5, 0.02, 0.05
		}
		results := simulate(t, []Cell{of, context}, 2)
		for name, share := range map[string]float64{LocatedLow: 0.5, LocatedHigh: 0.5, StiffnessTotal: 2} {
			if got, want := estimateOf(t, results[0], name), share*estimateOf(t, results[1], name); math.Abs(got/want-1) > x.near {
				t.Errorf("%s, G = %d: %s %v, want %v", x.event, x.size, name, got, want)
			}
		}
	}
}

// A stiffness is known within its error where the next is near, if the power iteration ends.
func TestNearStiffnesses(t *testing.T) {
	base := baseOfNetworks()
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	base.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Displacement: 1e-5}}
	of := func(next float64) measure.Estimate {
		scales := []float64{2, 0.1, 0.1, next} // the first and the last context have the same reference
		deep, alone := deepCell(base, scales)
		for x, one := range alone {
			for a, arm := range base.Bandit.Arms { // π* without scale and with the exact KL: log π_ref + m/β
				deep.Network.Weights[3*x+a] = (one.Reference[a] + arm.Mean/0.5) / scales[x]
			}
		}
		e, _ := estimate(simulate(t, []Cell{deep}, 1)[0], StiffnessTotal)
		return e
	}
	alone := of(0.1)
	for _, next := range []float64{1.8, 1.98, 1.99} { // ratios of stiffnesses of 0.81, 0.98 and 0.99
		near := of(next)
		if off := math.Abs(near.Mean - alone.Mean); off > near.Systematic+alone.Systematic || near.DF != measure.Exactly {
			t.Errorf("next to a scale of %v: off by %v, with errors %v and %v", next, off, near.Systematic, alone.Systematic)
		}
	}
	if near := of(1.9995); near.DF != 0 {
		t.Errorf("off by %v at the last iteration, with the error %v", near.Mean-alone.Mean, near.Systematic)
	}
}

func estimateOf(t *testing.T, r Result, name string) float64 {
	t.Helper()
	e, found := estimate(r, name)
	if !found {
		t.Fatalf("no estimate %s", name)
	}
	return e.Mean
}

// The recorded stiffness is the largest of all contexts, even if another has a larger modulus.
func TestRecordedStiffness(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate, base.Run, base.Edge = 1e-9, Run{Steps: 4, Record: []Quantity{Stiffest}}, true
	base.Estimator.KL = option.KL{Coefficient: 0.05, At: option.AtSnapshot}
	scales := []float64{1, 2}
	deep, alone := deepCell(base, scales)
	var each []float64
	for x, gap := range []float64{1.4, -1.4} { // where the force falls and grows
		copy(deep.Network.Weights[2*x:], []float64{gap / 2 / scales[x], -gap / 2 / scales[x]})
		one := alone[x]
		one.Run.Record, one.Edge = nil, false
		one.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Point: []float64{gap / 2, -gap / 2}, Direction: []float64{0.5, -0.5}, Covector: []float64{1, -1}, Displacement: 1e-4, Pairs: 1}}
		each = append(each, scales[x]*scales[x]/2*estimateOf(t, simulate(t, []Cell{one}, 1)[0], StiffnessTotal))
	}
	if each[0] < 0 || each[1] > -each[0] {
		t.Fatalf("stiffnesses %v of the contexts: want the second to have the larger modulus, and to be negative", each)
	}
	r := simulate(t, []Cell{deep}, 1)[0]
	row := slices.Index(r.Quantities, Stiffest)
	for i, step := range r.Steps {
		if got := r.Trajectory[i][row].Mean; math.Abs(got/each[0]-1) > 1e-5 {
			t.Errorf("step %d: stiffness %v, want %v", step, got, each[0])
		}
	}
	if end := estimateOf(t, r, StiffnessAtEnd); math.Abs(end/each[1]-1) > 1e-5 {
		t.Errorf("the stiffness of the largest modulus at the end is %v, want %v", end, each[1])
	}
}

// The stiffness recorded at a step equals that of a second run, which ends at this step. Along
// the run the mode of one context overtakes that of another.
func TestRecordedStiffnessAlongARun(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate, base.Lag.Interval, base.Edge = 1, 1, true // step 9: overtaken
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	deep, _ := deepCell(base, []float64{1, 1.05})
	deep.Network.Weights = []float64{0, 0, 1, -1}
	deep.Run = Run{Steps: 12, Record: []Quantity{Stiffest}}
	r := simulate(t, []Cell{deep}, 1)[0]
	for i, step := range r.Steps[1:] {
		short := deep
		short.Run = Run{Steps: step}
		got, want := r.Trajectory[i+1][slices.Index(r.Quantities, Stiffest)].Mean, estimateOf(t, simulate(t, []Cell{short}, 1)[0], StiffnessAtEnd)
		if !(math.Abs(got/want-1) <= 1e-6) {
			t.Errorf("step %d: stiffness %v, want %v", step, got, want)
		}
	}
}
