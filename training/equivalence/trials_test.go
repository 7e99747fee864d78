//go:build !long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
const runsTrials, equalPairs, mostRows, collapseTrials = 15, 30, 150, 15
