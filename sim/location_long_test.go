//go:build long

package sim

import "testing"

// A sampled threshold with as many groups a step as the committed experiment, and twice
// as many pairs.
func TestLongLocatedThreshold(t *testing.T) {
	checkSampledThreshold(t, 4096, 16, 0.01, 0.04)
}
