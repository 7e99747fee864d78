package sweeps

import (
	"flag"
	"os"
	"path/filepath"
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

func testFiles(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

func TestLoadBad(t *testing.T) {
	for _, file := range testFiles(t, "bad/*.yaml") {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := Load(name+".yaml", data)
			if err == nil {
				t.Fatalf("accepted: %+v", spec)
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".txt", []byte(err.Error()+"\n"))
		})
	}
}

func TestLoadGood(t *testing.T) {
	for _, file := range testFiles(t, "good/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, err := ReadFile(file); err != nil {
				t.Error(err)
			}
		})
	}
}
