package path

import (
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
)

// differing is the probability P that rewards of a group differ.
var differing = observable{depends: ofDrawing, of: func(m *force.Model, _, old []float64) float64 {
	m.Past.Set(old)
	p, _ := m.Counts.Differ(m.Counts.Chances(m.Old))
	return p
}}

// fieldRounds is the number of rounds on mean fields. The n-th knows ΣP to the n-th order in time.
const fieldRounds = 8

// alone returns the prompts that differ, as they are visited in the given steps, and the largest
// chance of one. Where groups of equal rewards are redrawn, each has the course of the others on the
// mean fields (docs/theory-trainers.md §11.7). They are found in rounds that begin with equal chances.
func alone(p, visit *cell.Params, init []float64, visits []int) (
	all []cell.StartingPrompt, chance float64) {
	all, chance = p.Distinct(init), visit.Chance
	for i := range all {
		all[i].Params = all[i].Visited(visit).Checked()
	}
	for round := 0; round < fieldRounds && p.Filter == option.Redraw; round++ {
		chance = share(all, func(i int) (mean, deviation []float64) {
			run := followOn(all[i].Params, all[i].Init, visits, len(visits), 0, []observable{differing}, nil)
			return run.field[0], make([]float64, len(visits))
		})
	}
	return all, chance
}

// redraw gives the prompts the courses of runs with noise. It returns their paths of observables
// before the last round: by how much that moves them is the size of what is left out.
func redraw(all []cell.StartingPrompt, steps []int, of []observable) [][]Path {
	paths := make([][]Path, len(all))
	for _, of := range [2][]observable{{}, of} {
		share(all, func(i int) (mean, deviation []float64) {
			paths[i] = make([]Path, len(of)+1)
			meansOf(all[i].Params, all[i].Init, steps, steps, append(of, differing), bases{}, paths[i])
			p := &paths[i][len(of)]
			if len(of) == 0 {
				clear(p.Deviation)
			}
			return p.Mean, p.Deviation
		})
	}
	return paths
}

// share gives each prompt the course of the others, given means and deviations of P by step. It
// returns the largest chance. As E 1/ΣP exceeds 1/E ΣP, the others count less by Var O/ΣP.
func share(all []cell.StartingPrompt, of func(i int) (mean, deviation []float64)) (chance float64) {
	means, deviations := make([][]float64, len(all)), make([][]float64, len(all))
	for i := range all {
		means[i], deviations[i] = of(i)
		all[i].Others = make([]float64, len(means[i]))
	}
	for t := range means[0] {
		sum, variance := 0.0, 0.0
		for i := range all {
			n, d := float64(len(all[i].Alike)), deviations[i][t]
			sum, variance = sum+n*means[i][t], variance+n*d*d
		}
		for i := range all {
			own, d := means[i][t], deviations[i][t]
			all[i].Others[t] = max(sum-own-(variance-d*d)/sum, 0)
			chance = max(chance, own/sum)
		}
	}
	return chance
}
