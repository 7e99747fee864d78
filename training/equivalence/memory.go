package equivalence

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
	"grposim/training/fit"
)

const (
	windowRows   = 25   // of a run in every window, at least
	leastWindows = 3    // the median of fewer is not that without a jump
	tooSmall     = 0.05 // chance that the true correlation is not allowed
)

// largestCorrelation is the largest correlation r of the noise of successive rows, at most that
// of the residuals of the best law, that the rows of a run in windows of time allow. No law
// follows a run that collapses: its residuals correlate by their misfit, whatever the noise.
//
// Allowed is an r if noise with the correlation r^k over k rows, simulated at the same times,
// has a correlationWithin as small as that of the run with a chance of tooSmall at least: a
// test of each r, inverted, with the normal law of the simulated mean and deviation. So the true
// r is undercut by more than the residuals of the law do with that chance. A curve that bends
// within its windows makes the bound larger, and jumps in less than half of them do not matter.
func largestCorrelation(c fit.Curve, windows []segment, residuals float64) float64 {
	const draws, halvings = 200, 12
	windows = slices.DeleteFunc(windows, func(w segment) bool {
		first, end := rows(c, w.from, w.to)
		return slices.Min(c.Reward[first:end]) == slices.Max(c.Reward[first:end])
	})
	if len(windows) < leastWindows {
		return residuals
	}
	generator := rand.New(rand.NewPCG(1, draws))
	var noise [draws][]float64
	for k := range noise {
		for range c.Time {
			noise[k] = append(noise[k], generator.NormFloat64())
		}
	}
	found := correlationWithin(c, windows)
	allows := func(r float64) bool {
		var drawn [draws]float64
		for k := range noise {
			y := slices.Clone(noise[k])
			for i := 1; i < len(y); i++ {
				y[i] = r*y[i-1] + math.Sqrt(1-r*r)*y[i]
			}
			drawn[k] = correlationWithin(fit.Curve{Time: c.Time, Reward: y}, windows)
		}
		return found >= mean(drawn[:])+change.Noise(drawn[:])*distuv.UnitNormal.Quantile(tooSmall)
	}
	if allows(residuals) {
		return residuals
	}
	lo, hi := 0.0, residuals
	for range halvings {
		if r := (lo + hi) / 2; allows(r) {
			lo = r
		} else {
			hi = r
		}
	}
	return hi
}

// correlationWithin is the median over windows of Σ e_i e_{i+1}/Σ e_i², with the distances e of
// the rows of a window from their least-squares line.
func correlationWithin(c fit.Curve, windows []segment) float64 {
	var all []float64
	for _, w := range windows {
		first, end := rows(c, w.from, w.to)
		var squares, products, before float64
		for _, e := range change.Detrended(c.Time[first:end], c.Reward[first:end]) {
			squares, products, before = squares+e*e, products+e*before, e
		}
		all = append(all, products/squares)
	}
	return change.Median(all)
}
