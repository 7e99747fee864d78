package path

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
)

// A prompt that few blocks draw has the mean logit gap of runs that draw it by chance. These move by
// the mean force of its groups. Its clip and its penalty are those of the runs that drew it.
func TestVisitsOfReusedPrompts(t *testing.T) {
	const steps, runs, prompts, arms = 160, 4000, 2, 2
	adam := option.Optimizer{
		Kind: option.Adam, LearningRate: 0.02, Beta1: 0.5, Beta2: 0.999, Epsilon: 0.1}
	ball := option.Optimizer{LearningRate: 0.1, Momentum: 0.5}
	for i, o := range []option.Optimizer{adam, ball, ball} {
		p := promptParams(option.Tabular, option.StdScale)
		p.Prompts = cell.Prompts{First: []float64{1, 1}, Second: make([]float64, prompts),
			Parameters: option.Tabular, Order: option.Independent}
		p.GroupSize, p.GroupsPerStep, p.Samples = 64, max(i, 1), option.Reused
		p.KL = option.KL{Coefficient: 0.2, Gradient: option.ExactKL}
		p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.05, ClipHigh: 0.05}
		if o.Kind == option.HeavyBall {
			p.Importance.ClipLow, p.Importance.ClipHigh = 0.2, 0.2
		}
		p.Lag = option.Lag{Kind: option.Block, Interval: 4}
		p.Optimizer, p.Factors = o, cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
		got := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0]

		checked := p.Checked()
		one, _ := checked.Prompt(0, nil)
		one = one.Checked()
		model, random := force.New(&one), rand.New(rand.NewPCG(3, 3))
		sum, square := 0.0, 0.0
		for range runs {
			var theta, m, v, g [arms]float64
			old, drawn := theta, 0
			for t := range steps {
				if t%4 == 0 {
					old, drawn = theta, 0
					for range p.GroupsPerStep {
						drawn += random.IntN(prompts)
					}
				}
				if g = [arms]float64{}; drawn > 0 {
					model.Set(theta[:], old[:])
					model.MeanForce(g[:])
				}
				for a := range g {
					g[a] *= float64(drawn) / float64(p.GroupsPerStep)
					if o.Kind == option.HeavyBall {
						m[a] = o.Momentum*m[a] + g[a]
						theta[a] += o.LearningRate * m[a]
						continue
					}
					m[a] = o.Beta1*m[a] + (1-o.Beta1)*g[a]
					v[a] = o.Beta2*v[a] + (1-o.Beta2)*g[a]*g[a]
					n := float64(t + 1)
					theta[a] += o.LearningRate * m[a] / (1 - math.Pow(o.Beta1, n)) /
						(math.Sqrt(v[a]/(1-math.Pow(o.Beta2, n))) + o.Epsilon)
				}
			}
			gap := theta[0] - theta[1]
			sum, square = sum+gap/runs, square+gap*gap/runs
		}
		noise := 4 * math.Sqrt((square-sum*sum)/runs)
		if off := math.Abs(got.Mean[0] - sum); !(off < 0.004*sum+noise) {
			t.Errorf("%d: logit gap %.4g, want %.4g ± %.2g", i, got.Mean[0], sum, noise)
		}
	}
}

// A largest norm that the gradient of all prompts does not reach changes no number, whatever that of
// each does.
func TestNormOfAllPrompts(t *testing.T) {
	for _, kind := range []option.Method{option.HeavyBall, option.Adam} {
		p := fourPrompts(option.Shuffled, 0)
		p.Optimizer.Kind, p.Optimizer.LearningRate = kind, 0.05
		if kind == option.Adam {
			p.Optimizer.Beta1, p.Optimizer.Beta2, p.Optimizer.Epsilon = 0.9, 0.99, 1e-8
		}
		at := []int{0, 10, 40}
		free := Paths(p, nil, at, Reward)[0]
		p.Optimizer.MaxNorm = 0.76 // each reaches 1.07, both that over √2
		within := Paths(p, nil, at, Reward)[0]
		for i, want := range free.Mean {
			if !within.Scope.In || within.Mean[i] != want {
				t.Errorf("%v: J %v in %+v, want %v", kind, within.Mean[i], within.Scope, want)
			}
		}
	}
}

