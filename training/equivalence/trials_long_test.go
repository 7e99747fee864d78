//go:build long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
// With the chance of 1 % that was measured of 1000 pairs, more than 20 of 400 equal pairs are
// different with a chance of 1e-9; with one of 10 %, no more than 20 are with one of 2e-4.
const runsTrials, familyTrials, jointTables, plateauPairs, equalPairs, mostRows, collapseTrials = 400, 2000, 600, 24, 400, 1000, 60
