package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/sim"
)

// The means of runs of random sets of prompts follow the predicted paths of all recorded quantities
// that are derived, within the size that the theory leaves out and 5 standard errors: of 10 sets,
// 13 quantities and 200 steps fewer than one in 60 runs of this test fails by chance. At step 0,
// where all runs are alike, strata have the same prompts in both.
func TestWayOfPrompts(t *testing.T) { checkPrompts(t, 2, 10, 1024) }

// ofPrompts are the recorded quantities of prompts with a path.
var ofPrompts = []sim.Quantity{
	sim.ExpectedReward, sim.Entropy, sim.KLReference, sim.Collision, sim.ZeroVarianceFraction,
	sim.ClipFraction, sim.LogitGap, sim.PassAt(4), sim.EffectiveSampleSize,
}

// checkPrompts compares the paths of random sets of prompts with means over replicas.
func checkPrompts(t *testing.T, seed uint64, sets, replicas int) {
	r := rand.New(rand.NewPCG(seed, 39))
	for i := range sets {
		document := drawPrompts(r, map[int]string{3: "independent", 7: "shuffled", 9: "shuffled"}[i%10], replicas)
		s := settingsOf(t, document)
		steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
		result := simulated(t, &s)
		quantities := slices.Clone(ofPrompts)
		for _, q := range result.Quantities {
			if _, ofStratum := q.Stratum(); ofStratum {
				quantities = append(quantities, q)
			}
		}
		paths, words := recordedCourses(NewCache(), &s, quantities...), ""
		if strata := len(quantities) - len(ofPrompts); paths[0].Scope.In && strata != len(paths[0].strata) {
			t.Errorf("%d: %d strata recorded, %d predicted\n%s", i, strata, len(paths[0].strata), document)
		}
		for k, q := range quantities {
			path := &paths[k]
			// simulated, not predicted
			if epochs := s.Prompts.Order != option.Independent && s.Lag.Interval > 1; !path.Scope.In &&
				(q == sim.ClipFraction || epochs && q == sim.EffectiveSampleSize) {
				continue
			}
			if !path.Scope.In {
				t.Errorf("%d: no path of %s: %s\n%s", i, q, path.Scope.Because, document)
				continue
			}
			column := slices.Index(result.Quantities, q)
			worst, at, spread := 0.0, 0, 0.0
			for n := range steps {
				x := result.Trajectory[n][column]
				se := x.StdErr
				if n < len(path.Deviation) { // of rare events
					se = max(se, path.Deviation[n]/math.Sqrt(float64(replicas)))
				}
				if share := path.Reward[n]; q == sim.ZeroVarianceFraction { // of groups at least
					se = max(se, math.Sqrt(share*(1-share)/float64(replicas*s.Estimator.GroupsPerStep)))
				}
				if e := path.missed(n, x.Mean, se); e > worst {
					worst, at = e, n
				}
				if n < len(path.Deviation) && 10*path.Neglected[n] < path.Deviation[n] && !q.SinceRecord(s.Lag) {
					spread = max(spread, math.Abs(path.Deviation[n]/(x.StdErr*math.Sqrt(float64(replicas)))-1))
				}
			}
			if worst > 1 {
				x := result.Trajectory[at][column]
				t.Errorf("%s at step %d: predicted %.6g, leaves out %.2g; simulated %+v\n%s",
					q, steps[at], path.Reward[at], path.Neglected[at], x, document)
			}
			_, ofStratum := q.Stratum()
			if (ofStratum || q == sim.ExpectedReward) && spread > 0.2 {
				t.Errorf("%d: the deviation of %s is off by %.2g\n%s", i, q, spread, document)
			}
			words += fmt.Sprintf("; %s %.2g, deviation off by %.2g", q, path.Neglected[len(steps)-1], spread)
		}
		t.Logf("%d: %v %v, %v, %d prompts, B %d, K %d%s", i, s.Estimator.Samples, s.Prompts.Parameters, s.Prompts.Order,
			s.Prompts.Count, s.Estimator.GroupsPerStep, s.Lag.Interval, words)
	}
}

// drawPrompts draws a set of prompts with a policy each or, in the order shared unless it is "", with
// one for all, as users have them on the way.
func drawPrompts(r *rand.Rand, shared string, replicas int) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	groups, period := 1+r.IntN(4), 1+r.IntN(6)
	count, interval, momentum, samples, bonus := max(groups*period, 2), 1, 0.0, "fresh", 0.0
	order, mode := pick("in-order", "shuffled"), pick("none", "ratio")
	record := "pass@4, effective-sample-size, strata"
	alpha, beta := 0.5+2*r.Float64(), 0.5+4*r.Float64()
	parameters := fmt.Sprintf("tabular, means: {alpha: 2, beta: 1}, start: {alpha: %.1f, beta: %.1f}", alpha, beta)
	rate, penalty, size := 0.05*float64(count), float64(r.IntN(2))*0.1, pick("4", "8", "16")
	if shared != "" {
		rate, bonus, samples = 0.05, 0.02, pick("reused", "fresh")
		order, parameters = shared, "shared, means: {alpha: 0.3, beta: 0.3}"
		mode, record = "clip", "pass@4, effective-sample-size"
		if shared == "shuffled" { // prompts that pull in both directions
			rate, penalty, size, count, groups = 0.1, 0.1, "16", 4, 1
			parameters = "shared, means: {list: [[1, 0], [0, 0.7], [1, 0], [0.6, 0.5]]}"
		}
	}
	switch {
	case shared != "":
		interval, momentum = 4, 0.5*float64(r.IntN(2))
	case count == groups: // each step visits all
		interval, mode, samples, momentum = 4, "clip", "reused", 0.6
	case order == "in-order" && r.IntN(2) == 0:
		momentum = 0.6
	case count/groups*groups == count:
		interval, samples = count/groups, pick("fresh", "reused") // a block is an epoch
		rate /= float64(map[string]int{"fresh": 1, "reused": interval}[samples])
	}
	if count%groups != 0 {
		groups = 1
	}
	return fmt.Sprintf(`name: prompts
seed: %d
bandit:
  arms: [{reward: bernoulli, mean: 0.95}, {reward: bernoulli, mean: 0.4}]
  prompts: {count: %d, order: %s, parameters: %s}
policy: {init: [0, 0]}
grpo: {group_size: %s, groups_per_step: %d, advantage: {scale: %s}, importance: {mode: %s},
  kl: {coefficient: %.3g}, entropy: {coefficient: %.3g}}
lag: {kind: block, interval: %d, samples: %s}
optimizer: {kind: heavy-ball, momentum: %.1f, learning_rate: %.3g}
run: {steps: 400, replicas: %d, record: [%s]}
`, r.Uint32(), count, order, parameters, size, groups, pick("none", "std"), mode, penalty,
		bonus, interval, samples, momentum, (1-momentum)*rate*(0.5+r.Float64()), replicas, record)
}
