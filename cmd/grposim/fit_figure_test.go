package main

import "testing"

// Logs never overwrite each other's figures: of one name in two folders, of one name with two
// extensions, the same log twice, and where one is named as another's residuals.
func TestFigureNames(t *testing.T) {
	taken := make(map[string]bool)
	for _, file := range []struct{ path, want string }{
		{"/runs/a/log.csv", "log"}, {"/runs/b/log.csv", "b-log"}, {"/runs/a/log.jsonl", "a-log"}, {"/runs/a/log.csv", "runs-a-log"},
		{"/runs/a/log.csv", "again-runs-a-log"}, {"/runs/a/log.csv", "again-again-runs-a-log"},
		{"/runs/c/log-residuals.csv", "c-log-residuals"}, {"/x/y-residuals.csv", "y-residuals"}, {"/x/y.csv", "x-y"}, {"/x/\x1b[31m.csv", `\u001b[31m`},
	} {
		if got := figureName(file.path, taken); got != file.want {
			t.Errorf("%s: %s, want %s", file.path, got, file.want)
		}
	}
}
