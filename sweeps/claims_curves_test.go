package sweeps

import (
	"math"
	"testing"

	"grposim/rom"
	"grposim/rom/paper"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// A run that starts elsewhere is judged by the fixed point that it reaches (of J = 0.083 from these
// logits), and not at all where its learning rate ends before it arrives. The mean path is judged
// wherever it leads. At this confidence one seed in 10,000 gives another verdict.
func TestStartDecidesTheFixedPoint(t *testing.T) {
	p := planText(t, `
name: starts
seed: 1
confidence: 0.9999
bandit: {arms: [{reward: constant, mean: 1}, {reward: constant, mean: 0}]}
grpo: {group_size: 256, kl: {coefficient: 1, at: snapshot}}
policy: {init: [0, 0], reference: [-3, 3]}
optimizer: {learning_rate: 0.1}
run: {steps: 1000, burn_in: 500, replicas: 16}
variants:
  - {name: down}
  - {name: decay, set: {grpo.group_size: inf, run.replicas: 1, optimizer.schedule.kind: linear,
     optimizer.schedule.total: 10}}
  - {name: away, set: {grpo.group_size: inf, run.replicas: 1, policy.init: [3, -3]}}
checks:
  - {claim: fixed-point, margin: 0.02}
  - {claim: trajectory, absolute_margin: 0.03}
`)
	verdicts := must(Judge(p, must(plan.Simulate(t.Context(), p, 1))))
	for i, want := range []struct {
		ruling  ruling
		because string
	}{
		{agree, ""}, {outOfScope, "neglects"}, {outOfScope, "fixed point"},
		{agree, ""}, {agree, ""}, {agree, ""},
	} {
		ruledBecause(t, i, verdicts[i], want.ruling, want.because)
	}
}

// The scope is asked before the replicas: where the mean field itself overflows, runs
// that overflow contradict nothing.
func TestScopeBeforeDivergence(t *testing.T) {
	p := planText(t, `
name: overflow
seed: 1
bandit: {arms: [{reward: constant, mean: 1000}, {reward: constant, mean: 0}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 2.41, gradient: k3}}
optimizer: {learning_rate: 0.31, momentum: 0.5}
lag: {kind: delay, interval: 16}
run: {steps: 60}
checks:
  - {claim: trajectory, absolute_margin: 0.03}
  - {claim: saturation-fit, margin: 0.1}
`)
	outcomes := must(plan.Simulate(t.Context(), p, 1))
	if o := outcomes[p.Cells[0].ID]; o.Diverged != 1 {
		t.Fatalf("%d replicas diverged, want 1", o.Diverged)
	}
	for _, v := range must(Judge(p, outcomes)) {
		ruledBecause(t, v.Claim, v, outOfScope, "the mean field leaves the range")
	}
}

// The range of the paper's oscillator is compared with that of the run, from below.
func TestJudgeModelAmplitude(t *testing.T) {
	plan := planText(t, `
name: amplitude
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, kl: {coefficient: 0.5}}
lag: {kind: delay, interval: 4}
optimizer: {learning_rate: 0.1, momentum: 0.9}
run: {steps: 300}
checks:
  - {claim: model-amplitude, absolute_margin: 0.25, control: {scale: {stiffness: 0.001}}}
`)
	p := rom.Predict(theory.Params(&plan.Cells[0].Settings, rom.Unit))
	const start = 0.55
	model := paper.Curve(*p.PaperRule.Stiffness, 0.1, 0.9, 4, start, p.FixedPoint.Reward)
	for share, want := range map[float64]ruling{0.5: agree, 2: disagree} {
		_, o := record(300, 4, func(at float64) float64 { return start + share*(model(at)-start) }, 0.6)
		v := judgeCell(t, plan, *o)[0]
		ruled(t, share, v, want, disagree)
		near(t, share, float64(v.Measured), -math.Log(share), 1e-9)
	}
}
