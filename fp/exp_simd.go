//go:build goexperiment.simd && amd64 && !go1.27

package fp

import "simd/archsimd"

// ExpBelowLanes is ExpBelow for eight softmax policies at once: element i of every
// vector belongs to policy i. A number x that is NaN is allowed and gives NaN, and x may
// exceed top by less than 512. It needs AVX-512.
func ExpBelowLanes(y, x [][8]float64, top archsimd.Float64x8) (sum archsimd.Float64x8) {
	x = x[:len(y)]
	rows := expRows
	for a := range y {
		d := archsimd.LoadFloat64x8(&x[a]).Sub(top)
		power, tail, r := rows.reduce(d)
		e := power.Add(power.Mul(rows.series(tail, r)))
		if near := rows.near(d); near != 0xff {
			e = expFarLanes(e, d, near)
		}
		e.Store(&y[a])
		sum = sum.Add(e)
	}
	return sum
}

// ExpLanes is Exp for every element. They may be NaN, and must be below 512. It needs AVX-512.
func ExpLanes(x archsimd.Float64x8) archsimd.Float64x8 {
	rows := expRows
	power, tail, r := rows.reduce(x)
	e := power.Add(power.Mul(rows.series(tail, r)))
	if near := rows.near(x); near != 0xff {
		return expFarLanes(e, x, near)
	}
	return e
}

// expFarLanes returns e with the exponentials of the elements of x that are not near. It is rare,
// and would cost the common path its stack.
//
//go:noinline
func expFarLanes(e, x archsimd.Float64x8, near uint8) archsimd.Float64x8 {
	var y, far [8]float64
	e.Store(&y)
	x.Store(&far)
	for i, x := range far {
		if near>>i&1 == 0 {
			y[i] = expFar(x)
		}
	}
	return archsimd.LoadFloat64x8(&y)
}

// reduce is expReduced for every element.
func (v *expVectors) reduce(x archsimd.Float64x8) (power, tail, r archsimd.Float64x8) {
	round := archsimd.LoadFloat64x8(&v.round)
	shifted := x.Mul(archsimd.LoadFloat64x8(&v.perUnit)).Add(round)
	k := shifted.Sub(round)
	r = x.Sub(k.Mul(archsimd.LoadFloat64x8(&v.ln2Hi))).Sub(k.Mul(archsimd.LoadFloat64x8(&v.ln2Lo)))
	power, tail = v.entry(shifted.AsUint64x8())
	return power, tail, r
}

// entry returns power and tail of expReduced.
func (v *expVectors) entry(steps archsimd.Uint64x8) (power, tail archsimd.Float64x8) {
	var none archsimd.Int64x8
	upper := steps.ShiftAllLeft(59).AsInt64x8().Less(none)
	bits := archsimd.LoadUint64x8(&v.bits[0]).ConcatPermute(archsimd.LoadUint64x8(&v.bits[1]), steps)
	bits = archsimd.LoadUint64x8(&v.bits[2]).ConcatPermute(archsimd.LoadUint64x8(&v.bits[3]), steps).Merge(bits, upper)
	tail = archsimd.LoadFloat64x8(&v.tails[0]).ConcatPermute(archsimd.LoadFloat64x8(&v.tails[1]), steps)
	tail = archsimd.LoadFloat64x8(&v.tails[2]).ConcatPermute(archsimd.LoadFloat64x8(&v.tails[3]), steps).Merge(tail, upper)
	return bits.Add(steps.ShiftAllLeft(47)).AsFloat64x8(), tail
}

// series is expSeries for every element.
func (v *expVectors) series(tail, r archsimd.Float64x8) archsimd.Float64x8 {
	square := r.Mul(r)
	second := archsimd.LoadFloat64x8(&v.inverse[2]).Add(r.Mul(archsimd.LoadFloat64x8(&v.inverse[3])))
	fourth := archsimd.LoadFloat64x8(&v.inverse[4]).Add(r.Mul(archsimd.LoadFloat64x8(&v.inverse[5])))
	sixth := archsimd.LoadFloat64x8(&v.inverse[6]).Add(r.Mul(archsimd.LoadFloat64x8(&v.inverse[7])))
	return tail.Add(r).Add(square.Mul(second)).Add(square.Mul(square).Mul(fourth.Add(square.Mul(sixth))))
}

// near returns the elements above −2⁹, as bits.
func (v *expVectors) near(x archsimd.Float64x8) uint8 {
	return x.Greater(archsimd.LoadFloat64x8(&v.least)).ToBits()
}

// expVectors holds what the exponential reads, eight times each, so that instructions take it
// from memory.
type expVectors struct {
	bits                  [4][8]uint64  // the columns of expTable, eight entries a row
	tails                 [4][8]float64 // these too
	inverse               [8][8]float64 // 1/n! in row n
	ln2Hi, ln2Lo          [8]float64    // ln2StepHi, ln2StepLo
	round, perUnit, least [8]float64    // toInteger, stepsPerUnit, −expLarge
}

// expRows is allocated, so that a row does not cross a cache line.
var expRows = func() *expVectors {
	v, factorial := new(expVectors), 1.
	for n := range v.inverse {
		factorial *= max(1, float64(n))
		for i := range v.inverse[n] {
			v.inverse[n][i] = 1 / factorial
		}
	}
	for i := range v.round {
		v.ln2Hi[i], v.ln2Lo[i], v.round[i], v.perUnit[i], v.least[i] = ln2StepHi, ln2StepLo, toInteger, stepsPerUnit, -expLarge
	}
	for i, e := range expTable {
		v.bits[i/8][i%8], v.tails[i/8][i%8] = e.bits, e.tail
	}
	return v
}()
