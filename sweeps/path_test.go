package sweeps

import (
	"strings"
	"testing"

	"grposim/rom"
)

// Without a penalty there is no fixed point, and the mean path and the share of groups of equal
// rewards on it are predicted all the same, and simulated. The reduced-order model, whose formula
// has J*, is not.
func TestPathWithoutFixedPoint(t *testing.T) {
	e, _ := runSweep(t, `
name: no-penalty
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, kl: {coefficient: 0}}
optimizer: {learning_rate: 0.05}
run: {steps: 200, burn_in: 1, replicas: 400}
variants:
  - {name: on-policy}
  - {name: block, set: {lag.interval: 4}}
checks:
  - {claim: trajectory, absolute_margin: 0.05, control: {scale: {stiffness: 1.2}}}
  - {claim: degenerate-groups, margin: 0.1, control: {set: {grpo.group_size: 14}}}
  - {claim: trajectory, absolute_margin: 0.05, prediction: leading-order}
`, t.TempDir(), 2)
	if len(e.Verdicts) != 6 {
		t.Fatalf("%d verdicts, want 6", len(e.Verdicts))
	}
	for _, v := range e.Verdicts {
		want := agree
		if v.PredictionKind == rom.LeadingOrder {
			want = outOfScope
		}
		if v.Verdict != want || v.Control != nil && v.Control.Verdict != disagree {
			t.Errorf("%s %s: %v because %s, control %+v, want %v", v.Variant, v.Quantity, v.Verdict, v.Because, v.Control, want)
		}
	}
}

// Below the critical β the published recurrence runs to p = 1. A block does not come near the map's
// next policy, and is no evidence against the map; above the critical β the same blocks converge.
func TestRecurrenceNeedsConvergedBlocks(t *testing.T) {
	const text = `
name: recurrent
seed: 1
bandit: {arms: [{reward: constant, mean: 1}, {reward: constant, mean: 0}]}
policy: {init: [0, 2], reference: [0, 2]}
grpo: {group_size: inf, kl: {coefficient: 0.5}, importance: {mode: ratio}}
lag: {interval: 500}
optimizer: {learning_rate: 1}
run: {steps: 5000}
checks: [{claim: recurrence, absolute_margin: 0.001}]
`
	e, _ := runSweep(t, text, t.TempDir(), 1)
	if v := e.Verdicts[0]; v.Verdict != outOfScope || !strings.Contains(v.Because, "does not converge") {
		t.Errorf("β = 0.5: %v because %s, want out of scope", v.Verdict, v.Because)
	}
	e, _ = runSweep(t, strings.Replace(text, "coefficient: 0.5", "coefficient: 2", 1), t.TempDir(), 1)
	if v := e.Verdicts[0]; v.Verdict != agree {
		t.Errorf("β = 2: %v because %s, want agreement", v.Verdict, v.Because)
	}
}

// kicked is TRL's estimator on two arms at a learning rate at which single samples under k3 throw
// a part of the runs from one side to the other.
const kicked = `name: kicked
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, groups_per_step: 8, advantage: {std: sample, epsilon: 1e-4}, kl: {coefficient: 0.04, gradient: k3}}
optimizer: {momentum: 0.9, learning_rate: 0.4}
run: {steps: 1500}
`

// checkedKicked returns kicked with a check of the trajectory. Half of the runs end on the wrong
// arm, by kicks ∝ π_ref/π after an overshoot. The spread of runs about the mean path soon has no
// finite prediction; where the mean path rests the stationary state is predicted all the same, and
// the run is certainly elsewhere.
func checkedKicked() string {
	return strings.Replace(kicked, "run: {steps: 1500}", "run: {steps: 2000, burn_in: 1000, replicas: 64}\nchecks: [{claim: trajectory, absolute_margin: 0.05}]", 1)
}

// Where the spread of runs has no finite prediction and nothing contradicts the curve elsewhere,
// nothing is decided, and the reason says from which step on.
func TestCurveWithoutEnd(t *testing.T) {
	text := strings.NewReplacer("coefficient: 0.04", "coefficient: 0", "learning_rate: 0.4", "learning_rate: 60", "group_size: 8", "group_size: 2", "steps: 2000, burn_in: 1000", "steps: 20, burn_in: 10",
		"groups_per_step: 8", "groups_per_step: 1").Replace(checkedKicked())
	e, _ := runSweep(t, text, t.TempDir(), 2)
	if v := e.Verdicts[0]; v.Verdict != outOfScope || !strings.Contains(v.Because, "of unknown size: from step") {
		t.Errorf("%s %g: %v because %s, want out of scope from a step on", v.Quantity, float64(v.Measured), v.Verdict, v.Because)
	}
}

// A run without a penalty ends on the best of its two arms, which is learning and no failure. A
// verdict that does not agree names what was found instead. Of two arms that are equally good it
// loses one, which is concentration.
func TestLearningIsNoFailure(t *testing.T) {
	const text = `
name: learning
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, groups_per_step: 4, kl: {coefficient: 0}}
optimizer: {learning_rate: 0.3}
run: {steps: 1000, replicas: 16}
checks:
  - {claim: failure-mode, mode: none, margin: 0.5}
  - {claim: failure-mode, mode: policy-concentration, margin: 0.5}
`
	e, _ := runSweep(t, text, t.TempDir(), 1)
	if v := e.Verdicts[0]; v.Verdict != agree {
		t.Errorf("mode none: %v because %s, want agreement", v.Verdict, v.Because)
	}
	if v := e.Verdicts[1]; v.Verdict != disagree || !strings.HasSuffix(v.Because, "; named: none in 16 of 16") {
		t.Errorf("mode policy-concentration: %v because %s, want none to be named", v.Verdict, v.Because)
	}
	equal := strings.NewReplacer("mean: 0.2", "mean: 0.9", "learning_rate: 0.3", "learning_rate: 8").Replace(text)
	e, _ = runSweep(t, equal, t.TempDir(), 1)
	if v := e.Verdicts[0]; v.Verdict != disagree || !strings.Contains(v.Because, "policy-concentration in ") {
		t.Errorf("equal arms: %v because %s, want a concentration", v.Verdict, v.Because)
	}
}
