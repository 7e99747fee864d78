//go:build long

package fp

// thin is 1: the long tests take all samples.
const thin = 1
