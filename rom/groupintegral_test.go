package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom/group"
)

// integratedAndSummed returns models of p by the integral over groups and by the sum over
// their compositions.
func integratedAndSummed(t *testing.T, p Params) (integrated, summed *model) {
	t.Helper()
	p = p.checked()
	q := p
	q.tables = group.Integral(p.Arms, &p.Estimator)
	integrated, summed = newModel(&q), newModel(&p)
	if _, ok := integrated.law.(*group.Integrated); !ok || !p.tables.Summed() {
		t.Fatalf("%d arms, G = %d: no integral or no compositions", len(p.Arms), p.GroupSize)
	}
	return integrated, summed
}

// Where a group can be taken composition by composition, the integral gives the same mean
// force, covariance and stiffness, for every law, with values that nearly coincide and
// densities of very different widths.
func TestIntegralIsTheSumOverCompositions(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, c := range []struct {
		arms  []option.Arm
		sizes []int
	}{
		{[]option.Arm{{Law: option.Constant, Mean: 0.2, Std: 0}, {Law: option.Bernoulli, Mean: 0.4, Std: 0}, {Law: option.Constant, Mean: 1.3, Std: 0}}, []int{2, 3, 12}},
		{[]option.Arm{{Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 1e-3, Std: 0}, {Law: option.Constant, Mean: 1, Std: 0}}, []int{2, 3, 30}},
		{[]option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Normal, Mean: 0.2, Std: 0.7}}, []int{2, 3, 40}},
		{[]option.Arm{{Law: option.Normal, Mean: 1, Std: 0.003}, {Law: option.Normal, Mean: 0.2, Std: 0.7}, {Law: option.Constant, Mean: 0.5, Std: 0}}, []int{12, 30}},
		{[]option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Bernoulli, Mean: 0.4, Std: 0}, {Law: option.Normal, Mean: -0.5, Std: 1.2}}, []int{10, 14}},
	} {
		for _, size := range c.sizes {
			for _, epsilon := range []float64{0, 1e-3, 0.4} {
				n := len(c.arms)
				integrated, summed := integratedAndSummed(t, Params{
					Arms:      c.arms,
					Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1, Advantage: option.Advantage{Epsilon: epsilon, Baseline: option.Baseline(r.IntN(2)), Std: option.Deviation(r.IntN(2))}, KL: option.KL{Coefficient: 0.4, Gradient: []option.KLGradient{option.ExactKL, option.K2, option.K3}[r.IntN(3)]}, Importance: option.Importance{Mode: option.ImportanceMode(r.IntN(2))}},
					Reference: normals(r, n, 1),
				})
				theta, old := normals(r, n, 1.5), normals(r, n, 1.5)
				integrated.set(theta, old)
				summed.set(theta, old)
				got, want := make([]float64, n), make([]float64, n)
				integrated.meanForce(got)
				summed.meanForce(want)
				gotNoise, wantNoise := integrated.covariance(), summed.covariance()
				gotFresh, gotStale := integrated.stiffness(theta)
				wantFresh, wantStale := summed.stiffness(theta)
				for a := range n {
					near(t, "mean", 1+got[a], 1+want[a], 1e-11)
					for b := range n {
						near(t, "covariance", 1+gotNoise.At(a, b), 1+wantNoise.At(a, b), 3e-11)
						near(t, "fresh", 1+gotFresh.At(a, b), 1+wantFresh.At(a, b), 1e-12)
						near(t, "stale", 1+gotStale.At(a, b), 1+wantStale.At(a, b), 1e-12)
					}
				}
			}
		}
	}
}

