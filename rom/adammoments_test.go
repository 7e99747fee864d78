package rom

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
)

// The pair moments are those of the list of all groups, sample by sample, of up to three arms and
// four samples.
func TestAdamPairMomentsByEnumeration(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		for _, means := range [][]float64{{0.9, 0.2}, {0.7, 0.4, 0.1}} {
			for name, change := range map[string]func(*Params){
				"none":          func(p *Params) { p.Advantage.Scale = option.NoScale },
				"std":           func(p *Params) { p.Advantage.Epsilon = 1e-3 },
				"leave-one-out": func(p *Params) { p.Advantage.Scale, p.Advantage.Baseline = option.NoScale, option.LeaveOneOut },
				"ratio, k2": func(p *Params) {
					p.Importance.Mode, p.KL.Gradient = option.Ratio, option.K2
				},
				"k3 at the snapshot": func(p *Params) { p.KL.Gradient, p.KL.At = option.K3, option.AtSnapshot },
			} {
				p := Params{Estimator: option.Estimator{GroupSize: size, KL: option.KL{Coefficient: 0.3}}}
				theta, old := []float64{0.3, -0.2, 0.5}[:len(means)], []float64{0.1, 0.2, -0.4}[:len(means)]
				for _, m := range means {
					p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: m})
				}
				change(&p)
				p = p.Checked()
				m := force.New(&p)
				m.Set(theta, old)
				got := m.Pairs()
				mixed, square := got.Squares(forceOf(m))
				moments := enumeratedMoments(&p, theta, old)
				for a := range means {
					for b := range means {
						where := fmt.Sprintf("%s, G = %d, %d arms, (%d, %d): ", name, size, len(means), a, b)
						for _, x := range []struct {
							what      string
							got, want float64
						}{
							{"Cov(g_a, g_b)", got.Second[a][b], moments[0][a][b]},
							{"Cov(g_a, g_b²)", mixed[a][b], moments[1][a][b]},
							{"Cov(g_a², g_b²)", square[a][b], moments[2][a][b]},
						} {
							if math.Abs(x.got-x.want) > 1e-13 {
								t.Errorf("%s%s = %.15g, groups one by one have %.15g", where, x.what, x.got, x.want)
							}
						}
					}
				}
			}
		}
	}
}

func forceOf(m *force.Model) []float64 {
	force := make([]float64, len(m.Arms))
	m.MeanForce(force)
	return force
}

// enumeratedMoments returns Cov(g_a, g_b), Cov(g_a, g_b²) and Cov(g_a², g_b²) over all groups.
func enumeratedMoments(p *Params, theta, old []float64) (moments [3][][]float64) {
	arms := len(p.Arms)
	past := make([]float64, arms)
	cell.Softmax(past, old)
	var chances []float64
	var forces [][]float64
	group := make([]sample, p.GroupSize)
	var walk func(n int, chance float64)
	walk = func(n int, chance float64) {
		if n == len(group) {
			chances, forces = append(chances, chance), append(forces, sampledForce(*p, theta, old, group))
			return
		}
		for a, arm := range p.Arms {
			group[n] = sample{a, 1}
			walk(n+1, chance*past[a]*arm.Mean)
			group[n] = sample{a, 0}
			walk(n+1, chance*past[a]*(1-arm.Mean))
		}
	}
	walk(0, 1)
	mean, square := make([]float64, arms), make([]float64, arms)
	for i, g := range forces {
		for a, x := range g {
			mean[a] += chances[i] * x
			square[a] += chances[i] * x * x
		}
	}
	for k := range moments {
		moments[k] = make([][]float64, arms)
		for a := range arms {
			moments[k][a] = make([]float64, arms)
		}
	}
	for i, g := range forces {
		for a, x := range g {
			for b, y := range g {
				moments[0][a][b] += chances[i] * (x - mean[a]) * (y - mean[b])
				moments[1][a][b] += chances[i] * (x - mean[a]) * (y*y - square[b])
				moments[2][a][b] += chances[i] * (x*x - square[a]) * (y*y - square[b])
			}
		}
	}
	return moments
}

// Two sets of numbers that another program computed, of two arms: F, E g², Var g, Cov(g, g²) and
// Var g².
func TestAdamPairMomentsKnown(t *testing.T) {
	for _, c := range []struct {
		scale       option.Scale
		size, steps int
		beta, z     float64
		want        [5]float64
	}{
		{option.NoScale, 8, 1, 0.5, 1, [5]float64{0.022118842, 0.005925049, 0.005435805, 1.36387e-4, 3.989e-5}},
		{option.StdScale, 8, 4, 0.3, 0.7, [5]float64{0.253007091, 0.069408904, 0.005396316, 0.002574940, 0.001282550}},
	} {
		p := Params{
			Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
			Estimator: option.Estimator{
				GroupSize: c.size, GroupsPerStep: c.steps, Advantage: option.Advantage{Scale: c.scale}, KL: option.KL{Coefficient: c.beta},
			},
		}
		p = p.Checked()
		m := force.New(&p)
		theta := []float64{c.z / 2, -c.z / 2}
		m.Set(theta, theta)
		force, pairs := forceOf(m), m.Pairs()
		mixed, square := pairs.Squares(force)
		v := pairs.Second[0][0]
		for i, got := range [5]float64{force[0], force[0]*force[0] + v, v, mixed[0][0], square[0][0]} {
			if math.Abs(got-c.want[i]) > 1e-4*c.want[i] {
				t.Errorf("scale %v, number %d is %.9g, want %.9g", c.scale, i, got, c.want[i])
			}
		}
	}
}
