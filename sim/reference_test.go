package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
)

// slowReplica is a literal implementation of docs/theory.md §1, and returns the final logits. It
// draws the G samples one by one, with the generator and the functions of the standard library.
// stale are sums over the recorded steps: of the share of clipped samples, the largest ratio, the
// effective sample size, the cosine between successive gradients.
func slowReplica(c *Cell, rng *rand.Rand) (theta []float64, stale [4]float64) {
	arms := len(c.Init)
	theta = slices.Clone(c.Init)
	velocity, square := make([]float64, arms), make([]float64, arms)
	steps := 0.0 // of Adam since its state was zero
	var past [][]float64
	var snapshot, drawing []float64 // logits of π_old, and of the sampler
	now := c.Estimator              // of the step
	e, o := &now, &c.Optimizer
	reference := slices.Clone(c.Reference)
	b := e.Advantage.Value
	var samples []slowSample        // of all groups of the step, G each
	var batch, centred []float64    // their rewards, and these less the mean of their group
	kept := 0.0                     // groups whose rewards differ
	var since [][4]float64          // of the steps since the last record
	before := make([]float64, arms) // the gradient of the step before
	for t := range c.Run.Steps + 1 {
		past = append(past, slices.Clone(theta))
		switch {
		case c.Lag.Kind == option.Random:
			snapshot = past[max(t-slowAge(c.Lag.Ages, rng), 0)]
		case c.Lag.Kind == option.Delay:
			snapshot = past[max(t-c.Lag.Interval, 0)]
		case t%c.Lag.Interval == 0:
			snapshot = past[max(t-c.Lag.Behind*c.Lag.Interval, 0)]
		}
		if c.Lag.Kind != option.Block || t%c.Lag.Interval == 0 {
			drawing = slices.Clone(snapshot)
			for a := range drawing {
				drawing[a] += e.Rollout.Noise * rng.NormFloat64()
			}
		}
		pi, ref := slowSoftmax(theta), slowSoftmax(reference)
		beta := e.KL.Coefficient * slowFactor(&e.KL.Schedule, t)
		e.Importance.ClipLow = c.Estimator.Importance.ClipLow * slowFactor(&e.Importance.Schedule, t)
		e.Importance.ClipHigh = c.Estimator.Importance.ClipHigh * slowFactor(&e.Importance.Schedule, t)
		g := make([]float64, arms)
		add := func(a int, x float64, p []float64) {
			for b := range g {
				g[b] -= x * p[b]
			}
			g[a] += x
		}
		groups := e.GroupsPerStep
		if e.Samples == option.Reused && t%c.Lag.Interval != 0 {
			groups = 0
		} else {
			samples, batch, centred, kept = samples[:0], batch[:0], centred[:0], 0
			e.GroupSize = int(max(2, math.Round(float64(c.Estimator.GroupSize)*slowFactor(&e.SizeSchedule, t))))
		}
		size := float64(e.GroupSize)
		for group := range groups {
			if group > 0 && c.Lag.Kind == option.Random && c.Lag.Ages.Drawn == option.AgePerGroup {
				snapshot = past[max(t-slowAge(c.Lag.Ages, rng), 0)]
				drawing = snapshot
			}
			old := slowSoftmax(drawing)
		again:
			drawn, rewards := make([]int, e.GroupSize), make([]float64, e.GroupSize)
			mean, low, high := 0.0, math.Inf(1), math.Inf(-1)
			for i := range drawn {
				a := arms - 1
				u := rng.Float64()
				for b, p := range old {
					if u < p {
						a = b
						break
					}
					u -= p
				}
				drawn[i] = a
				arm := c.Bandit.Arms[a]
				switch arm.Law {
				case option.Bernoulli:
					if rng.Float64() < arm.Mean {
						rewards[i] = 1
					}
				case option.Constant:
					rewards[i] = arm.Mean
				case option.Normal:
					rewards[i] = arm.Mean + arm.Std*rng.NormFloat64()
				}
				if e.KL.In == option.InReward {
					rewards[i] -= e.KL.Coefficient * math.Log(old[a]/ref[a])
				}
				mean += rewards[i] / size
				low, high = min(low, rewards[i]), max(high, rewards[i])
			}
			if low == high && e.Filter == option.Redraw {
				goto again
			}
			if low < high {
				kept++
			}
			batch = append(batch, rewards...)
			for _, r := range rewards {
				centred = append(centred, r-mean)
			}
			scale := 1.0
			if e.Advantage.Scale == option.StdScale {
				sum := 0.0
				for _, r := range rewards {
					sum += (r - mean) * (r - mean)
				}
				if e.Advantage.Std == option.SampleStd {
					scale = math.Sqrt(sum/(size-1)) + e.Advantage.Epsilon
				} else {
					scale = math.Sqrt(sum/size) + e.Advantage.Epsilon
				}
			}
			for i, a := range drawn {
				advantage := 0.0
				if low < high {
					advantage = (rewards[i] - mean) / scale
				}
				if e.Advantage.Baseline == option.LeaveOneOut {
					advantage *= size / (size - 1)
				}
				others := func() []float64 { return slices.Delete(slices.Clone(rewards), i, i+1) }
				switch {
				case e.Advantage.Baseline == option.ConstantBaseline:
					advantage = rewards[i] - e.Advantage.Value
				case e.Advantage.Baseline == option.RunningMean:
					advantage = rewards[i] - b
				case low == high:
				case e.Advantage.Baseline == option.SecondBest:
					advantage = max(rewards[i]-slices.Max(others()), 0) / scale
				case e.Advantage.Scale == option.MeanScale:
					advantage = (rewards[i] - mean) / mean
				case e.Advantage.Scale == option.OthersStd:
					if std := slowStd(others(), option.SampleStd); std > 0 {
						advantage /= std + e.Advantage.Epsilon
					}
				}
				if e.KL.In == option.InAdvantage {
					advantage -= e.KL.Coefficient * math.Log(old[a]/ref[a])
				}
				correction := slowWeight(e.Rollout.Weight(), slowSoftmax(snapshot)[a], old[a], 1)
				samples = append(samples, slowSample{a, advantage, snapshot, drawing, correction})
			}
		}
		if groups > 0 {
			mean := 0.0
			for _, r := range batch {
				mean += r / float64(len(batch))
			}
			b += e.Advantage.Rate * (mean - b)
		}
		scale := 1.0
		if e.Filter == option.Drop {
			scale = max(kept, 1) / float64(e.GroupsPerStep)
		}
		switch e.Advantage.Scale {
		case option.BatchStd:
			if kept > 0 {
				scale = slowStd(batch, e.Advantage.Std) + e.Advantage.Epsilon
			}
		case option.PooledStd:
			if kept > 0 {
				scale = slowStd(centred, e.Advantage.Std) + e.Advantage.Epsilon
			}
		case option.BatchMean: // N over the number of rewards that are not 0, or 1
			nonzero := 0.0
			for _, r := range batch {
				if r != 0 {
					nonzero++
				}
			}
			scale = max(nonzero, 1) / float64(len(batch))
		}
		share := 1 / (size * float64(e.GroupsPerStep))
		inLoss := e.KL.In != option.InAdvantage && e.KL.In != option.InReward
		var old []float64
		for i, s := range samples {
			if i%e.GroupSize == 0 {
				old = slowSoftmax(s.snapshot)
			}
			at, atLogits := pi, theta
			if e.KL.At == option.AtSnapshot {
				at, atLogits = old, s.snapshot
			}
			a := s.arm
			weight := s.correction * slowWeight(&e.Importance, pi[a], old[a], s.advantage)
			add(a, share*weight*s.advantage/scale, pi)
			if !inLoss {
				continue
			}
			l, rho := math.Log(at[a]/ref[a]), at[a]/old[a]
			switch e.KL.Gradient { // the derivative of the estimator in log π_a
			case option.K1:
				add(a, -share*beta, at)
			case option.K2:
				add(a, -share*beta*l, at)
			case option.K3:
				add(a, -share*beta*(1-ref[a]/at[a]), at)
			case option.RatioK1:
				add(a, -share*beta*rho*(l+1), at)
			case option.RatioK3: // ρ(π_ref/π − 1 + ℓ)
				add(a, -share*beta*rho*(ref[a]/at[a]-1+l+1-ref[a]/at[a]), at)
			case option.ExactKL: // of each group
				if i%e.GroupSize > 0 {
					break
				}
				mean := 0.0
				for a, p := range at {
					mean += p * (atLogits[a] - reference[a])
				}
				for a, p := range at {
					g[a] -= beta * p * (atLogits[a] - reference[a] - mean) / float64(e.GroupsPerStep)
				}
			}
		}
		entropy, norm := 0.0, 0.0
		for _, p := range pi {
			entropy -= p * math.Log(p)
		}
		for a, p := range pi {
			g[a] -= e.Entropy * p * (math.Log(p) + entropy)
			norm += g[a] * g[a]
		}
		of := slowStaleness(e, c.agedByGroup(), pi, samples)
		of[3] = slowCosine(g, before)
		since, before = append(since, of), slices.Clone(g)
		if slices.Contains(RecordedSteps(c.Run.Steps, c.Lag), t) {
			for _, of := range since {
				stale[3] += of[3] / float64(len(since))
			}
			if c.Lag.Kind != option.Block || c.Lag.Interval == 1 {
				since = since[len(since)-1:]
			}
			largest := 0.0
			for _, of := range since {
				stale[0] += of[0] / float64(len(since))
				largest = max(largest, of[1])
				stale[2] += of[2] / float64(len(since))
			}
			stale[1] += largest
			since = nil
		}
		if t == c.Run.Steps {
			break
		}
		if o.MaxNorm > 0 {
			for a := range g {
				g[a] *= min(1, o.MaxNorm/math.Sqrt(norm))
			}
		}
		rate := o.LearningRate * slowFactor(&o.Schedule, t)
		steps++
		for a, x := range g {
			switch o.Kind {
			case option.HeavyBall:
				velocity[a] = o.Momentum*velocity[a] + x
				theta[a] += rate * velocity[a]
			case option.Nesterov:
				velocity[a] = o.Momentum*velocity[a] + x
				theta[a] += rate * (x + o.Momentum*velocity[a])
			case option.Adam:
				velocity[a] = o.Beta1*velocity[a] + (1-o.Beta1)*x
				square[a] = o.Beta2*square[a] + (1-o.Beta2)*x*x
				mean := velocity[a] / (1 - math.Pow(o.Beta1, steps))
				theta[a] += rate * mean / (math.Sqrt(square[a]/(1-math.Pow(o.Beta2, steps))) + o.Epsilon)
			}
		}
		if u := c.ReferenceUpdate; u.Interval > 0 && (t+1)%u.Interval == 0 {
			for a := range theta {
				reference[a] += u.Rate * (theta[a] - reference[a])
				if u.Optimizer == option.ResetState {
					velocity[a], square[a], steps = 0, 0, 0
				}
			}
		}
	}
	return theta, stale
}

