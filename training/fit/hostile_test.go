package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rewards in another unit are the same run: times, regime and evidence stay, rewards and
// their intervals change with the unit. Powers of two change no digit.
func TestAnyUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 47))
	c := curve(rng, 60, 0.3, grown(Exponential, []float64{15}))
	r, s := Fit(c), NoiseDeviation(c)
	p := r.Predict(c, []float64{100})
	for _, exponent := range []int{-200, -30, 30, 200} {
		unit := math.Ldexp(1, exponent)
		other := Curve{c.Time, times(c.Reward, unit, 1)}
		q := Fit(other)
		if q.Regime != r.Regime || q.Direction != Rises || q.Best != r.Best || q.Evidence != r.Evidence {
			t.Errorf("in units of 2^%d: %+v, want %+v", exponent, q, r)
		}
		want := r.Model(r.Best).Parameters()
		for i, got := range q.Model(q.Best).Parameters() {
			p := want[i]
			if got.Is == OfReward {
				p.Value, p.Lo, p.Hi = unit*p.Value, unit*p.Lo, unit*p.Hi
			}
			if got != p {
				t.Errorf("in units of 2^%d: %+v, want %+v", exponent, got, p)
			}
		}
		f := q.Predict(other, []float64{100})
		if f.Mean != unit*p.Mean || f.Lo[0] != unit*p.Lo[0] || f.Hi[0] != unit*p.Hi[0] {
			t.Errorf("in units of 2^%d the forecast is %v, want %v", exponent, f, p)
		}
		if got := NoiseDeviation(other); got != unit*s {
			t.Errorf("in units of 2^%d the noise is %g, want %g", exponent, got, unit*s)
		}
	}
}

// A reward that falls is never said to grow. One that does not change, or by less than its digits
// hold, is flat. One that rises is found wherever its steps begin and jump to.
func TestRegimesOfHostileCurves(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 48))
	rise := curve(rng, 60, 0.03, func(t float64) float64 { return -math.Expm1(-t / 12) })
	with := func(c Curve, change func(c *Curve)) Curve {
		c = Curve{append([]float64(nil), c.Time...), append([]float64(nil), c.Reward...)}
		change(&c)
		return c
	}
	of := func(reward func(i int) float64) Curve {
		return curve(rng, 60, 0, func(t float64) float64 { return reward(int(t) - 1) })
	}
	inTurn := func(x ...float64) Curve { return of(func(i int) float64 { return x[i%2] }) }
	moved := func(by float64) Curve {
		return with(rise, func(c *Curve) {
			for i := range c.Time {
				c.Time[i] += by
			}
		})
	}
	type regimes []Regime
	grows, flat := regimes{Monotone, Overdamped}, regimes{Flat}
	for name, q := range map[string]struct {
		c         Curve
		regimes   regimes
		direction Direction
	}{
		"rises":          {rise, grows, Rises},
		"falls":          {Curve{rise.Time, times(rise.Reward, -1, 1)}, grows, Falls},
		"falls at once":  {of(func(i int) float64 { return 0.024 * float64(max(0, 1-i)) }), grows, Falls},
		"begins late":    {moved(5000), grows, Rises},
		"begins at 2^53": {moved(1<<53 - 100), grows, Rises},
		"rate is soon 0": {with(rise, func(c *Curve) {
			for i := range c.Time {
				c.Time[i] = float64(min(i, 25)) + 1 + 1e-9*float64(max(0, i-25))
				c.Reward[i] = -math.Expm1(-c.Time[i]/8) + 0.02*rng.NormFloat64()
			}
		}), grows, Rises},
		"last step is 2^53":   {with(rise, func(c *Curve) { c.Time[59] = 1 << 53 }), grows, Rises},
		"zeros":               {of(func(int) float64 { return 0 }), flat, NoDirection},
		"equal":               {of(func(int) float64 { return 0.3 }), flat, NoDirection},
		"equal and subnormal": {of(func(int) float64 { return 5e-324 }), flat, NoDirection},
		"equal but rounding":  {of(func(i int) float64 { return 0.3 + 6e-17*float64(i/30) }), flat, NoDirection},
		"huge and tiny":       {inTurn(1e300, 1e-300), regimes{Flat, Underdamped}, NoDirection},
		"of both signs":       {inTurn(1e308, -1e308), regimes{Flat, Underdamped}, NoDirection},
	} {
		r := Fit(q.c)
		if !slices.Contains(q.regimes, r.Regime) || r.Direction != q.direction {
			t.Errorf("%s: %s, %s, want one of %v, %s", name, r.Regime, r.Direction, q.regimes, q.direction)
		}
		for i := range r.Models {
			if m := &r.Models[i]; math.IsNaN(m.BIC) || math.IsInf(m.BIC, 0) {
				t.Errorf("%s: BIC of %s is %g", name, m.Name, m.BIC)
			}
		}
		for _, p := range r.Model(r.Best).Parameters() {
			if !(p.Lo <= p.Value && p.Value <= p.Hi) { // so none is NaN
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}
