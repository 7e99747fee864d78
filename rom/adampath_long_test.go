//go:build long

package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/path"

	"gonum.org/v1/gonum/floats"
)

// drawAdamCell returns a random cell of two to five arms under Adam, and where its runs start.
func drawAdamCell(r *rand.Rand) (p Params, start []float64, steps int) {
	between := func(low,
		high float64) float64 {
		return math.Exp(math.Log(low) + r.Float64()*math.Log(high/low))
	}
	rate := between(2e-3, 3e-2)
	p = adamCell(option.Scale(r.IntN(2)), []int{4, 8, 16}[r.IntN(3)], []int{1, 1, 4}[r.IntN(3)],
		[]float64{0, between(0.005, 1)}[r.IntN(2)], rate,
		[]float64{0.95, 0.98, 0.999}[r.IntN(3)], []int{1, 1, 4, 16}[r.IntN(4)])
	p.Advantage.Baseline, p.Advantage.Epsilon = option.Baseline(r.IntN(2)), 1e-6
	p.Importance.Mode = []option.ImportanceMode{option.NoImportance, option.Ratio}[r.IntN(2)]
	for range 2 + r.IntN(4) {
		p.Arms = append(p.Arms, option.Arm{Law: option.Bernoulli, Mean: 0.05 + 0.9*r.Float64()})
		start = append(start, r.NormFloat64())
	}
	return p.Checked(), start, int(min(2/rate, 400))
}

// simulateAdam returns the mean of a function of the present policy and of that which draws the
// groups, and its standard error, at the steps at, sample by sample.
func simulateAdam(p Params, start []float64, at []int, runs int, r *rand.Rand,
	of func(now, past []float64) float64) (mean, deviation []float64) {
	arms, o := len(p.Arms), p.Optimizer
	mean, deviation = make([]float64, len(at)), make([]float64, len(at))
	probs, past, group := make([]float64, arms), make([]float64, arms), make([]sample, p.GroupSize)
	for range runs {
		theta, old := append([]float64{}, start...), append([]float64{}, start...)
		m, v := make([]float64, arms), make([]float64, arms)
		decay1, decay2, n := 1.0, 1.0, 0
		for t := 0; ; t++ {
			if t%p.Lag.Interval == 0 {
				copy(old, theta)
			}
			cell.Softmax(probs, theta)
			cell.Softmax(past, old)
			if at[n] == t {
				j := of(probs, past)
				mean[n] += j / float64(runs)
				deviation[n] += j * j / float64(runs)
				if n++; n == len(at) {
					break
				}
			}
			force := make([]float64, arms)
			for range p.GroupsPerStep {
				for i := range group {
					a, u := 0, r.Float64()
					for a < arms-1 && u >= past[a] {
						u -= past[a]
						a++
					}
					group[i] = sample{arm: a}
					if r.Float64() < p.Arms[a].Mean {
						group[i].reward = 1
					}
				}
				floats.AddScaled(force, 1/float64(p.GroupsPerStep), sampledForce(p, theta, old, group))
			}
			decay1, decay2 = decay1*o.Beta1, decay2*o.Beta2
			for a, g := range force {
				m[a], v[a] = o.Beta1*m[a]+(1-o.Beta1)*g, o.Beta2*v[a]+(1-o.Beta2)*g*g
				theta[a] += o.LearningRate * m[a] / (1 - decay1) / (math.Sqrt(v[a]/(1-decay2)) + o.Epsilon)
			}
		}
	}
	for n, j := range mean {
		deviation[n] = math.Sqrt(max(deviation[n]-j*j, 0) / float64(runs))
	}
	return mean, deviation
}

// On the way E J of simulated runs is as predicted, up to the size of what the prediction leaves
// out. Of 24 cells at 6 steps one mean is more than 5.5 standard errors further away with a
// probability of 6e-6.
func TestLongAdamPathSimulated(t *testing.T) {
	r, scoped := rand.New(rand.NewPCG(20261127, 37)), 0
	for range 24 {
		p, start, steps := drawAdamCell(r)
		var at []int
		for i := range 6 {
			at = append(at, (i+1)*steps/6)
		}
		path := MeanReward(p, start, at)
		if !path.Scope.In {
			t.Fatalf("%+v: %s", p, path.Scope.Because)
		}
		mean, deviation := simulateAdam(p, start, at, 1000, r,
			func(now, _ []float64) float64 { return cell.Expected(p.Arms, now) })
		for n, j := range mean {
			if !(math.Abs(j-path.Mean[n]) <= path.Neglected[n]+5.5*deviation[n]) {
				t.Errorf("%+v from %v: at step %d E J is %.5f(%.5f), predicted %.5f, neglecting %.5f", p, start,
					at[n], j, deviation[n], path.Mean[n], path.Neglected[n])
			}
		}
		if path.Neglected[5] < 0.01 {
			scoped++
		}
	}
	if scoped < 20 {
		t.Errorf("%d of 24 paths neglect less than 0.01", scoped)
	}
}

// The share of groups with equal rewards along the path, of the policy that draws them: J^G +
// (1−J)^G. Its mean over 4 steps differs by more than
// 5.5 standard errors, as if the steps were fully correlated, with a probability of 4e-8.
func TestLongAdamShareSimulated(t *testing.T) {
	p := adamCell(option.NoScale, 4, 1, 0.1, 0.01, 0.98, 4)
	p.Arms = []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}}
	p = p.Checked()
	mean, deviation := simulateAdam(p, []float64{0, 0}, []int{150, 151, 152, 153}, 8000,
		rand.New(rand.NewPCG(20261127, 38)), func(_, past []float64) float64 {
			j := cell.Expected(p.Arms, past)
			return math.Pow(j, 4) + math.Pow(1-j, 4)
		})
	way := path.Paths(p, []float64{0, 0}, []int{150, 151, 152, 153}, path.ZeroVariance)[0]
	share, size := floats.Sum(way.Mean)/4, floats.Sum(way.Neglected)/4
	if !way.Scope.In || size > 0.01 {
		t.Fatalf("%+v", way)
	}
	adamNear(t, "share of groups with equal rewards", share, floats.Sum(mean)/4,
		5.5*floats.Sum(deviation)/4+size)
}

func adamCell(scale option.Scale, size, groups int, beta, rate, beta2 float64,
	interval int) Params {
	return Params{
		Estimator: option.Estimator{
			GroupSize: size, GroupsPerStep: groups, Advantage: option.Advantage{Scale: scale},
			KL: option.KL{Coefficient: beta},
		},
		Lag:       option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: rate, Beta1: 0.9, Beta2: beta2, Epsilon: 1e-8},
	}
}

func adamNear(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.9g, want %.9g ± %.2g", name, got, want, tol)
	}
}
