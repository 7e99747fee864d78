package theory

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/arrive"
	"grposim/rom/force"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
)

// Way is what the runs of a cell are predicted to do from their start: the paths of recorded
// quantities, their cost, and when J has made its way.
type Way struct {
	Path
	Quantities map[sim.Quantity]Course `json:"quantities"`
	// mean number of samples drawn before each step; empty: not known
	Samples Series  `json:"samples"`
	TimeTo  *TimeTo `json:"time_to"` // nil: the theory has no path of J, or the run starts at its end

	// by how much the mean path passes its fixed point, as a share of the way; nil: not known
	Overshoot *float64 `json:"overshoot"`
	// whether runs end where their mean path should; nil: there is no start
	Arrival *arrive.Prediction `json:"arrival"`

	Runs int `json:"runs,omitempty"` // simulated ones that the means are of; 0: they are predicted

	// ByDifficulty are the prompts with a policy each in four strata by J at the start, the hardest
	// first. Prompts that start alike stay together. Empty: there are none, or all start alike.
	ByDifficulty []Stratum `json:"by_difficulty,omitempty"`
}

// Stratum is the way of the prompts that are about as hard at the start, at the steps of a Way.
type Stratum struct {
	Prompts int     `json:"prompts"`         // how many
	From    float64 `json:"from"`            // smallest J at the start
	To      float64 `json:"to"`              // largest
	Reward  Series  `json:"expected_reward"` // mean of J over these prompts and over runs
	// standard deviation over runs; empty: not known
	Deviation Series `json:"expected_reward_deviation"`
	Neglected Series `json:"neglected"` // size of what Reward leaves out, the largest up to each step
	// when this mean has made 95 % of its own way; nil: it starts at its end
	TimeTo *TimeTo `json:"time_to"`
}

// Course is the path of a quantity at the steps of a Way.
type Course struct {
	Mean Series `json:"mean"` // over runs, in the unit of the quantity
	// standard deviation over runs of what a run records; empty: not known
	Deviation Series `json:"deviation"`
	// size of what Mean leaves out, the largest up to each step
	Neglected Series       `json:"neglected"`
	Kind      rom.Kind     `json:"kind"`
	Because   scope.Reason `json:"because"` // out: there is no path, and the lists are empty
}

// TimeTo says when the mean of J over runs first reaches a level.
type TimeTo struct {
	Level float64 `json:"level"` // in units of reward
	// of the way from J at the start to the fixed point, without one to the best arms
	Share float64      `json:"share"`
	Steps scope.Number `json:"steps"` // optimizer steps; +Inf, null in JSON: not in this run
	// estimate of the standard deviation over runs of their own times: that of J over the slope of the
	// path; 0: not known
	Deviation float64 `json:"deviation"`
	Samples   float64 `json:"samples"` // samples drawn until then; 0: not known
}

// Way returns the way of the runs of a cell with the quantities that a run records, the effective
// sample size, and more. level is that of TimeTo; NaN: 95 % of the way.
func (cache *Cache) Way(s *config.Settings, level float64, more ...sim.Quantity) Way {
	steps := ComparedSteps(s)
	quantities := append(sim.Quantities(len(s.Bandit.Arms)), sim.EffectiveSampleSize)
	for _, q := range append(more, s.Run.Record...) {
		if q != sim.SamplesDrawn && q != sim.Strata && !slices.Contains(quantities, q) {
			quantities = append(quantities, q)
		}
	}
	paths := cache.Courses(s, steps, quantities...)
	way := Way{Quantities: make(map[sim.Quantity]Course)}
	for i, q := range quantities {
		if q == sim.ExpectedReward {
			way.Path = paths[i]
			continue
		}
		p := &paths[i]
		way.Quantities[q] = Course{p.Reward, p.Deviation, p.Neglected, p.Kind, p.Scope.Because}
	}
	params, from := Params(s, rom.Unit), cache.Start(s)
	if from != nil {
		way.Overshoot = arrive.Overshoot(params, from, s.Run.Steps)
		way.Arrival = new(rom.Arrival(params, from, s.Run.Steps))
	}
	if !way.Scope.In {
		return way
	}
	share := lostShare(way.Arrival)
	lost := share * span(s.Bandit.Means())
	way.Neglected = losing(way.Neglected, lost)
	for q, c := range way.Quantities {
		if _, ofArm := q.Arm(); ofArm {
			c.Neglected = losing(c.Neglected, share)
		} else if q == sim.TrueReward {
			c.Neglected = losing(c.Neglected, share*span(s.Bandit.TrueMeans))
		}
		way.Quantities[q] = c
	}
	way.Samples = samples(s, steps, way.Quantities[sim.ZeroVarianceFraction])
	equilibrium := cache.Equilibrium(params)
	way.TimeTo = way.timeTo(cache.end(s), level)
	for i := range way.strata {
		one, end := &way.strata[i], way.strata[i].Best
		if reward, reached := equilibrium.ReachedBy(one.Prompts); reached {
			end = reward
		}
		// if all that is lost is theirs
		size := losing(one.Neglected, lost*float64(len(params.Prompts.First))/float64(len(one.Prompts)))
		w := Way{Samples: way.Samples, Path: Path{Steps: steps, Reward: one.Mean,
			Deviation: one.Deviation, Neglected: size, Kind: one.Kind}}
		way.ByDifficulty = append(way.ByDifficulty, Stratum{len(one.Prompts), one.Low, one.High,
			w.Reward, w.Deviation, w.Neglected, w.timeTo(end, math.NaN())})
	}
	return way
}

