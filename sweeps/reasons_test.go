package sweeps

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// example is a configuration in which the theory gives a reason.
type example struct {
	row  scope.Row
	ask  string // where it is said: predict, json, path, or a check
	set  string // values of keys over configs/smoke.yaml, separated by semicolons
	cure string // those which change the reason; "": no cheap one is known
}

// The questions of examples that are not checks.
const (
	askPredict = "predict"        // the column SCOPE
	askJSON    = "predict --json" // the parts of a prediction
	askPath    = "predict --path"
	askArrival = "predict --path --json" // what is said of lost runs, in path.arrival
)

// listed matches the only shell command in examples, a list by the numbers from one to another.
var listed = regexp.MustCompile(`\$\(seq -s, -f '(.*)%g(.*)' (\d+) (\d+)\)`)

// settingsOf returns settings as of --set, the last one of each key.
func settingsOf(text string) (set []string) {
	text = listed.ReplaceAllStringFunc(text, func(command string) string {
		part := listed.FindStringSubmatch(command)
		first, _ := strconv.Atoi(part[3])
		last, _ := strconv.Atoi(part[4])
		var items []string
		for n := first; n <= last; n++ {
			items = append(items, fmt.Sprint(part[1], n, part[2]))
		}
		return strings.Join(items, ",")
	})
	for _, s := range strings.Split(text, ";") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		key, _, _ := strings.Cut(s, "=")
		set = append(slices.DeleteFunc(set, func(old string) bool { return strings.HasPrefix(old, key+"=") }), s)
	}
	return set
}

// base returns the configuration that an example changes: smoke, unless its settings begin with another.
func (x *example) base() (name, set string) {
	if name, set, other := strings.Cut(x.set, ": "); other && !strings.ContainsAny(name, "=;") {
		return name, set
	}
	return "smoke", x.set
}

// cured returns an example with what changes its reason.
func (x example) cured() example {
	if strings.HasPrefix(x.cure, "{") {
		x.ask = x.cure
	} else {
		x.set += "; " + x.cure
	}
	return x
}

