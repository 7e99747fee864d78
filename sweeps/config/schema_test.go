package config

import "testing"

func TestSchemaFile(t *testing.T) {
	checkGolden(t, "../../configs/schema.json", Schema())
}

func TestReferenceExample(t *testing.T) {
	if _, err := Load("example", []byte(referenceExample)); err != nil {
		t.Error(err)
	}
}
