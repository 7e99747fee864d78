//go:build !long

package fit

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, coverRuns, forecastRuns, oscillationRuns = 25, 25, 20, 20, 50
