package config

import "testing"

// Each statement of the table has an id of its own, where, says, and one of tested and
// not_testable; one on other data is tested.
func TestStatements(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Paper().Statements {
		if !nameSyntax.MatchString(s.ID) || s.Where == "" || s.Says == "" {
			t.Errorf("%s: incomplete", s.ID)
		}
		if seen[s.ID] {
			t.Errorf("%s stands twice", s.ID)
		}
		seen[s.ID] = true
		if (s.Tested == "") == (s.NotTestable == "") || s.On != "" && s.Tested == "" || s.On != "" &&
			s.On.String() == "" {
			t.Errorf("%s: tested %q, not testable %q, on %q", s.ID, s.Tested, s.NotTestable, s.On)
		}
	}
}
