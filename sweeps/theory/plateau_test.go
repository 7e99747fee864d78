package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// Runs that noise holds on a plateau are still on their way when the mean field is at rest. With the size of the stationary
// state from there on, the rewards of these were predicted as 0.8091(140) at step 1252 (0.7784(32) simulated) and 0.6197(42) at step 860
// (0.5980(24)).
func TestRunsOnAPlateau(t *testing.T) {
	for _, document := range []string{`name: four-arms
seed: 3496638930
bandit: {arms: [{reward: bernoulli, mean: 0.81}, {reward: bernoulli, mean: 0.42}, {reward: bernoulli, mean: 0.31}, {reward: bernoulli, mean: 0.08}]}
policy: {init: [-4.70, 1.50, -2.75, -2.74]}
grpo: {group_size: 4, groups_per_step: 1, advantage: {scale: std}, importance: {mode: ratio}, kl: {coefficient: 0.0701, gradient: exact}}
lag: {kind: block, interval: 4}
optimizer: {kind: heavy-ball, momentum: 0.5, learning_rate: 0.468}
run: {steps: 2000, replicas: 1024}
`, `name: two-arms
seed: 1616563959
bandit: {arms: [{reward: bernoulli, mean: 0.62}, {reward: bernoulli, mean: 0.32}]}
policy: {init: [-4.54, 1.50]}
grpo: {group_size: 4, groups_per_step: 1, advantage: {scale: std}, importance: {mode: clip}, kl: {coefficient: 0.0389, gradient: exact}}
lag: {kind: block, interval: 4}
optimizer: {kind: heavy-ball, momentum: 0.5, learning_rate: 0.921}
run: {steps: 2000, replicas: 1024}
`} {
		if !checkPlateau(t, document) {
			t.Errorf("the path does not come to rest\n%s", document)
		}
	}
}

// So are those of random configurations.
func TestPlateaus(t *testing.T) { checkPlateaus(t, 1, 12) }

// checkPlateaus draws configurations of runs on a plateau and checks them.
func checkPlateaus(t *testing.T, seed uint64, cells int) {
	r, some := rand.New(rand.NewPCG(seed, 77)), 0
	for range cells {
		if checkPlateau(t, drawPlateau(r)) {
			some++
		}
	}
	if t.Logf("%d of %d paths come to rest", some, cells); some == 0 {
		t.Error("no path comes to rest")
	}
}

// What still moves is bounded by the field and by the runs that have not left when it is at rest; a field that is not known at first
// bounds nothing.
func TestStillMoving(t *testing.T) {
	steps := []int{0, 1, 2, 4, 8, 16}
	got := stillMoving([]float64{0.5, 0.5, 1.1, 1, 1, 1}, steps, 1)
	for i, want := range []float64{0.5, 0.5, 0.5, 0.1 + 0.5*math.Exp(-1), 0.1 + 0.5*math.Exp(-3), 0.5 * math.Exp(-3)} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("at step %d %v moves, want %v", steps[i], got[i], want)
		}
	}
	for _, moves := range stillMoving([]float64{math.NaN(), 1, 1, 1, 1, 1}, steps, 1) {
		if !math.IsInf(moves, 1) {
			t.Errorf("a field that is not known at first leaves %v", moves)
		}
	}
}

// checkPlateau compares the mean reward of a configuration with its path, where that has the size of the stationary state.
// It reports whether there is such a step.
func checkPlateau(t *testing.T, document string) (some bool) {
	t.Helper()
	spec, err := config.Load("plateau.yaml", []byte(document))
	if err != nil {
		t.Fatal(document, err)
	}
	s, cache := spec.Points()[0].Settings, NewCache()
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	path := cache.Mean(rom.Reward, Params(&s, rom.Unit), &s, cache.Start(&s), steps, Sized)
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
			t.Errorf("E J at step %d: predicted %.6g, leaves out %.2g; simulated %.6g (%.2g)\n%s", step, rest.Mean[n], size, x.Mean, x.StdErr, document)
			return true
		}
	}
	return some
}

// drawPlateau draws a configuration whose runs start on a plateau: a better arm is rare, and another is likely.
func drawPlateau(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	count := 2 + r.IntN(4)
	var arms, init []string
	best := 0.5 + 0.45*r.Float64()
	second := best - 0.05 - 0.4*r.Float64()
	for a := range count {
		m, z := max(0.02, second-0.4*r.Float64()), -1-2*r.Float64()
		if a == 0 {
			m, z = best, -2-3*r.Float64()
		}
		if a == 1 {
			m, z = max(0.02, second), 1.5
		}
		arms = append(arms, fmt.Sprintf("{reward: bernoulli, mean: %.2f}", m))
		init = append(init, fmt.Sprintf("%.2f", z))
	}
	beta := 0.005 * math.Pow(60, r.Float64())
	momentum := []float64{0, 0.5, 0.9}[r.IntN(3)]
	steps := []int{300, 1000, 2000}[r.IntN(3)]
	rate := math.Pow(10, -1.5*r.Float64()) * 2 * (1 - momentum)
	optimizer := fmt.Sprintf("{kind: heavy-ball, momentum: %.1f, learning_rate: %.3g}", momentum, rate)
	if r.IntN(4) == 0 {
		optimizer = fmt.Sprintf("{kind: adam, beta2: %s, learning_rate: %.3g}", pick("0.95", "0.999"), rate*0.05)
	}
	return fmt.Sprintf(`name: plateau
seed: %d
bandit: {arms: [%s]}
policy: {init: [%s]}
grpo: {group_size: %s, groups_per_step: %s, advantage: {scale: %s}, importance: {mode: %s}, kl: {coefficient: %.3g, gradient: %s}}
lag: {kind: block, interval: %s}
optimizer: %s
run: {steps: %d, replicas: 1024}
`, r.Uint32(), strings.Join(arms, ", "), strings.Join(init, ", "), pick("4", "8", "16", "32"), pick("1", "4"), pick("none", "std"), pick("none", "ratio", "clip"), beta, pick("exact", "exact", "k3"), pick("1", "4", "8"), optimizer, steps)
}
