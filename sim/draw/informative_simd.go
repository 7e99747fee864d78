//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"math/bits"
	"simd/archsimd"

	"grposim/fp"
)

// Informatives draws eight groups at once as Informative, one from each stream. It needs
// AVX-512.
type Informatives struct {
	*Streams
	*informativeVectors
	Means              [][Width]float64 // by arm, of the draws after Aim
	size               int
	growths            []float64        // growth at each number of samples of the rarer reward
	probs              [][Width]float64 // of the following draws
	stale              bool             // the sums are those of older policies
	rewarded, others   [][Width]float64 // as in Informative
	Samples, Successes []Vector         // of the groups drawn last, by arm
}

// informativeVectors holds vectors of Informatives, apart from pointers, see Streams.
type informativeVectors struct {
	odds, total [Width]float64   // of the rarer reward; the sum of the masses in rare
	keys        [MaxLanes]Vector // of samples, see Draw
}

// NewInformatives returns the groups of size ≥ 2 of arms with the given mean rewards, drawn
// from the given streams.
func NewInformatives(streams *Streams, size int, means []float64) *Informatives {
	arms, growths, all := len(means), make([]float64, size), make([][Width]float64, len(means))
	for a, mean := range means {
		fp.Broadcast(mean).Store(&all[a])
	}
	for s := 1; s < size; s++ {
		growths[s] = growth(size, s)
	}
	return &Informatives{
		Streams: streams, informativeVectors: new(informativeVectors), Means: all, size: size, growths: growths,
		rewarded: make([][Width]float64, arms), others: make([][Width]float64, arms),
		Samples: make([]Vector, arms), Successes: make([]Vector, arms),
	}
}

// Aim sets the policies of the following draws, by arm.
func (x *Informatives) Aim(probs [][Width]float64) { x.probs, x.stale = probs, true }

// Draw draws groups from the given streams. It returns the numbers of rewarded samples, and
// where it has drawn: where a group can have both rewards.
func (x *Informatives) Draw(where mask) (rewarded vector, drawn mask) {
	if x.stale {
		x.sum()
	}
	none, zero, last := fp.Integers(0), fp.Broadcast(0), len(x.Means)-1
	up, down := archsimd.LoadFloat64x8(&x.rewarded[last]), archsimd.LoadFloat64x8(&x.others[last])
	drawn = where.And(up.Greater(zero)).And(down.Greater(zero))
	if drawn.ToBits() == 0 {
		return none, drawn
	}
	from0, from1, from2, from3 := x.load()
	word, s0, s1, s2, s3 := next(from0, from1, from2, from3)
	size, rare := fp.Integers(uint64(x.size)), x.rare(uniforms(word), drawn.ToBits())
	rewarded = choose(ones(up.Greater(down)), size.Sub(rare), rare)
	for a := range x.Samples[:last] {
		none.Store(&x.Samples[a])
		none.Store(&x.Successes[a])
	}
	// The key of a sample is the bits of its number u ≥ 0, which have the order of such numbers. If
	// it is not rewarded it is those of −u, with the first bit set.
	one, top, n, failure := fp.Integers(1), fp.Integers(1<<63), none, zero.Sub(down)
	for left := x.size; left > 0; left -= MaxLanes {
		keys := x.keys[:min(left, MaxLanes)]
		for i := range keys {
			word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
			uniforms(word).Mul(up.Merge(failure, n.Less(rewarded))).AsUint64x8().Store(&keys[i])
			n = n.Add(one)
		}
		for a := range last { // numbers of samples of arms up to a
			success, failure := archsimd.LoadFloat64x8(&x.rewarded[a]).AsUint64x8(), archsimd.LoadFloat64x8(&x.others[a]).AsUint64x8().Or(top)
			samples, successes := archsimd.LoadUint64x8(&x.Samples[a]), archsimd.LoadUint64x8(&x.Successes[a])
			for i := range keys {
				key := archsimd.LoadUint64x8(&keys[i])
				samples = samples.Add(one).Merge(samples, key.Less(failure)) // and all successes
				successes = successes.Add(one).Merge(successes, key.Less(success))
			}
			samples.Store(&x.Samples[a])
			successes.Store(&x.Successes[a])
		}
	}
	w := ones(drawn)
	x.store(choose(w, s0, from0), choose(w, s1, from1), choose(w, s2, from2), choose(w, s3, from3))
	x.count(fp.Integers(uint64(x.size + 1)).And(w))
	size.Store(&x.Samples[last])
	rewarded.Store(&x.Successes[last])
	failuresBefore, successesBefore := rewarded, none
	for a := range x.Samples {
		failures, successes := archsimd.LoadUint64x8(&x.Samples[a]), archsimd.LoadUint64x8(&x.Successes[a])
		failures.Sub(failuresBefore).Add(successes.Sub(successesBefore)).Store(&x.Samples[a])
		successes.Sub(successesBefore).Store(&x.Successes[a])
		failuresBefore, successesBefore = failures, successes
	}
	return rewarded, drawn
}

