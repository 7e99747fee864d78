package main

import "fmt"

// target is a bound on a ratio. A bound of 0 means that there is none.
type target struct {
	bound float64
	least bool    // the ratio must be at least, rather than at most, the bound
	limit float64 // the ratio that a prototype with vector instructions reached; 0: none was made
}

func (t target) String() string {
	switch {
	case t.bound == 0:
		return ""
	case t.least:
		return fmt.Sprintf("≥ %.3g", t.bound)
	}
	return fmt.Sprintf("≤ %.3g", t.bound)
}

// reached returns the limit in words, "" for none.
func (t target) reached() string {
	if t.limit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", t.limit)
}

// met returns "yes" if a ratio meets the target, "no" if not, and "" without a bound.
func (t target) met(ratio float64) string {
	switch {
	case t.bound == 0:
		return ""
	case (ratio >= t.bound) == t.least || ratio == t.bound:
		return "yes"
	}
	return "no"
}
