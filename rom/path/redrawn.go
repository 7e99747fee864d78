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

// square is the mean of g_1² in a step, without a limit. Its deviation has that of a step.
var square = observable{depends: ofBoth, of: func(m *force.Model, now, old []float64) float64 {
	var mean [2]float64
	m.Set(now, old)
	m.MeanForce(mean[:])
	return mean[0]*mean[0] + m.Covariance().At(0, 0)
}, samples: func(m *force.Model, _ float64) float64 {
	var mean [2]float64
	m.MeanForce(mean[:])
	joint, _ := m.Joint(mean[:])
	return joint[2][2]
}}

// coupling returns what prompts know of each other; ok is false where they need not.
func coupling(visit *cell.Params) (of observable, ok bool) {
	if visit.Filter == option.Redraw {
		return differing, true
	}
	return square, visit.LimitedOnTheWay()
}

// fieldRounds is the number of rounds on mean fields. The n-th knows the others to order n in time.
const fieldRounds = 8

// mostTogether is the number of prompts times steps up to which a largest norm is followed in a
// minute.
const mostTogether = 20_000

// alone returns the prompts that differ, as they are visited in the given steps, and the largest
// chance of one. Where they depend on each other, each has the course of the others on the mean
// fields (docs/theory-trainers.md §11.7). They are found in rounds that begin without the others.
func alone(p, visit *cell.Params, init []float64, visits []int) (
	all []cell.StartingPrompt, chance float64) {
	all, chance = p.Distinct(init), visit.Chance
	for i := range all {
		all[i].Params = all[i].Visited(visit).Checked()
	}
	of, coupled := coupling(visit)
	for round := 0; round < fieldRounds && coupled; round++ {
		chance = share(p, all, func(i int) (mean, deviation []float64) {
			run := followOn(all[i].Params, all[i].Init, visits, len(visits), 0, []observable{of}, nil)
			return run.field[0], make([]float64, len(visits))
		})
	}
	return all, chance
}

// together gives the prompts the courses of runs with noise. It returns their paths of observables
// before the last round: by how much that moves them is the size of what is left out.
func together(p *cell.Params, all []cell.StartingPrompt, steps []int, of []observable) [][]Path {
	paths := make([][]Path, len(all))
	known, _ := coupling(p)
	for _, of := range [2][]observable{{}, of} {
		share(p, all, func(i int) (mean, deviation []float64) {
			paths[i] = make([]Path, len(of)+1)
			meansOf(all[i].Params, all[i].Init, steps, steps, append(of, known), bases{}, paths[i])
			seen := &paths[i][len(of)]
			if len(of) == 0 && p.Filter == option.Redraw {
				clear(seen.Deviation)
			}
			return seen.Mean, seen.Deviation
		})
	}
	return paths
}

// share gives each prompt the course of the others, given means and deviations of what they have to
// know by step. Where groups are redrawn it returns the largest chance. E 1/ΣP exceeds 1/E ΣP, so
// that the others count less by Var O/ΣP.
func share(p *cell.Params, all []cell.StartingPrompt, of func(i int) (mean, deviation []float64)) (
	chance float64) {
	means, deviations := make([][]float64, len(all)), make([][]float64, len(all))
	for i := range all {
		means[i], deviations[i] = of(i)
		all[i].Others = make([][2]float64, len(means[i]))
	}
	for t := range means[0] {
		sum, variance := 0.0, 0.0
		for i := range all {
			n, d := float64(len(all[i].Alike)), deviations[i][t]
			sum, variance = sum+n*means[i][t], variance+n*d*d
		}
		for i := range all {
			own, d := means[i][t], deviations[i][t]
			if p.Filter != option.Redraw {
				all[i].Others[t] = cell.Beside(p, sum-own, variance-d*d)
				continue
			}
			chance = max(chance, own/sum)
			all[i].Others[t][0] = max(sum-own-(variance-d*d)/sum, 0)
		}
	}
	return chance
}
