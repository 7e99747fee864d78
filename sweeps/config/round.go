package config

import "strconv"

// Round rounds a number to 12 significant digits, and −0 to 0: values of axes, which
// a condition must be able to name, and numbers that went through the theory's linear
// algebra, which have to be the same on every machine. A number that would round to
// infinity stays as it is.
func Round(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64)
	if err != nil {
		return x
	}
	return rounded + 0
}

// RoundAll rounds a list of numbers into a new one, nil where it is.
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
