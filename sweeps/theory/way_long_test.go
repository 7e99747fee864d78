//go:build long

package theory

import "testing"

// 40 other configurations.
func TestLongWay(t *testing.T) { checkWay(t, drawWay, 2, 40, 512, 8) }
