package config

import (
	"errors"
	"strings"
	"testing"
)

func TestSchemaFile(t *testing.T) {
	checkGolden(t, "../../configs/schema.json", Schema())
}

// The reference names every key and claim.
func TestReference(t *testing.T) {
	var keys, claims strings.Builder
	if err := errors.Join(WriteReference(&keys, "keys"),
		WriteReference(&claims, "claims")); err != nil {
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
