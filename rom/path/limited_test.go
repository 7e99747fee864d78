package path

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// The law of a limited normal gradient is that of a 200,000 draws, from noise that is small beside
// the mean to noise alone.
func TestScaledLaw(t *testing.T) {
	const draws = 200_000
	for _, of := range []struct {
		force []float64
		cov   []float64
	}{
		{[]float64{0.9, -0.7, -0.2}, []float64{2, -1, -1, -1, 1.5, -0.5, -1, -0.5, 1.5}},
		{[]float64{0.8, -0.8}, []float64{2, -2, -2, 2}},
	} {
		arms := len(of.force)
		for i := range 12 {
			c, noise := [3]float64{0.3, 1, 3}[i/4], [4]float64{0.05, 0.5, 2, 20}[i%4]
			cov, ridge := mat.NewSymDense(arms, nil), mat.NewSymDense(arms, nil)
			cov.ScaleSym(noise*noise/5, mat.NewSymDense(arms, of.cov))
			for a := range arms {
				ridge.SetSym(a, a, 1e-12)
			}
			ridge.AddSym(ridge, cov)
			mean := append([]float64{}, of.force...)
			law, _ := distmv.NewNormal(mean, ridge, rand.NewPCG(7, 7))
			sum, second := make([]float64, arms), mat.NewSymDense(arms, nil)
			for range draws {
				g := law.Rand(nil)
				floats.Scale(min(1, c/floats.Norm(g, 2)), g)
				floats.AddScaled(sum, 1.0/draws, g)
				second.SymRankOne(second, 1.0/draws, mat.NewVecDense(arms, g))
			}
			second.SymRankOne(second, -1, mat.NewVecDense(arms, sum))
			ScaledLaw(mean, cov, c)
			var off mat.SymDense
			off.ScaleSym(-1, second)
			off.AddSym(&off, cov)
			unit := min(c, math.Hypot(1.15, noise))
			if d := floats.Distance(mean, sum, 2); d > 5e-3*unit || mat.Norm(&off, 2) > 1e-2*unit*unit {
				t.Errorf("c = %g, noise %g: got %v and %v, want %v and %v", c, noise, mean,
					mat.Formatted(cov), sum, mat.Formatted(second))
			}
		}
	}
}

// Where every step has one random age, its gradient is limited by itself. Of groups with ages of
// their own it is limited as a whole. J after 34 steps is known within 1.6e-5 from 10,000 simulated
// runs or more.
func TestLimitOfRandomAges(t *testing.T) {
	for _, c := range []struct {
		optimizer option.Optimizer
		want      [2]float64 // an age per step, an age per group
	}{
		{option.Optimizer{LearningRate: 1}, [2]float64{0.878778, 0.879041}},
		{option.Optimizer{Kind: option.Adam, Beta1: 0.5, Beta2: 0.9, Epsilon: 1e-8, LearningRate: 0.05},
			[2]float64{0.861527, 0.861723}},
	} {
		c.optimizer.MaxNorm = 0.1
		p := cell.Params{
			Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.5}, {Mean: 0.2}},
			Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 8,
				Advantage: option.Advantage{Scale: option.StdScale}},
			Lag: option.Lag{Kind: option.Random, Ages: option.Ages{Law: option.TableAges,
				Weights: [option.MaxTableAge + 1]float64{0: 1, 4: 1}}},
			Optimizer: c.optimizer,
		}
		for i, drawn := range []option.AgeDraw{option.AgePerStep, option.AgePerGroup} {
			p.Lag.Ages.Drawn = drawn
			got := Paths(p, make([]float64, 3), []int{34}, Reward)[0]
			if off := math.Abs(got.Mean[0] - c.want[i]); !(off < 1e-4 && off < got.Neglected[0]+6.4e-5) {
				t.Errorf("%v, %v: J %.6f ± %.2g, want %.6f", c.optimizer.Kind, drawn, got.Mean[0],
					got.Neglected[0], c.want[i])
			}
		}
	}
}

// The law of a step of two arms that is cut is that of 200,000 steps which are drawn sample by
// sample: of one group, and of five on a lattice.
func TestLimitedStep(t *testing.T) {
	const draws, size, bound = 200_000, 4, 0.2
	random, theta := rand.New(rand.NewPCG(5, 5)), []float64{0.3, -0.2}
	for _, groups := range []int{1, 5} {
		p := cell.Params{
			Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.3}},
			Estimator: option.Estimator{GroupSize: size, GroupsPerStep: groups,
				Advantage: option.Advantage{Scale: option.NoScale}},
			Optimizer: option.Optimizer{LearningRate: 1, MaxNorm: bound},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
		}
		free := cell.WithoutNorm(p.Checked())
		m := force.New(&free)
		m.Set(theta, theta)
		mean := make([]float64, 2)
		m.MeanForce(mean)
		got := force.LimitedStep(m, bound, mean[0], m.Covariance().At(0, 0))
		q, steps, want := m.Now.Probs[0], make([]float64, draws), [4]float64{}
		for i := range steps {
			for range groups {
				var first, success [size]float64
				reward := 0.0
				for k := range size {
					chance := 0.3
					if random.Float64() < q {
						first[k], chance = 1, 0.9
					}
					if random.Float64() < chance {
						success[k] = 1
					}
					reward += success[k] / size
				}
				for k, x := range first {
					steps[i] += (success[k] - reward) * (x - q) / float64(size*groups)
				}
			}
			steps[i] = max(-bound/math.Sqrt2, min(bound/math.Sqrt2, steps[i]))
			want[0] += steps[i] / draws
		}
		for _, x := range steps {
			x -= want[0]
			want[1], want[2], want[3] = want[1]+x*x/draws, want[2]+x*x*x/draws, want[3]+x*x*x*x/draws
		}
		want[3] -= 3 * want[1] * want[1]
		for n, tolerance := range []float64{1e-2, 2e-2, 4e-2, 4e-2} {
			if off := math.Abs(got[n] - want[n]); !(off < tolerance*math.Pow(math.Sqrt(want[1]), float64(n+1))) {
				t.Errorf("%d groups, cumulant %d: %.5g, want %.5g", groups, n+1, got[n], want[n])
			}
		}
	}
}
