package sweeps

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sweeps/config"
)

// cure is a change that may let runs arrive. It returns the values to try, the mildest first; nil
// where it does not apply. Later ones are not tried once one arrives.
type cure func(s *config.Settings) [][]config.Assignment

// Changes of a cell whose runs do not arrive: repairs are tried for all, brakes where runs are lost,
// spurs where they are late. Those that break a rule between keys are left out.
var (
	repairs = []cure{
		word("grpo.kl.gradient", sampledPenalty, grpo.ExactKL),
		word("grpo.kl.gradient", sampledPenalty, grpo.K2),
		word("grpo.kl.gradient", sampledPenalty, grpo.RatioK3),
		word("grpo.kl.at", func(s *config.Settings) bool { return s.Estimator.KL.Coefficient > 0 && stale(s) }, grpo.AtCurrent),
		word("lag.samples", func(s *config.Settings) bool { return s.Estimator.Samples == grpo.Reused }, grpo.Fresh),
		word("grpo.importance.mode", weighted(grpo.NoImportance), grpo.Ratio),
		word("grpo.importance.mode", weighted(grpo.NoImportance, grpo.Ratio), grpo.Clip),
		word("grpo.importance.mode", weighted(grpo.Clip), grpo.DualClip, config.Assignment{Param: "grpo.importance.cap", Value: 1.5}),
		word("grpo.importance.mode", weighted(grpo.Clip), grpo.CISPO),
		word("grpo.importance.mode", weighted(grpo.Ratio, grpo.Clip), grpo.NoImportance),
		func(s *config.Settings) [][]config.Assignment {
			return values(config.LagIntervalKey, shorterLags(s)...)
		},
		func(s *config.Settings) [][]config.Assignment {
			if s.Estimator.GroupSize == grpo.Infinite {
				return nil
			}
			b := s.Estimator.GroupsPerStep
			return values("grpo.groups_per_step", 2*b, 4*b, 8*b)
		},
	}
	brakes = []cure{
		func(s *config.Settings) [][]config.Assignment {
			return values("optimizer.max_norm", below(s.Optimizer.MaxNorm, 10, 4, 1, 0.1)...)
		},
		func(s *config.Settings) (all [][]config.Assignment) {
			for _, warmup := range []int{10, 50, 100, 200, 400} {
				if warmup > s.Optimizer.Schedule.Warmup && warmup <= s.Run.Steps/2 {
					all = append(all, values("optimizer.schedule.warmup", warmup)...)
				}
			}
			return all
		},
		func(s *config.Settings) [][]config.Assignment {
			return values(config.LearningRateKey, multiples(s.Optimizer.LearningRate, 0.75, 0.625, 0.5, 0.25, 0.125)...)
		},
		func(s *config.Settings) [][]config.Assignment {
			if s.Optimizer.Kind == grpo.Adam || s.Optimizer.Momentum == 0 {
				return nil
			}
			return values(config.MomentumKey, below(s.Optimizer.Momentum, 0.8, 0.5, 0)...)
		},
	}
	spurs = []cure{
		func(s *config.Settings) [][]config.Assignment {
			return values(config.LearningRateKey, multiples(s.Optimizer.LearningRate, 2, 4, 8, 16)...)
		},
		func(s *config.Settings) (all [][]config.Assignment) {
			for _, factor := range []int{4, 16, 64} {
				if factor > 4 && factor*s.Run.Steps > longestTried {
					break
				}
				longer := []config.Assignment{{Param: config.StepsKey, Value: factor * s.Run.Steps}}
				if schedule := s.Optimizer.Schedule; schedule.Kind != grpo.ConstantRate && schedule.Total == s.Run.Steps {
					longer = append(longer, config.Assignment{Param: config.ScheduleTotalKey, Value: factor * s.Run.Steps})
				}
				all = append(all, longer)
			}
			return all
		},
	}
)

// longestTried bounds the steps of runs of more than four times the file's length.
const longestTried = 100_000

