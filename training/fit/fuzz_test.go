package fit

import (
	"math"
	"strings"
	"testing"
)

// fuzzed makes a curve of rows, whose rewards are bytes times a power of ten from −310 to 300
// after a shift. The shift is at most as much. Where gap > 0 one row comes so many steps later.
func fuzzed(rows []byte, scale, shift int16, gap uint64) (Curve, bool) {
	if len(rows) < MinRows || len(rows) > 60 || min(scale, shift) < -310 || max(scale, shift) > 300 {
		return Curve{}, false
	}
	power := func(exponent int16) float64 { // 10^exponent, subnormal ones too
		return math.Pow(10, float64(exponent)/2) * math.Pow(10, float64(exponent)/2)
	}
	var c Curve
	late := 0.0
	for i, b := range rows {
		if i == int(rows[0])%len(rows) {
			late = float64(gap % (1 << 53))
		}
		c.Time = append(c.Time, late+float64(2*i+int(b)%2))
		c.Reward = append(c.Reward, power(shift)+power(scale)*float64(int8(b)))
		if n := len(c.Time); n > 1 && !(c.Time[n-1] > c.Time[n-2]) {
			return c, false
		}
	}
	return c, true
}

// Any finite curve is fitted and forecast without a panic, and no number is NaN.
func FuzzFit(f *testing.F) {
	f.Add([]byte("twenty and more rows of some reward"), int16(0), int16(-310), uint64(0))
	f.Add(make([]byte, 30), int16(0), int16(9), uint64(0))
	times := func(pattern string, n int) []byte { return []byte(strings.Repeat(pattern, n)) }
	f.Add(times("\x00\xff", 11), int16(-90), int16(-90), uint64(1))
	f.Add(times("\x80\x7f", 11), int16(300), int16(-300), uint64(1)<<53-1)
	f.Add(times("\x01\x00\x01\x00\x01\x01\x00\x00", 3), int16(-308), int16(-308), uint64(1)<<40)
	f.Fuzz(func(t *testing.T, rows []byte, scale, shift int16, gap uint64) {
		c, ok := fuzzed(rows, scale, shift, gap)
		if !ok {
			return
		}
		noNaN := func(what string, values ...float64) {
			for i, x := range values {
				if math.IsNaN(x) {
					t.Errorf("%s: number %d of %v is NaN", what, i, values)
				}
			}
		}
		later := []float64{c.end() + 1, c.end() + 1000, math.Max(1<<53, 2*c.end())}
		r := Fit(c)
		f := r.Predict(c, later)
		noNaN("forecast", append(append([]float64{NoiseDeviation(c), f.Mean}, f.Lo...), f.Hi...)...)
		noNaN("result", r.Evidence, r.Independent, r.Correlation)
		for i := range r.Models {
			m := &r.Models[i]
			noNaN(string(m.Name), m.R2, m.R2Smoothed, m.BIC)
			if math.IsInf(m.BIC, 0) {
				t.Errorf("%s: BIC %g", m.Name, m.BIC)
			}
			noNaN(string(m.Name), m.Predict(later)...)
		}
		for _, p := range r.Model(r.Best).Parameters() {
			noNaN(string(r.Best)+" "+p.Name, p.Value, p.Lo, p.Hi)
		}
	})
}
