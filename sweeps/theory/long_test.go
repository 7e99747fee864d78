//go:build long

package theory

import (
	"testing"

	"grposim/option"
)

// The other laws of TestMixtureCurves.
func TestLongMixtureCurves(t *testing.T) { checkMixture(t, mixtures[1:]) }

// Other draws of TestTypicalSettings.
func TestLongTypicalSettings(t *testing.T) { checkTypical(t, 38, 39, 40) }

// Other settings of TestRareArmUnderAdam.
func TestLongRareArmsUnderAdam(t *testing.T) {
	checkRareArm(t, option.NoScale, 64, 2, 0.0177, 0.018, 300_000, 64, 0.36, 0.94, 0.16, 0.86, 0.50, 0.18)
	checkRareArm(t, option.NoScale, 16, 1, 0.031, 0.0169, 300_000, 256, 0.28, 0.72, 0.72)
	checkRareArm(t, option.StdScale, 64, 2, 0.22, 0.0138, 200_000, 128, 0.24, 0.35, 0.88)
	checkRareArm(t, option.NoScale, 16, 8, 0.0307, 0.00289, 600_000, 128, 0.64, 0.49, 0.94)
	checkRareArm(t, option.NoScale, 16, 4, 0.0179, 0.00953, 400_000, 128, 0.55, 0.62, 0.17, 0.75)
}
