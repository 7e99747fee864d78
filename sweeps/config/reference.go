package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Prose of the keys outside the key table, for schema and reference.
const (
	docName       = "Names the results folder."
	docClaim      = "What the file claims, in prose."
	docSeed       = "Seed of every random number."
	docConfidence = "Family-wise confidence (Bonferroni) over all verdicts that the file makes."
	docSweep      = "A grid over the axes, in order, the last running fastest; `{zip: [axis, axis]}` varies several together."
	docVariants   = "A union of grids: each the base with `set` and with its own `sweep`, by default the file's; with variants the base alone is no cell."
	docChecks     = "The claims that are judged, and by which margin."
)

// checkDocs is the prose of the keys that every check may have.
var checkDocs = map[string]string{
	"claim":           "A row of the claim table below; required.",
	"margin":          "How far a measurement may lie from the prediction, relative to |predicted|.",
	"absolute_margin": "The same in the quantity's own units, for a prediction that may be 0; exactly one of the two. 0 only where `lag.interval` is located and the exact prediction is judged: both are whole numbers, the paper's rule and leading order are not.",
	"prediction":      "Which prediction is judged; by default the first of the claim's, and where that is exact and the theory has none, leading-order.",
	"expect":          "`holds` (default), or `fails`: the measurement must lie wholly outside predicted ± margin; not with the exact prediction.",
	"where":           "Selects cells: dotted keys, each with a value or a list of values.",
	"variant":         "Restricts the check to one variant.",
	"control":         "The planted fault that the check must catch: `{set: {key: value}}`, a wrong theory, or `{scale: {stiffness: factor}}` with stiffness, noise, lag or mass (lag and mass: not for the exact prediction), applied after the sweep to what the theory is given. Of `failure-mode` it is another mode, `{mode: none}`.",
}

// checkDoc is the prose of a key of a check.
func checkDoc(name string) string {
	if doc, common := checkDocs[name]; common {
		return doc
	}
	return measuringKeys[slices.IndexFunc(measuringKeys, func(key measuringKey) bool { return key.name == name })].doc
}

// locatingDocs is the prose of `locate`.
var locatingDocs = []string{
	"`locate: {param: optimizer.learning_rate, from: 0.1, to: 8, tolerance: 0.001}` searches along one parameter for the first event of the claim. The stiffness is measured first (`displacement`, `draws`; of more than two arms all of Λ). `from` and `to` are multiples of the paper's rule at the measured λ, η = (1 − μ)/(λ max(K, 1)) or K = (1 − μ)/(ηλ), never of the prediction that is judged. From `from` upwards the parameter grows by at most 5 % a step (20 % at finite G) to the first event; the last bracket is then halved to the relative `tolerance`. What is measured is that bracket, widened by the interval of the measured stiffness; without an event up to `to` its upper end is open, and it agrees with a prediction beyond. A value that is tried is certainly without the event, certainly with it, or undecided: too little data or too short a run. Undecided values widen the bracket, and an undecided end of the search decides nothing. The prediction is made at the measured stiffness; where the theory has not searched as far it is out of scope.",
	"A located cell simulates nothing else: another claim, but for `stiffness` with the same `displacement` and `draws`, must select other cells (`where`, `variant`), and so must a check that locates another event or searches otherwise, because a cell carries one location. `stability-threshold` and `rule-is-safe` locate the same event and can share one. The cell's own value of `param` is not used, so no axis may vary it.",
}

// controlDoc is the prose of `control`.
const controlDoc = "A control is a planted fault that the check must catch: the check is judged a second time, on the same stored estimates, by a theory with the fault, and that verdict, stored as `control`, must be *disagree*. With `expect: fails` and no `control` the fault is the exact prediction in the place of the refuted one. A location is judged at the measured stiffness, so a fault there must change more than the closed form of the stiffness: `scale: {stiffness: 1.1}`, or `set` keys of `lag` and `optimizer`. The control of `failure-mode` is another mode."

// ReferenceDoc gives the reference document of the configuration, in Markdown.
func ReferenceDoc() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Configuration reference")
	line("")
	line("Generated from the key table and the claim table of package `sweeps`; `configs/schema.json` is the same for editors. Every key below the first table is given nested at its dots:")
	line("")
	line("```yaml\n%s```", referenceExample)
	line("")
	line("A file is one YAML document of scalars, lists and mappings: no anchors, aliases, merge keys or tags, no tabs, every key once, whole numbers where integers belong. Everything wrong with it is reported at once, each `file:line:column: key: got X, want Y`. `--set key=value` takes the dotted keys of the base, and `seed`, `name` and `confidence`; its value is a YAML scalar or flow list.")
	line("")
	line("## The file")
	line("")
	line("| key | value | default | meaning |")
	line("|---|---|---|---|")
	line("| `name` | %s | required | %s |", nameWant, docName)
	line("| `claim` | text | | %s |", docClaim)
	line("| `seed` | an unsigned 64-bit integer | required | %s |", docSeed)
	line("| `bandit`, `policy`, `grpo`, `lag`, `optimizer`, `run` | mappings | | The base; see the next table. |")
	line("| `sweep` | a list of axes | `[]` | %s |", docSweep)
	line("| `variants` | a list of `{name, set, sweep}` | `[]` | %s |", docVariants)
	line("| `checks` | a list of checks | `[]` | %s A sweep without checks is first-class. |", docChecks)
	line("| `confidence` | a number in (0, 1) | 0.99 | %s |", docConfidence)
	line("")
	line("## The base")
	line("")
	line("| key | value | default | meaning |")
	line("|---|---|---|---|")
	for _, k := range Keys {
		standard := "required"
		switch {
		case k.Default != nil:
			standard = Format(k.Default)
		case k.Follows != "":
			standard = k.Follows
		}
		line("| `%s` | %s | %s | %s |", k.Path, k.Want(), standard, inTable(k.Doc))
	}
	line("")
	line("Lists have one entry an arm, or one an item of `bandit.arms` where items have a `count`; a bandit has at most %d arms. Keys of a mode that is not chosen are allowed: an axis may choose it. `run.burn_in` is less than `run.steps`, and the warm-up of a linear or cosine schedule less than its total.", maxArms)
	line("")
	line("## Axes")
	line("")
	line("| form | points |")
	line("|---|---|")
	line("| `{param: KEY, values: [a, b, c]}` | the values; any key, enumerations and lists too |")
	line("| `{param: KEY, log: {from: a, to: b, points: n}}` | n in equal ratios, both ends included |")
	line("| `{param: KEY, range: {from: a, to: b, step: s}}` | a, a + s, …, b |")
	line("| `{zip: [AXIS, AXIS]}` | several parameters together; equally many points each |")
	line("")
	line("Axes over integers give integers. Values are rounded to 12 significant digits. A repeated value is an error (inside a zip: a repeated point), as is more than one axis over a key. All grids together have at most %d cells.", maxCells)
	line("")
	line("## Checks")
	line("")
	line("| key | meaning |")
	line("|---|---|")
	for _, name := range checkFields {
		line("| `%s` | %s |", name, inTable(checkDoc(name)))
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
		line("| `%s` | %s | %s | %s | %s | %s |", row.Name, row.Per, row.Quantity, strings.Join(needs, "; "), strings.Join(kinds, ", "), row.Doc)
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

// inTable escapes what would end a cell of a Markdown table.
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
