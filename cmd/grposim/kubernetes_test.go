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
	text, _ := grposim(t, 0, append([]string{"kubernetes", "smoke", "--tasks", "2", "--image", "registry.example/grposim:1", "--set", "run.replicas=2000"}, flags...)...)
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
		arguments := at(job, "spec", "template", "spec", "containers", 0, "args")
		if text := fmt.Sprint(arguments); fmt.Sprintf("%T", at(arguments, 0)) != "string" || !strings.HasSuffix(text, "--workers 1 --cache "+want+"]") {
			t.Errorf("%q: got %q, want it to end with %s", cache, text, want)
		}
	}
	for _, flags := range [][]string{{"--cache", "a\nb"}, {"--cache", "a\u200bb"}, {"--image", "a\rb"}} {
		_, errs := grposim(t, exitUsage, append([]string{"kubernetes", "smoke", "--tasks", "2", "--image", "i"}, flags...)...)
		if !strings.Contains(errs, flags[0]+": got ") {
			t.Errorf("%q: got %s", flags, errs)
		}
	}
}

// Names of sweeps become names of objects.
func TestObjectName(t *testing.T) {
	for sweep, want := range map[string]string{"smoke": "grposim-smoke", "-a-": "grposim-a", "--": "grposim", strings.Repeat("a", 64): "grposim-" + strings.Repeat("a", 40)} {
		if got := (&jobs{Sweep: sweep}).Object(); got != want {
			t.Errorf("%q: got %q, want %q", sweep, got, want)
		}
	}
}
