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
	rulings  []Ruling // the rulings that are right
	because  string   // a part of the reason, unless the verdict agrees
	// truth is the value of the quantity, known independently: by closed form or from
	// a simulation sample by sample, to the digits given; 0: not known. A prediction in
	// scope must be it within the margin, and the measured interval must contain it
	// within one per cent.
	truth float64
}

var (
	agrees    = []Ruling{Agree}
	declined  = []Ruling{OutOfScope}
	undecided = []Ruling{Inconclusive}
	honest    = []Ruling{Agree, OutOfScope}
)

// faultFiles are the known answers, by the name of the file.
var faultFiles = map[string]faultFile{
	// Leading noise that vanishes, or is as small as its curvature.
	// The margin is decided by ten times the replicas only.
	"11-33": {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}, truth: 3.04e-5}}},
	"k3":    {},
	"k3c":   {rows: []faultRow{{variants: "g16", rulings: honest, truth: 1.29e-6}, {variants: "g64-std", rulings: honest}}},
	// Equal arms: nothing moves.
	"22-12": {rows: []faultRow{{rulings: honest}}},
	// Adam at rest.
	"adam": {rows: []faultRow{
		{variants: "b2-0 eta1p0 eta50 decay", claim: "stationary-fluctuation", rulings: declined},
		{variants: "eps", claim: "stationary-fluctuation", rulings: []Ruling{Agree, Inconclusive}, truth: 6.5e-6},
		{variants: "noadaminf", claim: "stationary-fluctuation", rulings: declined},
	}},
	// The start of Adam's averages, and what they average.
	"adam-large-start":  {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"adam-start":        {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"adam-rare-success": {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"adam-rare-arm":     {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"adam-rare-push":    {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	// A penalty of 0, whose place does not matter.
	"unused-placement": {rows: []faultRow{{rulings: honest}}},
	// Pairs whose groups rarely differ.
	"rare-differences": {rows: []faultRow{{rulings: declined, because: "noise decides their deviation"}}},
	// What a curve leaves out, subtracted from it.
	"creeping-rise": {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	// A deviation that grows to its limit.
	"grown": {rows: []faultRow{{rulings: declined, because: "the deviation grows"}}},
	// Attractors near a fixed point that is stable.
	"other-attractor": {rows: []faultRow{{rulings: declined, because: "another attractor"}}},
	"other-cycle":     {rows: []faultRow{{rulings: declined, because: "another attractor"}}},
	"lagged-tails":    {rows: []faultRow{{rulings: declined, because: "k3 gradient"}}},
	// A force that jumps at the fixed point has no stiffness, and yet a stationary variance.
	"sliding-stiffness": {rows: []faultRow{
		{claim: "stiffness", rulings: declined, because: "without a stiffness"},
		{claim: "fixed-point", rulings: declined},
		{claim: "stationary-fluctuation", rulings: agrees},
	}},
	// A sampled KL gradient whose rare arm is never drawn.
	"undrawn-penalty":   {rows: []faultRow{{claim: "stiffness", rulings: []Ruling{Inconclusive}}}},
	"clipped-attractor": {rows: []faultRow{{rulings: declined, because: "another attractor"}}},
	"scaled-escape":     {rows: []faultRow{{rulings: declined, because: "from 7 standard deviations"}}},
	"clipped-path":      {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	// Ratios that leave the range of the clip while a pair decays.
	"clipped-relaxation":  {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"unknown-multipliers": {rows: []faultRow{{rulings: declined, because: "not known"}}},
	"tied-rewards":        {rows: []faultRow{{claim: "degenerate-groups", rulings: declined, because: "no share"}, {claim: "fixed-point", rulings: agrees}}},
	"level-curve":         {rows: []faultRow{{rulings: declined, because: "rounding"}}},
	"bent-weight": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: honest},
		{quantity: "stiffness_fresh", rulings: declined, because: "neglects"}, {quantity: "stiffness_stale", rulings: declined, because: "neglects"},
	}},
	"bent-location": {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	"tie-within-displacement": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: declined, because: "neglects"}, {quantity: "stiffness_stale", rulings: declined, because: "neglects"}, {quantity: "stiffness_fresh", rulings: agrees},
	}},
	"overflowing-force": {rows: []faultRow{{rulings: declined, because: "range of floating point"}}},
	// A pair of multipliers that decays too fast for a fit.
	"faint-pair":     {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}}}},
	"small-velocity": {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}}}},
	"overtaken":      {rows: []faultRow{{rulings: agrees}}},
	"hidden-growth":  {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}}}},
	// Means of prompts at the end of their range.
	"certain-prompts": {},
	// Noise of rare groups.
	"rare-success": {rows: []faultRow{{rulings: declined, because: "rare samples"}}},
	"rare-rise":    {rows: []faultRow{{rulings: declined, because: "rare samples"}}},
	// The fixed point reached from the start.
	"basin": {rows: []faultRow{
		{variants: "far", claim: "fixed-point", rulings: honest, truth: 0.9991},
		{variants: "refneg", claim: "fixed-point", rulings: honest, truth: 0.0831},
	}},
	// Ratios that leave the range of the clip.
	"clip": {rows: []faultRow{
		{variants: "ratio", rulings: agrees},
		{variants: "clip-05", claim: "fixed-point", rulings: honest, truth: 0.7465},
		{variants: "clip-05", claim: "stationary-fluctuation", rulings: honest, truth: 7.4e-5},
		{variants: "clip-001", claim: "fixed-point", rulings: honest, truth: 0.678},
		{variants: "clip-001 gspo", claim: "stationary-fluctuation", rulings: declined},
	}},
	// A second multiplier of 8e-4, of which the leftover of the cubic terms is a fortieth.
	"dead-multiplier": {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}, truth: 3.744}}},
	"disp":            {refused: "checks[0].displacement: got 0.02, want at most 0.002487"},
	// A replica that diverges although the mean field is stable: its noise leads far away.
	"div": {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	// The mean field leaves the range of floating point.
	"dv": {rows: []faultRow{{rulings: declined, because: "leaves the range"}}},
	// Equal constant rewards exert no force.
	"eq": {rows: []faultRow{
		{variants: "half normal0 ratio clip g1000", rulings: agrees, truth: 0.0105549},
		// The faster of two modes is alive, and one multiplier is fitted.
		{variants: "tenth", rulings: declined, because: "neglects"},
	}},
	// Arms that have almost no probability, in a force that divides by the deviation.
	"almost-certain": {rows: []faultRow{{quantity: "stiffness_total", rulings: agrees, truth: 0.09999}, {quantity: "stiffness_stale", rulings: agrees}}},
	// Groups of a single arm, whose rewards differ and exert no force.
	"rare-normal-arm": {rows: []faultRow{{rulings: undecided, because: "informative"}}},
	// Second order that remains where the linear variance vanishes.
	"quadratic": {rows: []faultRow{{rulings: declined, because: "neglects"}}},
	// Equal rewards: J never changes.
	"equal-rewards": {rows: []faultRow{{rulings: agrees}}},
	// The expected gradient has no noise.
	"noiseless": {rows: []faultRow{
		{variants: "plain block slow settled", rulings: agrees},
		{variants: "unsettled unstable adam", rulings: declined},
	}},
	// A learning rate so small that logits vary far less than velocities.
	"slow-run": {rows: []faultRow{{rulings: agrees}}},
	// An ε far above all deviations, which leaves advantages of 1e-9.
	"large-epsilon": {rows: []faultRow{{rulings: []Ruling{Agree, Inconclusive}, because: "replicas"}}},
	// Normal rewards that are equal by rounding.
	"rounded-rewards": {rows: []faultRow{{rulings: declined, because: "rounding decides the rewards"}}},
	// Kicks of k3 that grow as an arm becomes rare.
	"escape": {rows: []faultRow{
		{variants: "rare", rulings: declined, because: "neglects"},
		{variants: "never", claim: "fixed-point", rulings: agrees},
		{variants: "never", claim: "degenerate-groups", rulings: agrees},
	}},
	// The stiffness of eight equal constant rewards is that of the penalty, β/8.
	"equal-stiffness": {rows: []faultRow{{rulings: agrees}}},
	// The expansion in 1/G at small G.
	"exp2": {rows: []faultRow{
		{variants: "g2", claim: "fixed-point", rulings: honest, truth: 0.6947},
		{variants: "g4", claim: "fixed-point", rulings: honest, truth: 0.7732},
		{variants: "g16", claim: "fixed-point", rulings: honest, truth: 0.8361},
	}},
	// The noise shifts the mean along a trajectory.
	"mis": {rows: []faultRow{{variants: "deepseek-g16 eta1many", rulings: agrees}}},
	// There is a fixed point.
	"nofp": {rows: []faultRow{{rulings: honest, truth: 0.966}}},
	// A learning rate of 1e140: the predicted curve has no exponential.
	"huge-rate": {rows: []faultRow{{rulings: declined, because: "no exponential fits"}}},
	// One definition of the onset of oscillation.
	"onset-older-snapshot": {rows: []faultRow{{rulings: agrees, truth: 0.0054187}}},
	"onset-window":         {rows: []faultRow{{rulings: agrees, truth: 1.185}}},
	"onset-above":          {rows: []faultRow{{rulings: declined, because: "has begun and is over"}}},
	"onb": {rows: []faultRow{
		{variants: "block32-mu9", rulings: agrees, truth: 0.0037628},
		{variants: "block8-mu5", rulings: agrees, truth: 0.122578},
		{variants: "delay1-mu0", rulings: agrees, truth: 1.42887},
		{variants: "delay1-mu5", rulings: agrees, truth: 0.147956},
		// Three multipliers of nearly equal size, of which two are fitted.
		{variants: "delay4-mu5", rulings: []Ruling{Agree, Inconclusive}, truth: 0.34786},
		{variants: "k3block32", rulings: agrees, truth: 0.0054645},
	}},
	// A force that steps to and fro at full length: simulator and theory separate by rounding.
	"path-chaos": {rows: []faultRow{
		{variants: "adam limit-cycle", rulings: declined, because: "rounding decides"},
		{variants: "heavy-ball", rulings: agrees},
	}},
	"path-one-sided": {rows: []faultRow{{rulings: declined, because: "rounding decides"}}},
	// A certain Bernoulli reward below the mean, at ratios beyond the clip.
	"path-clip-certain": {rows: []faultRow{{rulings: agrees}}},
	// Paths on which arms of outlying rewards become rare, where an expansion in 1/G fails.
	"path-five-normal": {rows: []faultRow{{rulings: agrees}}},
	// Equal replicas of which none has drawn the sample that moves the mean, by 2.7e-9 in all.
	"path-undrawn":  {rows: []faultRow{{rulings: undecided, because: "hardly moves"}}},
	"path-rare-arm": {rows: []faultRow{{rulings: agrees}}},
	// Numbers beyond every range.
	"predict-hangs": {},
	// A second multiplier that has died.
	"rx": {rows: []faultRow{
		{variants: "block16 block32 delay1mu0 mu2", rulings: agrees},
		{variants: "delay1slow", rulings: agrees, truth: 0.0031889},
	}},
	// Two modes of equal stiffness, whose parts depend on the direction that is displaced.
	"equal-modes": {rows: []faultRow{{rulings: agrees}, {quantity: "stiffness_total", rulings: agrees, truth: 0.25}}},
	// Displacements so small that both sides draw the same groups.
	"equal-groups": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: undecided, because: "informative"},
		{quantity: "stiffness_stale", rulings: undecided, because: "informative"},
		{quantity: "stiffness_fresh", rulings: agrees},
	}},
	"equal-pairs": {rows: []faultRow{{claim: "relaxation", rulings: undecided, because: "different groups"}}},
	// A stiffness of 3e-12, less than the rounding of the force over the displacement.
	"rounded-stiffness": {rows: []faultRow{{rulings: undecided, because: "straddles"}}},
	// A reference logit of 1e200: the square of the gradient overflows in a simulation.
	"huge-logits": {rows: []faultRow{{rulings: declined, because: "range of floating point"}}},
	// Logits of the reference whose rounding is more than a displacement.
	"huge-reference": {rows: []faultRow{{claim: "stiffness", rulings: undecided, because: "straddles"}}},
	// Modes of arms of probability 1e-24, which do not move: what is left of a deviation might
	// also be a mode that grows slowly.
	"neutral-modes": {rows: []faultRow{{claim: "stability-threshold", rulings: []Ruling{Agree, Inconclusive}, truth: 11.5671}}},
	// A mode so slow that rounding decides the sign of its measured stiffness.
	"uncertain-mode": {rows: []faultRow{{rulings: declined, because: "not certain"}}},
	// The sign of the slow mode stays uncertain in what is measured. The threshold of the other directions is 2/λ, λ = 1.05662e-4.
	"rounded-mode":     {rows: []faultRow{{claim: "stability-threshold", rulings: []Ruling{Agree, Inconclusive}, truth: 18928.2}}},
	"rounded-interval": {rows: []faultRow{{rulings: declined, because: "not certain"}}},
	// A slow mode that the start hardly excites.
	"slower-mode": {rows: []faultRow{
		{claim: "stiffness", rulings: agrees},
		{claim: "relaxation", rulings: declined, because: "neglects"},
	}},
	// The force of a displacement is longer than the largest norm.
	"largest-norm": {rows: []faultRow{
		{variants: "search-clipped pair-clipped", rulings: declined, because: "largest norm may clip"},
		{variants: "search-free pair-free", rulings: agrees},
	}},
	// A displacement takes groups across the largest norm; three arms, whose clipped mean force
	// is not known; and a limit that two arms are measured and predicted with.
	"norm-kinks": {rows: []faultRow{
		{variants: "wide", rulings: declined, because: "neglects"},
		{variants: "three", rulings: declined, because: "largest norm may clip"},
		{variants: "close", quantity: "stiffness_total", rulings: agrees, truth: 0.10452694},
	}},
	// Nearly all groups have equal rewards. Without importance weights the fresh part is that
	// of the penalty, which is not sampled.
	"silent": {rows: []faultRow{
		{quantity: "stiffness_total", rulings: undecided, because: "informative"},
		{quantity: "stiffness_stale", rulings: undecided, because: "informative"},
		{quantity: "stiffness_fresh", rulings: agrees},
	}},
	// A learning rate that still rises after burn-in.
	"warmup": {rows: []faultRow{{rulings: declined, because: "still rises"}}},
	// A share of events that is 0 within rounding.
	"wil": {rows: []faultRow{{rulings: undecided, because: "straddles"}}},
}

