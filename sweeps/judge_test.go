package sweeps

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

type ruling = judge.Ruling

const agree, disagree = judge.Agree, judge.Disagree
const inconclusive, outOfScope = judge.Inconclusive, judge.OutOfScope

// judgeCell judges the first cell of a plan by what was measured of it.
func judgeCell(t *testing.T, plan *plan.Plan, o store.Outcome) []judge.Verdict {
	t.Helper()
	o.ID = plan.Cells[0].ID
	return must(Judge(plan, map[string]*store.Outcome{o.ID: &o}))
}

// outcomesOf returns what was measured of each cell of a plan.
func outcomesOf(plan *plan.Plan, of func(cell int) store.Outcome) map[string]*store.Outcome {
	outcomes := make(map[string]*store.Outcome)
	for i := range plan.Cells {
		o := of(i)
		o.ID = plan.Cells[i].ID
		outcomes[o.ID] = &o
	}
	return outcomes
}

// told is a verdict in words for those who read that a test fails.
func told(v judge.Verdict) string {
	return fmt.Sprintf("%s, %s: measured %v [%v, %v], predicted %v by %s: %v because %s, control %+v",
		v.Label, v.Quantity, v.Measured, v.Lo, v.Hi, v.Predicted, v.PredictionKind, v.Verdict, v.Because,
		v.Control)
}

// ruled checks a verdict, and that on its control where one is wanted.
func ruled(t *testing.T, of any, v judge.Verdict, want ruling, control ...ruling) {
	t.Helper()
	if v.Verdict != want || len(control) > 0 && (v.Control == nil || v.Control.Verdict != control[0]) {
		t.Errorf("%v: %s; want %v, control %v", of, told(v), want, control)
	}
}

// caught is the ruling that a control ought to have, if there is one.
func caught(v judge.Verdict) []ruling {
	if v.Control == nil {
		return nil
	}
	return []ruling{disagree}
}

// ruledBecause checks a verdict and a part of its reason.
func ruledBecause(t *testing.T, of any, v judge.Verdict, want ruling, because string) {
	t.Helper()
	if v.Verdict != want || !strings.Contains(v.Because, because) {
		t.Errorf("%v: %s; want %v because %s", of, told(v), want, because)
	}
}

// judgeOne judges the cell of resting by one check, with the estimates of o.
func judgeOne(t *testing.T, check string, o store.Outcome) judge.Verdict {
	t.Helper()
	plan := planText(t, resting+"  - "+check+"\n")
	verdicts := judgeCell(t, plan, o)
	if len(verdicts) != 1 || claim.Verdicts(plan) != 1 {
		t.Fatalf("%d verdicts, %d planned", len(verdicts), claim.Verdicts(plan))
	}
	return verdicts[0]
}

// The stationary variance and mean of J of this cell by its exact law in docs/theory.md §5.
const (
	restingVariance = 4.931350e-5
	restingReward   = 0.751551837 + 1.216689e-4
)

func estimate(name string, mean, stdErr float64, df int) measure.Named {
	return measure.Named{Name: name, Estimate: measure.Estimate{Mean: mean, StdErr: stdErr, DF: df}}
}

// exactly is an estimate without error.
func exactly(name string, mean float64) measure.Named {
	return estimate(name, mean, 0, measure.Exactly)
}

func outcomeOf(estimates ...measure.Named) store.Outcome {
	return store.Outcome{Status: store.CellOK, Estimates: estimates}
}

