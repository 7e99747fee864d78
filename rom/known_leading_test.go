package rom_test

import (
	"testing"

	"grposim/option"
	"grposim/rom"
)

// The white-noise oscillator has Var z = N/(2γk), N = η² Var[2g_1] (docs/theory.md §4), and D/(GCK)
// is N/(γk); on-policy γ = 1 − μ. Numbers of §5: none, β = 0.5, G = 16.
func TestLeadingVariance(t *testing.T) {
	const rate, mu, lambda, noise = 0.02, 0.5, 0.1670956266, 1.195284019e-2
	p := bandit(option.NoScale, 0.5, 16)
	p.Lag, p.Optimizer = block(1), option.Optimizer{LearningRate: rate, Momentum: mu}
	got := rom.Predict(p)
	gap := rate * noise / (2 * (1 - mu) * lambda)
	j := 0.751551837
	share := (j - 0.2) / 0.7
	slope := share * (1 - share) * 0.7 // dJ/dz
	leading := got.LeadingOrder.StationaryVariance
	closeTo(t, "Var z", said(t, "Var z", leading.LogitGap), gap, 1e-8*gap)
	closeTo(t, "Var J", said(t, "Var J", leading.ExpectedReward), slope*slope*gap, 1e-7*slope*slope*gap)
	paper := slope * slope * rate * noise / ((1 - mu) * lambda)
	closeTo(t, "the paper's Var J", said(t, "paper", got.RuleAtStiffness.RewardVariance), paper, 1e-7*paper)
}
