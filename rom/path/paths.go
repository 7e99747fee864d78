// Package path has what runs do from their start: their mean, their spread, and the course of what
// they record.
//
//  1. Follow takes the mean field from step to step, with the snapshots that a lag asks for.
//  2. About it a normal law of the deviations of runs is advanced: a spread, or under Adam a law of
//     its own.
//  3. Paths gives the means of quantities over that law, and how much they leave out.
package path

import (
	"fmt"

	"grposim/rom/cell"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Paths computes the means of quantities over runs from the logits init, one per arm, with zero
// velocity, at the optimizer steps at, which are ≥ 0 and ascending. The order is that given, and
// the time that of one. The Scope of a quantity is out where the bandit has none or it is not
// derived.
//
// A mean is the quantity on the mean field of MeanField plus its shift by the noise of finite
// groups, to second order (docs/theory-neglected.md §6). At G = ∞ there is no shift. Under Adam at
// a finite G it is that on a mean path of its own, see adamState, and neglects what adamNeglect
// says.
//
// What it neglects is the sum of three sizes. That of the noise is neglectedShift, the largest up
// to the step or beyond it (see ahead). The second is the error of a force that is expanded in 1/G
// (see expansionError). The third is the distance on the mean field of a second run whose logits
// are displaced by rounding in every step: instability makes errors grow there as in the simulated
// one.
func Paths(p cell.Params, init []float64, at []int, of ...Observed) []Path {
	return paths(p, init, at, true, of...)
}

// PathsAlone is Paths without the sizes of what they neglect.
func PathsAlone(p cell.Params, init []float64, at []int, of ...Observed) []Path {
	return paths(p, init, at, false, of...)
}

func paths(p cell.Params, init []float64, at []int, neglected bool, of ...Observed) (all []Path) {
	if p = p.Checked(); len(at) > 0 {
		p = Unlimited(p, init, at[len(at)-1])
	}
	var known []observable
	var places []int
	all = make([]Path, len(of))
	for i, q := range of {
		o, because := observableOf(&p, q)
		if because.Out() {
			all[i].Scope.Because = because
			continue
		}
		known, places = append(known, o), append(places, i)
	}
	follow := pathsOf
	if p.Tabular() {
		follow = tabularPaths
	}
	for n, path := range follow(p, init, at, neglected, known...) {
		all[places[n]] = path
	}
	return all
}

// maxSharePath is the largest number of steps over which MeanZeroVariance averages, each of which
// takes about a microsecond.
const maxSharePath = 100_000

// MeanZeroVariance computes the mean over the optimizer steps from ≤ t < to of the share of groups
// whose rewards are all equal, E[Σ_v P(r = v)^G] of the policy that draws them, for runs from the
// logits init with zero velocity. It needs no fixed point. It is computed as in Paths. The scope is
// out at G = ∞, where there are no groups, and where the KL is a part of the reward.
func MeanZeroVariance(p cell.Params, init []float64, from, to int) (share scope.Number) {
	p = p.Checked()
	cell.Want(0 <= from && from < to, "to", to, "more than from")
	if share.Because = p.NotDerived(cell.RewardsInDigits, cell.ShareOnTheWay); share.Out() {
		return share
	}
	if to-from > maxSharePath {
		share.Because = scope.TooLarge.Because(
			fmt.Sprintf("the share of groups with equal rewards over more than %d steps, here %d",
				maxSharePath, to-from))
		return share
	}
	at := make([]int, to-from)
	for i := range at {
		at[i] = from + i
	}
	path := paths(p, init, at, true, ZeroVariance)[0]
	if share.Kind, share.Because = path.Kind, path.Scope.Because; share.Out() {
		return share
	}
	share.Value = floats.Sum(path.Mean) / float64(len(at))
	share.Leave(scope.HigherOrder, floats.Sum(path.Neglected)/float64(len(at)))
	return share
}
