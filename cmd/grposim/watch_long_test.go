//go:build long

package main

import "testing"

// Looking at every row does not stop more than one healthy run of fifty.
func TestLongWatchLeavesHealthyRuns(t *testing.T) { stops(t, 500) }
