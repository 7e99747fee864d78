package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the processor, the compilers and the libraries, and gives the date.
func machine(ctx context.Context, t *tools) string {
	parts := []string{
		fmt.Sprintf("%s, %d cores", processor(), runtime.NumCPU()),
		fmt.Sprintf("%s (%s/%s)", runtime.Version(), runtime.GOOS, runtime.GOARCH),
	}
	if text, err := exec.CommandContext(ctx, t.compiler, "--version").Output(); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		parts = append(parts, line)
	}
	for _, module := range []string{"numpy", "numba"} {
		if v := t.version(ctx, module); v != "" {
			parts = append(parts, module+" "+v)
		}
	}
	return strings.Join(append(parts, time.Now().Format(time.DateOnly)), "; ")
}

// processor returns the model name that Linux gives, or else the architecture.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
