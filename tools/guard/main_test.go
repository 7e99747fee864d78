package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Two programs are the same only if exit code, standard output and files are, manifests aside,
// and if the second takes no longer.
func TestCompare(t *testing.T) {
	const base = `echo out; echo progress >&2; mkdir -p $1/a; echo file > $1/a/b; date > $1/manifest.json`
	for _, test := range []struct {
		name, changed string
		want          string // part of what is wrong; "": nothing
	}{
		{"same", base + "; echo other progress >&2", ""},
		{"output", strings.Replace(base, "out;", "Out;", 1), "work: the bytes differ: FOLDER"},
		{"file", strings.Replace(base, "file", "File", 1), "work: the bytes differ: /a/b"},
		{"another file", base + "; touch $1/c", "work: the bytes differ: /c"},
		{"a file less", base + "; rm $1/a/b", "work: the bytes differ: /a/b"},
		{"exit code", base + "; exit 3", "work: the bytes differ: FOLDER"},
		{"slower", base + "; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", "work: slower by the factor"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			var programs [2]string
			for i, text := range []string{base, test.changed} {
				programs[i] = filepath.Join(dir, []string{"base", "changed"}[i])
				if err := os.WriteFile(programs[i], []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var table strings.Builder
			wrong, err := compare(t.Context(), programs, []task{{"work", [][]string{{"FOLDER"}}}}, 1, dir, &table)
			if err != nil {
				t.Fatal(err)
			}
			// A script that does nothing takes no measurable time, or twice as much by chance.
			if test.name != "slower" {
				slower := func(text string) bool { return strings.Contains(text, "slower") }
				wrong = slices.DeleteFunc(wrong, slower)
			}
			if got := strings.Join(wrong, "\n"); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !strings.Contains(table.String(), "\nwork ") {
				t.Errorf("no row of the task:\n%s", &table)
			}
		})
	}
}

// Two tables are compared cell by cell, verdicts by their keys.
func TestDifference(t *testing.T) {
	for _, test := range []struct{ name, a, b, want string }{
		{"table", "id,x,y\n1,2,a\n2,4,b\n", "id,y,x\n1,a,2.02\n2,c,4\n",
			"\n  x: 1 differ by at most 0.0099\n  y: 1 differ in words"},
		{"verdicts", `{"verdicts":[{"verdict":"agree","z":1},{"z":2}]}`,
			`{"verdicts":[{"verdict":"disagree","z":1},{"z":3}]}`,
			"\n  verdict: 1 differ in words\n  z: 1 differ by at most 0.33"},
		{"prediction", "exit code 0\n{\"z\": 1}", "exit code 0\n{}", "\n  z: 1 differ in words"},
		{"text", "exit code 0\na", "exit code 0\nb", ""},
	} {
		if got := difference(test.a, test.b); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
