package main

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Each claim is either calibrated or has a reason on the page why not, and each file belongs to a
// claim.
func TestEveryClaimHasItsCell(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := files.ReadDir("configs")
	if err != nil || len(embedded) != len(cells) {
		t.Errorf("%d cells, %d files, %v", len(cells), len(embedded), err)
	}
	for _, claim := range config.Claims {
		calibrated := slices.ContainsFunc(cells, func(c *cell) bool { return c.name == claim.Name })
		if calibrated == strings.Contains(pageText, "\n| "+claim.Name+" | ") {
			t.Errorf("%s: a cell %v, and a reason why not or neither", claim.Name, calibrated)
		}
	}
}

// Each control moves the prediction by at least 10 % and by enough margins for its check
// to notice.
func TestControlsAreWrong(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		shifts, err := c.controlShifts()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, s := range shifts {
			if math.Abs(s.relative) < leastControl-rounding || math.Abs(s.margins) < 1.5 {
				t.Errorf("%s, %s: moved by %.3g of the prediction, %.3g margins", c.name, s.quantity, s.relative, s.margins)
			}
		}
	}
}

// normalTrials returns n trials of one value each. The values are normal with mean 1, the
// intervals extend ± width standard errors around them.
func normalTrials(n int, width float64) []trial {
	rng := rand.New(rand.NewPCG(1, 2))
	trials := make([]trial, n)
	for i := range trials {
		x := 1 + 0.01*rng.NormFloat64()
		trials[i].intervals = [][]interval{{{x, x - 0.01*width, x + 0.01*width}}}
	}
	return trials
}

// held returns the number of trials whose interval holds the long-run value.
func held(trials []trial, longRun []float64) int {
	_, n, _ := sides(trials, 0, longRun)
	return n
}

// The coverage of 4000 intervals of ± 1, 1.96 and 2.8 standard errors is that of the
// normal law, to within 6 standard deviations of a binomial count (probability 2e-9).
func TestCoveredCounts(t *testing.T) {
	const n = 4000
	for _, width := range []float64{1, 1.96, 2.8} {
		trials := normalTrials(n, width)
		want := math.Erf(width / math.Sqrt2)
		got := float64(held(trials, pooled(trials, 0))) / n
		if math.Abs(got-want) > 6*math.Sqrt(want*(1-want)/n) {
			t.Errorf("± %g standard errors cover %.4f of the time, want %.4f", width, got, want)
		}
	}
}

// The long-run value includes the trial's own value. Two trials at 0 and 2 are 1 away from
// their mean, which counts as √2 away from the truth: an interval covers from that
// half-width on.
func TestCoveredCorrectsForOwnValue(t *testing.T) {
	two := func(half float64) []trial {
		return []trial{{intervals: [][]interval{{{0, -half, half}}}}, {intervals: [][]interval{{{2, 2 - half, 2 + half}}}}}
	}
	if n := held(two(1.41), []float64{1}); n != 0 {
		t.Errorf("%d of 2 cover at 1.41, want none", n)
	}
	if n := held(two(1.42), []float64{1}); n != 2 {
		t.Errorf("%d of 2 cover at 1.42, want both", n)
	}
}

// A band covers if all its intervals do. No interval covers a long-run value of NaN.
func TestCoveredOfBandsAndNaN(t *testing.T) {
	trials := normalTrials(50, 10)
	for i := range trials {
		trials[i].intervals[0] = append(trials[i].intervals[0], interval{5, 4, 6})
	}
	trials[7].intervals[0][1] = interval{5, 5.5, 6}
	if n := held(trials, pooled(trials, 0)); n != 49 {
		t.Errorf("%d bands of 50 cover, want 49", n)
	}
	trials = normalTrials(50, 10)
	if n := held(trials, []float64{math.NaN()}); n != 0 {
		t.Errorf("%d intervals hold NaN", n)
	}
}

// The median half-width is that of the middle trial; a trial that measures nothing counts
// as infinite.
func TestHalfWidth(t *testing.T) {
	of := func(halves ...float64) (trials []trial) {
		for _, h := range halves {
			trials = append(trials, trial{verdicts: []judge.Verdict{{Lo: store.Number(1 - h), Hi: store.Number(1 + h), Margin: 0.5}}})
		}
		return trials
	}
	if got := halfWidth(of(3, 1, 2, 5, 4), 0, inMargins); got != 6 {
		t.Errorf("%g, want 6", got)
	}
	if got := halfWidth(of(1, math.NaN(), math.NaN()), 0, inMargins); !math.IsInf(got, 1) {
		t.Errorf("%g, want ∞", got)
	}
}

// sound returns a row that meets every requirement.
func sound() *row {
	return &row{
		claim: "a claim", quantity: "x", kind: pointwise, seeds: 200, covered: 190, half: 0.4,
		right: rulings{judge.Agree: 199, judge.Disagree: 1}, fault: "a fault",
		wrong: rulings{judge.Disagree: 195, judge.Inconclusive: 5}, shift: shift{relative: 0.1},
		reduced: reducedRow{fewDraws, rulings{judge.Inconclusive: 190, judge.Disagree: 10}, 2},
	}
}

