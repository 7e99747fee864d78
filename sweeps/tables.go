package sweeps

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// VerdictsJSON returns verdicts.json.
func VerdictsJSON(name string, verdicts []Verdict) ([]byte, error) {
	if verdicts == nil {
		verdicts = []Verdict{}
	}
	data, err := json.MarshalIndent(struct {
		Name     string    `json:"name"`
		Summary  Summary   `json:"summary"`
		Verdicts []Verdict `json:"verdicts"`
	}{name, Summarize(verdicts), verdicts}, "", "  ")
	return append(data, '\n'), err
}

// VerdictsMarkdown returns the verdict table as Markdown.
func VerdictsMarkdown(verdicts []Verdict) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", Summarize(verdicts))
	b.WriteString("| experiment | claim | cell | quantity | measured | predicted | margin | verdict | control |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, v := range verdicts {
		row := v.Cells()
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.Bytes()
}

// Cells returns the columns of a verdict for people: experiment, claim, cell,
// quantity, measured with its interval, predicted, margin, verdict, control.
func (v *Verdict) Cells() []string {
	digits := significant(float64(v.Measured), float64(v.Hi)-float64(v.Lo))
	measured := fmt.Sprintf("%s [%s, %s]", format(v.Measured, digits), format(v.Lo, digits), format(v.Hi, digits))
	if math.IsInf(float64(v.Hi), 1) && !math.IsInf(float64(v.Lo), 0) && !math.IsNaN(float64(v.Lo)) {
		measured = "beyond " + format(v.Lo, digits)
	}
	predicted := format(v.Predicted, digits)
	if math.IsInf(float64(v.Predicted), 1) {
		predicted = "none"
	}
	if v.PredictionKind != rom.Exact {
		predicted += " (" + string(v.PredictionKind) + ")"
	}
	if v.Expect == config.Fails {
		predicted += ", expected to fail"
	}
	verdict := v.Verdict.String()
	if v.Verdict != Agree {
		verdict += ": " + v.Because
	}
	control := "–"
	if v.Control != nil {
		control = v.Control.Fault + ": " + v.Control.Verdict.String()
	}
	cell := v.Label
	if cell == "" {
		cell = "–"
	}
	return []string{v.Experiment, v.Claim, cell, v.Quantity, measured, predicted, "± " + format(v.Margin, 2), verdict, control}
}

// significant returns how many digits of x matter beside something of the
// given width: two digits of the width.
func significant(x, width float64) int {
	if !(math.Abs(x) > 0) || !(width > 0) || math.IsInf(width, 0) {
		return 4
	}
	return min(max(2+int(math.Floor(math.Log10(math.Abs(x))))-int(math.Floor(math.Log10(width))), 2), 12)
}

func format(x store.Number, digits int) string {
	switch f := float64(x); {
	case math.IsNaN(f):
		return "–"
	case math.IsInf(f, 0):
		return strconv.FormatFloat(f, 'g', -1, 64)
	default:
		return strconv.FormatFloat(f, 'g', digits, 64)
	}
}

// cellsCSV returns cells.csv: parameters, estimates with the interval of the
// file's confidence for each alone, status.
func (e *Experiment) cellsCSV() ([]byte, error) {
	keys := e.parameters()
	var names []string
	seen := make(map[string]bool)
	for i := range e.Plan.Cells {
		for _, estimate := range e.Outcomes[e.Plan.Cells[i].ID].Estimates {
			if !seen[estimate.Name] && !strings.Contains(estimate.Name, "[") { // entries of a matrix are in cells.jsonl
				seen[estimate.Name] = true
				names = append(names, estimate.Name)
			}
		}
	}
	header := []string{"cell", "variant"}
	for _, k := range keys {
		header = append(header, k.Path)
	}
	header = append(header, "status")
	for _, n := range names {
		header = append(header, n, n+"_lo", n+"_hi")
	}
	return writeCSV(header, len(e.Plan.Cells), func(i int) []string {
		c := &e.Plan.Cells[i]
		o := e.Outcomes[c.ID]
		row := e.identify(c, keys)
		row = append(row, string(o.Status))
		for _, n := range names {
			estimate, ok := o.Estimate(n)
			if !ok {
				row = append(row, "", "", "")
				continue
			}
			lo, hi := c.interval(n, estimate, e.Plan.Spec.Confidence)
			row = append(row, number(&estimate.Mean), number(&lo), number(&hi))
		}
		return row
	})
}

