package config

import (
	"math"
	"strconv"
)

// Limits that keep a mistyped file from filling the memory; no experiment
// comes near them.
const (
	maxArms     = 4096    // the theory's matrices are maxArms²
	maxInteger  = 1 << 53 // above it JSON readers round
	maxCells    = 1_000_000
	maxGroup    = 1 << 31 // the largest group the samplers draw; `inf` is beyond
	maxReplicas = 10_000_000
	maxDelay    = 1_000_000
	maxSamples  = 1_000_000
)

// Range is an interval of numbers; an open end is itself outside.
type Range struct {
	Low, High         float64
	LowOpen, HighOpen bool
}

var (
	anyNumber   = Range{Low: math.Inf(-1), High: math.Inf(1)}
	positive    = Range{Low: 0, High: math.Inf(1), LowOpen: true}
	nonNegative = Range{Low: 0, High: math.Inf(1)}
	unit        = Range{Low: 0, High: 1}
	openUnit    = Range{Low: 0, High: 1, LowOpen: true, HighOpen: true}
	belowOne    = Range{Low: 0, High: 1, HighOpen: true}
)

func between(low, high int) Range { return Range{Low: float64(low), High: float64(high)} }

func atLeast(low int) Range { return Range{Low: float64(low), High: math.Inf(1)} }

// Contains says whether x lies in the range.
func (r Range) Contains(x float64) bool {
	return (x > r.Low || x == r.Low && !r.LowOpen) && (x < r.High || x == r.High && !r.HighOpen)
}

// String gives the range as a condition, "" where it is none.
func (r Range) String() string {
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
	return "in " + open + plainNumber(r.Low) + ", " + plainNumber(r.High) + closed
}

// plainNumber writes a bound without an exponent.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

func schemaRange(kind string, r Range) object {
	s := object{"type": kind}
	if !math.IsInf(r.Low, 0) {
		name := "minimum"
		if r.LowOpen {
			name = "exclusiveMinimum"
		}
		s[name] = r.Low
	}
	if !math.IsInf(r.High, 0) {
		name := "maximum"
		if r.HighOpen {
			name = "exclusiveMaximum"
		}
		s[name] = r.High
	}
	return s
}

func schemaInteger(r Range) object {
	r.High = min(r.High, maxInteger)
	r.Low = max(r.Low, -maxInteger)
	return schemaRange("integer", r)
}
