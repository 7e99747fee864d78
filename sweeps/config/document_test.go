package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The document of a Spec loads back into the same Spec. No file of the program gives a key
// without effect.
func TestDocumentLoadsBack(t *testing.T) {
	options := []cmp.Option{
		cmpopts.IgnoreUnexported(Spec{}, Axis{}), cmpopts.IgnoreFields(Spec{}, "Notes"),
		cmpopts.EquateEmpty(),
		// a set has no order
		cmpopts.SortSlices(func(a, b Assignment) bool { return a.Param < b.Param }),
		cmpopts.SortSlices(func(a, b Condition) bool { return a.Param < b.Param }),
	}
	var files []string
	for _, pattern := range []string{"good/*.yaml", "../../../configs/[a-r]*.yaml",
		"../../../configs/smoke.yaml", "../../../configs/paper/*.yaml",
		"../../../configs/trainers/*.yaml"} {
		files = append(files, testFiles(t, pattern)...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := must(ToJudge.ReadFile(file))(t)
			if len(want.Notes) > 0 && !strings.HasPrefix(file, "testdata") {
				t.Error(want.Notes)
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
