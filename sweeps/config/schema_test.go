package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSchemaFile(t *testing.T) {
	checkGolden(t, "../../configs/schema.json", Schema())
}

// The reference names every key and claim.
func TestReference(t *testing.T) {
	var keys, claims strings.Builder
	if err := errors.Join(WriteReference(&keys, "keys"), WriteReference(&claims, "claims")); err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys {
		if !strings.Contains(keys.String(), "| `"+k.Path+"` |") {
			t.Errorf("no key %s", k.Path)
		}
	}
	for _, c := range Claims {
		if !strings.Contains(claims.String(), "| `"+c.Name+"` |") {
			t.Errorf("no claim %s", c.Name)
		}
	}
}

func TestReferenceExample(t *testing.T) {
	if _, err := Load("example", []byte(referenceExample)); err != nil {
		t.Error(err)
	}
}

// Every default in the key table is valid for the loader, and reads
// back from the form in which tables show it.
func TestDefaultsAreLegal(t *testing.T) {
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
	}
}
