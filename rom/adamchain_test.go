package rom

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grposim/option"
)

// Forces of one size and either sign, of the mean −κz of that size, leave v as it is, so that E z² = (1 − 2ηκ)E z² + η²: Var z = η/(2κ), and as the steps are short the law is normal.
func TestArmChainOfALinearForce(t *testing.T) {
	const rate, pull = 0.02, 0.03
	o := option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: 0.999}
	c := &armChain{meanSteps: &meanSteps{optimizer: &o}, momentGrid: momentGrid{-2 * momentSpacing, 5, o.Beta2}, weights: []float64{0}, least: -3, step: 6.0 / chainCells}
	for i := range chainCells + 1 {
		z := c.least + c.step*float64(i)
		c.nodes = append(c.nodes, chainNode{
			law: &armLaw{[]float64{1, -1}, []float64{(1 - pull*z) / 2, (1 + pull*z) / 2}}, answers: make([]float64, 1), means: make([]float64, 1), squares: []float64{1},
			noise: mat.NewDense(1, 1, nil),
		})
	}
	law, fourth := c.law(0), 0.0
	mean, variance := c.gap(law, 0)
	for i, p := range law {
		z := c.least + c.step*float64(i)
		fourth += p * z * z * z * z
	}
	want := rate / (2 * pull)
	adamNear(t, "E z", mean, 0, 1e-9)
	adamNear(t, "Var z", variance, want, 1e-3*want)
	adamNear(t, "kurtosis", fourth/(variance*variance), 3, 0.03)
}

// Where the noise is small the chains give the linear law.
func TestChainsOfDenseForces(t *testing.T) {
	p := adamSettings(option.NoScale, 64, 1, 0.18, 0.00133, 0.32, 0.73, 0.62, 0.54, 0.66).checked()
	l, x := lawOfSteps(t, p)
	want := x.variance
	(&meanSteps{linearization: l, optimizer: &p.Optimizer}).byChains(x)
	adamNear(t, "Var J", x.variance, want, 2*chainError*want)
}

// The law of chains of settings whose rarest arms have 1e-19 to 0.01, of which log π has a variance of 0.3 to 2, against Var J of simulated runs from where the linear law rests, with its standard
// error. The linear law has 1.04, 0.64, 0.36, 1.05, 0.87, 0.79 and 0.79 times these.
func TestChainsAgainstRuns(t *testing.T) {
	for _, c := range []struct {
		p                Params
		variance, within float64
	}{
		{adamSettings(option.NoScale, 64, 2, 0.0177, 0.018, 0.36, 0.94, 0.16, 0.86, 0.50, 0.18), 3.333e-7, 0.015e-7},
		{adamSettings(option.NoScale, 8, 1, 0.0568, 0.0189, 0.45, 0.95), 5.770e-7, 0.046e-7},
		{adamSettings(option.NoScale, 16, 1, 0.031, 0.0169, 0.28, 0.72, 0.72), 6.02e-9, 0.14e-9},
		{adamSettings(option.StdScale, 64, 2, 0.22, 0.0138, 0.24, 0.35, 0.88), 1.264e-7, 0.0064e-7},
		{adamSettings(option.NoScale, 16, 8, 0.0307, 0.00289, 0.64, 0.49, 0.94), 7.79e-9, 0.11e-9},
		{adamSettings(option.NoScale, 8, 1, 0.0372, 0.0178, 0.87, 0.87, 0.59), 1.532e-7, 0.014e-7},
		{adamSettings(option.NoScale, 16, 4, 0.0179, 0.00953, 0.55, 0.62, 0.17, 0.75), 6.72e-8, 0.089e-8},
	} {
		p := c.p.checked()
		where := fmt.Sprintf("β = %g, η = %g", p.KL.Coefficient, p.Optimizer.LearningRate)
		_, x := lawOfSteps(t, p)
		if x == nil {
			t.Errorf("%s: no law", where)
			continue
		}
		if miss := math.Abs(x.variance - c.variance); miss > x.size()*x.variance+3*c.within {
			t.Errorf("%s: Var J %.4g to %.2g, simulated %.4g ± %.2g", where, x.variance, x.size()*x.variance, c.variance, c.within)
		}
		if x.size() > 0.25 {
			t.Errorf("%s: %.2g of Var J is left out", where, x.size())
		}
	}
}

// With hardly any m a mean step by the grid of ln v is that of the Laplace transform: to 0.01 of E |g|/√v, and where v is mostly at its floor, between two levels, to 0.03.
func TestMomentGrid(t *testing.T) {
	o := option.Optimizer{Kind: option.Adam, Beta1: 1e-3, Beta2: 0.999, Epsilon: 1e-8}
	for share, within := range map[float64]float64{0.3: 0.01, 0.01: 0.01, 1e-3: 0.01, 1e-4: 0.03} {
		for _, pull := range []float64{0.1, 1, 3} { // of the mean force
			forces := &armLaw{[]float64{-1, pull * share, 0.5}, []float64{share, 1 - 1.1*share, 0.1 * share}}
			grid := forces.grid(&o)
			for _, shift := range []float64{0, 0.3, 0.7} {
				grid.lowest -= shift * momentSpacing
				grid.levels++
				got := grid.mean(grid.stationary(forces), forces, func(g, v float64) float64 { return g / (math.Sqrt(v) + o.Epsilon) })
				size := grid.mean(grid.stationary(forces), forces, func(g, v float64) float64 { return math.Abs(g) / (math.Sqrt(v) + o.Epsilon) })
				adamNear(t, fmt.Sprintf("share %g, pull %g: E g/√v", share, pull), got, forces.meanStep(&o), within*size)
			}
		}
	}
}

// A grid that is joined to another keeps its levels and covers both.
func TestJoinedGrids(t *testing.T) {
	m, other := momentGrid{-10, 6, 0.999}, momentGrid{-10.5, 9, 0.99}
	got := m.joined(other)
	if phase := (m.lowest - got.lowest) / momentSpacing; math.Abs(phase-math.Round(phase)) > 1e-12 || got.lowest > other.lowest || got.top() < other.top() || got.beta2 != m.beta2 {
		t.Errorf("%v joined to %v is %v", m, other, got)
	}
	if none := m.joined((&armLaw{[]float64{0}, []float64{1}}).grid(&option.Optimizer{})); none.levels > 50 || none.top() != m.top() {
		t.Errorf("joined to the grid of no force it is %v", none)
	}
	if same := m.joined(m); same != m {
		t.Errorf("%v joined to itself is %v", m, same)
	}
}

// Of arms of independent noise the quietest combination is that of weights in inverse ratio to it; of two whose noise is opposite it is their sum. Arms that are rarer have none.
func TestQuietest(t *testing.T) {
	noise := mat.NewDense(4, 4, []float64{2, -1, 0, 0, -1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3})
	for _, c := range []struct {
		arm  int
		rest []float64
		want []float64
	}{
		{3, []float64{5, 3, -9, 0}, []float64{0.5, 0.5, 0, 0}},
		{3, []float64{5, 3, 1, 0}, []float64{1. / 3, 1. / 3, 1. / 3, 0}},
		{1, []float64{5, 3, 3, -4}, []float64{1. / 3, 0, 2. / 3, 0}},
	} {
		for b, q := range quietest(c.arm, c.rest, noise) {
			adamNear(t, fmt.Sprintf("arm %d, rest %v: weight of %d", c.arm, c.rest, b), q, c.want[b], 1e-12)
		}
	}
}
