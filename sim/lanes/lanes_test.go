//go:build goexperiment.simd && go1.27 && amd64

package lanes

import (
	"fmt"
	"os"
	"os/exec"
	"simd/archsimd"
	"strings"
	"testing"
)

// The length of vectors is what the processor has, and what GODEBUG asks for. It is 256 bits with
// AVX2 but without the instruction VPCLMULQDQ. With AVX alone there are none.
func TestLength(t *testing.T) {
	if os.Getenv("LANES_LENGTH") != "" {
		fmt.Printf("length %d\n", Bits())
		os.Exit(0)
	}
	x, longest := &archsimd.X86, 0
	switch {
	case x.AVX512() && x.AVX512VPCLMULQDQ():
		longest = 512
	case x.AVX2():
		longest = 256
	}
	for settings, want := range map[string]int{
		"":                                   longest,
		"cpu.avx512f=off":                    min(longest, 256),
		"cpu.avx512f=off,cpu.vpclmulqdq=off": min(longest, 256),
		"cpu.avx2=off":                       0,
		"simd=128,panicnil=1":                min(longest, 128),
		"simd=0":                             0,
	} {
		command := exec.Command(os.Args[0], "-test.run", "^TestLength$")
		command.Env = append(os.Environ(), "LANES_LENGTH=1", "GODEBUG="+settings)
		output, err := command.CombinedOutput()
		if got := strings.TrimSpace(string(output)); err != nil || got != fmt.Sprintf("length %d", want) {
			t.Errorf("with GODEBUG=%s: %v, %s, want length %d", settings, err, got, want)
		}
	}
}
