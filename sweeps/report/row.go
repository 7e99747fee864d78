package report

import (
	"cmp"
	"encoding/xml"
	"math"
	"strconv"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
)

// row is one verdict on the page.
type row struct {
	*judge.Verdict
	Badge badge
	Cell  string // id, shortened
	Label string // the parameters of the cell, or Cell if it has none

	Measured, Interval, Predicted, Margin string // see judge.Verdict.Numbers
	// Sort keys, "" if there is no value. The distance is (measured − predicted) / margin.
	MeasuredKey, PredictedKey, DistanceKey string

	Strip   *strip // nil if there is nothing to compare
	Claimed string // the hypothesis, as in the file; ""
}

func newRow(v *judge.Verdict) row {
	m, p, margin := float64(v.Measured), float64(v.Predicted), float64(v.Margin)
	r := row{Verdict: v, Badge: badgeOf(v), Cell: shortCell(v.Cell),
		Label: cmp.Or(v.Label, shortCell(v.Cell)), MeasuredKey: key(m), PredictedKey: key(p),
		DistanceKey: key((m - p) / margin), Strip: newStrip(m, float64(v.Lo), float64(v.Hi), p, margin)}
	r.Measured, r.Interval, r.Predicted, r.Margin = v.Numbers()
	if h := v.Hypothesis; h != nil {
		r.Claimed = string(h.Relation) + ": " + config.Format(h.Value)
	}
	return r
}

// shortCell returns the first 12 digits of a cell id, and any other name unchanged.
func shortCell(cell string) string {
	if len(cell) == 64 && !strings.ContainsAny(cell, "|=") {
		return cell[:12]
	}
	return cell
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// key formats a number to sort by; it is "" if x is not finite.
func key(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// strip is the small picture of a row: horizontal positions in a box 160 wide whose
// middle is the predicted value.
type strip struct {
	BandLeft, BandWidth string // of predicted ± margin
	Bar                 string // SVG path of the interval
	Point               string // position of the measured value; "" if it is outside the box
}

// newStrip scales the box so that the interval fits, but to at least 1.5 and at most 6
// margins on either side of the predicted value; an arrow points to an end outside. It
// returns nil if there is no prediction or no interval.
func newStrip(m, lo, hi, p, margin float64) *strip {
	const middle, half = 80, 74
	const first, last = middle - half, middle + half // ends of the scale
	if !finite(p) || !finite(margin) || !finite(lo) && !finite(hi) {
		return nil
	}
	far := 0.0
	for _, x := range []float64{m, lo, hi} {
		if finite(x) {
			far = max(far, math.Abs(x-p))
		}
	}
	reach := 1.08 * far
	if margin > 0 {
		reach = min(max(reach, 1.5*margin), 6*margin)
	}
	if reach == 0 {
		reach = 1
	}
	if !finite(reach) {
		return nil
	}
	show := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	place := func(x, unknown float64) float64 {
		if math.IsNaN(x) {
			x = unknown
		}
		return middle + half*min(max((x-p)/reach, -2), 2)
	}
	end := func(at float64) string { // a cap, or an arrow
		switch {
		case at < first:
			return "M6 7L1 12L6 17"
		case at > last:
			return "M154 7L159 12L154 17"
		}
		return "M" + show(at) + " 8V16"
	}
	left, right := place(lo, math.Inf(-1)), place(hi, math.Inf(1))
	s := &strip{BandLeft: show(place(p-margin, p)), BandWidth: show(2 * half * (margin / reach))}
	from, to := max(left, first-5), min(right, last+5)
	if left > last {
		from = last - 6 // room for the arrow's shaft
	}
	if right < first {
		to = first + 6
	}
	s.Bar = "M" + show(from) + " 12H" + show(to) + end(left) + end(right)
	if at := place(m, math.Inf(1)); at >= first && at <= last {
		s.Point = show(at)
	}
	return s
}

// The elements of a JUnit report that CI systems read.
type (
	junitCounts struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"` // 0: what could not be measured has no verdict
		Skipped  int     `xml:"skipped,attr"`
		Time     float64 `xml:"time,attr,omitempty"` // of the simulation, in seconds; 0: not known
	}
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns verdicts as a JUnit XML report: a test suite for each experiment that has any, and
// a test case for each verdict. A verdict that disagrees or is inconclusive is a failure, and so is
// one whose control does not disagree. One that is out of scope is skipped, unless all are. Its
// error is one of encoding.
func JUnit(experiments []*sweeps.Experiment) ([]byte, error) {
	decided := 0
	for _, e := range experiments {
		s := judge.Summarize(e.Verdicts)
		decided += s.Agree + s.Disagree
	}
	var all junitSuites
	milliseconds := func(seconds float64) float64 { return math.Round(1e3*seconds) / 1e3 }
	for _, e := range experiments {
		if len(e.Verdicts) == 0 {
			continue
		}
		suite := junitSuite{Name: e.Verdicts[0].Experiment}
		if run := e.Plan.Run; run != nil {
			suite.Time = milliseconds(run.WallSeconds)
		}
		for i := range e.Verdicts {
			suite.add(&e.Verdicts[i], decided == 0)
		}
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Skipped += suite.Skipped
		all.Time = milliseconds(all.Time + suite.Time)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}

// add adds the test case of a verdict. Nothing is decided where no verdict agrees or disagrees.
func (s *junitSuite) add(v *judge.Verdict, nothing bool) {
	c := junitCase{Class: v.Experiment + "." + v.Claim, Name: v.Quantity}
	if v.Label != "" {
		c.Name += ", " + v.Label
	}
	cells := v.Cells()
	measured := "measured " + cells[4] + ", predicted " + cells[5] + " " + cells[6]
	ruling := &junitMessage{string(v.Verdict) + ": " + v.Because, measured}
	s.Tests++
	switch {
	case v.Verdict == judge.Disagree, v.Verdict == judge.Inconclusive, nothing:
		c.Failure = ruling
		s.Failures++
	case v.Missed():
		c.Failure = &junitMessage{"the control does not disagree, so that the check could not have failed: " + v.Control.Fault, measured}
		s.Failures++
	case v.Verdict != judge.Agree:
		c.Skipped = ruling
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}
