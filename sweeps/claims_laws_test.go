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
	o.ID = plan.Cells[0].ID
	return judged(t, plan, map[string]*store.Outcome{o.ID: &o})
}

// known returns an estimate with a small error over ten pairs.
func known(name string, mean float64) store.NamedEstimate {
	return store.NamedEstimate{Name: name, Mean: mean, StdErr: 1e-4, DF: 9}
}

func TestJudgeLawFit(t *testing.T) {
	const check = "{claim: law-fit, law: critically-damped, absolute_margin: 0.005, control: {law: exponential}}"
	plan := planText(t, rare+"  - "+check+"\n")
	evidence := claim.NewEvidence(plan, map[string]*store.Outcome{plan.Cells[0].ID: {}})
	want := claim.NewQuestion(&plan.Spec.Checks[0], evidence).Find(plan.Checks[0].Sets[0])[0].Predicted.Value
	name := sim.LoggedR2(measure.CriticallyDamped)
	if v := judgeRare(t, check, outcomeOf(known(name, want)))[0]; v.Verdict != agree || v.Control.Verdict != disagree || v.Control.Fault != "law = exponential" || v.PredictionKind != rom.Exact {
		t.Errorf("right: %v of %s because %s, control %+v", v.Verdict, v.PredictionKind, v.Because, v.Control)
	}
	if v := judgeRare(t, check, outcomeOf(known(name, want-0.02)))[0]; v.Verdict != disagree {
		t.Errorf("0.02 below: %v", v.Verdict)
	}
	if v := judgeRare(t, check, outcomeOf(known(name, want-0.005)))[0]; v.Verdict != inconclusive {
		t.Errorf("at the margin: %v", v.Verdict)
	}
	// Without a penalty there is no fixed point, and the mean path is known.
	for r2, want := range map[float64]judge.Ruling{0.95: agree, 0.93: disagree} {
		if v := judgeRare(t, check, outcomeOf(known(name, r2)), "coefficient: 0.05", "coefficient: 0")[0]; v.Verdict != want {
			t.Errorf("without a penalty, R² = %g: %v because %s, predicted %g, want %v", r2, v.Verdict, v.Because, float64(v.Predicted), want)
		}
	}
	if v := judgeRare(t, check, store.Outcome{Status: store.CellDiverged, Diverged: 20, DivergedAt: 3})[0]; v.Verdict != disagree {
		t.Errorf("diverged: %v", v.Verdict)
	}
}

// The paper's bar and the comparison with another law are one-sided and have no margin.
func TestJudgeLawFitByThePaper(t *testing.T) {
	bar := func(r2 float64) judge.Verdict {
		return judgeRare(t, "{claim: law-fit, law: critically-damped, prediction: paper-rule, absolute_margin: 0.5, control: {law: exponential}}",
			outcomeOf(known(sim.LoggedR2(measure.CriticallyDamped), r2), known(sim.LoggedR2(measure.Exponential), 0.9)))[0]
	}
	for r2, want := range map[float64]judge.Ruling{0.99: agree, 0.912: agree, 0.91: inconclusive, 0.908: disagree} {
		if v := bar(r2); v.Verdict != want || v.Predicted != 0.91 || v.Margin != 0 || v.PredictionKind != rom.PaperRule || v.Control.Verdict != disagree {
			t.Errorf("R² = %g: %v, want %v; control %+v", r2, v.Verdict, want, v.Control)
		}
	}
	lead := func(x float64) judge.Verdict {
		return judgeRare(t, "{claim: law-fit, law: logistic, prediction: paper-rule, absolute_margin: 0.5, expect: fails, control: {law: exponential}}",
			outcomeOf(known(sim.LoggedLead(measure.Logistic), x), known(sim.LoggedLead(measure.Exponential), 0.04)))[0]
	}
	for x, want := range map[float64]judge.Ruling{-0.05: agree, 0: inconclusive, 0.05: disagree} {
		if v := lead(x); v.Verdict != want || v.Predicted != 0 || v.Expect != config.Fails || v.Control.Verdict != disagree {
			t.Errorf("lead %g: %v, want %v; control %+v", x, v.Verdict, want, v.Control)
		}
	}
}

func TestJudgeLawForecast(t *testing.T) {
	verdicts := judgeRare(t, "{claim: law-forecast, law: critically-damped, absolute_margin: 0.5, expect: fails, control: {law: logistic}}", outcomeOf(
		known(sim.LoggedGain(measure.CriticallyDamped), 0.1), known(sim.LoggedGain(measure.Logistic), 0.9),
		store.NamedEstimate{Name: sim.LoggedPlateau(measure.CriticallyDamped), Mean: 0.1, DF: 99}, store.NamedEstimate{Name: sim.LoggedPlateau(measure.Logistic), Mean: 0.9, DF: 99}))
	if len(verdicts) != 2 {
		t.Fatalf("%d verdicts, want 2", len(verdicts))
	}
	for _, v := range verdicts {
		if v.Verdict != agree || v.Predicted != 0.5 || v.Control.Verdict != disagree {
			t.Errorf("%s: %v against %g, control %+v", v.Quantity, v.Verdict, float64(v.Predicted), v.Control)
		}
	}
	if lo, hi := float64(verdicts[1].Lo), float64(verdicts[1].Hi); !(lo > 0 && lo < 0.1 && hi > 0.1 && hi < 0.3) {
		t.Errorf("the interval of a share of 10 in 100 pairs is [%g, %g]", lo, hi)
	}
}

// The paper's diagnostics are judged by their own shares; with a refutation the control is
// what this project's diagnostics name.
func TestJudgeThePaperDiagnostics(t *testing.T) {
	share := func(name string, mean float64) store.NamedEstimate {
		return store.NamedEstimate{Name: name, Mean: mean, DF: 511}
	}
	const check = "{claim: failure-mode, mode: dynamical-instability, prediction: paper-rule, absolute_margin: 0.05"
	ours := share("named_dynamical-instability", 1)
	for _, test := range []struct {
		check string
		paper float64
		want  judge.Ruling
	}{{check + "}", 1, agree}, {check + "}", 0.3, disagree}, {check + ", expect: fails}", 0.3, agree}} {
		v := judgeOne(t, test.check, outcomeOf(ours, share("paper_named_dynamical-instability", test.paper)))
		if v.Verdict != test.want || v.PredictionKind != rom.PaperRule || float64(v.Measured) != test.paper || !strings.HasSuffix(v.Quantity, "by the paper's diagnostics") {
			t.Errorf("%s: %v of %q, measured %g, want %v", test.check, v.Verdict, v.Quantity, float64(v.Measured), test.want)
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
bandit: {arms: [{reward: bernoulli, mean: 0.8}, {reward: bernoulli, mean: 0.8}, {reward: bernoulli, mean: 0.7}]}
policy: {reference: [-0.4, -3, 0.05]}
grpo: {group_size: 700, entropy: {coefficient: 4}, kl: {coefficient: 3}}
optimizer: {learning_rate: 0.97}
run: {steps: 1000, replicas: 20}
checks:
  - {claim: law-fit, law: logistic, margin: 0.1}
`
	plan := planText(t, weak)
	o := outcomeOf(known(sim.LoggedR2(measure.Logistic), 0.022))
	o.ID = plan.Cells[0].ID
	v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
	if v.Verdict != outOfScope || !strings.Contains(v.Because, "neglects") {
		t.Errorf("%v because %s", v.Verdict, v.Because)
	}
}
