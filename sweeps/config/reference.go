package config

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

//go:embed reference.md.tmpl
var referenceText string

//go:embed example.yaml
var referenceExample string // the smallest file with a sweep and a check

// WriteReference writes a part of the reference as Markdown: "keys" or "claims".
func WriteReference(w io.Writer, part string) error {
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	page := template.New("reference").Funcs(template.FuncMap{"cell": cell})
	return template.Must(page.Parse(referenceText)).ExecuteTemplate(w, part, map[string]any{
		"Example": referenceExample, "File": table.File, "Keys": Keys, "Checks": checkKeys, "Claims": Claims,
		"MaxArms": maxArms, "MaxCells": maxCells,
	})
}

// ByDefault says in words what the key is where a file leaves it out.
func (k Key) ByDefault() string {
	switch {
	case k.Default != nil:
		return Format(k.Default)
	case k.Follows != "":
		return k.Follows
	}
	return "required"
}
