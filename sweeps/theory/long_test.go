//go:build long

package theory

import "testing"

// One exponential fits the mean curve of prompts of every law.
func TestLongMixtureCurves(t *testing.T) { testMixtures(t, mixtureCurves) }
