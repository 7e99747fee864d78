package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// student returns the two-sided quantile of Student's t by its definition.
func student(df int, confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(1 - (1-confidence)/2)
}

// The intervals of a file's n verdicts share its confidence: each has 1 − (1 − 0.99)/n,
// whatever the number of checks.
func TestConfidenceIsSharedByVerdicts(t *testing.T) {
	plan := planText(t, resting+"  - {claim: fixed-point, margin: 1}\n"+
		"  - {claim: stationary-fluctuation, margin: 1}\n"+overSizes)
	verdicts := must(Judge(plan, outcomesOf(plan, func(int) store.Outcome {
		return outcomeOf(estimate(sim.ExpectedRewardMean, 0.7, 1e-3, 9),
			estimate(sim.ExpectedRewardVariance, 1e-4, 1e-5, 4))
	})))
	if len(verdicts) != 6 {
		t.Fatalf("%d verdicts", len(verdicts))
	}
	for _, v := range verdicts {
		want := 2e-3 * student(9, 1-0.01/6)
		if v.Claim == "stationary-fluctuation" {
			want = 2e-5 * student(4, 1-0.01/6)
		}
		near(t, v.Claim, float64(v.Hi-v.Lo), want, 1e-9*want)
	}
}

// At G = 4, 16 and 64 the weights of a slope on log G are −1, 0 and 1 over 2 log 4. The
// errors of log Var add in squares, with Welch's degrees of freedom.
func TestErrorOfASlope(t *testing.T) {
	plan := planText(t,
		resting+"  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 100}\n"+
			strings.Replace(overSizes, "32, 64, 128", "4, 16, 64", 1))
	relative, df := [3]float64{0.01, 0.5, 0.03}, [3]int{20, 7, 50}
	v := must(Judge(plan, outcomesOf(plan, func(i int) store.Outcome {
		mean := 1e-4 / float64(plan.Cells[i].Settings.Estimator.GroupSize)
		return outcomeOf(estimate(sim.ExpectedRewardVariance, mean, relative[i]*mean, df[i]))
	})))[0]
	near(t, "the slope of 1/G", float64(v.Measured), -1, 1e-12)
	a, b := relative[0]*relative[0], relative[2]*relative[2]
	stdErr := math.Sqrt(a+b) / (2 * math.Log(4))
	welch := int((a + b) * (a + b) / (a*a/float64(df[0]) + b*b/float64(df[2])))
	want := 2 * stdErr * student(welch, 0.99)
	near(t, "the width of the interval", float64(v.Hi-v.Lo), want, 1e-9*want)
}

// A trajectory's band holds at all n recorded steps together: at each it is the interval
// of confidence 1 − 0.01/n of the mean over replicas, as a share of the rise.
func TestBandHoldsAtAllSteps(t *testing.T) {
	text := strings.NewReplacer("fixed-point", "[0, 0]", "steps: 1000", "steps: 300").Replace(resting)
	p := planText(t, text+"  - {claim: trajectory, absolute_margin: 0.001}\n")
	outcomes := must(plan.Simulate(t.Context(), p, 1))
	v := must(Judge(p, outcomes))[0]
	var step int
	if _, err := fmt.Sscanf(v.Quantity, "deviation of mean reward at step %d", &step); err != nil {
		t.Fatalf("%q: %v", v.Quantity, err)
	}
	recorded := must(outcomes[p.Cells[0].ID].Trajectory(sim.ExpectedReward))
	series := recorded.Series(sim.ExpectedReward)
	point, _ := rest.Reached(theory.Params(&p.Cells[0].Settings, rom.Unit))
	rise := point.Reward - (0.9+0.2)/2
	for i, at := range recorded.Steps {
		if at != step {
			continue
		}
		want := 2 * float64(series.StdErr[i]) * student(9, 1-0.01/float64(len(recorded.Steps))) / rise
		near(t, step, float64(v.Hi-v.Lo), want, 1e-9*want)
		return
	}
	t.Errorf("step %d is not recorded", step)
}

// A share's trials are the groups drawn after the burn-in by all replicas, those of a
// name the replicas. A mean over n replicas has n − 1 degrees of freedom.
func TestTrialsAndDegreesOfFreedom(t *testing.T) {
	text := strings.Replace(resting, "group_size: 16", "group_size: 16, groups_per_step: 3", 1)
	c := planText(t, text+"  - {claim: fixed-point, margin: 1}\n").Cells[0]
	e := measure.Estimate{Mean: 0.3, StdErr: 1e-9, DF: 9}
	for name, trials := range map[string]float64{
		sim.ZeroVarianceShare:   10 * (1000 - 100) * 3,
		plan.NamedShare("none"): 10,
	} {
		lo, hi := c.Interval(name, e, 0.99)
		wantLo, wantHi := e.Share(trials, 0.99)
		if lo != wantLo || hi != wantHi {
			t.Errorf("%s: [%g, %g], want that of %g trials, [%g, %g]", name, lo, hi, trials, wantLo, wantHi)
		}
	}
}