// The expansion about a point errs by the fourth power of the displacement in the mean
// force, and by the third in the covariance: half of the displacement makes the error 16
// and 8 times smaller.
func TestExpansionOfTheIntegral(t *testing.T) {
	p := mixed(60)
	p.Arms[1] = option.Arm{Law: option.Bernoulli, Mean: 0.7, Std: 0}
	p.Importance.Mode, p.KL.Gradient = option.Ratio, option.K3
	p = p.checked()
	exact, expanded := newModel(&p), newModel(&p)
	if _, ok := exact.law.(*group.Integrated); !ok {
		t.Fatal("no integral")
	}
	theta, direction := []float64{0.3, -0.2, 0.1, 0.4}, []float64{1, -0.3, -0.8, 0.5}
	expanded.set(theta, theta)
	expanded.law.Approach()
	miss := func(step float64) (mean, noise float64) {
		moved := make([]float64, 4)
		for a, x := range direction {
			moved[a] = theta[a] + step*x
		}
		got, want := make([]float64, 4), make([]float64, 4)
		for _, m := range []*model{exact, expanded} {
			m.set(theta, moved)
		}
		exact.meanForce(want)
		expanded.meanForce(got)
		x, y := exact.covariance(), expanded.covariance()
		for a := range 4 {
			mean = max(mean, math.Abs(got[a]-want[a]))
			for b := range 4 {
				noise = max(noise, math.Abs(x.At(a, b)-y.At(a, b)))
			}
		}
		return mean, noise
	}
	mean, noise := miss(0.2)
	lessMean, lessNoise := miss(0.1)
	near(t, "ratio of means", mean/lessMean, 16, 2)
	near(t, "ratio of covariances", noise/lessNoise, 8, 1.5)
}

// Seven normal arms, of which a group of 25 has 736,281 compositions: mean and covariance
// agree with those of sampled groups. 14 comparisons at 6 standard errors, two-sided
// failure probability 2e-9 each.
func TestIntegralIsTheAverageOverSampledGroups(t *testing.T) {
	const groups = 40_000
	r := rand.New(rand.NewPCG(43, 44))
	p := Params{
		Arms: []option.Arm{
			{Law: option.Normal, Mean: -0.4307, Std: 0.02631}, {Law: option.Normal, Mean: -0.1769, Std: 0.01966}, {Law: option.Normal, Mean: -0.09723, Std: 0.01997}, {Law: option.Normal, Mean: 0.1126, Std: 0.9451},
			{Law: option.Normal, Mean: -1.689, Std: 0.3466}, {Law: option.Normal, Mean: 0.5752, Std: 0.01177}, {Law: option.Normal, Mean: 0.09243, Std: 0.07724},
		},
		Estimator: option.Estimator{GroupSize: 25, GroupsPerStep: 1, Importance: option.Importance{Mode: option.Ratio}, KL: option.KL{Coefficient: 0.3, Gradient: option.K2}},
	}
	n := len(p.Arms)
	theta, old := normals(r, n, 1), normals(r, n, 1)
	p.Reference = make([]float64, n)
	checkSampledGroups(t, r, p, theta, old, groups)
}

// Where ε is far above the deviation s of a group, advantages are those without scale divided by
// ε, up to about s/ε, and so are their covariances divided by ε², in an expansion up to 1/G.
func TestCovarianceAtLargeEpsilon(t *testing.T) {
	theta := []float64{0.1, 0.2, -0.3}
	for _, size := range []int{100, 800} {
		for epsilon := 100.0; epsilon < 1e16; epsilon *= 10 {
			p := Params{
				Arms:      []option.Arm{{Law: option.Normal, Mean: 0.5, Std: 0.1}, {Law: option.Normal, Mean: -0.5, Std: 1}, {Law: option.Normal, Std: 0.3}},
				Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.StdScale, Epsilon: epsilon}},
				Optimizer: option.Optimizer{LearningRate: 0.1},
				Lag:       option.Lag{Kind: option.Block, Interval: 1},
			}
			scaled, _ := ForceCovariance(p, theta, theta)
			p.Advantage.Scale = option.NoScale
			plain, _ := ForceCovariance(p, theta, theta)
			for a := range theta {
				if got, want := scaled.At(a, a)*epsilon*epsilon, plain.At(a, a); math.Abs(got-want) > (3/epsilon+1/float64(size))*want {
					t.Errorf("G = %d, ε = %g, arm %d: variance %g of ε² times, want %g", size, epsilon, a, got, want)
				}
			}
		}
	}
}
