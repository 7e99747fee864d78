package config

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// checkGolden compares got with a file, or rewrites the file under -update.
func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// must returns a function that gives the first value, or ends the test with the error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func testFiles(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

func TestLoadBad(t *testing.T) {
	for _, file := range testFiles(t, "bad/*.yaml") {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			data := must(os.ReadFile(file))(t)
			spec, err := Load(name+".yaml", data)
			if err == nil {
				t.Fatalf("accepted: %+v", spec)
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".txt", []byte(err.Error()+"\n"))
		})
	}
}

// loadMinimal is a legal file for tests to change.
const loadMinimal = `name: x
seed: 1
bandit:
  arms:
    - {reward: bernoulli, mean: 0.9}
    - {reward: bernoulli, mean: 0.2}
grpo: {group_size: 16}
optimizer: {learning_rate: 0.02}
run: {steps: 2000}
`

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	unreadable := filepath.Join(dir, "unreadable.yaml")
	if err := os.WriteFile(unreadable, []byte(loadMinimal), 0); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{dir, dir + ": got a directory, want a configuration file"},
		{filepath.Join(dir, "none.yaml"), filepath.Join(dir, "none.yaml") +
			": got no such file, want a configuration"},
		{filepath.Join(unreadable, "x"), filepath.Join(unreadable, "x") +
			": cannot read: not a directory"},
		{unreadable, unreadable + ": cannot read: permission denied"},
	} {
		if tt.path == unreadable && os.Getuid() == 0 {
			continue // root reads everything
		}
		spec, err := ToJudge.ReadFile(tt.path)
		if err == nil {
			t.Fatalf("%s: accepted %+v", tt.path, spec)
		}
		if err.Error() != tt.want {
			t.Errorf("got  %s\nwant %s", err, tt.want)
		}
	}
}