// A largest norm scales the gradients of all prompts of a step by one factor. In many groups of each,
// they move as their mean forces do.
func TestNormOfPromptsStepByStep(t *testing.T) {
	const steps, prompts, bound = 30, 4, 0.1
	p := fourPrompts(option.InOrder, 0.5)
	p.GroupSize, p.GroupsPerStep, p.Optimizer.LearningRate, p.Optimizer.MaxNorm = 256, 256, 2, bound
	got := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0]
	var theta, velocity, g [prompts][2]float64
	for step := range steps {
		square := 0.0
		for x := range g {
			one, start := p.Prompt(x, nil)
			if step == 0 {
				theta[x] = [2]float64(start)
			}
			one.GroupsPerStep, one.Optimizer.MaxNorm = 1, 0
			force.Mean(g[x][:], one, theta[x][:], theta[x][:])
			square += 2 * g[x][0] * g[x][0] / (prompts * prompts)
		}
		for x := range theta {
			for a, f := range g[x] {
				velocity[x][a] = velocity[x][a]/2 + f/prompts*min(1, bound/math.Sqrt(square))
				theta[x][a] += 2 * velocity[x][a]
			}
		}
	}
	want := 0.0
	for _, x := range theta {
		want += (x[0] - x[1]) / prompts
	}
	near(t, "logit gap", got.Mean[0], want, 3e-3)
}

// Where groups are drawn with replacement, the more are of one prompt, the less does the largest
// norm leave to the others.
func TestNormOfDrawnPrompts(t *testing.T) {
	const steps, prompts, groups, runs, bound = 20, 2, 8, 1000, 0.1
	p := fourPrompts(option.Independent, 0)
	all := &p.Prompts
	all.First, all.Second, all.Starts = all.First[:prompts], all.Second[:prompts], []float64{0, 0}
	p.GroupSize, p.GroupsPerStep, p.Optimizer.LearningRate, p.Optimizer.MaxNorm = 256, groups, 2, bound
	got := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0]
	var models [prompts]*force.Model
	for x := range models {
		one, _ := p.Prompt(x, nil)
		one.GroupsPerStep, one.Optimizer.MaxNorm = 1, 0
		one = one.Checked()
		models[x] = force.New(&one)
	}
	random, want := rand.New(rand.NewPCG(5, 5)), 0.0
	for range runs {
		var theta [prompts][2]float64
		for range steps {
			var g [prompts][2]float64
			square := 0.0
			for range groups {
				g[random.IntN(prompts)][0]++
			}
			for x := range g {
				count := g[x][0] / groups
				models[x].Set(theta[x][:], theta[x][:])
				models[x].MeanForce(g[x][:])
				g[x][0] *= count
				square += 2 * g[x][0] * g[x][0]
			}
			for x := range theta {
				move := 2 * g[x][0] * min(1, bound/math.Sqrt(square))
				theta[x][0], theta[x][1] = theta[x][0]+move, theta[x][1]-move
			}
		}
		for x := range theta {
			want += (theta[x][0] - theta[x][1]) / (prompts * runs)
		}
	}
	near(t, "share of the logit gap", got.Mean[0]/want, 1, 0.003)
}

// Runs under Adam are followed beyond the last step asked for only where they have been spread.
func TestAdamIsFollowedOnWhereRunsAreSpread(t *testing.T) {
	for rate, want := range map[float64]int{0.001: 2, 0.5: 3} {
		p := promptParams(option.Shared, option.NoScale)
		p.Prompts, p.Optimizer = cell.Prompts{}, option.Optimizer{Kind: option.Adam, LearningRate: rate,
			Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8}
		p = p.Checked()
		o, _ := observableOf(&p, Reward)
		got := len(adamPath(p, []float64{0, 0}, []int{0, 10, 30}, 10, []observable{o})[0])
		if got != want {
			t.Errorf("η = %v: %d of 3 steps are followed to, want %d", rate, got, want)
		}
	}
}

