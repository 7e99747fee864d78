package main

import (
	"strings"
	"testing"

	"grposim/training/logs"
)

// Logs never overwrite each other's figures: of one name in two folders, of one name with two
// extensions, the same log twice, and where one is named as another's residuals.
func TestFigureNames(t *testing.T) {
	taken := make(map[string]bool)
	long := strings.Repeat("long", 100)
	for _, file := range []struct{ path, run, want string }{
		{"/runs/a/log.csv", "", "log"}, {"/runs/b/log.csv", "", "b-log"}, {"/runs/a/log.jsonl", "", "a-log"}, {"/runs/a/log.csv", "", "runs-a-log"},
		{"/runs/a/log.csv", "", "again-runs-a-log"}, {"/runs/a/log.csv", "", "again-again-runs-a-log"},
		{"/runs/c/log-residuals.csv", "", "c-log-residuals"}, {"/x/y-residuals.csv", "", "y-residuals"}, {"/x/y.csv", "", "x-y"}, {"/x/\x1b[31m.csv", "", `\u001b[31m`},
		{"/w/chart.csv", "seed 1", "chart-seed 1"}, {"/w/chart.csv", "runs/A", "chart-runs-A"}, {"/w/chart.csv", "../../x", "chart-..-..-x"},
		{"/w/chart.csv", long, ("chart-" + long)[:50]}, {"/w/chart.csv", long + "2", "w-" + ("chart-" + long)[:50]},
	} {
		if got := figureName(&logs.Log{File: file.path, Run: file.run}, taken); got != file.want {
			t.Errorf("%s: %s, want %s", file.path, got, file.want)
		}
	}
}
