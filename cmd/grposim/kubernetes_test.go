package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// The manifest is valid for the schemas that Kubernetes publishes.
func TestKubernetesSchemas(t *testing.T) {
	var schemas kubernetesSchemas
	if err := json.Unmarshal(readDocument(t, "testdata", "kubernetes", "schemas.json"), &schemas); err != nil {
		t.Fatal(err)
	}
	objects := manifest(t)
	for name, kind := range map[string]string{
		"ConfigMap grposim-smoke": "core.v1.ConfigMap", "PersistentVolumeClaim grposim-smoke": "core.v1.PersistentVolumeClaim",
		"Job grposim-smoke": "batch.v1.Job", "Job grposim-smoke-merge": "batch.v1.Job",
	} {
		for _, problem := range schemas.problems(map[string]any{"$ref": "/io.k8s.api." + kind}, objects[name], name) {
			t.Error(problem)
		}
	}
	if len(objects) != 4 {
		t.Errorf("%d objects, want 4", len(objects))
	}
	spec := at(objects["Job grposim-smoke"], "spec").(map[string]any)
	spec["completions"], spec["backofLimit"] = "two", 1
	delete(spec, "template")
	if problems := schemas.problems(map[string]any{"$ref": "/io.k8s.api.batch.v1.JobSpec"}, spec, "spec"); len(problems) != 3 {
		t.Errorf("three mistakes give %q", problems)
	}
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

// kubernetesSchemas are JSON schemas by name.
type kubernetesSchemas map[string]any

// problems says what a schema finds wrong with a value, and which keys it does not know.
func (s kubernetesSchemas) problems(schema map[string]any, value any, path string) (found []string) {
	if ref, ok := schema["$ref"].(string); ok {
		return s.problems(s[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any), value, path)
	}
	for _, part := range anyList(schema["allOf"]) {
		found = append(found, s.problems(part.(map[string]any), value, path)...)
	}
	if options := anyList(schema["oneOf"]); options != nil {
		for _, option := range options {
			if s.problems(option.(map[string]any), value, path) == nil {
				return found
			}
		}
		return append(found, fmt.Sprintf("%s: %v is none of %v", path, value, options))
	}
	kind := map[bool]string{true: "?"}[value == nil]
	switch value := value.(type) {
	case map[string]any:
		kind = "object"
		for _, key := range anyList(schema["required"]) {
			if value[key.(string)] == nil {
				found = append(found, fmt.Sprintf("%s: %s is missing", path, key))
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		others, _ := schema["additionalProperties"].(map[string]any)
		for key, member := range value {
			rule, known := properties[key].(map[string]any)
			if !known {
				rule = others
			}
			if rule == nil && (properties != nil || schema["type"] != nil) {
				found = append(found, fmt.Sprintf("%s: %s is unknown", path, key))
			} else if rule != nil {
				found = append(found, s.problems(rule, member, path+"."+key)...)
			}
		}
	case []any:
		kind = "array"
		for i, item := range value {
			found = append(found, s.problems(schema["items"].(map[string]any), item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case int:
		kind = "integer"
	}
	if want := schema["type"]; want != nil && want != kind && !(want == "number" && kind == "integer") {
		found = append(found, fmt.Sprintf("%s: got %v, want %v", path, value, want))
	}
	return found
}

func anyList(value any) []any {
	list, _ := value.([]any)
	return list
}

// The image is built with the version of Go that the module wants.
func TestContainerfile(t *testing.T) {
	root := moduleRoot(t)
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(readDocument(t, root, "go.mod"))[1]
	if text := readDocument(t, root, "Containerfile"); !bytes.Contains(text, append([]byte("golang:"), wanted...)) {
		t.Errorf("the image is not built with Go %s:\n%s", wanted, text)
	}
}

// Names of sweeps become names of objects.
func TestObjectName(t *testing.T) {
	for sweep, want := range map[string]string{"smoke": "grposim-smoke", "-a-": "grposim-a", "--": "grposim", strings.Repeat("a", 64): "grposim-" + strings.Repeat("a", 40)} {
		if got := objectName(sweep); got != want {
			t.Errorf("%q: got %q, want %q", sweep, got, want)
		}
	}
}