// word is a cure with one word of a key, and other keys besides, for settings with another word
// to which it applies.
func word[Word ~string](key string, applies func(*config.Settings) bool, to Word, besides ...config.Assignment) cure {
	return func(s *config.Settings) [][]config.Assignment {
		if k, _ := config.LookupKey(key); !applies(s) || k.Get(s) == string(to) {
			return nil
		}
		return [][]config.Assignment{append([]config.Assignment{{Param: key, Value: string(to)}}, besides...)}
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
func stale(s *config.Settings) bool { return s.Lag.Kind == grpo.Random || !s.Lag.OnPolicy() }

// sampledPenalty reports whether the KL gradient is estimated from samples in the loss.
func sampledPenalty(s *config.Settings) bool {
	kl := &s.Estimator.KL
	return kl.Sampled() && !kl.Outside()
}

// weighted returns a condition: samples are of older policies, with a weight of one of the modes.
func weighted(modes ...grpo.ImportanceMode) func(*config.Settings) bool {
	return func(s *config.Settings) bool { return stale(s) && slices.Contains(modes, s.Estimator.Importance.Mode) }
}

// shorterLags returns the halves of a refresh interval or delay down to the shortest.
func shorterLags(s *config.Settings) (all []int) {
	first, _ := shortestLag(s)
	if s.Lag.Kind == grpo.Random {
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
	all := slices.Clone(repairs)
	if present.Count(TooDeep, Unsteady, Elsewhere, Overflown) > 0 {
		all = append(all, brakes...)
	}
	if present.Count(NotYet) > 0 {
		all = append(all, spurs...)
	}
	t.announce(fmt.Sprintf("%d kinds of changes, at most", len(all)), 2*trialRuns[1]*len(all))
	for _, c := range all {
		for _, set := range c(&t.cell.Settings) {
			trial, err := t.Of(ctx, curedRuns, set...)
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

// mechanism is a reason why runs do not arrive by chance.
type mechanism struct {
	applies  func(s *config.Settings, present *Trial) bool // whether it is possible
	pointsAt []string                                      // beginnings of changes; that one of them arrives confirms it
	says     func(s *config.Settings) string
}

// mechanisms are the reasons of chance, the most particular first.
var mechanisms = []mechanism{
	{
		func(s *config.Settings, _ *Trial) bool {
			return sampledPenalty(s) && s.Estimator.KL.Gradient == grpo.K3
		},
		[]string{"grpo.kl.gradient=exact", "grpo.kl.gradient=k2", "grpo.kl.gradient=ratio-k3"},
		rareSampleUnderK3,
	},
	{
		func(s *config.Settings, _ *Trial) bool {
			return s.Estimator.Samples == grpo.Reused && s.Estimator.Importance.Mode == grpo.Ratio
		},
		[]string{"lag.samples=fresh", "grpo.importance.mode=clip"},
		func(s *config.Settings) string {
			x, _ := reuseFlag(s)
			return fmt.Sprintf("single lucky samples: a batch that is used %d times with the unclipped ratio π/π_old counts a rare sample more with every use, so that from x = 2ηKĀ/(N(1−μ)) ≈ 1 on it turns a policy of any depth; here x = %.2g. A clip ends this", s.Lag.Interval, x)
		},
	},
	{
		func(_ *config.Settings, present *Trial) bool { return !present.target.atRest },
		[]string{config.LearningRateKey, "grpo.groups_per_step", config.MomentumKey, "optimizer.max_norm"},
		func(s *config.Settings) string {
			return fmt.Sprintf("the policy locks by chance: without a restoring force the few samples of the better arm decide early which arm wins, and a step of η/(1−μ) = %.3g logits per unit of force over %d samples is large", effectiveRate(s), samplesPerStep(s))
		},
	},
	{
		func(s *config.Settings, present *Trial) bool { return present.Count(Unsteady) > 0 },
		[]string{config.LearningRateKey, "grpo.groups_per_step"},
		func(*config.Settings) string {
			return "the noise of finite groups: at this learning rate and batch J fluctuates widely about the state at rest"
		},
	},
	{
		func(*config.Settings, *Trial) bool { return true },
		[]string{config.LearningRateKey, "grpo.groups_per_step", config.MomentumKey, "optimizer.schedule.warmup", "optimizer.max_norm", "lag.interval"},
		func(*config.Settings) string {
			return "the noise of finite groups on the way: smaller or fewer large steps arrive"
		},
	},
}

// FromStart simulates the cell as it stands and, if its runs do not arrive, says why and tries the
// cures.
func (advice *Advice) FromStart(ctx context.Context, t *Trials) error {
	a := &adviser{settings: t.cell.Settings}
	present, err := t.Present(ctx)
	switch {
	case err != nil:
		return err
	case present == nil:
		a.unknown(fromStart, noStart)
	default:
		a.add(fromStart, float64(present.Arrived.Mean), strings.Join(present.Says(), "; "), Simulated, arrival(present))
	}
	if x, ok := reuseFlag(&t.cell.Settings); ok {
		says := fmt.Sprintf("x = %.3g: a single sample hardly turns a deep policy", x)
		if x >= 0.5 {
			says = fmt.Sprintf("x = %.3g: single lucky samples can turn a policy of any depth", x)
		}
		a.add("a rare sample under reuse", x, says, rom.LeadingOrder, "x = 2ηKĀ/(N(1−μ)), Ā the mean advantage of a lucky sample of a rare arm: within a block its ratio grows as dρ/dt = xρ²/K, without bound above 1; some lie above their mean, so that ½ is not safe")
	}
	advice.Lines = append(a.lines, advice.Lines...)
	if advice.Start = present; present == nil || present.Outcome == Arrives {
		return nil
	}
	if advice.Cures, err = t.Cures(ctx, present); err != nil {
		return err
	}
	advice.Why, err = t.why(ctx, present, advice.Cures)
	return err
}

// fromStart is what the first line of advice answers.
const fromStart = "runs from the file's start"

// arrival says how a trial decides which runs arrive.
func arrival(t *Trial) string {
	runs := "a run"
	if t.Runs > 1 {
		runs = fmt.Sprintf("%d runs", t.Runs)
	}
	return fmt.Sprintf("%s of %d steps from the file's start. One arrives if the mean of J over its last quarter is within %.0f %%, and J at its end within %.0f %%, of the range of mean rewards, with the right arm in front and others at least half as probable as at rest; Wilson's %.0f %% interval",
		runs, t.Steps, 100*nearInMean, 100*nearAtEnd, 100*shareConfidence)
}

// late reports whether most of a trial's runs that do not arrive are on the way.
func (t *Trial) late() bool { return 2*t.Count(NotYet) > t.Runs-t.Count(AtTarget) }

// why says why runs do not arrive: by a run without noise, and by the cures that arrive.
func (t *Trials) why(ctx context.Context, present *Trial, tried []*Trial) (string, error) {
	s, mean := &t.cell.Settings, present
	if s.Estimator.GroupSize != grpo.Infinite {
		var err error
		if mean, err = t.Of(ctx, suggestedRuns, config.Assignment{Param: config.GroupSizeKey, Value: grpo.Infinite}); err != nil {
			return "", err
		}
	}
	late := fmt.Sprintf("most of the runs that do not arrive are on the way: %d steps are few for this learning rate, or they rest elsewhere", s.Run.Steps)
	switch {
	case mean == nil && present.late():
		return late, nil
	case mean == nil || mean != present && mean.Outcome == Arrives && !present.late():
		return chance(s, present, tried), nil
	case mean.Outcome == Arrives:
		return late + ". Without the noise of sampling (grpo.group_size=inf) the run arrives", nil
	case mean.late():
		return late + ". So it is without the noise of sampling (grpo.group_size=inf)" + deterministic(s), nil
	}
	return "not chance: without the noise of sampling (grpo.group_size=inf) " + strings.Join(mean.Says(), "; ") + deterministic(s), nil
}

// deterministic names what in settings can make the mean force lead astray.
func deterministic(s *config.Settings) string {
	if bounded := weighted(grpo.Clip, grpo.DualClip); bounded(s) {
		return ". Beyond its range a clip leaves only the failures of the arm that grew, with the weight π/π_old, and so reverses the mean force of noisy rewards"
	}
	if stale(s) {
		return ". The samples are of older policies: the force comes too late"
	}
	return ""
}

// chance names the mechanism of chance that the cures point at.
func chance(s *config.Settings, present *Trial, tried []*Trial) string {
	for _, m := range mechanisms {
		if !m.applies(s, present) {
			continue
		}
		for _, trial := range tried {
			if trial.Outcome == Arrives && slices.ContainsFunc(m.pointsAt, func(cure string) bool { return strings.HasPrefix(trial.Set, cure) }) {
				return m.says(s)
			}
		}
	}
	return "the noise of sampling: without it (grpo.group_size=inf) the run arrives. None of the changes that were tried cures it"
}

// rareSampleUnderK3 describes the move of the logits by one sample of a rare arm under k3,
// (2η/(N(1−μ)))·(β(π_ref e^u − 1) − Ā), at log odds u of the common arm. It reaches across for
// c e^u > 2u.
func rareSampleUnderK3(s *config.Settings) string {
	says := "single samples of a rare arm: k3 weighs one by π_ref/π, so that it moves the log odds u of the common arm back by about c e^u"
	if s.Optimizer.Kind == grpo.Adam {
		return says + ", up to the longest step of Adam, and throws a policy that has overshot to another arm. k2 and the exact penalty grow with u alone, ratio-k3 weighs by π/π_old"
	}
	reference := softmaxOf(s.Policy.Reference)
	rare := 1.0
	for a, p := range reference {
		if s.Bandit.Arms[a].Mean < maxMean(s) {
			rare = min(rare, p)
		}
	}
	c := 2 * effectiveRate(s) * s.Estimator.KL.Coefficient * rare / float64(samplesPerStep(s))
	says += fmt.Sprintf(", c = 2ηβπ_ref/(N(1−μ)) = %.2g", c)
	if u := returnPoint(c); u > 0 {
		says += fmt.Sprintf(". From u = %.3g on that is more than 2u: it throws a policy that has overshot so far to the other side, deeper than it was", u)
	} else {
		says += ", more than 2u at any u: every rare sample throws the policy to the other side"
	}
	return says + ". The share of runs that are lost does not grow steadily with η (far beyond, no rare sample comes), and longer runs lose more. k2 and the exact penalty grow with u alone"
}

func maxMean(s *config.Settings) float64 {
	m := math.Inf(-1)
	for _, arm := range s.Bandit.Arms {
		m = max(m, arm.Mean)
	}
	return m
}

// returnPoint returns the larger solution u of c e^u = 2u; 0 if there is none, c > 2/e.
func returnPoint(c float64) float64 {
	if c > 2/math.E {
		return 0
	}
	u := 1 - math.Log(c)
	for range 100 { // u = ln(2u/c) contracts where u > 1
		u = math.Log(2 * u / c)
	}
	return u
}

// effectiveRate returns η/(1−μ), with Adam η.
func effectiveRate(s *config.Settings) float64 {
	if s.Optimizer.Kind == grpo.Adam {
		return s.Optimizer.LearningRate
	}
	return s.Optimizer.LearningRate / (1 - s.Optimizer.Momentum)
}

func samplesPerStep(s *config.Settings) int {
	return s.Estimator.GroupSize * s.Estimator.GroupsPerStep
}

// reuseFlag returns x = 2ηKĀ/(N(1−μ)) of reused samples with the unclipped ratio, N = GB. A lucky
// sample of an arm that is rare has the advantage Ā in the mean, beside G−1 samples of the best arm,
// and its ratio ρ obeys dρ/dt = xρ²/K within a block of K steps: it grows without bound for x > 1.
// It holds for 0/1 rewards with the std scale and a heavy ball; else ok is false.
func reuseFlag(s *config.Settings) (x float64, ok bool) {
	e := &s.Estimator
	ok = e.Samples == grpo.Reused && e.Importance.Mode == grpo.Ratio && s.Lag.Interval > 1 && s.Prompts.Count <= 1 &&
		e.GroupSize != grpo.Infinite && e.Advantage.Scale == grpo.StdScale && s.Optimizer.Kind != grpo.Adam
	for _, arm := range s.Bandit.Arms {
		ok = ok && arm.Reward == grpo.Bernoulli
	}
	if !ok {
		return 0, false
	}
	return 2 * effectiveRate(s) * float64(s.Lag.Interval) * luckyAdvantage(e.GroupSize, maxMean(s)) / float64(samplesPerStep(s)), true
}

// luckyAdvantage returns the mean of √((G−S)/S), the advantage of a rewarded sample in a group of G
// with S rewarded ones, where the other G−1 are rewarded with probability m each.
func luckyAdvantage(size int, m float64) (advantage float64) {
	others := distuv.Binomial{N: float64(size - 1), P: m}
	for k := range size {
		rewarded := float64(k + 1)
		advantage += others.Prob(float64(k)) * math.Sqrt((float64(size)-rewarded)/rewarded)
	}
	return advantage
}
