package config

import (
	"math"
	"strconv"
	"strings"
)

// Limits that prevent a mistyped file from exhausting the memory; experiments stay far below them.
const (
	maxArms    = 4096    // the theory's matrices have arms² entries
	maxInteger = 1 << 53 // JSON readers round larger integers
	maxCells   = 1_000_000
	maxPrompts = 4096 // the theory has a fixed point for each
)

// Range is an interval of numbers.
type Range struct {
	Low, High         float64  // ends; ∓Inf: unbounded
	LowOpen, HighOpen bool     // whether the end itself lies outside
	not               *float64 // a number that lies outside; nil: none
}

var (
	anyNumber   = Range{Low: math.Inf(-1), High: math.Inf(1)}
	positive    = Range{Low: 0, High: math.Inf(1), LowOpen: true}
	nonNegative = Range{Low: 0, High: math.Inf(1)}
	unit        = Range{Low: 0, High: 1}
	openUnit    = Range{Low: 0, High: 1, LowOpen: true, HighOpen: true}
)

// except is the range without a number.
func (r Range) except(x float64) Range {
	r.not = &x
	return r
}

// Contains reports whether x lies in the range.
func (r Range) Contains(x float64) bool {
	return (x > r.Low || x == r.Low && !r.LowOpen) && (x < r.High || x == r.High && !r.HighOpen) &&
		(r.not == nil || x != *r.not)
}

// String writes the range as a condition, such as ≥ 0 or in (0, 1); "" for all numbers.
func (r Range) String() string {
	if not := r.not; not != nil {
		r.not = nil
		return strings.TrimSpace(r.String() + " other than " + Format(*not))
	}
	switch low, high := math.IsInf(r.Low, -1), math.IsInf(r.High, 1); {
	case low && high:
		return ""
	case high && r.LowOpen:
		return "> " + Format(r.Low)
	case high:
		return "≥ " + Format(r.Low)
	}
	open, closed := "[", "]"
	if r.LowOpen {
		open = "("
	}
	if r.HighOpen {
		closed = ")"
	}
	return "in " + open + endOf(r.Low) + ", " + endOf(r.High) + closed
}

// endOf writes an end of a range, with an exponent where it would have many digits.
func endOf(x float64) string {
	if math.Abs(x) > maxInteger {
		return Format(x)
	}
	return plainNumber(x)
}

// plainNumber writes a number without an exponent.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Round rounds a number to 12 significant digits, and −0 to 0. It is applied to values of axes,
// which conditions must match, and to results of the theory's linear algebra, which must be equal
// on every machine. A number that would round to infinity is returned unchanged.
func Round(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64)
	if err != nil {
		return x
	}
	return rounded + 0
}

// RoundAll returns a new list with every number rounded; nil for nil.
func RoundAll(x []float64) []float64 { return Each(x, Round) }