// predictionsCSV returns predictions.csv: what the theory says of each cell.
func (e *Experiment) predictionsCSV() ([]byte, error) {
	keys := e.parameters()
	header := []string{"cell", "variant"}
	for _, k := range keys {
		header = append(header, k.Path)
	}
	header = append(header, "fixed_point_expected_reward", "expected_reward_shift", "stiffness_total", "stiffness_fresh",
		"stiffness_stale", "stiffness_slowest", "gradient_variance", "damping_ratio", "regime", "spectral_radius",
		"critical_learning_rate", "critical_refresh_interval", "oscillation_learning_rate",
		"logit_gap_variance", "expected_reward_variance", "expected_reward_variance_leading_order",
		"expected_reward_variance_paper_rule", "zero_variance_fraction", "scope")
	return writeCSV(header, len(e.Plan.Cells), func(i int) []string {
		c := &e.Plan.Cells[i]
		p := e.evidence.cache.predict(&c.Settings, rom.Unit)
		full := &p.Exact
		if p.ForceKind == rom.LeadingOrder {
			full = &p.LeadingOrder
		}
		var reward *float64
		if p.FixedPoint != nil {
			reward = &p.FixedPoint.Reward
		}
		scope := "in"
		if why := stationaryScope(&c.Settings, p); why != "" {
			scope = why
		}
		return append(e.identify(c, keys),
			number(reward), number(p.Moments.RewardShift),
			number(&p.Stiffness.Total), number(&p.Stiffness.Fresh), number(&p.Stiffness.Stale), number(&p.Stiffness.Slowest),
			number(&p.GradientVariance), number(&p.Oscillator.DampingRatio), p.Oscillator.Regime, number(full.SpectralRadius),
			number(full.CriticalLearningRate), number(full.CriticalRefreshInterval), number(full.OscillationLearningRate),
			number(full.StationaryVariance.LogitGap), number(full.StationaryVariance.ExpectedReward),
			number(p.LeadingOrder.StationaryVariance.ExpectedReward), number(p.PaperVariance), number(p.Moments.ZeroVariance), scope)
	})
}

func number(x *float64) string {
	if x == nil || math.IsNaN(*x) {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

func writeCSV(header []string, rows int, row func(i int) []string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for i := range rows {
		if err := w.Write(row(i)); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// PredictionLine is one line of `grposim predict --json`. What a cell without a
// fixed point does not have is null.
type PredictionLine struct {
	Cell       string             `json:"cell"`
	Parameters json.RawMessage    `json:"parameters"`
	FixedPoint *rom.FixedPoint    `json:"fixed_point"`
	Stiffness  *rom.ModeStiffness `json:"stiffness"`
	Gradient   *float64           `json:"gradient_variance"`
	Oscillator *rom.Oscillator    `json:"rom"`
	rom.Prediction
}

// Predictions yields what the theory says of each cell of a plan.
func Predictions(plan *Plan) iter.Seq2[*Cell, *PredictionLine] {
	return func(yield func(*Cell, *PredictionLine) bool) {
		for i := range plan.Cells {
			c := &plan.Cells[i]
			line := &PredictionLine{Cell: c.ID, Parameters: config.Canonical(c.Settings), Prediction: rom.Predict(Params(&c.Settings, rom.Unit))}
			if p := &line.Prediction; p.FixedPoint != nil {
				line.FixedPoint, line.Stiffness, line.Gradient, line.Oscillator = p.FixedPoint, &p.Stiffness, &p.GradientVariance, &p.Oscillator
			}
			if !yield(c, line) {
				return
			}
		}
	}
}
