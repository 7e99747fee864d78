//go:build !long

package sim

// thin is the factor by which fast tests thin out random cases and draws; long ones try all.
const thin = 8
