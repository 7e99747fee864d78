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

const agree, disagree = judge.Agree, judge.Disagree
const inconclusive, outOfScope = judge.Inconclusive, judge.OutOfScope

// judgeOne judges the cell of resting by one check, with the estimates of o.
func judgeOne(t *testing.T, check string, o store.Outcome) judge.Verdict {
	t.Helper()
	plan := planText(t, resting+"  - "+check+"\n")
	o.ID = plan.Cells[0].ID
	verdicts := judged(t, plan, map[string]*store.Outcome{o.ID: &o})
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

func outcomeOf(estimates ...store.NamedEstimate) store.Outcome {
	return store.Outcome{Status: store.CellOK, Estimates: estimates}
}

func TestJudgeStationaryFluctuation(t *testing.T) {
	const check = "{claim: stationary-fluctuation, margin: 0.02, control: {scale: {noise: 1.1}}}"
	right := store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: restingVariance, StdErr: restingVariance * 1e-3, DF: 1000}
	v := judgeOne(t, check, outcomeOf(right))
	if v.Verdict != agree || v.Control == nil || v.Control.Verdict != disagree || v.Control.Fault != "noise × 1.1" {
		t.Errorf("right: %v because %s, control %+v", v.Verdict, v.Because, v.Control)
	}
	// the run is not quite stationary
	if rel := math.Abs(float64(v.Predicted)/restingVariance - 1); rel > 2e-3 {
		t.Errorf("predicted %g, want %g", float64(v.Predicted), restingVariance)
	}
	wrong := right
	wrong.Mean *= 1.1
	if v := judgeOne(t, check, outcomeOf(wrong)); v.Verdict != disagree {
		t.Errorf("10 %% off: %v", v.Verdict)
	}
	imprecise := right
	imprecise.StdErr = restingVariance * 0.05
	if v := judgeOne(t, check, outcomeOf(imprecise)); v.Verdict != inconclusive || !strings.Contains(v.Because, "would decide") {
		t.Errorf("5 %% standard error: %v because %s", v.Verdict, v.Because)
	}
	single := right
	single.DF = 0
	if v := judgeOne(t, check, outcomeOf(single)); v.Verdict != inconclusive {
		t.Errorf("a single replica: %v", v.Verdict)
	}
	for diverged, want := range map[int]judge.Ruling{3: inconclusive, 5: disagree, 10: disagree} { // of 10
		v := judgeOne(t, check, store.Outcome{Status: store.CellDiverged, Diverged: diverged, DivergedAt: 17})
		if says := fmt.Sprintf("%d of 10 replicas left the range of floating point, the first at step 17", diverged); v.Verdict != want || !strings.HasPrefix(v.Because, says) {
			t.Errorf("%d diverged: %v because %s", diverged, v.Verdict, v.Because)
		}
	}
}

// The expected gradient has no noise: Var J is 0 up to rounding, and no larger.
func TestJudgeNoNoise(t *testing.T) {
	text := strings.Replace(resting, "group_size: 16", "group_size: inf", 1) + "  - {claim: stationary-fluctuation, margin: 0.02}\n"
	plan := planText(t, text)
	for variance, want := range map[float64]judge.Ruling{0: agree, 1e-30: agree, 1e-20: disagree} {
		o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: variance, DF: measure.Exactly})
		o.ID = plan.Cells[0].ID
		v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
		if v.Verdict != want || v.Predicted != 0 {
			t.Errorf("%g: %v, predicted %g ± %g", variance, v.Verdict, float64(v.Predicted), float64(v.Margin))
		}
	}
	// A single replica runs, whatever the file says: if it diverges, all did.
	diverged := store.Outcome{ID: plan.Cells[0].ID, Status: store.CellDiverged, Diverged: 1, DivergedAt: 17}
	if v := judged(t, plan, map[string]*store.Outcome{diverged.ID: &diverged})[0]; v.Verdict != disagree || !strings.HasPrefix(v.Because, "1 of 1 replicas") {
		t.Errorf("diverged: %v because %s", v.Verdict, v.Because)
	}
}

