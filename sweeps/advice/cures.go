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

// cure is a kind of changes that may let runs arrive.
type cure struct {
	// values returns those to try, the mildest first; nil where it does not apply. Later ones are not
	// tried once one arrives.
	values func(s *config.Settings) [][]config.Assignment

	// helps reports whether it can help runs that fail without the noise of sampling too, as mean
	// does; nil: it can.
	helps func(s *config.Settings, mean *Trial) bool
}

// noiseAlone is of changes that act on the noise of sampling alone.
func noiseAlone(*config.Settings, *Trial) bool { return false }

// unlessAstray is of changes that act on the noise, and on a mean force that leads astray: not on
// its pace.
func unlessAstray(s *config.Settings, mean *Trial) bool { return staleK3(s) && !mean.late() }

// Changes of a cell whose runs do not arrive: repairs are tried for all, brakes where runs are lost,
// spurs where most are late, longer runs where most are late or return slowly from too deep. Those
// that break a rule between keys are left out.
var (
	repairs = []cure{
		{word("grpo.kl.gradient", sampledPenalty, option.ExactKL), unlessAstray},
		{word("grpo.kl.gradient", sampledPenalty, option.K2), unlessAstray},
		{word("grpo.kl.gradient", sampledPenalty, option.RatioK3), unlessAstray},
		{word("grpo.kl.at", func(s *config.Settings) bool { return s.Estimator.KL.Coefficient > 0 && stale(s) }, option.AtCurrent), nil},
		{word("lag.samples", func(s *config.Settings) bool { return s.Estimator.Samples == option.Reused }, option.Fresh), nil},
		{word("grpo.importance.mode", weighted(option.NoImportance), option.Ratio), nil},
		{word("grpo.importance.mode", weighted(option.NoImportance, option.Ratio), option.Clip), nil},
		{word("grpo.importance.mode", weighted(option.Clip), option.DualClip, config.Assignment{Param: "grpo.importance.cap", Value: 1.5}), nil},
		{word("grpo.importance.mode", weighted(option.Clip), option.CISPO), nil},
		{word("grpo.importance.mode", weighted(option.Ratio, option.Clip, option.DualClip), option.NoImportance), nil},
		{func(s *config.Settings) [][]config.Assignment {
			return values(config.LagIntervalKey, shorterLags(s)...)
		}, nil},
		{func(s *config.Settings) [][]config.Assignment {
			if s.Estimator.GroupSize == option.Infinite {
				return nil
			}
			b := s.Estimator.GroupsPerStep
			return values("grpo.groups_per_step", 2*b, 4*b, 8*b)
		}, noiseAlone},
	}
	brakes = []cure{
		{func(s *config.Settings) [][]config.Assignment {
			return values("optimizer.max_norm", below(s.Optimizer.MaxNorm, 10, 4, 1, 0.1)...)
		}, nil},
		{func(s *config.Settings) (all [][]config.Assignment) {
			for _, warmup := range []int{10, 50, 100, 200, 400} {
				if warmup > s.Optimizer.Schedule.Warmup && warmup <= s.Run.Steps/2 {
					all = append(all, values("optimizer.schedule.warmup", warmup)...)
				}
			}
			return all
		}, nil},
		{func(s *config.Settings) [][]config.Assignment {
			return values(config.LearningRateKey, multiples(s.Optimizer.LearningRate, 0.75, 0.625, 1./2, 1./4, 1./8, 1./16, 1./32, 1./64)...)
		}, nil},
		{func(s *config.Settings) [][]config.Assignment {
			if s.Optimizer.Kind == option.Adam || s.Optimizer.Momentum == 0 {
				return nil
			}
			return values(config.MomentumKey, below(s.Optimizer.Momentum, 0.8, 0.5, 0)...)
		}, nil},
	}
	spurs = []cure{
		{func(s *config.Settings) [][]config.Assignment {
			return values(config.LearningRateKey, multiples(s.Optimizer.LearningRate, 2, 4, 8, 16)...)
		}, nil},
	}
	longer = []cure{
		{func(s *config.Settings) (all [][]config.Assignment) {
			for _, factor := range []int{4, 16, 64} {
				if factor > 4 && factor*s.Run.Steps > longestTried {
					break
				}
				longer := []config.Assignment{{Param: config.StepsKey, Value: factor * s.Run.Steps}}
				if schedule := s.Optimizer.Schedule; schedule.Kind != option.ConstantRate && schedule.Total == s.Run.Steps {
					longer = append(longer, config.Assignment{Param: config.ScheduleTotalKey, Value: factor * s.Run.Steps})
				}
				all = append(all, longer)
			}
			return all
		}, nil},
	}
)

