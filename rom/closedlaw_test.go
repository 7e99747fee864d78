package rom

import (
	"math"
	"testing"

	"grposim/option"
)

// The density of closedLaw carries no flux: F h p = ½ c ∇·(F p) at any logits, c = 2β s², the divergence by differences.
func TestClosedLawCarriesNoFlux(t *testing.T) {
	const beta, spread, step = 0.3, 0.8, 1e-4
	means, still := []float64{0.9, 0.2, 0.4}, []float64{0.7, -0.9, 0.2} // the fixed point with the reference θ* − m/β
	density := func(theta []float64) float64 {
		sum, square := 0.0, 0.0
		for a, x := range theta {
			sum += math.Exp(x)
			square += (x - still[a]) * (x - still[a])
		}
		return sum * sum * math.Exp(-square/(2*spread))
	}
	score := func(theta []float64, a, b int) float64 { // F
		probs := make([]float64, len(theta))
		softmax(probs, theta)
		if a == b {
			return probs[a] * (1 - probs[a])
		}
		return -probs[a] * probs[b]
	}
	for _, theta := range [][]float64{{0.7, -0.9, 0.2}, {2, -1.5, -0.5}, {-0.6, -0.7, 1.3}, {3.1, -1.1, -2}} {
		for a := range theta {
			drift, divergence := 0.0, 0.0
			for b := range theta {
				h := means[b] - beta*(theta[b]-still[b]+means[b]/beta) // m − β log(π/π_ref) but for a constant
				drift += score(theta, a, b) * h * density(theta)
				moved := func(by float64) float64 {
					x := append([]float64{}, theta...)
					x[b] += by
					// Centred: a shift of all logits changes neither F nor J, and is no direction of the density.
					for k := range x {
						x[k] -= by / 3
					}
					return score(x, a, b) * density(x)
				}
				divergence += (moved(step) - moved(-step)) / (2 * step)
			}
			if miss := drift - beta*spread*divergence; math.Abs(miss) > 1e-6*density(theta) {
				t.Errorf("θ = %v: arm %d has a flux of %g of the density", theta, a, miss/density(theta))
			}
		}
	}
}

// Var J of closedLaw is that of its density, summed over a grid of the two directions of three centred logits; to first and
// second order in s² it is the series that closedLaw gives; and the law of one rare arm is log-normal.
func TestClosedLawMoments(t *testing.T) {
	arms := []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.4}}
	still := []float64{0.7, -0.9, 0.2}
	l := &linearization{folded: unmerged(Params{Arms: arms}), logits: still}
	probs := make([]float64, 3)
	for _, spread := range []float64{1e-3, 0.1, 1, 4} {
		var weight, first, square float64
		const reach, points = 9, 300
		for i := -points; i <= points; i++ {
			for j := -points; j <= points; j++ {
				x, y := reach*math.Sqrt(spread)*float64(i)/points, reach*math.Sqrt(spread)*float64(j)/points
				// The density grows with e^{2 max θ}: its centre moves by up to 2 s² (in two directions at most √2 × that).
				x, y = x+2*spread*float64(i)/points, y+2*spread*float64(j)/points
				theta := []float64{still[0] + x/math.Sqrt2 + y/math.Sqrt(6), still[1] - x/math.Sqrt2 + y/math.Sqrt(6), still[2] - 2*y/math.Sqrt(6)}
				sum := math.Exp(theta[0]) + math.Exp(theta[1]) + math.Exp(theta[2])
				w := sum * sum * math.Exp(-(x*x+y*y)/(2*spread))
				softmax(probs, theta)
				reward := expected(arms, probs)
				weight, first, square = weight+w, first+w*reward, square+w*reward*reward
			}
		}
		softmax(probs, still)
		slope := 0.0
		for a, p := range probs {
			d := arms[a].Mean - expected(arms, probs)
			slope += p * p * d * d
		}
		law := l.closedLaw(spread * slope)
		if want := square/weight - first*first/weight/weight; math.Abs(law.variance/want-1) > 1e-6 || math.Abs(law.spread/spread-1) > 1e-12 {
			t.Errorf("s² = %g: Var J %g of s² = %g, want %g", spread, law.variance, law.spread, want)
		}
		if series := spread*slope + law.second; spread < 1e-2 && math.Abs(law.variance/series-1) > 10*spread*spread {
			t.Errorf("s² = %g: Var J %g, to second order %g", spread, law.variance, series)
		}
	}
	const rare = 1e-8
	l = &linearization{folded: unmerged(Params{Arms: arms[:2]}), logits: []float64{0, math.Log(rare)}}
	size := rare * rare * 0.7 * 0.7
	for _, v := range []float64{0.5, 3, 8} { // of log π, 2s²
		if got, want := l.closedLaw(v*size).variance, size*-math.Expm1(-v); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("V = %g: Var J %g, want π²d²(1 − e^−V) = %g", v, got, want)
		}
	}
}

// Three arms of which one has all but 9e-4. The second order in the noise is of the size of the first, as that of the
// closed law is, so that this is known to what they differ by.
func TestLargeFluctuations(t *testing.T) {
	got := Predict(Params{
		Arms:      []option.Arm{{Mean: 0.86}, {Mean: 0.92}, {Mean: 0.57}},
		Estimator: option.Estimator{GroupSize: 4, GroupsPerStep: 1, KL: option.KL{Coefficient: 0.0146}, Advantage: option.Advantage{Epsilon: 1e-6}},
		Optimizer: option.Optimizer{LearningRate: 0.204, Momentum: 0.5},
		Lag:       option.Lag{Interval: 1},
	})
	linear, variance := *got.Exact.StationaryVariance.ExpectedReward, *got.Moments.RewardVariance
	if !got.Noise.In || !(variance > 0.25*linear && variance < 0.4*linear) || !(got.Neglected.RewardVariance < 0.2*variance) {
		t.Errorf("Var J %g to %g, linear %g", variance, got.Neglected.RewardVariance, linear)
	}
}