// D/(GCK) with an equality sign lacks a factor ½. A check that expects it to fail agrees, and its
// control, which expects the exact prediction to fail, disagrees.
func TestJudgeRefutation(t *testing.T) {
	const check = "{claim: stationary-fluctuation, margin: 0.02, prediction: rule-at-stiffness, expect: fails}"
	v := judgeOne(t, check, outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: restingVariance, StdErr: restingVariance * 1e-3, DF: 1000}))
	if v.Verdict != agree || v.Expect != config.Fails || v.PredictionKind != "rule-at-stiffness" || v.Control == nil || v.Control.Verdict != disagree {
		t.Errorf("%v of %s because %s, control %+v", v.Verdict, v.PredictionKind, v.Because, v.Control)
	}
	if ratio := float64(v.Predicted) / restingVariance; math.Abs(ratio-2) > 0.05 {
		t.Errorf("the paper's variance is %.3f of the exact one, want about 2", ratio)
	}
}

func TestJudgeFixedPoint(t *testing.T) {
	const check = "{claim: fixed-point, margin: 0.005, control: {set: {grpo.kl.coefficient: 0.55}}}"
	v := judgeOne(t, check, outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: restingReward, StdErr: 1e-5, DF: 1000}))
	if v.Verdict != agree || v.Control.Verdict != disagree || v.Control.Fault != "grpo.kl.coefficient = 0.55" {
		t.Errorf("%v, control %+v", v.Verdict, v.Control)
	}
	// within 1 % of the second-order shift
	if got := float64(v.Predicted); math.Abs(got-restingReward) > 1.3e-6 {
		t.Errorf("predicted %.9f, want %.9f", got, restingReward)
	}
}

// By the paper's rule the fixed point is that of G = ∞, 1.3 % above that of groups of 16.
func TestJudgePaperFixedPoint(t *testing.T) {
	params := theory.Params(&planText(t, resting+"  - {claim: fixed-point, margin: 0.1}\n").Cells[0].Settings, rom.Unit)
	params.GroupSize = option.Infinite
	limit := rom.Predict(params).FixedPoint.Reward
	for check, want := range map[string][2]judge.Ruling{ // at the fixed point of G = ∞ and at that of G = 16
		"control: {set: {grpo.kl.coefficient: 0.55}}": {agree, disagree},
		"expect: fails": {disagree, agree},
	} {
		for i, measured := range []float64{limit, restingReward} {
			v := judgeOne(t, "{claim: fixed-point, prediction: paper-rule, margin: 0.005, "+check+"}",
				outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: measured, StdErr: 1e-5, DF: 1000}))
			if v.Verdict != want[i] || v.PredictionKind != rom.PaperRule || math.Abs(float64(v.Predicted)-limit) > 1e-9 {
				t.Errorf("%s at %g: %v of %v by %s because %s, want %v of %v", check, measured, v.Verdict, v.Predicted, v.PredictionKind, v.Because, want[i], limit)
			}
		}
	}
}

// A cell without a fixed point to start from is out of scope, and no error.
func TestNoFixedPoint(t *testing.T) {
	text := strings.Replace(resting, "coefficient: 0.5", "coefficient: 0", 1) + "  - {claim: fixed-point, margin: 0.1}\n"
	plan := planText(t, text)
	if plan.Cells[0].Status != store.NoFixedPoint {
		t.Fatalf("status %q", plan.Cells[0].Status)
	}
	e := must(Run(t.Context(), plan, t.TempDir(), 1, &silent{}))
	if v := e.Verdicts[0]; v.Verdict != outOfScope || !strings.Contains(v.Because, "no fixed point") {
		t.Errorf("%v because %s", v.Verdict, v.Because)
	}
}

