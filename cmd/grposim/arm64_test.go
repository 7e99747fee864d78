//go:build long

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// An arm64 build, run by qemu's user emulation, gives the results of this build: simulated ones to
// the byte, those derived by linear algebra and quantiles to 1e-9. Of amd64 level 3, where Go fuses
// some of the same products with sums, the tests of fp read the instructions of the simulator and
// compare its vectors with scalars.
func TestLongArchitectures(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs amd64 and qemu-aarch64 (Debian: qemu-user)")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "arm64-bin")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sweep := func(build string, args ...string) {
		args = append(args, "sweep", "testdata/architectures.yaml", "--out", filepath.Join(dir, build))
		c := exec.Command(args[0], args[1:]...)
		out, err := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code < 0 || code == exitUsage || code == exitDamaged {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	read := func(build, name string) []byte { return readDocument(t, dir, build, name) }
	sweep("here", program(t))
	sweep("arm64", qemu, binary)
	for _, name := range []string{"cells.jsonl", "trajectories.parquet"} {
		if !bytes.Equal(read("here", name), read("arm64", name)) {
			t.Errorf("%s differs", name)
		}
	}
	for _, name := range []string{"cells.csv", "predictions.csv"} {
		sameNumbers(t, name, read("arm64", name), read("here", name))
	}
	sameVerdicts(t, read("arm64", "verdicts.json"), read("here", "verdicts.json"))
}

// sameVerdicts compares two verdicts.json: numbers x to 1e-9·max(1, |x|), because the
// deviation of a trajectory is a difference of two rewards of order 1; everything else
// must be equal.
func sameVerdicts(t *testing.T, got, want []byte) {
	t.Helper()
	var files [2]struct{ Verdicts []map[string]any }
	for i, data := range [][]byte{want, got} {
		if err := json.Unmarshal(data, &files[i]); err != nil || len(files[i].Verdicts) == 0 {
			t.Fatalf("%d verdicts, %v", len(files[i].Verdicts), err)
		}
	}
	if diff := cmp.Diff(files[0], files[1], cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
		t.Errorf("verdicts (−want +got):\n%s", diff)
	}
}

// sameNumbers compares two CSV files field by field: numbers x to 1e-9·|x|, with larger
// tolerances for 0 and for some columns; everything else must be equal.
func sameNumbers(t *testing.T, what string, got, want []byte) {
	t.Helper()
	parse := func(data []byte) [][]string {
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return rows
	}
	a, b := parse(got), parse(want)
	if len(a) != len(b) {
		t.Fatalf("%s: %d rows, want %d", what, len(a), len(b))
	}
	for i := range b {
		for k := range b[i] {
			x, errX := strconv.ParseFloat(a[i][k], 64)
			y, errY := strconv.ParseFloat(b[i][k], 64)
			if errX != nil || errY != nil {
				if a[i][k] != b[i][k] {
					t.Errorf("%s: row %d, %s: %q, want %q", what, i, b[0][k], a[i][k], b[i][k])
				}
				continue
			}
			relative, absolute := 1e-9, 1e-15 // 0 up to rounding
			switch column := b[0][k]; {
			case strings.HasPrefix(column, "neglected_"): // an estimate by differences of differences
				relative = 1e-6
			case column == "expected_reward_shift": // by second differences of J, which is of order 1
				absolute = 1e-12
			case column == "oscillation_learning_rate": // a double root: its error is √rounding
				relative = 1e-7
			}
			if !(math.Abs(x-y) <= relative*math.Abs(y)+absolute) && x != y {
				t.Errorf("%s: row %d, %s: %v, want %v", what, i, b[0][k], x, y)
			}
		}
	}
}
