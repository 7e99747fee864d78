//go:build !long

package draw

// thin is the factor by which fast tests thin out random cases and draws. The long tests
// try all.
const thin = 5
