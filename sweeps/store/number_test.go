package store

import (
	"encoding/json"
	"math"
	"testing"
)

// Numbers are written as their shortest decimal, or null if they are not finite.
func TestNumberJSON(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0.1, "0.1"}, {1e-7, "1e-7"}, {math.NaN(), "null"}, {math.Inf(-1), "null"}} {
		data, err := json.Marshal(Number(c.x))
		if err != nil || string(data) != c.want {
			t.Errorf("%g is written as %s, %v; want %s", c.x, data, err, c.want)
		}
		var back Number
		if err := json.Unmarshal(data, &back); err != nil || c.want != "null" && float64(back) != c.x {
			t.Errorf("%s is read as %g, %v", data, float64(back), err)
		}
	}
}