func TestJudgeStationaryFluctuation(t *testing.T) {
	const check = "{claim: stationary-fluctuation, margin: 0.02, control: {scale: {noise: 1.1}}}"
	judge := func(mean, stdErr float64, df int) judge.Verdict {
		mean, stdErr = mean*restingVariance, stdErr*restingVariance
		return judgeOne(t, check, outcomeOf(estimate(sim.ExpectedRewardVariance, mean, stdErr, df)))
	}
	v := judge(1, 1e-3, 1000)
	ruled(t, "right", v, agree, disagree)
	equal(t, "control", v.Control.Fault, "noise × 1.1")
	// the run is not quite stationary
	near(t, "predicted", float64(v.Predicted)/restingVariance, 1, 2e-3)
	ruled(t, "10 % off", judge(1.1, 1e-3, 1000), disagree)
	ruledBecause(t, "5 % standard error", judge(1, 0.05, 1000), inconclusive, "would decide")
	ruled(t, "a single replica", judge(1, 1e-3, 0), inconclusive)
	const says = "%d of 10 replicas left the range of floating point, the first at step 17"
	for diverged, want := range map[int]ruling{3: inconclusive, 5: disagree, 10: disagree} {
		v := judgeOne(t, check,
			store.Outcome{Status: store.CellDiverged, Diverged: diverged, DivergedAt: 17})
		ruledBecause(t, diverged, v, want, fmt.Sprintf(says, diverged))
	}
}

// The expected gradient has no noise: Var J is 0 up to rounding, and no larger.
func TestJudgeNoNoise(t *testing.T) {
	plan := planText(t, strings.Replace(resting, "group_size: 16", "group_size: inf", 1)+
		"  - {claim: stationary-fluctuation, margin: 0.02}\n")
	for variance, want := range map[float64]ruling{0: agree, 1e-30: agree, 1e-20: disagree} {
		v := judgeCell(t, plan, outcomeOf(exactly(sim.ExpectedRewardVariance, variance)))[0]
		ruled(t, variance, v, want)
		near(t, "predicted", float64(v.Predicted), 0, 0)
	}
	// A single replica runs, whatever the file says: if it diverges, all did.
	diverged := store.Outcome{Status: store.CellDiverged, Diverged: 1, DivergedAt: 17}
	ruledBecause(t, "diverged", judgeCell(t, plan, diverged)[0], disagree, "1 of 1 replicas")
}

// D/(GCK) with an equality sign lacks a factor ½. A check that expects it to fail agrees, and its
// control, which expects the exact prediction to fail, disagrees.
func TestJudgeRefutation(t *testing.T) {
	const check = "{claim: stationary-fluctuation, margin: 0.02, prediction: rule-at-stiffness, " +
		"expect: fails}"
	right := estimate(sim.ExpectedRewardVariance, restingVariance, restingVariance*1e-3, 1000)
	v := judgeOne(t, check, outcomeOf(right))
	ruled(t, "right", v, agree, disagree)
	if v.Expect != config.Fails || v.PredictionKind != "rule-at-stiffness" {
		t.Errorf("expected %s by %s", v.Expect, v.PredictionKind)
	}
	near(t, "the paper's variance over the exact one", float64(v.Predicted)/restingVariance, 2, 0.05)
}

func TestJudgeFixedPoint(t *testing.T) {
	const check = "{claim: fixed-point, margin: 0.005, control: {set: {grpo.kl.coefficient: 0.55}}}"
	v := judgeOne(t, check, outcomeOf(estimate(sim.ExpectedRewardMean, restingReward, 1e-5, 1000)))
	ruled(t, "right", v, agree, disagree)
	equal(t, "control", v.Control.Fault, "grpo.kl.coefficient = 0.55")
	// within 1 % of the second-order shift
	near(t, "predicted", float64(v.Predicted), restingReward, 1.3e-6)
}