// slowFactor returns the factor of a schedule at step t.
func slowFactor(s *option.Schedule, t int) float64 {
	x := min(float64(t-s.Warmup)/float64(s.Total-s.Warmup), 1)
	switch {
	case t < s.Warmup:
		return float64(t+1) / float64(s.Warmup)
	case s.Kind == option.LinearDecay:
		return 1 - x
	case s.Kind == option.CosineDecay:
		return (1 + math.Cos(math.Pi*x)) / 2
	}
	return 1
}

// slowSample is a sample with the logits that drew it.
type slowSample struct {
	arm        int
	advantage  float64
	snapshot   []float64
	drawing    []float64 // logits of the sampler
	correction float64
}

// slowStaleness returns of a step the share of samples with A ≠ 0 whose weight is 0, the largest
// ratio, and the effective sample size. Where groups have ages of their own a share is the mean
// over the groups.
func slowStaleness(
	e *option.Estimator, aged bool, pi []float64, samples []slowSample,
) (of [4]float64) {
	together := len(samples)
	if aged {
		together = e.GroupSize
	}
	share := float64(together) / float64(len(samples))
	for group := range slices.Chunk(samples, together) {
		old, drawing := slowSoftmax(group[0].snapshot), slowSoftmax(group[0].drawing)
		all, clipped, squares := 0.0, 0.0, 0.0
		for _, s := range group {
			if s.advantage != 0 {
				all++
				if s.correction*slowWeight(&e.Importance, pi[s.arm], old[s.arm], s.advantage) == 0 {
					clipped++
				}
			}
		}
		of[0] += share * clipped / max(all, 1)
		for a, p := range pi {
			of[1] = max(of[1], p/drawing[a])
			squares += p * p / drawing[a]
		}
		of[2] += share / squares
	}
	return of
}

