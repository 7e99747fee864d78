//go:build long

package arrive

// Thin is 1: the long tests try every case.
const Thin = 1
