package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"grposim/sweeps/config"
)

// file is a configuration file as a tree of JSON values with numbers as json.Number, so
// that a key can be set, left out or simplified without knowing it.
type file map[string]any

// clone returns a deep copy with every value in its JSON form.
func (f file) clone() file { return mustParse(f.json()) }

func (f file) json() []byte {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // drawn numbers are finite
	}
	return text
}

// mustParse reads a file that json wrote.
func mustParse(text []byte) file {
	f, err := parseFile(text)
	if err != nil {
		panic(err)
	}
	return f
}

// parseFile reads a file that was written as JSON.
func parseFile(text []byte) (file, error) {
	var f file
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return f, decoder.Decode(&f)
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

// set assigns the value at a dotted path.
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

// remove leaves out the value at a dotted path.
func (f file) remove(path string) {
	if parent, last := f.section(path); parent != nil {
		delete(parent, last)
	}
}

// section returns the mapping that holds the last name of a dotted path, nil where there
// is none.
func (f file) section(path string) (parent map[string]any, last string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return f, path
	}
	parent, _ = f.get(path[:i]).(map[string]any)
	return parent, path[i+1:]
}

// checks returns the checks of the file.
func (f file) checks() []any {
	list, _ := f["checks"].([]any)
	return list
}

// load checks the file as grposim does.
func (f file) load() (*config.Spec, error) { return config.Load("fuzz.yaml", f.text()) }

// text writes the file as YAML in flow style, one line for a section or a check.
func (f file) text() []byte {
	var b bytes.Buffer
	names := []string{"name", "seed", "confidence"}
	for _, k := range config.Keys {
		if name, _, _ := strings.Cut(k.Path, "."); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range append(names, "sweep", "variants", "checks") {
		switch v := f[name].(type) {
		case nil:
		case map[string]any:
			if text := flow(v); text != "{}" {
				fmt.Fprintf(&b, "%s: %s\n", name, text)
			}
		case []any:
			fmt.Fprintf(&b, "%s:\n", name)
			for _, item := range v {
				fmt.Fprintf(&b, "  - %s\n", flow(item))
			}
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, flow(v))
		}
	}
	return b.Bytes()
}

// flow writes a value in YAML's flow style, without empty mappings, the claim of a check
// first.
func flow(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if i := slices.Index(names, "claim"); i > 0 {
			names = append([]string{"claim"}, slices.Delete(names, i, i+1)...)
		}
		for _, name := range names {
			if text := flow(v[name]); text != "{}" {
				parts = append(parts, name+": "+text)
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return v
	default: // a number
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
}
