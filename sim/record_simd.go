//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"grposim/fp"
	"grposim/sim/draw"
)

// hasVectorRecords says whether the processor has the instructions for setVectors and
// setVectorQuantiles.
var hasVectorRecords = archsimd.X86.AVX512()

// setVectors is set with the quantities in the elements of two vectors. Each is summed in the
// order of the replicas, so that the sums are the same to the last bit.
func (r record) setVectors(replicas [][][quantityCount]float64) {
	const rest = quantityCount - draw.Width
	shares := make([]float64, len(replicas)) // 1/(n+1)
	for n := range shares {
		shares[n] = 1 / float64(n+1)
	}
	zero := fp.Broadcast(0)
	none := zero.GetLo().GetLo()
	for step := range r {
		m := &r[step]
		mean, m2, meanRest, m2Rest := zero, zero, none, none
		for n, values := range replicas {
			x := &values[step]
			share := fp.Spread(&shares[n])
			now, nowRest := archsimd.LoadFloat64x8((*floats)(x[:])), archsimd.LoadFloat64x2((*[rest]float64)(x[draw.Width:]))
			d, dRest := now.Sub(mean), nowRest.Sub(meanRest)
			mean = mean.Add(d.Mul(share))
			meanRest = meanRest.Add(dRest.Mul(share.GetLo().GetLo()))
			m2 = m2.Add(d.Mul(now.Sub(mean)))
			m2Rest = m2Rest.Add(dRest.Mul(nowRest.Sub(meanRest)))
		}
		m.n = len(replicas)
		mean.Store((*floats)(m.mean[:]))
		meanRest.Store((*[rest]float64)(m.mean[draw.Width:]))
		m2.Store((*floats)(m.m2[:]))
		m2Rest.Store((*[rest]float64)(m.m2[draw.Width:]))
	}
}

// setVectorQuantiles is setQuantiles of eight columns at a time: a column holds a quantity at a
// recorded step. Quantiles do not tell 0 from −0.
func setVectorQuantiles(summaries [][]Summary, replicas [][][quantityCount]float64) {
	sorted := make([]floats, len(replicas))
	ranks, shares := quantileRanks(len(replicas))
	for first := 0; first < len(summaries)*quantityCount; first += draw.Width {
		columns := min(draw.Width, len(summaries)*quantityCount-first)
		var withNaN uint8 // bits of the columns
		for i, values := range replicas {
			flat := unsafe.Slice(&values[0][0], len(summaries)*quantityCount) // all rows
			x := archsimd.LoadFloat64x8SlicePart(flat[first:][:columns])
			withNaN |= x.IsNaN().ToBits()
			x.Store(&sorted[i])
		}
		sortColumns(sorted)
		archsimd.ClearAVXUpperBits() // see fp.Integers
		for level, share := range shares {
			below, above := &sorted[ranks[2*level]], &sorted[ranks[2*level+1]]
			for i := range columns {
				step, q := (first+i)/quantityCount, (first+i)%quantityCount
				if q >= len(summaries[step]) {
					continue
				}
				if withNaN>>i&1 != 0 {
					summaries[step][q].Quantiles = notNumbers
					continue
				}
				summaries[step][q].Quantiles[level] = interpolate(below[i], above[i], share)
			}
		}
	}
}

// sortColumns sorts each of the eight columns by merge exchange (Knuth, TAOCP 3, algorithm 5.2.2M).
// Its comparisons do not depend on the values.
func sortColumns(rows []floats) {
	top := 1 << bits.Len(uint(len(rows)-1)) / 2
	for p := top; p > 0; p /= 2 {
		d, r := p, 0
		for q := top; ; q /= 2 {
			for first := r; first < len(rows)-d; first += 2 * p {
				above := rows[first+d : min(first+d+p, len(rows))]
				below := rows[first:][:len(above)]
				for i := range above {
					x, y := archsimd.LoadFloat64x8(&below[i]), archsimd.LoadFloat64x8(&above[i])
					x.Min(y).Store(&below[i])
					x.Max(y).Store(&above[i])
				}
			}
			if q == p {
				break
			}
			d, r = q-p, p
		}
	}
}
