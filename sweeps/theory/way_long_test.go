//go:build long

package theory

import "testing"

// 200 random configurations against 4,096 runs each.
func TestLongWay(t *testing.T) { checkWay(t, 2, 100, 1024) }