// end returns J where the runs of a cell should end.
func (cache *Cache) end(s *config.Settings) float64 {
	params := Params(s, rom.Unit)
	if point, reached := cache.Equilibrium(params).Reached(); reached {
		return point.Reward
	}
	return force.BestReward(params)
}

// Of returns the path of a recorded quantity.
func (w *Way) Of(q sim.Quantity) Course {
	if q == sim.ExpectedReward {
		return Course{w.Reward, w.Deviation, w.Neglected, w.Kind, w.Scope.Because}
	}
	return w.Quantities[q]
}

// Vague reports whether the theory has no path of a quantity, or leaves out more than NearInMean of
// its range.
func (w *Way) Vague(q sim.Quantity) bool {
	c := w.Of(q)
	return c.Because.Out() || !(slices.Max(c.Neglected) <= NearInMean*span(c.Mean))
}

// Simulated returns a Way whose paths are means of simulated runs. Half of their 95 % interval
// stands for what they leave out. Where runs diverge the paths are those of w.
func (cache *Cache) Simulated(w *Way, s *config.Settings, r *sim.Result, level float64) *Way {
	if r.Trajectory == nil {
		return w
	}
	way := &Way{Path: Path{Steps: r.Steps}, Quantities: make(map[sim.Quantity]Course),
		Arrival: w.Arrival, Runs: SimulatedRuns(s)}
	for i, q := range r.Quantities {
		c := Course{Kind: "simulated"}
		for n := range r.Steps {
			x := r.Trajectory[n][i]
			_, high := measure.Estimate{StdErr: x.StdErr, DF: way.Runs - 1}.Interval(0.95)
			c.Mean, c.Neglected = append(c.Mean, x.Mean), append(c.Neglected, high)
			c.Deviation = append(c.Deviation, x.StdErr*math.Sqrt(float64(way.Runs)))
		}
		switch q {
		case sim.ExpectedReward:
			way.Reward, way.Deviation, way.Neglected, way.Kind = c.Mean, c.Deviation, c.Neglected, c.Kind
			way.Scope.In = true
		case sim.SamplesDrawn:
			way.Samples = c.Mean
		default:
			way.Quantities[q] = c
		}
	}
	way.TimeTo = way.timeTo(cache.end(s), level)
	return way
}

// SimulatedRuns is the number of runs of which Simulated takes means.
func SimulatedRuns(s *config.Settings) int { return max(s.Run.Replicas, 64) }

// losing returns the sizes of what a path leaves out with what is lost after its first step.
func losing(sizes Series, lost float64) Series {
	if lost == 0 {
		return sizes
	}
	sizes = slices.Clone(sizes)
	for n := range sizes[1:] {
		sizes[1+n] += lost
	}
	return sizes
}

