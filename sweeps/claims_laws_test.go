package sweeps

import (
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/store"
)

// judgeRare judges the cell of rare, changed by pairs of old and new text, by one check.
func judgeRare(t *testing.T, check string, o store.Outcome, change ...string) []judge.Verdict {
	t.Helper()
	plan := planText(t, strings.NewReplacer(change...).Replace(rare)+"  - "+check+"\n")
	return judgeCell(t, plan, o)
}

// known returns an estimate with a small error over ten pairs.
func known(name string, mean float64) measure.Named {
	return estimate(name, mean, 1e-4, 9)
}

func TestJudgeLawFit(t *testing.T) {
	const check = "{claim: law-fit, law: critically-damped, absolute_margin: 0.005, control: {law: exponential}}"
	plan := planText(t, rare+"  - "+check+"\n")
	evidence := claim.NewEvidence(plan, map[string]*store.Outcome{plan.Cells[0].ID: {}})
	question := claim.NewQuestion(&plan.Spec.Checks[0], evidence)
	want := question.Find(plan.Checks[0].Sets[0])[0].Predicted.Value
	name := sim.LoggedR2(measure.CriticallyDamped)
	v := judgeRare(t, check, outcomeOf(known(name, want)))[0]
	ruled(t, "right", v, agree, disagree)
	if v.Control.Fault != "law = exponential" || v.PredictionKind != rom.Exact {
		t.Error(told(v))
	}
	ruled(t, "0.02 below", judgeRare(t, check, outcomeOf(known(name, want-0.02)))[0], disagree)
	ruled(t, "at the margin", judgeRare(t, check, outcomeOf(known(name, want-0.005)))[0], inconclusive)
	// Without a penalty there is no fixed point, and the mean path is known.
	for r2, want := range map[float64]ruling{0.95: agree, 0.93: disagree} {
		free := judgeRare(t, check, outcomeOf(known(name, r2)), "coefficient: 0.05", "coefficient: 0")[0]
		ruled(t, r2, free, want)
	}
	diverged := store.Outcome{Status: store.CellDiverged, Diverged: 20, DivergedAt: 3}
	ruled(t, "diverged", judgeRare(t, check, diverged)[0], disagree)
}

// The paper's bar and the comparison with another law are one-sided and have no margin.
func TestJudgeLawFitByThePaper(t *testing.T) {
	const byPaper = "prediction: paper-rule, absolute_margin: 0.5, control: {law: exponential}"
	bar := func(r2 float64) judge.Verdict {
		return judgeRare(t, "{claim: law-fit, law: critically-damped, "+byPaper+"}", outcomeOf(
			known(sim.LoggedR2(measure.CriticallyDamped), r2), known(sim.LoggedR2(measure.Exponential), 0.9)))[0]
	}
	for r2, want := range map[float64]ruling{0.912: agree, 0.91: inconclusive, 0.908: disagree} {
		v := bar(r2)
		ruled(t, r2, v, want, disagree)
		if v.Predicted != 0.91 || v.Margin != 0 || v.PredictionKind != rom.PaperRule {
			t.Errorf("%s ± %g", told(v), v.Margin)
		}
	}
	lead := func(x float64) judge.Verdict {
		return judgeRare(t, "{claim: law-fit, law: logistic, expect: fails, "+byPaper+"}", outcomeOf(
			known(sim.LoggedLead(measure.Logistic), x), known(sim.LoggedLead(measure.Exponential), 0.04)))[0]
	}
	for x, want := range map[float64]ruling{-0.05: agree, 0: inconclusive, 0.05: disagree} {
		v := lead(x)
		ruled(t, x, v, want, disagree)
		if v.Predicted != 0 || v.Expect != config.Fails {
			t.Errorf("expected %s, %s", v.Expect, told(v))
		}
	}
}

func TestJudgeLawForecast(t *testing.T) {
	const check = "{claim: law-forecast, law: critically-damped, absolute_margin: 0.5, expect: fails, " +
		"control: {law: logistic}}"
	verdicts := judgeRare(t, check, outcomeOf(
		known(sim.LoggedGain(measure.CriticallyDamped), 0.1), known(sim.LoggedGain(measure.Logistic), 0.9),
		estimate(sim.LoggedPlateau(measure.CriticallyDamped), 0.1, 0, 99),
		estimate(sim.LoggedPlateau(measure.Logistic), 0.9, 0, 99)))
	near(t, "the number of verdicts", float64(len(verdicts)), 2, 0)
	for _, v := range verdicts {
		ruled(t, v.Quantity, v, agree, disagree)
		near(t, v.Quantity, float64(v.Predicted), 0.5, 0)
	}
	lo, hi := float64(verdicts[1].Lo), float64(verdicts[1].Hi)
	if !(lo > 0 && lo < 0.1 && hi > 0.1 && hi < 0.3) {
		t.Errorf("the interval of a share of 10 in 100 pairs is [%g, %g]", lo, hi)
	}
}

// The paper's diagnostics are judged by their own shares; with a refutation the control is
// what this project's diagnostics name.
func TestJudgeThePaperDiagnostics(t *testing.T) {
	const check = "{claim: failure-mode, mode: dynamical-instability, " +
		"prediction: paper-rule, absolute_margin: 0.05"
	ours := estimate("named_dynamical-instability", 1, 0, 511)
	for _, test := range []struct {
		check string
		paper float64
		want  ruling
	}{{check + "}", 1, agree}, {check + "}", 0.3, disagree}, {check + ", expect: fails}", 0.3, agree}} {
		paper := estimate("paper_named_dynamical-instability", test.paper, 0, 511)
		v := judgeOne(t, test.check, outcomeOf(ours, paper))
		ruled(t, test.check, v, test.want)
		if v.PredictionKind != rom.PaperRule || float64(v.Measured) != test.paper ||
			!strings.HasSuffix(v.Quantity, "by the paper's diagnostics") {
			t.Error(told(v))
		}
		if v.Control != nil && v.Control.Verdict != disagree {
			t.Errorf("control %+v", v.Control)
		}
	}
}

// A law may be fitted to the noise where it explains hardly more than noise alone would, and the
// prediction of R² is then out of scope: here the curve explains about as much as one
// parameter explains of noise.
func TestLawFittedToNoise(t *testing.T) {
	const weak = `
name: weak
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.8, count: 2}, {reward: bernoulli, mean: 0.7}]}
policy: {reference: [-0.4, -3, 0.05]}
grpo: {group_size: 700, entropy: {coefficient: 4}, kl: {coefficient: 3}}
optimizer: {learning_rate: 0.97}
run: {steps: 1000, replicas: 20}
checks:
  - {claim: law-fit, law: logistic, margin: 0.1}
`
	plan := planText(t, weak)
	o := outcomeOf(known(sim.LoggedR2(measure.Logistic), 0.022))
	ruledBecause(t, "a weak fit", judgeCell(t, plan, o)[0], outOfScope, "neglects")
}
