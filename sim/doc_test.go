package sim

import (
	"os"
	"strings"
	"testing"
)

// docs/architecture.md shows ExampleSimulate, which runs, as the body of main.
func TestDocumentsShowTheExample(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	document, err2 := os.ReadFile("../docs/architecture.md")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	_, body, _ := strings.Cut(string(example), "func ExampleSimulate() {\n")
	body, _, found := strings.Cut(body, "\t// Output:")
	if !found || !strings.Contains(string(document), "func main() {\n"+body+"}\n```") {
		t.Errorf("docs/architecture.md does not show the example:\n%s", body)
	}
}
