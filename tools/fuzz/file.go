package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"grposim/sweeps/config"
)

// file is a configuration file as a tree of JSON values with numbers as json.Number, so
// that a key can be set, left out or simplified without knowing it.
type file map[string]any

// clone returns a deep copy with every value in its JSON form.
func (f file) clone() file { return parseFile(f.text()) }

// parseFile reads a file that was written as JSON.
func parseFile(text []byte) (f file) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&f); err != nil {
		panic(err) // it was written by encoding/json
	}
	return f
}

// get returns the value at a dotted path, nil where the file leaves it out.
func (f file) get(path string) any {
	var v any = map[string]any(f)
	for name := range strings.SplitSeq(path, ".") {
		section, _ := v.(map[string]any)
		v = section[name]
	}
	return v
}

func (f file) set(path string, v any) {
	section := map[string]any(f)
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		inner, exists := section[name].(map[string]any)
		if !exists {
			inner = map[string]any{}
			section[name] = inner
		}
		section = inner
	}
	section[names[len(names)-1]] = v
}

func (f file) checks() []any {
	list, _ := f["checks"].([]any)
	return list
}

// load checks the file as grposim does.
func (f file) load() (*config.Spec, error) { return config.Load("fuzz.yaml", f.text()) }

// text writes the file as JSON, which is YAML too.
func (f file) text() []byte {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err) // drawn numbers are finite
	}
	return append(text, '\n')
}
