package logs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// checkGolden compares got with a file, or rewrites the file under -update.
func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// testFiles lists the files of a folder of testdata, without the golden ones.
func testFiles(t testing.TB, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	var files []string
	for _, file := range all {
		if !strings.HasSuffix(file, ".golden") {
			files = append(files, file)
		}
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	return files
}

// describe writes a log as text.
func describe(l *Log) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, averaged %d\n", l.Format, l.Averaged)
	table := func(name string, t *Table) {
		fmt.Fprintf(&b, "\n%s\nsteps: %v\n", name, t.Steps)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "%s (%s): %v\n\t%s\n", c.Quantity, c.Key, c.Values, c.Meaning)
		}
	}
	table("training", &l.Table)
	if l.Evaluation != nil {
		table("evaluation", l.Evaluation)
	}
	for i, n := range l.Notes {
		if i == 0 {
			b.WriteString("\nnotes\n")
		}
		b.WriteString(n + "\n")
	}
	return []byte(b.String())
}

// Every kind of file gives its quantities, meanings, values and notes.
func TestReadGood(t *testing.T) {
	for _, file := range testFiles(t, "good") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			l, err := Open(file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, file+".golden", describe(l))
		})
	}
}

// Bad files get their messages.
func TestReadBad(t *testing.T) {
	for _, file := range testFiles(t, "bad") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			l, err := Read(f, filepath.Base(file), Options{})
			if err == nil {
				t.Fatalf("accepted:\n%s", describe(l))
			}
			checkGolden(t, file+".golden", []byte(err.Error()+"\n"))
		})
	}
}

// logSource is a version, and the file at a commit or release, or the page, that shows it.
var logSource = regexp.MustCompile(`\d.*\n(\S+/\S+@(v[\d.]+|[0-9a-f]{7}) \S+\.(py|yaml)|mlflow\.org/)`)

// The table of keys names every quantity and every trainer, and every trainer and each of its facts
// have a version and a source.
func TestWriteKeys(t *testing.T) {
	var b strings.Builder
	if err := WriteKeys(&b); err != nil {
		t.Fatal(err)
	}
	for _, q := range Quantities() {
		if _, has := ranges[q.Range]; !has || !strings.Contains(b.String(), fmt.Sprintf("| `%s` |", q.Quantity)) {
			t.Errorf("no quantity %s, or no range %q", q.Quantity, q.Range)
		}
	}
	strict := json.NewDecoder(bytes.NewReader(trainersFile))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new([]trainer)); err != nil {
		t.Error(err)
	}
	for _, trainer := range trainers() {
		for _, r := range slices.Concat(trainer.Keys, trainer.EvalKeys) {
			apart := strings.Contains(r.Key, "*") && !strings.Contains(r.Key, "/")
			if r.Key == "" || apart || r.Quantity != "" && (r.Quantity.rank() < 0 || r.Meaning == "") {
				t.Errorf("%s: got %+v, want a key with a quantity of Quantities and what it means", trainer.Name, r)
			}
		}
		ours := trainer.Name == Plain || trainer.Name == Grposim
		if !strings.Contains(b.String(), "\n## "+string(trainer.Name)) || !ours &&
			!logSource.MatchString(trainer.Version+"\n"+trainer.Source) {
			t.Errorf("%s: no heading or source", trainer.Name)
		}
		for _, f := range trainer.Facts {
			if !logSource.MatchString(f.Version+"\n"+f.Source) || !strings.Contains(b.String(), f.Says) {
				t.Errorf("%s: %+v", trainer.Name, f)
			}
		}
	}
}
