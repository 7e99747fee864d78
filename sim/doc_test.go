package sim

import (
	"os"
	"strings"
	"testing"
)

// The package comment and README show ExampleSimulate, which runs.
func TestDocumentsShowTheExample(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	_, body, _ := strings.Cut(read("example_test.go"), "func ExampleSimulate() {\n")
	body, _, found := strings.Cut(body, "\t// Output:")
	if !found {
		t.Fatal("there is no example")
	}
	if comment := strings.ReplaceAll(read("run.go"), "//\n", "\n"); !strings.Contains(strings.ReplaceAll(comment, "//\t", "\t"), body) {
		t.Error("the package comment does not show the example")
	}
	if lines := strings.ReplaceAll(body, "\n\t", "\n")[1:]; !strings.Contains(read("../README.md"), "```go\n"+lines+"```") {
		t.Errorf("README.md does not show the example:\n%s", lines)
	}
}
