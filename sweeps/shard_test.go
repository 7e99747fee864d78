package sweeps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// runShards simulates a file in shards, each in its own folder, and returns the folders.
func runShards(t *testing.T, text string, of int) (dirs []string) {
	t.Helper()
	for i := range of {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("shard ", i+1))
		part := plan.NewPart(planText(t, text).Spec, store.Shard{Index: i + 1, Of: of})
		noError(t, (Runner{Workers: 2, Progress: &silent{}}).RunPart(t.Context(), part, dir))
		dirs = append(dirs, dir)
	}
	return dirs
}

// Shards merged, in any order, give the files of a single run.
func TestMergedShardsAreTheSingleRun(t *testing.T) {
	whole := t.TempDir()
	runSweep(t, small, whole, 2)
	want := contents(t, whole)
	dirs := runShards(t, small, 3)
	slices.Reverse(dirs)
	out := t.TempDir()
	for range 2 { // merging again changes nothing
		e := must(Runner{Workers: 1, Progress: &silent{}}.Merge(t.Context(), out, dirs))
		if len(e.Verdicts) == 0 {
			t.Error("no verdicts")
		}
		sameContents(t, "merged", contents(t, out), want)
	}
	_, _, err := Open(dirs[0])
	refused(t, "a shard", err, "is shard 3 of 3: `grposim merge")
}

// A shard that is missing, unfinished, damaged, of another version or of another
// configuration is named, and nothing is written; so are two shards with different bytes of a
// cell, but not with the same.
func TestMergeRefuses(t *testing.T) {
	dirs := runShards(t, small, 3)
	changed := func(change func(journal []byte) []byte) string {
		dir := t.TempDir()
		for _, name := range []string{store.ManifestName, store.JournalName} {
			data := must(os.ReadFile(filepath.Join(dirs[1], name)))
			if name == store.JournalName {
				data = change(data)
			}
			noError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		}
		return dir
	}
	unfinished := changed(func([]byte) []byte { return nil })
	damaged := changed(func(journal []byte) []byte { journal[300] ^= 1; return journal })
	older := changed(func(journal []byte) []byte { return aged(journal) })
	foreign := runShards(t, strings.Replace(small, "seed: ", "seed: 1", 1), 3)[1]
	other := changed(func(journal []byte) []byte { return forged(journal, `"mean":0.`, `"mean":1.`) })
	_, err := (Runner{Workers: 1, Progress: &silent{}}).Merge(t.Context(), t.TempDir(),
		append([]string{dirs[1]}, dirs...))
	if err != nil {
		t.Errorf("the same shard twice: %v", err)
	}
	for _, x := range []struct {
		dirs []string
		want []string
	}{
		{append([]string{other}, dirs...), []string{filepath.Join(other, store.JournalName),
			filepath.Join(dirs[1], store.JournalName), "different measurements of cell "}},
		{[]string{dirs[0], dirs[2]}, []string{"cells are missing: no folder is given of shard 2/3"}},
		{[]string{dirs[1]}, []string{"no folder is given of shard 1/3, 3/3"}},
		{[]string{dirs[0], unfinished, dirs[2]}, []string{"a shard has not finished"}},
		{[]string{dirs[0], damaged, dirs[2]}, []string{damaged, "damaged lines"}},
		{[]string{dirs[0], older, dirs[2]}, []string{older, `cells of version "stream 2, measuring 1"`}},
		{[]string{dirs[0], foreign, dirs[2]}, []string{foreign, "another configuration than " + dirs[0]}},
		{[]string{dirs[0], t.TempDir()}, []string{"holds no results"}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Runner{Workers: 1, Progress: &silent{}}.Merge(t.Context(), out, x.dirs)
		var damage *store.DamagedError
		var folder *store.FolderError
		if !errors.As(err, &damage) && !errors.As(err, &folder) {
			t.Errorf("%q: %v", x.want, err)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want %q", err, want)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q: something was written", x.want)
		}
	}
}
