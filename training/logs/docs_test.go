package logs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// docs/logs.md is written from the table.
func TestLogsDoc(t *testing.T) {
	checkGolden(t, "../../docs/logs.md", logsDoc())
}

func logsDoc() []byte {
	var b strings.Builder
	b.WriteString(`# Logs of trainers

Written from the code; do not edit. To rewrite it: ` + "`go test ./training/logs -run TestLogsDoc -update`" + `.

Package ` + "`training/logs`" + ` reads what a GRPO trainer records of a run, and names each series by what it is. The trainer is the one of which the file has the most keys; it is named where two of them are no general names, or one has a slash or three words.

## Files

| file | how it is recognised |
|---|---|
| TensorBoard event files | files ` + "`*tfevents*`" + `, or the folder with them: the scalars, of which the tags are the keys |
| ` + "`trainer_state.json`" + ` of transformers | a JSON object with ` + "`log_history`" + `; of a trainer's output folder, its own or that of its newest checkpoint, whichever is longer; event files below the folder are read instead if they go as far |
| JSON lines, or a JSON list | an object per row, flat or nested: keys of nested objects are joined by a slash, and verl's ` + "`{\"step\": N, \"data\": {…}}`" + ` has the keys of ` + "`data`" + ` |
| console output | lines of the forms below among any other text |
| history of W&B as CSV | columns ` + "`_step`, `_runtime`" + ` and the keys |
| the file of a run of W&B | ` + "`run-ID.wandb`" + `, which W&B keeps in ` + "`wandb/run-DATE-ID`" + `, offline too; or the folder with it |
| a chart of W&B as CSV | columns ` + "`RUN - KEY`" + ` of one or several runs; those that end in ` + "`__MIN` and `__MAX`" + ` are left out |
| a chart of TensorBoard, downloaded | CSV with columns ` + "`Wall time`, `Step`, `Value`" + `, or a JSON list of rows ` + "`[WALL TIME, STEP, VALUE]`" + `; read as the reward |
| Parquet | flat columns of numbers, such as the artifact ` + "`RUN-history:v0`" + ` of W&B |
| metrics of MLflow | folders ` + "`RUN/metrics`" + ` with a file for each key, of lines ` + "`TIME VALUE STEP`" + `, or a folder with such folders |
| CSV | a header with known keys, with commas, tabs or semicolons; with semicolons decimals may follow a comma |
| a notebook of Jupyter, a log of Kaggle | what its cells printed: the table in which the trainer shows its progress, or the text |
| a table of a notebook or of pandas, pasted | a header with two known keys between bars (Markdown), tabs or spaces, among any other text; cells ` + "`nan`, `No Log`, `-`" + ` and empty ones are missing |

Any file may be packed with gzip, and text may be UTF-16. ` + "`-`" + ` is standard input, for diagnose and fit.

A folder with event files is a run, named by its path in the folder that is opened; so is a folder of MLflow's metrics, and a RUN of a chart. Of several runs diagnose and fit treat each in turn, or the one that ` + "`--run`" + ` names; watch, compare and advise want one.

The lines of a console have one of these forms. Those of the last three count only in a file without any of the others.

`)
	for _, f := range lineForms {
		b.WriteString("- " + f.is + "\n")
	}
	b.WriteString(`
Steps are those of the first of these keys that the file has: ` + list(stepKeys) + `. Without any, a console's progress bars give them, if one goes on from row to row; else rows are numbered.

- Keys are compared whatever their case, with underscores for spaces. One that is known but for a prefix before its first slash is read by the rest, if no other says the same.
- Rows of evaluation are a table of their own. TRL and Unsloth write some keys of evaluation without their prefix; a row with any key that begins with ` + "`eval_` or `eval/`" + ` is evaluation, unless it has one of ` + list(slices.Sorted(maps.Keys(updateNames))) + `: then it is one of both.
- The line with ` + "`train_runtime`" + `, which transformers write after the last step, is no row.
- Lines of one step are joined where their keys differ. Lines that look like metrics and are not understood are quoted.
- A value outside the range of its quantity is said and left out. Of a share in per cent nothing is believed, unless ` + "`--percent KEY`" + ` says so.
- A log without a mean reward can be diagnosed, and not be fitted.
- A log of preference optimization, of PPO or of supervised fine-tuning is said to be one. Rows without a step that hold rewards of 0 and 1 and nothing else are single samples, and declined.
- Rows that are repeated with the same values are one row, as where a table is pasted twice. A resumed run repeats steps with other values. Rows from its first step on are dropped, and the later ones count. So do the later of several event files of a folder, from their first step on. Transformers gives a resumed run a new folder: a run that begins where an earlier one beside it has rows, and later than a new run would, goes on from that.
- A last line or record that is not complete is left out, as are records of event files with a wrong checksum, so the log of a running trainer can be read again at any time.
- TRL's rows are means over ` + "`logging_steps`" + `, so the variance of the logged reward is smaller by that factor. It is read from the differences of steps.
- null, NaN and infinite numbers are missing. What a log does not hold is absent, never zero.

Each of these is noted where it happens. A file whose columns have other names can be read after renaming them: a CSV column or key that has the name of a quantity holds it. So ` + "`reward_std_within`" + ` says of a ` + "`reward_std`" + ` which one it is.

## Quantities

| quantity | what it is |
|---|---|
`)
	for _, d := range Quantities {
		fmt.Fprintf(&b, "| `%s` | %s |\n", d.Quantity, d.Text)
	}
	b.WriteString("\n`reward_component`, `reward_component_std` and, of benchmarks, `eval_score` are followed by a slash and a name.\n")
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
