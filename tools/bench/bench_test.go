package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grposim/tools/internal/tool"
)

// The tables have a row of each comparison, and take the place of the text between the markers.
func TestRun(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+beginMarker+"old\n"+endMarker+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, said strings.Builder
	if code := tool.Run(t.Context(), "bench", run, []string{"-rounds", "1", "-steps", "3000", "-o", page}, &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.HasPrefix(text, "before\n"+beginMarker+"Measured on ") || strings.Contains(text, "old") ||
		!strings.HasSuffix(text, endMarker+"\nafter\n") || strings.Count(text, "\n| ") != 2+len(compared)+4 {
		t.Errorf("the page is\n%s", text)
	}
}
