package judge

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// WriteJSON writes verdicts.json: the name, the summary, the decided statements of the paper,
// and the verdicts. Their text takes much memory, so they are written one by one.
func WriteJSON(w io.Writer, name string, verdicts []Verdict) error {
	head, err := json.MarshalIndent(struct {
		Name       string            `json:"name"`
		Summary    Summary           `json:"summary"`
		Statements []JudgedStatement `json:"statements,omitempty"`
	}{name, Summarize(verdicts), DecidedStatements(verdicts)}, "", "  ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\n  \"verdicts\": [",
		bytes.TrimSuffix(head, []byte("\n}"))); err != nil {
		return err
	}
	separator, end := "\n    ", "]\n}\n"
	for i := range verdicts {
		text, err := json.MarshalIndent(&verdicts[i], "    ", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, text); err != nil {
			return err
		}
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

// WriteMarkdown writes the statements of the paper that the verdicts decide, the
// summary and the table of verdicts as Markdown.
func WriteMarkdown(w io.Writer, verdicts []Verdict) error {
	b := bufio.NewWriter(w)
	if statements := DecidedStatements(verdicts); statements != nil {
		fmt.Fprintf(b, "%s\n\n", Split(statements))
		writeMarkdown(b, StatementColumns, len(statements),
			func(i int) []string { return statements[i].Cells() })
		b.WriteString("\n")
	}
	s := Summarize(verdicts)
	fmt.Fprintf(b, "%s\n\n%s\n\n", s.Measurements(), s)
	writeMarkdown(b, VerdictColumns, len(verdicts),
		func(i int) []string { return verdicts[i].Cells() })
	return b.Flush()
}

// writeMarkdown writes a Markdown table of rows row(0), …, row(rows − 1).
func writeMarkdown(b io.Writer, columns []string, rows int, row func(i int) []string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for n := range rows {
		cells := row(n)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// VerdictColumns are the columns of a table of verdicts for people: see Verdict.Cells.
var VerdictColumns = []string{"experiment", "claim", "cell", "quantity", "measured", "predicted",
	"margin", "verdict", "control"}

// Cells returns a verdict as VerdictColumns, the measured value with its interval.
// Numbers are rounded; "–" stands for what is missing.
func (v *Verdict) Cells() []string {
	_, _, predicted, margin := v.Numbers()
	switch {
	case v.Hypothesis != nil:
		predicted += " (hypothesis)"
	case v.PredictionKind != rom.Exact && v.PredictionKind != "":
		predicted += " (" + string(v.PredictionKind) + ")"
	}
	if v.Expect == config.Fails {
		predicted += ", expected to fail"
	}
	verdict := v.Says()
	if v.Verdict != Agree || v.Hypothesis != nil {
		// which have columns of their own
		verdict += ": " + strings.TrimPrefix(v.Because, v.Quantity+" "+v.measured()+": ")
	}
	control := "–"
	if v.Control != nil {
		control = v.Control.Fault + ": " + string(v.Control.Verdict)
	}
	return []string{v.Experiment, v.Claim, cmp.Or(v.Label, "–"), v.Quantity, v.measured(), predicted,
		margin, verdict, control}
}

// RowColumns are the columns of Verdict.Row.
var RowColumns = []string{"experiment", "claim", "cell", "quantity", "measured", "predicted", "theory",
	"verdict"}

// Row returns a verdict as RowColumns: what a screen has room for, without reasons. Where the file
// claims a value, predicted is the claim, and theory what the theory predicts.
func (v *Verdict) Row() []string {
	cells, theory, says := v.Cells(), "–", v.Says()
	predicted := strings.NewReplacer(", expected to fail", "", " (hypothesis)", "").Replace(cells[5])
	if v.Margin > 0 {
		predicted += " " + cells[6]
	}
	if v.Hypothesis != nil {
		theory = Format(v.Hypothesis.Predicted, 4)
	}
	if v.Missed() {
		says += ", as its control"
	}
	return append(cells[:5:5], predicted, theory, says)
}

// Numbers returns the numbers of a verdict for people, rounded; "–" stands for what is missing.
// interval is "" where measured says beyond which value it lies.
func (v *Verdict) Numbers() (measured, interval, predicted, margin string) {
	digits := Significant(float64(v.Measured), float64(v.Hi)-float64(v.Lo)) // of the measured value
	if math.IsInf(float64(v.Hi), 1) && !math.IsInf(float64(v.Lo), 0) && !math.IsNaN(float64(v.Lo)) {
		measured = "beyond " + Format(v.Lo, digits)
	} else {
		measured, interval = Format(v.Measured, digits),
			fmt.Sprintf("[%s, %s]", Format(v.Lo, digits), Format(v.Hi, digits))
	}
	predicted, margin = Format(v.Predicted, digits), "± "+Format(v.Margin, 2)
	if math.IsInf(float64(v.Predicted), 1) {
		predicted = "none"
	}
	if v.Hypothesis != nil {
		predicted = v.Hypothesis.String()
		if v.Margin == 0 { // a bound
			margin = "–"
		}
	}
	return measured, interval, predicted, margin
}

// measured returns the measured value with its interval, or beyond which value it lies.
func (v *Verdict) measured() string {
	measured, interval, _, _ := v.Numbers()
	return strings.TrimSpace(measured + " " + interval)
}

// Significant returns the significant digits of x, at most 12, that show two digits of the width of
// its interval. It is 4 where one is zero or not known.
func Significant(x, width float64) int {
	if !(math.Abs(x) > 0) || !(width > 0) || math.IsInf(width, 0) {
		return 4
	}
	magnitude := func(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }
	return min(max(2+magnitude(x)-magnitude(width), 2), 12)
}

// Format returns x with a number of significant digits; "–" for NaN.
func Format(x store.Number, digits int) string {
	switch f := float64(x); {
	case math.IsNaN(f):
		return "–"
	case math.IsInf(f, 1):
		return "∞"
	case math.IsInf(f, -1):
		return "−∞"
	default:
		return strconv.FormatFloat(f, 'g', digits, 64)
	}
}
