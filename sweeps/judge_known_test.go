package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
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
	text := strings.Replace(resting, "checks:", "sweep: [{param: grpo.group_size, values: [16, 64, 256]}]\nchecks:", 1)
	plan := planText(t, text+"  - {claim: fixed-point, margin: 1}\n  - {claim: stationary-fluctuation, margin: 1}\n")
	outcomes := make(map[string]*store.Outcome)
	for i := range plan.Cells {
		o := outcomeOf(
			store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: 0.7, StdErr: 1e-3, DF: 9},
			store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: 1e-4, StdErr: 1e-5, DF: 4},
		)
		o.ID = plan.Cells[i].ID
		outcomes[o.ID] = &o
	}
	verdicts := judged(t, plan, outcomes)
	if len(verdicts) != 6 {
		t.Fatalf("%d verdicts", len(verdicts))
	}
	for _, v := range verdicts {
		want := 2e-3 * student(9, 1-0.01/6)
		if v.Claim == config.StationaryFluctuation.Name {
			want = 2e-5 * student(4, 1-0.01/6)
		}
		if got := float64(v.Hi - v.Lo); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: the interval is %.9g wide, want %.9g", v.Claim, got, want)
		}
	}
}

// At G = 4, 16 and 64 the weights of a slope on log G are −1, 0 and 1 over 2 log 4. The
// errors of log Var add in squares, with Welch's degrees of freedom.
func TestErrorOfASlope(t *testing.T) {
	text := strings.Replace(resting, "checks:", "sweep: [{param: grpo.group_size, values: [4, 16, 64]}]\nchecks:", 1)
	plan := planText(t, text+"  - {claim: fluctuation-scaling, over: grpo.group_size, absolute_margin: 100}\n")
	relative, df := [3]float64{0.01, 0.5, 0.03}, [3]int{20, 7, 50}
	outcomes := make(map[string]*store.Outcome)
	for i := range plan.Cells {
		mean := 1e-4 / float64(plan.Cells[i].Settings.Estimator.GroupSize)
		o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: mean, StdErr: relative[i] * mean, DF: df[i]})
		o.ID = plan.Cells[i].ID
		outcomes[o.ID] = &o
	}
	v := judged(t, plan, outcomes)[0]
	if math.Abs(float64(v.Measured)+1) > 1e-12 {
		t.Errorf("the slope of 1/G is %g", float64(v.Measured))
	}
	a, b := relative[0]*relative[0], relative[2]*relative[2]
	stdErr := math.Sqrt(a+b) / (2 * math.Log(4))
	welch := int((a + b) * (a + b) / (a*a/float64(df[0]) + b*b/float64(df[2])))
	if got, want := float64(v.Hi-v.Lo), 2*stdErr*student(welch, 0.99); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("the interval is %.9g wide, want %.9g", got, want)
	}
}

// A trajectory's band holds at all n recorded steps together: at each it is the interval
// of confidence 1 − 0.01/n of the mean over replicas, as a share of the rise.
func TestBandHoldsAtAllSteps(t *testing.T) {
	text := strings.Replace(resting, "policy: {init: fixed-point}", "policy: {init: [0, 0]}", 1)
	p := planText(t, strings.Replace(text, "steps: 1000", "steps: 300", 1)+"  - {claim: trajectory, absolute_margin: 0.001}\n")
	outcomes := must(plan.Simulate(t.Context(), p, 1))
	v := judged(t, p, outcomes)[0]
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
		if got := float64(v.Hi - v.Lo); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("at step %d the band is %.9g wide, want %.9g", step, got, want)
		}
		return
	}
	t.Errorf("step %d is not recorded", step)
}

// A share's trials are the groups drawn after the burn-in by all replicas, those of a
// name the replicas. A mean over n replicas has n − 1 degrees of freedom.
func TestTrialsAndDegreesOfFreedom(t *testing.T) {
	text := strings.Replace(resting, "group_size: 16", "group_size: 16, groups_per_step: 3", 1)
	c := &planText(t, text+"  - {claim: fixed-point, margin: 1}\n").Cells[0]
	e := measure.Estimate{Mean: 0.3, StdErr: 1e-9, DF: 9}
	for name, trials := range map[string]float64{
		sim.ZeroVarianceShare:   10 * (1000 - 100) * 3,
		plan.NamedShare("none"): 10,
	} {
		lo, hi := c.Interval(name, e, 0.99)
		wantLo, wantHi := e.Share(trials, 0.99)
		if lo != wantLo || hi != wantHi {
			t.Errorf("%s: [%g, %g], want the interval of %g trials, [%g, %g]", name, lo, hi, trials, wantLo, wantHi)
		}
	}
}

