package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Meanings of the keys outside the key table, for schema and reference document.
const (
	docName       = "Name of the file's experiment and of its results folder."
	docClaim      = "What the file claims, in prose."
	docExtends    = "Another configuration file, relative to the folder of this one, or a preset, the defaults of a trainer: trl, verl, openrlhf, nemo-rl, areal, prime-rl or slime ([trainers.md](trainers.md)). All of its keys hold here that this file does not give, except `name` and `claim`; sections are joined key by key, and lists such as `sweep` and `checks` are taken as a whole."
	docConfidence = "Family-wise confidence level (Bonferroni) of all verdicts of the file."
	docSweep      = "A grid over the axes in order; the last runs fastest. `{zip: [axis, axis]}` varies several keys together."
	docVariants   = "A union of grids. Each variant is the base with the values of `set`, swept over its own `sweep` (default: that of the file). With variants, the base alone is not a cell."
	docChecks     = "The claims that are judged, each with its margin."
)

// locatingDocs are the paragraphs about `locate`.
var locatingDocs = []string{
	"`locate: {param: optimizer.learning_rate, from: 0.1, to: 8, tolerance: 0.001}` searches along one parameter for the first event of the claim. First the stiffness is measured (`displacement`, `draws`; with more than two arms, the whole matrix Λ). `from` and `to` are multiples of the paper's rule at the measured λ, η = (1 − μ)/(λ max(K, 1)) or K = (1 − μ)/(ηλ) (K is (1 + `lag.behind`) times the interval of a block and the mean of random ages), and never of the prediction that is judged. Starting at `from`, the parameter grows by at most 5 % per step (20 % at finite G) until the first event; then the last bracket is halved until its relative width is `tolerance`. The measurement is this bracket, widened by the confidence interval of the measured stiffness. Without an event up to `to` the upper end of the bracket is open, and the measurement agrees with a prediction beyond `to`. At each value that is tried the event is certainly absent, certainly present, or undecided (too little data or too short a run). Undecided values widen the bracket; a search that ends undecided decides nothing. The prediction is made at the measured stiffness; it is out of scope where the theory has not searched as far.",
	"Nothing else is simulated in a located cell, and each cell is searched once. Checks of other claims, except `stiffness` with the same `displacement` and `draws`, must therefore select other cells (`where`, `variant`), and so must checks that locate another event or use another search. `stability-threshold` and `rule-is-safe` locate the same event and can share a search. The cell's own value of `param` is not used, so no axis may vary it.",
}

// controlDoc is the paragraph about `control`.
const controlDoc = "A control is a planted fault that the check must catch. The check is judged a second time, on the same stored estimates, by a theory with the fault; this verdict is stored as `control` and must be *disagree*, else the exit code is 3. With `expect: fails` and no `control`, the exact prediction takes the place of the refuted one; it is no planted fault and is counted apart. A located event is judged at the measured stiffness, so its fault must change more than the closed form of the stiffness: use `scale: {stiffness: 1.1}`, or `set` keys of `lag` and `optimizer`. The control of `failure-mode` is another mode; that of a claim about a law may be another law."

