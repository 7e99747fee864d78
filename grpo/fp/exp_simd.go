//go:build goexperiment.simd && amd64

package fp

import "simd/archsimd"

// ExpBelowLanes is ExpBelow for eight softmax policies at once: element i of every
// vector belongs to policy i. A number x that is NaN is allowed and gives NaN, and x may
// exceed top by less than 512. It needs AVX-512.
func ExpBelowLanes(y, x [][8]float64, top archsimd.Float64x8) (sum archsimd.Float64x8) {
	round, perUnit := Broadcast(toInteger), Broadcast(stepsPerUnit)
	x = x[:len(y)]
	rows := expRows
	var none archsimd.Int64x8
	for a := range y {
		d := archsimd.LoadFloat64x8(&x[a]).Sub(top)
		shifted := d.Mul(perUnit).Add(round)
		steps := shifted.AsUint64x8()
		k := shifted.Sub(round)
		r := d.Sub(k.Mul(archsimd.LoadFloat64x8(&rows.terms[0]))).Sub(k.Mul(archsimd.LoadFloat64x8(&rows.terms[1])))
		upper := steps.ShiftAllLeft(59).AsInt64x8().Less(none)
		bits := archsimd.LoadUint64x8(&rows.bits[0]).ConcatPermute(archsimd.LoadUint64x8(&rows.bits[1]), steps)
		bits = archsimd.LoadUint64x8(&rows.bits[2]).ConcatPermute(archsimd.LoadUint64x8(&rows.bits[3]), steps).Merge(bits, upper)
		tails := archsimd.LoadFloat64x8(&rows.tails[0]).ConcatPermute(archsimd.LoadFloat64x8(&rows.tails[1]), steps)
		tails = archsimd.LoadFloat64x8(&rows.tails[2]).ConcatPermute(archsimd.LoadFloat64x8(&rows.tails[3]), steps).Merge(tails, upper)
		square := r.Mul(r)
		second := archsimd.LoadFloat64x8(&rows.terms[2]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[3])))
		fourth := archsimd.LoadFloat64x8(&rows.terms[4]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[5])))
		sixth := archsimd.LoadFloat64x8(&rows.terms[6]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[7])))
		series := tails.Add(r).Add(square.Mul(second)).Add(square.Mul(square).Mul(fourth.Add(square.Mul(sixth))))
		power := bits.Add(steps.ShiftAllLeft(47)).AsFloat64x8()
		e := power.Add(power.Mul(series))
		e.Store(&y[a])
		if near := d.Greater(Broadcast(-expLarge)).ToBits(); near != 0xff {
			var far [8]float64
			d.Store(&far)
			for i, d := range far {
				if near>>i&1 == 0 {
					y[a][i] = expFar(d)
				}
			}
			e = archsimd.LoadFloat64x8(&y[a])
		}
		sum = sum.Add(e)
	}
	return sum
}

// expRows holds the columns of expTable, bits and tail, eight entries a row, and the constants
// of the reduction and the series, eight times each, which instructions take from memory. It
// is allocated, so that a row does not cross a cache line.
var expRows = func() *struct {
	bits  [4][8]uint64
	tails [4][8]float64
	terms [8][8]float64 // ln2StepHi, ln2StepLo, then 1/n! in row n
} {
	rows := new(struct {
		bits  [4][8]uint64
		tails [4][8]float64
		terms [8][8]float64
	})
	for i, x := range []float64{ln2StepHi, ln2StepLo, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040} {
		for j := range rows.terms[i] {
			rows.terms[i][j] = x
		}
	}
	for i, e := range expTable {
		rows.bits[i/8][i%8], rows.tails[i/8][i%8] = e.bits, e.tail
	}
	return rows
}()
