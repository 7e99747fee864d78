package sim

import (
	"math"
	"slices"
	"sort"
	"strconv"
)

// Strata stands in Run.Record for StratumReward of each quarter of prompts with a policy each, by J
// at the start, the hardest first. Prompts that start alike stay together.
const Strata Quantity = "strata"

// MaxStrata is the largest number of strata of a cell.
const MaxStrata = 4

// StratumReward is the mean of J over a stratum of prompts, from 1, the hardest, to MaxStrata.
func StratumReward(stratum int) Quantity {
	return Quantity("reward_of_stratum_" + strconv.Itoa(stratum))
}

// Stratum returns the number of the stratum of StratumReward; ok is false for another quantity.
func (q Quantity) Stratum() (number int, ok bool) {
	number, ok = numbered(q, StratumReward)
	return number, ok && number >= 1 && number <= MaxStrata
}

// Parts returns the quantities that a cell records at most for q in Run.Record: q, or all strata.
func (q Quantity) Parts() (all []Quantity) {
	if q != Strata {
		return []Quantity{q}
	}
	for k := range MaxStrata {
		all = append(all, StratumReward(k+1))
	}
	return all
}

// sameStart is the relative difference of two J up to which prompts start alike, above rounding.
const sameStart = 1e-12

// strata returns the indices of the prompts of each stratum by J now; nil if all have the same J. A
// prompt is in stratum ⌊4F⌋. F is the share of prompts with a lower J and half of those with the
// same one. Empty strata are left out.
func (p *tabular) strata() (all [][]int) {
	rewards := make([]float64, len(p.prompts))
	for x := range p.prompts {
		rewards[x] = p.prompts[x].reward
	}
	sorted := slices.Sorted(slices.Values(rewards))
	quarters := make([][]int, MaxStrata)
	for x, reward := range rewards {
		slack := float64(sameStart * math.Abs(reward))
		lower, _ := slices.BinarySearch(sorted, reward-slack)
		higher := sort.Search(len(sorted), func(i int) bool { return sorted[i] > reward+slack })
		number := MaxStrata * (lower + higher) / (2 * len(sorted))
		quarters[number] = append(quarters[number], x)
	}
	all = slices.DeleteFunc(quarters, func(prompts []int) bool { return len(prompts) == 0 })
	if len(all) == 1 {
		return nil
	}
	return all
}

// meanOver returns the mean of a function over the integers below n.
func meanOver(n int, of func(i int) float64) (mean float64) {
	for i := range n {
		mean += of(i)
	}
	return mean / float64(n)
}