// slowCosine returns the cosine between two vectors, 0 where one of them is 0.
func slowCosine(x, y []float64) float64 {
	product, squares := 0.0, [2]float64{}
	for a := range x {
		product += x[a] * y[a]
		squares[0] += x[a] * x[a]
		squares[1] += y[a] * y[a]
	}
	if product == 0 {
		return 0
	}
	return product / math.Sqrt(squares[0]*squares[1])
}

func slowStd(x []float64, kind option.Deviation) float64 {
	mean, sum, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	if kind == option.SampleStd {
		n--
	}
	return math.Sqrt(sum / n)
}

// slowWeight returns the weight of a sample of an arm of probability pi under π and old under
// π_old. It is ρ times the derivative in ρ of the trainers' objective.
func slowWeight(imp *option.Importance, pi, old, advantage float64) float64 {
	rho := pi / old
	clipped := min(max(rho, 1-imp.ClipLow), 1+imp.ClipHigh)
	dropped := clipped*advantage < rho*advantage // in min(ρA, clip(ρ, 1−ε, 1+ε)A)
	temperature, power, decay := imp.Temperature.Positive, imp.Power.Positive, imp.Decay.Positive
	if advantage < 0 {
		temperature, power, decay = imp.Temperature.Negative, imp.Power.Negative, imp.Decay.Negative
	}
	switch imp.Mode {
	case option.NoImportance:
		return 1
	case option.DualClip: // max(min(ρA, clip(ρ)A), cA) for A < 0
		dropped = dropped || advantage < 0 && imp.Cap*advantage > rho*advantage
	case option.Truncated:
		return min(rho, imp.Cap)
	case option.Masked:
		dropped = rho < imp.Floor || rho > imp.Cap
	case option.CISPO:
		return clipped
	case option.SAPO: // (4/τ) σ(τ(ρ−1))
		return rho / math.Pow(math.Cosh(temperature*(rho-1)/2), 2)
	case option.VESPO:
		return math.Pow(rho, power) * math.Exp(decay-decay*rho)
	case option.DPPO:
		dropped = advantage > 0 && pi-old > imp.ClipHigh || advantage < 0 && pi-old < -imp.ClipLow
	case option.Ratio:
		dropped = false
	}
	if dropped {
		return 0
	}
	return rho
}

