//go:build !long

package rest

import "flag"

// Thin is the factor by which fast tests thin out similar cases: they try one case
// in Thin. The long tests try all.
const Thin = 8

// A fast run draws fewer random cases; -rapid.checks on the command line overrides.
func init() {
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
}
