//go:build long

package fit

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, coverRuns, forecastRuns, oscillationRuns = 200, 200, 200, 100, 400
