//go:build long

package theory

import "testing"

// The 10 sets of TestWayOfPrompts are 100.
func TestWayOfManyPrompts(t *testing.T) { checkPrompts(t, 5, 100, 2048) }