// wrong returns the way in which a verdict contradicts the known answer, "" for none.
func (row *faultRow) wrong(v *Verdict) string {
	off := func(x float64) float64 { return math.Abs(x - row.truth) }
	switch {
	case !slices.Contains(row.rulings, v.Verdict):
		return "not a right ruling"
	case v.Verdict != Agree && !strings.Contains(v.Because, row.because):
		return "want the reason " + row.because
	case row.truth == 0:
	case v.Verdict != OutOfScope && off(float64(v.Predicted)) > float64(v.Margin):
		return "the prediction is wrong"
	case float64(v.Lo) > 1.01*row.truth || float64(v.Hi) < 0.99*row.truth:
		return "the measured interval is wrong"
	}
	return ""
}

// slowFaultFiles are those that take most of the time: only a long test judges them. Others have faults
// of the same kinds.
var slowFaultFiles = strings.Fields(`
	rare-differences tie-within-displacement norm-kinks path-rare-arm creeping-rise scaled-escape adam-rare-arm rounded-interval rounded-mode exp2 other-attractor clipped-attractor clipped-relaxation basin lagged-tails
	adam-start path-five-normal adam clip adam-rare-push k3c other-cycle quadratic slow-run large-epsilon
	path-chaos k3 path-clip-certain uncertain-mode escape onb mis huge-reference sliding-stiffness`)

