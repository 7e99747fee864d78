//go:build !goexperiment.simd || !go1.27 || !(amd64 || arm64)

package lanes

// New returns nil in this build.
func New(*Cell, int) Runner { return nil }

// Bits returns the length of a vector, 0 where there are none.
func Bits() int { return 0 }
