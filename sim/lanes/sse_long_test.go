//go:build long && goexperiment.simd && go1.27 && amd64

package lanes

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// In functions that a step calls every instruction on registers of vectors is one of AVX. Each of
// the older ones among vectors of 256 bits takes some hundred nanoseconds.
func TestLongInstructions(t *testing.T) {
	program := filepath.Join(t.TempDir(), "grposim")
	if output, err := exec.Command("go", "build", "-o", program, "grposim/cmd/grposim").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	output, err := exec.Command("go", "tool", "objdump", "-s", `lanes\..*@simd256`, program).Output()
	if err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`lanes\.(New|newExponentials|.*\)\.(Begin|setConstants|setDraws|setPair))(@simd256)?\(`)
	register := regexp.MustCompile(`\bX\d`)
	function, functions := "", 0
	for line := range strings.Lines(string(output)) {
		if strings.HasPrefix(line, "TEXT") {
			if function = ""; !begins.MatchString(line) {
				function = line
				functions++
			}
			continue
		}
		fields := strings.Fields(line)
		if function != "" && len(fields) > 3 && register.MatchString(line) && !strings.HasPrefix(fields[3], "V") {
			t.Errorf("%s%s", function, line)
		}
	}
	if functions < 20 {
		t.Errorf("%d functions are disassembled, want those of a step", functions)
	}
}
