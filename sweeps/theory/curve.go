package theory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
)

// Path is the predicted mean of a recorded quantity of the runs of a cell over optimizer steps. By
// that of J the claim `trajectory` judges them.
type Path struct {
	Steps  []int  `json:"steps"`           // ascending, from 0 on
	Reward Series `json:"expected_reward"` // mean of J, or of another quantity, over runs at each step

	// Deviation is the standard deviation over runs, and Neglected the predicted size of what Reward
	// leaves out, the largest up to each step, both in units of the quantity; empty: not known.
	Deviation Series `json:"expected_reward_deviation"`
	Neglected Series `json:"neglected"`

	Kind  rom.Kind  `json:"kind"`  // exact, expansion or leading-order
	Scope rom.Scope `json:"scope"` // out: the theory has no path, and the lists are empty

	strata []path.Stratum // of J of prompts with a policy each
}

// Observed returns what the theory has of a recorded quantity; for a stratum the reward, of whose
// path it is a Part.
func Observed(q sim.Quantity) (rom.Observed, scope.Reason) {
	_, ofStratum := q.Stratum()
	switch {
	case q == sim.ImportanceRatioMax:
		return "", scope.NotPredicted.Because("the largest of the importance ratios")
	case q == sim.GradientCosine:
		return "", scope.NotPredicted.Because("the cosine between successive gradients")
	case ofStratum:
		return rom.Reward, scope.Reason{}
	}
	return rom.Observed(q), scope.Reason{}
}

// Part returns the path of a recorded quantity, given that of what the theory has of it: of a
// stratum its own.
func Part(path *rom.Path, q sim.Quantity) *rom.Path {
	number, ofStratum := q.Stratum()
	switch {
	case !ofStratum || !path.Scope.In:
		return path
	case number > len(path.Strata):
		return &rom.Path{Scope: rom.Scope{Because: scope.Undecided.Because(fmt.Sprintf(
			"the prompts are in %d strata by the reward with which they start, of which none is %s",
			len(path.Strata), q))}}
	}
	return &path.Strata[number-1].Path
}

// Courses returns the predicted paths of recorded quantities of the runs of a cell at steps,
// ascending from 0 on, in the time of one. The cache does not keep them.
func (cache *Cache) Courses(s *config.Settings, steps []int, of ...sim.Quantity) []Path {
	all, known, places := make([]Path, len(of)), []rom.Observed(nil), []int(nil)
	start := cache.Start(s)
	for i, q := range of {
		o, because := Observed(q)
		if start == nil {
			because = scope.NotReached.Because()
		}
		if all[i].Scope.Because = because; !because.Out() {
			known, places = append(known, o), append(places, i)
		}
	}
	if len(known) == 0 {
		return all
	}
	params := Params(s, rom.Unit)
	point, reached := cache.Equilibrium(params).Reached()
	few := FewKicks(params, s, start, point, reached, s.Run.Steps)
	for n, r := range rom.Paths(params, start, steps, known...) {
		path := &all[places[n]]
		r = *Part(&r, of[places[n]])
		path.Kind = r.Kind
		if because := cmp.Or(r.Scope.Because, few); because.Out() {
			path.Scope.Because = because
			continue
		}
		if known[n] == rom.Reward || of[places[n]] == sim.TrueReward && params.TrueMeans == nil {
			r = *ComeToRest(&r, steps, func() *AtRest { return cache.Stationary(s) })
		}
		path.Steps, path.Scope.In = steps, true
		path.Reward, path.Deviation, path.Neglected, path.strata = r.Mean, r.Deviation, r.Neglected, r.Strata
	}
	return all
}

// Series holds a number for each step of a path; NaN or infinite where the theory has none.
type Series []float64

// MarshalJSON writes null in the place of a number that is NaN or infinite.
func (s Series) MarshalJSON() ([]byte, error) {
	values := make([]*float64, len(s))
	for i := range s {
		if !math.IsNaN(s[i]) && !math.IsInf(s[i], 0) {
			values[i] = &s[i]
		}
	}
	return json.Marshal(values)
}

// ComparedSteps returns the recorded and the fitted steps of a run, ascending.
func ComparedSteps(s *config.Settings) []int {
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	for _, fit := range []sim.CurveFit{sim.SaturationFit, sim.EarlySlopeFit} {
		steps = append(steps, sim.FitSteps(fit, s.Run.Steps)...)
	}
	return slices.Compact(slices.Sorted(slices.Values(steps)))
}

