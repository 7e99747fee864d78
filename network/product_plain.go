//go:build !goexperiment.simd || !amd64

package network

import "grposim/grpo/fp"

// accumulate adds to every entry of c, in this order of k,
//
//	c_ij += Σ_k a_(i·rowStep + k·step) b_kj,
//
// where the entries of a are counted in memory. Every product is rounded.
func accumulate(c, a matrix, rowStep, step int, b matrix) { accumulatePlain(c, a, rowStep, step, b) }

// exponentials replaces every number x ≤ 0 in the memory of m, padding included, by eˣ.
func exponentials(m matrix) { fp.ExpBelow(m.data, m.data, 0) }
