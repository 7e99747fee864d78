package theory

import (
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// Of what is judged after a burn-in longer runs are tried too, of what is judged on the way none
// is. The way of a cell whose path takes seconds is asked for once at most.
func TestCures(t *testing.T) {
	s := config.Settings{}
	s.Bandit.Arms = make([]option.Arm, 3)
	s.Run.Steps, s.Run.BurnIn = 4000, 1000
	s.Optimizer.LearningRate, s.Estimator.GroupSize, s.Estimator.KL.Coefficient = 0.1, 8, 1
	for _, row := range []struct {
		cures     func([]config.Settings, func([]config.Settings) scope.Reason) string
		optimizer option.Method
		longest   int
		words     string
	}{
		{Cures, option.HeavyBall, 4000 + 1000*255, "; in scope with optimizer.learning_rate = 0.025"},
		{WayCures, option.HeavyBall, 4000, "; in scope with optimizer.learning_rate = 0.025"},
		{WayCures, option.Adam, 0, ""},
	} {
		s.Optimizer.Kind = row.optimizer
		longest := 0
		words := row.cures([]config.Settings{s}, func(changed []config.Settings) scope.Reason {
			longest = max(longest, changed[0].Run.Steps)
			if changed[0].Optimizer.LearningRate < 0.03 {
				return scope.Reason{}
			}
			return scope.UnknownSize.Because("a size")
		})
		if words != row.words || longest != row.longest {
			t.Errorf("%+v: %q with at most %d steps", row, words, longest)
		}
	}
	if !strings.Contains(Cures([]config.Settings{s}, func(changed []config.Settings) scope.Reason {
		if changed[0].Run.BurnIn > 3000 {
			return scope.Reason{}
		}
		return scope.UnknownSize.Because("a size")
	}), "run.burn_in = 4000 with run.steps = 7000") {
		t.Error("a longer run is not named")
	}
}