// Where forces have no slope the variance by the order of prompts that share a policy is that of sums
// of draws without replacement, with the ways w_j that an impulse of draw j takes a policy:
// Σ_epochs [M Σ w² − (Σ w)²]/(M−1) of that with replacement, Σ w².
func TestOrderOfSharedPrompts(t *testing.T) {
	const steps, epoch = 10, 4
	for _, o := range []option.Optimizer{
		{Momentum: 0.8},
		{Kind: option.Nesterov, Momentum: 0.8},
		{Kind: option.Nesterov, Momentum: 0.6, Schedule: option.Schedule{Warmup: 7}},
		{Schedule: option.Schedule{Kind: option.LinearDecay, Total: 12}},
	} {
		o.LearningRate = 1e-4
		var variances [2]float64
		for i, order := range []option.PromptOrder{option.Shuffled, option.Independent} {
			p := promptParams(option.Shared, option.NoScale)
			p.Prompts = cell.Prompts{First: []float64{1, 0.9, 0.8, 0.5}, Second: make([]float64, epoch),
				Parameters: option.Shared, Order: order}
			p.KL, p.GroupSize, p.GroupsPerStep, p.Optimizer = option.KL{}, 1_000_000, 1, o
			deviation := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0].Deviation[0]
			variances[i] = deviation * deviation
		}
		all, want := 0.0, 0.0
		for from := 0; from < steps; from += epoch {
			sum, squares := 0.0, 0.0
			for j := from; j < min(from+epoch, steps); j++ {
				velocity, way := 0.0, 0.0
				for s := j; s < steps; s++ {
					g := 0.0
					if s == j {
						g = 1
					}
					velocity = o.Momentum*velocity + g
					move := velocity
					if o.Kind == option.Nesterov {
						move = g + o.Momentum*velocity
					}
					way += RateAt(&o, s) * move
				}
				sum, squares = sum+way, squares+way*way
			}
			all, want = all+squares, want+(epoch*squares-sum*sum)/(epoch-1)
		}
		if got := variances[0] / variances[1]; !(math.Abs(got-want/all) < 2e-3) {
			t.Errorf("%+v: a share of %.4f of the variance with replacement, want %.4f", o, got, want/all)
		}
	}
}

// Prompts in a fixed order move their policies, one or one each, by the mean force of those of each
// step. Policies coast between.
func TestOrderedPromptsStepByStep(t *testing.T) {
	const steps, prompts = 31, 3
	for _, c := range []struct {
		option.Samples
		option.Parameters
		nesterov bool
	}{{}, {option.Reused, option.Shared, false}, {0, option.Tabular, false},
		{option.Reused, option.Tabular, true}} {
		p := promptParams(c.Parameters, option.StdScale)
		p.Prompts.Order, p.GroupsPerStep = option.InOrder, 2
		p.Samples, p.Lag.Interval = c.Samples, 3
		p.Optimizer = option.Optimizer{LearningRate: 0.4, Momentum: 0.5}
		if c.nesterov {
			p.Optimizer.Kind = option.Nesterov
			p.Optimizer.Schedule = option.Schedule{Kind: option.LinearDecay, Total: 50}
		}
		p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
		got := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0]
		var theta, velocity, old, next [prompts][2]float64
		for step := range steps {
			draw := step
			if c.Samples == option.Reused {
				draw /= 3
			}
			if step%3 == 0 {
				old = theta
			}
			clear(next[:])
			for i := range 2 {
				x := (2*draw + i) % prompts
				g := make([]float64, 2)
				one, _ := p.Prompt(x, nil)
				if c.Parameters == option.Shared {
					x = 0
				}
				force.Mean(g, one, theta[x][:], old[x][:])
				next[x][0], next[x][1] = next[x][0]+g[0]/2, next[x][1]+g[1]/2
			}
			for x := range theta {
				for a, g := range next[x] {
					velocity[x][a] = 0.5*velocity[x][a] + g
					move := velocity[x][a]
					if c.nesterov {
						move = g + 0.5*move
					}
					theta[x][a] += RateAt(&p.Optimizer, step) * move
				}
			}
		}
		want := 0.0
		for _, x := range theta {
			want += x[0] - x[1]
		}
		if c.Parameters == option.Tabular {
			want /= prompts
		}
		near(t, "logit gap", got.Mean[0], want, 1e-9)
	}
}

