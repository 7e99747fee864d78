package path

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// adamRow is a time, E J of the mean field and to second order, and Var J.
type adamRow struct {
	at                      int
	first, second, variance float64
}

// adamCells are paths that another program computed, with derivatives at the mean in the place of
// sums over points that are spread as the law is, which changes E J by up to 5e-5 and Var J by up
// to 4 %.
var adamCells = []struct {
	name  string
	means []float64
	start []float64
	p     cell.Params
	rows  []adamRow
}{
	{"P1", []float64{0.9, 0.2}, nil, adamCell(option.NoScale, 8, 1, 0, 0.003, 0.999, 1),
		[]adamRow{{50, .597860, .597987, 2.0158e-6}, {200, .717423, .717502, 1.01255e-5},
			{800, .860267, .860249, 2.86753e-6}}},
	{"P2", []float64{0.9, 0.2}, nil, adamCell(option.NoScale, 4, 1, .1, 0.01, 0.95, 1),
		[]adamRow{{20, .605947, .605799, 2.85799e-5}, {100, .762317, .761459, 5.96245e-5},
			{200, .832597, .831070, 4.50326e-5}, {400, .869791, .867245, 2.71920e-5}}},
	{"P3", []float64{0.6, 0.4}, nil, adamCell(option.NoScale, 4, 1, 0, 0.03, 0.95, 1),
		[]adamRow{{10, .509870, .509158, 9.86608e-5}, {40, .537097, .535072, 2.38369e-4},
			{100, .570757, .568129, 1.40963e-4}, {170, .586118, .584336, 5.04258e-5}}},
	{"P4", []float64{0.55, 0.45}, []float64{-.5, .5},
		adamCell(option.StdScale, 16, 8, 0.02, 0.005, 0.98, 4),
		[]adamRow{{200, .512027, .512001, 1.84945e-6}, {600, .542650, .542586, 3.93515e-7}}},
	{"P5", []float64{0.85, 0.4}, []float64{-2.15, 2.15},
		adamCell(option.NoScale, 4, 8, 0, 0.006, 0.98, 1),
		[]adamRow{{300, .458508, .458608, 9.24451e-5}, {600, .771814, .770450, 8.95948e-5}}},
	{"M1", []float64{.9, .6, .3, .1}, []float64{0, .5, -.5, 1},
		adamCell(option.NoScale, 8, 1, .05, .005, .98, 1),
		[]adamRow{{100, .497073, .497226, 9.14711e-6}, {400, .733098, .732602, 3.24300e-5}}},
	{"M2", []float64{.9, .6, .3, .1}, []float64{0, .5, -.5, 1},
		adamCell(option.StdScale, 16, 1, 0, .01, .95, 4),
		[]adamRow{{200, .770768, .770660, 3.23222e-5}, {400, .880852, .880368, 2.18638e-6}}},
}

func adamCell(scale option.Scale, size, groups int, beta, rate, beta2 float64,
	interval int) cell.Params {
	return cell.Params{
		Estimator: option.Estimator{
			GroupSize: size, GroupsPerStep: groups, Advantage: option.Advantage{Scale: scale},
			KL: option.KL{Coefficient: beta},
		},
		Lag: option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: beta2,
			Epsilon: 1e-8},
	}
}

func TestAdamPathKnown(t *testing.T) {
	for _, c := range adamCells {
		p := c.p
		for _, m := range c.means {
			p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
		}
		start := c.start
		if start == nil {
			start = make([]float64, len(c.means))
		}
		p = p.Checked()
		var at []int
		for _, r := range c.rows {
			at = append(at, r.at)
		}
		first := followOn(p, start, at, at[len(at)-1], 0, []observable{rewardOf}, nil)
		second := adamPath(p, start, at, []observable{rewardOf})[0]
		for i, r := range c.rows {
			variance := second[i].deviation * second[i].deviation
			where := fmt.Sprintf("%s at t = %d", c.name, r.at)
			adamNear(t, where+", J on the mean field", first.field[0][i], r.first, 1e-6)
			adamNear(t, where+", E J", second[i].shift, r.second, 6e-5)
			adamNear(t, where+", Var J", variance, r.variance, 0.05*r.variance)
		}
	}
}

func adamNear(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.9g, want %.9g ± %.2g", name, got, want, tol)
	}
}
