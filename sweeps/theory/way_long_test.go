//go:build long

package theory

import "testing"

// 40 other configurations.
func TestLongWay(t *testing.T) { checkWay(t, drawWay, 2, 40, 512, 8) }

func TestLongReusedWay(t *testing.T) { checkWay(t, drawReused, 2, 100, 1024, 8) }