// file returns an example with a check as a configuration file.
func (x *example) file(extends string) string {
	tree := map[string]any{}
	_, given := x.base()
	for _, s := range settingsOf(given) {
		key, value, _ := strings.Cut(s, "=")
		at, path := tree, strings.Split(key, ".")
		for _, name := range path[:len(path)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		at[path[len(path)-1]] = value
	}
	var flow func(v any) string
	flow = func(v any) string {
		m, inner := v.(map[string]any)
		if !inner {
			return v.(string)
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, name+": "+flow(m[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	lines := []string{"name: example", "extends: " + extends}
	for _, section := range slices.Sorted(maps.Keys(tree)) {
		lines = append(lines, section+": "+flow(tree[section]))
	}
	return strings.Join(append(lines, "checks: ["+x.ask+"]"), "\n") + "\n"
}

// reasons returns what the theory says where an example asks, for each cell or finding.
func (x *example) reasons(t *testing.T) (all []scope.Reason) {
	t.Helper()
	name, given := x.base()
	base, err := filepath.Abs("../configs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(x.ask, "{") {
		file := filepath.Join(t.TempDir(), "example.yaml")
		if err := os.WriteFile(file, []byte(x.file(base)), 0o644); err != nil {
			t.Fatal(err)
		}
		spec, err := config.ToJudge.ReadFile(file)
		if err != nil {
			t.Errorf("%v\n%s", err, x.file(base))
			return nil
		}
		plan := NewPlan(spec)
		outcomes, err := Simulate(t.Context(), plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, planned := range plan.Checks {
			j := newJudgement(planned.Check, plan.IntervalConfidence(), newEvidence(outcomes))
			for _, set := range planned.Sets {
				for _, f := range j.find(set) {
					all = append(all, f.predicted.Judged(j.margin(f.predicted.Value)))
				}
			}
		}
		return all
	}
	spec, err := config.ToPredict.ReadFile(base, settingsOf(given)...)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	plan := NewPlan(spec)
	for c := range plan.Cells {
		all = append(all, said(x.ask, plan, &plan.Cells[c])...)
	}
	return all
}

// said returns the reasons that a command says of a cell.
func said(ask string, plan *Plan, c *Cell) []scope.Reason {
	if ask == askArrival {
		var all []scope.Reason
		if arrival := plan.Way(c, math.NaN()).Arrival; arrival != nil {
			all = append(all, arrival.Lost.Because)
			for _, row := range arrival.Rows {
				all = append(all, row.Because, row.Share.Because)
			}
		}
		return all
	}
	if ask == askPath {
		way := plan.Way(c, math.NaN())
		all := []scope.Reason{way.Scope.Because}
		for _, q := range slices.Sorted(maps.Keys(way.Quantities)) {
			all = append(all, way.Quantities[q].Because)
		}
		return all
	}
	p := theory.NewCache().Line(c.ID, &c.Settings, plan.VarianceMargin(c))
	dynamics, _ := p.Linear()
	if ask == askPredict {
		switch {
		case p.Scope.Because.Out():
			return []scope.Reason{p.Scope.Because}
		case dynamics.Scope.Because.Out():
			return []scope.Reason{dynamics.Scope.Because}
		case p.Variance != nil:
			return []scope.Reason{p.Margin.Judge(&p.AtRest.Variance)}
		}
		return nil
	}
	return []scope.Reason{
		p.Scope.Because, dynamics.Scope.Because, p.Noise.Because, p.Exact.Scope.Because, p.LeadingOrder.Scope.Because,
		p.Prediction.PaperRule.Because, p.RuleAtStiffness.Because, p.RuleAtLargestAge.Because, p.SufficientRule.Because,
		p.AtRest.Mean.Because, p.AtRest.Variance.Because, p.AtRest.ZeroShare.Because,
	}
}

// first returns the first of some reasons that is of the example's row.
func (x *example) first(all []scope.Reason) (reason scope.Reason, said bool) {
	i := slices.IndexFunc(all, func(r scope.Reason) bool { return r.Is(x.row) })
	if i < 0 {
		return scope.Reason{}, false
	}
	return all[i], true
}

// The theory gives in each example the reason of its row and, with the change that what to do
// about it names, another one or none. docs/reasons.md is written from the table of reasons and the
// examples; every row has one or is said not to be in reach of a configuration.
func TestReasonsDoc(t *testing.T) {
	words := make(map[scope.Row]scope.Reason)
	for _, x := range examples {
		t.Run(x.row.Name(), func(t *testing.T) {
			all := x.reasons(t)
			reason, said := x.first(all)
			if !said {
				t.Fatalf("%s %s gives %q", x.ask, x.set, all)
			}
			words[x.row] = reason
			if x.cure == "" {
				return
			}
			cured := x.cured()
			if reason, said := x.first(cured.reasons(t)); said {
				t.Errorf("%s does not change %s", x.cure, reason)
			}
		})
	}
	if t.Failed() {
		return
	}
	const path = "../docs/reasons.md"
	want := reasonsDoc(t, words)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(readFile(t, path)); got != want {
		t.Errorf("%s is not what the code says (-update rewrites it)", path)
	}
}

// reasonsDoc returns docs/reasons.md, with the words of each example.
func reasonsDoc(t *testing.T, words map[scope.Row]scope.Reason) string {
	var b strings.Builder
	b.WriteString(reasonsIntroduction)
	begins := reasonSections(t)
	for row := range scope.Rows {
		if title := begins[row]; title != "" {
			b.WriteString("\n## " + title + "\n")
		}
		i := slices.IndexFunc(examples, func(x example) bool { return x.row == row })
		why := unreachable[row]
		if (i < 0) == (why == "") {
			t.Errorf("%s: want an example, or why there is none", row.Name())
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", row.Name())
		if i < 0 {
			fmt.Fprintf(&b, "> %s\n\nNo example: %s.\n\nWhat to do: %s.\n", verbs.ReplaceAllString(row.Words(), "…"), why, row.Try())
			continue
		}
		x := &examples[i]
		fmt.Fprintf(&b, "> %s\n\n%s\nWhat to do: %s.", words[row], x.shown(), words[row].Try())
		switch {
		case strings.HasPrefix(x.cure, "{"):
			fmt.Fprintf(&b, " Here: `%s`.", x.cure)
		case x.cure != "":
			fmt.Fprintf(&b, " Here: `%s`.", strings.Join(settingsOf(x.cure), "`, `"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

const reasonsIntroduction = `# Reasons

Where the theory has no answer it says why: in the column SCOPE of ` + "`grposim predict`" + `, in ` + "`because`" + ` of a
prediction's JSON and of a verdict that is out of scope. This page has every reason, an example, and what to do. [primer.md](primer.md) has the
words, [config.md](config.md) the keys, and [theory-neglected.md](theory-neglected.md) what the theory leaves out.

The page is generated from the table in package ` + "`rom/scope`" + `. A test runs each example. It also applies the change behind *Here*, after which the theory
answers or names another reason. Examples change ` + "`configs/smoke.yaml`" + ` or another file of configs; those with a check are files of their own.
`

// verbs finds the places in the words of a row that a cell fills in.
var verbs = regexp.MustCompile(`%[0-9.]*[a-z]`)

// shown returns an example as a reader can paste it.
func (x *example) shown() string {
	name, given := x.base()
	if strings.HasPrefix(x.ask, "{") {
		return "```yaml\n" + x.file("configs/"+name+".yaml") + "```\n"
	}
	command, flag, _ := strings.Cut(x.ask, " ")
	if strings.Contains(name, "/") {
		name = "configs/" + name + ".yaml"
	}
	line := "grposim " + strings.TrimSpace(command+" "+name+" "+flag)
	if listed.MatchString(given) {
		return fmt.Sprintf("Example: `%s --set \"%s\"`\n", line, given)
	}
	for _, s := range settingsOf(given) {
		if strings.ContainsAny(s, " []{}") {
			s = "'" + s + "'"
		}
		line += " --set " + s
	}
	return "Example: `" + line + "`\n"
}

// reasonSections returns the titles of the sections of the table of reasons, by their first row: comments
// between the constants.
func reasonSections(t *testing.T) map[scope.Row]string {
	_, text, _ := strings.Cut(string(readFile(t, "../rom/scope/table.go")), "answered Row = iota\n")
	text, _, _ = strings.Cut(text, "\n)\n")
	sections, row := make(map[scope.Row]string), scope.Row(1)
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "// "):
			sections[row] = strings.TrimSuffix(strings.TrimPrefix(line, "// "), ".")
		case line != "":
			row++
		}
	}
	return sections
}

var quotedInText = regexp.MustCompile("`([^`]+)`")

// What the table of reasons names in backticks is a key of a configuration, or of a check, a command with a flag, or a field of
// a prediction.
func TestReasonsNameKeys(t *testing.T) {
	known := []string{"offset", "draws", "from", "to", "prediction", "sweep", "predict", "predict --path", "advise", "leading_order", "bandit.prompts"}
	for _, k := range config.Keys {
		known = append(known, k.Path)
	}
	for row := range scope.Rows {
		for _, match := range quotedInText.FindAllStringSubmatch(row.Words()+row.Try(), -1) {
			if !slices.Contains(known, match[1]) {
				t.Errorf("%s names %s, which is none", row.Name(), match[1])
			}
		}
	}
}
