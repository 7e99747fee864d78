package theory

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// cure is a change of one parameter that can bring a prediction into scope: it makes the
// neglected terms, which grow with the noise, smaller.
type cure struct {
	key    string
	change func(s *config.Settings) (value string, possible bool) // by one step
}

// cures are the changes that are tried, each in up to cureSteps steps.
var cures = []cure{
	{config.LearningRateKey, func(s *config.Settings) (string, bool) {
		s.Optimizer.LearningRate /= 2
		return fmt.Sprintf("%.3g", s.Optimizer.LearningRate), true
	}},
	{config.GroupSizeKey, func(s *config.Settings) (string, bool) {
		if s.Estimator.GroupSize == option.Infinite || s.Estimator.GroupSize > largestGroup/2 {
			return "", false
		}
		s.Estimator.GroupSize *= 2
		return fmt.Sprint(s.Estimator.GroupSize), true
	}},
	{"grpo.kl.coefficient", func(s *config.Settings) (string, bool) {
		s.Estimator.KL.Coefficient *= 2
		return fmt.Sprintf("%.3g", s.Estimator.KL.Coefficient), s.Estimator.KL.Coefficient > 0
	}},
	{"run.burn_in", func(s *config.Settings) (string, bool) {
		s.Run.Steps += s.Run.BurnIn
		s.Run.BurnIn *= 2
		return fmt.Sprintf("%d with run.steps = %d", s.Run.BurnIn, s.Run.Steps), s.Run.BurnIn > 0
	}},
}

const (
	cureSteps    = 8
	largestGroup = 1 << 16 // that is tried

	// maxCured is the largest number of arms times stored snapshots of a cell for which cures are
	// sought. More take a second.
	maxCured = 100

	// maxFollowed is the largest number of steps times squared arms for which cures of a way are
	// sought. Adam counts ten times. More take a second.
	maxFollowed, adamFollowed = 250_000, 10
)

// Cures returns which single change of a parameter of all cells, in factors of two, brings what is
// judged after a burn-in into scope. The words follow its reason. They are "" where no change does,
// where another reason than the size of what is neglected counts, and of large cells.
func Cures(cells []config.Settings, judged func(changed []config.Settings) scope.Reason) string {
	return curesOf(cures, cells, judged)
}

// WayCures is Cures of what is judged along the way of runs, which a longer run does not change.
func WayCures(cells []config.Settings, judged func(changed []config.Settings) scope.Reason) string {
	for i := range cells {
		s := &cells[i]
		work := s.Run.Steps * len(s.Bandit.Arms) * len(s.Bandit.Arms)
		if s.Optimizer.Kind == option.Adam {
			work *= adamFollowed
		}
		if work > maxFollowed {
			return ""
		}
	}
	return curesOf(cures[:len(cures)-1], cells, judged) // the last makes runs longer
}

func curesOf(cures []cure, cells []config.Settings, judged func([]config.Settings) scope.Reason) string {
	for i := range cells {
		if s := &cells[i]; len(s.Bandit.Arms)*grpo.StoredPolicies(&s.Lag, s.Run.Steps) > maxCured {
			return ""
		}
	}
	if !judged(cells).Is(scope.TooMuchNeglected, scope.UnknownSize, scope.NoiseTooLarge, scope.BoundWithinNoise) {
		return ""
	}
	var found []string
	for _, cure := range cures {
		changed := slices.Clone(cells)
		for range cureSteps {
			var values []string
			possible := true
			for i := range changed {
				value, ok := cure.change(&changed[i])
				possible = possible && ok
				values = config.AddNew(values, value)
			}
			if !possible {
				break
			}
			if !judged(changed).Out() {
				found = append(found, cure.key+" = "+strings.Join(values, ", "))
				break
			}
		}
	}
	if found == nil {
		return ""
	}
	return "; in scope with " + strings.Join(found, " or ")
}

// Margin is within what Var J at rest is judged.
type Margin struct {
	Share    float64 // of Var J, > 0; 0: the margin is absolute
	Absolute float64
	Called   string // in reasons, before its number
}

// OwnSize is the margin of Var J where no check gives one.
var OwnSize = Margin{Share: 1, Called: "Var J itself,"}

// About returns the margin about a predicted Var J.
func (m Margin) About(variance float64) float64 {
	if m.Share > 0 {
		return m.Share * math.Abs(variance)
	}
	return m.Absolute
}

// Judge returns why Var J is not to be compared within the margin.
func (m Margin) Judge(variance *scope.Number) scope.Reason {
	return variance.JudgedWithin(m.About(variance.Value), m.Called)
}

// VarianceCures is Cures of Var J at rest or, where that is in scope, of the way of the runs there.
func (cache *Cache) VarianceCures(s *config.Settings, margin Margin) string {
	judged := func(changed []config.Settings) scope.Reason {
		return margin.Judge(new(cache.Stationary(&changed[0]).Variance()))
	}
	alone := []config.Settings{*s}
	if !judged(alone).Out() {
		judged = func(changed []config.Settings) scope.Reason {
			return cache.Stationary(&changed[0]).Arrival(cache.Start(&changed[0]), margin)
		}
	}
	return Cures(alone, judged)
}