// A hypothesis is judged in the place of the prediction, which stands beside it: a value within its
// margin, a bound by the end of the interval that faces it. The measured mean reward is 0.75 ± 0.02
// (Student's t at nine degrees of freedom), the predicted one that of a bandit at rest.
func TestHypotheses(t *testing.T) {
	half := 0.01 * student(9, 0.99)
	for _, c := range []struct {
		hypothesis string
		want       judge.Ruling
		says       string
	}{
		{"expected: 0.75, absolute_margin: 0.04", agree, ": 0.75 ± 0.04 holds; the theory predicts "},
		{"expected: 0.75, margin: 0.06", agree, ": 0.75 ± 0.045 holds; "},
		{"expected: 0.75, absolute_margin: 0.02", inconclusive, " is undecided; the interval straddles the margin: about 2.6 times the replicas"},
		{"expected: 0.6, absolute_margin: 0.13", inconclusive, " is undecided; "},
		{"expected: 0.6, absolute_margin: 0.04", disagree, ": 0.6 ± 0.04 is refuted; "},
		{fmt.Sprint("at_most: ", 0.75+1.01*half), agree, " holds; "},
		{fmt.Sprint("at_most: ", 0.75+0.99*half), inconclusive, " is undecided; the interval straddles the bound: about 1 times the replicas"},
		{fmt.Sprint("at_most: ", 0.75-0.99*half), inconclusive, " is undecided; "},
		{fmt.Sprint("at_most: ", 0.75-1.01*half), disagree, " is refuted; "},
		{fmt.Sprint("at_least: ", 0.75-1.01*half), agree, " holds; "},
		{fmt.Sprint("at_least: ", 0.75-0.99*half), inconclusive, " is undecided; "},
		{fmt.Sprint("at_least: ", 0.75+1.01*half), disagree, " is refuted; "},
	} {
		plan := planText(t, resting+"  - {claim: fixed-point, "+c.hypothesis+"}\n")
		o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: 0.75, StdErr: 0.01, DF: 9})
		o.ID = plan.Cells[0].ID
		v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
		measured, interval, _, _ := v.Numbers()
		if v.Verdict != c.want || !strings.Contains(v.Because, c.says) || !strings.Contains(v.Because, measured+" "+interval) {
			t.Errorf("%s: %v, %s; want %v, …%s…", c.hypothesis, v.Verdict, v.Because, c.want, c.says)
		}
		if h := v.Hypothesis; h == nil || float64(v.Predicted) != h.Value || h.PredictionKind != rom.Exact || !(h.Predicted > 0.5 && h.Predicted < 0.9) {
			t.Errorf("%s: hypothesis %+v beside predicted %g", c.hypothesis, h, v.Predicted)
		}
	}
}