// slowAge draws an age: of a geometric law by the number of failures before a success.
func slowAge(a option.Ages, rng *rand.Rand) int {
	switch a.Law {
	case option.UniformAges:
		return a.From + rng.IntN(a.To-a.From+1)
	case option.GeometricAges:
		age := 0
		for rng.Float64() >= 1/(1+a.Mean) {
			age++
		}
		return age
	}
	sum := 0.0
	for _, w := range a.Weights {
		sum += w
	}
	u := sum * rng.Float64()
	for age, w := range a.Weights {
		if u < w {
			return age
		}
		u -= w
	}
	return option.MaxTableAge
}

func slowSoftmax(theta []float64) []float64 {
	p := make([]float64, len(theta))
	sum := 0.0
	for a, l := range theta {
		p[a] = math.Exp(l)
		sum += p[a]
	}
	for a := range p {
		p[a] /= sum
	}
	return p
}

// agreement returns the cells in which the simulator is compared with slowReplica. Each
// option occurs in some of them, and steps are large, so that a mistake shows.
func agreement() []Cell {
	bernoulli := []option.Arm{{Mean: 0.9}, {Mean: 0.2}}
	mixed := []option.Arm{
		{Law: option.Normal, Mean: 0.8, Std: 0.5}, {Law: option.Constant, Mean: 0.3},
		{Mean: 0.5}, {Law: option.Normal, Mean: 0.1, Std: 0.2},
	}
	base := Cell{
		ID: "agreement", Seed: 7,
		Bandit: option.Bandit{Arms: bernoulli, TrueMeans: []float64{0.9, 0.2}},
		Estimator: option.Estimator{
			GroupSize: 8, GroupsPerStep: 1,
			Advantage:  option.Advantage{Scale: option.StdScale, Std: option.PopulationStd},
			Importance: option.Importance{Mode: option.NoImportance, ClipLow: 0.2, ClipHigh: 0.2},
			KL:         option.KL{Coefficient: 1},
		},
		Lag: option.Lag{Interval: 4},
		Optimizer: option.Optimizer{LearningRate: 0.15, Momentum: 0.5, Beta1: 0.9, Beta2: 0.99,
			Epsilon: 1e-8},
		Init: []float64{0, 0}, Reference: []float64{0, 0},
		Run: Run{Steps: 18, Replicas: 1},
	}
	var cells []Cell
	add := func(name string, change func(*Cell)) {
		for _, arms := range [][]option.Arm{bernoulli, mixed} {
			c := base
			c.Bandit.Arms = arms
			c.Bandit.TrueMeans = make([]float64, len(arms))
			c.Init = make([]float64, len(arms))
			c.Reference = make([]float64, len(arms))
			c.Reference[0] = -0.5
			change(&c)
			c.ID = fmt.Sprintf("%s, %d arms", name, len(arms))
			cells = append(cells, c)
		}
	}
	add("mean, population", func(c *Cell) {})
	add("leave one out, sample, epsilon", func(c *Cell) {
		c.Estimator.Advantage = option.Advantage{Baseline: option.LeaveOneOut, Scale: option.StdScale,
			Std: option.SampleStd, Epsilon: 0.1}
	})
	add("no scale, three groups", func(c *Cell) {
		c.Estimator.Advantage.Scale, c.Estimator.GroupsPerStep = option.NoScale, 3
	})
	add("large group", func(c *Cell) { c.Estimator.GroupSize = 200; c.Optimizer.LearningRate = 0.3 })
	add("larger than packs",
		func(c *Cell) { c.Estimator.GroupSize = 300; c.Optimizer.LearningRate = 0.3 })
	add("ratio, k2", func(c *Cell) {
		c.Estimator.Importance.Mode, c.Estimator.KL.Gradient = option.Ratio, option.K2
	})
	add("ratio, k3 at snapshot, delay", func(c *Cell) {
		c.Estimator.Importance.Mode = option.Ratio
		c.Estimator.KL = option.KL{Coefficient: 1, Gradient: option.K3, At: option.AtSnapshot}
		c.Lag = option.Lag{Kind: option.Delay, Interval: 3}
	})
	add("clip",
		func(c *Cell) { c.Estimator.Importance.Mode = option.Clip; c.Optimizer.LearningRate = 0.3 })
	for _, mode := range option.ImportanceModes[3:] { // those after clip
		add(mode.String(), func(c *Cell) {
			c.Estimator.Importance, c.Optimizer.LearningRate = everyWeight(mode), 0.4
		})
	}
	add("uniform ages by group, ratio, k3 at snapshot", func(c *Cell) {
		c.Estimator.Importance.Mode = option.Ratio
		c.Estimator.KL = option.KL{Coefficient: 1, Gradient: option.K3, At: option.AtSnapshot}
		c.Estimator.GroupsPerStep = 3
		c.Lag = option.Lag{Kind: option.Random,
			Ages: option.Ages{Law: option.UniformAges, From: 1, To: 6, Drawn: option.AgePerGroup}}
	})
	add("geometric ages by step, exact KL at snapshot", func(c *Cell) {
		c.Estimator.KL.At, c.Estimator.GroupsPerStep = option.AtSnapshot, 2
		c.Lag = option.Lag{Kind: option.Random,
			Ages: option.Ages{Law: option.GeometricAges, Mean: 4, Drawn: option.AgePerStep}}
	})
	add("table of ages", func(c *Cell) {
		c.Lag = option.Lag{Kind: option.Random,
			Ages: option.Ages{Law: option.TableAges, Drawn: option.AgePerGroup}}
		c.Lag.Ages.Weights = [option.MaxTableAge + 1]float64{0: 1, 8: 3}
	})
	add("one block late", func(c *Cell) {
		c.Estimator.KL.At = option.AtSnapshot
		c.Lag = option.Lag{Interval: 3, Behind: 1}
	})
	add("delay, exact KL at snapshot", func(c *Cell) {
		c.Estimator.KL.At = option.AtSnapshot
		c.Lag = option.Lag{Kind: option.Delay, Interval: 2}
	})
	add("nesterov, warm-up", func(c *Cell) {
		c.Optimizer.Kind, c.Optimizer.Schedule.Warmup = option.Nesterov, 5
	})
	add("redraw", func(c *Cell) { c.filter(option.Redraw) })
	add("redraw, k3, ratio", func(c *Cell) {
		c.filter(option.Redraw)
		c.Estimator.GroupSize, c.Estimator.Importance.Mode = 4, option.Ratio
		c.Estimator.KL.Gradient = option.K3
	})
	add("redraw, KL in the advantage", func(c *Cell) {
		c.filter(option.Redraw)
		c.Estimator.GroupSize, c.Estimator.KL.In = 3, option.InAdvantage
	})
	add("redraw, large group", func(c *Cell) {
		c.filter(option.Redraw)
		c.Estimator.GroupSize, c.Init[0] = 200, 6
	})
	add("drop, three groups", func(c *Cell) {
		c.filter(option.Drop)
		c.Estimator.GroupSize, c.Estimator.GroupsPerStep = 4, 3
	})
	for _, adv := range []option.Advantage{
		{Scale: option.BatchStd, Std: option.SampleStd, Epsilon: 0.1},
		{Scale: option.PooledStd, Std: option.SampleStd, Epsilon: 0.1},
		{Scale: option.BatchMean},
		{Scale: option.MeanScale},
		{Baseline: option.LeaveOneOut, Scale: option.OthersStd, Epsilon: 0.1},
		{Baseline: option.SecondBest, Std: option.SampleStd},
		{Baseline: option.ConstantBaseline, Scale: option.NoScale, Value: 0.3},
		{Baseline: option.RunningMean, Scale: option.NoScale, Value: 0.1, Rate: 0.4},
	} {
		add(adv.Baseline.String()+", "+adv.Scale.String(), func(c *Cell) {
			c.filter(option.KeepAll)
			c.Estimator.Advantage = adv
			c.Estimator.GroupSize, c.Estimator.GroupsPerStep = 4, 2
		})
	}
	add("no baseline, clip, larger than packs", func(c *Cell) {
		c.filter(option.KeepAll)
		c.Estimator.Advantage = option.Advantage{Baseline: option.ConstantBaseline, Scale: option.NoScale}
		c.Estimator.Importance.Mode = option.Clip
		c.Estimator.GroupSize, c.Optimizer.LearningRate = 300, 0.3
	})
	add("running mean, reused samples, ratio", func(c *Cell) {
		c.filter(option.KeepAll)
		c.Estimator.Advantage = option.Advantage{Baseline: option.RunningMean, Scale: option.NoScale,
			Value: 1, Rate: 1}
		c.Estimator.Importance.Mode, c.Estimator.Samples = option.Ratio, option.Reused
		c.Estimator.GroupSize = 3
	})
	add("adam", func(c *Cell) { c.Optimizer.Kind = option.Adam; c.Optimizer.LearningRate = 0.05 })
	for _, gradient := range []option.KLGradient{option.K1, option.RatioK1, option.RatioK3} {
		add(gradient.String(), func(c *Cell) { c.Estimator.KL.Gradient = gradient })
	}
	add("KL in the advantage", func(c *Cell) { c.Estimator.KL.In = option.InAdvantage })
	add("KL in the advantage, ratio", func(c *Cell) {
		c.Estimator.KL.In, c.Estimator.Importance.Mode = option.InAdvantage, option.Ratio
	})
	add("KL in the reward, large steps", func(c *Cell) {
		c.Estimator.KL.In, c.Optimizer.LearningRate = option.InReward, 0.3
	})
	add("KL in the reward, clip, no scale, larger than packs", func(c *Cell) {
		c.Estimator.KL.In, c.Estimator.Advantage.Scale = option.InReward, option.NoScale
		c.Estimator.Importance.Mode, c.Estimator.GroupSize = option.Clip, 300
		c.Optimizer.LearningRate = 0.5
	})
	add("entropy bonus", func(c *Cell) { c.Estimator.Entropy = 0.7; c.Init[0] = 1 })
	add("reused samples",
		func(c *Cell) { c.Estimator.Samples = option.Reused; c.Estimator.GroupsPerStep = 2 })
	add("reused samples, ratio, k2", func(c *Cell) {
		c.Estimator.Samples, c.Estimator.Importance.Mode = option.Reused, option.Ratio
		c.Estimator.KL.Gradient = option.K2
	})
	add("maximal norm", func(c *Cell) { c.Optimizer.MaxNorm = 0.2 })
	for i, correction := range option.Corrections {
		add("noise of the sampler, correction "+correction.String(), func(c *Cell) {
			c.Estimator.Rollout = option.Rollout{Noise: 0.3, Correction: correction, Floor: 0.8, Cap: 1.2}
			c.Estimator.Importance.Mode = option.ImportanceModes[2-i] // clip, ratio, none
			c.Lag.Interval = 2
		})
	}
	for i, kind := range option.ScheduleKinds {
		add("KL coefficient by a schedule, "+kind.String(), func(c *Cell) {
			c.Estimator.KL.Coefficient = 3
			c.Estimator.KL.Gradient = option.KLGradients[2*i] // exact, k2, ratio-k1
			c.Estimator.KL.Schedule = option.Schedule{Kind: kind, Warmup: 6 - 2*i, Total: 12}
		})
		add("bounds by a schedule, "+kind.String(), func(c *Cell) {
			c.Estimator.Importance = everyWeight([]option.ImportanceMode{option.Clip, option.DPPO, option.CISPO}[i])
			c.Estimator.Importance.Schedule = option.Schedule{Kind: kind, Warmup: 9 - 4*i, Total: 30 - 9*i}
			c.Optimizer.LearningRate = 0.3
		})
		add("group size by a schedule, "+kind.String(), func(c *Cell) {
			c.Estimator.SizeSchedule = option.Schedule{Kind: kind, Warmup: 16 - 8*i, Total: 20 - 2*i}
			c.Estimator.GroupSize, c.Estimator.Samples = []int{24, 300, 12}[i], option.SampleUses[i%2]
			if c.Estimator.GroupsPerStep = 1 + i; i == 2 {
				c.filter(option.Redraw)
				c.Lag = option.Lag{Kind: option.Random, Ages: option.Ages{Law: option.UniformAges, To: 3}}
			}
		})
	}
	add("moving reference",
		func(c *Cell) { c.ReferenceUpdate = option.ReferenceUpdate{Interval: 5, Rate: 0.6} })
	for _, kind := range option.Methods {
		add("moving reference that resets "+kind.String(), func(c *Cell) {
			c.ReferenceUpdate = option.ReferenceUpdate{Interval: 5, Rate: 1, Optimizer: option.ResetState}
			c.Optimizer.Kind, c.Optimizer.Epsilon = kind, 1e-3 // else Adam makes a step of rounding errors
		})
	}
	return cells
}

