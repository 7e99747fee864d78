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

// kind is a kind of changes that may let runs arrive: those to try, the mildest first. Later ones
// are not tried once one arrives. Those that break a rule between keys are left out.
type kind [][]change

// kinds returns the kinds of changes for a cell of which the trial as it stands is given, the
// mildest first. Learning rates are at most as given.
func kinds(s *config.Settings, present *Trial, most float64) (all []kind) {
	if present.late() {
		all = append(all, rates(s, most, 2, 4, 8, 16, 64, 256, 1024, 4096, 16384))
	}
	if present.onTheWay() < present.Runs-present.Count(theory.AtTarget) {
		warmups := slices.DeleteFunc([]int{10, 50, 100, 200, 400}, func(steps int) bool {
			return steps <= s.Optimizer.Schedule.Warmup || steps > s.Run.Steps/2
		})
		all = append(all, rates(s, most, 0.75, 0.625, 1./2, 1./4, 1./8, 1./16, 1./32, 1./64),
			values("optimizer.max_norm", below(s.Optimizer.MaxNorm, 10, 4, 1, 0.1)...),
			values("optimizer.schedule.warmup", warmups...))
		if mu := s.Optimizer.Momentum; s.Optimizer.Kind != option.Adam && mu != 0 {
			all = append(all, values(config.MomentumKey, below(mu, 0.8, 0.5, 0)...))
		}
	}
	kl := &s.Estimator.KL
	stale := s.Lag.Kind == option.Random || !grpo.OnPolicy(&s.Lag)
	estimated := kl.Sampled() && !kl.Outside() // from samples in the loss
	weight := func(to option.ImportanceMode, of []option.ImportanceMode, also ...change) kind {
		return word(s, "grpo.importance.mode", stale && slices.Contains(of, s.Estimator.Importance.Mode), to, also...)
	}
	type modes = []option.ImportanceMode
	all = append(all,
		word(s, "grpo.kl.gradient", estimated, option.ExactKL),
		word(s, "grpo.kl.gradient", estimated, option.K2),
		word(s, "grpo.kl.gradient", estimated, option.RatioK3),
		word(s, "grpo.kl.at", kl.Coefficient > 0 && stale, option.AtCurrent),
		word(s, "lag.samples", s.Estimator.Samples == option.Reused, option.Fresh),
		weight(option.Ratio, modes{option.NoImportance}),
		weight(option.Clip, modes{option.NoImportance, option.Ratio}),
		weight(option.DualClip, modes{option.Clip}, change{Param: "grpo.importance.cap", Value: 1.5}),
		weight(option.CISPO, modes{option.Clip}),
		weight(option.NoImportance, modes{option.Ratio, option.Clip, option.DualClip}),
		values(config.LagIntervalKey, shorterLags(s)...))
	if b := s.Estimator.GroupsPerStep; s.Estimator.GroupSize != option.Infinite {
		all = append(all, values("grpo.groups_per_step", 2*b, 4*b, 8*b))
	}
	if present.most(present.onTheWay() + present.Count(theory.TooDeep)) {
		all = append(all, longer(s))
	}
	return slices.DeleteFunc(all, func(k kind) bool { return k == nil })
}

func longer(s *config.Settings) (all kind) {
	for _, factor := range []int{2, 4, 16, 64} {
		steps := factor * s.Run.Steps
		if factor > 4 && steps > 100_000 { // four times the file's length is tried however long
			break
		}
		longer := []change{{Param: config.StepsKey, Value: steps}}
		if at := s.Optimizer.Schedule; at.Kind != option.ConstantRate && at.Total == s.Run.Steps {
			longer = append(longer, change{Param: config.ScheduleTotalKey, Value: steps})
		}
		all = append(all, longer)
	}
	return all
}

// word returns a change of a key to a word, and also of others, when that changes something.
func word(s *config.Settings, key string, when bool, to fmt.Stringer, also ...change) kind {
	if k, _ := config.LookupKey(key); !when || k.Get(s) == to.String() {
		return nil
	}
	return kind{append([]change{{Param: key, Value: to.String()}}, also...)}
}

// values lists changes of one key to each of the values.
func values[Value any](key string, values ...Value) kind {
	return config.Each(values, func(v Value) []change { return []change{{Param: key, Value: v}} })
}

// below returns the values less than the present one; all if that is 0, which stands for none.
func below(present float64, values ...float64) []float64 {
	return slices.DeleteFunc(values, func(v float64) bool { return present > 0 && v >= present })
}

// rates lists changes of the learning rate to multiples of the present one, rounded, that are at
// most as given.
func rates(s *config.Settings, most float64, factors ...float64) kind {
	var all []float64
	for _, factor := range factors {
		if rate := config.Round(factor * s.Optimizer.LearningRate); rate <= most {
			all = append(all, rate)
		}
	}
	return values(config.LearningRateKey, all...)
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

// cure tries changes of a cell of which the trial as it stands is given.
func (advice *Advice) cure(ctx context.Context, t *Trials, present *Trial) error {
	s, arrived := &t.cell.Settings, 0
	all := kinds(s, present, safest(advice.Lines, ofRate)/safetyFactor)
	if present.late() && s.Units() != "" {
		all = nil // at a network's rate runs are late for that alone
	}
	for i, k := range all {
		if arrived == MostCures && !advice.All {
			advice.Untried = len(all) - i
			break
		}
		t.Progress("kinds of changes", i, len(all))
		for n, set := range k {
			if set[0].Param == config.StepsKey && n > 1 && arrived > 0 && !advice.All {
				break // longer runs are dear
			}
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
	return nil
}

// hopeful returns the trial of changes. It is nil where their run without noise is not on the right
// arm, or is much slower than another trial, if there is one.
func (t *Trials) hopeful(ctx context.Context, set []change, than *Trial) (*Trial, error) {
	if t.cell.Settings.Estimator.GroupSize != option.Infinite {
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
