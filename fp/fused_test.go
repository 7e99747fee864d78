//go:build long

package fp

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// reproducible lists the packages whose results are the same bits on every architecture.
var reproducible = []string{
	"grposim/fp",
	"grposim/grpo",
	"grposim/sim/draw",
	"grposim/sim",
	"grposim/sim/measure",
	"grposim/network",
}

// derived matches the sources that may differ between architectures: the theory's functions and
// intervals, which use the quantiles of a library. Their results are not stored.
var derived = regexp.MustCompile(`/sim/measure/interval\.go:|/fp/math\w+\.go:|\bgonum\.org/`)

// theorys matches the functions of this package that the theory alone calls, by the library's.
var theorys = regexp.MustCompile(`^grposim/fp\.(?:Pow|Erfc)$`)

// targets are architectures for which the compiler fuses x*y + z.
var targets = []struct{ name, environment string }{
	{"arm64", "GOARCH=arm64"},
	{"amd64 v3", "GOARCH=amd64 GOAMD64=v3"},
}

var (
	// A fused multiply-add of either architecture, after its source position in
	// brackets. The rest of the line is its operands.
	fusedInstruction = regexp.MustCompile(`\((\S+\.go:\d+)\)\t(V?FN?M(?:ADD|SUB)\w*)`)
	// A call of a function of package math whose result IEEE 754 does not fix. An
	// inlined call is reported at its position in package math.
	inexactCall = regexp.MustCompile(`\((\S+\.go:\d+)\)\tCALL\tmath\.((?:arch)?(?:Acos|Asin|Atan|Cbrt|Cos|Erf|Exp|Expm1|FMA|Gamma|Hypot|J0|J1|Jn|Lgamma|Log|Pow|Sin|Tan|Y0|Y1|Yn|acos|asin|atan|cbrt|cos|erf|exp|expm1|gamma|hypot|lgamma|log|pow|sin|tan)\w*)\(SB\)`)
)

// irreproducible compiles a package for a target and returns the instructions, each
// with its source position, whose results may have other bits on other architectures.
func irreproducible(t *testing.T, environment, pkg string) []string {
	t.Helper()
	// This lists the named package only; the build cache replays the listing.
	command := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S", pkg)
	command.Env = append(os.Environ(), append(strings.Fields(environment), "CGO_ENABLED=0")...)
	listing, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", command, err, listing)
	}
	if !strings.Contains(string(listing), "STEXT") && !strings.Contains(string(listing), "SDWARFCUINFO") {
		t.Fatalf("%s printed no listing", command)
	}
	var found []string
	function := ""
	for line := range strings.Lines(string(listing)) {
		if name, _, begins := strings.Cut(line, " STEXT"); begins {
			function = name
		}
		for _, pattern := range []*regexp.Regexp{fusedInstruction, inexactCall} {
			match := pattern.FindStringSubmatch(line)
			if match != nil && !derived.MatchString(match[1]) && !theorys.MatchString(function) {
				found = append(found, match[1]+": "+match[2])
			}
		}
	}
	return found
}

// If this fails, write float64(x*y) + z, or use the function of package fp.
func TestNoArchitectureDependentInstruction(t *testing.T) {
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

// Planted fault: in a package with both kinds of instruction, both are found on every target.
func TestArchitectureDependentInstructionIsFound(t *testing.T) {
	for _, target := range targets {
		found := strings.Join(irreproducible(t, target.environment, "./testdata/fused"), "\n")
		for _, want := range []string{"fused.go:9: ", ": archExp"} {
			if !strings.Contains(found, want) {
				t.Errorf("%s: %q not found: %q", target.name, want, found)
			}
		}
	}
}

// In a build for amd64 level 3 vectors give the bits of scalars, too.
func TestVectorsOfLevelThree(t *testing.T) {
	test := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-run", "Vector|Scalars|Lanes",
		"grposim/fp", "grposim/sim/...")
	test.Env = append(os.Environ(), "GOAMD64=v3", "CGO_ENABLED=0")
	if out, err := test.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok  \tgrposim/sim\t") {
		t.Errorf("%v\n%s", err, out)
	}
}