// Files too large to store.
func TestLoadRefusesHugeFiles(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct{ name, data, want string }{
		{
			"scalar", strings.Replace(loadMinimal, "name: x", "name: "+long, 1),
			`f:1:7: name: got "` + long[:60] +
				`"… (100000 characters), want 1 to 64 characters of a-z, 0-9 and -`,
		},
		{
			"file", loadMinimal + "# " + strings.Repeat("x", maxFileBytes),
			"f: got more than 1048576 bytes, want at most 1048576",
		},
		{
			"nesting", loadMinimal + "sweep: " + strings.Repeat("[", 100) + strings.Repeat("]", 100),
			"f:10:23: sweep" + strings.Repeat("[0]", 15) +
				": got more than 16 levels of nesting, want at most 16",
		},
		{
			"deep nesting", strings.Repeat("[", 20_000),
			`f:1: got "exceeded max depth of 10000", want valid YAML`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("f", []byte(tt.data))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %.300s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		set, key, want string
	}{
		{"grpo.group_size=inf", GroupSizeKey, "inf"},
		{"grpo.group_size=8", GroupSizeKey, "8"},
		{"optimizer.learning_rate=1e-3", "optimizer.learning_rate", "0.001"},
		{"policy.reference=[0, 1.5]", "policy.reference", "[0, 1.5]"},
		{"policy.init=fixed-point", InitKey, "fixed-point"},
		{"policy.init={fixed_point_offset: -0.25}", InitKey, "{fixed_point_offset: -0.25}"},
		{"lag.kind=delay", "lag.kind", "delay"},
		{"run.steps=30", ScheduleTotalKey, "30"},
		{"bandit.arms=[{reward: constant, mean: 2, count: 2}]", TrueMeansKey, "[2, 2]"},
	} {
		spec, err := Load("f", []byte(loadMinimal), tt.set)
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		k, _ := LookupKey(tt.key)
		if got := Format(k.Get(&spec.Base)); got != tt.want {
			t.Errorf("%s: %s = %s, want %s", tt.set, tt.key, got, tt.want)
		}
	}

	spec := must(Load("f", []byte(loadMinimal), "seed=18446744073709551615", "name=y",
		"confidence=0.5"))(t)
	if spec.Base.Seed != 18446744073709551615 || spec.Name != "y" || spec.Confidence != 0.5 {
		t.Errorf("got seed %d, name %s, confidence %v", spec.Base.Seed, spec.Name, spec.Confidence)
	}
	if _, err := Load("f", []byte(strings.Replace(loadMinimal, "grpo: {group_size: 16}\n", "", 1)),
		"grpo.group_size=4"); err != nil {
		t.Errorf("an override does not supply a required key: %v", err)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{[]string{"grpo.group_size"}, `--set: got "grpo.group_size", want key=value`},
		{[]string{"group_size=4"}, `--set: group_size: got an unknown key, want a dotted key of the base, or seed, name or confidence, did you mean "grpo.group_size"?`},
		{[]string{"claim=x"}, "--set: claim: got an unknown key, want a dotted key of the base, or " +
			"seed, name or confidence"},
		{[]string{"run.steps=5", "run.steps=6"}, "--set: run.steps: got the key again, want it once"},
		{[]string{"run.burn_in=2000"}, "--set: run.burn_in: got 2000, want less than run.steps (2000)"},
		{[]string{"policy.reference=[0"},
			`--set: policy.reference: got "did not find expected ',' or ']'", want valid YAML`},
		{[]string{"name=../x"}, `--set: name: got "../x", want 1 to 64 characters of a-z, 0-9 and -`},
		{[]string{"run.steps=5\nseed: 3"}, `--set: run.steps: got "5\nseed: 3", want one line`},
		{[]string{"lag.interval=0", "name=\t"},
			"--set: name: got a tab, want spaces\n--set: lag.interval: got 0, want an integer ≥ 1 for a " +
				"block"},
	} {
		_, err := Load("f", []byte(loadMinimal), tt.set...)
		if err == nil {
			t.Errorf("%q: accepted", tt.set)
		} else if err.Error() != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.set, err, tt.want)
		}
	}

	swept := loadMinimal + "sweep: [{param: grpo.group_size, values: [2, 4]}]\n"
	zipped := loadMinimal + "sweep: [{zip: [{param: grpo.group_size, values: [2, 4]}, {param: " +
		"lag.interval, values: [1, 2]}]}]\n"
	const inZip = "--set: grpo.group_size: got a key that the file varies together with " +
		"lag.interval, want one that no zip varies: other values have to stand in its zip"
	for _, tt := range []struct{ file, set, want string }{
		{zipped, "grpo.group_size=8", inZip},
		{zipped + "variants: [{name: a}, {name: b}]\n", "grpo.group_size=[8, 16]", inZip},
		{loadMinimal, "grpo.group_size=8,16",
			`--set: grpo.group_size: got "8,16", want an integer in [2, 2147483648], or inf; several values in brackets, as [a, b]`},
		{loadMinimal, "lag.interval={from: 1, to: 4, step: 1}",
			"--set: lag.interval: got a mapping, want an integer ≥ 0; several values in brackets, as [a, b]"},
		{loadMinimal + "sweep: [{param: seed, range: {from: 1, to: 500000, step: 1}}]\n",
			"grpo.group_size=[2, 4, 8]",
			"--set: grpo.group_size: got 3 values, which make more than 1000000 cells, want at most 1000000"},
		{swept, "grpo.group_size=[8, 1, x]",
			"--set: grpo.group_size[1]: got 1, want an integer in [2, 2147483648], or inf\n--set: " +
				"grpo.group_size[2]: got \"x\", want an integer in [2, 2147483648], or inf"},
		{loadMinimal + "sweep: [{param: run.burn_in, values: [1, 2]}]\n", "run.burn_in=[1, 2000]",
			"--set: run.burn_in: got 2000, want less than run.steps (2000)"},
	} {
		if _, err := Load("f", []byte(tt.file), tt.set); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.set, err, tt.want)
		}
	}
}

