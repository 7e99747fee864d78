package config

import _ "embed"

// ReferenceText has the templates "keys" and "claims" of the reference, in Markdown.
//
//go:embed reference.md.tmpl
var ReferenceText string

//go:embed example.yaml
var referenceExample string // the smallest file with a sweep and a check

// Reference returns what fills the templates of ReferenceText.
func Reference() map[string]any {
	return map[string]any{"Example": referenceExample, "File": table.File, "Keys": Keys,
		"Checks": checkKeys, "Claims": Claims, "MaxArms": maxArms, "MaxCells": maxCells}
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
