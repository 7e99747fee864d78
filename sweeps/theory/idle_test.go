package theory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
)

// A key changes neither the simulation, with the same random numbers, nor the theory
// where Key.Idle holds, and changes the simulation where it does not.
func TestIdleKeysHaveNoEffect(t *testing.T) {
	const text = `
name: idle
seed: 1
bandit:
  arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]
  prompts: {means: {alpha: 1, beta: 1}, start: {alpha: 1, beta: 1}}
grpo: {group_size: 8, groups_per_step: 2, kl: {coefficient: 0.5}}
lag: {interval: 8, ages: {to: 5, mean: 2, weights: [1, 1]}}
optimizer: {learning_rate: 1.5}
run: {steps: 60, burn_in: 10, replicas: 4}
`
	tested := 0
	for _, k := range config.Keys {
		if k.Idle.Param == "" || ofNetwork(k) {
			continue
		}
		tested++
		other, _ := config.LookupKey(k.Idle.Param)
		states := []any{0.0, 0.5}
		switch other.Kind {
		case config.WordValue:
			states = differentValues(t, other)
		case config.IntegerValue:
			states = []any{0, 5}
			switch other.Path {
			case config.GroupSizeKey:
				states = []any{option.Infinite, 8}
			case "bandit.prompts.count":
				states = []any{1, 3}
			}
		}
		for _, state := range states {
			s := settingsOf(t, text)
			if err := other.Set(&s, state); err != nil {
				t.Fatal(err)
			}
			if s.Estimator.Advantage.Scale == option.OthersStd { // which needs it
				s.Estimator.Advantage.Baseline = option.LeaveOneOut
			}
			if s.Estimator.Advantage.Baseline.Given() {
				s.Estimator.Advantage.Scale = option.NoScale
			}
			switch k.Path {
			case "grpo.correction.floor", "grpo.correction.cap":
				s.Estimator.Rollout.Noise = 0.5
			case "policy.reference_update.optimizer":
				s.Optimizer.Momentum = 0.9
			case "grpo.kl.schedule.kind":
				s.Estimator.KL.Schedule.Total = 30
			case "grpo.group_size_schedule.kind":
				s.Estimator.SizeSchedule.Total = 30
			case "grpo.importance.schedule.kind":
				s.Estimator.Importance.Schedule.Total = 30
			case "grpo.importance.schedule.total":
				s.Estimator.Importance.Mode = option.Clip
			case "lag.ages.mean":
				s.Lag.Ages.Law = option.GeometricAges
			case "lag.ages.weights":
				s.Lag.Ages.Law = option.TableAges
			}
			var results []sim.Result
			var predictions []rom.Prediction
			for _, v := range differentValues(t, k)[:2] {
				switch {
				case k.Path == config.ScheduleTotalKey:
					v = v.(int) * 10
				case k.Range.Low == 1: // a cap
					v = v.(float64) + 1
				}
				changed := s
				if err := k.Set(&changed, v); err != nil {
					t.Fatal(err)
				}
				results = append(results, simulated(t, &changed))
				predictions = append(predictions, rom.Predict(Params(&changed, rom.Unit)))
			}
			idle := slices.Contains(k.Idle.Values, state)
			if same := fmt.Sprint(results[0]) == fmt.Sprint(results[1]); same != idle {
				t.Errorf("%s with %s %v: simulated alike: %t, want %t", k.Path, other.Path, state, same, idle)
			}
			if idle && !cmp.Equal(predictions[0], predictions[1], cmpopts.EquateNaNs(),
				cmpopts.EquateComparable(scope.Reason{})) {
				t.Errorf("%s with %s %v changes the prediction", k.Path, other.Path, state)
			}
		}
	}
	if tested < 11 {
		t.Errorf("%d keys with a condition, want at least 11", tested)
	}
}
