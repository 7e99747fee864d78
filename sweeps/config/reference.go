package config

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

//go:embed reference.md.tmpl
var referenceText string

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

// referenceExample is the smallest file with a sweep and a check.
const referenceExample = `name: example
seed: 1
bandit:
  arms:
    - {reward: bernoulli, mean: 0.9}
    - {reward: bernoulli, mean: 0.2}
grpo:
  group_size: 16
  kl: {coefficient: 0.5}
optimizer: {learning_rate: 0.02}
run: {steps: 20000, burn_in: 2000, replicas: 64}
sweep:
  - {param: grpo.group_size, values: [4, 8, 16]}
checks:
  - {claim: stationary-fluctuation, margin: 0.02, control: {scale: {noise: 1.1}}}
`
