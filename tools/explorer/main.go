// Command explorer writes the interactive page, one HTML file that needs no network and no
// other file: the template of page/ with its style and scripts, and this module's own theory
// and simulator, compiled to WebAssembly and compressed.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"grposim/tools/explorer/explore"
	"grposim/tools/internal/tool"
)

//go:embed page
var page embed.FS

func main() { tool.Main("explorer", run) }

func run(_ context.Context, c *tool.Command) error {
	file := c.String("o", filepath.Join("..", "results", "local", "explorer.html"), "file to write")
	if err := c.Parse(0); err != nil {
		return err
	}
	program, err := compile(c)
	if err != nil {
		return err
	}
	html, packed, err := assemble(program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*file), 0o755); err != nil {
		return err
	}
	c.Say("%s: program %.1f MB, compressed %.1f MB, page %.1f MB",
		*file, float64(len(program))/1e6, float64(packed)/1e6, float64(len(html))/1e6)
	return os.WriteFile(*file, html, 0o644)
}

// compile returns tools/explorer/wasm as WebAssembly, without vectors; it names what it compiles.
func compile(c *tool.Command) ([]byte, error) {
	dir, err := os.MkdirTemp("", "explorer")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "explorer.wasm")
	const program = "grposim/tools/explorer/wasm"
	build := exec.Command("go", "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", file, program)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOEXPERIMENT=")
	build.Stdout, build.Stderr = c.Stderr, c.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build for js/wasm: %w", err)
	}
	return os.ReadFile(file)
}

type contents struct {
	CSS, JS, Worker, WasmExec string
	Colours                   string // those of reports
	Wasm                      string // the program, compressed, in base64
	Describe                  string // what explore.Describe returns, in JSON
	// the sha256 of JS in base64, by which the page allows that script alone
	Digest string
}

// assemble returns the page around a program, and the size of the compressed program.
func assemble(program []byte) (html []byte, packed int, err error) {
	var compressed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&compressed, gzip.BestCompression) // the level is valid
	_, err = w.Write(program)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, 0, err
	}
	places, err := exec.Command("go", "list", "-e", "-f", "{{.Dir}}", "runtime", "grposim/sweeps/report").Output()
	if err != nil {
		return nil, 0, err
	}
	runtime, report, _ := strings.Cut(strings.TrimSpace(string(places)), "\n")
	support, err := os.ReadFile(filepath.Join(runtime, "..", "..", "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, 0, err
	}
	colours, err := os.ReadFile(filepath.Join(report, "colours.css"))
	if err != nil {
		return nil, 0, err
	}
	in64 := base64.StdEncoding.EncodeToString
	c := contents{CSS: part("explorer.css"), JS: part("explorer.js"), Worker: part("worker.js"),
		Colours: string(colours), WasmExec: string(support), Wasm: in64(compressed.Bytes()),
		Describe: string(explore.New().Call("describe", nil))}
	digest := sha256.Sum256([]byte(c.JS))
	c.Digest = in64(digest[:])
	var out bytes.Buffer
	err = template.Must(template.New("page").Parse(part("index.html"))).Execute(&out, c)
	return out.Bytes(), compressed.Len(), err
}

func part(name string) string {
	data, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(data)
}
