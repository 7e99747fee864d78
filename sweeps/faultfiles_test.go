package sweeps

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// faultFile is a configuration on which theory and simulator once disagreed without
// reason, with its known answer.
type faultFile struct {
	refused string // a part of the message with which the file is refused; "": it is read
	rows    []faultRow
}

// faultRow is the known answer of some verdicts of a file. Verdicts without a row must
// not disagree.
type faultRow struct {
	variants string   // names of the variants, separated by spaces; "": all
	claim    string   // "": all
	quantity string   // a part of the name of the quantity; "": all
	rulings  []ruling // the rulings that are right
	because  string   // a part of the reason, unless the verdict agrees
	// truth is the value of the quantity, known independently: by closed form or from a simulation
	// sample by sample, to the digits given; 0: not known. A prediction in scope must be it within the
	// margin, and the measured interval must contain it within one per cent.
	truth float64
}

var (
	agrees    = []ruling{agree}
	declined  = []ruling{outOfScope}
	undecided = []ruling{inconclusive}
	honest    = []ruling{agree, outOfScope}
	either    = []ruling{agree, inconclusive}
)

// faultFiles are the known answers, by the name of the file.
var faultFiles = map[string]faultFile{
	// A penalty of 0, whose place does not matter.
	"unused-placement": {rows: []faultRow{{rulings: honest}}},
	// A deviation that grows to its limit.
	"grown": {rows: []faultRow{{rulings: declined, because: "the deviation grows"}}},
	// A sampled KL gradient whose rare arm is never drawn.
	"undrawn-penalty": {rows: []faultRow{{claim: "stiffness", rulings: []ruling{inconclusive}}}},
	"tied-rewards": {rows: []faultRow{{claim: "fixed-point", rulings: agrees},
		{claim: "degenerate-groups", rulings: declined, because: "no such number"}}},
	"level-curve":       {rows: []faultRow{{rulings: declined, because: "does not change"}}},
	"overflowing-force": {rows: []faultRow{{rulings: declined, because: "range of floating point"}}},
	// A pair of multipliers that decays too fast for a fit.
	"faint-pair":     {rows: []faultRow{{rulings: either}}},
	"small-velocity": {rows: []faultRow{{rulings: either}}},
	"overtaken":      {rows: []faultRow{{rulings: agrees}}},
	"hidden-growth":  {rows: []faultRow{{rulings: either}}},
	// Means of prompts at the end of their range.
	"certain-prompts": {},
	// A second multiplier of 8e-4, of which the leftover of the cubic terms is a fortieth.
	"dead-multiplier": {rows: []faultRow{{rulings: either, truth: 3.744}}},
	"disp":            {refused: "checks[0].displacement: got 0.02, want at most 0.00248"},
	// The mean field leaves the range of floating point.
	"dv": {rows: []faultRow{{rulings: declined, because: "leaves the range"}}},
	// Arms that have almost no probability, in a force that divides by the deviation.
	"almost-certain": {rows: []faultRow{{quantity: "stiffness_total", rulings: agrees, truth: 0.09999},
		{quantity: "stiffness_stale", rulings: agrees}}},
	// Equal rewards: J never changes.
	"equal-rewards": {rows: []faultRow{{rulings: agrees}}},
	// The expected gradient has no noise.
	"noiseless": {rows: []faultRow{
		{variants: "plain block slow settled", rulings: agrees},
		{variants: "unsettled unstable adam", rulings: declined},
	}},
	// Normal rewards that are equal by rounding.
	"rounded-rewards": {rows: []faultRow{{rulings: declined, because: "what the theory neglects"}}},
	// The stiffness of eight equal constant rewards is that of the penalty, β/8.
	"equal-stiffness": {rows: []faultRow{{rulings: agrees}}},
	// There is a fixed point.
	"nofp": {rows: []faultRow{{rulings: honest, truth: 0.966}}},
	// A learning rate of 1e140: the predicted curve has no exponential.
	"huge-rate": {rows: []faultRow{{rulings: declined, because: "no exponential fits"}}},
	// One definition of the onset of oscillation.
	"onset-older-snapshot": {rows: []faultRow{{rulings: agrees, truth: 0.0054187}}},
	"onset-window":         {rows: []faultRow{{rulings: agrees, truth: 1.185}}},
	"onset-above":          {rows: []faultRow{{rulings: declined, because: "has begun and is over"}}},
	"path-one-sided":       {rows: []faultRow{{rulings: declined, because: "what the theory neglects"}}},
	// Equal replicas of which none has drawn the sample that moves the mean, by 2.7e-9 in all.
	"path-undrawn": {rows: []faultRow{{rulings: undecided, because: "hardly moves"}}},
	// Numbers beyond every range.
	"predict-hangs": {},
	// A second multiplier that has died.
	"rx": {rows: []faultRow{
		{variants: "block16 block32 delay1mu0 mu2", rulings: agrees},
		{variants: "delay1slow", rulings: agrees, truth: 0.0031889},
	}},
	// Two modes of equal stiffness, whose parts depend on the direction that is displaced.
	"equal-modes": {rows: []faultRow{{rulings: agrees},
		{quantity: "stiffness_total", rulings: agrees, truth: 0.25}}},
	// Displacements so small that both sides draw the same groups.
	"equal-groups": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: undecided, because: "informative"},
		{quantity: "stiffness_stale", rulings: undecided, because: "informative"},
		{quantity: "stiffness_fresh", rulings: agrees},
	}},
	"equal-pairs": {rows: []faultRow{{claim: "relaxation", rulings: undecided,
		because: "different groups"}}},
	// A stiffness of 3e-12, less than the rounding of the force over the displacement.
	"rounded-stiffness": {rows: []faultRow{{rulings: undecided, because: "straddles"}}},
	// Modes of arms of probability 1e-24, which do not move: what is left of a deviation might
	// also be a mode that grows slowly.
	"neutral-modes": {rows: []faultRow{{claim: "stability-threshold", rulings: either, truth: 11.5671}}},
	// Nearly all groups have equal rewards. Without importance weights the fresh part is that
	// of the penalty, which is not sampled.
	"silent": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: undecided, because: "informative"},
		{quantity: "stiffness_stale", rulings: undecided, because: "informative"},
		{quantity: "stiffness_fresh", rulings: agrees},
	}},
	// A learning rate that rises to the end of the run.
	"warmup": {rows: []faultRow{{rulings: declined, because: "rises to the end"}}},
	// A share of events that is 0 within rounding.
	"wil": {rows: []faultRow{{rulings: undecided, because: "straddles"}}},
}

