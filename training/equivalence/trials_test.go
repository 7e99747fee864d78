//go:build !long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
const runsTrials, familyTrials, equalPairs, mostRows, collapseTrials = 20, 400, 40, 150, 20
