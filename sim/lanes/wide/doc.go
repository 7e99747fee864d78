// Package wide asks package simd for vectors of 256 bits on processors that have AVX2.
//
// By itself simd takes 128 bits where VPCLMULQDQ is missing, which nothing here needs. It reads its
// setting once, so this package must be initialized before it. Go initializes packages in the order
// of their paths, each after its imports: an import beside these two would come too late.
package wide
