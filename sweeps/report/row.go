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
	Badge                                 badge
	Claim, Quantity, Cell, Label          string
	Measured, Interval, Predicted, Margin string
	// Keys to sort by, "" where there is no value; the distance is that of the
	// measured value from the predicted, in margins.
	MeasuredKey, PredictedKey, DistanceKey string
	Strip                                  *strip
	Kind, Expect, Because                  string
	Refuted                                bool // as it was expected to be
	Control                                *control
}

// control is what the check said of a theory with a planted fault. One whose
// own verdict is out of scope is no test of the check.
type control struct {
	badge
	Fault          string
	Tested, Caught bool
}

func newRow(v sweeps.Verdict) row {
	m, lo, hi := float64(v.Measured), float64(v.Lo), float64(v.Hi)
	p, margin := float64(v.Predicted), float64(v.Margin)
	r := row{
		Badge: badge{v.Verdict}, Claim: v.Claim, Quantity: v.Quantity, Cell: shortCell(v.Cell), Label: v.Label,
		Kind: string(v.PredictionKind), Expect: string(v.Expect), Because: v.Because,
		MeasuredKey: key(m), PredictedKey: key(p), DistanceKey: key((m - p) / margin),
		Strip: newStrip(m, lo, hi, p, margin), Refuted: v.Expect == config.Fails && v.Verdict == sweeps.Agree,
	}
	if r.Label == "" {
		r.Label = r.Cell
	}
	if c := v.Control; c != nil {
		r.Control = &control{badge{c.Verdict}, c.Fault, v.Verdict != sweeps.OutOfScope, c.Verdict == sweeps.Disagree}
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
	return r
}

// shortCell is the beginning of a cell's digest, or a name as it stands.
func shortCell(cell string) string {
	if len(cell) == 64 && !strings.ContainsAny(cell, "|=") {
		return cell[:12]
	}
	return cell
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func key(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// exponent is the power of ten that the numbers of a row are written with: 0
// where the largest needs none.
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

// layout is how numbers are written: times a power of ten, with the digits
// that a resolution, the half-width of an interval, makes worth reading.
type layout struct {
	exponent   int
	resolution float64
}

// digits writes x without its power of ten: to two significant digits of the
// resolution, or where there is none to six of its own.
func (l layout) digits(x float64) string {
	if !finite(x) {
		return "–"
	}
	// By decimal text, so that no power of ten overflows.
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

func (l layout) power() string {
	if l.exponent == 0 {
		return ""
	}
	superscript := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return " × 10" + superscript.Replace(strconv.Itoa(l.exponent))
}

func (l layout) value(x float64) string {
	if !finite(x) {
		return "–"
	}
	return l.digits(x) + l.power()
}

func (l layout) pair(lo, hi float64) string {
	return "[" + l.digits(lo) + ", " + l.digits(hi) + "]" + l.power()
}

// strip is the picture of a row: places along a box 160 wide whose middle is
// the predicted value.
type strip struct {
	BandLeft, BandWidth string
	Bar                 string // path of the interval
	Point               string // "" beyond the box
	Words               string
}

// newStrip scales the box so that the interval fits, between 1.5 and 6 margins
// to either side: what lies beyond is an arrow. It is nil where there is
// nothing to compare.
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
	left, right := middle-2.0*half, middle+2.0*half // of an end that is not known
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
	const first, last = middle - half, middle + half // of the box
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

func describe(lo, hi, p, margin float64) string {
	switch {
	case lo >= p-margin && hi <= p+margin:
		return "inside"
	case lo > p+margin || hi < p-margin:
		return "outside"
	}
	return "across the edge of"
}
