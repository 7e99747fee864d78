//go:build long

package theory

import "testing"

// The other laws of TestMixtureCurves.
func TestLongMixtureCurves(t *testing.T) { checkMixture(t, mixtures[1:]) }
