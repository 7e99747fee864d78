//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// Normal returns what Normal draws from each of the given streams; the other elements are
// arbitrary.
func (s *Streams) Normal(where mask) reals {
	one, half := fp.Broadcast(1), fp.Broadcast(0.5)
	drawn, square := half, half
	for open := where; open.ToBits() != 0; {
		u, v := units(s.NextWhere(open)), units(s.NextWhere(open))
		u, v = u.Add(u).Sub(one), v.Add(v).Sub(one)
		sum := u.Mul(u).Add(v.Mul(v))
		inside := sum.Less(one).And(open)
		drawn, square = u.Merge(drawn, inside), sum.Merge(square, inside)
		open = open.And(sum.GreaterEqual(one))
	}
	return drawn.Mul(fp.Broadcast(-2).Mul(fp.LogLanes(square)).Div(square).Sqrt())
}

// ChiSquare returns what ChiSquare draws from each of the given streams, with k ≥ 1 degrees
// of freedom each; the other elements are arbitrary.
func (s *Streams) ChiSquare(k vector, where mask) reals {
	zero, one, half := fp.Broadcast(0), fp.Broadcast(1), fp.Broadcast(0.5)
	shape, factor := k.ConvertToFloat64().Mul(half), one
	if small := shape.Less(one).And(where); small.ToBits() != 0 {
		power := [1][Width]float64{}
		logs := fp.LogLanes(units(s.NextWhere(small)).Merge(one, small)).Div(shape)
		logs.Store(&power[0])
		fp.ExpBelowLanes(power[:], power[:], zero)
		factor = archsimd.LoadFloat64x8(&power[0]).Merge(one, small)
		shape = shape.Add(one.Masked(small))
	}
	d := shape.Sub(fp.Broadcast(1. / 3))
	c := one.Div(fp.Broadcast(9).Mul(d).Sqrt())
	drawn := one
	for open := where; open.ToBits() != 0; {
		x := s.Normal(open)
		root := one.Add(c.Mul(x))
		positive := root.Greater(zero).And(open)
		v := root.Mul(root).Mul(root).Merge(one, positive)
		u := units(s.NextWhere(positive))
		square := x.Mul(x)
		accepted := u.Less(one.Sub(fp.Broadcast(0.0331).Mul(square.Mul(square))))
		if positive.ToBits()&^accepted.ToBits() != 0 {
			bound := half.Mul(square).Add(d.Mul(one.Sub(v).Add(fp.LogLanes(v))))
			accepted = accepted.Or(fp.LogLanes(u).Less(bound))
		}
		accepted = accepted.And(positive)
		drawn = v.Merge(drawn, accepted)
		open = archsimd.Mask64x8FromBits(open.ToBits() &^ accepted.ToBits())
	}
	gamma := factor.Mul(d).Mul(drawn)
	return gamma.Add(gamma)
}
