package config

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// WriteYAML returns a document of maps, lists, texts, numbers and truth values as YAML, with the
// keys of a map sorted. Its error is that of a value of another type.
func WriteYAML(document any) ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(document)
	return text.Bytes(), err
}