// filter sets a filter, and makes all arms Bernoulli.
func (c *Cell) filter(f option.Filter) {
	c.Estimator.Filter = f
	c.Bandit.Arms = slices.Clone(c.Bandit.Arms)
	for a := range c.Bandit.Arms {
		c.Bandit.Arms[a] = option.Arm{Mean: []float64{1, 0, 0.9, 0.3}[a]}
	}
}

// everyWeight returns an Importance of the mode whose bounds a run of agreement reaches.
func everyWeight(mode option.ImportanceMode) option.Importance {
	return option.Importance{
		Mode: mode, ClipLow: 0.1, ClipHigh: 0.15, Floor: 0.8, Cap: 1.2,
		Temperature: option.Signed{Positive: 1, Negative: 4},
		Power:       option.Signed{Positive: 2, Negative: 3}, Decay: option.Signed{Positive: 3, Negative: 2},
	}
}

// The final logits of the simulator and of slowReplica have the same distribution, and so has what
// is recorded of the snapshots. Equal distributions exceed the critical Kolmogorov–Smirnov distance
// with probability 1e-7, in about 1000 comparisons.
func TestFastAgreesWithSlow(t *testing.T) {
	const replicas, failure = 3000 / thin, 1e-7
	critical := math.Sqrt(-math.Log(failure/2) / replicas)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range agreement() {
		if len(c.Init) > 2 { // would keep two arms off their fast path
			c.Run.Record = []Quantity{EffectiveSampleSize, GradientCosine}
		}
		fast, slow := finalLogits(t.Context(), &c, replicas, rng)
		for a := range fast {
			if d := distance(fast[a], slow[a]); !(d <= critical) {
				t.Errorf("%s, number %d: Kolmogorov–Smirnov distance %.4f, want at most %.4f", c.ID, a, d, critical)
			}
		}
	}
}