// A claim about rest is out of scope where runs are not at rest, however what is to hold is named:
// in a short run, which has not arrived, and in one that was still on its way at burn-in.
func TestClaimsAboutRest(t *testing.T) {
	short := strings.NewReplacer("init: fixed-point", "init: [0, 0]", "steps: 1000, burn_in: 100", "steps: 20, burn_in: 5", "learning_rate: 0.1", "learning_rate: 0.02")
	early := strings.NewReplacer("init: fixed-point", "init: [0, 0]", "steps: 1000, burn_in: 100", "steps: 400, burn_in: 1")
	scaling := "claim: fluctuation-scaling, over: grpo.group_size"
	ways := []string{"absolute_margin: 1e-4", "expected: 0.01, absolute_margin: 1e-4", "at_most: 0.0101", "at_least: 0.0099"}
	for _, c := range []struct {
		run   *strings.Replacer
		claim string
		ways  []string
	}{
		{short, "claim: fixed-point", append(ways, "prediction: leading-order, absolute_margin: 1e-4", "prediction: paper-rule, expect: fails, absolute_margin: 1e-4")},
		{short, "claim: stationary-fluctuation", append(ways, "prediction: leading-order, margin: 0.1", "prediction: paper-rule, margin: 0.1, control: {scale: {noise: 3}}")},
		{short, "claim: degenerate-groups", []string{"absolute_margin: 1e-17", "expected: 0.01, absolute_margin: 1e-17"}},
		{short, scaling, append(ways, "prediction: leading-order, margin: 0.1", "prediction: paper-rule, expect: fails, margin: 0.1", "prediction: paper-rule, at_most: -0.5")},
		{early, "claim: fixed-point", ways},
		{early, "claim: stationary-fluctuation", ways},
		{early, scaling, append(ways, "prediction: leading-order, margin: 0.1", "prediction: paper-rule, margin: 0.1", "prediction: leading-order, expected: 0, absolute_margin: 0.1")},
	} {
		for _, way := range c.ways {
			text := c.run.Replace(resting) + "  - {" + c.claim + ", " + way + "}\nsweep: [{param: grpo.group_size, values: [32, 64, 128]}]\n"
			plan := planText(t, text)
			outcomes := make(map[string]*store.Outcome)
			for _, cell := range plan.Cells {
				o := outcomeOf(
					store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: 0.01, StdErr: 1e-6, DF: 9},
					store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: 0.01, StdErr: 1e-6, DF: 9},
					store.NamedEstimate{Name: sim.ZeroVarianceShare, Mean: 0.01, StdErr: 1e-6, DF: 9},
				)
				o.ID = cell.ID
				outcomes[cell.ID] = &o
			}
			for _, v := range judged(t, plan, outcomes) {
				if rest := strings.Contains(v.Because, "the mean path is still on its way") || strings.Contains(v.Because, "the mean field from the start is"); v.Verdict != outOfScope || !rest || v.Reason == "" {
					t.Errorf("%s, %s: %v, %s", c.claim, way, v.Verdict, v.Because)
				}
			}
		}
	}
}

// Of four arms a deviation has three modes: early in a run the fit gives no rate of the slowest,
// and decides no bound of it.
func TestHypothesisOfAnEarlyFit(t *testing.T) {
	arms := "arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.5}, {reward: bernoulli, mean: 0.3}, {reward: bernoulli, mean: 0.1}]"
	text := strings.NewReplacer("arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]", arms, "group_size: 16", "group_size: inf").Replace(resting)
	// the rate is 0.0059, at first 0.0106
	for burnIn, want := range map[string]judge.Ruling{"1": outOfScope, "600": disagree} {
		plan := planText(t, strings.Replace(text, "burn_in: 100", "burn_in: "+burnIn, 1)+"  - {claim: relaxation, offset: 0.001, at_least: 0.01}\n")
		o := outcomeOf(store.NamedEstimate{Name: probe.RelaxationRate, Mean: map[string]float64{"1": 0.0106, "600": 0.0059}[burnIn], DF: -1})
		o.ID = plan.Cells[0].ID
		if v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]; v.Verdict != want {
			t.Errorf("burn-in %s: %v, %s; want %v", burnIn, v.Verdict, v.Because, want)
		}
	}
}

// Of a free exponential a hypothesis is about R², which is no quantity to leading order.
func TestHypothesisOfAFit(t *testing.T) {
	leading := planText(t, strings.Replace(resting, "fixed-point", "[0, 0]", 1)+"  - {claim: saturation-fit, prediction: leading-order, at_least: 1}\n")
	rate := outcomeOf(store.NamedEstimate{Name: sim.SaturationRate, Mean: 2, StdErr: 1e-6, DF: 9})
	rate.ID = leading.Cells[0].ID
	if v := judged(t, leading, map[string]*store.Outcome{rate.ID: &rate}); len(v) != 1 || v[0].Measured != 2 {
		t.Errorf("to leading order: %+v, want one verdict on the rate", v)
	}
	plan := planText(t, strings.Replace(resting, "fixed-point", "[0, 0]", 1)+"  - {claim: saturation-fit, at_least: 0.99}\n")
	for r2, want := range map[float64]judge.Ruling{0.995: agree, 0.98: disagree} {
		o := outcomeOf(
			store.NamedEstimate{Name: sim.SaturationRate, Mean: 2, StdErr: 1e-6, DF: 9},
			store.NamedEstimate{Name: sim.SaturationR2, Mean: r2, StdErr: 1e-6, DF: 9},
		)
		o.ID = plan.Cells[0].ID
		if v := judged(t, plan, map[string]*store.Outcome{o.ID: &o}); len(v) != 1 || v[0].Verdict != want || float64(v[0].Measured) != r2 {
			t.Errorf("R² = %g: %+v, want one verdict on it, %v", r2, v, want)
		}
	}
}
