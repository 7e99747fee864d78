package rom

import "math"

// PaperDampingRatio is the paper's ζ.
func PaperDampingRatio(stiffness, rate, momentum float64, age int) float64 {
	pull := stiffness * rate
	lag := float64(age)
	return (1 - momentum - pull*lag) / math.Sqrt(2*pull*(1+momentum+pull*lag*lag))
}

// PaperCurve is the paper's oscillator from rest.
func PaperCurve(stiffness, rate, momentum float64, age int, start, end float64) func(t float64) float64 {
	lag, pull := float64(age), stiffness*rate
	o := Oscillator{Mass: 0.5 * (1 + momentum + pull*lag*lag), Damping: 1 - momentum - pull*lag, Spring: pull}
	return func(t float64) float64 { return end + (start-end)*o.response(t) }
}
