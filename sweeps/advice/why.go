package advice

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom/group"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// why says why runs do not arrive: by a run without noise, and by the cures that arrive.
func (t *Trials) why(ctx context.Context, present *Trial, tried []*Trial) (string, error) {
	s := &t.cell.Settings
	if present.late() && s.Units() != "" {
		return fmt.Sprintf("a learning rate of a network moves the logits too little in %d steps", s.Run.Steps), nil
	}
	mean, err := t.withoutNoise(ctx, present)
	if err != nil {
		return "", err
	}
	late := fmt.Sprintf("most of the runs that do not arrive are on the way: %d steps are few for this learning rate", s.Run.Steps)
	because := confirmed(astray, s, present, tried)
	if because != "" {
		because = ". " + because
	}
	chance := confirmed(ofChance, s, present, tried)
	switch {
	case mean == nil && present.late():
		return late, nil
	case mean == nil || mean != present && mean.Outcome == Arrives && !present.late():
		return cmp.Or(chance, "the noise of sampling; no change that was tried tells more") + present.stand(), nil
	case mean.Outcome == Arrives:
		return late + ". Without the noise of sampling (grpo.group_size=inf) the run arrives", nil
	case mean.Count(theory.TooDeep) > 0:
		return "an overshoot: without the noise of sampling (grpo.group_size=inf) the run is too deep on the right arm as well, and returns slowly", nil
	case mean.late() && present.late():
		return late + ". It is the same without the noise of sampling (grpo.group_size=inf)" + because, nil
	case mean.late():
		return cmp.Or(chance, "not known, since no change that was tried tells it") + present.stand() + ". Without the noise of sampling (grpo.group_size=inf) the run is on the way", nil
	}
	if mean.stand() == "" {
		because = present.stand() + because
	}
	return "not chance: without the noise of sampling (grpo.group_size=inf) " + strings.Join(mean.Says(), "; ") + because, nil
}

// stand says on which arm most of the runs stand that do not arrive, in a sentence that follows
// another; "" where there is none.
func (t *Trial) stand() string {
	for i := range t.Endings {
		if e := &t.Endings[i]; e.How == theory.Elsewhere && t.most(e.Runs) {
			return ". Most of the runs that do not arrive stand on " + t.arm(e.Arm)
		}
	}
	return ""
}

// mechanism is a reason why runs do not arrive.
type mechanism struct {
	applies  func(s *config.Settings, present *Trial) bool // whether it is possible
	pointsAt []string                                      // beginnings of changes, one of which confirms it
	says     func(s *config.Settings) string
}

// astray are the reasons why the mean force leads elsewhere, the most particular first.
var astray = []mechanism{
	{
		func(s *config.Settings, _ *Trial) bool { return staleK3(s) },
		[]string{"grpo.kl.gradient="},
		func(*config.Settings) string {
			return "k3 weighs a sample by π_ref/π of the present policy, and it was drawn from an older one: where an arm has become rare since, the penalty grows without bound. ratio-k3 weighs by π/π_old, k2 by a logarithm"
		},
	},
	{
		func(s *config.Settings, _ *Trial) bool { return weighted(option.Clip, option.DualClip)(s) },
		[]string{"grpo.importance.mode="},
		func(*config.Settings) string {
			return "Beyond its range a clip leaves only the failures of the arm that grew, with the weight π/π_old, and so reverses the mean force of noisy rewards"
		},
	},
	{
		func(s *config.Settings, _ *Trial) bool { return stale(s) },
		[]string{config.LagIntervalKey},
		func(*config.Settings) string { return "The samples are of older policies: the force comes too late" },
	},
}

// ofChance are the reasons of chance, the most particular first.
var ofChance = []mechanism{
	{
		func(s *config.Settings, _ *Trial) bool {
			return sampledPenalty(s) && s.Estimator.KL.Gradient == option.K3
		},
		[]string{"grpo.kl.gradient=exact", "grpo.kl.gradient=k2", "grpo.kl.gradient=ratio-k3"},
		rareSampleUnderK3,
	},
	{
		func(s *config.Settings, _ *Trial) bool {
			_, _, ok := reuseFlag(s)
			return ok
		},
		[]string{"lag.samples=fresh", "grpo.importance.mode=clip"},
		func(s *config.Settings) string {
			mean, most, _ := reuseFlag(s)
			return fmt.Sprintf("single lucky samples: a batch that is used %d times with the unclipped ratio π/π_old counts a rare sample more with every use, so that from x = 2ηKA/(N(1−μ)) = 1 on, A its advantage, it turns a policy of any depth; here x is %.2g in the mean on the best arm, and up to %.2g where rewards are rare. A clip ends this", s.Lag.Interval, mean, most)
		},
	},
	{
		func(_ *config.Settings, present *Trial) bool { return !present.target.AtRest },
		[]string{config.LearningRateKey, "grpo.groups_per_step", config.MomentumKey, "optimizer.max_norm"},
		func(s *config.Settings) string {
			return fmt.Sprintf("the policy locks by chance: without a restoring force the few samples of the better arm decide early which arm wins, and a step of η/(1−μ) = %.3g logits per unit of force over %d samples is large", effectiveRate(s), samplesPerStep(s))
		},
	},
	{
		func(s *config.Settings, present *Trial) bool { return present.Count(theory.Unsteady) > 0 },
		[]string{config.LearningRateKey, "grpo.groups_per_step"},
		func(*config.Settings) string {
			return "the noise of finite groups: at this learning rate and batch J fluctuates widely about the state at rest"
		},
	},
	{
		func(*config.Settings, *Trial) bool { return true },
		[]string{config.LearningRateKey, "grpo.groups_per_step", config.MomentumKey, "optimizer.schedule.warmup", "optimizer.max_norm", "lag.interval"},
		func(*config.Settings) string {
			return "the noise of finite groups on the way: with smaller steps, or fewer large ones, runs arrive"
		},
	},
}

