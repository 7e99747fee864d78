package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/grpo"
	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// slowPrompts is docs/theory-trainers.md §11.7 word by word, as slowReplica is §1. It draws the
// samples one by one with the standard library, and returns the final logit gap of every prompt.
// Where prompts have no starts of their own the reference is uniform.
func slowPrompts(c *Cell, rng *rand.Rand) []float64 {
	p, e, o := c.Prompts, &c.Estimator, &c.Optimizer
	n := len(p.Means)
	z, old, velocity := make([]float64, n), make([]float64, n), make([]float64, n)
	reference := make([]float64, n)
	for x := range z {
		z[x] = c.Init[0] - c.Init[1]
		if p.Starts != nil {
			z[x], reference[x] = p.Starts[x], p.Starts[x]
		}
	}
	first := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	type group struct {
		x             int
		arms          []int
		rewards       []float64
		mean, drawing float64 // probability of the first arm in π_old
	}
	var epoch []int
	var groups []group
	for t := range c.Run.Steps {
		if t%c.Lag.Interval == 0 {
			copy(old, z)
		}
		if t%c.Lag.Interval == 0 || e.Samples == option.Fresh {
			groups = nil
		}
		for len(groups) < e.GroupsPerStep {
			for len(epoch) == 0 {
				switch x := rng.IntN(n); p.Order {
				case option.Shuffled:
					epoch = rng.Perm(n)
				case option.InOrder:
					for i := range n {
						epoch = append(epoch, i)
					}
				case option.Independent:
					epoch = []int{x}
				case option.ByFailure: // the first of any that fails in a trial
					if pi := first(z[x]); rng.Float64() >= pi*p.Means[x][0]+(1-pi)*p.Means[x][1] {
						epoch = []int{x}
					}
				}
			}
			x := epoch[0]
			epoch = epoch[1:]
			drawn, size := first(old[x]), float64(e.GroupSize)
			arms, rewards, mean := make([]int, e.GroupSize), make([]float64, e.GroupSize), 0.0
			for i := range arms {
				if rng.Float64() >= drawn {
					arms[i] = 1
				}
				if rng.Float64() < p.Means[x][arms[i]] {
					rewards[i] = 1
				}
				mean += rewards[i] / size
			}
			if e.Filter == option.KeepAll || slices.Contains(rewards, 0) && slices.Contains(rewards, 1) {
				groups = append(groups, group{x, arms, rewards, mean, drawn})
			}
		}
		g := make([]float64, n) // of z: twice that of the first logit
		var all []float64
		for _, d := range groups {
			all = append(all, d.rewards...)
		}
		for _, d := range groups {
			x, pi, scale := d.x, first(z[d.x]), 1.0
			switch e.Advantage.Scale {
			case option.StdScale:
				scale = math.Sqrt(d.mean * (1 - d.mean))
			case option.MeanScale:
				scale = d.mean
			case option.BatchStd:
				scale = slowStd(all, option.PopulationStd)
			}
			share := 2 / float64(len(groups))
			for i, a := range d.arms {
				if d.mean == 0 || d.mean == 1 {
					continue
				}
				now, before, score := pi, d.drawing, 1-pi
				if a == 1 {
					now, before, score = 1-pi, 1-d.drawing, -pi
				}
				advantage := (d.rewards[i] - d.mean) / scale
				g[x] += share * slowWeight(&e.Importance, now, before, advantage) * advantage * score /
					float64(e.GroupSize)
			}
			g[x] -= share * pi * (1 - pi) * (e.KL.Coefficient*(z[x]-reference[x]) + e.Entropy*z[x])
		}
		if p.Parameters == option.Shared {
			for x := 1; x < n; x++ {
				g[0] += g[x]
			}
			for x := range g {
				g[x] = g[0]
			}
		}
		norm := math.Abs(g[0]) / math.Sqrt2 // of both logits
		if p.Parameters == option.Tabular {
			norm = floats.Norm(g, 2) / math.Sqrt2
		}
		for x := range z {
			if o.MaxNorm > 0 {
				g[x] *= min(1, o.MaxNorm/norm)
			}
			velocity[x] = o.Momentum*velocity[x] + g[x]
			z[x] += o.LearningRate * velocity[x]
			if o.Kind == option.Nesterov {
				z[x] += o.LearningRate * (g[x] + (o.Momentum-1)*velocity[x])
			}
		}
	}
	return z
}

