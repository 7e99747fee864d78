//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"math/bits"
	"simd/archsimd"

	"grposim/fp"
)

// Counts draws eight groups at once, one from each stream: the number of samples of each
// arm, and how many of them have reward 1. They are those that a BinomialLaw (two arms) or
// a Multinomial (more) and BinomialTables draw from the same stream and policy. Counts
// needs AVX-512.
type Counts struct {
	Arms      []Vector         // samples of each arm
	Successes []Vector         // of these, with reward 1
	Means     [][Width]float64 // mean rewards, which the caller may change; unused with tables
	*Streams

	size    int
	tables  []*BinomialTable // nil: not tabulated
	nodes   []Vector         // samples of each node of a Multinomial; the last ones are Arms
	weights [][Width]float64 // as in Multinomial
	first   [][Width]float64 // as in Multinomial
	law     *lawVectors
}

// lawVectors holds vectors of Counts, apart from pointers, see Streams.
type lawVectors struct {
	p, mode, k, v [Width]float64    // probabilities up to ½, modes, proposals, uniform numbers
	ratio         [1][Width]float64 // P(k)/P(mode)
	n, drawn      Vector            // trials, results
}

// NewCounts returns Counts of groups of the given size for arms with the given mean
// rewards; without means it draws no rewards. tables, if not nil, draw the rewards of each
// arm. It panics if size is not in [0, 2³¹].
func NewCounts(streams *Streams, size, arms int, means []float64, tables []*BinomialTable) *Counts {
	if uint(size) > maxTrials {
		panic("draw: NewCounts: size must be in [0, 2³¹]")
	}
	c := &Counts{
		Streams:   streams,
		Successes: make([]Vector, arms),
		Means:     make([][Width]float64, len(means)),
		size:      size,
		tables:    tables,
		nodes:     make([]Vector, 2*arms),
		weights:   make([][Width]float64, 2*arms),
		first:     make([][Width]float64, arms),
		law:       new(lawVectors),
	}
	c.Arms = c.nodes[arms:]
	for a, mean := range means {
		fp.Broadcast(mean).Store(&c.Means[a])
	}
	return c
}

// Aim sets the policies of the following draws: weights[a][i] is the probability of arm
// a for stream i.
func (c *Counts) Aim(weights [][Width]float64) {
	arms := len(weights)
	if arms == 2 {
		archsimd.LoadFloat64x8(&weights[0]).Store(&c.first[1])
		return
	}
	for a := range weights {
		archsimd.LoadFloat64x8(&weights[a]).Store(&c.weights[arms+a])
	}
	zero := fp.Broadcast(0)
	for i := arms - 1; i > 0; i-- {
		first := archsimd.LoadFloat64x8(&c.weights[2*i])
		weight := first.Add(archsimd.LoadFloat64x8(&c.weights[2*i+1]))
		weight.Store(&c.weights[i])
		first.Div(weight).Masked(weight.Greater(zero)).Store(&c.first[i])
	}
}

// Draw draws a group from each stream.
func (c *Counts) Draw() {
	fp.Integers(uint64(c.size)).Store(&c.nodes[1])
	for i := 1; i < len(c.first); i++ {
		n := archsimd.LoadUint64x8(&c.nodes[i])
		k := c.binomial(n, archsimd.LoadFloat64x8(&c.first[i]))
		k.Store(&c.nodes[2*i])
		n.Sub(k).Store(&c.nodes[2*i+1])
	}
	for a := range c.Means {
		if c.tables == nil {
			c.binomial(archsimd.LoadUint64x8(&c.Arms[a]), archsimd.LoadFloat64x8(&c.Means[a])).Store(&c.Successes[a])
		} else {
			c.tabulated(c.tables[a], &c.Arms[a], &c.Successes[a])
		}
	}
}

// tabulated sets successes to what the table draws for each of the trials.
func (c *Counts) tabulated(t *BinomialTable, trials, successes *Vector) {
	c.skip(4)
	fp.Integers(0).Store(successes)
	s0, s1, s2, s3 := c.load()
	for position := range t.parts {
		var word vector
		var words Vector
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		word.Store(&words)
		part := &t.parts[position]
		for i := range words { // without a copy of them, which instructions of SSE make
			successes[i] += uint64(part[trials[i]>>(position*digitBits)%digits].at(words[i]))
		}
	}
	c.store(s0, s1, s2, s3)
	c.count(fp.Integers(uint64(len(t.parts))))
}

