//go:build !long

package probe

// thin is the factor by which fast tests thin out random cases and draws; long ones try all.
const thin = 8
