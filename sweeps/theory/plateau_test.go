package theory

import (
	"math"
	"slices"
	"testing"

	"grposim/rom"
	"grposim/sim"
)

// Runs leave a plateau late, and are still on their way when the mean field is at rest. The size
// of the stationary state alone once left out what they have before them.
func TestRunsOnAPlateau(t *testing.T) {
	const document = `name: two-arms
seed: 1616563959
bandit: {arms: [{reward: bernoulli, mean: 0.62}, {reward: bernoulli, mean: 0.32}]}
policy: {init: [-4.54, 1.50]}
grpo: {group_size: 16, groups_per_step: 4, advantage: {scale: std}, importance: {mode: clip},
  kl: {coefficient: 0.4, gradient: exact}}
lag: {kind: block, interval: 4}
optimizer: {kind: heavy-ball, momentum: 0.5, learning_rate: 0.1}
run: {steps: 2000, replicas: 1024}
`
	if !checkPlateau(t, document) {
		t.Errorf("the path does not come to rest\n%s", document)
	}
}

// Runs of the paper's hacked variant, and of a third arm whose true mean is not linear in its reward,
// have the true reward of the fixed point but for what that leaves out.
func TestTrueRewardAtRest(t *testing.T) {
	for _, arms := range []string{
		`{arms: [{reward: bernoulli, mean: 0.7, count: 8}, {reward: bernoulli, mean: 0.2}],
  true_means: [0.2, 0.7]}`,
		`{arms: [{reward: bernoulli, mean: 0.7}, {reward: bernoulli, mean: 0.2},
  {reward: bernoulli, mean: 0.9}], true_means: [0.7, 0.2, 0.1]}`,
	} {
		s := settingsOf(t, `name: hacking
seed: 20260629
bandit: `+arms+`
policy: {init: fixed-point}
grpo: {group_size: 16, advantage: {scale: std},
  kl: {coefficient: 0.4, gradient: exact, at: snapshot}}
lag: {kind: delay, interval: 4}
optimizer: {kind: heavy-ball, learning_rate: 0.15, momentum: 0.5}
run: {steps: 1000, replicas: 1024}
`)
		want, result := NewCache().Stationary(&s).TrueMean(), simulated(t, &s)
		last := result.Trajectory[len(result.Trajectory)-1]
		got := last[slices.Index(result.Quantities, sim.TrueReward)]
		miss := math.Abs(got.Mean - want.Value)
		if linear := len(s.Bandit.Arms) == 9; miss > 0.01 || want.Out() ||
			linear && miss > want.Size()+5*got.StdErr || !linear && !math.IsInf(want.Size(), 1) {
			t.Errorf("%s: %+v, simulated %+v", arms, want, got)
		}
	}
}

// What still moves is bounded by the field and by the runs that have not left when it is at rest; a
// field that is not known at first bounds nothing.
func TestStillMoving(t *testing.T) {
	steps := []int{0, 1, 2, 4, 8, 16}
	got := stillMoving([]float64{0.5, 0.5, 1.1, 1, 1, 1}, steps, 1)
	exp := math.Exp
	for i, want := range []float64{0.5, 0.5, 0.5, 0.1 + 0.5*exp(-1), 0.1 + 0.5*exp(-3), 0.5 * exp(-3)} {
		near(t, steps[i], got[i], want, 1e-12)
	}
	for _, moves := range stillMoving([]float64{math.NaN(), 1, 1, 1, 1, 1}, steps, 1) {
		if !math.IsInf(moves, 1) {
			t.Errorf("a field that is not known at first leaves %v", moves)
		}
	}
}

// checkPlateau compares the mean reward of a configuration with its path, where that has the size
// of the stationary state. It reports whether there is such a step.
func checkPlateau(t *testing.T, document string) (some bool) {
	t.Helper()
	s, cache := settingsOf(t, document), NewCache()
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	path := cache.Mean(rom.Reward, Params(&s, rom.Unit), &s, cache.Start(&s), steps)
	if path.Scope.Because.Out() {
		return false
	}
	rest := ComeToRest(path, steps, func() *AtRest { return cache.Stationary(&s) })
	result := sim.Result{}
	for n, step := range steps {
		size := rest.Neglected[n]
		if size >= path.Neglected[n] {
			continue
		}
		if some = true; result.Trajectory == nil {
			if result = simulated(t, &s); result.Trajectory == nil {
				return false
			}
		}
		x := result.Trajectory[n][0]
		if miss := math.Abs(x.Mean - rest.Mean[n]); miss > size+5*x.StdErr+1e-9 {
			t.Errorf("E J at step %d: predicted %.6g, leaves out %.2g; simulated %+v\n%s",
				step, rest.Mean[n], size, x, document)
			return true
		}
	}
	return some
}
