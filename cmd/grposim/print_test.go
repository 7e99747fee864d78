package main

import (
	"encoding/json"
	"math"
	"testing"
)

// An object keeps the order of its fields, and a number that is not finite is null.
func TestObject(t *testing.T) {
	inner := object{"z", math.NaN(), "a", math.Inf(-1)}
	for want, o := range map[string]object{
		`{}`: {},
		`{"b":1,"a":[{"z":null,"a":null}],"c":"\u003c"}`: object{"b", 1., "a", []object{inner}}.with("there", 0, false).with("c", "<", true),
	} {
		if got, err := json.Marshal(o); err != nil || string(got) != want {
			t.Errorf("got %s, want %s: %v", got, want, err)
		}
	}
}