// Each requirement that is not met gives one message.
func TestUnmet(t *testing.T) {
	if messages := sound().unmet(); len(messages) > 0 {
		t.Fatalf("a sound row: %q", messages)
	}
	for _, test := range []struct {
		want  string
		spoil func(r *row)
	}{
		{"89.5 % of the seeds, want at least 90 %", func(r *row) { r.covered = 179 }},
		{"99.0 % of the seeds, want at most 98.5 %", func(r *row) { r.covered = 198 }},
		{"", func(r *row) { r.kind, r.covered = ofShare, 200 }},
		{"disagrees for 2 of 200", func(r *row) { r.right[judge.Disagree] = 2 }},
		{"never agrees", func(r *row) { r.right = rulings{judge.Inconclusive: 200} }},
		{"a fault agrees for 1 of 200", func(r *row) { r.wrong[judge.Agree] = 1 }},
		{"moves the prediction by 9.0 %", func(r *row) { r.shift.relative = -0.09 }},
		{"", func(r *row) { r.shift.relative = math.NaN() }},
		{"with few draws the half-width is 0.9 margins", func(r *row) { r.reduced.half = 0.9 }},
		{"with few draws 189 of 200 trials are inconclusive", func(r *row) { r.reduced.rulings[judge.Inconclusive] = 189 }},
		{"with few replicas 1 of 200 trials agree", func(r *row) { r.reduced.budget, r.reduced.rulings[judge.Agree] = fewReplicas, 1 }},
	} {
		r := sound()
		test.spoil(r)
		messages := strings.Join(r.unmet(), "\n")
		if (messages == "") != (test.want == "") || !strings.Contains(messages, test.want) || strings.Count(messages, "\n") > 0 {
			t.Errorf("got %q, want %q", messages, test.want)
		}
	}
}

func cellOf(t *testing.T, claim string) *cell {
	t.Helper()
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	return cells[slices.IndexFunc(cells, func(c *cell) bool { return c.name == claim })]
}

// A trial depends on its seed, but not on the number of workers, and has a wider interval
// with less data.
func TestTrials(t *testing.T) {
	c := cellOf(t, "relaxation")
	under := func(workers int, budget dataBudget) []trial {
		trials, err := c.trials(t.Context(), 3, workers, budget, confidence)
		if err != nil {
			t.Fatal(err)
		}
		return trials[0]
	}
	one, two, few := under(1, allData), under(2, allData), under(2, fewReplicas)
	if !reflect.DeepEqual(one, two) {
		t.Error("trials depend on the number of workers")
	}
	if one[0].verdicts[0].Measured == one[1].verdicts[0].Measured {
		t.Error("two seeds measure the same")
	}
	if all, few := halfWidth(one, 0, inMargins), halfWidth(few, 0, inMargins); few < 3*all {
		t.Errorf("half-widths of %g margins with all replicas and %g with few", all, few)
	}
}

// A reduced budget reduces either the replicas or the draws and leaves the other as it is.
func TestReducedBudget(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		budget := c.reducedBudget()
		plan, err := c.plan(1, budget, theory.NewCache())
		if err != nil {
			t.Fatal(err)
		}
		replicas, draws := plan.Spec.Base.Run.Replicas, plan.Spec.Checks[0].Draws
		allReplicas, allDraws := c.spec.Base.Run.Replicas, c.spec.Checks[0].Draws
		switch budget {
		case fewReplicas:
			if replicas < 4 || replicas > allReplicas/5 || draws != allDraws {
				t.Errorf("%s: %d replicas of %d, %d draws of %d", c.name, replicas, allReplicas, draws, allDraws)
			}
		case fewDraws:
			if draws < 72 || draws > allDraws/500 || replicas != allReplicas {
				t.Errorf("%s: %d draws of %d, %d replicas of %d", c.name, draws, allDraws, replicas, allReplicas)
			}
		}
	}
	if n := reduce(5, 100, 8); n != 5 {
		t.Errorf("reduce(5, 100, 8) = %d, want 5", n)
	}
}

// The confidence of a plan, shared among its verdicts, gives each of them 95 %.
func TestConfidenceOfEachVerdict(t *testing.T) {
	for claim, want := range map[string]float64{"relaxation": 0.95, "saturation-fit": 0.90, "stiffness": 0.85} {
		plan, err := cellOf(t, claim).plan(1, allData, theory.NewCache())
		if err != nil {
			t.Fatal(err)
		}
		if got := ofAll(plan, confidence); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", claim, got, want)
		}
	}
}

// The calibrated band is the one that the trajectory claim judges: at the deciding step it
// is as wide as the verdict's interval.
func TestBandOfTrajectoryClaim(t *testing.T) {
	c := cellOf(t, "trajectory")
	trials, err := c.trials(t.Context(), 1, 1, allData, confidence)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.plan(1, allData, theory.NewCache())
	if err != nil {
		t.Fatal(err)
	}
	params := theory.Params(&plan.Cells[0].Settings, rom.Unit)
	point, _ := rest.Reached(params)
	rise := point.Reward - (0.9+0.2)/2 // from the uniform policy
	trial := trials[0][0]
	v := &trial.verdicts[0]
	found := false
	for _, i := range trial.intervals[0] {
		width := (i.hi - i.lo) / rise
		found = found || math.Abs(width-float64(v.Hi-v.Lo)) < 1e-9*width
	}
	if !found {
		t.Errorf("no step of the band is as wide as the verdict's interval, [%g, %g]", v.Lo, v.Hi)
	}
}

// unmet names the faults that no claim catches and the claims that catch too few.
func TestTableUnmet(t *testing.T) {
	table := &table{
		claims: []string{"sensitive", "insensitive", "one-sided"},
		faults: []string{"large", "infinite", "small"},
		moved:  [][]float64{{5, 0, 0}, {math.Inf(1), 4, 0}, {2.9, 0.2, 0}},

		compared: []bool{true, true, false},
	}
	got := strings.Join(table.unmet(), "\n")
	if want := "no claim is moved by 3 margins or more by the fault: small\ninsensitive is moved by 3 margins or more by 1 faults, want at least 2"; got != want {
		t.Errorf("got %q", got)
	}
}
