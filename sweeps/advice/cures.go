package advice

import (
	"context"
	"fmt"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// change sets one key of a configuration.
type change = config.Assignment

// cure is a kind of changes that may let runs arrive: those to try, the mildest first. Later ones
// are not tried once one arrives. Those that break a rule between keys are left out.
type cure struct {
	values [][]change
	helps  bool // runs that fail without the noise of sampling too
}

// repairs are tried for all cells whose runs do not arrive. astray says that the mean force leads
// astray, and not that its pace is slow.
func repairs(s *config.Settings, astray bool) []cure {
	stale := stale(s)
	type modes = []option.ImportanceMode
	weight := func(to option.ImportanceMode, of modes, also ...change) cure {
		when := stale && slices.Contains(of, s.Estimator.Importance.Mode)
		return cure{word(s, "grpo.importance.mode", when, to, also...), true}
	}
	all := []cure{
		{word(s, "grpo.kl.gradient", sampledPenalty(s), option.ExactKL), astray},
		{word(s, "grpo.kl.gradient", sampledPenalty(s), option.K2), astray},
		{word(s, "grpo.kl.gradient", sampledPenalty(s), option.RatioK3), astray},
		{word(s, "grpo.kl.at", s.Estimator.KL.Coefficient > 0 && stale, option.AtCurrent), true},
		{word(s, "lag.samples", s.Estimator.Samples == option.Reused, option.Fresh), true},
		weight(option.Ratio, modes{option.NoImportance}),
		weight(option.Clip, modes{option.NoImportance, option.Ratio}),
		weight(option.DualClip, modes{option.Clip}, change{Param: "grpo.importance.cap", Value: 1.5}),
		weight(option.CISPO, modes{option.Clip}),
		weight(option.NoImportance, modes{option.Ratio, option.Clip, option.DualClip}),
		{values(config.LagIntervalKey, shorterLags(s)...), true},
	}
	if b := s.Estimator.GroupsPerStep; s.Estimator.GroupSize != option.Infinite {
		all = append(all, cure{values("grpo.groups_per_step", 2*b, 4*b, 8*b), false})
	}
	return all
}

// brakes are tried where runs are lost.
func brakes(s *config.Settings, most float64) []cure {
	warmups := slices.DeleteFunc([]int{10, 50, 100, 200, 400}, func(steps int) bool {
		return steps <= s.Optimizer.Schedule.Warmup || steps > s.Run.Steps/2
	})
	all := []cure{
		{rates(s, most, 0.75, 0.625, 1./2, 1./4, 1./8, 1./16, 1./32, 1./64), true},
		{values("optimizer.max_norm", below(s.Optimizer.MaxNorm, 10, 4, 1, 0.1)...), true},
		{values("optimizer.schedule.warmup", warmups...), true},
	}
	if mu := s.Optimizer.Momentum; s.Optimizer.Kind != option.Adam && mu != 0 {
		all = append(all, cure{values(config.MomentumKey, below(mu, 0.8, 0.5, 0)...), true})
	}
	return all
}

// longer runs are tried where most are late or return slowly from too deep: up to so many times as
// long.
func longer(s *config.Settings, most int) (c cure) {
	c.helps = true
	for factor := 2; factor <= most; factor *= 2 {
		steps := factor * s.Run.Steps
		if factor > 4 && steps > 100_000 { // four times the file's length is tried however long
			break
		}
		longer := []change{{Param: config.StepsKey, Value: steps}}
		if at := s.Optimizer.Schedule; at.Kind != option.ConstantRate && at.Total == s.Run.Steps {
			longer = append(longer, change{Param: config.ScheduleTotalKey, Value: steps})
		}
		c.values = append(c.values, longer)
	}
	return c
}

// word returns a change of a key to a word, and also of others, when that changes something.
func word(s *config.Settings, key string, when bool, to fmt.Stringer, also ...change) [][]change {
	if k, _ := config.LookupKey(key); !when || k.Get(s) == to.String() {
		return nil
	}
	return [][]change{append([]change{{Param: key, Value: to.String()}}, also...)}
}

// values lists changes of one key to each of the values.
func values[Value any](key string, values ...Value) (all [][]change) {
	for _, v := range values {
		all = append(all, []change{{Param: key, Value: v}})
	}
	return all
}

// below returns the values less than the present one; all if that is 0, which stands for none.
func below(present float64, values ...float64) []float64 {
	return slices.DeleteFunc(values, func(v float64) bool { return present > 0 && v >= present })
}

// rates lists changes of the learning rate to multiples of the present one that are at most as given,
// rounded.
func rates(s *config.Settings, most float64, factors ...float64) [][]change {
	var all []float64
	for _, factor := range factors {
		if rate := config.Round(factor * s.Optimizer.LearningRate); rate <= most {
			all = append(all, rate)
		}
	}
	return values(config.LearningRateKey, all...)
}

// stale reports whether samples are of older policies.
func stale(s *config.Settings) bool { return s.Lag.Kind == option.Random || !grpo.OnPolicy(&s.Lag) }

// sampledPenalty reports whether the KL gradient is estimated from samples in the loss.
func sampledPenalty(s *config.Settings) bool {
	kl := &s.Estimator.KL
	return kl.Sampled() && !kl.Outside()
}

// shorterLags returns the halves of a refresh interval or delay down to the shortest.
func shorterLags(s *config.Settings) (all []int) {
	first, _ := shortestLag(s.Lag.Kind)
	for n := s.Lag.Interval; s.Lag.Kind.Regular() && n > int(first); {
		n = max(n/2, int(first))
		all = append(all, n)
	}
	return all
}

// MostCures is the number of kinds of changes that arrive after which no others are tried.
const MostCures = 2

// cure tries kinds of changes of a cell of which the trial as it stands is given, the mildest first.
func (advice *Advice) cure(ctx context.Context, t *Trials, present *Trial) error {
	s := &t.cell.Settings
	if present.late() && s.Units() != "" {
		return nil // at a network's rate runs are late for that alone
	}
	mean, err := t.withoutNoise(ctx, present)
	if err != nil {
		return err
	}
	noisy := mean == nil || mean.Outcome == Arrives
	var kinds []cure
	most := safest(advice.Lines, ofRate) / safetyFactor
	if present.late() {
		kinds = append(kinds, cure{rates(s, most, 2, 4, 8, 16, 64, 256, 1024, 4096, 16384), true})
	}
	if present.onTheWay() < present.Runs-present.Count(theory.AtTarget) {
		kinds = append(kinds, brakes(s, most)...)
	}
	// k3 from samples of older policies leads astray without noise too
	staleK3 := sampledPenalty(s) && s.Estimator.KL.Gradient == option.K3 && stale(s)
	kinds = append(kinds, repairs(s, noisy || staleK3 && !mean.late())...)
	if present.most(present.onTheWay() + present.Count(theory.TooDeep)) {
		kinds = append(kinds, longer(s, advice.longest()))
	}
	kinds = slices.DeleteFunc(kinds, func(c cure) bool { return c.values == nil || !c.helps && !noisy })
	arrived := 0
	for i, c := range kinds {
		if advice.Untried = len(kinds) - i; arrived == MostCures && !advice.All {
			return nil
		}
		t.tell("kinds of changes", i, len(kinds))
		for _, set := range c.values {
			trial, err := t.hopeful(ctx, set, nil)
			if err != nil {
				return err
			}
			if trial == nil {
				continue
			}
			if advice.Cures = append(advice.Cures, trial); trial.Outcome == Arrives {
				arrived++
				break
			}
		}
	}
	advice.Untried = 0
	return nil
}

// longest is the largest multiple of a run's length that is tried.
func (advice *Advice) longest() int {
	if advice.All {
		return 64
	}
	return 4
}

// hopeful returns the trial of changes, nil also where their run without noise is not on the right
// arm, or much slower than another, unless that is nil.
func (t *Trials) hopeful(ctx context.Context, set []change, than *Trial) (*Trial, error) {
	changed, broken := config.Change(t.cell.Settings, set...)
	if broken != "" {
		return nil, nil
	}
	if changed.Estimator.GroupSize != option.Infinite {
		mean, err := t.Of(ctx, append(slices.Clone(set), withoutNoise)...)
		if err != nil || mean != nil && (mean.Outcome != Arrives && mean.Count(theory.TooDeep) == 0 ||
			than != nil && than.Outcome == Arrives && mean.slower(than, 1.5)) {
			return nil, err
		}
	}
	return t.Of(ctx, set...)
}

// withoutNoise leaves out the noise of sampling.
var withoutNoise = change{Param: config.GroupSizeKey, Value: option.Infinite}

// withoutNoise returns the trial of a cell without the noise of sampling: present, that as it
// stands, if it has none; nil where it is not possible.
func (t *Trials) withoutNoise(ctx context.Context, present *Trial) (*Trial, error) {
	if t.cell.Settings.Estimator.GroupSize == option.Infinite {
		return present, nil
	}
	return t.Of(ctx, withoutNoise)
}
