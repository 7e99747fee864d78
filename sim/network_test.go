package sim

import (
	"math"
	"slices"
	"testing"

	"grposim/network"
	"grposim/option"
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

// DeepCell returns a cell with the table, of contexts with equal arms, and the cells of its
// contexts. A step of C contexts has for each the learning rate times scale²/C.
func DeepCell(base Cell, scales []float64) (deep Cell, alone []Cell) {
	arms := len(base.Bandit.Arms)
	n := &Network{New: func() network.Network { return table{arms, scales} }}
	for x, scale := range scales {
		one := base
		one.Reference = make([]float64, arms)
		one.Reference[x%arms] = 0.5
		one.Init = slices.Clone(one.Reference)
		one.Optimizer.LearningRate *= scale * scale / float64(len(scales))
		n.Means, n.Reference = append(n.Means, base.Bandit.Means()), append(n.Reference, one.Reference)
		for _, logit := range one.Init {
			n.Weights = append(n.Weights, logit/scale)
		}
		alone = append(alone, one)
	}
	base.Network = n
	return base, alone
}

func BaseOfNetworks() Cell {
	return Cell{
		ID: "deep", Seed: 1, Bandit: option.Bandit{Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.4}}},
		Estimator: option.Estimator{GroupSize: option.Infinite,
			Advantage: option.Advantage{Scale: option.NoScale},
			KL:        option.KL{Coefficient: 0.5, Gradient: option.K3}},
		Lag: option.Lag{Interval: 3}, Optimizer: option.Optimizer{LearningRate: 0.3, Momentum: 0.5},
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
		base := BaseOfNetworks()
		change(&base)
		deep, alone := DeepCell(base, []float64{1, 0.5, 2})
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
				near(t, quantity, results[0].Trajectory[i][q].Mean, want, 1e-12)
			}
		}
	}
}

// Sampled groups of a single context are those of the cell alone, from the same words.
func TestSampledTable(t *testing.T) {
	base := BaseOfNetworks()
	base.Estimator.GroupSize, base.Estimator.GroupsPerStep, base.Run.Replicas = 8, 2, 2
	base.Run.BurnIn = 10
	deep, alone := DeepCell(base, []float64{1})
	results := simulate(t, []Cell{deep, alone[0]}, 1)
	for n, e := range results[0].Estimates {
		if want := results[1].Estimates[n]; e.Name != want.Name || math.Abs(e.Mean-want.Mean) > 1e-12 {
			t.Errorf("%s %v, want %s %v", e.Name, e.Mean, want.Name, want.Mean)
		}
	}
}

// The stiffness recorded at a step equals that of a second run, which ends at this step. Along
// the run the mode of one context overtakes that of another.
func TestRecordedStiffnessAlongARun(t *testing.T) {
	base := BaseOfNetworks()
	base.Bandit.Arms = base.Bandit.Arms[:2]
	base.Optimizer.LearningRate, base.Lag.Interval, base.Edge = 1, 1, true // step 9: overtaken
	base.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	deep, _ := DeepCell(base, []float64{1, 1.05})
	deep.Network.Weights = []float64{0, 0, 1, -1}
	deep.Run = Run{Steps: 12, Record: []Quantity{Stiffest}}
	r := simulate(t, []Cell{deep}, 1)[0]
	for i, step := range r.Steps[1:] {
		short := deep
		short.Run = Run{Steps: step}
		got := r.Trajectory[i+1][slices.Index(r.Quantities, Stiffest)].Mean
		want, _ := estimate(simulate(t, []Cell{short}, 1)[0], StiffnessAtEnd)
		near(t, step, got/want.Mean, 1, 1e-6)
	}
}
