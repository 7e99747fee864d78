//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/fp"
)

// exponentials takes exponentials, to the bits of fp.Exp.
type exponentials struct {
	list    []policy // logits are arguments, probabilities results
	c       expConstants
	space   [8]uint64
	scalars [8]float64
}

type expConstants struct {
	perLn2, round, high, low, least, one        floats
	p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10 floats
}

// newExponentials has room for a number of vectors.
func newExponentials(vectors int) *exponentials {
	e := &exponentials{list: make([]policy, vectors)}
	perLn2, round, high, low := fp.ExpReduction()
	p := fp.ExpCoefficients()
	e.c = expConstants{
		perLn2: floatsOf(perLn2), round: floatsOf(round), high: floatsOf(high), low: floatsOf(low),
		least: floatsOf(-fp.ExpNear), one: floatsOf(1),
		p0: floatsOf(p[0]), p1: floatsOf(p[1]), p2: floatsOf(p[2]), p3: floatsOf(p[3]),
		p4: floatsOf(p[4]), p5: floatsOf(p[5]), p6: floatsOf(p[6]), p7: floatsOf(p[7]),
		p8: floatsOf(p[8]), p9: floatsOf(p[9]), p10: floatsOf(p[10]),
	}
	return e
}

// below sets probabilities to the exponentials of logits less the largest, and returns their sum.
// Distant is all ones where a difference is below −512. Such exponentials are to be taken by far.
func (c *expConstants) below(list []policy, most simd.Float64s) (sum simd.Float64s, distant simd.Uint64s) {
	for a := range list {
		x := list[a].logit.Sub(most)
		distant = distant.Or(below(x, c.least))
		shifted := x.Mul(c.perLn2).Add(c.round)
		n := shifted.Sub(c.round)
		r := x.Sub(n.Mul(c.high)).Sub(n.Mul(c.low))
		s := r.Mul(r)
		even := c.p8.Add(s.Mul(c.p10))
		odd := c.p7.Add(s.Mul(c.p9))
		even = c.p6.Add(s.Mul(even))
		odd = c.p5.Add(s.Mul(odd))
		even = c.p4.Add(s.Mul(even))
		odd = c.p3.Add(s.Mul(odd))
		even = c.p2.Add(s.Mul(even))
		odd = c.p1.Add(s.Mul(odd))
		even = c.p0.Add(s.Mul(even))
		y := c.one.Add(r.Add(s.Mul(even.Add(r.Mul(odd)))))
		y = y.ToBits().Add(shifted.ToBits().ShiftAllLeft(52)).BitsToFloat64()
		list[a].prob = y
		sum = sum.Add(y)
	}
	return sum, distant
}

// far takes the exponentials of below anew, one by one.
func (e *exponentials) far(list []policy, most simd.Float64s) (sum simd.Float64s) {
	s := e.scalars[:]
	for a := range list {
		list[a].logit.Sub(most).Store(s)
		exponentialsOf(s[:most.Len()])
		list[a].prob = loadFloats(s)
		sum = sum.Add(list[a].prob)
	}
	return sum
}

// replace sets the first n results of e.list. The arguments are below 512, or NaN.
func (e *exponentials) replace(n int) {
	zero := floats{}
	if _, distant := e.c.below(e.list[:n], zero); any(distant, &e.space) {
		e.far(e.list[:n], zero)
	}
}
