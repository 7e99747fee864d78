package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grposim/training/findings"
	"grposim/training/logs"
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
		if _, err := os.Stat(name + ".report"); err == nil {
			golden(t, name+".report", stdout.String())
		}
		runs, err := sources(name, logs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := findings.Kind("")
		failed := false
		for i, f := range runs[0].report(findings.Of(runs[0].log)).findings {
			if i == 0 {
				first = f.Kind
			}
			failed = failed || f.Level == findings.Failure
		}
		if failed != (code == exitDisagree) {
			t.Errorf("%s: exit code %d, and a failure: %v", name, code, failed)
		}
		shown[first] = true
		if !strings.HasPrefix(name, cmp.Or(string(first), "healthy")) {
			t.Errorf("%s: the first finding is %q", name, first)
		}
	}
	for _, k := range findings.Hidden(nil) {
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
		{"healthy.jsonl", "numerical-failure,no-update,truncation", 0},
		{"healthy.jsonl", "no-such-kind", exitUsage},
	} {
		grposim(t, c.code, "diagnose", c.file, "--mode", c.mode)
	}
}

// A report says what it means that nothing is found: how much the columns can show, and which
// modes are not observable. Objects of JSON name the kinds that no column can show.
func TestNothingFound(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "healthy.jsonl", trlLog(160, func(i int, values numbers) {
		values["completions/mean_length"] = 200 + float64(i%7)
	}))
	write(t, "curve.csv", "step,reward\n1,0.5\n2,0.6\n")
	for _, c := range []struct {
		file        string
		shown, code int
		leading     string
	}{
		{"healthy.jsonl", 9, 0, "no failure is found"},
		{"curve.csv", 2, exitInconclusive, "no failure is found; 4 of 4 failure modes of the dynamics cannot be judged from this log"},
	} {
		const shows = "no findings: the columns can show %d of 12 kinds, and show none\n"
		says(t, c.code, fmt.Sprintf(shows, c.shown), "diagnose", c.file)
		says(t, c.code, "\n"+c.leading+"\n", "diagnose", c.file)
		r := diagnosed(t, c.code, c.file)
		hidden := at(r, "findings_not_observable").([]any)
		if len(hidden) != 12-c.shown || at(r, "rows") == 0. || at(r, "last_step") == 0. {
			t.Errorf("%s: not observable %v, in %v", c.file, hidden, r)
		}
	}
}
