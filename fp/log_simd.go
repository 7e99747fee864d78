//go:build goexperiment.simd && amd64 && !go1.27

package fp

import (
	"math/bits"
	"simd/archsimd"
)

// LogLanes is Log for eight numbers at once. It needs AVX-512.
func LogLanes(x archsimd.Float64x8) archsimd.Float64x8 {
	bits64 := x.AsUint64x8()
	near := bits64.Sub(Integers(logNearLow)).Less(Integers(logNearHigh - logNearLow))
	if near.ToBits() == 0xff {
		return logNear(x)
	}
	rows := logRows
	c := bits64.Add(Integers(logHalf)).And(Integers(^uint64(2*logHalf - 1)))
	hi, lo := logColumns(c.ShiftRight(Integers(45)))
	exponent := c.ShiftRight(Integers(52)).Sub(Integers(logBias)).ShiftLeft(Integers(52))
	m := c.Sub(exponent).AsFloat64x8()
	difference := bits64.Sub(exponent).AsFloat64x8().Sub(m)
	k := c.Add(Integers(logAboveSqrt)).ShiftRight(Integers(52)).Sub(Integers(logBias)).AsInt64x8().ConvertToFloat64()
	r := difference.Mul(Broadcast(1).Div(m)) // 1/m as in logTable
	high := k.Mul(Broadcast(ln2Hi)).Add(hi)
	sum := high.Add(r)
	low := high.Sub(sum).Add(r).Add(k.Mul(Broadcast(ln2Lo)).Add(lo))
	square := r.Mul(r)
	second := archsimd.LoadFloat64x8(&rows.terms[0]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[1])))
	fourth := archsimd.LoadFloat64x8(&rows.terms[2]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[3])))
	sixth := archsimd.LoadFloat64x8(&rows.terms[4]).Add(r.Mul(archsimd.LoadFloat64x8(&rows.terms[5])))
	series := square.Mul(second).Add(square.Mul(square).Mul(fourth.Add(square.Mul(sixth))))
	y := sum.Add(low.Add(series))

	if near.ToBits() != 0 {
		y = logNear(x).Merge(y, near)
	}
	special := bits64.Sub(Integers(logMinNormal)).GreaterEqual(Integers(logInf - logMinNormal))
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
	terms := &logRows.terms
	f := x.Sub(Broadcast(1))
	s := f.Div(Broadcast(2).Add(f))
	z := s.Mul(s)
	series := archsimd.LoadFloat64x8(&terms[9]).Add(z.Mul(archsimd.LoadFloat64x8(&terms[10])))
	series = archsimd.LoadFloat64x8(&terms[8]).Add(z.Mul(series))
	series = archsimd.LoadFloat64x8(&terms[7]).Add(z.Mul(series))
	series = z.Mul(archsimd.LoadFloat64x8(&terms[6]).Add(z.Mul(series)))
	square := Broadcast(0.5).Mul(f.Mul(f))
	return f.Sub(square.Sub(s.Mul(square.Add(series))))
}

// logColumns returns the entries hi and lo of logTable, by the last seven bits of place.
func logColumns(place archsimd.Uint64x8) (hi, lo archsimd.Float64x8) {
	zero, rows := Integers(0), logRows
	bit4 := place.And(Integers(16)).NotEqual(zero)
	bit5 := place.And(Integers(32)).NotEqual(zero)
	bit6 := place.And(Integers(64)).NotEqual(zero)
	hi = halfColumn(&rows.hi, 8, place, bit4, bit5).Merge(halfColumn(&rows.hi, 0, place, bit4, bit5), bit6)
	lo = halfColumn(&rows.lo, 8, place, bit4, bit5).Merge(halfColumn(&rows.lo, 0, place, bit4, bit5), bit6)
	return hi, lo
}

// halfColumn returns the entries of a column of logTable, of the half from row n on.
func halfColumn(column *[16][8]float64, n int, place archsimd.Uint64x8, bit4, bit5 archsimd.Mask64x8) archsimd.Float64x8 {
	low := archsimd.LoadFloat64x8(&column[n]).ConcatPermute(archsimd.LoadFloat64x8(&column[n+1]), place)
	low = archsimd.LoadFloat64x8(&column[n+2]).ConcatPermute(archsimd.LoadFloat64x8(&column[n+3]), place).Merge(low, bit4)
	high := archsimd.LoadFloat64x8(&column[n+4]).ConcatPermute(archsimd.LoadFloat64x8(&column[n+5]), place)
	return archsimd.LoadFloat64x8(&column[n+6]).ConcatPermute(archsimd.LoadFloat64x8(&column[n+7]), place).Merge(high, bit4).Merge(low, bit5)
}

// logVectors holds the columns of logTable that LogLanes searches, eight entries a row. It holds
// the terms of its series eight times each, which instructions take from memory.
type logVectors struct {
	hi, lo [16][8]float64
	terms  [11][8]float64
}

// logRows is allocated, so that a row does not cross a cache line.
var logRows = func() *logVectors {
	rows := new(logVectors)
	for i, e := range logTable {
		rows.hi[i/8][i%8], rows.lo[i/8][i%8] = e.hi, e.lo
	}
	for i, x := range []float64{-1. / 2, 1. / 3, -1. / 4, 1. / 5, -1. / 6, 1. / 7, 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11} {
		for j := range rows.terms[i] {
			rows.terms[i][j] = x
		}
	}
	return rows
}()
