package sweeps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// looked is a sweep in which cells stop at each of three looks; replicas of the first are few.
const looked = `
name: looked
seed: 5
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, advantage: {scale: none}, kl: {coefficient: 1, at: snapshot}}
optimizer: {learning_rate: 0.1, momentum: 0.5}
run: {steps: 300, burn_in: 50, replicas: 60}
variants:
  - {name: alone, sweep: [{param: grpo.group_size, values: [8, inf]}, {param: lag.interval, values: [1, 4, 7]}]}
  - {name: compared, sweep: [{param: grpo.group_size, values: [4, 16, 64]}]}
checks:
  - {claim: fixed-point, variant: alone, where: {lag.interval: 1}, absolute_margin: 0.1}
  - {claim: fixed-point, variant: alone, where: {lag.interval: 4}, absolute_margin: 0.004}
  - {claim: stationary-fluctuation, variant: alone, where: {lag.interval: 7}, margin: 0.01}
  - {claim: fluctuation-scaling, variant: compared, over: grpo.group_size, margin: 0.15}
  - {claim: fixed-point, variant: compared, where: {grpo.group_size: 16}, absolute_margin: 0.002}
looks: [0.2, 0.5, 1]
`

// stops returns the look at which each verdict's cells stopped, by claim and cells.
func stops(verdicts []Verdict) map[string]int {
	at := make(map[string]int)
	for _, v := range verdicts {
		at[v.Claim+" "+v.Label] = v.Look
	}
	return at
}

