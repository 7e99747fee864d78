package house

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// licence matches the names of files that a binary's licences oblige one to pass on. Of
// freetype's two licences grposim uses the FreeType Project's.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|notice|patents|ftl\.txt)`)

// docs/third-party.txt holds the licences of all modules in the program, as a binary that is
// passed on needs them. To rewrite it: go test ./house -run TestThirdParty -update
func TestThirdParty(t *testing.T) {
	command := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}`, "./cmd/grposim")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var notice bytes.Buffer
	notice.WriteString("grposim contains code of the modules below, under these licences, and of the Go standard library, under that of golang.org/x/sys.\n")
	seen := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line == "" || seen[line] {
			continue
		}
		seen[line] = true
		name, dir := line[:strings.LastIndex(line, " ")], line[strings.LastIndex(line, " ")+1:]
		files := 0
		for _, folder := range []string{dir, filepath.Join(dir, "licenses")} {
			entries, _ := os.ReadDir(folder) // most have no folder of licences
			for _, e := range entries {
				if e.IsDir() || !licence.MatchString(e.Name()) {
					continue
				}
				text, err := os.ReadFile(filepath.Join(folder, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files++
				fmt.Fprintf(&notice, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), bytes.TrimSpace(text))
			}
		}
		if files == 0 {
			t.Errorf("%s has no licence", name)
		}
	}
	golden(t, "docs/third-party.txt", notice.String())
}
