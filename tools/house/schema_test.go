package house

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"grposim/sweeps/config"
)

// structural is the first line of the bad files that break no rule between keys.
const structural = "# The schema refuses this too.\n"

// The schema takes what the loader takes, and refuses what is wrong in one key alone.
func TestSchemaAgreesWithLoader(t *testing.T) {
	schema := jsonschema.NewCompiler().MustCompile(filepath.Join(root, "configs", "schema.json"))
	refused := 0
	for _, pattern := range []string{"sweeps/config/testdata/good/*.yaml", "configs/paper/*.yaml",
		"configs/trainers/*.yaml", "configs/way/*.yaml", "configs/deep/*.yaml", "sweeps/config/testdata/bad/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file, error %v", pattern, err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			text := read(t, name)
			bad := strings.Contains(pattern, "/bad/")
			if bad && !strings.HasPrefix(text, structural) {
				continue
			}
			if err := validate(schema, text); (err != nil) != bad {
				t.Errorf("%s: got error %v, want one: %v", name, err, bad)
			}
			if bad {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no structurally bad file")
	}
}

// Every default of the table of keys is valid for the schema.
func TestDefaultsAreValid(t *testing.T) {
	path := filepath.Join(root, "configs", "schema.json")
	for _, k := range config.Keys {
		if k.Default == nil {
			continue
		}
		schema := jsonschema.NewCompiler().MustCompile(path + "#/$defs/" + k.Path)
		if err := validate(schema, config.Format(k.Default)); err != nil {
			t.Errorf("%s: %v", k.Path, err)
		}
	}
}

// validate returns what the schema has against a YAML text.
func validate(schema *jsonschema.Schema, text string) error {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	return schema.Validate(value)
}