// confirmed says the first of mechanisms that is possible and that a change without it confirms,
// with the change. "": none.
func confirmed(mechanisms []mechanism, s *config.Settings, present *Trial, tried []*Trial) string {
	for _, m := range mechanisms {
		if !m.applies(s, present) {
			continue
		}
		var best *Trial
		for _, trial := range tried {
			if slices.ContainsFunc(m.pointsAt, func(cure string) bool { return strings.HasPrefix(trial.Set, cure) }) &&
				trial.confirms(present) && (best == nil || trial.Arrived.Mean > best.Arrived.Mean) {
				best = trial
			}
		}
		if best != nil {
			return fmt.Sprintf("%s. With %s %s arrive", m.says(s), best.Set, best.Arrived.Says())
		}
	}
	return ""
}

// confirms reports whether runs with a change arrive, or certainly most of those that do not as
// they stand.
func (t *Trial) confirms(present *Trial) bool {
	return t.Outcome == Arrives || t.Arrived.Lo > (1+present.Arrived.Hi)/2
}

// rareSampleUnderK3 describes the move of the logits by one sample of a rare arm under k3,
// −(2η/(N(1−μ)))·(A + β(π_ref e^u − 1)), at log odds u of the common arm (docs/theory-trainers.md §7). It reaches across for
// c e^u > 2u.
func rareSampleUnderK3(s *config.Settings) string {
	says := "single samples of a rare arm: k3 weighs one by π_ref/π, so that it moves the log odds u of the common arm back by about c e^u"
	if s.Optimizer.Kind == option.Adam {
		return says + ", up to the longest step of Adam, and throws a policy that has overshot to another arm. k2 and the exact penalty grow with u alone, ratio-k3 weighs by π/π_old"
	}
	reference := grpo.NewPolicy(s.Policy.Reference).Probs
	rare := 1.0
	for a, p := range reference {
		if s.Bandit.Arms[a].Mean < slices.Max(s.ArmMeans()) {
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
	if s.Optimizer.Kind == option.Adam {
		return s.Optimizer.LearningRate
	}
	return s.Optimizer.LearningRate / (1 - s.Optimizer.Momentum)
}

func samplesPerStep(s *config.Settings) int {
	return s.Estimator.GroupSize * s.Estimator.GroupsPerStep
}

// reuseFlag returns x = 2ηKA/(N(1−μ)) of reused samples with the unclipped ratio, N = GB
// (docs/theory-trainers.md §7). A lucky
// sample of an arm that is rare has the advantage A, and its ratio ρ obeys dρ/dt = xρ²/K within a
// block of K steps: it grows without bound for x > 1. A is that in the mean beside G−1 samples of
// the best arm, and at most √(G−1). It holds for 0/1 rewards with the std scale and a heavy ball;
// else ok is false.
func reuseFlag(s *config.Settings) (mean, most float64, ok bool) {
	e := &s.Estimator
	ok = e.Samples == option.Reused && e.Importance.Mode == option.Ratio && s.Lag.Interval > 1 && s.Prompts.Count <= 1 &&
		e.GroupSize != option.Infinite && e.Advantage.Scale == option.StdScale && s.Optimizer.Kind != option.Adam
	for _, arm := range s.Bandit.Arms {
		ok = ok && arm.Law == option.Bernoulli
	}
	if !ok {
		return 0, 0, false
	}
	unit := 2 * effectiveRate(s) * float64(s.Lag.Interval) / float64(samplesPerStep(s))
	return unit * luckyAdvantage(e.GroupSize, slices.Max(s.ArmMeans())), unit * math.Sqrt(float64(e.GroupSize-1)), true
}

// luckyAdvantage returns the mean of √((G−S)/S), the advantage of a rewarded sample in a group of G
// with S rewarded ones, where the other G−1 are rewarded with probability m each.
func luckyAdvantage(size int, m float64) float64 {
	return group.NewBinomial(size-1, m, 1-m, nil).Mean(func(others int) float64 {
		rewarded := float64(others + 1)
		return math.Sqrt((float64(size) - rewarded) / rewarded)
	})
}
