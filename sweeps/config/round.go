package config

import "strconv"

// Round rounds a number to 12 significant digits, and −0 to 0. It is applied to values of
// axes, which conditions must match, and to results of the theory's linear algebra,
// which must be equal on every machine. A number that would round to infinity is
// returned unchanged.
func Round(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64)
	if err != nil {
		return x
	}
	return rounded + 0
}

// RoundAll returns a new list with every number rounded; nil for nil.
func RoundAll(x []float64) []float64 {
	if x == nil {
		return nil
	}
	rounded := make([]float64, len(x))
	for i, v := range x {
		rounded[i] = Round(v)
	}
	return rounded
}
