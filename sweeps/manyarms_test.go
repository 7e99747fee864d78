package sweeps

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// manyArms returns a search for the threshold of random cells at finite G with 3 to 8 arms.
func manyArms(random *rand.Rand, cells, samples int) string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	var variants strings.Builder
	for i := range cells {
		var arms []string
		for range 3 + random.IntN(6) {
			arms = append(arms, fmt.Sprintf("{reward: bernoulli, mean: %.3f}", 0.1+0.8*random.Float64()))
		}
		size, scale, beta := 4<<random.IntN(5), "none", 0.3+0.4*random.Float64()
		if random.IntN(2) == 0 {
			scale, beta = "std", 0.8+0.7*random.Float64()
		}
		fmt.Fprintf(&variants, `
  - name: v%d
    set: {bandit.arms: [%s], grpo.group_size: %d, grpo.groups_per_step: %d, grpo.advantage.scale: %s,
      grpo.kl.coefficient: %.3f, grpo.kl.at: %s, lag.kind: %s, lag.interval: %d, optimizer.momentum: %s}
`, i, strings.Join(arms, ", "), size, samples/size, scale, beta, pick("snapshot", "current"),
			pick("block", "delay"), 1+random.IntN(8), pick("0", "0.5", "0.9"))
	}
	return `
name: many-arms
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: 16, kl: {coefficient: 0.5}}
optimizer: {learning_rate: 0.1}
run: {steps: 100, replicas: 16}
variants:
` + variants.String() + `
checks:
  - {claim: stability-threshold, displacement: 0.06, draws: 2000, margin: 0.04,
     control: {scale: {stiffness: 1.2}},
     locate: {param: optimizer.learning_rate, from: 0.6, to: 60, tolerance: 0.01}}
`
}

// checkManyArms compares the located thresholds with the predicted ones: none disagrees, and of
// fewest at least the bracket lies within the margin and not within that of a stiffness that is 1.2
// times as large.
func checkManyArms(t *testing.T, text string, fewest int) {
	t.Helper()
	e, _ := runSweep(t, text, t.TempDir(), 2)
	sharp := 0
	for _, v := range e.Verdicts {
		lo, hi := float64(v.Lo/v.Predicted), float64(v.Hi/v.Predicted)
		t.Log(told(v))
		if v.Verdict == agree && v.Control.Verdict == disagree {
			sharp++
		}
		if v.Verdict == disagree || v.Verdict != outOfScope && !(lo < 1.01 && hi > 0.99) {
			t.Errorf("located in [%.4f, %.4f] of %s", lo, hi, told(v))
		}
	}
	if sharp < fewest {
		t.Errorf("%d cells agree and catch a stiffness × 1.2, want at least %d", sharp, fewest)
	}
}

// At finite G with more than two arms the located threshold is the predicted one.
func TestLocatedThresholdsOfManyArms(t *testing.T) {
	checkManyArms(t, manyArms(rand.New(rand.NewPCG(1, 3)), 1, 4096), 1)
}
