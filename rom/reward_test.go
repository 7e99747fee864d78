package rom_test

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
)

// J = Σ π_a m_a: of two arms m_1 + (m_0 − m_1)/(1 + e^{−z}) at the gap z, of three
// at logits ln 1, ln 2, ln 5 the mean (1·m_0 + 2·m_1 + 5·m_2)/8. A constant added to all
// logits changes nothing.
func TestExpectedReward(t *testing.T) {
	p := rom.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: 2, GroupsPerStep: 1},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   rom.Unit,
	}
	for _, z := range []float64{-3, 0, 0.7, 800} {
		closeTo(t, "two arms", force.ExpectedReward(p, []float64{z - 1, -1}), 0.2+0.7/(1+math.Exp(-z)), 1e-15)
	}
	p.Arms = []option.Arm{{Law: option.Normal, Mean: -2, Std: 3}, {Law: option.Constant, Mean: 5}, {Mean: 0.5}}
	p.Reference = []float64{0, 0, 0}
	for _, shift := range []float64{0, -1000} {
		theta := []float64{shift, math.Log(2) + shift, math.Log(5) + shift}
		closeTo(t, "three arms", force.ExpectedReward(p, theta), (-2+2*5+5*0.5)/8, 1e-12)
	}
	// E r² is 13 on the normal arm, 25 on the constant and 0.5 on the Bernoulli one.
	closeTo(t, "variance", force.RewardVariance(p, []float64{0, math.Log(2), math.Log(5)}), (13+2*25+5*0.5)/8-math.Pow((-2+2*5+5*0.5)/8, 2), 1e-12)
	defer func() {
		if recover() == nil {
			t.Error("no panic for two logits and three arms")
		}
	}()
	force.ExpectedReward(p, []float64{0, 0})
}
