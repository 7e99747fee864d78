package fp

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// reproducible lists the packages whose results are the same bits on every
// architecture.
var reproducible = []string{
	"grposim/grpo/fp",
	"grposim/grpo",
	"grposim/sim/draw",
	"grposim/sim",
	"grposim/sim/measure",
}

// derived are the sources among theirs whose results are not stored, but derived
// from what is: intervals, by the quantiles of a library.
var derived = regexp.MustCompile(`/sim/measure/interval\.go:|/gonum\.org/`)

// targets are architectures whose compiler fuses x*y + z.
var targets = []struct{ name, environment string }{
	{"arm64", "GOARCH=arm64"},
	{"amd64 v3", "GOARCH=amd64 GOAMD64=v3"},
}

var (
	// A fused multiply-add of either architecture. The rest of the line is its
	// operands; what stands before it in brackets, the source position.
	fusedInstruction = regexp.MustCompile(`\((\S+\.go:\d+)\)\t(V?FN?M(?:ADD|SUB)\w*)`)
	// A call of a function of package math that is not exact by definition; an
	// inlined one is reported at its place in package math.
	inexactCall = regexp.MustCompile(`\((\S+\.go:\d+)\)\tCALL\tmath\.((?:arch)?(?:Acos|Asin|Atan|Cbrt|Cos|Erf|Exp|Expm1|FMA|Gamma|Hypot|J0|J1|Jn|Lgamma|Log|Pow|Sin|Tan|Y0|Y1|Yn|acos|asin|atan|cbrt|cos|erf|exp|expm1|gamma|hypot|lgamma|log|pow|sin|tan)\w*)\(SB\)`)
)

// irreproducible compiles a package for a target and returns the instructions,
// each with its source position, that may give other bits elsewhere.
func irreproducible(t *testing.T, environment, pkg string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S", pkg) // for the named package only; the cache keeps the listing
	command.Env = append(os.Environ(), append(strings.Fields(environment), "CGO_ENABLED=0")...)
	listing, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", command, err, listing)
	}
	if !strings.Contains(string(listing), "STEXT") && !strings.Contains(string(listing), "SDWARFCUINFO") {
		t.Fatalf("%s printed no listing", command)
	}
	var found []string
	for _, pattern := range []*regexp.Regexp{fusedInstruction, inexactCall} {
		for _, match := range pattern.FindAllStringSubmatch(string(listing), -1) {
			if !derived.MatchString(match[1]) {
				found = append(found, match[1]+": "+match[2])
			}
		}
	}
	return found
}

// Where this fails, write float64(x*y) + z, or take the function from this
// package.
func TestNoArchitectureDependentInstruction(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for other architectures")
	}
	for _, target := range targets {
		for _, pkg := range reproducible {
			t.Run(target.name+" "+pkg, func(t *testing.T) {
				for _, instruction := range irreproducible(t, target.environment, pkg) {
					t.Error(instruction)
				}
			})
		}
	}
}

// The planted fault: a package with both kinds is caught on every target.
func TestArchitectureDependentInstructionIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for other architectures")
	}
	for _, target := range targets {
		found := strings.Join(irreproducible(t, target.environment, "./testdata/fused"), "\n")
		for _, want := range []string{"fused.go:9: ", ": archExp"} {
			if !strings.Contains(found, want) {
				t.Errorf("%s: %q not found: %q", target.name, want, found)
			}
		}
	}
}
