package rom_test

import (
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
)

// The slopes s^± decide what is fresh and what is stale, and thresholds with them: the
// reference bandit with the std scale, β = 1.2, G = 16 (docs/theory-trainers.md §11.2).
func TestStiffnessOfWeights(t *testing.T) {
	for _, c := range []struct {
		weights                 []option.ImportanceMode
		fresh, stale, threshold float64
	}{
		{[]option.ImportanceMode{option.NoImportance}, 0.11380735, 0.22534537, 0.0128},
		{[]option.ImportanceMode{option.VESPO}, 0.54176053, -0.20260781, 0.0479},
		{[]option.ImportanceMode{ // of slope 1
			option.Ratio, option.Clip, option.DualClip, option.Truncated, option.Masked, option.CISPO, option.SAPO, option.DPPO,
		}, 0.40886144, -0.06970872, 0.3188},
	} {
		for _, w := range c.weights {
			p := weighted(bandit(option.StdScale, 1.2, 16), w)
			p.KL.At, p.Lag, p.Optimizer = option.AtCurrent, delay(16), option.Optimizer{LearningRate: 0.01, Momentum: 0.9}
			got := rom.Predict(p)
			printed(t, describe(p)+" λ_f", got.Stiffness.Fresh, c.fresh, 1e-8)
			printed(t, describe(p)+" λ_s", got.Stiffness.Stale, c.stale, 1e-8)
			printed(t, describe(p)+" threshold ηλ", critical(t, p), c.threshold, 1e-4)
		}
	}
}

// The mean force of one group far from the snapshot: z_old = 0.5, std scale, G = 16, no
// penalty. With noisy rewards a clip reverses it.
func TestForceFarFromTheSnapshot(t *testing.T) {
	for _, c := range []struct {
		w          option.ImportanceMode
		above, mid float64 // E g_1 at z = 1.5 and at z = −0.5
	}{
		{option.NoImportance, 0.32947826, 0.32947826},
		{option.Ratio, 0.20910526, 0.32947826},
		{option.Clip, -0.04075397, 0.39369255},
		{option.Truncated, 0.20228581, 0.27366117},
		{option.CISPO, 0.28762470, 0.31333918},
		{option.SAPO, 0.19797727, 0.30251451},
		{option.VESPO, 0.08287510, 0.45025588},
	} {
		p := weighted(bandit(option.StdScale, 0, 16), c.w)
		printed(t, describe(p)+" z = 1.5", mean(p, gapAt(1.5), gapAt(0.5))[0], c.above, 1e-8)
		printed(t, describe(p)+" z = −0.5", mean(p, gapAt(-0.5), gapAt(0.5))[0], c.mid, 1e-8)
	}
}

// Λ_f and Λ_s are the derivatives of the mean force for every weight, also where rewards
// have three values and at slopes that no trainer has.
func TestStiffnessOfWeightsIsTheDerivative(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, w := range option.ImportanceModes {
		for _, c := range []struct {
			law  option.Law
			size int
		}{{option.Bernoulli, 7}, {option.Constant, 5}, {option.Constant, option.Infinite}, {option.Normal, option.Infinite}} {
			p, theta, _ := randomCell(r, c.law, 3, c.size)
			p = weighted(p, w)
			p.Importance.Power, p.Importance.Decay = option.Signed{Positive: 0.5, Negative: 2.5}, option.Signed{Positive: 1.2, Negative: 0.1}
			for a := range p.Arms {
				p.Arms[a].Std = 0.4
			}
			checkStiffness(t, p, theta)
		}
	}
}
