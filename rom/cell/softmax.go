package cell

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
)

func ReferenceLogs(p *Params) []float64 {
	logs := make([]float64, len(p.Reference))
	LogSoftmax(logs, p.Reference)
	return logs
}

// Softmax writes π_a = e^{θ_a}/Σ_b e^{θ_b} into dst. The largest logit is
// subtracted first, so that no exponential overflows; probabilities below the
// range of floating point (about 1e-308) are 0. It returns log Σ_b e^{θ_b}.
func Softmax(dst, theta []float64) (norm float64) {
	top, sum := slices.Max(theta), 0.0
	for a, x := range theta {
		dst[a] = fp.MathExp(x - top)
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
	return top + math.Log(sum)
}

// PolicyAt returns π_a by arm, a new list.
func PolicyAt(theta []float64) []float64 {
	probs := make([]float64, len(theta))
	Softmax(probs, theta)
	return probs
}

// LogSoftmax writes log π_a into dst. Unlike log(softmax) it stays finite
// where a probability underflows.
func LogSoftmax(dst, theta []float64) {
	norm := Softmax(dst, theta)
	for a, x := range theta {
		dst[a] = x - norm
	}
}

// Span returns the largest mean reward of an arm less the smallest.
func Span(arms []option.Arm) float64 {
	low, high := arms[0].Mean, arms[0].Mean
	for _, arm := range arms {
		low, high = min(low, arm.Mean), max(high, arm.Mean)
	}
	return high - low
}

// Expected returns Σ_a π_a m_a.
func Expected(arms []option.Arm, probs []float64) float64 {
	sum := 0.0
	for a, p := range probs {
		sum += p * arms[a].Mean
	}
	return sum
}