// A hypothesis is judged in the place of the prediction, which stands beside it: a value within its
// margin, a bound by the end of the interval that faces it. The measured mean reward is 0.75 ± 0.02
// (Student's t at nine degrees of freedom), the predicted one that of a bandit at rest.
func TestHypotheses(t *testing.T) {
	half := 0.01 * student(9, 0.99)
	const straddles = " is undecided; the interval straddles "
	for _, c := range []struct {
		hypothesis string
		want       ruling
		says       string
	}{
		{"expected: 0.75, absolute_margin: 0.04", agree, ": 0.75 ± 0.04 holds; the theory predicts "},
		{"expected: 0.75, margin: 0.06", agree, ": 0.75 ± 0.045 holds; "},
		{"expected: 0.75, absolute_margin: 0.02", inconclusive,
			straddles + "the margin: about 2.6 times the replicas"},
		{"expected: 0.6, absolute_margin: 0.13", inconclusive, " is undecided; "},
		{"expected: 0.6, absolute_margin: 0.04", disagree, ": 0.6 ± 0.04 is refuted; "},
		{fmt.Sprint("at_most: ", 0.75+1.01*half), agree, " holds; "},
		{fmt.Sprint("at_most: ", 0.75+0.99*half), inconclusive,
			straddles + "the bound: about 1 times the replicas"},
		{fmt.Sprint("at_most: ", 0.75-0.99*half), inconclusive, " is undecided; "},
		{fmt.Sprint("at_most: ", 0.75-1.01*half), disagree, " is refuted; "},
		{fmt.Sprint("at_least: ", 0.75-1.01*half), agree, " holds; "},
		{fmt.Sprint("at_least: ", 0.75-0.99*half), inconclusive, " is undecided; "},
		{fmt.Sprint("at_least: ", 0.75+1.01*half), disagree, " is refuted; "},
	} {
		plan := planText(t, resting+"  - {claim: fixed-point, "+c.hypothesis+"}\n")
		v := judgeCell(t, plan, outcomeOf(estimate(sim.ExpectedRewardMean, 0.75, 0.01, 9)))[0]
		measured, interval, _, _ := v.Numbers()
		ruledBecause(t, c.hypothesis, v, c.want, c.says)
		ruledBecause(t, c.hypothesis, v, c.want, measured+" "+interval)
		h := v.Hypothesis
		if h == nil || float64(v.Predicted) != h.Value || h.PredictionKind != rom.Exact ||
			!(h.Predicted > 0.5 && h.Predicted < 0.9) {
			t.Errorf("%s: hypothesis %+v beside %s", c.hypothesis, h, told(v))
		}
	}
}

// A claim about rest is out of scope where runs are not at rest, however what is to hold is named:
// in a short run, which has not arrived, and in one that was still on its way at burn-in.
func TestClaimsAboutRest(t *testing.T) {
	away := strings.Replace(resting, "init: fixed-point", "init: [0, 0]", 1)
	short := strings.NewReplacer("steps: 1000, burn_in: 100", "steps: 20, burn_in: 5", "rate: 0.1",
		"rate: 0.02").Replace(away)
	early := strings.Replace(away, "steps: 1000, burn_in: 100", "steps: 400, burn_in: 1", 1)
	const scaling, fluctuation = "fluctuation-scaling, over: grpo.group_size", "stationary-fluctuation"
	const leading, paper = "prediction: leading-order, ", "prediction: paper-rule, "
	const close = "absolute_margin: 1e-4"
	ways := []string{close, "expected: 0.01, " + close, "at_most: 0.0101", "at_least: 0.0099"}
	tenth := append(slices.Clone(ways), leading+"margin: 0.1")
	still := outcomeOf(estimate(sim.ExpectedRewardMean, 0.01, 1e-6, 9),
		estimate(sim.ExpectedRewardVariance, 0.01, 1e-6, 9), estimate(sim.ZeroVarianceShare, 0.01, 1e-6, 9))
	for _, c := range []struct {
		run, claim string
		ways, more []string
	}{
		{short, "fixed-point", ways, []string{leading + close, paper + "expect: fails, " + close}},
		{short, fluctuation, tenth, []string{paper + "margin: 0.1, control: {scale: {noise: 3}}"}},
		{short, "degenerate-groups", nil,
			[]string{"absolute_margin: 1e-17", "expected: 0.01, absolute_margin: 1e-17"}},
		{short, scaling, tenth, []string{paper + "expect: fails, margin: 0.1", paper + "at_most: -0.5"}},
		{early, "fixed-point", ways, nil},
		{early, fluctuation, ways, nil},
		{early, scaling, tenth,
			[]string{paper + "margin: 0.1", leading + "expected: 0, absolute_margin: 0.1"}},
	} {
		for _, way := range slices.Concat(c.ways, c.more) {
			plan := planText(t, c.run+"  - {claim: "+c.claim+", "+way+"}\n"+overSizes)
			for _, v := range must(Judge(plan, outcomesOf(plan, func(int) store.Outcome { return still }))) {
				rest := strings.Contains(v.Because, "the mean path is still on its way") ||
					strings.Contains(v.Because, "the mean field from the start is")
				if v.Verdict != outOfScope || !rest || v.Reason == "" {
					t.Errorf("%s: %s", way, told(v))
				}
			}
		}
	}
}

