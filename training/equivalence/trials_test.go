//go:build !long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
const equalPairs, mostRows, collapseTrials = 30, 150, 15
