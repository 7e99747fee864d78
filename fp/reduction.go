package fp

import "math"

// ExpNear is 2⁹. Exp needs no test of the range of its result below it in modulus.
const ExpNear = expLarge

// ExpReduction returns the numbers by which Exp reduces its argument: 32/ln 2, the number that
// rounds to integers, and the two parts of ln 2/32.
func ExpReduction() (perUnit, toNearest, high, low float64) {
	return stepsPerUnit, toInteger, ln2StepHi, ln2StepLo
}

// ExpTable returns the table of Exp: for i/32 the bits of 2^(i/32), less i<<47, and of the rest
// relative to it.
func ExpTable() (table [32][2]uint64) {
	for i, e := range expTable {
		table[i] = [2]uint64{e.bits, math.Float64bits(e.tail)}
	}
	return table
}
