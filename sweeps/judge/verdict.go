package judge

import (
	"fmt"
	"strings"

	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Ruling is the result of comparing a measured interval with a prediction, by its name in files.
type Ruling string

// The rulings on a prediction that is expected to hold. For one expected to fail, Agree
// and Disagree are exchanged (see Compare).
const (
	// the interval straddles the margin, or a number is missing; or a minority of the replicas
	// diverged
	Inconclusive Ruling = "inconclusive"
	Agree        Ruling = "agree" // the interval lies inside predicted ± margin
	// the interval lies wholly outside; or at least half of the replicas diverged, whichever is
	// expected
	Disagree Ruling = "disagree"
	// the theory does not hold for these cells, by its own conditions
	OutOfScope Ruling = "out-of-scope"
)

// ControlVerdict is the verdict of the same check, on the same measurement, against
// another theory. A check that can fail gives Disagree here.
type ControlVerdict struct {
	Fault   string      `json:"fault"`   // the other theory in words, such as "stiffness × 1.1"
	Kind    ControlKind `json:"kind"`    // whether that theory is wrong
	Verdict Ruling      `json:"verdict"` // the ruling against it
	// of a planted fault: small, if it scales constants of the theory by at most 1.1, moderate, by at
	// most 1.5, or large, or else setting; "" of the exact prediction
	Size FaultSize `json:"size"`
}

// ControlKind is the kind of a control.
type ControlKind string

const (
	// a deliberately wrong theory, which the check must catch
	PlantedFault ControlKind = "planted-fault"
	// the exact prediction in the place of the refuted one, which must not be refuted
	ExactPrediction ControlKind = "exact-prediction"
)

// FaultSize is the size of a planted fault. A check that catches a large one alone could
// still let a small one pass: SmallestFault says which.
type FaultSize string

const (
	SmallFault    FaultSize = "small"    // constants of the theory are scaled, by at most 1.1
	ModerateFault FaultSize = "moderate" // by more than that, at most 1.5
	LargeFault    FaultSize = "large"    // by more than 1.5
	// another setting, law, mode or class, whose size depends on the check
	OtherSetting FaultSize = "setting"
)

// sizeOf returns the size of a check's planted fault.
func sizeOf(c *config.Control) FaultSize {
	const rounding = 1e-12 // of 1/f
	switch factor := c.LargestFactor(); {
	case len(c.Set) > 0 || c.Mode != "" || c.Law != "" || c.Class != "" || factor == 1:
		return OtherSetting
	case factor <= 1.1+rounding:
		return SmallFault
	case factor <= 1.5+rounding:
		return ModerateFault
	}
	return LargeFault
}

// Verdict compares one measured quantity of one set of cells with its prediction. It
// is one row of the table of verdicts. Its numbers are in the unit of the quantity; in
// JSON a number that is not finite is null.
type Verdict struct {
	Experiment string       `json:"experiment"` // name of the configuration
	Variant    string       `json:"variant"`    // variant of the cells; "" in a file without variants
	Claim      string       `json:"claim"`      // name of the claim
	Cell       string       `json:"cell"`       // cell id, or PARAM|other=value,… across cells
	Quantity   string       `json:"quantity"`   // the quantity compared
	Measured   store.Number `json:"measured"`   // measured value; NaN where there is none
	// lower end of its interval; −Inf or NaN where not known
	Lo store.Number `json:"lo"`
	// upper end of its interval; +Inf where an event was not found, or where not known
	Hi store.Number `json:"hi"`
	// predicted value; NaN out of scope but for a hypothesis, +Inf: the event never occurs
	Predicted      store.Number `json:"predicted"`
	PredictionKind rom.Kind     `json:"prediction_kind"` // origin of the predicted value
	// whether the prediction is claimed to hold or to fail
	Expect  config.Expectation `json:"expect"`
	Margin  store.Number       `json:"margin"`  // absolute, ≥ 0; NaN out of scope but for a hypothesis
	Verdict Ruling             `json:"verdict"` // the result of the comparison
	Because string             `json:"because"` // the reason for it, in one sentence
	// name of the reason (grposim help reasons) for a verdict that is out of scope
	Reason string `json:"reason,omitempty"`
	// the verdict against another theory; nil: the check has no control
	Control *ControlVerdict `json:"control"`
	About   *config.About   `json:"about"` // what the check is about; nil: the file does not say
	// what was measured in the cells; equal for verdicts that share a measurement
	Estimate string `json:"estimate"`
	Sampled  bool   `json:"sampled"` // whether sampling plays a part in it; false at G = ∞
	// ids of the cells of a set of several; nil: Cell is the id
	Members []string `json:"cells,omitempty"`
	// the smallest fault that would make it disagree; nil: not known
	SmallestFault *SmallestFault `json:"smallest_fault"`

	// in how many of the set's bandits the claim holds; nil: they are not counted
	Bandits *claim.Tally `json:"bandits,omitempty"`

	// the check's own claim, whose value is then Predicted, with what the theory predicts; nil: the
	// prediction is judged
	Hypothesis *TestedHypothesis `json:"hypothesis,omitempty"`

	Label string `json:"-"` // name of the cells for people: variant and parameters
	Check int    `json:"-"` // index of the check in the configuration, from 0
}

// controlled reports whether the control counts: that of a verdict in scope. Where the exact theory
// is out of scope there is nothing to put in the place of a refuted prediction.
func (v *Verdict) controlled() bool {
	c := v.Control
	return c != nil && v.Verdict != OutOfScope &&
		!(c.Kind == ExactPrediction && c.Verdict == OutOfScope)
}

// Missed reports whether the control does not disagree, so that the check could not have failed.
func (v *Verdict) Missed() bool { return v.controlled() && v.Control.Verdict != Disagree }

// TestedHypothesis is a hypothesis beside the theory's prediction of the same quantity.
type TestedHypothesis struct {
	config.Hypothesis
	Predicted      store.Number `json:"predicted"`       // by the theory; NaN out of scope
	PredictionKind rom.Kind     `json:"prediction_kind"` // origin of Predicted
	// predicted size of what the theory neglects; NaN out of scope
	Neglected store.Number `json:"neglected"`
	// why the theory predicts nothing; "": it does
	OutOfScope string `json:"out_of_scope,omitempty"`
}

// Summary counts verdicts, their controls, and the independent measurements behind
// them. Its zero value is the summary of none.
type Summary struct {
	Agree        int `json:"agree"`        // verdicts that agree
	Disagree     int `json:"disagree"`     // verdicts that disagree
	Inconclusive int `json:"inconclusive"` // verdicts that decide nothing
	OutOfScope   int `json:"out_of_scope"` // verdicts out of the theory's scope

	Planted int `json:"controls"`        // verdicts with a planted fault, except those out of scope
	Caught  int `json:"controls_caught"` // those of them whose control disagrees

	// the planted faults by their size: small, moderate, large and setting
	Sizes FaultSizes `json:"controls_by_size"`

	// refutations in scope that were repeated with the exact prediction
	Exact     int `json:"exact_predictions"`
	ExactHeld int `json:"exact_predictions_held"` // those of them that do not refute it
	// refutations in scope beside which the exact theory predicts nothing
	ExactOutOfScope int `json:"exact_predictions_out_of_scope"`

	// distinct estimates of cells that verdicts in scope compare with a prediction, with sampling; one
	// that several verdicts share counts once
	SampledMeasurements int `json:"sampled_measurements"`
	// the same at G = ∞, except the cross-checks
	DeterministicMeasurements int `json:"deterministic_measurements"`
	// the same at G = ∞, compared by cross-checks of code only
	CrossChecks int `json:"cross_checks"`
}

// String returns the counts of verdicts and controls in one line.
func (s Summary) String() string {
	line := fmt.Sprintf("%d agree, %d disagree, %d inconclusive, %d out of scope", s.Agree, s.Disagree,
		s.Inconclusive, s.OutOfScope)
	return strings.TrimSuffix(line+"; "+s.Controls(), "; ")
}

// Controls returns the counts of controls in one line, planted faults by their size; "" if
// there are none.
func (s Summary) Controls() string {
	var parts []string
	if s.Planted > 0 {
		part := fmt.Sprintf("%d of %d planted faults caught", s.Caught, s.Planted)
		if sizes := s.Sizes.String(); sizes != "" {
			part += " (" + sizes + ")"
		}
		parts = append(parts, part)
	}
	if all := s.Exact + s.ExactOutOfScope; all > 0 {
		part := fmt.Sprintf("the exact prediction holds beside %d of %d refutations", s.ExactHeld, all)
		if s.ExactOutOfScope > 0 {
			part += fmt.Sprintf(", and predicts nothing beside %d", s.ExactOutOfScope)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// FaultSizes counts planted faults by their size.
type FaultSizes struct {
	Small    int `json:"small"`    // constants are scaled by at most 1.1
	Moderate int `json:"moderate"` // by at most 1.5
	Large    int `json:"large"`    // by more
	Setting  int `json:"setting"`  // another setting, law, mode or class
}

// String returns the counts that are not 0 in words.
func (n FaultSizes) String() string {
	return joinCounts([]counted{
		{n.Small, "scale a constant by at most 1.1"}, {n.Moderate, "by at most 1.5"},
		{n.Large, "by more"}, {n.Setting, "change a setting, law, mode or class"},
	})
}

type counted struct {
	count int
	noun  string
}

// joinCounts returns the counts that are not 0, such as "6 for, 2 against".
func joinCounts(all []counted) string {
	var parts []string
	for _, c := range all {
		if c.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.count, c.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// Measurements returns the counts of independent measurements in one line.
func (s Summary) Measurements() string {
	return fmt.Sprintf(
		"%d sampled measurements, %d deterministic ones (G = ∞), %d cross-checks of code",
		s.SampledMeasurements, s.DeterministicMeasurements, s.CrossChecks)
}

// Uncaught returns the number of controls that did not disagree.
func (s Summary) Uncaught() int { return s.Planted - s.Caught + s.Exact - s.ExactHeld }

// Summarize counts verdicts by their rulings, their controls and their measurements.
func Summarize(verdicts []Verdict) Summary {
	var s Summary
	rulings := map[Ruling]*int{Agree: &s.Agree, Disagree: &s.Disagree,
		Inconclusive: &s.Inconclusive, OutOfScope: &s.OutOfScope}
	sizes := map[FaultSize]*int{SmallFault: &s.Sizes.Small, ModerateFault: &s.Sizes.Moderate,
		LargeFault: &s.Sizes.Large, OtherSetting: &s.Sizes.Setting}
	type use struct{ sampled, beyondCode bool }
	uses := make(map[measurement]use)
	for _, v := range verdicts {
		if *rulings[v.Verdict]++; v.Verdict == OutOfScope {
			continue
		}
		if v.controlled() {
			all, caught := &s.Planted, &s.Caught
			if v.Control.Kind == ExactPrediction {
				all, caught = &s.Exact, &s.ExactHeld
			}
			*all++
			if !v.Missed() {
				*caught++
			}
			if of := sizes[v.Control.Size]; of != nil {
				*of++
			}
		} else if v.Control != nil {
			s.ExactOutOfScope++
		}
		for _, m := range v.measurements() {
			code := v.About != nil && v.About.Kind == config.AboutCode
			uses[m] = use{v.Sampled, uses[m].beyondCode || !code}
		}
	}
	for _, u := range uses {
		switch {
		case u.sampled:
			s.SampledMeasurements++
		case u.beyondCode:
			s.DeterministicMeasurements++
		default:
			s.CrossChecks++
		}
	}
	return s
}

// measurement is an estimate of a cell. Verdicts that share it are one measurement.
type measurement struct{ cell, estimate string }

// measurements lists those behind a verdict: one, or one of each cell of a set.
func (v *Verdict) measurements() []measurement {
	if v.Members == nil {
		return []measurement{{v.Cell, v.Estimate}}
	}
	return config.Each(v.Members,
		func(cell string) measurement { return measurement{cell, v.Estimate} })
}

// SmallestFault is the smallest relative change of a constant of the theory that would have turned
// an agreement into a disagreement.
type SmallestFault struct {
	// stiffness, noise, lag, mass, or prediction: the predicted value itself
	Constant string  `json:"constant"`
	Percent  float64 `json:"percent"` // the change, > 0
	// the prediction is a bound: Percent is how far it can move before it is crossed, and a large one
	// shows the bound no less
	Bound bool `json:"bound"`
}

// NoEvidence is the smallest fault, in percent, above which a verdict from both sides is no
// evidence: a theory wrong by half would have agreed too.
const NoEvidence = 50

// isEvidence reports whether the verdict would have caught a fault of NoEvidence, is about a bound,
// or has an unknown smallest fault.
func (f *SmallestFault) isEvidence() bool { return f == nil || f.Bound || f.Percent <= NoEvidence }

// predictionItself is the constant of a fault that is given as a share of the predicted value.
const predictionItself = "prediction"

// String returns the fault in words, such as "2.3 % of noise": two digits, or more where it has
// more before the point.
func (f *SmallestFault) String() string {
	constant, percent := f.Constant, fmt.Sprintf("%.2g", f.Percent)
	if f.Percent >= 99.5 { // two digits of which %g writes with an exponent
		percent = fmt.Sprintf("%.0f", f.Percent)
	}
	if constant == predictionItself {
		constant = "predicted value"
	}
	return percent + " % of " + constant
}
