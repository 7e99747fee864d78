package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// drawnChain simulates a run of prompts with a policy each, drawn with replacement: every group
// sample by sample, and again, of another prompt, while its rewards are equal and such groups
// are redrawn. It returns the mean of J over the prompts after each step.
func drawnChain(r *rand.Rand, p *Params, steps int) []float64 {
	count := len(p.Prompts.First)
	z, old, v, g, j := make([]float64, count), make([]float64, count), make([]float64, count), make([]float64, count), make([]float64, steps+1)
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for t := range steps + 1 {
		for x := range z {
			q := sigmoid(z[x])
			j[t] += (q*p.Prompts.First[x] + (1-q)*p.Prompts.Second[x]) / float64(count)
		}
		if t%p.Lag.Interval == 0 {
			copy(old, z)
		}
		clear(g)
		for range p.GroupsPerStep {
			for {
				x := r.IntN(count)
				behaviour, now, sum := sigmoid(old[x]), sigmoid(z[x]), 0
				var first, success [8]bool
				for i := range p.GroupSize {
					first[i] = r.Float64() < behaviour
					mean := p.Prompts.Second[x]
					if first[i] {
						mean = p.Prompts.First[x]
					}
					if success[i] = r.Float64() < mean; success[i] {
						sum++
					}
				}
				equal := sum == 0 || sum == p.GroupSize
				if equal && p.Filter == option.Redraw {
					continue
				}
				share, force := float64(sum)/float64(p.GroupSize), 0.0 // 2g_1, the force on z
				for i := range p.GroupSize {
					a := -share
					if success[i] {
						a++
					}
					if p.Advantage.Scale == option.StdScale && !equal {
						a /= math.Sqrt(share * (1 - share))
					}
					if first[i] {
						force += 2 * a / float64(p.GroupSize)
					}
				}
				g[x] += (force - 2*p.KL.Coefficient*now*(1-now)*z[x]) / float64(p.GroupsPerStep)
				break
			}
		}
		for x := range z {
			v[x] = p.Optimizer.Momentum*v[x] + g[x]
			z[x] += p.Optimizer.LearningRate * v[x]
		}
	}
	return j
}

// The mean path of prompts with a policy each that are drawn with replacement is that of chains of
// six prompts, within what it neglects and 4.5 standard errors: 4 cells at 4 steps fail by
// chance with a probability of 1e-4.
func TestPromptsDrawnAtRandom(t *testing.T) {
	const runs, steps = 4000, 120
	for i, c := range []Params{
		{Estimator: option.Estimator{Filter: option.KeepAll, Advantage: option.Advantage{Scale: option.NoScale}, GroupSize: 4}, Optimizer: option.Optimizer{LearningRate: 0.8}, Lag: option.Lag{Kind: option.Block, Interval: 1}},
		{Estimator: option.Estimator{Filter: option.Redraw, Advantage: option.Advantage{Scale: option.NoScale}, GroupSize: 4}, Optimizer: option.Optimizer{LearningRate: 0.8}, Lag: option.Lag{Kind: option.Block, Interval: 1}},
		{Estimator: option.Estimator{Filter: option.KeepAll, Advantage: option.Advantage{Scale: option.StdScale}, GroupSize: 8}, Optimizer: option.Optimizer{LearningRate: 0.15, Momentum: 0.6}, Lag: option.Lag{Kind: option.Block, Interval: 4}},
		{Estimator: option.Estimator{Filter: option.Redraw, Advantage: option.Advantage{Scale: option.StdScale}, GroupSize: 8}, Optimizer: option.Optimizer{LearningRate: 0.15, Momentum: 0.6}, Lag: option.Lag{Kind: option.Block, Interval: 4}},
	} {
		p := c
		p.Arms, p.GroupsPerStep, p.KL.Coefficient = []option.Arm{{Mean: 0.5}, {Mean: 0.5}}, 4, 0.2
		p.Prompts = Prompts{
			First: []float64{0.9, 1, 0.3, 0.95, 0.9, 0.6}, Second: []float64{0.2, 0, 0.01, 0.8, 0.2, 0.1},
			Parameters: option.Tabular, Order: option.Independent,
		}
		at := []int{20, 50, 80, steps}
		path := MeanReward(p, []float64{0, 0}, at)
		if !path.Scope.In {
			t.Errorf("cell %d: %s", i, path.Scope.Because)
			continue
		}
		r := rand.New(rand.NewPCG(7, uint64(i)))
		var sum, square [steps + 1]float64
		for range runs {
			for t, j := range drawnChain(r, &p, steps) {
				sum[t] += j
				square[t] += j * j
			}
		}
		for n, step := range at {
			mean := sum[step] / runs
			deviation := math.Sqrt((square[step]/runs - mean*mean) / runs)
			miss := path.Mean[n] - mean
			t.Logf("cell %d, step %d: E J %.5f, predicted %.5f, misses %.5f ± %.5f, neglected %.5f", i, step, mean, path.Mean[n], miss, deviation, path.Neglected[n])
			if !(math.Abs(miss) <= 4.5*deviation+path.Neglected[n]) {
				t.Errorf("cell %d, step %d: E J %.5f ± %.5f, predicted %.5f, which neglects %.5f", i, step, mean, deviation, path.Mean[n], path.Neglected[n])
			}
		}
	}
}

