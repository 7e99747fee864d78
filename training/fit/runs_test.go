//go:build !long

package fit

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, forecastRuns, oscillationRuns, flatRuns, hiddenRuns = 5, 6, 8, 30, 15, 20
