package sim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
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

// deepCell returns a cell with the table, of contexts with equal arms and other references, and the cells of its contexts alone.
// A step of C contexts moves the logits of each as one of its own with the learning rate times scale²/C.
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

func simulated(t *testing.T, cells ...Cell) []Result {
	t.Helper()
	results := make([]Result, len(cells))
	if err := Simulate(context.Background(), cells, 1, func(i int, r Result) error { results[i] = r; return nil }); err != nil {
		t.Fatal(err)
	}
	return results
}

func baseOfNetworks() Cell {
	return Cell{
		ID: "deep", Seed: 1, Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.4}}},
		Estimator: option.Estimator{GroupSize: option.Infinite, Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 0.5, Gradient: option.K3}},
		Lag:       option.Lag{Interval: 3}, Optimizer: option.Optimizer{LearningRate: 0.3, Momentum: 0.5},
		Run: Run{Steps: 60},
	}
}

// The mean field of a table of logits is that of its contexts alone, for blocks and delays, with and without weights, under
// every optimizer but Adam, which divides by the gradient of each weight.
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
		results := simulated(t, append([]Cell{deep}, alone...)...)
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

// Sampled groups of a single context are those of the cell alone: they are drawn from the same words.
func TestSampledTable(t *testing.T) {
	base := baseOfNetworks()
	base.Estimator.GroupSize, base.Estimator.GroupsPerStep, base.Run.Replicas, base.Run.BurnIn = 8, 2, 2, 10
	deep, alone := deepCell(base, []float64{1})
	results := simulated(t, deep, alone[0])
	for n, e := range results[0].Estimates {
		if want := results[1].Estimates[n]; e.Name != want.Name || math.Abs(e.Mean-want.Mean) > 1e-12 {
			t.Errorf("%s %v, want %s %v", e.Name, e.Mean, want.Name, want.Mean)
		}
	}
}

// A table's fixed point loses stability where that of its stiffest context does, and its stiffness is that one's, which two
// ways of measuring bandits find.
func TestProbesOfTable(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Run.Steps, base.Optimizer.Momentum = 400, 0
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	deep, alone := deepCell(base, []float64{1, 2})
	settle := alone[1] // π* without scale and with the exact KL: log π_ref + m/β
	point := []float64{settle.Reference[0] + 0.9/0.5, settle.Reference[1] + 0.2/0.5}
	for x, one := range alone {
		for a, arm := range base.Bandit.Arms {
			deep.Network.Weights[2*x+a] = (one.Reference[a] + arm.Mean/0.5) / []float64{1, 2}[x]
		}
	}
	deep.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Displacement: 1e-5}}
	deep.Location = &LocationProbe{Event: Instability, Param: LearningRate, From: 0.3, To: 8, Tolerance: 1e-3, Offset: 1e-6}
	settle.Optimizer.LearningRate = 1
	settle.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Point: point, Direction: []float64{0.5, -0.5}, Covector: []float64{1, -1}, Displacement: 1e-3, Pairs: 1}}
	settle.Location = &LocationProbe{Event: Instability, Param: LearningRate, From: 0.3, To: 8, Tolerance: 1e-3, Offset: 1e-5, Point: point, Direction: []float64{0.5, -0.5}}
	results := simulated(t, deep, settle)
	share := 2. * 2 / 2 // scale²/C
	if got, want := estimateOf(t, results[0], StiffnessTotal), share*estimateOf(t, results[1], StiffnessTotal); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("stiffness %v, want %v", got, want)
	}
	for _, name := range []string{LocatedLow, LocatedHigh} {
		if got, want := estimateOf(t, results[0], name), estimateOf(t, results[1], name)/share; math.Abs(got/want-1) > 2e-3 {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
}

// A stiffness is known within its error where the next one is near, and its error is not known where the power iteration does not end.
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
		for _, e := range simulated(t, deep)[0].Estimates {
			if e.Name == StiffnessTotal {
				return e.Estimate
			}
		}
		t.Fatal("no stiffness")
		return measure.Estimate{}
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

// Each field of a network that is out of its range is named with what it has.
func TestNetworkMistakes(t *testing.T) {
	for want, change := range map[string]func(c *Cell){
		"Network.New":                        func(c *Cell) { c.Network.New = nil },
		"Network.Means[1]: got [0.9 1.5 0]":  func(c *Cell) { c.Network.Means[1] = []float64{0.9, 1.5, 0} },
		"Optimizer.MaxNorm: got 2":           func(c *Cell) { c.Optimizer.MaxNorm = 2 },
		"ReferenceUpdate.Interval: got 3":    func(c *Cell) { c.ReferenceUpdate.Interval = 3 },
		"Location.Event: got visible, want ": func(c *Cell) { c.Location = &LocationProbe{Event: Visible} },
	} {
		deep, _ := deepCell(baseOfNetworks(), []float64{1, 2})
		change(&deep)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}()
			deep.checked()
		}()
	}
}

