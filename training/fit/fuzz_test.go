package fit

import (
	"math"
	"testing"
)

// fuzzed makes a curve of rows, whose rewards are bytes times a power of ten from −310 to 300
// after a shift of at most as much; where gap > 0 one row comes so many steps later.
func fuzzed(rows []byte, scale, shift int16, gap uint64) (Curve, bool) {
	if len(rows) < MinRows || len(rows) > 60 || scale < -310 || scale > 300 || shift < -310 || shift > 300 {
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

// Any finite curve is fitted and forecast without a panic, and no number is NaN. Of one input
// in 256 all laws are fitted and judged; of the others one law is put at one shape and
// forecast, as every curve is: a fit takes some hundred times as long.
func FuzzFit(f *testing.F) {
	f.Add([]byte("twenty and more rows of some reward"), int16(0), int16(-310), uint64(0))
	f.Add(make([]byte, 30), int16(0), int16(9), uint64(0))
	f.Add([]byte("\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff"), int16(-90), int16(-90), uint64(1))
	f.Add([]byte("\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f\x80\x7f"), int16(300), int16(-300), uint64(1)<<53-1)
	f.Add([]byte("\x01\x00\x01\x00\x01\x01\x00\x00\x01\x00\x01\x00\x01\x01\x00\x00\x01\x00\x01\x00\x01\x01\x00\x00\x00"), int16(-308), int16(-308), uint64(1)<<40)
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
		forecast := func(what string, p Forecast) {
			noNaN(what, append(append(append([]float64{NoiseDeviation(c)}, p.Mean...), p.Lo...), p.Hi...)...)
		}
		forecast("forecaster", Predict(c, later))
		sum := 0
		for _, b := range rows {
			sum += 7*sum + int(b)
		}
		if uint8(sum) > 0 || gap > 1<<16 { // the softmax law takes thousands of steps to rows beyond
			oneLaw(c, laws[len(laws)-1-int(uint(sum)%uint(len(laws)))], rows, later, noNaN)
			return
		}
		r := Fit(c)
		noNaN("result", r.Evidence, r.Independent, r.Correlation, r.Oscillation.Evidence, r.Oscillation.Amplitude, r.Oscillation.Hidden)
		for i := range r.Models {
			m := &r.Models[i]
			noNaN(string(m.Name), m.R2, m.R2Smoothed, m.BIC)
			if math.IsInf(m.BIC, 0) {
				t.Errorf("%s: BIC %g", m.Name, m.BIC)
			}
			forecast(string(m.Name), m.Forecast(later))
		}
		for _, p := range r.Model(r.Best).Parameters() {
			noNaN(string(r.Best)+" "+p.Name, p.Value, p.Lo, p.Hi)
		}
		g := Grow(c, math.Inf(1))
		for _, q := range []Averaged{g.Start(), g.Missing} {
			lo, hi := q.Interval(0.05)
			noNaN("growth", lo, hi)
		}
	})
}

// oneLaw puts a law at a shape that the rows choose, and forecasts it.
func oneLaw(c Curve, l law, rows []byte, later []float64, noNaN func(string, ...float64)) {
	unit := c.Unit()
	b := c.In(unit).average()
	p := newProblem(l, b, weights(b), c.origin())
	var shape []float64
	for k := range l.shape {
		x := float64(rows[k+1]) / 255
		shape = append(shape, math.Exp(p.lo[k]+x*(p.hi[k]-p.lo[k])))
	}
	m := Model{Name: l.name, law: l, unit: unit, problem: p, best: p.at(shape, hold{}), independent: 1}
	noNaN(string(l.name), m.best.start, m.best.plateau, m.best.sse, m.correlation())
	noNaN(string(l.name), m.Predict(c.Time)...)
	f := m.Forecast(later)
	noNaN(string(l.name), append(append(f.Mean, f.Lo...), f.Hi...)...)
}
