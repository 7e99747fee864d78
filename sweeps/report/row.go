package report

import (
	"math"
	"strconv"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

// row is one verdict on the page.
type row struct {
	Badge    badge
	Claim    string
	Quantity string
	Cell     string // id, shortened
	Label    string // the parameters of the cell, or Cell if it has none

	// The numbers as the page shows them: all with the same power of ten, "–" if not
	// finite, Margin "" if there is none.
	Measured, Interval, Predicted, Margin string
	// Sort keys, "" if there is no value. The distance is (measured − predicted) /
	// margin.
	MeasuredKey, PredictedKey, DistanceKey string

	Strip   *strip // nil if there is nothing to compare
	Kind    string // of the prediction; "" where a hypothesis of the file is judged
	Expect  string // what is expected of the prediction
	Claimed string // the hypothesis, as in the file; ""
	Because string
	Refuted bool     // the prediction fails, as expected
	Control *control // nil if the check has none

	Smallest string // the smallest fault that the check would catch; ""
}

// control is the ruling of the check on a theory with a planted fault.
type control struct {
	badge
	Fault  string
	Tested bool // the verdict itself is in scope; otherwise the control does not count
	Caught bool // the check disagrees with the faulty theory
}

// refuted reports whether a prediction fails, as expected.
func refuted(v *sweeps.Verdict) bool {
	return v.Expect == config.Fails && v.Verdict == sweeps.Agree
}

// newRow formats a verdict.
func newRow(v sweeps.Verdict) row {
	m, lo, hi := float64(v.Measured), float64(v.Lo), float64(v.Hi)
	p, margin := float64(v.Predicted), float64(v.Margin)
	r := row{
		Badge: badge{v.Verdict}, Claim: v.Claim, Quantity: v.Quantity, Cell: shortCell(v.Cell), Label: v.Label,
		Kind: string(v.PredictionKind), Expect: string(v.Expect), Because: v.Because,
		MeasuredKey: key(m), PredictedKey: key(p), DistanceKey: key((m - p) / margin),
		Strip: newStrip(m, lo, hi, p, margin), Refuted: refuted(&v),
	}
	if r.Label == "" {
		r.Label = r.Cell
	}
	if c := v.Control; c != nil {
		r.Control = &control{badge{c.Verdict}, c.Fault, v.Verdict != sweeps.OutOfScope, c.Verdict == sweeps.Disagree}
	}
	if v.SmallestFault != nil {
		r.Smallest = v.SmallestFault.String()
	}
	e := exponent(m, lo, hi, p, margin)
	interval := layout{e, (hi - lo) / 2}
	r.Measured = interval.value(m)
	if finite(lo) || finite(hi) {
		r.Interval = interval.pair(lo, hi)
	} else {
		r.Interval = "–"
	}
	prediction := layout{e, margin}
	r.Predicted = prediction.value(p)
	if finite(margin) {
		r.Margin = "± " + prediction.value(margin)
	}
	if h := v.Hypothesis; h != nil {
		r.Claimed = string(h.Relation) + ": " + config.Format(h.Value)
		if h.Relation != config.Equals { // a bound has no margin
			r.Predicted, r.Margin = strings.ReplaceAll(h.String(), "-", "−"), ""
		}
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

// finite reports whether x is neither NaN nor infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// key formats a number to sort by; it is "" if x is not finite.
func key(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// exponent returns the power of ten that all numbers of a row are written with: 0 if the
// largest magnitude is in [0.01, 100000).
func exponent(values ...float64) int {
	largest := 0.0
	for _, x := range values {
		if finite(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	if largest == 0 || largest >= 1e-2 && largest < 1e5 {
		return 0
	}
	return int(math.Floor(math.Log10(largest)))
}

// layout says how numbers are written.
type layout struct {
	exponent   int     // of the power of ten, which is a factor
	resolution float64 // half-width of the interval, which determines the number of digits
}

// digits writes x without its power of ten: down to the second significant digit of the
// resolution, or with six significant digits if the resolution is 0 or not finite.
func (l layout) digits(x float64) string {
	if !finite(x) {
		return "–"
	}
	// Scaled as decimal text, because a power of ten can overflow.
	s := strconv.FormatFloat(x, 'e', -1, 64)
	mantissa, power, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(power)
	scaled, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n-l.exponent), 64)
	if finite(l.resolution) && l.resolution > 0 {
		decimals := 1 - int(math.Floor(math.Log10(l.resolution))) + l.exponent
		s = strconv.FormatFloat(scaled, 'f', min(max(decimals, 0), 9), 64)
	} else {
		s = strconv.FormatFloat(scaled, 'g', 6, 64)
	}
	return strings.ReplaceAll(s, "-", "−")
}

// power returns the factor that is the power of ten; "" if it is 1.
func (l layout) power() string {
	if l.exponent == 0 {
		return ""
	}
	superscript := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return " × 10" + superscript.Replace(strconv.Itoa(l.exponent))
}

// value writes a number.
func (l layout) value(x float64) string {
	if !finite(x) {
		return "–"
	}
	return l.digits(x) + l.power()
}

// pair writes an interval.
func (l layout) pair(lo, hi float64) string {
	return "[" + l.digits(lo) + ", " + l.digits(hi) + "]" + l.power()
}

// strip is the small picture of a row: horizontal positions in a box 160 wide whose
// middle is the predicted value.
type strip struct {
	BandLeft, BandWidth string // of predicted ± margin
	Bar                 string // SVG path of the interval
	Point               string // position of the measured value; "" if it is outside the box
	Words               string // the same in words
}

// newStrip scales the box so that the interval fits, but to at least 1.5 and at most 6
// margins on either side of the predicted value; an arrow points to an end outside. It
// returns nil if there is no prediction or no interval.
func newStrip(m, lo, hi, p, margin float64) *strip {
	const middle, half = 80, 74
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
	place := func(x float64) float64 { return middle + half*min(max((x-p)/reach, -2), 2) }
	left, right := middle-2.0*half, middle+2.0*half // if an end is not known
	if finite(lo) {
		left = place(lo)
	}
	if finite(hi) {
		right = place(hi)
	}
	s := &strip{
		BandLeft: show(place(p - margin)), BandWidth: show(2 * half * (margin / reach)),
		Words: "the interval lies " + describe(lo, hi, p, margin) + " predicted ± margin",
	}
	const first, last = middle - half, middle + half // ends of the scale
	from, to := max(left, first-5), min(right, last+5)
	if left > last {
		from = last - 6 // room for the arrow's shaft
	}
	if right < first {
		to = first + 6
	}
	s.Bar = "M" + show(from) + " 12H" + show(to)
	switch {
	case left < first:
		s.Bar += "M6 7L1 12L6 17"
	case left <= last:
		s.Bar += "M" + show(left) + " 8V16"
	}
	switch {
	case right > last:
		s.Bar += "M154 7L159 12L154 17"
	case right >= first:
		s.Bar += "M" + show(right) + " 8V16"
	}
	if at := place(m); finite(m) && at >= first && at <= last {
		s.Point = show(at)
	}
	return s
}

// describe returns where the interval is relative to predicted ± margin.
func describe(lo, hi, p, margin float64) string {
	switch {
	case lo >= p-margin && hi <= p+margin:
		return "inside"
	case lo > p+margin || hi < p-margin:
		return "outside"
	}
	return "across the edge of"
}