// EveryStep returns the steps of a run, for SinceRecord.
func EveryStep(last int) []int {
	steps := make([]int, last+1)
	for t := range steps {
		steps[t] = t
	}
	return steps
}

// SinceRecord returns the mean of a number of every step over those since the last record, at each
// recorded step. So do runs record what sim.Quantity.SinceRecord names.
func SinceRecord(values []float64, recorded []int) (means []float64) {
	if values == nil {
		return nil
	}
	from := 0
	for _, t := range recorded {
		means = append(means, stat.Mean(values[from:t+1], nil))
		from = t + 1
	}
	return means
}

// FewKicks returns why too few groups of the first steps exert a force for the mean reward of a
// cell to be judged. It asks at the logits start, and at the fixed point if it is reached; both
// must have too few.
func FewKicks(params rom.Params, s *config.Settings, start []float64, point fixed.Point,
	reached bool, steps int) scope.Reason {
	if s.Estimator.GroupSize == option.Infinite || params.GroupSize == option.Infinite {
		return scope.Reason{}
	}
	few := func(logits []float64) scope.Reason {
		return RareSamples(force.Informed(params, logits)*float64(steps*s.Run.Replicas), "mean reward")
	}
	because := few(start)
	if because.Out() && reached && !few(point.Logits).Out() {
		return scope.Reason{}
	}
	return because
}

// ComeToRest bounds the sizes of a path, known at the given steps, by those of the stationary state
// where the path has come to rest. There runs are at rest but for what the stationary mean
// neglects, its whole shift by the noise, and what stillMoving bounds. A mean without a finite size
// becomes that of the stationary state. Other means stay, with at most that size and their distance
// from it. The path itself is returned where it has no sizes, or the stationary state is not known.
func ComeToRest(r *rom.Path, steps []int, stationary func() *AtRest) *rom.Path {
	if r.Neglected == nil || r.Field == nil {
		return r
	}
	at := stationary()
	p := at.prediction
	if at.Scope().Out() || p.Moments.RewardShift == nil {
		return r
	}
	rest := *r
	rest.Mean, rest.Neglected = slices.Clone(r.Mean), slices.Clone(r.Neglected)
	rest.Deviation = slices.Clone(r.Deviation)
	variance := at.Variance()
	shift := *p.Moments.RewardShift
	mean, moving := p.FixedPoint.Reward+shift, stillMoving(r.Field, steps, p.FixedPoint.Reward)
	for i, moves := range moving {
		size := p.Neglected.RewardMean + math.Abs(shift) + moves
		if !math.IsInf(r.Neglected[i], 1) {
			rest.Neglected[i] = min(r.Neglected[i], size+math.Abs(r.Mean[i]-mean))
			continue
		}
		if math.IsInf(size, 1) {
			continue
		}
		rest.Mean[i], rest.Neglected[i] = mean, size
		if rest.Deviation != nil {
			rest.Deviation[i] = math.NaN()
			if !variance.Judged(variance.Value).Out() {
				rest.Deviation[i] = math.Sqrt(variance.Value)
			}
		}
	}
	return &rest
}

// stillMoving bounds how far from rest the mean of runs is at each of the steps t. Runs follow the
// mean field of J, NaN where it is not known. With m(s) its largest distance from rest from step s
// on,
//
//	min over s ≤ t of m(s) + m(0) e^{1 − t/s}
//
// since runs that noise holds on a plateau leave it one after the other. Of those that have not
// when the field is at rest, a share of 1 − 1/e leaves in each further s steps.
func stillMoving(field []float64, steps []int, rest float64) []float64 {
	moves := slices.Clone(field)
	after := 0.0
	for i, x := range slices.Backward(moves) {
		if after = max(after, math.Abs(x-rest)); math.IsNaN(x) {
			after = math.Inf(1)
		}
		moves[i] = after
	}
	if math.IsInf(moves[0], 1) {
		return slices.Repeat(moves[:1], len(field))
	}
	moving := make([]float64, len(field))
	for i, t := range steps {
		moving[i] = moves[0]
		for k, s := range steps[:i+1] {
			if s > 0 && moves[k] < moving[i] {
				moving[i] = min(moving[i], moves[k]+moves[0]*fp.MathExp(1-float64(t)/float64(s)))
			}
		}
	}
	return moving
}
