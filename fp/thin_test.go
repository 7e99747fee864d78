//go:build !long

package fp

// thin is the factor by which fast tests thin out samples. The long tests take all.
const thin = 8