// Every file of testdata/faults has a known answer, gets it, and never disagrees.
func TestFaultFiles(t *testing.T) {
	testFaultFiles(t, func(name string) bool { return !slices.Contains(slowFaultFiles, name) })
}

// testFaultFiles judges the files whose names are chosen.
func testFaultFiles(t *testing.T, chosen func(name string) bool) {
	t.Helper()
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) != len(faultFiles) {
		t.Fatalf("%d files, %d known answers: %v", len(files), len(faultFiles), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !chosen(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			known, found := faultFiles[name]
			if !found {
				t.Fatal("no known answer")
			}
			checkFaultFile(t, file, known)
		})
	}
}

func checkFaultFile(t *testing.T, file string, known faultFile) {
	began := time.Now()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := config.Load(file, data)
	if known.refused != "" {
		if err == nil || !strings.Contains(err.Error(), known.refused) {
			t.Errorf("read with %v, want it refused for %s", err, known.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := Run(t.Context(), NewPlan(spec), t.TempDir(), 2, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(known.rows))
	for _, v := range e.Verdicts {
		report := func(problem string) {
			t.Errorf("%s %s, %s: measured %.6g [%.6g, %.6g], predicted %.6g ± %.2g: %v because %s: %s", v.Variant, v.Claim, v.Quantity,
				float64(v.Measured), float64(v.Lo), float64(v.Hi), float64(v.Predicted), float64(v.Margin), v.Verdict, v.Because, problem)
		}
		if v.Verdict == Disagree {
			report("it must not disagree")
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
				report(problem)
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