// ReferenceDoc returns the reference document of a configuration (docs/config.md), in
// Markdown.
func ReferenceDoc() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Configuration reference")
	line("")
	line("Generated from the key table and the claim table of package `sweeps/config`; `configs/schema.json` is the same for editors. In a file, a dotted key is written as nested mappings:")
	line("")
	line("```yaml\n%s```", referenceExample)
	line("")
	line("A file is one YAML document of scalars, lists and mappings. It has no anchors, aliases, merge keys, tags or tabs, each key at most once, and integers without a decimal point. All errors in a file are reported at once, each as `file:line:column: key: got X, want Y`. `--set key=value` accepts the keys of the base, `name` and `confidence`; the value is a YAML scalar or a list or mapping in flow style. What it gives wins over the file, in every cell: over an axis over the key alone, and over what variants set. A list of values, as in `--set grpo.group_size=[4,16]` (in quotes for zsh), sweeps the key: it takes the place of the values of its axis, and where there is none it makes one, the last, in every grid. Several lists multiply. A zip stays, because its keys belong together: other values have to stand in the file. Notes on stderr say which variants lose a value or keep a zip.")
	line("")
	line("## The file")
	line("")
	line("| key | value | default | meaning |")
	line("|---|---|---|---|")
	line("| `name` | %s | required | %s |", nameWant, docName)
	line("| `claim` | text | | %s |", docClaim)
	line("| `extends` | the name of a file or of a preset | | %s |", docExtends)
	line("| `seed`, `bandit`, `policy`, `grpo`, `lag`, `optimizer`, `run` | | | The base; see the next table. |")
	line("| `sweep` | a list of axes | `[]` | %s |", docSweep)
	line("| `variants` | a list of `{name, set, sweep}` | `[]` | %s |", docVariants)
	line("| `checks` | a list of checks | `[]` | %s A file may have none. |", docChecks)
	line("| `confidence` | a number in (0, 1) | 0.99 | %s |", docConfidence)
	line("")
	line("## The base")
	line("")
	line("| key | value | default | meaning |")
	line("|---|---|---|---|")
	for _, k := range Keys {
		byDefault := "required"
		switch {
		case k.Default != nil:
			byDefault = Format(k.Default)
		case k.Follows != "":
			byDefault = k.Follows
		}
		doc := k.Doc
		if k.Idle.Param != "" {
			doc += fmt.Sprintf(" No effect where `%s` is %s.", k.Idle.Param, listWords(k.Idle.words()))
		}
		line("| `%s` | %s | %s | %s |", k.Path, k.Want(), byDefault, inTable(doc))
	}
	line("")
	line("Lists have one entry per arm, or one per item of `bandit.arms` where items have a `count`; a bandit has at most %d arms. A required key may be left out where the sweep, or every variant, gives it. Keys of a mode that is not chosen are allowed, because an axis may choose it; a key that has no effect in any cell gets a note on stderr. `run.burn_in` is less than `run.steps`, and the warm-up of a linear or cosine schedule is less than its total.", maxArms)
	line("")
	line("## Axes")
	line("")
	line("| form | points |")
	line("|---|---|")
	line("| `{param: KEY, values: [a, b, c]}` | the listed values; for any key, enumerations and lists included |")
	line("| `{param: KEY, log: {from: a, to: b, points: n}}` | n values in equal ratios, both ends included |")
	line("| `{param: KEY, range: {from: a, to: b, step: s}}` | a, a + s, …, b |")
	line("| `{zip: [AXIS, AXIS]}` | several keys varied together; equally many points each |")
	line("")
	line("Axes over integers give integers. An axis over `seed` repeats the other cells with other random numbers, as in `{param: seed, values: [1, 2, 3]}`: each is simulated and judged by itself. Values are rounded to 12 significant digits. A repeated value is an error (inside a zip: a repeated point), as is a second axis over a key. All grids together have at most %d cells.", maxCells)
	line("")
	line("## Checks")
	line("")
	line("| key | meaning |")
	line("|---|---|")
	for _, key := range checkKeys {
		line("| `%s` | %s |", key.Path, inTable(key.Doc))
	}
	line("")
	line("## Claims")
	line("")
	line("| claim | verdicts | quantity | needs | predictions | says |")
	line("|---|---|---|---|---|---|")
	for _, row := range Claims {
		var needs, kinds []string
		for _, need := range row.Needs {
			needs = append(needs, string(need))
		}
		for _, kind := range row.Predictions {
			kinds = append(kinds, string(kind))
		}
		line("| `%s` | %s | %s | %s | %s | %s |", row.Name, row.Per, inTable(row.Quantity), strings.Join(needs, "; "), strings.Join(kinds, ", "), row.Doc)
	}
	line("")
	line("How they are measured and judged:")
	line("")
	for _, row := range Claims {
		if row.How != "" {
			line("- **`%s`**: %s", row.Name, row.How)
		}
	}
	line("")
	line("## Locating")
	line("")
	for _, paragraph := range locatingDocs {
		line("%s\n", paragraph)
	}
	line("## Controls")
	line("")
	line("%s", controlDoc)
	return b.Bytes()
}

// inTable escapes |, which would end a cell of a Markdown table.
func inTable(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

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
