package logs

import (
	_ "embed"
	"io"
	"slices"
	"strings"
	"text/template"
)

//go:embed keys.md.tmpl
var keysText string

// WriteKeys describes files, quantities, and the keys that each trainer has for them, in Markdown.
func WriteKeys(w io.Writer) error {
	var formats [][2]string
	for _, f := range slices.Concat(textFormats, binaryFormats) {
		formats = append(formats, f.docs...)
	}
	var forms []string
	for _, f := range lineForms {
		forms = append(forms, f.is)
	}
	page := template.New("keys").Funcs(template.FuncMap{"list": list, "rules": trainerKeys,
		"uncapital": uncapital})
	return template.Must(page.Parse(keysText)).Execute(w, map[string]any{
		"Formats": formats, "LineForms": forms, "StepKeys": stepKeys,
		"Quantities": Quantities, "Trainers": trainers(), "Own": evalOwns,
	})
}

// trainerKeys returns a trainer's keys, and those of its scores in evaluation, by quantity.
func trainerKeys(t trainer) (rows []rule) {
	for i, r := range slices.Concat(t.Keys[:t.own], t.EvalKeys) {
		isScore := r.Quantity.Family() == EvalScore && t.Like == ""
		if r.Quantity != "" && (i < t.own || isScore) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(x, y rule) int { return x.Quantity.rank() - y.Quantity.rank() })
	return rows
}

// list lists words that are not empty as code.
func list(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

func uncapital(text string) string { return strings.ToLower(text[:1]) + text[1:] }
