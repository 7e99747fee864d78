//go:build long

package sim

import "testing"

// As many groups a step as the committed experiment has, and twice the pairs.
func TestLocatedThresholdOfManySampledGroups(t *testing.T) {
	checkSampledThreshold(t, 4096, 16, 0.01, 0.04)
}
