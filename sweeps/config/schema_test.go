package config

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestSchemaFile(t *testing.T) {
	checkGolden(t, "../../configs/schema.json", Schema())
}

func TestReferenceFile(t *testing.T) {
	checkGolden(t, "../../docs/config.md", ReferenceDoc())
}

func TestReferenceExample(t *testing.T) {
	if _, err := Load("example", []byte(referenceExample)); err != nil {
		t.Error(err)
	}
}

// structural is the first line of the bad files that break no rule between keys: the
// schema must refuse them too.
const structural = "# The schema refuses this too.\n"

// compiler returns a compiler that has the schema as schema.json.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSchemaAgreesWithLoader(t *testing.T) {
	s := compiler(t).MustCompile("schema.json")
	validate := func(file string, data []byte) error {
		n, problems := parseYAML(file, "", data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return s.Validate(toJSON(n))
	}
	good := slices.Concat(testFiles(t, "good/*.yaml"), testFiles(t, "../../../configs/paper/*.yaml"), testFiles(t, "../../../configs/trainers/*.yaml"))
	refused := 0
	for _, file := range slices.Concat(good, testFiles(t, "bad/*.yaml")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case slices.Contains(good, file):
			if err := validate(file, data); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		case strings.HasPrefix(string(data), structural):
			refused++
			if err := validate(file, data); err == nil {
				t.Errorf("%s: the schema accepts it", file)
			}
		}
	}
	if refused == 0 {
		t.Error("no structurally bad file")
	}
}

// Every default in the key table is valid for the schema and for the loader, and reads
// back from the form in which tables show it.
func TestDefaultsAreLegal(t *testing.T) {
	schemas := compiler(t)
	for _, k := range Keys {
		if k.Default == nil {
			continue
		}
		n, problems := parseYAML(override, k.Path, []byte(Format(k.Default)))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", k.Path, problems)
		}
		l := newReader(nil)
		if v, ok := l.value(k, n, k.Path); !ok || !reflect.DeepEqual(v, k.Default) {
			t.Errorf("%s: %v reads as %v: %v", k.Path, k.Default, v, l.problems)
		}
		if err := schemas.MustCompile("schema.json#/$defs/" + k.Path).Validate(toJSON(n)); err != nil {
			t.Errorf("%s: %v", k.Path, err)
		}
	}
}

// toJSON converts the tree to the values that a JSON decoder would return.
func toJSON(n *node) any {
	switch n.kind {
	case list:
		items := []any{}
		for _, item := range n.items {
			items = append(items, toJSON(item))
		}
		return items
	case mapping:
		fields := map[string]any{}
		for _, f := range n.fields {
			fields[f.name] = toJSON(f.value)
		}
		return fields
	case nothing:
		return nil
	case plain:
		if numberSyntax.MatchString(n.text) {
			return json.Number(strings.TrimPrefix(n.text, "+"))
		}
		if n.text == "true" || n.text == "false" {
			return n.text == "true"
		}
	}
	return n.text
}
