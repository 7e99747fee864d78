package logs

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"
)

// docs/logs.md is written from the table.
func TestLogsDoc(t *testing.T) {
	checkGolden(t, "../../docs/logs.md", logsDoc())
}

func logsDoc() []byte {
	var forms []string
	for _, f := range lineForms {
		forms = append(forms, f.is)
	}
	var formats [][2]string
	for _, f := range slices.Concat(textFormats, binaryFormats) {
		formats = append(formats, f.docs...)
	}
	// rules returns the rows of a trainer's keys, and of those of evaluation the scores.
	rules := func(t trainer) (rows []rule) {
		for i, r := range slices.Concat(t.Keys[:t.own], t.EvalKeys) {
			if ofEval := i >= t.own; r.Quantity != "" && (!ofEval || r.Quantity.family() == EvalScore && t.Like == "") {
				rows = append(rows, r)
			}
		}
		slices.SortStableFunc(rows, func(x, y rule) int { return x.Quantity.rank() - y.Quantity.rank() })
		return rows
	}
	given := func(prefixes []string) []string {
		return slices.DeleteFunc(slices.Clone(prefixes), func(p string) bool { return p == "" })
	}
	uncapital := func(text string) string { return strings.ToLower(text[:1]) + text[1:] }
	var b bytes.Buffer
	page := template.Must(template.New("logs.md.tmpl").Funcs(template.FuncMap{"list": list, "rules": rules, "given": given, "uncapital": uncapital}).ParseFiles("testdata/logs.md.tmpl"))
	if err := page.Execute(&b, map[string]any{"Formats": formats, "LineForms": forms, "StepKeys": stepKeys,
		"UpdateNames": slices.Sorted(maps.Keys(updateNames)), "Quantities": Quantities, "Trainers": trainers(), "Own": evalOwns}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// list lists words as code.
func list(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
