//go:build long

package sim

// thin is 1: the long tests try every case.
const thin = 1
