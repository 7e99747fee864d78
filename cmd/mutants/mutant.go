package main

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// mutant is one small fault, as a careless programmer would make it.
type mutant struct {
	id         string // package and fault, unique
	fault      string // what was done, in one line
	file       string // from the module's root, slashes
	before     string // what stands in the file, exactly once …
	after      string // … and what stands there instead
	equivalent string // why nothing can tell the two apart; empty where something must
}

// pkg returns the folder of the mutant's package, from the module's root.
func (m *mutant) pkg() string { return path.Dir(m.file) }

// apply returns the source with the fault in it.
func (m *mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.before); n != 1 {
		return "", fmt.Errorf("%s: its text occurs %d times in %s, want once:\n%s", m.id, n, m.file, m.before)
	}
	return strings.Replace(source, m.before, m.after, 1), nil
}

// fate is what became of a mutant.
type fate string

const (
	survived fate = "survived"
	byTest   fate = "test"    // a test failed
	byHang   fate = "hangs"   // a test did not end in time
	byRuling fate = "verdict" // a verdict turned
)

// report is what trying a mutant gave.
type report struct {
	mutant
	fate    fate
	killer  string // the test, package first, or the verdicts
	elapsed time.Duration
}

// verdict says the fate in words.
func (r *report) verdict() string {
	switch r.fate {
	case byTest:
		return "killed by " + r.killer
	case byHang:
		return "killed by " + r.killer + ", which hangs"
	case byRuling:
		return "killed by a verdict: " + r.killer
	}
	if r.equivalent != "" {
		return "survived, as argued"
	}
	return "SURVIVED"
}
