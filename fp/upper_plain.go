//go:build !goexperiment.simd || !amd64

package fp

// clearUpper does nothing: no instructions for vectors are in use.
func clearUpper() {}