// By the paper's rule the fixed point is that of G = ∞, 1.3 % above that of groups of 16.
func TestJudgePaperFixedPoint(t *testing.T) {
	p := planText(t, resting+"  - {claim: fixed-point, margin: 0.1}\n")
	params := theory.Params(&p.Cells[0].Settings, rom.Unit)
	params.GroupSize = option.Infinite
	limit := rom.Predict(params).FixedPoint.Reward
	for check, want := range map[string][2]ruling{ // at the fixed points of G = ∞ and of 16
		"control: {set: {grpo.kl.coefficient: 0.55}}": {agree, disagree},
		"expect: fails": {disagree, agree},
	} {
		for i, measured := range []float64{limit, restingReward} {
			v := judgeOne(t, "{claim: fixed-point, prediction: paper-rule, margin: 0.005, "+check+"}",
				outcomeOf(estimate(sim.ExpectedRewardMean, measured, 1e-5, 1000)))
			ruled(t, check, v, want[i])
			near(t, check, float64(v.Predicted), limit, 1e-9)
			equal(t, check, v.PredictionKind, rom.PaperRule)
		}
	}
}

// A cell without a fixed point to start from is out of scope, and no error.
func TestNoFixedPoint(t *testing.T) {
	text := strings.Replace(resting, "coefficient: 0.5", "coefficient: 0", 1)
	plan := planText(t, text+"  - {claim: fixed-point, margin: 0.1}\n")
	if plan.Cells[0].Status != store.NoFixedPoint {
		t.Fatalf("status %q", plan.Cells[0].Status)
	}
	e := must(Runner{Workers: 1, Progress: &silent{}}.Run(t.Context(), plan, t.TempDir()))
	ruledBecause(t, "no penalty", e.Verdicts[0], outOfScope, "no fixed point")
}

// scalingOf judges the slope of estimates Var J and relaxation rate of G^exponent at the given
// group sizes, for the cell of a configuration.
func scalingOf(t *testing.T, text, sizes, check string, exponent float64) []judge.Verdict {
	t.Helper()
	sweep := "sweep: [{param: grpo.group_size, values: " + sizes + "}]\nchecks:"
	plan := planText(t, strings.Replace(text, "checks:", sweep, 1)+"  - "+check+"\n")
	return must(Judge(plan, outcomesOf(plan, func(i int) store.Outcome {
		v := math.Pow(float64(plan.Cells[i].Settings.Estimator.GroupSize), exponent)
		return outcomeOf(estimate(sim.ExpectedRewardVariance, v, 1e-4*v, 500),
			estimate(probe.RelaxationRate, v, 1e-4*v, 500))
	})))
}

func TestJudgeScaling(t *testing.T) {
	const leading = "{claim: fluctuation-scaling, over: grpo.group_size, prediction: " +
		"leading-order, margin: 0.01}"
	for exponent, want := range map[float64]ruling{-1: agree, -1.1: disagree} {
		verdicts := scalingOf(t, resting, "[2, 4, 32, 128, 1024, inf]", leading, exponent)
		v := verdicts[0]
		ruled(t, exponent, v, want)
		near(t, "measured exponent", float64(v.Measured), exponent, 1e-12)
		if len(verdicts) != 1 || v.Predicted != -1 || v.Cell != "grpo.group_size|" {
			t.Errorf("%d verdicts of cell %q: %s", len(verdicts), v.Cell, told(v))
		}
	}
}

// The theory of Adam is of leading order only, and its exponent −½.
func TestJudgeAdamScaling(t *testing.T) {
	const check = "{claim: fluctuation-scaling, over: grpo.group_size, prediction: leading-order, " +
		"margin: 0.03}"
	text := strings.Replace(resting, "{learning_rate: 0.1}", "{kind: adam, learning_rate: 0.0002}", 1)
	for exponent, want := range map[float64]ruling{-0.5: agree, -1: disagree} {
		v := scalingOf(t, text, "[32, 128, 512]", check, exponent)[0]
		ruled(t, exponent, v, want)
		if v.Predicted != -0.5 || v.PredictionKind != rom.LeadingOrder {
			t.Errorf("exponent %g: %s", exponent, told(v))
		}
	}
}

