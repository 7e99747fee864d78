//go:build !long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
const runsTrials, familyTrials, jointTables, plateauPairs, equalPairs, mostRows, collapseTrials = 80, 400, 200, 12, 40, 150, 30
