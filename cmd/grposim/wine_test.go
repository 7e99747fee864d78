//go:build long

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// missing is the library without which no Go program starts, and that Wine has from version 9 on. Windows
// fills the bytes at RCX, RDX in number, with random bits.
const missing = `	.text
	.globl ProcessPrng, DllMain
ProcessPrng:
	test %rdx, %rdx
	jz 2f
1:	rdrand %rax
	jnc 1b
	movb %al, (%rcx)
	inc %rcx
	dec %rdx
	jnz 1b
2:
DllMain:
	mov $1, %eax
	ret
`

// wine runs Windows programs under Wine, whose files are in a temporary folder.
type wine struct {
	t              *testing.T
	program, files string
}

// newWine prepares the files of Wine. It skips the test where there is no Wine, or nothing to complete it with.
func newWine(t *testing.T) wine {
	w := wine{t, "", filepath.Join(t.TempDir(), "wine")}
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64", "wine"} {
		if path, err := exec.LookPath(name); err == nil && w.program == "" {
			w.program = path
		}
	}
	if w.program == "" {
		t.Skip("not tried on Windows: needs wine (Debian: wine64)")
	}
	t.Cleanup(func() {
		for _, server := range []string{"wineserver", "/usr/lib/wine/wineserver64"} {
			if w.command(server, "-k").Run() == nil {
				return
			}
		}
	})
	w.run(t.TempDir(), "wineboot")
	library := filepath.Join(w.files, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil {
		return w
	}
	build := exec.Command("sh", "-ec", `
		as -o prng.o -
		objcopy -O pe-x86-64 prng.o prng.obj
		printf 'LIBRARY bcryptprimitives.dll\nEXPORTS\n ProcessPrng\n' > prng.def
		ld -m i386pep -shared -e DllMain -o "$0" prng.obj prng.def`, library)
	build.Dir, build.Stdin = t.TempDir(), strings.NewReader(missing)
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("not tried on Windows: this wine lacks bcryptprimitives.dll, and binutils make none: %v\n%s", err, out)
	}
	return w
}

// command returns a program with the environment of Wine.
func (w wine) command(program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(context.WithoutCancel(w.t.Context()), program, args...)
	c.Env = append(os.Environ(), "WINEPREFIX="+w.files, "WINEDEBUG=-all")
	return c
}

// run runs a Windows program in a folder, and returns its output and exit code.
func (w wine) run(dir, program string, args ...string) (out string, code int) {
	w.t.Helper()
	c := w.command(w.program, append([]string{program}, args...)...)
	var text bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &text, &text
	if err := c.Run(); c.ProcessState == nil {
		w.t.Fatal(err)
	}
	return text.String(), c.ProcessState.ExitCode()
}

// windowsGo runs go for Windows.
func windowsGo(t *testing.T, args ...string) {
	t.Helper()
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// uncleared matches what a test says under a Wine that cannot remove files by their handles, as os.RemoveAll wants:
// it says nothing of the store.
var uncleared = regexp.MustCompile(`(?m)^ +testing\.go:\d+: TempDir RemoveAll cleanup: .*: Invalid function\.\r?\n|^ *--- FAIL: .*\n`)

// A build for Windows, run by Wine, gives the results of this build to the byte, goes on where a sweep has ended, and passes the
// tests of the store, which lock and replace files.
func TestLongWine(t *testing.T) {
	w := newWine(t)
	dir, root := t.TempDir(), moduleRoot(t)
	windowsGo(t, "build", "-o", filepath.Join(dir, "grposim.exe"), root+"/cmd/grposim")
	windowsGo(t, "test", "-c", "-o", filepath.Join(dir, "store.exe"), root+"/sweeps/store")
	for _, args := range [][]string{{"sweep", "smoke", "--out", "there"}, {"sweep", "smoke", "--out", "there"}, {"check", "there"}} {
		if out, code := w.run(dir, "grposim.exe", args...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, out)
		}
	}
	grposim(t, 0, "sweep", "smoke", "--out", filepath.Join(dir, "here"))
	for _, name := range []string{"cells.csv", "cells.jsonl", "predictions.csv", "trajectories.parquet", "verdicts.json"} {
		if !bytes.Equal(readDocument(t, dir, "here", name), readDocument(t, dir, "there", name)) {
			t.Errorf("%s differs", name)
		}
	}
	out, _ := w.run(filepath.Join(root, "sweeps", "store"), filepath.Join(dir, "store.exe"))
	if left := strings.TrimSpace(uncleared.ReplaceAllString(out, "")); left != "PASS" && left != "FAIL" {
		t.Errorf("sweeps/store:\n%s", left)
	}
}