// A fault may predict a number near 0, of which the margin is a share that is less than what
// the right theory neglects. The rate of a heavy ball hardly depends on G.
func TestControlOfASmallPrediction(t *testing.T) {
	const check = "{claim: relaxation-scaling, over: grpo.group_size, offset: 0.01, margin: 0.1, " +
		"control: {set: {optimizer.kind: heavy-ball}}}"
	text := strings.Replace(resting, "{learning_rate: 0.1}", "{kind: adam, learning_rate: 0.0002}", 1)
	ruled(t, "rate", scalingOf(t, text, "[128, 256, 512]", check, 0.5)[0], agree, disagree)
}

// A trajectory with a missing number is inconclusive, even if all others agree.
func TestMissingNumbersDoNotAgree(t *testing.T) {
	text := strings.Replace(resting, "init: fixed-point", "init: [0, 0]", 1)
	e, _ := runSweep(t, text+"  - {claim: trajectory, absolute_margin: 1e6}\n", t.TempDir(), 1)
	ruled(t, "a margin of 1e6", e.Verdicts[0], agree)
	o := *e.Outcomes[e.Plan.Cells[0].ID]
	recorded := must(o.Trajectory())
	o.SetTrajectory(recorded)
	series := recorded.Series(sim.ExpectedReward)
	series.Mean[len(series.Mean)/2] = store.Number(math.NaN())
	ruled(t, "without a number", judgeCell(t, e.Plan, o)[0], inconclusive)
}

// Where the theory is an expansion only, a check of the exact prediction is out of
// scope, and a check that names no prediction is judged by the expansion.
func TestExactPredictionOutOfScope(t *testing.T) {
	// with a penalty of 0.5 the gap fluctuates too much for linear theory
	text := strings.NewReplacer("reward: bernoulli", "reward: normal, std: 0.3", "init: fixed-point",
		"init: [0, 0]",
		"group_size: 16", "group_size: 1024", "coefficient: 0.5", "coefficient: 2",
		"advantage: {scale: none}", "importance: {mode: clip}", "steps: 1000", "steps: 400").Replace(resting)
	for _, claim := range []string{"trajectory, absolute_margin: 1", "fixed-point, margin: 1",
		"stationary-fluctuation, margin: 1000",
		"stiffness, displacement: 0.04, draws: 1000, absolute_margin: 1"} {
		text += "  - {claim: " + claim + "}\n  - {claim: " + claim + ", prediction: exact}\n"
	}
	e, _ := runSweep(t, text, t.TempDir(), 2)
	for _, v := range e.Verdicts {
		want := []ruling{agree, outOfScope}[v.Check%2]
		ruled(t, v.Claim, v, want)
		if want == agree && v.PredictionKind != rom.Expansion {
			t.Errorf("%s: %s", v.Claim, told(v))
		}
	}
}

// The scope of a stationary state has the same words in predictions, their table and
// verdicts: without a fixed point, unstable, and in.
func TestScopeIsTheSameEverywhere(t *testing.T) {
	text := strings.Replace(resting, "init: fixed-point", "init: [0, 0]", 1)
	text = strings.Replace(text, "checks:", `variants:
  - {name: good}
  - {name: free, set: {grpo.kl.coefficient: 0}}
  - {name: unstable, set: {lag.interval: 300, optimizer.learning_rate: 1}}
checks:`, 1)
	e, _ := runSweep(t, text+"  - {claim: fixed-point, margin: 1}\n", t.TempDir(), 2)
	var table bytes.Buffer
	noError(t, e.predictionsCSV(&table))
	rows := must(csv.NewReader(&table).ReadAll())
	column := slices.Index(rows[0], "scope")
	i := 0
	for c, line := range Predictions(e.Plan) {
		v := e.Verdicts[i]
		i++
		if in := c.Variant == "good"; line.Scope.In != in || (v.Verdict == outOfScope) == in {
			t.Errorf("predicted scope %+v, verdict %s", line.Scope, told(v))
		}
		because := line.Scope.Because.String()
		if !line.Scope.In && (v.Because != because || rows[i][column] != because) {
			t.Errorf("predicted %q, in the table %q, verdict %s", because, rows[i][column], told(v))
		}
	}
}
