//go:build goexperiment.simd && amd64

package fp

import (
	"math/bits"
	"simd/archsimd"
)

// LogLanes is Log for eight numbers at once. It needs AVX-512.
func LogLanes(x archsimd.Float64x8) archsimd.Float64x8 {
	bits64 := x.AsUint64x8()
	near := bits64.Sub(archsimd.BroadcastUint64x8(logNearLow)).Less(archsimd.BroadcastUint64x8(logNearHigh - logNearLow))
	if near.ToBits() == 0xff {
		return logNear(x)
	}
	c := bits64.Add(archsimd.BroadcastUint64x8(logHalf)).And(archsimd.BroadcastUint64x8(^uint64(2*logHalf - 1)))
	exponent := c.ShiftAllRight(52).Sub(archsimd.BroadcastUint64x8(logBias)).ShiftAllLeft(52)
	m := c.Sub(exponent).AsFloat64x8()
	difference := bits64.Sub(exponent).AsFloat64x8().Sub(m)
	k := c.Add(archsimd.BroadcastUint64x8(logAboveSqrt)).ShiftAllRight(52).Sub(archsimd.BroadcastUint64x8(logBias)).AsInt64x8().ConvertToFloat64()
	place := c.ShiftAllRight(45)
	r := difference.Mul(logColumn(&logRows.inverse, place))
	high := k.Mul(archsimd.BroadcastFloat64x8(ln2Hi)).Add(logColumn(&logRows.hi, place))
	sum := high.Add(r)
	low := high.Sub(sum).Add(r).Add(k.Mul(archsimd.BroadcastFloat64x8(ln2Lo)).Add(logColumn(&logRows.lo, place)))
	square := r.Mul(r)
	second := archsimd.BroadcastFloat64x8(-1. / 2).Add(r.Mul(archsimd.BroadcastFloat64x8(1. / 3)))
	fourth := archsimd.BroadcastFloat64x8(-1. / 4).Add(r.Mul(archsimd.BroadcastFloat64x8(1. / 5)))
	sixth := archsimd.BroadcastFloat64x8(-1. / 6).Add(r.Mul(archsimd.BroadcastFloat64x8(1. / 7)))
	series := square.Mul(second).Add(square.Mul(square).Mul(fourth.Add(square.Mul(sixth))))
	y := sum.Add(low.Add(series))

	if near.ToBits() != 0 {
		y = logNear(x).Merge(y, near)
	}
	special := bits64.Sub(archsimd.BroadcastUint64x8(logMinNormal)).GreaterEqual(archsimd.BroadcastUint64x8(logInf - logMinNormal))
	if where := special.ToBits(); where != 0 {
		var from, to [8]float64
		x.Store(&from)
		y.Store(&to)
		for ; where != 0; where &= where - 1 {
			i := bits.TrailingZeros8(where)
			to[i] = Log(from[i])
		}
		y = archsimd.LoadFloat64x8(&to)
	}
	return y
}

// logNear is Log near 1.
func logNear(x archsimd.Float64x8) archsimd.Float64x8 {
	f := x.Sub(archsimd.BroadcastFloat64x8(1))
	s := f.Div(archsimd.BroadcastFloat64x8(2).Add(f))
	z := s.Mul(s)
	series := archsimd.BroadcastFloat64x8(2. / 9).Add(z.Mul(archsimd.BroadcastFloat64x8(2. / 11)))
	series = archsimd.BroadcastFloat64x8(2. / 7).Add(z.Mul(series))
	series = archsimd.BroadcastFloat64x8(2. / 5).Add(z.Mul(series))
	series = z.Mul(archsimd.BroadcastFloat64x8(2. / 3).Add(z.Mul(series)))
	square := archsimd.BroadcastFloat64x8(0.5).Mul(f.Mul(f))
	return f.Sub(square.Sub(s.Mul(square.Add(series))))
}

// logColumn returns the entries of a column of logTable, by the last seven bits of place.
func logColumn(column *[16][8]float64, place archsimd.Uint64x8) archsimd.Float64x8 {
	zero := archsimd.BroadcastUint64x8(0)
	bit4 := place.And(archsimd.BroadcastUint64x8(16)).NotEqual(zero)
	bit5 := place.And(archsimd.BroadcastUint64x8(32)).NotEqual(zero)
	bit6 := place.And(archsimd.BroadcastUint64x8(64)).NotEqual(zero)
	a := archsimd.LoadFloat64x8(&column[0]).ConcatPermute(archsimd.LoadFloat64x8(&column[1]), place)
	a = archsimd.LoadFloat64x8(&column[2]).ConcatPermute(archsimd.LoadFloat64x8(&column[3]), place).Merge(a, bit4)
	b := archsimd.LoadFloat64x8(&column[4]).ConcatPermute(archsimd.LoadFloat64x8(&column[5]), place)
	b = archsimd.LoadFloat64x8(&column[6]).ConcatPermute(archsimd.LoadFloat64x8(&column[7]), place).Merge(b, bit4)
	low := b.Merge(a, bit5)
	a = archsimd.LoadFloat64x8(&column[8]).ConcatPermute(archsimd.LoadFloat64x8(&column[9]), place)
	a = archsimd.LoadFloat64x8(&column[10]).ConcatPermute(archsimd.LoadFloat64x8(&column[11]), place).Merge(a, bit4)
	b = archsimd.LoadFloat64x8(&column[12]).ConcatPermute(archsimd.LoadFloat64x8(&column[13]), place)
	b = archsimd.LoadFloat64x8(&column[14]).ConcatPermute(archsimd.LoadFloat64x8(&column[15]), place).Merge(b, bit4)
	return b.Merge(a, bit5).Merge(low, bit6)
}

// logRows holds the columns of logTable, eight entries a row. It is allocated, so that a
// row does not cross a cache line.
var logRows = func() *struct{ inverse, hi, lo [16][8]float64 } {
	rows := new(struct{ inverse, hi, lo [16][8]float64 })
	for i, e := range logTable {
		rows.inverse[i/8][i%8], rows.hi[i/8][i%8], rows.lo[i/8][i%8] = e.inverse, e.hi, e.lo
	}
	return rows
}()
