package config

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The document of a Spec loads back into the same Spec.
func TestDocumentLoadsBack(t *testing.T) {
	options := []cmp.Option{
		cmpopts.IgnoreUnexported(Spec{}, Axis{}), cmpopts.IgnoreFields(Spec{}, "Notes"), cmpopts.EquateEmpty(),
		// a set has no order
		cmpopts.SortSlices(func(a, b Assignment) bool { return a.Param < b.Param }),
		cmpopts.SortSlices(func(a, b Condition) bool { return a.Param < b.Param }),
	}
	files := glob(t, "testdata/good/*.yaml", "../../configs/map.yaml", "../../configs/smoke.yaml", "../../configs/paper/*.yaml")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			document := want.Document()
			got, err := Load("document", document)
			if err != nil {
				t.Fatalf("%v\n%s", err, document)
			}
			if diff := cmp.Diff(want, got, options...); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.Points(), got.Points()); diff != "" {
				t.Error(diff)
			}
			if again := got.Document(); string(again) != string(document) {
				t.Errorf("the document of the document differs:\n%s\n%s", document, again)
			}
		})
	}
}

func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}