// anyPromptCell returns a random cell with prompts.
func anyPromptCell(random *rand.Rand, i int) Cell {
	c := anyVectorCell(random, i)
	c.ID = fmt.Sprint("prompts ", i)
	c.Bandit, c.Init = referenceCell().Bandit, []float64{random.NormFloat64(), 0}
	c.Reference = []float64{random.NormFloat64(), 0}
	e := &c.Estimator
	e.GroupSize = pick(random, 2, 3, 8, 16, 17, 40, 64, 65, 128, 129, 300, 5000)
	e.GroupsPerStep = pick(random, 1, 2, 5, 17)
	e.Filter = option.KeepAll
	e.KL.In = option.InLoss
	if e.Advantage.Baseline == option.RunningMean {
		e.Advantage.Baseline = option.ConstantBaseline
	}
	c.ReferenceUpdate = option.ReferenceUpdate{}
	p := &Prompts{Parameters: option.ParameterKinds[random.IntN(2)],
		Order: option.PromptOrders[random.IntN(3)]}
	if p.Order == option.Independent && !e.Advantage.BinaryOnly() && random.IntN(4) > 0 {
		e.Filter = option.Redraw
	}
	for range 2 + random.IntN(pick(random, 5, 20, 100)) {
		mean := func() float64 { return pick(random, 0, 0.5, 1, random.Float64()) }
		p.Means = append(p.Means, [2]float64{mean(), mean()})
		p.Starts = append(p.Starts, 3*random.NormFloat64())
	}
	if p.Parameters == option.Shared || random.IntN(2) == 0 {
		p.Starts = nil
	}
	c.Prompts = p
	if p.Parameters == option.Tabular {
		c.Lag = option.Lag{Interval: 1 + random.IntN(5)}
		if e.Advantage.Scale.OfStep() {
			e.Advantage.Scale = option.StdScale
		}
	}
	c.Bandit.TrueMeans = c.means()
	c.Run.Steps = 1 + random.IntN(100)
	c.Run.BurnIn = random.IntN(c.Run.Steps)
	c.checked()
	return c
}

// promptCell returns a cell of five prompts.
func promptCell(change func(*Cell)) Cell {
	c := agreement()[0]
	c.ID, c.Reference = "prompts", []float64{0, 0}
	c.Prompts = &Prompts{
		Means:      [][2]float64{{0.9, 0.2}, {0.6, 0.5}, {0.1, 0.8}, {1, 0}, {0.7, 0.3}},
		Starts:     []float64{-1, 0.5, 0, -2, 1},
		Parameters: option.Tabular, Order: option.Shuffled,
	}
	c.Bandit.TrueMeans = nil
	c.Estimator.GroupsPerStep, c.Run.Steps = 2, 18
	c.Lag.Interval = 1
	change(&c)
	return *c.complete()
}

