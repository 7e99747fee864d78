package main

import (
	"strings"
	"testing"

	"grposim/training/logs"
)

// Logs never overwrite each other's figures.
func TestFigureNames(t *testing.T) {
	taken := make(map[string]bool)
	long := strings.Repeat("long", 100)
	for _, file := range []struct{ path, run, want string }{
		{"/runs/a/log.csv", "", "log"}, {"/runs/b/log.csv", "", "log-2"}, {"/runs/a/log.csv", "", "log-3"},
		{"/x/\x1b[31m.csv", "", `\u001b[31m`},
		{"/w/chart.csv", "../../x", "chart-..-..-x"}, {"/w/chart.csv", long, ("chart-" + long)[:50]},
	} {
		if got := figureName(&logs.Log{File: file.path, Run: file.run}, taken); got != file.want {
			t.Errorf("%s: %s, want %s", file.path, got, file.want)
		}
	}
}