// Chances is Informative.Chance for every element, of groups of the given size.
func Chances(size int, probs, means [][Width]float64) archsimd.Float64x8 {
	one, first := fp.Broadcast(1), archsimd.LoadFloat64x8(&means[0])
	p := archsimd.LoadFloat64x8(&probs[0])
	up, down := p.Mul(first), p.Mul(one.Sub(first))
	for a := 1; a < len(means); a++ {
		p, mean := archsimd.LoadFloat64x8(&probs[a]), archsimd.LoadFloat64x8(&means[a])
		up = up.Add(p.Mul(mean))
		down = down.Add(p.Mul(one.Sub(mean)))
	}
	frequent, rare := up.Max(down), up.Min(down)
	sum, power, rares := one, frequent, one
	for bit := bits.Len(uint(size)) - 2; bit >= 0; bit-- {
		sum = sum.Add(sum.Mul(power))
		power = power.Mul(power)
		rares = rares.Mul(rares.Mul(rare))
		if size>>bit&1 == 1 {
			sum = sum.Add(power)
			power = power.Mul(frequent)
			rares = rares.Mul(rare)
		}
	}
	return rare.Mul(sum.Sub(rares))
}

// sum sets the running sums, the odds of the rarer reward and the sum of its masses, see
// Informative.rare.
func (x *Informatives) sum() {
	x.stale = false
	up, down, one := fp.Broadcast(0), fp.Broadcast(0), fp.Broadcast(1)
	for a := range x.Means {
		p, mean := archsimd.LoadFloat64x8(&x.probs[a]), archsimd.LoadFloat64x8(&x.Means[a])
		up = up.Add(p.Mul(mean))
		down = down.Add(p.Mul(one.Sub(mean)))
		up.Store(&x.rewarded[a])
		down.Store(&x.others[a])
	}
	odds := up.Min(down).Div(up.Max(down))
	total, mass := fp.Broadcast(0), fp.Broadcast(1)
	for s := 1; s < len(x.growths); s++ {
		if mass.Greater(fp.Broadcast(0x1p-60).Mul(total)).ToBits() == 0 {
			break
		}
		total = total.Add(mass) // rounded to total where the mass is that small
		mass = mass.Mul(fp.Spread(&x.growths[s]).Mul(odds))
	}
	odds.Store(&x.odds)
	total.Store(&x.total)
}

// rare is Informative.rare for the given streams, as bits. Once u is less than a mass it stays
// so: it becomes negative.
func (x *Informatives) rare(u reals, where uint8) vector {
	odds, one := archsimd.LoadFloat64x8(&x.odds), fp.Integers(1)
	u, mass, rare := u.Mul(archsimd.LoadFloat64x8(&x.total)), fp.Broadcast(1), one
	for s := 1; s < len(x.growths)-1; s++ {
		above := u.GreaterEqual(mass)
		if s%4 == 0 && above.ToBits()&where == 0 { // not at each s, which would be unpredictable
			break
		}
		rare = rare.Add(one).Merge(rare, above)
		u = u.Sub(mass)
		mass = mass.Mul(fp.Spread(&x.growths[s]).Mul(odds))
	}
	return rare
}

// uniforms is uniform for every element.
func uniforms(words vector) reals {
	return words.ShiftRight(fp.Integers(12)).ConvertToFloat64().Mul(fp.Broadcast(0x1p-52))
}
