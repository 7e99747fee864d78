//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/fp"
)

// exponentials takes many exponentials, to the bits of fp.Exp, in three phases. The second looks up
// table entries, number by number: while one is stored, none waits for it to be loaded.
type exponentials struct {
	list    []exponent
	w       int // elements of a vector
	c       expConstants
	steps   []uint64 // by number: multiples of ln 2/32; then the bits of powers of 2
	tails   []uint64 // of the powers, by number
	table   [32][2]uint64
	distant words        // bits of numbers below −512
	far     []farNumbers // vectors that have one
	space   [8]uint64
	scalars [8]float64
}

// exponent is a vector of numbers, replaced by their exponentials, with the rest of the reduction.
type exponent struct{ x, rest simd.Float64s }

// farNumbers are the numbers of a vector, by its index.
type farNumbers struct {
	at int
	x  floats
}

type expConstants struct {
	perUnit, round, high, low, least floats
	i2, i3, i4, i5, i6, i7           floats
}

// reduce returns x·32/ln 2 rounded, whose low bits choose a table entry, and what is left of x.
func (c *expConstants) reduce(x floats) (steps words, rest floats) {
	shifted := x.Mul(c.perUnit).Add(c.round)
	k := shifted.Sub(c.round)
	return shifted.ToBits(), x.Sub(k.Mul(c.high)).Sub(k.Mul(c.low))
}

// finish returns power·(1 + tail)·exp(r).
func (c *expConstants) finish(power, tail, r floats) floats {
	square := r.Mul(r)
	fourth := c.i4.Add(r.Mul(c.i5)).Add(square.Mul(c.i6.Add(r.Mul(c.i7))))
	series := tail.Add(r).Add(square.Mul(c.i2.Add(r.Mul(c.i3)))).Add(square.Mul(square).Mul(fourth))
	return power.Add(power.Mul(series))
}

// newExponentials has room for a number of vectors.
func newExponentials(vectors int) *exponentials {
	w := width()
	e := &exponentials{list: make([]exponent, vectors), w: w, table: fp.ExpTable()}
	e.steps, e.tails = make([]uint64, vectors*w), make([]uint64, vectors*w)
	perUnit, round, high, low := fp.ExpReduction()
	e.c = expConstants{
		perUnit: floatsOf(perUnit), round: floatsOf(round), high: floatsOf(high), low: floatsOf(low), least: floatsOf(-fp.ExpNear),
		i2: floatsOf(1. / 2), i3: floatsOf(1. / 6), i4: floatsOf(1. / 24),
		i5: floatsOf(1. / 120), i6: floatsOf(1. / 720), i7: floatsOf(1. / 5040),
	}
	return e
}

// replace replaces the first n vectors of e.list by their exponentials. They are below 512, or NaN.
func (e *exponentials) replace(n int) {
	e.reduce(n)
	e.lookUp(n * e.w)
	e.far = e.far[:0]
	if any(e.distant, &e.space) {
		e.findFar(n)
	}
	e.finish(n)
	for i := range e.far {
		f := &e.far[i]
		e.list[f.at].x = e.mended(f.x, e.list[f.at].x)
	}
}

func (e *exponentials) reduce(n int) {
	c, list, steps, w := &e.c, e.list[:n], e.steps, e.w
	distant := words{}
	for i := range list {
		d := list[i].x
		distant = distant.Or(below(d, c.least))
		shifted, rest := c.reduce(d)
		shifted.Store(steps[i*w:])
		list[i].rest = rest
	}
	e.distant = distant
}

func (e *exponentials) lookUp(n int) {
	steps, tails, table := e.steps[:n], e.tails[:n], &e.table
	for i, s := range steps {
		entry := &table[s&31]
		steps[i], tails[i] = entry[0]+s<<47, entry[1]
	}
}

func (e *exponentials) finish(n int) {
	c, list, steps, tails, w := &e.c, e.list[:n], e.steps, e.tails, e.w
	for i := range list {
		power, tail := load(steps[i*w:]).BitsToFloat64(), load(tails[i*w:]).BitsToFloat64()
		list[i].x = c.finish(power, tail, list[i].rest)
	}
}

// reduceBelow is reduce of logits less the largest, from number at on. It returns where they are far.
func (e *exponentials) reduceBelow(now []policy, most floats, at int) (distant words) {
	c, list, steps, w := &e.c, e.list[at:][:len(now)], e.steps[at*e.w:], e.w
	for a := range now {
		d := now[a].logit.Sub(most)
		distant = distant.Or(below(d, c.least))
		shifted, rest := c.reduce(d)
		shifted.Store(steps[a*w:])
		list[a].rest = rest
	}
	return distant
}

// finishBelow sets probabilities to the exponentials of reduceBelow, and returns their sum.
func (e *exponentials) finishBelow(now []policy, at int) (sum floats) {
	c, list, steps, tails, w := &e.c, e.list[at:][:len(now)], e.steps[at*e.w:], e.tails[at*e.w:], e.w
	for a := range now {
		power, tail := load(steps[a*w:]).BitsToFloat64(), load(tails[a*w:]).BitsToFloat64()
		x := c.finish(power, tail, list[a].rest)
		now[a].prob = x
		sum = sum.Add(x)
	}
	return sum
}

func (e *exponentials) findFar(n int) {
	for i := 0; i < n; i++ {
		if any(below(e.list[i].x, e.c.least), &e.space) {
			e.far = append(e.far, farNumbers{i, e.list[i].x})
		}
	}
}

// mended returns exponentials y of x, with those of far numbers taken again.
func (e *exponentials) mended(x, y floats) floats {
	s := e.scalars[:]
	x.Store(s)
	exponentialsOf(s[:e.w])
	return where(x, e.c.least, loadFloats(s), y)
}
