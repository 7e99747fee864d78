package logs

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// believe takes the values out of a column that its quantity cannot have, and says so. A share may
// be in per cent if values are above 1 and none above 100 or below 0. It is not believed unless the
// user says that it is one: values below 1 would be read a hundred times too large.
func (a *assembly) believe(c *Column, of estimator, steps []int) {
	within := c.Quantity.within()
	rounding := 1e-6 // of sums of float32
	if of == k2 || of == k3 {
		within, rounding = notBelow0, roundedKL
	}
	isKey := func(key string) bool { return strings.EqualFold(key, c.Key) }
	if within == share && slices.ContainsFunc(a.how.Percent, isKey) {
		for i := range c.Values {
			c.Values[i] /= 100
		}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range c.Values {
		if !math.IsNaN(x) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if c.Quantity == Entropy && strings.Contains(strings.ToLower(c.Key), "loss") && lo < 0 && hi <= 0 {
		for i := range c.Values {
			c.Values[i] = -c.Values[i]
		}
		lo, hi = -hi, -lo
		a.note("%s is nowhere above 0: read as a loss, the entropy with the opposite sign.", c.Key)
	}
	wrong := func(x float64) bool { return x < within.lo-rounding || x > within.hi+rounding }
	first := slices.IndexFunc(c.Values, wrong)
	switch {
	case first < 0:
		return
	case within == share && lo >= 0 && hi <= 100:
		a.note("%s: not believed, because shares are in [0, 1] and it is %v at step %d; "+
			"if it is in per cent, say --percent %s.", c.Key, c.Values[first], steps[first], c.Key)
		wrong = func(float64) bool { return true }
	default:
		n := len(c.Values) - len(slices.DeleteFunc(slices.Clone(c.Values), wrong))
		a.note("%s: %s outside of %s left out, the first %v at step %d.", c.Key, CountWords(n, "value"),
			within, c.Values[first], steps[first])
	}
	for i, x := range c.Values {
		if wrong(x) {
			c.Values[i] = math.NaN()
		}
	}
}

// roundedKL is how far below 0 an estimate that cannot be negative may be by rounding: the
// log probabilities of bfloat16 models have eight bits.
const roundedKL = 1.0 / 256

// String writes the bounds as an interval.
func (b bounds) String() string {
	if math.IsInf(b.hi, 1) {
		return fmt.Sprintf("[%v, ∞)", b.lo)
	}
	return fmt.Sprintf("[%v, %v]", b.lo, b.hi)
}