// Where groups of equal rewards are redrawn, prompts with a policy each move as their mean fields
// stepped together. Each has its share P_x/ΣP of a step.
func TestRedrawnPromptsStepByStep(t *testing.T) {
	const steps, prompts, groups = 24, 3, 1_000_000
	for _, o := range []option.Optimizer{
		{LearningRate: 2, Momentum: 0.5},
		{Kind: option.Adam, LearningRate: 0.1, Beta1: 0.5, Beta2: 0.9, Epsilon: 1e-3},
	} {
		p := promptParams(option.Tabular, option.StdScale)
		p.Prompts.Starts = []float64{-4, 3, 0}
		p.Filter, p.GroupsPerStep, p.Lag.Interval, p.Optimizer = option.Redraw, groups, 2, o
		got := Paths(p, []float64{0, 0}, []int{steps}, LogitGap)[0]
		var all [prompts]cell.Params
		var theta, old, velocity, square [prompts][]float64
		for x := range all {
			all[x], theta[x] = p.Prompt(x, nil)
			theta[x] = slices.Clone(theta[x])
			velocity[x], square[x] = make([]float64, 2), make([]float64, 2)
		}
		decay1, decay2 := 1.0, 1.0
		for step := range steps {
			var differ [prompts]float64
			sum := 0.0
			for x, one := range all {
				if step%2 == 0 {
					old[x] = slices.Clone(theta[x])
				}
				j := cell.Expected(one.Arms, cell.PolicyAt(old[x]))
				differ[x] = 1 - math.Pow(j, 3) - math.Pow(1-j, 3)
				sum += differ[x]
			}
			decay1, decay2 = decay1*o.Beta1, decay2*o.Beta2
			for x, one := range all {
				g := make([]float64, 2)
				force.Mean(g, one, theta[x], old[x])
				for a := range g {
					g[a] *= differ[x] / sum
					if o.Kind == option.Adam {
						velocity[x][a] += (1 - o.Beta1) * (g[a] - velocity[x][a])
						square[x][a] += (1 - o.Beta2) * (g[a]*g[a] - square[x][a])
						theta[x][a] += o.LearningRate * velocity[x][a] / (1 - decay1) /
							(math.Sqrt(square[x][a]/(1-decay2)) + o.Epsilon)
						continue
					}
					velocity[x][a] = o.Momentum*velocity[x][a] + g[a]
					theta[x][a] += o.LearningRate * velocity[x][a]
				}
			}
		}
		want := 0.0
		for _, x := range theta {
			want += (x[0] - x[1]) / prompts
		}
		near(t, "logit gap", got.Mean[0], want, 1e-4)
	}
}

// Prompts that are redrawn have each the course of the others, also where their deviations are not
// told: Adam's first steps are signs.
func TestRedrawnPromptsUnderAdam(t *testing.T) {
	p := promptParams(option.Tabular, option.NoScale)
	p.Prompts = cell.Prompts{First: []float64{0.9, 0.8, 0.7, 0.6}, Second: []float64{0.2, 0.3, 0.3, 0.1},
		Parameters: option.Tabular, Order: option.Independent}
	p.KL, p.Filter, p.GroupSize, p.GroupsPerStep = option.KL{}, option.Redraw, 12, 4
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.006, Beta1: 0.9, Beta2: 0.999,
		Epsilon: 1e-8}
	path := Paths(p, []float64{0, 0}, []int{1, 100}, Reward)[0]
	if !path.Scope.In || !(path.Neglected[0] < 0.01) || !(path.Mean[1] > path.Mean[0]) {
		t.Errorf("J %v ± %v: %v", path.Mean, path.Neglected, path.Scope)
	}
}

// Where each step has n groups of each of C prompts, in any epoch, each is a bandit alone with n
// groups and the rate η/C.
func TestPromptsOfWhichEachStepHasSeveralGroups(t *testing.T) {
	for _, o := range []option.Optimizer{{Kind: option.Nesterov, Momentum: 0.5},
		{Schedule: option.Schedule{Kind: option.LinearDecay, Total: 20}}} {
		p, at := fourPrompts(option.InOrder, 0), []int{0, 5, 12}
		p.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.02, ClipHigh: 0.02}
		p.Lag.Interval, p.GroupsPerStep = 3, 12
		o.LearningRate, p.Prompts.Starts = 0.8, nil
		p.Optimizer = o
		all, want := Paths(p, []float64{0, 0}, at, Reward)[0], make([]float64, len(at))
		p.Optimizer.LearningRate /= 4
		for x := range 4 {
			one, _ := p.Prompt(x, nil)
			one.GroupsPerStep = 3
			for i, mean := range Paths(one, []float64{0, 0}, at, Reward)[0].Mean {
				want[i] += mean / 4
			}
		}
		for i, mean := range all.Mean {
			near(t, "J", mean, want[i], 1e-12)
		}
	}
}

// Shuffled epochs that are taken for draws by chance are off by less than their size and by more than
// a quarter of it, where there is no noise. Nesterov's rule without momentum is not counted by visits.
func TestEpochsTakenForDrawsByChance(t *testing.T) {
	p := fourPrompts(option.Shuffled, 0)
	p.GroupsPerStep, p.Importance.Mode = 1, option.Ratio
	p.Factors = cell.Factors{Stiffness: 1, Noise: 1e-12, Lag: 1, Mass: 1}
	p.Optimizer.LearningRate = 0.5
	visits := Paths(p, []float64{0, 0}, []int{80}, Reward)[0]
	p.Optimizer.Kind = option.Nesterov
	draws := Paths(p, []float64{0, 0}, []int{80}, Reward)[0]
	off, size := math.Abs(draws.Mean[0]-visits.Mean[0]), draws.Neglected[0]
	if !(off < size && off > size/4) {
		t.Errorf("off by %.3g, want up to %.3g", off, size)
	}
}
