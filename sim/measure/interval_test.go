package measure

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// On a processor without fused multiply-add gonum's quantiles of Student's law are the same to
// 1e-13.
func TestQuantilesWithoutFMA(t *testing.T) {
	var here []float64
	for _, confidence := range []float64{0.9, 0.95, 0.99, 0.999, 1 - 2e-6} {
		for df := 1; df < 400; df += 7 {
			here = append(here, studentQuantile(df, confidence))
		}
	}
	if os.Getenv("GODEBUG") == "cpu.fma=off" {
		_ = json.NewEncoder(os.Stdout).Encode(here)
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("switching off FMA is for amd64")
	}
	test := exec.Command(os.Args[0], "-test.run", "^TestQuantilesWithoutFMA$")
	test.Env = append(os.Environ(), "GODEBUG=cpu.fma=off")
	out, err := test.Output()
	var without []float64
	if err != nil || json.NewDecoder(bytes.NewReader(out)).Decode(&without) != nil || len(without) != len(here) {
		t.Fatalf("%v\n%s", err, out)
	}
	differ := 0
	for i, want := range here {
		if without[i] != want {
			differ++
		}
		if !(math.Abs(without[i]-want) <= 1e-13*want) {
			t.Errorf("quantile %d is %v without FMA, want %v", i, without[i], want)
		}
	}
	t.Logf("%d of %d quantiles differ", differ, len(here))
}
