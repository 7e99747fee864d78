package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// manifest returns the objects of the manifest of the smallest sweep, by kind and name.
func manifest(t *testing.T, flags ...string) map[string]any {
	t.Helper()
	args := []string{"kubernetes", "smoke", "--tasks", "2", "--image", "registry.example/grposim:1"}
	text, _ := grposim(t, 0, append(append(args, "--set", "run.replicas=2000"), flags...)...)
	objects := make(map[string]any)
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		objects[fmt.Sprint(object["kind"], " ", at(object, "metadata", "name"))] = object
	}
}

// at returns the value at a path of keys and indices of a document.
func at(document any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			document = document.(map[string]any)[step]
		case int:
			document = document.([]any)[step]
		}
	}
	return document
}

// A folder of the cache is one word of a shell, whatever its name means in YAML or to Kubernetes.
func TestKubernetesCache(t *testing.T) {
	for cache, want := range map[string]string{"a:": "a:", "- b": "'- b'", "it's": `'it'\''s'`, "$(HOME) #": "'$$(HOME) #'", `"{{`: `'"{{'`} {
		job := manifest(t, "--cache", cache)["Job grposim-smoke"]
		text, _ := at(job, "spec", "template", "spec", "containers", 0, "args", 0).(string)
		if !strings.HasSuffix(text, "--workers 1 --cache "+want) {
			t.Errorf("%q: got %q, want it to end with %s", cache, text, want)
		}
	}
	job := []string{"kubernetes", "smoke", "--tasks", "2", "--image", "i"}
	for _, f := range [][]string{{"--cache", "a\nb"}, {"--cache", "a\u200bb"}, {"--image", "a\rb"}} {
		says(t, exitUsage, f[0]+": got ", append(job, f...)...)
	}
}

// Names of sweeps become names of objects.
func TestObjectName(t *testing.T) {
	for sweep, want := range map[string]string{"smoke": "grposim-smoke", "-a-": "grposim-a",
		"--": "grposim", strings.Repeat("a", 64): "grposim-" + strings.Repeat("a", 40)} {
		if got := (&jobs{Sweep: sweep}).Object(); got != want {
			t.Errorf("%q: got %q, want %q", sweep, got, want)
		}
	}
}
