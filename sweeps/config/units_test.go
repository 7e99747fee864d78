package config

import (
	"strings"
	"testing"
)

// The rate of a network is named with what to do about it, one of logits is not.
func TestUnits(t *testing.T) {
	for rate, named := range map[float64]bool{1e-6: true, 9.9e-5: true, 1e-4: false, 0.02: false} {
		var s Settings
		s.Optimizer.LearningRate = rate
		if got := s.Units(); strings.HasPrefix(got, "optimizer.learning_rate "+Format(rate)+" is that of a network") != named || (got != "") != named {
			t.Errorf("rate %g: %q", rate, got)
		}
	}
}
