//go:build long

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grposim/tools/explorer/explore"
	"grposim/tools/internal/tool"
)

// The page, opened from a file in Chromium without a network, shows for every state of
// testdata/fragments.txt the prediction that the shown command prints. In light and dark, on a
// desktop and a phone it has no console messages, no serious finding of axe-core and no sideways
// scrolling.
func TestLongExplorerInBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	if exec.Command("node", "-e", `require("playwright-core"), require("axe-core")`).Run() != nil {
		t.Skip("node has no playwright-core and axe-core (npm; their folder in NODE_PATH)")
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "explorer.html")
	if code := tool.Run(t.Context(), "explorer", run, []string{"-o", page}, t.Output(), t.Output()); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if out, err := exec.Command("go", "build", "-C", "../..", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin", "grposim"), "./cmd/grposim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fragments, err := os.ReadFile(filepath.Join("testdata", "fragments.txt"))
	if err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "explorer.js"), chromium, page)
	var out, wrong bytes.Buffer
	script.Stdin, script.Stdout, script.Stderr = bytes.NewReader(fragments), &out, &wrong
	if err := script.Run(); err != nil {
		t.Errorf("%v\n%s", err, wrong.String())
	}
	shown := bufio.NewScanner(&out)
	shown.Buffer(nil, 1<<20)
	for fragment := range strings.Lines(string(fragments)) {
		if !shown.Scan() {
			t.Fatalf("%s: the page shows no prediction", fragment)
		}
		command := commandOf(t, strings.TrimSpace(fragment))
		predict := exec.CommandContext(t.Context(), "sh", "-c", command+" --json")
		predict.Dir = dir
		want, err := predict.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		var a, b any
		if err := json.Unmarshal(shown.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v: %s", fragment, err, shown.Text())
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		compare(t, command, a, b, 0)
	}
	for range 3 { // sliders and two maps
		if !shown.Scan() {
			t.Fatal("the page was not timed")
		}
		t.Log(shown.Text())
	}
}

// As WebAssembly, and so in the page, the runs have the same bits as everywhere. With -trimpath
// the packages are those of the page, and are compiled once for both.
func TestLongExplorerRuns(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node (Debian: nodejs)")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	test := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-trimpath", "-exec", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec"),
		"-run", "TestRunsAreTheSameEverywhere", "grposim/tools/explorer/explore")
	test.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOEXPERIMENT=")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// commandOf returns the command that the page shows for a fragment.
func commandOf(t *testing.T, fragment string) string {
	t.Helper()
	values, err := url.ParseQuery(fragment)
	if err != nil {
		t.Fatal(err)
	}
	state := explore.State{Preset: values.Get("preset"), Set: map[string]string{}}
	values.Del("preset")
	for key := range values {
		state.Set[key] = values.Get(key)
	}
	answer, err := explore.New().Answer(state)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Command
}

// precision is the relative difference of two numbers that counts as none. In the browser sums are
// made in another order, without vector instructions, and exp is another function. What is
// neglected is a difference of such numbers, and good to a factor of two.
func precision(at string) float64 {
	if strings.Contains(at, " neglected ") {
		return 1e-6
	}
	return 1e-9
}

// compare compares two JSON values: everything is equal, numbers to the precision. The numbers of a
// list, such as the multipliers, of which some are 0 but for rounding, are compared with the
// largest of it.
func compare(t *testing.T, at string, got, want any, scale float64) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		if len(fields) != len(want) {
			t.Errorf("%s: got %v, want the fields of %v", at, got, want)
			return
		}
		for name := range want {
			compare(t, at+" "+name, fields[name], want[name], 0)
		}
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			t.Errorf("%s: got %v, want %v", at, got, want)
			return
		}
		scale = max(scale, largest(want))
		for i := range want {
			compare(t, at, items[i], want[i], scale)
		}
	case float64:
		if x, isNumber := got.(float64); !isNumber || !(math.Abs(x-want) <= precision(at)*max(scale, math.Abs(want))) {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
}

// largest returns the largest modulus of the numbers in a list and in its lists.
func largest(list []any) (size float64) {
	for _, item := range list {
		switch item := item.(type) {
		case float64:
			size = max(size, math.Abs(item))
		case []any:
			size = max(size, largest(item))
		}
	}
	return size
}