func estimateOf(t *testing.T, r Result, name string) float64 {
	t.Helper()
	for _, e := range r.Estimates {
		if e.Name == name {
			return e.Mean
		}
	}
	t.Fatalf("no estimate %s", name)
	return 0
}

// The stiffest mode of a table oscillates where that of its stiffest context does, and under sampled groups its fixed point loses stability where
// that context does in the mean field.
func TestStiffestModeOfTable(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Estimator.KL, base.Estimator.Advantage.Baseline = option.KL{Coefficient: 0.5, At: option.AtSnapshot}, option.LeaveOneOut
	deep, alone := deepCell(base, []float64{1, 2})
	settle := alone[1]
	point := []float64{settle.Reference[0] + 0.9/0.5, settle.Reference[1] + 0.2/0.5}
	for x, one := range alone {
		for a, arm := range base.Bandit.Arms {
			deep.Network.Weights[2*x+a] = (one.Reference[a] + arm.Mean/0.5) / []float64{1, 2}[x]
		}
	}
	deep.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Displacement: 1e-5}}
	settle.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Point: point, Direction: []float64{0.5, -0.5}, Covector: []float64{1, -1}, Displacement: 1e-3, Pairs: 1}}
	for _, event := range []Event{Ringing, Instability} {
		at := LocationProbe{Event: event, Param: LearningRate, From: 0.01, To: 8, Tolerance: 1e-3, Offset: 1e-5}
		sampled, ofContext := deep, settle
		sampled.Location = &at
		one := at
		one.Point, one.Direction = point, []float64{0.5, -0.5}
		ofContext.Location = &one
		near := 3e-3
		if event == Instability {
			sampled.Estimator.GroupSize, sampled.Estimator.GroupsPerStep, sampled.Run.Replicas, sampled.Run.Steps = 16, 256, 64, 96
			at.From, at.Tolerance, at.Offset, near = 0.5, 0.02, 0.05, 0.05
		}
		results := simulated(t, sampled, ofContext)
		for _, name := range []string{LocatedLow, LocatedHigh} {
			if got, want := estimateOf(t, results[0], name), estimateOf(t, results[1], name)/2; math.Abs(got/want-1) > near { // scale²/C = 2
				t.Errorf("%s: %s %v, want %v", event, name, got, want)
			}
		}
	}
}

// The recorded stiffness is the largest of those of the contexts of a table, also where one that grows has a larger modulus, and at the last step what StiffnessAtEnd is.
func TestRecordedStiffness(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate, base.Run, base.Edge = 1e-9, Run{Steps: 4, Record: []Quantity{Stiffest}}, true // the weights stay
	base.Estimator.KL = option.KL{Coefficient: 0.05, At: option.AtSnapshot}
	scales := []float64{1, 2}
	deep, alone := deepCell(base, scales)
	var each []float64
	for x, gap := range []float64{1.4, -1.4} { // beyond and before the middle, where the force falls and grows
		copy(deep.Network.Weights[2*x:], []float64{gap / 2 / scales[x], -gap / 2 / scales[x]})
		one := alone[x]
		one.Run.Record, one.Edge = nil, false
		one.Stiffness = []StiffnessProbe{{Name: StiffnessTotal, Displaced: Both, Point: []float64{gap / 2, -gap / 2}, Direction: []float64{0.5, -0.5}, Covector: []float64{1, -1}, Displacement: 1e-4, Pairs: 1}}
		each = append(each, scales[x]*scales[x]/2*estimateOf(t, simulated(t, one)[0], StiffnessTotal))
	}
	if each[0] < 0 || each[1] > -each[0] {
		t.Fatalf("stiffnesses %v of the contexts: want the second to have the larger modulus, and to be negative", each)
	}
	r := simulated(t, deep)[0]
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

// At each step of a run whose weights move the recorded stiffness equals what a run that ends there measures anew, also where the mode of one context
// overtakes that of another, in which the direction found before has no part.
func TestRecordedStiffnessAlongARun(t *testing.T) {
	base := baseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate, base.Lag.Interval, base.Edge = 1, 1, true // the second context has the stiffest mode from step 9 on
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	const steps = 12
	deep, _ := deepCell(base, []float64{1, 1.05})
	deep.Network.Weights = []float64{0, 0, 1, -1}
	deep.Run = Run{Steps: steps, Record: []Quantity{Stiffest}}
	r := simulated(t, deep)[0]
	row := slices.Index(r.Quantities, Stiffest)
	for i, step := range r.Steps {
		if step == 0 {
			continue
		}
		short := deep
		short.Run = Run{Steps: step}
		got, want := r.Trajectory[i][row].Mean, estimateOf(t, simulated(t, short)[0], StiffnessAtEnd)
		if !(math.Abs(got/want-1) <= 1e-6) {
			t.Errorf("step %d: stiffness %v, want %v", step, got, want)
		}
	}
}
