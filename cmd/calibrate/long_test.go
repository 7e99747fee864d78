//go:build long

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The whole calibration meets its requirements and gives the committed page.
func TestCalibrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calibration.md")
	var stderr strings.Builder
	if code := run(t.Context(), []string{"-o", path}, nil, &stderr); code != 0 {
		t.Errorf("exit code %d:\n%s", code, stderr.String())
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH == "amd64" && !bytes.Equal(made, page(t)) {
		t.Error("docs/calibration.md is not what `make calibrate` writes")
	}
}
