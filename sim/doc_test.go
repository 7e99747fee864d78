package sim

import (
	"os"
	"strings"
	"testing"
)

// README shows ExampleSimulate, which runs.
func TestDocumentsShowTheExample(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	readme, err2 := os.ReadFile("../README.md")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	_, body, _ := strings.Cut(string(example), "func ExampleSimulate() {\n")
	body, _, found := strings.Cut(body, "\t// Output:")
	lines := strings.ReplaceAll(body, "\n\t", "\n")[1:]
	if !found || !strings.Contains(string(readme), "```go\n"+lines+"```") {
		t.Errorf("README.md does not show the example:\n%s", lines)
	}
}
