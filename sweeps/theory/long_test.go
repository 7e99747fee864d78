//go:build long

package theory

import "testing"

// The other laws of TestMixtureCurves.
func TestLongMixtureCurves(t *testing.T) { checkMixture(t, mixtures[1:]) }

// Other draws of TestTypicalSettings.
func TestLongTypicalSettings(t *testing.T) { checkTypical(t, 38, 39, 40) }

// 40 other configurations.
func TestLongWay(t *testing.T) { checkWay(t, drawWay, 2, 40, 512, 8) }

// The 10 sets of TestWayOfPrompts are 30 others; 100 of them were tried.
func TestLongWayOfPrompts(t *testing.T) { checkPrompts(t, 5, 30, 2048) }