// Where no prompt has groups whose rewards differ none is redrawn, and every prompt has the share 1/C: with a
// policy each and the references at the start E J stays, at the mean over the prompts.
func TestNoPromptToRedraw(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Mean: 0.5}, {Mean: 0.5}},
		Estimator: option.Estimator{GroupSize: 6, GroupsPerStep: 2, Filter: option.Redraw, KL: option.KL{Coefficient: 0.1}},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Prompts:   Prompts{First: []float64{1, 0, 1}, Second: []float64{1, 0, 1}, Parameters: option.Tabular, Order: option.Independent},
	}
	path := MeanReward(p.checked(), []float64{0, 0}, []int{0, 10})
	if !path.Scope.In || path.Mean[0] != path.Mean[1] {
		t.Errorf("got %+v, want E J = 2/3 at both steps", path)
	}
	near(t, "E J", path.Mean[1], 2./3, 1e-15)
}

// A quantity that is not derived for prompts with a policy each is declined, also where no other is asked for.
func TestPathOfPromptsAlone(t *testing.T) {
	for _, order := range []option.PromptOrder{option.Independent, option.Shuffled} {
		p := promptParams(option.Tabular, option.NoScale)
		p.Prompts.Order = order
		if path := Paths(p, []float64{0, 0}, []int{0, 10}, GradientNorm)[0]; path.Scope.In || path.Scope.Because.String() == "" {
			t.Errorf("%v: got %+v, want a reason", order, path)
		}
	}
}

// Σ_y P_y is the mean over the spread of runs, and its variance is that of independent prompts. The
// rule of three points has the fifth derivative of P as its error: of logit gaps with the variance
// 0.04 it is less than 1e-4 of P, of P = 1 − J^G − (1−J)^G integrated over the normal law.
func TestSharesOfDrawnPromptsOverTheSpread(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Mean: 0.5}, {Mean: 0.5}},
		Estimator: option.Estimator{GroupSize: 6, GroupsPerStep: 2, Filter: option.Redraw},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Prompts:   Prompts{First: []float64{0.9, 0.9, 0.6}, Second: []float64{0.2, 0.2, 0.1}, Parameters: option.Tabular, Order: option.Independent},
	}
	p = p.checked()
	init, variance := []float64{0.7, -0.7}, 0.04
	d := newDrawnPaths(p.distinct(init), 3, 10, &gaussian)
	for i := range d.each {
		defer d.each[i].stop()
		at := d.each[i].noise.slot(0)
		d.each[i].noise.cov[at][at] = variance / 2 // of the unit coordinate: z is √2 times as large
	}
	if !d.advance(0) {
		t.Fatal("no first step")
	}
	sum, spread := 0.0, 0.0
	for x, first := range p.Prompts.First {
		mean, square, whole := 0.0, 0.0, 0.0
		for u := -8.0; u <= 8; u += 0.01 {
			q := 1 / (1 + math.Exp(-1.4-u*math.Sqrt(variance)))
			j, w := q*first+(1-q)*p.Prompts.Second[x], math.Exp(-u*u/2)
			differs := 1 - math.Pow(j, 6) - math.Pow(1-j, 6)
			mean, square, whole = mean+w*differs, square+w*differs*differs, whole+w
		}
		sum += mean / whole
		spread += square/whole - mean*mean/(whole*whole)
	}
	near(t, "ΣP", d.among.all, sum, 1e-4)
	near(t, "Var ΣP/(ΣP)²", d.varies, spread/(sum*sum), 0.02)
}
