package advice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// arrivalOf simulates 200 runs of settings with another seed, and returns the share of those of
// which the mean of J at the recorded steps of the last fifth of the run is within a tenth of the
// range of mean rewards from J*, or without a fixed point from the largest mean reward, and whose
// most probable arm has nearly the mean reward of that there. It shares only the simulator.
func arrivalOf(t *testing.T, s config.Settings) float64 {
	t.Helper()
	s.Seed += 1_000_003
	means, goal, front := make([]float64, 0), 0.0, 0.0
	for _, arm := range s.Bandit.Arms {
		means = append(means, arm.Mean)
	}
	span := slices.Max(means) - slices.Min(means)
	goal, front = slices.Max(means), slices.Max(means)
	if point, ok := rest.Reached(theory.Params(&s, rom.Unit)); ok {
		goal, front = point.Reward, means[slices.Index(point.Policy, slices.Max(point.Policy))]
		if slices.Max(point.Policy) < 0.6 {
			front = math.NaN() // any arm may lead
		}
	}
	in := sim.Cell{
		ID: "arrival", Seed: s.Seed, Bandit: s.Bandit, Init: s.Policy.Init.Logits,
		Reference: s.Policy.Reference, ReferenceUpdate: s.Policy.ReferenceUpdate,
		Estimator: s.Estimator, Lag: s.Lag, Optimizer: s.Optimizer,
		Run: sim.Run{Steps: s.Run.Steps, Replicas: 200}, Ends: 200,
	}
	arrived := 0
	err := sim.Simulate(t.Context(), []sim.Cell{in}, 2, func(_ int, r sim.Result) error {
		steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
		for _, e := range r.Ends {
			if e.DivergedAt >= 0 {
				continue
			}
			sum, n := 0.0, 0.0
			for i, reward := range e.Rewards {
				if steps[i] >= s.Run.Steps*4/5 {
					sum, n = sum+reward, n+1
				}
			}
			top := means[slices.Index(e.Logits, slices.Max(e.Logits))]
			if math.Abs(sum/n-goal) <= 0.1*span+1e-9 && !(math.Abs(top-front) > 0.1*span) {
				arrived++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(arrived) / 200
}

// anyAdvised returns the text of a random configuration of two arms or more, at most as given, and
// of one of the lengths of runs, of all kinds that trainers have.
func anyAdvised(random *rand.Rand, n, most int, lengths []int) string {
	of := func(words ...string) string { return words[random.IntN(len(words))] }
	between := func(low, high float64) float64 {
		return config.Round(low * math.Pow(high/low, random.Float64()))
	}
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("name: any%d", n)
	preset := of("", "", "trl", "verl", "openrlhf", "nemo-rl", "areal", "prime-rl", "slime")
	if preset != "" {
		say("extends: %s", preset)
	}
	say("seed: %d\nbandit:\n  arms:", 1+n)
	arms := 2 + random.IntN(most-1)
	for range arms {
		say("    - {reward: bernoulli, mean: %.2f}", random.Float64())
	}
	if random.IntN(3) == 0 {
		logits := make([]string, arms)
		for a := range logits {
			logits[a] = fmt.Sprintf("%.2f", 1.5*random.NormFloat64())
		}
		list := strings.Join(logits, ", ")
		say("policy: {init: [%s], reference: [%s]}", list, list)
	}
	beta := 0.0
	if random.IntN(4) > 0 {
		beta = between(0.005, 0.5)
	}
	say("grpo:\n  groups_per_step: %d", 1<<random.IntN(5))
	say("  kl: {coefficient: %g, gradient: %s}", beta, of("k1", "k2", "k3", "exact"))
	if preset == "" {
		say("  group_size: %s", of("4", "8", "16"))
		say("  importance: {mode: %s}", of("none", "none", "ratio", "clip"))
		say("  advantage: {scale: %s}", of("std", "std", "none"))
	}
	switch random.IntN(4) {
	case 0:
		say("lag: {interval: %d}", 1<<random.IntN(4))
	case 1:
		say("lag: {kind: delay, interval: %d}", random.IntN(9))
	case 2:
		say("lag: {interval: %d, samples: reused}", 2<<random.IntN(3))
	}
	const optimizer = "optimizer: {kind: %s, learning_rate: %g, schedule: {kind: constant}}"
	if random.IntN(4) == 0 {
		say(optimizer, "adam", between(0.002, 0.3))
	} else {
		say(optimizer, "heavy-ball, momentum: "+of("0", "0.5", "0.9", "0.9"), between(0.01, 2))
	}
	say("run: {steps: %d, burn_in: 100, replicas: 8}", lengths[random.IntN(len(lengths))])
	return text.String()
}

// planOf returns the plan of a configuration that may extend a preset; nil if it is not valid.
func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	file := filepath.Join(t.TempDir(), "any.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec, err := config.ToPredict.ReadFile(file)
	if err != nil {
		return nil
	}
	return plan.New(spec)
}

// advised returns the advice for the only cell of a plan, with all trials and limits also located.
func advised(t *testing.T, plan *plan.Plan, located ...Line) (*plan.Cell, Advice) {
	t.Helper()
	for cell, advice := range Advise(plan) {
		trials := NewTrials(cell, &advice, 2, func(string, int, int) {})
		if err := advice.FromStart(t.Context(), trials); err != nil {
			t.Fatal(err)
		}
		advice.Lines = append(advice.Lines, located...)
		if err := advice.Suggest(t.Context(), trials); err != nil {
			t.Fatal(err)
		}
		return cell, advice
	}
	t.Fatal("no cell")
	return nil, Advice{}
}

// arrivals checks on n random settings of at most so many arms, with runs of the given lengths,
// that what is suggested arrives, and returns how many have a suggestion. Changes that are said to
// arrive, with up to twelve failures in 512, may miss 95 % by what 200 runs can scatter.
func arrivals(t *testing.T, n, arms int, lengths ...int) (suggested int) {
	random := rand.New(rand.NewPCG(33, 1))
	cures, missed := 0, 0
	for i := 0; i < n; {
		text := anyAdvised(random, i, arms, lengths)
		plan := planOf(t, text)
		if plan == nil {
			continue // a rule between keys is broken
		}
		i++
		cell, advice := advised(t, plan)
		says := advice.Suggestion.Says
		if advice.Start == nil {
			t.Errorf("%s\nhas no start", text)
			continue
		}
		share := arrivalOf(t, cell.Settings)
		if advice.Start.Outcome == Arrives && share < 0.95 {
			t.Errorf("%s\narrives: %v, but %.3f of other runs do", text, advice.Start.Says(), share)
		}
		t.Logf("%d: as it stands %s (judged %.3f); %s", i, advice.Start.Arrived.Says(), share, says)
		if advice.Start.Outcome != Arrives {
			t.Logf("%s\n%v\n%s", text, advice.Start.Says(), advice.Why)
		}
		if trial := advice.Suggestion.Trial; trial != nil {
			suggested++
			s, rate, interval := trial.settings, advice.Suggestion.LearningRate, advice.Suggestion.Interval
			if share := arrivalOf(t, s); share < 0.95 {
				t.Errorf("%s\n%s\n%.3f of other runs arrive", text, says, share)
			}
			if s.Optimizer.LearningRate != float64(rate) ||
				s.Lag.Kind != option.Random && s.Lag.Interval != int(interval) {
				t.Errorf("the suggestion of %g, %g is not what was tried: %+v", rate, interval, s)
			}
		}
		if longer := advice.Suggestion.Longer; longer != nil {
			if share := arrivalOf(t, longer.Trial.settings); share < 0.95 {
				t.Errorf("%s\n%s\n%.3f of other runs arrive with the longer interval", text, says, share)
			}
		}
		for _, c := range advice.Cures {
			if c.Outcome != Arrives || c.settings.Run.Steps > cell.Settings.Run.Steps*4 {
				continue
			}
			cures++
			if share := arrivalOf(t, c.settings); share < 0.95 {
				missed++
				t.Logf("%s %s arrives, by %s, but %.3f of other runs", text, c.Set, c.Arrived.Says(), share)
				if share < 0.92 {
					t.Errorf("%s: far from 95 %%", c.Set)
				}
			}
		}
	}
	t.Logf("%d of %d have a suggestion; %d of %d changes miss 95 %%", suggested, n, missed, cures)
	return suggested
}