// Cells stop at the look at which their checks are decided; those that a check compares stop
// together, and replica i is the same at every look: at the last, of all replicas, outcomes are
// those of a sweep without looks. A sweep that is interrupted at any cell, with any number of
// workers, ends with the same bytes, and the folder's verdicts are those that it printed.
func TestLooks(t *testing.T) {
	dir := t.TempDir()
	e, whole := runSweep(t, looked, filepath.Join(dir, "whole"), 1)
	want := contents(t, filepath.Join(dir, "whole"))
	at := stops(e.Verdicts)
	seen := map[int]bool{}
	for i := range e.Plan.Cells {
		c := &e.Plan.Cells[i]
		sizes := map[int]int{12: 1, 30: 2, 60: 3}
		if o := e.Outcomes[c.ID]; !c.deterministic() {
			seen[sizes[c.replicasOf(o)]] = true
			if tr, err := o.Trajectory(); err != nil || tr == nil {
				t.Errorf("%s has no trajectory: %v", c.Label(), err)
			}
		} else if o.Replicas != 0 {
			t.Errorf("%s: %d replicas, want one look at G = ∞", c.Label(), o.Replicas)
		}
	}
	if len(seen) != 3 || seen[0] {
		t.Errorf("cells stopped at looks %v, want 1, 2 and 3; by verdict %v", seen, at)
	}
	for _, v := range e.Verdicts {
		if want := 1 - 0.01/float64(3*len(e.Verdicts)); math.Abs(v.Confidence-want) > 1e-12 {
			t.Errorf("confidence %g, want %g", v.Confidence, want)
		}
		if v.Verdict == Inconclusive && v.Look != 3 && v.Sampled {
			t.Errorf("%s %s is inconclusive at look %d of 3", v.Claim, v.Label, v.Look)
		}
		if len(v.Members) > 0 {
			for _, id := range v.Members {
				if e.Outcomes[id].Replicas != e.Outcomes[v.Members[0]].Replicas {
					t.Errorf("%s: cells of one verdict stopped at different looks", v.Label)
				}
			}
		}
	}

	plain, _ := runSweep(t, strings.Replace(looked, "looks:", "#", 1), filepath.Join(dir, "plain"), 2)
	same := 0
	for id, o := range e.Outcomes {
		if o.Replicas != 0 {
			continue
		}
		if equal, err := o.SameLine(plain.Outcomes[id]); !equal || err != nil {
			t.Errorf("cell %s with all replicas differs from that without looks: %v", id, err)
		}
		same++
	}
	if same == 0 || same == len(e.Outcomes) {
		t.Errorf("%d of %d cells have all replicas", same, len(e.Outcomes))
	}

	for stopAt := 1; stopAt < whole.cells-2; stopAt += 2 { // other workers may end the cells that they have begun
		broken := filepath.Join(dir, fmt.Sprint(stopAt))
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Run(ctx, planText(t, looked), broken, 1+stopAt%3, &silent{after: func(cells int) {
			if cells == stopAt {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted at cell %d: %v", stopAt, err)
		}
		var damaged *store.DamagedError
		if _, err := JudgeFolder(t.Context(), broken, NoProgress{}); !errors.As(err, &damaged) {
			t.Errorf("judging what was interrupted at cell %d: %v", stopAt, err)
		}
		runSweep(t, looked, broken, 2)
		sameContents(t, fmt.Sprintf("after interruption at cell %d", stopAt), contents(t, broken), want)
	}
	again, err := JudgeFolder(t.Context(), filepath.Join(dir, "whole"), NoProgress{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(again.Verdicts, e.Verdicts, func(a, b Verdict) bool {
		return a.Verdict == b.Verdict && a.Look == b.Look && a.Lo == b.Lo && a.Hi == b.Hi && a.Confidence == b.Confidence
	}) {
		t.Error("the folder's verdicts differ from those of the sweep")
	}
	sameContents(t, "judged again", contents(t, filepath.Join(dir, "whole")), want)
	if outcomes, err := Simulate(t.Context(), planText(t, looked), 2); err != nil || len(outcomes) != len(e.Outcomes) {
		t.Errorf("in memory: %d outcomes, %v", len(outcomes), err)
	} else {
		for id, o := range outcomes {
			if o.Replicas != e.Outcomes[id].Replicas {
				t.Errorf("in memory cell %s has %d replicas, want %d", id, o.Replicas, e.Outcomes[id].Replicas)
			}
		}
	}
	if err := (Runner{Workers: 1, Progress: NoProgress{}}).RunPart(t.Context(), NewPart(e.Plan.Spec, store.Shard{Index: 1, Of: 2}), filepath.Join(dir, "shard")); err == nil || !strings.Contains(err.Error(), "without for shards") {
		t.Errorf("a shard of a sweep with looks: %v", err)
	}
}

// A folder whose looks are taken away, or changed, simulates anew what has another number of
// replicas, and ends with the bytes of a folder that never had them.
func TestLooksChanged(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{strings.Replace(looked, "looks:", "#", 1), strings.Replace(looked, "[0.2,", "[0.3,", 1)} {
		fresh, changed := filepath.Join(dir, fmt.Sprint("fresh", i)), filepath.Join(dir, fmt.Sprint("changed", i))
		runSweep(t, text, fresh, 2)
		runSweep(t, strings.Replace(looked, "0.004", "0.1", 1), changed, 2)
		_, quiet := runSweep(t, text, changed, 2)
		if quiet.cells == 0 {
			t.Error("no cell was simulated again")
		}
		if i == 0 { // with looks left, cells may have gone further than a fresh sweep would
			sameContents(t, "changed looks", contents(t, changed), contents(t, fresh))
		}
	}
}

// hypothesis is a cell with one verdict, of its own hypothesis, at 95 % confidence.
const hypothesis = `
name: edge
seed: %d
confidence: %g
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, advantage: {scale: none}, kl: {coefficient: 1, at: snapshot}}
optimizer: {learning_rate: 0.1}
run: {steps: 24, burn_in: 4, replicas: %d}
checks:
  - {claim: fixed-point, expected: %.12g, absolute_margin: %.12g}
looks: [0.333, 0.667, 1.1]
`

// binomialLimit returns the smallest count that n trials of probability p reach with a
// probability of at most tail.
func binomialLimit(n int, p, tail float64) int {
	term, below := math.Pow(1-p, float64(n)), 0.0
	for k := 0; ; k++ {
		if below += term; 1-below <= tail {
			return k + 1
		}
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
}

// Where the truth lies at the edge of the margin, every decision means that an interval misses
// the truth. With three looks that happens in at most α = 5 % of the sweeps; the test fails by
// chance with probability 1e-6. Where the hypothesis is true the mean share of work, of 300
// sweeps at 99 %, is that of independent normal estimates (simulated, 40,000 times): with
// half-widths of 0.3 and 0.42 margins at a single look, 0.362 and 0.736. It may differ by five
// standard errors, and by 0.02 because Student's intervals are wider.
func TestLooksKeepTheErrorProbability(t *testing.T) {
	const many = 40_000
	var cache *theory.Cache
	simulated := func(seed int, confidence float64, replicas int, value, margin float64, looks string) (*Plan, map[string]*store.Outcome) {
		plan := planText(t, strings.Replace(fmt.Sprintf(hypothesis, seed, confidence, replicas, value, margin), "looks:", looks, 1))
		if cache == nil {
			cache = plan.cache
		}
		plan.cache = cache // the predictions are the same for all seeds
		outcomes, err := Simulate(t.Context(), plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		return plan, outcomes
	}
	plan, outcomes := simulated(77, 0.95, many, 0.5, 0.1, "#")
	truth, _ := outcomes[plan.Cells[0].ID].Estimate(sim.ExpectedRewardMean)
	half := func(replicas int, confidence float64) float64 { // of the interval of one look
		return truth.StdErr * math.Sqrt(many/float64(replicas)) * student(replicas-1, confidence)
	}

	const sweeps, alpha, replicas = 1500, 0.05, 90
	wrong, margin := 0, half(replicas, 1-alpha)/0.3
	for i := range sweeps {
		plan, outcomes := simulated(1000+i, 1-alpha, replicas, truth.Mean+margin, margin, "looks:")
		if judged(t, plan, outcomes)[0].Verdict != Inconclusive {
			wrong++
		}
	}
	limit := binomialLimit(sweeps, alpha, 1e-6)
	t.Logf("%d of %d decisions at the edge of the margin; fewer than %d are within %g", wrong, sweeps, limit, alpha)
	if wrong >= limit {
		t.Errorf("%d of %d decisions at the edge of the margin, want fewer than %d", wrong, sweeps, limit)
	}

	for ratio, want := range map[float64]float64{0.3: 0.362, 0.42: 0.736} {
		const replicas = 300
		var work []float64
		for i := range 300 {
			plan, outcomes := simulated(5000+i, 0.99, replicas, truth.Mean, half(replicas, 0.99)/ratio, "looks:")
			v := judged(t, plan, outcomes)[0]
			done := 0.0
			for _, share := range plan.Spec.Looks[:v.Look] {
				done += share
			}
			if work = append(work, done); v.Verdict == Disagree {
				t.Errorf("seed %d disagrees with a true hypothesis", 5000+i)
			}
		}
		e := measure.Mean(work)
		t.Logf("half-width %g margins: %.3f ± %.3f of the work of one look", ratio, e.Mean, e.StdErr)
		if math.Abs(e.Mean-want) > 5*e.StdErr+0.02 {
			t.Errorf("half-width %g margins: %.3f ± %.3f of the work of one look, want %.3f", ratio, e.Mean, e.StdErr, want)
		}
	}
}

// Looks with too few replicas, at G = ∞ and with few replicas.
func TestLookSizes(t *testing.T) {
	spec := &config.Spec{Looks: []float64{0.1, 0.333, 0.5, 1.1}}
	for _, c := range []struct {
		replicas int
		want     []int
	}{{1000, []int{100, 333, 500, 1100}}, {7, []int{2, 4, 8}}, {2, []int{2}}, {1, []int{1}}} {
		plan, cell := &Plan{Spec: spec}, &Cell{replicas: c.replicas}
		cell.Settings.Estimator.GroupSize = 8
		if got := plan.lookSizes(cell); !slices.Equal(got, c.want) {
			t.Errorf("%d replicas: looks of %v, want %v", c.replicas, got, c.want)
		}
	}
}

// A verdict out of scope is decided; one whose control is inconclusive is not.
func TestUndecided(t *testing.T) {
	control := func(r Ruling) *ControlVerdict { return &ControlVerdict{Kind: PlantedFault, Verdict: r} }
	for _, c := range []struct {
		verdict Verdict
		want    bool
	}{
		{Verdict{Verdict: Inconclusive}, true},
		{Verdict{Verdict: Agree}, false},
		{Verdict{Verdict: Disagree, Control: control(Disagree)}, false},
		{Verdict{Verdict: Agree, Control: control(Inconclusive)}, true},
		{Verdict{Verdict: Agree, Control: control(Agree)}, false},
		{Verdict{Verdict: OutOfScope, Control: control(Inconclusive)}, false},
	} {
		if got := c.verdict.undecided(); got != c.want {
			t.Errorf("%v with control %+v: undecided is %v", c.verdict.Verdict, c.verdict.Control, got)
		}
	}
}
