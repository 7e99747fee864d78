package main

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// Lengths of runs, in relaxation times unless said otherwise.
const (
	restBurnIn   = 6.0  // exp(−12) of the variance's transient is left
	restRun      = 25.0 // after the burn-in
	mostReplicas = 2048
	shortRun     = 12.0 // after the burn-in, where restRun exceeds the budget
	leastRepeats = 16   // replicas below which a cell is not worth its time

	unsettledReplicas = 64 // of a run that is shorter than its burn-in should be

	searchSteps, searchReplicas = 600, 256 // of a search with sampled groups
	// of a search for a learning rate at G = ∞: in 100 a mode that decays slowly hid one that grows
	// (seed 9, number 843)
	longSearchSteps = 2000
	// for such a search at most: cpuLimit, were no pair to end early
	searchBudgets = 200
)

// usualBudget is the largest work of a cell, about 0.3 s.
const usualBudget = 1.2e6

// stepWork returns the work of one step of one replica, as measured, in steps of two
// Bernoulli arms (about 0.25 µs).
func stepWork(s *config.Settings) float64 {
	work := float64(len(s.Bandit.Arms)) / 2
	if s.Estimator.GroupSize == option.Infinite {
		return work
	}
	normal := func(arm option.Arm) bool { return arm.Law == option.Normal }
	if slices.ContainsFunc(s.Bandit.Arms, normal) {
		work *= 2.5
		if grpo.WeightsBySign(&s.Estimator.Importance) { // drawn sample by sample
			work *= 1 + float64(s.Estimator.GroupSize)/5
		}
	}
	return work * (1 + float64(s.Estimator.GroupsPerStep)) / 2
}

// length is how long a cell runs, and whether its budget is too small for that. A cell
// that is too slow is run for a few steps, which decide scope and nothing else.
type length struct {
	steps, burnIn, replicas int
	slow                    bool
}

// tooSlow is the length of a cell that takes too much work.
var tooSlow = length{shortest, shortest / 2, 2, true}

// lengthOf returns the length of a cell of a class with a prediction, within a budget of work.
func lengthOf(c class, budget float64, cell *plan.Cell, p *rom.Prediction) length {
	s := &cell.Settings
	period, time := float64(s.Lag.StepsPerSnapshot()), relaxationTime(s, p)
	switch c {
	case path:
		return pathLength(s, budget, time, period)
	case linear:
		return linearLength(s, budget, p, period)
	case located:
		return locatedLength(cell, budget, p)
	}
	return restLength(s, budget, time, period)
}

// locatedLength returns the length of a search, whose steps also bound the intervals that are
// tried, with as many replicas of sampled groups as the budget allows.
func locatedLength(cell *plan.Cell, budget float64, p *rom.Prediction) length {
	s := &cell.Settings
	in := cell.Sim()
	switch {
	case s.Estimator.GroupSize != option.Infinite:
	case in.Location != nil && in.Location.Param == probe.LearningRate:
		return length{steps: longSearchSteps, replicas: 1}
	default:
		return length{steps: 100, replicas: 1}
	}
	in.Run.Steps, in.Run.Replicas = searchSteps, 1
	replicas := searchBudgets * budget / (in.SearchSteps(p.Stiffness.Total) * stepWork(s))
	if replicas < leastRepeats {
		return tooSlow
	}
	return length{steps: searchSteps, replicas: int(min(searchReplicas, replicas))}
}

// relaxationTime returns the predicted relaxation time in steps, +Inf where the theory
// has none. Adam's second moment has a time of its own.
func relaxationTime(s *config.Settings, p *rom.Prediction) float64 {
	rate := p.Exact.RelaxationRate
	if rate == nil {
		rate = p.LeadingOrder.RelaxationRate
	}
	if rate == nil || !(*rate > 0) {
		return math.Inf(1)
	}
	time := 1 / *rate
	if s.Optimizer.Kind == option.Adam {
		time = max(time, 1/(1-s.Optimizer.Beta2))
	}
	return time
}

// restLength returns the length of a run whose stationary state is measured: whole
// refresh periods after the warm-up, and as many replicas as the budget allows.
func restLength(s *config.Settings, budget, time, period float64) length {
	whole := func(steps float64) float64 { return period * math.Ceil(steps/period) }
	burnIn := whole(restBurnIn*time + 10 + float64(s.Optimizer.Schedule.Warmup))
	for _, run := range []float64{restRun, shortRun} {
		steps := burnIn + whole(max(run*time, 60))
		if replicas := math.Floor(budget / (steps * stepWork(s))); replicas >= leastRepeats {
			return length{steps: int(steps), burnIn: int(burnIn), replicas: int(min(mostReplicas, replicas))}
		}
	}
	// A run from the fixed point that is shorter than the relaxation has a share of the
	// stationary variance, which theory knows.
	steps := whole(math.Floor(budget / (unsettledReplicas * stepWork(s))))
	steps -= period
	if math.IsInf(time, 1) || s.Optimizer.Schedule.Warmup > 0 || !(steps >= max(shortest, 4*period)) {
		return tooSlow
	}
	return length{steps: int(steps), burnIn: int(whole(steps / 10)), replicas: unsettledReplicas}
}

// pathLength returns the length of a run that approaches its fixed point, of four refresh periods
// at least.
func pathLength(s *config.Settings, budget, time, period float64) length {
	steps := max(120, 4*period, min(4*time, 1000))
	replicas := max(leastRepeats, min(mostReplicas, budget/(steps*stepWork(s))))
	return length{steps: int(steps), replicas: int(replicas)}
}

// linearLength returns the length of a run whose deviation from the fixed point is
// followed: at first until all but the two largest multipliers have died, then for up to
// 16 instants, during which the largest must stay above round-off.
func linearLength(s *config.Settings, budget float64, p *rom.Prediction, period float64) length {
	m := p.Exact.Multipliers
	if len(m) == 0 {
		return tooSlow
	}
	modulus := func(i int) float64 { return math.Hypot(m[i][0], m[i][1]) }
	first := 2.0
	if len(m) > 2 && modulus(2) > 0 {
		first = max(first, math.Ceil(math.Log(1e5)/math.Log(modulus(1)/modulus(2))))
	}
	perInstant := math.Abs(math.Log(modulus(0)))
	instants := first + min(16, max(4, math.Floor(math.Log(1e5)/perInstant)-first))
	largest := instants * perInstant
	steps := instants * period
	if !(largest < math.Log(1e6)) || !(steps*stepWork(s) < budget) { // NaN too
		return tooSlow
	}
	l := length{steps: int(steps), burnIn: int(first * period), replicas: 1}
	if s.Estimator.GroupSize != option.Infinite {
		l.replicas = int(max(2, min(mostReplicas, budget/(2*steps*stepWork(s)))))
	}
	return l
}
