//go:build !long

package arrive

// Thin is the factor by which fast tests thin out similar cases.
const Thin = 8