// longestTried bounds the steps of runs of more than four times the file's length.
const longestTried = 100_000

// word returns a change to one word of a key, and to other keys besides, of settings with another
// word to which it applies.
func word(key string, applies func(*config.Settings) bool, to fmt.Stringer, besides ...config.Assignment) func(*config.Settings) [][]config.Assignment {
	return func(s *config.Settings) [][]config.Assignment {
		if k, _ := config.LookupKey(key); !applies(s) || k.Get(s) == to.String() {
			return nil
		}
		return [][]config.Assignment{append([]config.Assignment{{Param: key, Value: to.String()}}, besides...)}
	}
}

// values lists changes of one key to each of the values.
func values[Value any](key string, values ...Value) (all [][]config.Assignment) {
	for _, v := range values {
		all = append(all, []config.Assignment{{Param: key, Value: v}})
	}
	return all
}

// below returns the values less than the present one; all if that is 0, which stands for none.
func below(present float64, values ...float64) []float64 {
	return slices.DeleteFunc(values, func(v float64) bool { return present > 0 && v >= present })
}

// multiples returns the multiples of x, rounded.
func multiples(x float64, factors ...float64) (all []float64) {
	for _, factor := range factors {
		all = append(all, config.Round(x*factor))
	}
	return all
}

// stale reports whether samples are of older policies.
func stale(s *config.Settings) bool { return s.Lag.Kind == option.Random || !grpo.OnPolicy(&s.Lag) }

// sampledPenalty reports whether the KL gradient is estimated from samples in the loss.
func sampledPenalty(s *config.Settings) bool {
	kl := &s.Estimator.KL
	return kl.Sampled() && !kl.Outside()
}

// staleK3 reports whether k3 estimates the penalty from samples of older policies.
func staleK3(s *config.Settings) bool {
	return sampledPenalty(s) && s.Estimator.KL.Gradient == option.K3 && stale(s)
}

// weighted returns a condition: samples are of older policies, with a weight of one of the modes.
func weighted(modes ...option.ImportanceMode) func(*config.Settings) bool {
	return func(s *config.Settings) bool { return stale(s) && slices.Contains(modes, s.Estimator.Importance.Mode) }
}

// shorterLags returns the halves of a refresh interval or delay down to the shortest.
func shorterLags(s *config.Settings) (all []int) {
	first, _ := shortestLag(s.Lag.Kind)
	if s.Lag.Kind == option.Random {
		return nil
	}
	for n := s.Lag.Interval; n > int(first); {
		n = max(n/2, int(first))
		all = append(all, n)
	}
	return all
}

// Cures tries the changes of a cell of which the trial as it stands is given.
func (t *Trials) Cures(ctx context.Context, present *Trial) (tried []*Trial, err error) {
	if present.late() && t.cell.Settings.Units() != "" {
		return nil, nil // at a network's rate runs are late for that alone
	}
	mean, err := t.withoutNoise(ctx, present)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(repairs)
	if present.onTheWay() < present.Runs-present.Count(theory.AtTarget) {
		all = append(all, brakes...)
	}
	if present.late() {
		all = append(all, spurs...)
	}
	if present.most(present.onTheWay() + present.Count(theory.TooDeep)) {
		all = append(all, longer...)
	}
	if mean != nil && mean.Outcome != Arrives {
		all = slices.DeleteFunc(all, func(c cure) bool { return c.helps != nil && !c.helps(&t.cell.Settings, mean) })
	}
	t.announce(fmt.Sprintf("%d kinds of changes, at most", len(all)), 2*trialRuns[1]*len(all))
	for _, c := range all {
		for _, set := range c.values(&t.cell.Settings) {
			trial, err := t.Of(ctx, set...)
			if err != nil {
				return nil, err
			}
			if trial == nil {
				continue
			}
			tried = append(tried, trial)
			if trial.Outcome == Arrives {
				break
			}
		}
	}
	return tried, nil
}

// withoutNoise returns the trial of a cell without the noise of sampling: present, that as it
// stands, if it has none; nil where it is not possible.
func (t *Trials) withoutNoise(ctx context.Context, present *Trial) (*Trial, error) {
	if t.cell.Settings.Estimator.GroupSize == option.Infinite {
		return present, nil
	}
	return t.Of(ctx, config.Assignment{Param: config.GroupSizeKey, Value: option.Infinite})
}