// An override wins over an axis over its key, and over the value that a variant sets: a list
// gives the values of the axis, or makes one, and one value takes the axis away. A zip stays.
// Notes say which variants lose a value and which keep a zip.
func TestSetReplacesAnAxis(t *testing.T) {
	const sweep = `sweep:
  - {param: grpo.group_size, values: [2, 4]}
  - {param: policy.reference, values: [[0, 0], [1, 0]]}
`
	const variants = "variants: [{name: a}, {name: b, sweep: [{param: grpo.group_size, log: {from: " +
		"2, to: 8, points: 3}}]}, {name: c, sweep: []}]\n"
	const zip = "{zip: [{param: grpo.group_size, values: [2, 4]}, {param: lag.interval, values: [1, " +
		"2]}]}"
	const loses = "--set: grpo.group_size: takes the place of what is set in variant b"
	const keeps = "--set: grpo.group_size: has no effect in variant b, whose zip varies it together " +
		"with lag.interval"
	for _, tt := range []struct {
		file, set      string
		sizes, entries string // of each cell: group size, reference policy
		notes          []string
	}{
		{sweep, "grpo.group_size=8", "8 8", "[0, 0] [1, 0]", nil},
		{sweep, "grpo.group_size=[8, inf]", "8 8 inf inf", "[0, 0] [1, 0] [0, 0] [1, 0]", nil},
		{sweep + variants, "grpo.group_size=32", "32 32 32 32", "[0, 0] [1, 0] [0, 0] [0, 0]", nil},
		{"", "grpo.group_size=[8, inf]", "8 inf", "[0, 0] [0, 0]", nil},
		{"variants: [{name: a}, {name: b, set: {grpo.group_size: 16}}, {name: c, sweep: [{param: " +
			"policy.reference, values: [[0, 0], [1, 0]]}]}]\n", "grpo.group_size=[2, 8]",
			"2 8 2 8 2 8 2 8", "[0, 0] [0, 0] [0, 0] [0, 0] [0, 0] [0, 0] [1, 0] [1, 0]", []string{loses}},
		{"variants: [{name: a}, {name: b, set: {grpo.group_size: 16}}, {name: c, set: " +
			"{grpo.group_size: 4}}]\n", "grpo.group_size=8", "8 8 8", "[0, 0] [0, 0] [0, 0]",
			[]string{loses + " and c"}},
		{"variants: [{name: a}, {name: b, sweep: [" + zip + "]}]\n", "grpo.group_size=[8, inf]",
			"8 inf 2 4", "[0, 0] [0, 0] [0, 0] [0, 0]", []string{keeps}},
	} {
		spec, err := Load("f", []byte(loadMinimal+tt.file), tt.set)
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		if got := axisOf(spec.Points(), GroupSizeKey); got != tt.sizes {
			t.Errorf("%s: group sizes %v, want %v", tt.set, got, tt.sizes)
		}
		if got := axisOf(spec.Points(), "policy.reference"); got != tt.entries {
			t.Errorf("%s: references %v, want %v", tt.set, got, tt.entries)
		}
		if !slices.Equal(spec.Notes, tt.notes) {
			t.Errorf("%s: notes %q, want %q", tt.set, spec.Notes, tt.notes)
		}
	}
}

// A required key that the sweep or every variant gives need not be in the base, also
// not in the document of a results folder.
func TestSweptKeysAreGiven(t *testing.T) {
	bare := strings.NewReplacer("grpo: {group_size: 16}\n", "", "optimizer: {learning_rate: 0.02}\n",
		"").Replace(loadMinimal)
	const rate = "{param: optimizer.learning_rate, values: [0.1, 0.2]}"
	for _, tt := range []struct {
		file string
		want string // group sizes
	}{
		{"sweep: [{param: grpo.group_size, values: [4, 8]}, " + rate + "]\n", "4 4 8 8"},
		{"sweep: [{zip: [{param: grpo.group_size, values: [4, 8]}, " + rate + "]}]\n", "4 8"},
		{"sweep: [" + rate + "]\nvariants: [{name: a, set: {grpo.group_size: 4}}, {name: b, set: " +
			"{grpo.group_size: inf}}]\n", "4 4 inf inf"},
	} {
		spec := must(Load("f", []byte(bare+tt.file)))(t)
		if got := axisOf(spec.Points(), GroupSizeKey); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.file, got, tt.want)
		}
		again := must(Load("document", spec.Document()))(t)
		if diff := cmp.Diff(spec.Points(), again.Points()); diff != "" {
			t.Errorf("%s, written and read again:\n%s", tt.file, diff)
		}
	}
}