// promptCells are the cells in which prompts are compared with slowPrompts. Steps are
// large, so that a mistake shows.
func promptCells() map[string]Cell {
	share := func(c *Cell) {
		c.Prompts.Parameters, c.Prompts.Starts, c.Optimizer.LearningRate = option.Shared, nil, 0.1
	}
	redraw := func(c *Cell, size int) { // of unequal prompts, the last of which is nearly saturated
		c.Prompts.Order, c.Estimator.Filter = option.Independent, option.Redraw
		c.Estimator.GroupSize = size
		c.Prompts.Means[1], c.Prompts.Means[4] = [2]float64{0.04, 0.01}, [2]float64{0.999, 0.97}
	}
	return map[string]Cell{
		"shuffled": promptCell(nothing),
		"in order, large groups": promptCell(func(c *Cell) {
			c.Prompts.Order, c.Estimator.GroupSize, c.Optimizer.LearningRate = option.InOrder, 100, 0.4
		}),
		"independent, more groups than prompts, no scale": promptCell(func(c *Cell) {
			c.Prompts.Order, c.Estimator.GroupsPerStep = option.Independent, 7
			c.Estimator.Advantage.Scale = option.NoScale
		}),
		"no memory": promptCell(func(c *Cell) { c.Optimizer.Momentum, c.Optimizer.LearningRate = 0, 0.4 }),
		"block, none": promptCell(func(c *Cell) {
			c.Lag.Interval, c.Prompts.Order, c.Estimator.GroupsPerStep = 6, option.Independent, 10
			c.Optimizer.LearningRate = 0.6
		}),
		"block, ratio": promptCell(func(c *Cell) {
			c.Lag.Interval, c.Estimator.Importance.Mode = 4, option.Ratio
		}),
		"clip, reused, entropy": promptCell(func(c *Cell) {
			c.Lag.Interval, c.Prompts.Order, c.Estimator.GroupsPerStep = 4, option.Independent, 10
			c.Estimator.Importance, c.Estimator.Samples = everyWeight(option.Clip), option.Reused
			c.Estimator.Entropy, c.Optimizer.LearningRate = 0.1, 2
			c.Run.Steps = 17 // the last step is recorded alone
		}),
		"largest norm": promptCell(func(c *Cell) { c.Optimizer.MaxNorm, c.Estimator.Entropy = 0.1, 0.1 }),
		"shared, reused, largest norm": promptCell(func(c *Cell) {
			share(c)
			c.Lag.Interval, c.Estimator.Importance, c.Estimator.Samples = 4, everyWeight(option.Clip), option.Reused
			c.Optimizer.MaxNorm, c.Estimator.Entropy = 0.1, 0.1
		}),
		"nesterov":            promptCell(func(c *Cell) { c.Optimizer.Kind = option.Nesterov }),
		"shared, independent": promptCell(func(c *Cell) { share(c); c.Prompts.Order = option.Independent }),
		"shared, shuffled":    promptCell(func(c *Cell) { share(c); c.Estimator.GroupSize = 70 }),
		"shared, block, ratio": promptCell(func(c *Cell) {
			share(c)
			c.Lag.Interval, c.Estimator.Importance.Mode = 3, option.Ratio
		}),
		"redraw, no memory": promptCell(func(c *Cell) {
			redraw(c, 4)
			c.Optimizer.Momentum, c.Optimizer.LearningRate = 0, 0.8
			c.Estimator.Advantage.Scale = option.NoScale
		}),
		"redraw, block, ratio": promptCell(func(c *Cell) {
			redraw(c, 8)
			c.Lag.Interval, c.Estimator.Importance.Mode = 4, option.Ratio
		}),
		"redraw, large groups": promptCell(func(c *Cell) { redraw(c, 70); c.Optimizer.LearningRate = 0.4 }),
		"mean":                 promptCell(func(c *Cell) { c.Estimator.Advantage.Scale = option.MeanScale }),
		"shared, batch-std": promptCell(func(c *Cell) {
			share(c)
			c.Estimator.GroupsPerStep, c.Estimator.Advantage.Scale = 4, option.BatchStd
		}),
		"shared, redraw": promptCell(func(c *Cell) {
			share(c)
			redraw(c, 8)
			c.Optimizer.LearningRate = 0.2
		}),
		"by failure": promptCell(func(c *Cell) {
			c.Prompts.Order, c.Lag.Interval = option.ByFailure, 2
		}),
		"shared, redraw, block, ratio": promptCell(func(c *Cell) {
			share(c)
			redraw(c, 4)
			c.Lag.Interval, c.Estimator.Importance.Mode = 3, option.Ratio
		}),
	}
}

// The final logit gap of every prompt has the same distribution in the simulator and in
// slowPrompts. The Kolmogorov–Smirnov distance is below the value that equal distributions exceed
// with probability 1e-7.
func TestPromptsAgreeWithSlow(t *testing.T) {
	const replicas, failure = 3000 / thin, 1e-7
	critical := math.Sqrt(-math.Log(failure/2) / replicas)
	rng := rand.New(rand.NewPCG(21, 22))
	for name, c := range promptCells() {
		n := len(c.Prompts.Means)
		fast, slow := make([][]float64, n), make([][]float64, n)
		b := recordingBatch(&c, 1)
		for i := range replicas {
			r := b.run(t.Context(), i, 1)[0]
			end := slowPrompts(&c, rng)
			for x := range n {
				policy := r.policy
				if r.tabular != nil {
					policy = r.tabular.prompts[x].policy
				}
				fast[x], slow[x] = append(fast[x], gap(policy)), append(slow[x], end[x])
			}
		}
		for x := range n {
			if d := distance(fast[x], slow[x]); !(d <= critical) {
				t.Errorf("%s: prompt %d: Kolmogorov–Smirnov distance %.4f, want ≤ %.4f", name, x, d, critical)
			}
		}
	}
}

