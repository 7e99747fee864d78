//go:build !long

package fit

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, flatRuns = 5, 6, 15
