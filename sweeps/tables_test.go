package sweeps

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// records reads a CSV table: a map from column to field for each row, and the header.
func records(t *testing.T, table []byte) (header []string, rows []map[string]string) {
	t.Helper()
	lines := must(csv.NewReader(bytes.NewReader(table)).ReadAll())
	for _, line := range lines[1:] {
		row := make(map[string]string)
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return lines[0], rows
}

// cells.csv begins with the cell, its label and every parameter, swept or not, but for sparse ones
// that no cell uses. Its intervals are those of the verdicts: with two verdicts of 99 % together,
// 99.5 % each.
func TestCellsCSV(t *testing.T) {
	text := resting + "  - {claim: fixed-point, margin: 1}\nsweep: [{param: grpo.group_size, values: [16, 64]}]\n"
	e, _ := runSweep(t, text, t.TempDir(), 2)
	var table bytes.Buffer
	noError(t, e.cellsCSV(&table))
	header, rows := records(t, table.Bytes())
	want := []string{"cell", "label", "variant"}
	for _, k := range config.Keys {
		if !k.Sparse {
			want = append(want, k.Path)
		}
	}
	want = append(want, "status", "interval_confidence", sim.ExpectedRewardMean)
	equal(t, "the columns", fmt.Sprint(header[:len(want)]), fmt.Sprint(want))
	for i, v := range e.Verdicts {
		row := rows[i]
		for column, want := range map[string]string{
			"cell": v.Cell, "label": v.Label, "seed": "1", "optimizer.learning_rate": "0.1",
			"run.replicas":    "10",
			"grpo.group_size": []string{"16", "64"}[i], "interval_confidence": "0.995",
			sim.ExpectedRewardMean:         strconv.FormatFloat(float64(v.Measured), 'g', -1, 64),
			sim.ExpectedRewardMean + "_lo": strconv.FormatFloat(float64(v.Lo), 'g', -1, 64),
			sim.ExpectedRewardMean + "_hi": strconv.FormatFloat(float64(v.Hi), 'g', -1, 64),
		} {
			equal(t, v.Label, row[column], want)
		}
	}
}

// The metadata of trajectories.parquet hold label and parameters of every cell.
func TestTrajectoriesNameTheirParameters(t *testing.T) {
	dir := t.TempDir()
	text := strings.TrimSuffix(resting, "checks:\n") + "sweep: [{param: grpo.group_size, values: [16, inf]}]\n"
	runSweep(t, text, dir, 2)
	data := string(must(os.ReadFile(filepath.Join(dir, "trajectories.parquet"))))
	for _, want := range []string{
		`"label":"G=inf","parameters":{"bandit.arms":[{"mean":0.9,"reward":"bernoulli"},{"mean":0.2,"reward":"bernoulli"}],`,
		`"seed":1},"variant":""`, `"grpo.group_size":"inf"`, `"grpo.group_size":16,`, `"optimizer.learning_rate":0.1,`,
		`"policy.init":"fixed-point"`,
	} {
		if !strings.Contains(data, want) {
			t.Errorf("the file does not contain %s", want)
		}
	}
}

// A prediction of Var J is judged by the margin of the file's check of it, so that its hint is that
// of the sweep; without one by Var J itself, and says so.
func TestPredictionsAreJudgedByTheFilesMargin(t *testing.T) {
	const check = "checks: [{claim: stationary-fluctuation, %s}]\n"
	for _, c := range []struct {
		checks, called  string
		share, absolute float64
		burnIn          int // the least that arrives, by doubling
	}{
		{"", "Var J itself", 1, 0, 8000},
		{fmt.Sprintf(check, "margin: 0.1"), "the margin of the file's check", 0.1, 0, 16000},
		{fmt.Sprintf(check, "absolute_margin: 7e-8"), "the margin of the file's check", 0, 7e-8, 16000},
		{fmt.Sprintf(check, "margin: 0.1, prediction: leading-order"), "Var J itself", 1, 0, 8000},
	} {
		plan := planText(t, `name: margins
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 16, groups_per_step: 4, kl: {coefficient: 0.5}}
optimizer: {learning_rate: 0.02}
run: {steps: 1000, burn_in: 250, replicas: 16}
`+c.checks)
		for cell, line := range Predictions(plan) {
			want := fmt.Sprintf("more than half of %s, %.2g: after run.burn_in = 250 steps", c.called,
				c.share**line.Variance+c.absolute)
			if says := line.Run.Because.String(); !strings.Contains(says, want) {
				t.Errorf("%s: %s, want %s", c.checks, says, want)
			}
			cures := theory.NewCache().VarianceCures(&cell.Settings, line.Margin)
			if want := fmt.Sprintf("run.burn_in = %d with", c.burnIn); !strings.Contains(cures, want) {
				t.Errorf("%s: %s, want %s", c.checks, cures, want)
			}
		}
	}
}

// Every column of the tables that the built-in experiments wrote is in the dictionary,
// and no column twice.
func TestDictionaryIsComplete(t *testing.T) {
	described := map[string]map[string]bool{"cells.csv": {}, "predictions.csv": {}}
	add := func(table string, columns ...string) {
		for _, name := range columns {
			if described[table][name] {
				t.Errorf("%s: %s is described twice", table, name)
			}
			described[table][name] = true
		}
	}
	for table := range described {
		add(table, names(columnDocs().Identity)...)
		for _, k := range config.Keys {
			add(table, k.Path)
		}
	}
	add("cells.csv", names(columnDocs().Status)...)
	for _, name := range names(columnDocs().Estimates) {
		add("cells.csv", name, name+"_lo", name+"_hi")
	}
	for _, q := range columnDocs().Quantities {
		end := q.Name + endSuffix
		add("cells.csv", end, end+"_lo", end+"_hi", q.Name+timeMeanSuffix)
	}
	add("cells.csv", timeTo95, samplesTo95)
	add("predictions.csv", names(columnDocs().Predictions)...)
	for table, known := range described {
		files, err := filepath.Glob("../results/paper/*/" + table)
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files %s: %v", len(files), table, err)
		}
		for _, file := range files {
			header, _ := records(t, must(os.ReadFile(file)))
			for _, name := range header {
				if !known[name] {
					t.Errorf("%s: the dictionary lacks %s", file, name)
				}
			}
		}
	}
	equal(t, "the quantities", fmt.Sprint(names(columnDocs().Quantities)), fmt.Sprint(sim.Quantities(2)))
}
