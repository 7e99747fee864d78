package path

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"

	"gonum.org/v1/gonum/mat"
)

// betaNodes returns the nodes and the weights of Gauss and Jacobi for the mean over p ~ Beta(a, b),
// from the recurrence of the polynomials (Golub and Welsch).
func betaNodes(a, b float64, count int) (nodes, weights []float64) {
	alpha, beta := b-1, a-1
	jacobi := mat.NewSymDense(count, nil)
	for k := range count {
		s, n := alpha+beta, float64(k)
		diagonal, off := (beta*beta-alpha*alpha)/((2*n+s)*(2*n+s+2)),
			4*n*(n+alpha)*(n+beta)*(n+s)/((2*n+s)*(2*n+s)*(2*n+s+1)*(2*n+s-1))
		if k == 0 {
			diagonal = (beta - alpha) / (s + 2)
		}
		if k == 1 {
			off = 4 * (1 + alpha) * (1 + beta) / ((2 + s) * (2 + s) * (3 + s))
		}
		jacobi.SetSym(k, k, (1+diagonal)/2)
		if k > 0 {
			jacobi.SetSym(k, k-1, math.Sqrt(off)/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(jacobi, true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k := range count {
		weights = append(weights, vectors.At(0, k)*vectors.At(0, k))
	}
	return e.Values(nil), weights
}

// Prompts of 0/1 arms with a policy each that start at p ~ Beta(a, b), G = 8, β = 0, η = 0.1
// without scale and 0.05 with the std scale, after n visits: the mean field is that of the map z′ =
// z + ηE[2g_1], and mean reward and share of equal groups are within what is neglected and 5
// standard errors of 40,000 prompts, each run once, of another program (docs/theory-trainers.md
// §11.7).
func TestPromptsOfBeta(t *testing.T) {
	for _, c := range []struct {
		a, b                       float64
		scale                      option.Scale
		rate                       float64
		n                          int
		mapped, mean, error        float64 // J
		mappedShare, share, errors float64 // of equal groups
	}{
		{1, 1, option.NoScale, 0.1, 100, .85694267, .85674, 8e-5, .53027236, .53061, 15e-5},
		{.5, .5, option.NoScale, 0.1, 100, .77396226, .77382, 9e-5, .59534648, .59584, 14e-5},
		{50, 50, option.NoScale, 0.1, 100, .92640638, .92629, 3e-5, .54277248, .54290, 14e-5},
		{1, 9, option.NoScale, 0.1, 100, .45944870, .45925, 18e-5, .38259488, .38397, 20e-5},
		{1, 9, option.NoScale, 0.1, 400, .84425978, .84318, 24e-5, .79013530, .78994, 29e-5},
		{1, 1, option.StdScale, 0.05, 100, .88433865, .88405, 9e-5, .59563887, .59580, 16e-5},
		{1, 9, option.StdScale, 0.05, 100, .53381427, .53345, 20e-5, .38994795, .39173, 24e-5},
		{1, 9, option.StdScale, 0.05, 400, .89214927, .89079, 25e-5, .84887645, .84802, 31e-5},
	} {
		p := cell.Params{
			Arms: []option.Arm{{Mean: 1}, {Mean: 0}},
			Estimator: option.Estimator{GroupSize: 8, GroupsPerStep: 1,
				Advantage: option.Advantage{Scale: c.scale}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Optimizer: option.Optimizer{LearningRate: c.rate},
		}
		nodes, weights := betaNodes(c.a, c.b, 80)
		var field, mean, neglected [2]float64
		for k, x := range nodes {
			z := math.Log(x / (1 - x))
			p.Reference = []float64{z / 2, -z / 2}
			for i, path := range Paths(p, p.Reference, []int{c.n}, Reward, ZeroVariance) {
				field[i] += weights[k] * path.Field[0]
				mean[i] += weights[k] * path.Mean[0]
				neglected[i] += weights[k] * path.Neglected[0]
			}
		}
		for i, x := range [2][3]float64{{c.mapped, c.mean, c.error}, {c.mappedShare, c.share, c.errors}} {
			t.Logf("Beta(%v, %v), %v, %d visits: %.8f on the mean field, %.8f over runs ± %.1g, "+
				"simulated %v ± %.1g", c.a, c.b, c.scale, c.n, field[i], mean[i], neglected[i], x[1], x[2])
			if math.Abs(field[i]-x[0]) > 6e-9 {
				t.Errorf("got %.8f on the mean field, want %.8f", field[i], x[0])
			}
			if !(math.Abs(mean[i]-x[1]) <= neglected[i]+5*x[2]) {
				t.Errorf("got %.6f ± %.2g, simulated %v ± %v", mean[i], neglected[i], x[1], x[2])
			}
		}
	}
}

// The std scale speeds hard prompts. Of 0/1 arms at β = 0 the time to 95 % of the way is ∫dz/F(z)
// in units of 1/η_eff, at G = ∞ without scale that of z + sinh z, as 1/p_0 where p_0 is small, and
// with the std scale that of 2 sinh(z/2), as 1/√p_0. At finite G a group of a hard prompt has one
// success at most, and the std scale multiplies its force by G/√(G−1) alone: 3.024 for G = 8,
// beside 2.121 at p = ½ (docs/theory-trainers.md §11.7).
func TestDifficultyBiasOfTheScale(t *testing.T) {
	starts := []float64{0.01, 0.05, 0.2, 0.5}
	for _, c := range []struct {
		scale  option.Scale
		size   int
		force  func(p float64) float64 // F
		closed func(z float64) float64 // ∫dz/F; nil: no closed form
		want   string                  // the times
	}{
		{option.NoScale, option.Infinite, func(p float64) float64 { return 2 * p * (1 - p) },
			func(z float64) float64 { return z + math.Sinh(z) }, "66.6 25.4 18.4 23.2"},
		{option.StdScale, option.Infinite, func(p float64) float64 { return 2 * math.Sqrt(p*(1-p)) },
			func(z float64) float64 { return 2 * math.Sinh(z/2) }, "14.0 8.4 6.2 6.1"},
		{option.NoScale, 8, func(p float64) float64 { return 2 * p * (1 - p) * 7 / 8 }, nil,
			"76.1 29.0 21.0 26.5"},
		{option.StdScale, 8, func(p float64) float64 { return 2 * deviationOfGroup(p, 8) }, nil,
			"27.4 11.4 8.3 9.8"},
	} {
		const rate, period = 0.01, 2 // η_eff, M
		p := cell.Params{
			Arms: []option.Arm{{Mean: 1}, {Mean: 0}},
			Estimator: option.Estimator{GroupSize: c.size, GroupsPerStep: 2,
				Advantage: option.Advantage{Scale: c.scale}},
			Lag:       option.Lag{Kind: option.Block, Interval: 1},
			Optimizer: option.Optimizer{LearningRate: 2 * rate},
			Prompts: cell.Prompts{First: []float64{1, 1, 1, 1}, Second: make([]float64, 4),
				Parameters: option.Tabular, Order: option.Shuffled},
			Factors: cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1},
		}
		for _, x := range starts {
			p.Prompts.Starts = append(p.Prompts.Starts, math.Log(x/(1-x)))
		}
		at := make([]int, 9000)
		for i := range at {
			at[i] = period * i
		}
		strata := PathsAlone(p, nil, at, Reward)[0].Strata
		if len(strata) != 4 {
			t.Fatalf("%d strata of four prompts", len(strata))
		}
		times := ""
		for k, x := range starts {
			level, curve, n := x+0.95*(1-x), strata[k].Mean, 0
			for curve[n] < level {
				n++
			}
			got := rate * (float64(n) - (curve[n]-level)/(curve[n]-curve[n-1]))
			end := math.Log(level / (1 - level))
			const intervals = 4000
			want, h := 0.0, (end-p.Prompts.Starts[k])/intervals
			for i := range intervals {
				want += h / c.force(1/(1+math.Exp(-p.Prompts.Starts[k]-(float64(i)+0.5)*h)))
			}
			near(t, fmt.Sprintf("%v, G = %d, p_0 = %v: time", c.scale, c.size, x), got, want, 3e-3)
			if c.closed != nil {
				near(t, "closed form", want, c.closed(end)-c.closed(p.Prompts.Starts[k]), 1e-5)
			}
			times += fmt.Sprintf(" %.1f", want)
		}
		if times != " "+c.want {
			t.Errorf("%v, G = %d: times%s, want %s", c.scale, c.size, times, c.want)
		}
	}
	hard, half := deviationOfGroup(1e-9, 8)/(1e-9*7./8), deviationOfGroup(0.5, 8)/(0.25*7./8)
	near(t, "std against none, hard", hard, 8/math.Sqrt(7), 1e-6)
	near(t, "std against none, p = ½", half, 2.121, 2e-4)
}

// deviationOfGroup returns E √(S(G−S))/G, the mean standard deviation of the rewards of a group
// with S ~ Binomial(G, p) successes.
func deviationOfGroup(p float64, size int) (mean float64) {
	ways := 1.0
	for s := range size + 1 {
		mean += ways * math.Pow(p, float64(s)) * math.Pow(1-p, float64(size-s)) *
			math.Sqrt(float64(s*(size-s))) / float64(size)
		ways *= float64(size-s) / float64(s+1)
	}
	return mean
}
