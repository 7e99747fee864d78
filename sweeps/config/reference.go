package config

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

// fileKey is a key of a file that is not of the base.
type fileKey struct{ Path, Values, ByDefault, Doc string }

// fileKeys are the keys of a file beside those of the base.
var fileKeys = []fileKey{
	{"name", nameWant, "required", "Name of the file's experiment and of its results folder."},
	{"claim", "text", "", "What the file claims, in prose."},
	{extendsKey, "the name of a file or of a preset", "", "Another configuration file, relative to the folder of this one, or a preset, the defaults of a trainer: trl, verl, openrlhf, nemo-rl, areal, prime-rl or slime. All of its keys hold here that this file does not give, except `name` and `claim`; sections are joined key by key, and lists such as `sweep` and `checks` are taken as a whole."},
	{"sweep", "a list of axes", "`[]`", "A grid over the axes in order; the last runs fastest. `{zip: [axis, axis]}` varies several keys together."},
	{"variants", "a list of `{name, set, sweep}`", "`[]`", "A union of grids. Each variant is the base with the values of `set`, swept over its own `sweep` (default: that of the file). With variants, the base alone is not a cell."},
	{"checks", "a list of checks", "`[]`", "The claims that are judged, each with its margin."},
	{"confidence", "a number in (0, 1)", "0.99", "Family-wise confidence level (Bonferroni) of all verdicts of the file."},
}

//go:embed reference.md.tmpl
var referenceText string

// WriteReference writes a part of the reference as Markdown: "keys" or "claims".
func WriteReference(w io.Writer, part string) error {
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	page := template.New("reference").Funcs(template.FuncMap{"cell": cell})
	return template.Must(page.Parse(referenceText)).ExecuteTemplate(w, part, map[string]any{
		"Example": referenceExample, "File": fileKeys, "Keys": Keys, "Checks": checkKeys, "Claims": Claims,
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
