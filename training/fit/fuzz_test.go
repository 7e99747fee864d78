package fit

import (
	"math"
	"testing"
)

// Any finite curve is fitted and forecast without a panic, and no number is NaN.
func FuzzFit(f *testing.F) {
	f.Add([]byte("twenty and more rows of some reward"), 1.0, 0.0)
	f.Add(make([]byte, 30), 1.0, 1e9)
	f.Add([]byte("\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff"), 1e-90, 1e-90)
	f.Fuzz(func(t *testing.T, rows []byte, scale, shift float64) {
		if len(rows) < MinRows || len(rows) > 60 || !(math.Abs(scale) < 1e100 && math.Abs(shift) < 1e100) || scale != 0 && math.Abs(scale) < 1e-100 {
			return
		}
		var c Curve
		for i, b := range rows {
			c.Time = append(c.Time, float64(2*i+int(b)%2))
			c.Reward = append(c.Reward, shift+scale*float64(b))
		}
		r := Fit(c)
		for i := range r.Models {
			m := &r.Models[i]
			if x := m.R2 + m.R2Smoothed + m.BIC; math.IsNaN(x) {
				t.Errorf("%s: R² %g and %g, BIC %g", m.Name, m.R2, m.R2Smoothed, m.BIC)
			}
		}
		p := Predict(c, []float64{c.end() + 1, c.end() + 1000})
		if x := p.Mean[0] + p.Mean[1] + p.Lo[0] + p.Hi[1]; math.IsNaN(x) {
			t.Errorf("forecast %v", p)
		}
	})
}