// The comparison detects a learning rate that is 10 % off, or 20 % with fewer replicas.
func TestAgreementSeesAFault(t *testing.T) {
	replicas, factor := 20_000, 1.1
	if thin > 1 {
		replicas, factor = 5000, 1.2
	}
	critical := math.Sqrt(-math.Log(1e-7/2) / float64(replicas))
	rng := rand.New(rand.NewPCG(13, 14))
	c := agreement()[0]
	fast, _ := finalLogits(t.Context(), &c, replicas, rng)
	c.Optimizer.LearningRate *= factor
	_, slow := finalLogits(t.Context(), &c, replicas, rng)
	if d := distance(fast[0], slow[0]); !(d > critical) {
		t.Errorf("a rate times %g is not detected: distance %.4f, critical %.4f", factor, d, critical)
	}
}

// finalLogits returns the centred logits at the end of each replica, [arm][replica], from the
// simulator and from slowReplica. After them stand the sums over the recorded steps of
// ClipFraction, ImportanceRatioMax and Run.Record.
func finalLogits(
	ctx context.Context, c *Cell, replicas int, rng *rand.Rand,
) (fast, slow [][]float64) {
	arms := len(c.Init)
	series := arms + 2 + len(c.Run.Record)
	fast, slow = make([][]float64, series), make([][]float64, series)
	b := recordingBatch(c, 1)
	collect := func(into [][]float64, theta []float64, stale [4]float64) {
		mean := 0.0
		for _, l := range theta {
			mean += l / float64(len(theta))
		}
		for a, l := range theta {
			into[a] = append(into[a], l-mean)
		}
		for n := range into[arms:] {
			into[arms+n] = append(into[arms+n], math.Round(1e9*stale[n])) // not rounding errors
		}
	}
	for i := range replicas {
		r := b.run(ctx, i, 1)[0]
		var stale [4]float64
		for n := range r.recorded {
			row := r.row(n)
			stale[0] += row[clipFractionIndex]
			stale[1] += row[importanceRatioMaxIndex]
			if r.extra != nil {
				stale[2] += row[r.own]
				stale[3] += row[r.own+1]
			}
		}
		collect(fast, r.policy.Logits, stale)
		theta, stale := slowReplica(c, rng)
		collect(slow, theta, stale)
	}
	return fast, slow
}

// distance returns the two-sample Kolmogorov–Smirnov statistic. It sorts x and y.
func distance(x, y []float64) float64 {
	slices.Sort(x)
	slices.Sort(y)
	largest, i, j := 0.0, 0, 0
	for i < len(x) && j < len(y) {
		v := min(x[i], y[j])
		for i < len(x) && x[i] <= v {
			i++
		}
		for j < len(y) && y[j] <= v {
			j++
		}
		largest = max(largest, math.Abs(float64(i)/float64(len(x))-float64(j)/float64(len(y))))
	}
	return largest
}