func span(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// lostShare returns the largest share of the runs that flagged mechanisms keep away from a path;
// +Inf: not known.
func lostShare(arrival *arrive.Prediction) (lost float64) {
	for i := range arrival.Rows {
		switch row := &arrival.Rows[i]; {
		case !row.Flag:
		case row.Share.Out():
			return math.Inf(1)
		default:
			lost += row.Share.Value
		}
	}
	return lost
}

// WayMade is the share of the way of J at which a run counts as done where no level is given.
// Trainers usually ask for it, as `time_to_95` in maps.
const WayMade = 0.95

// TimeOf returns when another recorded quantity than J, which has a path, reaches a level, and that
// path.
func (w *Way) TimeOf(q sim.Quantity, level float64) (*TimeTo, *Path) {
	c := w.Of(q)
	of := Way{Samples: w.Samples, Path: Path{Steps: w.Steps[:len(c.Mean)], Reward: c.Mean,
		Deviation: c.Deviation, Neglected: c.Neglected, Kind: c.Kind}}
	return of.timeTo(math.Inf(1), level), &of.Path
}

// timeTo returns when J, on its way to end, reaches a level; NaN: that of the usual share of the
// way. It returns nil where there is no way.
func (w *Way) timeTo(end, level float64) *TimeTo {
	start := w.Reward[0]
	if !(math.Abs(end-start) > 1e-9) {
		return nil
	}
	if math.IsNaN(level) {
		level = start + WayMade*(end-start)
	}
	t := &TimeTo{Level: level, Share: (level - start) / (end - start),
		Steps: TimeOf(w.Steps, w.Reward, w.Neglected, level, level >= start)}
	t.Steps.Kind = w.Kind
	if t.Steps.Out() || math.IsInf(t.Steps.Value, 1) {
		return t
	}
	i := 1
	for i < len(w.Steps)-1 && float64(w.Steps[i]) < t.Steps.Value {
		i++
	}
	slope := (w.Reward[i] - w.Reward[i-1]) / float64(w.Steps[i]-w.Steps[i-1])
	if i < len(w.Deviation) && slope != 0 && !math.IsNaN(w.Deviation[i]) {
		t.Deviation = w.Deviation[i] / math.Abs(slope)
	}
	if i < len(w.Samples) {
		part := (t.Steps.Value - float64(w.Steps[i-1])) / float64(w.Steps[i]-w.Steps[i-1])
		t.Samples = w.Samples[i-1] + part*(w.Samples[i]-w.Samples[i-1])
	}
	return t
}

// TimeOf returns when a path reaches a level, from below where up, see Reaches. What that leaves
// out is how far the time moves if the path moves by what it leaves out.
func TimeOf(steps []int, values, neglected []float64, level float64, up bool) (time scope.Number) {
	if time.Value = Reaches(steps, values, level, up); math.IsNaN(time.Value) {
		time.Because = scope.UnknownSize.Because("the path has no finite prediction before the level is reached")
		return time
	}
	size, note := 0.0, ""
	for _, sign := range [2]float64{-1, 1} {
		displaced := slices.Clone(values)
		for i := range neglected {
			displaced[i] += sign * neglected[i]
		}
		if other := Reaches(steps, displaced, level, up); other != time.Value {
			size = max(size, math.Abs(other-time.Value))
		}
	}
	if math.IsInf(size, 1) {
		note = "displaced by what it leaves out, the path reaches the level or not"
	}
	time.Leave(scope.HigherOrder, size, note)
	return time
}

// Reaches returns the optimizer step at which a curve first reaches a level, from below where up,
// interpolated linearly. It is +Inf where it does not, NaN where it has no value before.
func Reaches(steps []int, values []float64, level float64, up bool) float64 {
	for i, x := range values {
		switch {
		case math.IsNaN(x):
			return math.NaN()
		case up && x < level, !up && x > level:
		case i == 0:
			return float64(steps[0])
		default:
			before, apart := values[i-1], float64(steps[i]-steps[i-1])
			return float64(steps[i-1]) + apart*(level-before)/(x-before)
		}
	}
	return math.Inf(1)
}

// samples returns the mean number of samples drawn before each step. Redrawn groups take 1/(1 − Z)
// times as many, Z the share of groups of equal rewards, interpolated between steps. It is empty at
// G = ∞ and where Z is not known.
func samples(s *config.Settings, steps []int, equal Course) (all Series) {
	in, redraws := sim.Cell{Estimator: s.Estimator, Lag: s.Lag}, s.Estimator.Filter == option.Redraw
	if s.Estimator.GroupSize == option.Infinite || redraws && equal.Because.Out() {
		return nil
	}
	sum := 0.0
	for n, step := range steps {
		if !redraws {
			sum, _ = in.SamplesBefore(step)
		} else if n > 0 {
			before := steps[n-1]
			each, _ := in.SamplesBefore(1)
			for t := before; t < step; t++ {
				if in.Draws(t) {
					part := float64(t-before) / float64(step-before)
					sum += each / (1 - ((1-part)*equal.Mean[n-1] + part*equal.Mean[n]))
				}
			}
		}
		all = append(all, sum)
	}
	return all
}
