//go:build long

package theory

import "testing"

// The other laws of TestMixtureCurves.
func TestLongMixtureCurves(t *testing.T) { checkMixture(t, mixtures[1:]) }

// Other draws of TestTypicalSettings.
func TestLongTypicalSettings(t *testing.T) { checkTypical(t, 38, 39, 40) }