// binomial returns what BinomialLaw.Draw draws for each number n of trials with
// probability p in [0, 1].
func (c *Counts) binomial(n vector, p reals) vector {
	half := fp.Broadcast(0.5)
	few := n.LessEqual(fp.Integers(MaxLanes))
	k := fp.Integers(0)
	if few.ToBits() != 0 {
		k = c.lanes(n.Masked(few), p)
	}
	if few.ToBits() == 0xff {
		return k
	}
	mirrored := p.Greater(half)
	p = fp.Broadcast(1).Sub(p).Merge(p, mirrored)
	mean := n.ConvertToFloat64().Mul(p)
	large := mean.GreaterEqual(fp.Broadcast(rejectionMean)).ToBits() &^ few.ToBits()
	small := p.Greater(fp.Broadcast(0)).ToBits() &^ few.ToBits() &^ large
	law := c.law
	p.Store(&law.p)
	law.drawn = Vector{}
	if large != 0 {
		c.reject(n, p, mean, large)
	}
	if small != 0 {
		c.invert(n, small)
	}
	drawn := archsimd.LoadUint64x8(&law.drawn)
	drawn = n.Sub(drawn).Merge(drawn, mirrored)
	return k.Merge(drawn, few)
}

// lanes is BinomialLaw.Draw for at most MaxLanes trials.
func (c *Counts) lanes(n vector, p reals) vector {
	zero := fp.Integers(0)
	bound := probabilityVector(p)
	sure := bound.GreaterEqual(fp.Integers(uint64(certain)))
	taking := ones(n.NotEqual(zero)).AndNot(ones(sure))
	wide := ones(n.Greater(fp.Integers(narrow))).And(taking)
	all := taking.ShiftRight(fp.Integers(MaxLanes).Sub(n))
	anyWide := wide.NotEqual(zero).ToBits() != 0
	if anyWide {
		c.skipWhere(firstBits, wide.NotEqual(zero))
	}

	s0, s1, s2, s3 := c.load()
	a, t0, t1, t2, t3 := next(s0, s1, s2, s3)
	b, t0, t1, t2, t3 := next(t0, t1, t2, t3)
	s0, s1, s2, s3 = choose(taking, t0, s0), choose(taking, t1, s1), choose(taking, t2, s2), choose(taking, t3, s3)
	taken := fp.Integers(2).And(taking)
	rest := bound.Add(bound)
	below, undecided := compareVectors(zero, all, a, topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, b, topBits(rest))
	rest = rest.Add(rest)
	for bit := 2; bit < firstBits; bit += 2 {
		a, b = a.ShiftRight(fp.Integers(narrow)), b.ShiftRight(fp.Integers(narrow))
		if anyWide {
			var word vector
			word, t0, t1, t2, t3 = next(t0, t1, t2, t3)
			a = choose(wide, word, a)
			word, t0, t1, t2, t3 = next(t0, t1, t2, t3)
			b = choose(wide, word, b)
		}
		below, undecided = compareVectors(below, undecided, a, topBits(rest))
		rest = rest.Add(rest)
		below, undecided = compareVectors(below, undecided, b, topBits(rest))
		rest = rest.Add(rest)
	}
	if anyWide {
		s0, s1, s2, s3 = choose(wide, t0, s0), choose(wide, t1, s1), choose(wide, t2, s2), choose(wide, t3, s3)
		taken = taken.Add(fp.Integers(firstBits - 2).And(wide))
	}
	for {
		undecided = undecided.And(ones(rest.NotEqual(zero)))
		some := undecided.NotEqual(zero)
		if some.ToBits() == 0 {
			break
		}
		open := ones(some)
		word, t0, t1, t2, t3 := next(s0, s1, s2, s3)
		s0, s1, s2, s3 = choose(open, t0, s0), choose(open, t1, s1), choose(open, t2, s2), choose(open, t3, s3)
		taken = taken.Sub(open)
		below, undecided = compareVectors(below, undecided, word, topBits(rest))
		rest = rest.Add(rest)
	}
	c.store(s0, s1, s2, s3)
	c.count(taken)
	return n.Merge(OnesCount(below), sure)
}

// reject is BinomialLaw.reject for the elements in where.
func (c *Counts) reject(n vector, p, mean reals, where uint8) {
	law := c.law
	half, one := fp.Broadcast(0.5), fp.Broadcast(1)
	sd := mean.Mul(one.Sub(p)).Sqrt() // transform.set
	b := fp.Broadcast(1.15).Add(fp.Broadcast(2.53).Mul(sd))
	a := fp.Broadcast(-0.0873).Add(fp.Broadcast(0.0248).Mul(b)).Add(fp.Broadcast(0.01).Mul(p))
	centre := mean.Add(half)
	squeeze := fp.Broadcast(0.92).Sub(fp.Broadcast(4.2).Div(b))
	twice := a.Add(a)
	alpha := fp.Broadcast(2.83).Add(fp.Broadcast(5.1).Div(b)).Mul(sd)
	drawn := fp.Integers(0)
	for where != 0 {
		open := archsimd.Mask64x8FromBits(where)
		u := units(c.NextWhere(open)).Sub(half)
		v := units(c.NextWhere(open))
		d := half.Sub(u.Max(fp.Broadcast(0).Sub(u)))
		k := twice.Div(d).Add(b).Mul(u).Add(centre).FloorScaled(0)
		accepted := where & d.GreaterEqual(fp.Broadcast(squeezeFrom)).And(v.LessEqual(squeeze)).ToBits()
		if slow := where &^ accepted; slow != 0 {
			square := d.Mul(d) // transform.threshold
			height := v.Mul(alpha.Mul(square).Div(a.Add(b.Mul(square))))
			accepted |= c.accepts(n, p, k, height, slow)
		}
		drawn = k.ConvertToUint64().Merge(drawn, archsimd.Mask64x8FromBits(accepted))
		where &^= accepted
	}
	drawn.Store(&law.drawn)
}

