package logs

import (
	"fmt"
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
	var b strings.Builder
	var forms []string
	for _, f := range lineForms {
		forms = append(forms, f.is)
	}
	var formats [][][2]string
	for _, f := range slices.Concat(textFormats, binaryFormats) {
		formats = append(formats, f.docs)
	}
	page := template.Must(template.New("logs.md.tmpl").Funcs(template.FuncMap{"list": list}).ParseFiles("testdata/logs.md.tmpl"))
	if err := page.Execute(&b, map[string]any{"Formats": formats, "LineForms": forms, "StepKeys": stepKeys,
		"UpdateNames": slices.Sorted(maps.Keys(updateNames)), "Quantities": Quantities}); err != nil {
		panic(err)
	}
	for _, t := range trainers {
		if t.Name == Plain {
			b.WriteString("\n## Any file\n\nWhere no trainer has more of the file's keys than these. The names of the quantities are keys in every file.\n\n")
		} else {
			fmt.Fprintf(&b, "\n## %s\n\nNot in its logs: %s%s\n\n", t.Name, strings.ToLower(t.Unobserved[:1]), t.Unobserved[1:])
		}
		var prefixes []string
		for _, p := range t.Prefixes {
			if p != "" {
				prefixes = append(prefixes, p)
			}
		}
		if len(prefixes) > 0 {
			fmt.Fprintf(&b, "Keys may begin with %s.\n\n", list(prefixes))
		}
		b.WriteString("| quantity | key | what it means |\n|---|---|---|\n")
		rules := slices.Clone(t.Keys[:t.own])
		for _, r := range t.EvalKeys {
			if r.Quantity.family() == EvalScore && t.Like == "" {
				rules = append(rules, r)
			}
		}
		slices.SortStableFunc(rules, func(x, y rule) int { return x.Quantity.rank() - y.Quantity.rank() })
		for _, r := range rules {
			if r.Quantity != "" {
				fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r.Quantity, r.Key, r.Meaning)
			}
		}
		if t.Like != "" {
			fmt.Fprintf(&b, "\nAll others as %s.\n", t.Like)
		}
		if t.Evaluation == evalOwns {
			b.WriteString("\nIn evaluation the same keys, after `eval_` or `eval/` or as they are.\n")
		}
	}
	return []byte(b.String())
}

// list lists words as code.
func list(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
