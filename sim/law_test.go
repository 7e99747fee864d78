//go:build long

package sim

import "testing"

// The exact nonlinear law lies in the simulation's 99 % intervals (family-wise)
// of 120 million replica-steps each.
func TestExactNonlinearLawClosely(t *testing.T) {
	checkExactLaws(t, Run{Steps: 31_000, BurnIn: 1000, Replicas: 4096}, 0.99)
}