// Of four arms a deviation has three modes: early in a run the fit gives no rate of the slowest,
// and decides no bound of it.
func TestHypothesisOfAnEarlyFit(t *testing.T) {
	text := strings.NewReplacer("{reward: bernoulli, mean: 0.2}", "{reward: bernoulli, mean: 0.5}, "+
		"{reward: bernoulli, mean: 0.3}, {reward: bernoulli, mean: 0.1}", "size: 16",
		"size: inf").Replace(resting)
	for _, c := range []struct {
		burnIn string
		rate   float64
		want   ruling
	}{{"1", 0.0106, outOfScope}, {"600", 0.0059, disagree}} {
		plan := planText(t, strings.Replace(text, "burn_in: 100", "burn_in: "+c.burnIn, 1)+
			"  - {claim: relaxation, offset: 0.001, at_least: 0.01}\n")
		ruled(t, c, judgeCell(t, plan, outcomeOf(exactly(probe.RelaxationRate, c.rate)))[0], c.want)
	}
}

// Of a free exponential a hypothesis is about R², which is no quantity to leading order.
func TestHypothesisOfAFit(t *testing.T) {
	away := strings.Replace(resting, "fixed-point", "[0, 0]", 1)
	leading := planText(t, away+"  - {claim: saturation-fit, prediction: leading-order, at_least: 1}\n")
	rate := estimate(sim.SaturationRate, 2, 1e-6, 9)
	if v := judgeCell(t, leading, outcomeOf(rate)); len(v) != 1 || v[0].Measured != 2 {
		t.Errorf("to leading order: %+v, want one verdict on the rate", v)
	}
	plan := planText(t, away+"  - {claim: saturation-fit, at_least: 0.99}\n")
	for r2, want := range map[float64]ruling{0.995: agree, 0.98: disagree} {
		v := judgeCell(t, plan, outcomeOf(rate, estimate(sim.SaturationR2, r2, 1e-6, 9)))
		if len(v) != 1 || v[0].Verdict != want || float64(v[0].Measured) != r2 {
			t.Errorf("R² = %g: %+v, want one verdict on it, %v", r2, v, want)
		}
	}
}

// A slope over cells whose mean path is still on its way after burn-in is out of scope and
// says so, with the burn-in that would do. Where the theory has no stationary state at all it
// is out of scope too. It is measured in either case.
func TestUnsettledSlope(t *testing.T) {
	away := strings.NewReplacer("init: fixed-point", "init: [0, 0]", "burn_in: 100",
		"burn_in: 1").Replace(resting)
	for text, says := range map[string][]string{
		away: {"after run.burn_in = 1 steps the mean path is still on its way", "run.burn_in = ",
			" with run.steps = "},
		strings.Replace(away, "coefficient: 0.5", "coefficient: 0", 1): {"G=16: no fixed point"},
	} {
		plan := planText(t,
			text+"  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 0.1}\n"+
				strings.Replace(overSizes, "32, 64, 128", "16, 32, 64", 1))
		outcomes := outcomesOf(plan, func(i int) store.Outcome {
			return outcomeOf(estimate(sim.ExpectedRewardVariance, 1e-3/float64(int(1)<<i), 1e-6, 9))
		})
		v := must(NewExperiment(t.Context(), plan, outcomes, 1, &silent{})).Verdicts[0]
		for _, want := range says {
			ruledBecause(t, want, v, outOfScope, want)
		}
		near(t, "measured", float64(v.Measured), -1, 1e-9)
	}
}
