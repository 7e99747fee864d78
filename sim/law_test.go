//go:build long

package sim

import "testing"

// The moments of the exact nonlinear laws lie in the measured intervals, of 99 % joint
// confidence, from 120 million replica-steps each.
func TestLongExactNonlinearLaw(t *testing.T) {
	checkExactLaws(t, Run{Steps: 31_000, BurnIn: 1000, Replicas: 4096}, 0.99)
}
