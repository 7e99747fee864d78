//go:build !long

package rom

import "flag"

// Thin is the share of many alike cases that a fast run looks at, one in Thin;
// the long tests take all.
const Thin = 3

// A fast run draws fewer random cases; -rapid.checks on the command line overrides.
func init() {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
}
