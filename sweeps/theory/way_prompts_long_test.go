//go:build long

package theory

import "testing"

// The 10 sets of TestWayOfPrompts are 30 others; 100 of them were tried.
func TestLongWayOfPrompts(t *testing.T) { checkPrompts(t, 5, 30, 2048) }
