//go:build long

package advice

import "testing"

// Of 60 random settings every suggestion arrives from the file's start in at least 95 % of 200
// other runs. A suggestion of which 4 % of the runs fail is taken with probability 0.04, and fails
// here with 0.21.
func TestLongSuggestionsArrive(t *testing.T) {
	if n := arrivals(t, 60, 8, 600, 1500, 3000); n < 40 {
		t.Errorf("%d suggestions, want most", n)
	}
}
