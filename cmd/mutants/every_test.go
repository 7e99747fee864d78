//go:build mutants

package mutants

import "testing"

// The tests of its tree find every fault of the table.
func TestMutants(t *testing.T) {
	t.Chdir("../..")
	for _, f := range table {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			file, mutated, err := f.mutate()
			if err != nil {
				t.Fatal(err)
			}
			killer, err := try(t.TempDir(), file, mutated, 5*timeout, "./"+f.tree+"/...")
			if err != nil {
				t.Fatal(err)
			}
			if killer == "" {
				t.Fatalf("no test fails: %s", f.what)
			}
			t.Log(killer)
		})
	}
}