// accepts returns the elements in where that transform.accepts accepts.
func (c *Counts) accepts(n vector, p, k, height reals, where uint8) (accepted uint8) {
	law := c.law
	zero, one, half := fp.Broadcast(0), fp.Broadcast(1), fp.Broadcast(0.5)
	trials := n.ConvertToFloat64()
	where &= k.GreaterEqual(zero).And(k.LessEqual(trials)).ToBits()

	mode := trials.Add(one).Mul(p).FloorScaled(0) // ratioBounds
	x, m, l := k.Sub(mode), mode.Add(half), trials.Sub(mode).Add(half)
	u, v := x.Div(m), zero.Sub(x).Div(l)
	near := u.Max(zero.Sub(u)).LessEqual(half).And(v.Max(zero.Sub(v)).LessEqual(half)).ToBits()
	pl, qm := p.Mul(l), one.Sub(p).Mul(m)
	z := pl.Sub(qm).Div(pl.Add(qm))
	square := z.Mul(z)
	slope := fp.Broadcast(1. / 3).Add(square.Mul(fp.Broadcast(1. / 5)))
	slope = z.Add(z).Mul(one.Add(square.Mul(slope)))
	atU, beyondU := entropyVectors(u)
	atV, beyondV := entropyVectors(v)
	after, rest := k.Add(half), trials.Sub(k).Add(half)
	last := u.Mul(rest).Add(v.Mul(after)).Div(fp.Broadcast(24).Mul(after).Mul(rest))
	x.Mul(slope).Sub(m.Mul(atU)).Sub(l.Mul(atV)).Sub(last).Store(&law.ratio[0])
	tolerance := fp.Broadcast(1e-12).Add(fp.Broadcast(1e-15).Mul(x.Max(zero.Sub(x))))
	tolerance = tolerance.Add(fp.Broadcast(0.04).Div(m.Mul(m).Mul(m))).Add(m.Mul(beyondU)).Add(l.Mul(beyondV))
	ratio := fp.ExpBelowLanes(law.ratio[:], law.ratio[:], zero)

	low, high := ratio.Mul(one.Sub(tolerance)), ratio.Mul(one.Add(tolerance.Add(tolerance)))
	accepted = where & near & height.LessEqual(low).ToBits()
	if where &^= near&height.Greater(high).ToBits() | accepted; where != 0 {
		n.Store(&law.n)
		k.Store(&law.k)
		mode.Store(&law.mode)
		height.Store(&law.v)
		archsimd.ClearAVXUpperBits() // see fp.Integers
		for ; where != 0; where &= where - 1 {
			i := bits.TrailingZeros8(where)
			if belowRatio(int(law.n[i]), law.p[i], law.k[i], law.mode[i], law.v[i]) {
				accepted |= 1 << i
			}
		}
	}
	return accepted
}

// entropyVectors is entropySeries for every element.
func entropyVectors(u reals) (sum, rest reals) {
	s := u.Mul(u)
	even, odd := fp.Broadcast(1./132), fp.Broadcast(1./110)
	even = fp.Broadcast(1. / 90).Add(s.Mul(even))
	odd = fp.Broadcast(1. / 72).Add(s.Mul(odd))
	even = fp.Broadcast(1. / 56).Add(s.Mul(even))
	odd = fp.Broadcast(1. / 42).Add(s.Mul(odd))
	even = fp.Broadcast(1. / 30).Add(s.Mul(even))
	odd = fp.Broadcast(1. / 20).Add(s.Mul(odd))
	even = fp.Broadcast(1. / 12).Add(s.Mul(even))
	odd = fp.Broadcast(1. / 6).Add(s.Mul(odd))
	even = fp.Broadcast(1. / 2).Add(s.Mul(even))
	sixth := s.Mul(s).Mul(s)
	return s.Mul(even.Sub(u.Mul(odd))), sixth.Mul(sixth).Mul(fp.Broadcast(1. / 156))
}

// invert sets the elements of c.law.drawn in where to what invert draws.
func (c *Counts) invert(n vector, where uint8) {
	law := c.law
	units(c.NextWhere(archsimd.Mask64x8FromBits(where))).Store(&law.v)
	n.Store(&law.n)
	for ; where != 0; where &= where - 1 {
		i := bits.TrailingZeros8(where)
		law.drawn[i] = uint64(quantile(law.v[i], int(law.n[i]), law.p[i]))
	}
}

// units is Unit for every element.
func units(words vector) reals {
	return words.ShiftRight(fp.Integers(12)).ConvertToFloat64().Add(fp.Broadcast(0.5)).Mul(fp.Broadcast(0x1p-52))
}