// wrong returns the way in which a verdict contradicts the known answer, "" for none.
func (row *faultRow) wrong(v *judge.Verdict) string {
	off := func(x float64) float64 { return math.Abs(x - row.truth) }
	switch {
	case !slices.Contains(row.rulings, v.Verdict):
		return "not a right ruling"
	case v.Verdict != agree && !strings.Contains(v.Because, row.because):
		return "want the reason " + row.because
	case row.truth == 0:
	case v.Verdict != outOfScope && off(float64(v.Predicted)) > float64(v.Margin):
		return "the prediction is wrong"
	case float64(v.Lo) > 1.01*row.truth || float64(v.Hi) < 0.99*row.truth:
		return "the measured interval is wrong"
	}
	return ""
}

// Every file of testdata/faults has a known answer, gets it, and never disagrees.
func TestFaultFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) != len(faultFiles) {
		t.Fatalf("%d files, %d known answers: %v", len(files), len(faultFiles), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) { checkFaultFile(t, file, faultFiles[name]) })
	}
}

func checkFaultFile(t *testing.T, file string, known faultFile) {
	began := time.Now()
	data := must(os.ReadFile(file))
	spec, err := config.Load(file, data)
	if known.refused != "" {
		refused(t, file, err, known.refused)
		return
	}
	noError(t, err)
	e := must(Runner{Workers: 2, Progress: &silent{}}.Run(t.Context(), plan.New(spec), t.TempDir()))
	used := make([]bool, len(known.rows))
	for _, v := range e.Verdicts {
		if v.Verdict == disagree {
			t.Error(told(v))
			continue
		}
		for i := range known.rows {
			row := &known.rows[i]
			if row.variants != "" && !slices.Contains(strings.Fields(row.variants), v.Variant) ||
				row.claim != "" && row.claim != v.Claim || !strings.Contains(v.Quantity, row.quantity) {
				continue
			}
			used[i] = true
			if problem := row.wrong(&v); problem != "" {
				t.Errorf("%s: %s", problem, told(v))
			}
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		t.Errorf("no verdict for the answer %+v", known.rows[i])
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