// scalingOf judges the slope of estimates Var J and relaxation rate of G^exponent at the given
// group sizes, for the cell of a configuration.
func scalingOf(t *testing.T, text, sizes, check string, exponent float64) []judge.Verdict {
	t.Helper()
	text = strings.Replace(text, "checks:", "sweep: [{param: grpo.group_size, values: "+sizes+"}]\nchecks:", 1) + "  - " + check + "\n"
	plan := planText(t, text)
	outcomes := make(map[string]*store.Outcome)
	for i := range plan.Cells {
		c := &plan.Cells[i]
		v := math.Pow(float64(c.Settings.Estimator.GroupSize), exponent)
		e := store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: v, StdErr: 1e-4 * v, DF: 500}
		rate := e
		rate.Name = probe.RelaxationRate
		o := outcomeOf(e, rate)
		o.ID = c.ID
		outcomes[c.ID] = &o
	}
	return judged(t, plan, outcomes)
}

func TestJudgeScaling(t *testing.T) {
	const leading = "{claim: fluctuation-scaling, over: grpo.group_size, prediction: leading-order, margin: 0.01}"
	for _, c := range []struct {
		sizes    string
		exponent float64
		want     judge.Ruling
	}{
		{"[2, 4, 32, 128, 1024, inf]", -1, agree},
		{"[2, 4, 32, 128, 1024, inf]", -1.1, disagree},
	} {
		verdicts := scalingOf(t, resting, c.sizes, leading, c.exponent)
		if len(verdicts) != 1 {
			t.Fatalf("%d verdicts", len(verdicts))
		}
		v := verdicts[0]
		if v.Verdict != c.want {
			t.Errorf("G in %s, exponent %g: %v because %s, want %v", c.sizes, c.exponent, v.Verdict, v.Because, c.want)
		}
		if v.Verdict == agree && (v.Predicted != -1 || math.Abs(float64(v.Measured)+1) > 1e-12 || v.Cell != "grpo.group_size|") {
			t.Errorf("measured %g, predicted %g, cell %q", float64(v.Measured), float64(v.Predicted), v.Cell)
		}
	}
}

// The theory of Adam is of leading order only, and its exponent −½.
func TestJudgeAdamScaling(t *testing.T) {
	const check = "{claim: fluctuation-scaling, over: grpo.group_size, prediction: leading-order, margin: 0.03}"
	text := strings.Replace(resting, "optimizer: {learning_rate: 0.1}", "optimizer: {kind: adam, learning_rate: 0.0002}", 1)
	for _, c := range []struct {
		exponent float64
		want     judge.Ruling
	}{{-0.5, agree}, {-1, disagree}} {
		v := scalingOf(t, text, "[32, 128, 512]", check, c.exponent)[0]
		if v.Verdict != c.want || v.Predicted != -0.5 || v.PredictionKind != rom.LeadingOrder {
			t.Errorf("exponent %g: %v because %s, predicted %g (%s)", c.exponent, v.Verdict, v.Because, float64(v.Predicted), v.PredictionKind)
		}
	}
}

// A fault may predict a number near 0, of which the margin is a share that is less than what
// the right theory neglects. The rate of a heavy ball hardly depends on G.
func TestControlOfASmallPrediction(t *testing.T) {
	const check = "{claim: relaxation-scaling, over: grpo.group_size, offset: 0.01, margin: 0.1, control: {set: {optimizer.kind: heavy-ball}}}"
	text := strings.Replace(resting, "optimizer: {learning_rate: 0.1}", "optimizer: {kind: adam, learning_rate: 0.0002}", 1)
	v := scalingOf(t, text, "[128, 256, 512]", check, 0.5)[0]
	if v.Verdict != agree || v.Control.Verdict != disagree {
		t.Errorf("%v because %s, control %v", v.Verdict, v.Because, v.Control.Verdict)
	}
}

// A trajectory with a missing number is inconclusive, even if all others agree.
func TestMissingNumbersDoNotAgree(t *testing.T) {
	text := strings.Replace(resting, "policy: {init: fixed-point}", "policy: {init: [0, 0]}", 1) + "  - {claim: trajectory, absolute_margin: 1e6}\n"
	plan := planText(t, text)
	dir := t.TempDir()
	e := must(Run(t.Context(), plan, dir, 1, &silent{}))
	if v := e.Verdicts[0].Verdict; v != agree {
		t.Fatalf("%v, want a margin of 1e6 to agree", v)
	}
	id := plan.Cells[0].ID
	o := *e.Outcomes[id]
	recorded := must(o.Trajectory())
	o.SetTrajectory(recorded)
	series := recorded.Series(sim.ExpectedReward)
	series.Mean[len(series.Mean)/2] = store.Number(math.NaN())
	if v := judged(t, plan, map[string]*store.Outcome{id: &o})[0]; v.Verdict != inconclusive {
		t.Errorf("%v because %s", v.Verdict, v.Because)
	}
}

