//go:build long

package logs

// thin is 1: the long tests try every case.
const thin = 1
