package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grposim/training/findings"
)

// Every kind of finding has a log in testdata/findings that begins with its name and in
// which it stands first. Beside some is the report that the command prints. A healthy log
// has no failure.
func TestFindings(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "findings"))
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[findings.Kind]bool)
	for _, file := range files {
		name := file.Name()
		if strings.HasSuffix(name, ".report") {
			continue
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"diagnose", name}, &stdout, &stderr)
		if want, err := os.ReadFile(name + ".report"); err == nil {
			if got := stdout.String(); got != string(want) && *update {
				write(t, name+".report", got)
			} else if got != string(want) {
				t.Errorf("%s (-update rewrites it): got\n%s%s\nwant\n%s", name, got, &stderr, want)
			}
		}
		sources, err := reading{}.sources(name)
		if err != nil {
			t.Fatal(err)
		}
		first := findings.Kind("")
		failed := false
		for i, f := range sources[0].report().Findings {
			if i == 0 {
				first = f.Kind
			}
			failed = failed || f.Level == findings.Failure
		}
		if failed != (code == exitDisagree) {
			t.Errorf("%s: exit code %d, and a failure: %v", name, code, failed)
		}
		shown[first] = true
		if first != "" && !strings.HasPrefix(name, string(first)) || first == "" && !strings.HasPrefix(name, "healthy") {
			t.Errorf("%s: the first finding is %q", name, first)
		}
	}
	for _, k := range findings.Kinds() {
		if !shown[k] {
			t.Errorf("no log shows %s", k)
		}
	}
}

// --mode asks about findings as it does about modes; one that no column can show is not
// observable.
func TestFindingsAsked(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "findings"))
	for _, c := range []struct {
		file, mode string
		code       int
	}{
		{"numerical-failure.trainer_state.json", "numerical-failure", exitDisagree},
		{"numerical-failure.trainer_state.json", "kl-blow-up", 0},
		{"numerical-failure.trainer_state.json", "sampler-mismatch", exitInconclusive},
		{"no-update.jsonl", "no-update,truncation", exitDisagree},
		{"no-update.jsonl", "advantage-degeneracy", exitInconclusive},
		{"components-apart.log", "components-apart", 0},
		{"healthy.jsonl", "numerical-failure,no-update,truncation", 0},
		{"healthy.jsonl", "no-such-kind", exitUsage},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), []string{"diagnose", c.file, "--mode", c.mode}, &stdout, &stderr); got != c.code {
			t.Errorf("%s --mode %s: exit code %d, want %d\n%s%s", c.file, c.mode, got, c.code, &stdout, &stderr)
		}
	}
}