// Where the theory is an expansion only, a check of the exact prediction is out of
// scope, and a check that names no prediction is judged by the expansion.
func TestExactPredictionOutOfScope(t *testing.T) {
	text := strings.Replace(resting, "[{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]",
		"[{reward: normal, mean: 0.9, std: 0.3}, {reward: normal, mean: 0.2, std: 0.3}]", 1)
	text = strings.Replace(text, "policy: {init: fixed-point}", "policy: {init: [0, 0]}", 1)
	text = strings.Replace(text, "group_size: 16", "group_size: 1024", 1)
	// at 0.5 the gap fluctuates too much for linear theory
	text = strings.Replace(text, "coefficient: 0.5", "coefficient: 2", 1)
	text = strings.Replace(text, "advantage: {scale: none}", "importance: {mode: clip}", 1)
	text = strings.Replace(text, "steps: 1000, burn_in: 100", "steps: 400, burn_in: 100", 1)
	for _, claim := range []string{"trajectory, absolute_margin: 1", "fixed-point, margin: 1", "stationary-fluctuation, margin: 1000", "stiffness, displacement: 0.04, draws: 1000, absolute_margin: 1"} {
		text += "  - {claim: " + claim + "}\n  - {claim: " + claim + ", prediction: exact}\n"
	}
	e := must(Run(t.Context(), planText(t, text), t.TempDir(), 2, &silent{}))
	for _, v := range e.Verdicts {
		want := []judge.Ruling{agree, outOfScope}[v.Check%2]
		if v.Verdict != want || want == agree && v.PredictionKind != rom.Expansion {
			t.Errorf("%s, check %d: %v because %s (%s)", v.Claim, v.Check, v.Verdict, v.Because, v.PredictionKind)
		}
	}
}

// judged returns the verdicts of Judge, and fails the test on an error.
func judged(t *testing.T, plan *plan.Plan, outcomes map[string]*store.Outcome) []judge.Verdict {
	t.Helper()
	return must(Judge(plan, outcomes))
}

// The scope of a stationary state has the same words in predictions, their table and
// verdicts: without a fixed point, unstable, and in.
func TestScopeIsTheSameEverywhere(t *testing.T) {
	text := strings.Replace(resting, "init: fixed-point", "init: [0, 0]", 1)
	text = strings.Replace(text, "checks:", "variants: [{name: good}, {name: free, set: {grpo.kl.coefficient: 0}}, {name: unstable, set: {lag.interval: 300, optimizer.learning_rate: 1}}]\nchecks:", 1)
	e := must(Run(t.Context(), planText(t, text+"  - {claim: fixed-point, margin: 1}\n"), t.TempDir(), 2, &silent{}))
	var table bytes.Buffer
	noError(t, e.predictionsCSV(&table))
	rows := must(csv.NewReader(&table).ReadAll())
	column := slices.Index(rows[0], "scope")
	i := 0
	for c, line := range Predictions(e.Plan) {
		v := e.Verdicts[i]
		i++
		if in := c.Variant == "good"; line.Scope.In != in || (v.Verdict == outOfScope) == in {
			t.Errorf("%s: predicted scope %+v, verdict %v because %s", c.Variant, line.Scope, v.Verdict, v.Because)
		}
		if !line.Scope.In && (v.Because != line.Scope.Because.String() || rows[i][column] != line.Scope.Because.String()) {
			t.Errorf("%s: predicted %q, in the table %q, in the verdict %q", c.Variant, line.Scope.Because, rows[i][column], v.Because)
		}
	}
}