// What is recorded of prompts is the mean over them, computed here from their policies.
func TestPromptsRecordMeans(t *testing.T) {
	for name, c := range promptCells() {
		r := recordingBatch(&c, 1).run(t.Context(), 2, 1)[0]
		var want [quantityCount]float64
		n := float64(len(c.Prompts.Means))
		for x, m := range c.Prompts.Means {
			policy, reference := r.policy, r.force.Reference()
			if r.tabular != nil {
				policy, reference = r.tabular.prompts[x].policy, grpo.NewPolicy([]float64{c.Prompts.Starts[x], 0})
			}
			want[expectedRewardIndex] += policy.Mean(m[:]) / n
			want[entropyIndex] += policy.Entropy() / n
			want[collisionIndex] += policy.Collision() / n
			want[klReferenceIndex] += policy.Divergence(reference) / n
			want[logitGapIndex] += gap(policy) / n
		}
		for i := range c.Estimator.GroupsPerStep * min(1, len(c.Prompts.Starts)) {
			drawn, all, clipped := &r.tabular.groups[i], 0, 0
			now, old := r.tabular.prompts[drawn.prompt].policy, r.tabular.prompts[drawn.prompt].snapshot
			for a, arm := range drawn.statistics.Arms {
				for sign, count := range map[float64]int{1: arm.PositiveCount, -1: arm.NegativeCount} {
					all += count
					if slowWeight(&c.Estimator.Importance, now.Probs[a], old.Probs[a], sign) == 0 {
						clipped += count
					}
				}
			}
			want[clipFractionIndex] += float64(clipped) / float64(max(all, 1)*c.Estimator.GroupsPerStep)
		}
		want[trueRewardIndex] = want[expectedRewardIndex]
		last := r.row(len(r.recorded) - 1)
		for _, q := range []int{expectedRewardIndex, trueRewardIndex, entropyIndex, collisionIndex,
			klReferenceIndex, logitGapIndex, clipFractionIndex} {
			if r.tabular == nil && q == clipFractionIndex {
				continue
			}
			near(t, fmt.Sprint(name, q), last[q], want[q], 1e-12)
		}
		if !(last[gradientNormIndex] > 0) {
			t.Errorf("%s: norm of the gradient: got %v", name, last[gradientNormIndex])
		}
		share := last[zeroVarianceFractionIndex] * float64(c.Estimator.GroupsPerStep)
		equal(t, name, share, math.Trunc(share))
	}
}

// In an epoch every prompt is chosen once; with replacement, and second in shuffled epochs after
// another, all choices are equally frequent.
func TestPromptOrder(t *testing.T) {
	c := promptCell(nothing)
	words := recordingBatch(&c, 1).replicas[0].words
	for _, order := range option.PromptOrders {
		c.Prompts.Order = order
		s := newPromptSampler(c.Prompts, c.Estimator.GroupSize)
		s.begin()
		choose := func() int { return s.choose(words, make([]promptPolicy, 5)) }
		words.Reset(Stream(1, "order", ForReplica, 0))
		counts, seconds := make([]int, 5), [5][5]int{}
		for i := range 5000 {
			x := choose()
			y := choose()
			seconds[x][y]++
			for _, z := range []int{x, y, choose(), choose(), choose()} {
				counts[z]++
			}
			least, most := slices.Min(counts), slices.Max(counts)
			if order < option.Independent && (least != i+1 || most != i+1) {
				t.Fatalf("%s: after %d epochs the prompts were chosen %v times", order, i+1, counts)
			}
		}
		for x, n := range counts {
			if math.Abs(float64(n)-5000) > 6*math.Sqrt(4000) || order == option.Shuffled &&
				seconds[x][(x+2)%5] < 100 || order == option.InOrder && seconds[0][1] != 5000 {
				t.Errorf("%s: the prompts were chosen %v times, by first and second %v", order, counts, seconds)
			}
		}
	}
}
