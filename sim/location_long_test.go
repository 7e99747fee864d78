//go:build long

package sim

import "testing"

// As many groups a step as the committed experiment has.
func TestLocatedThresholdOfManySampledGroups(t *testing.T) {
	checkSampledThreshold(t, 4096, 8, 0.01, 0.04)
}
