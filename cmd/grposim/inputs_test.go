package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A configuration with mistakes keeps its own messages: none is taken for something that another
// command reads.
func TestBadConfigurationsAreNothingElse(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "sweeps", "config", "testdata", "bad", "*.yaml"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if other := aConfiguration.instead(file); other != "" {
			t.Errorf("%s: %s", file, other)
		}
	}
}

// The name that is near a path: in its folder, whatever its extension; built-in; or a folder in
// results/local.
func TestNearest(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"mine.yaml", "a/other.yml", "a/run.jsonl", "results/local/mine/manifest.json", "b/one/manifest.json"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, "")
	}
	for _, tt := range []struct {
		want       *input
		path, near string
	}{
		{aConfiguration, "mine", "mine.yaml"},
		{aConfiguration, "mine.json", "mine.yaml"},
		{aConfiguration, "a/othr.yaml", "a/other.yml"},
		{aConfiguration, "smok", "smoke"},
		{aConfiguration, "configs/smoke.yaml", "smoke"},
		{aConfiguration, "a/run.jsonl", ""},
		{aConfiguration, "nothing.yaml", ""},
		{aLog, "a/run.log", "a/run.jsonl"},
		{aLog, "a/other", ""},
		{aFolder, "mine", "results/local/mine"},
		{aFolder, "b/on", "b/one"},
		{aFolder, strings.Repeat("x", 300), ""},
	} {
		if got := tt.want.nearest(tt.path); got != tt.near {
			t.Errorf("%s %s: %q, want %q", tt.want.name, tt.path, got, tt.near)
		}
	}
}
