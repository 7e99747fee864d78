//go:build long

package equivalence

// Simulated comparisons of each kind, and the largest number of rows of a pair of curves.
// With the chance of 1 % that was measured more than 50 of 1000 equal pairs are different
// with a chance below 1e-15.
const runsTrials, familyTrials, jointTables, plateauPairs, equalPairs, mostRows = 400, 2000, 600, 24, 1000, 1000
