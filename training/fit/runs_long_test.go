//go:build long

package fit

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, coverRuns, forecastRuns = 200, 200, 200, 100
