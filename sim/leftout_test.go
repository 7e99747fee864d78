package sim

import (
	"strings"
	"testing"

	"grposim/option"
)

// What a cell leaves out is complete wherever it is asked for, and no mistake is told of it.
func TestLeftOut(t *testing.T) {
	c := Cell{
		Bandit:    option.Bandit{Arms: []option.Arm{{Mean: 1}, {}}},
		Estimator: option.Estimator{GroupSize: 4, Samples: option.Reused},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Run:       Run{Steps: 3},
	}
	if ends := Ends(c, []int{0, 3}, 0, 1); len(ends) != 1 || c.Replicas() != 1 || !c.Draws(1) || RefreshPeriod(c.Lag) != 1 {
		t.Errorf("%d ends of %d replicas, period %d", len(ends), c.Replicas(), RefreshPeriod(c.Lag))
	}
	c.Bandit.Arms = make([]option.Arm, 3)
	c.Prompts = &Prompts{Means: make([][2]float64, 2)}
	defer func() {
		if text, _ := recover().(string); strings.Contains(text, "TrueMeans") || !strings.Contains(text, "Bandit.Arms: ") {
			t.Errorf("panic %q, want a mistake of the arms alone", text)
		}
	}()
	c.checked()
}