// everything.yaml gives every key of the base and of a check, and makes every claim
// with every prediction that the claim allows.
func TestEverythingIsGiven(t *testing.T) {
	data := must(os.ReadFile("testdata/good/everything.yaml"))(t)
	spec := must(Load("everything.yaml", data))(t)
	for i, k := range Keys {
		if spec.given[i] == nil {
			t.Errorf("%s is not given", k.Path)
		}
	}
	for _, name := range slices.Concat(checkFields, faultNames, []string{"set", "scale"}) {
		if !strings.Contains(string(data), name+":") {
			t.Errorf("no check has %s", name)
		}
	}
	for _, claim := range Claims {
		for _, kind := range claim.Predictions {
			if !slices.ContainsFunc(spec.Checks, func(c Check) bool {
				return c.Claim == claim && (c.Prediction == kind || c.Prediction == "" &&
					claim.Predictions[0] == kind)
			}) {
				t.Errorf("no check of %s by the %s prediction", claim.Name, kind)
			}
		}
	}
	for _, param := range locatedParams {
		if !slices.ContainsFunc(spec.Checks,
			func(c Check) bool { return c.Locate != nil && c.Locate.Param == param }) {
			t.Errorf("nothing is located along %s", param)
		}
	}
}

// The keys of a planted fault can be set one after the other in any order of the file.
func TestControlApplies(t *testing.T) {
	spec := must(Load("f", []byte(loadMinimal+`
checks:
  - claim: stiffness
    displacement: 0.1
    draws: 10
    margin: 0.1
    control:
      set:
        policy.reference: [0, 0, 1]
        policy.init: [0, 0, 1]
        bandit.true_means: [1, 0, 0]
        bandit.arms: [{reward: constant, mean: 1}, {reward: constant, mean: 0, count: 2}]
`)))(t)
	s := spec.Base
	for _, a := range spec.Checks[0].Control.Set {
		k, _ := LookupKey(a.Param)
		if err := k.Set(&s, a.Value); err != nil {
			t.Error(err)
		}
		if got := Format(k.Get(&s)); got != Format(a.Value) {
			t.Errorf("%s is %s, want %s", a.Param, got, Format(a.Value))
		}
	}
	reference, _ := LookupKey("policy.reference")
	if err := reference.Set(&s, []float64{1, 2}); err == nil {
		t.Error("a list of the wrong length is set")
	}
}

// To predict, a check may select cells that it cannot judge, but must be written correctly.
func TestLoadToPredict(t *testing.T) {
	check := func(fields string) []byte {
		return []byte(loadMinimal + "checks: [{claim: stationary-fluctuation, margin: 0.1" + fields +
			"}]\n")
	}
	if _, err := Load("f", check("")); err == nil ||
		!strings.Contains(err.Error(), "got a cell with run.burn_in 0") {
		t.Errorf("to judge: got %v, want the cell refused", err)
	}
	if spec, err := ToPredict.Load("f", check("")); err != nil || len(spec.Checks) != 1 {
		t.Errorf("to predict: got %v, want a configuration with its check", err)
	}
	if _, err := ToPredict.Load("f", check(", expcted: 1")); err == nil ||
		!strings.Contains(err.Error(), `did you mean "expected"?`) {
		t.Errorf("to predict: got %v, want the unknown key refused", err)
	}
	short := strings.NewReplacer("seed: 1\n", "", "run: {steps: 2000}\n", "").Replace(loadMinimal)
	spec, err := ToPredict.Load("f", []byte(short))
	if err != nil || spec.Base.Seed != 1 || spec.Base.Run.Steps != 1000 || len(spec.Notes) != 1 {
		t.Errorf("to predict without a seed and steps: got %+v, %v", spec, err)
	}
	if _, err := Load("f", []byte(short)); err == nil || !strings.Contains(err.Error(), "run.steps: got") {
		t.Errorf("to judge without steps: got %v", err)
	}
}
