package config

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
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
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
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
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := Load(name+".yaml", data)
			if err == nil {
				t.Fatalf("accepted: %+v", spec)
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".txt", []byte(err.Error()+"\n"))
		})
	}
}

func TestLoadGood(t *testing.T) {
	for _, file := range slices.Concat(testFiles(t, "good/*.yaml"), testFiles(t, "../../../configs/paper/*.yaml"), testFiles(t, "../../../configs/trainers/*.yaml")) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, err := ReadFile(file); err != nil {
				t.Error(err)
			}
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
		{filepath.Join(dir, "none.yaml"), filepath.Join(dir, "none.yaml") + ": got no such file, want a configuration"},
		{filepath.Join(unreadable, "x"), filepath.Join(unreadable, "x") + ": cannot read: not a directory"},
		{unreadable, unreadable + ": cannot read: permission denied"},
	} {
		if tt.path == unreadable && os.Getuid() == 0 {
			continue // root reads everything
		}
		spec, err := ReadFile(tt.path)
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
			`f:1:7: name: got "` + long[:60] + `"… (100000 characters), want 1 to 64 characters of a-z, 0-9 and -`,
		},
		{
			"number", strings.Replace(loadMinimal, "2000", strings.Repeat("9", 100_000), 1),
			`f:9:14: run.steps: got "` + strings.Repeat("9", 60) + `"… (100000 characters), want an integer of at most 9007199254740992`,
		},
		{
			"key", loadMinimal + "? " + long + "\n: 1\n",
			`f:10:3: "` + long[:60] + `"… (100000 characters): got an unknown key, want name`,
		},
		{
			"file", loadMinimal + "# " + strings.Repeat("x", maxFileBytes),
			"f: got more than 1048576 bytes, want at most 1048576",
		},
		{
			"nesting", loadMinimal + "sweep: " + strings.Repeat("[", 100) + strings.Repeat("]", 100),
			"f:10:23: sweep" + strings.Repeat("[0]", 15) + ": got more than 16 levels of nesting, want at most 16",
		},
		{
			"deep nesting", strings.Repeat("[", 20_000),
			`f:1: got "exceeded max depth of 10000", want valid YAML`,
		},
		{
			"deep blocks", strings.Repeat("- ", 20_000),
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

	spec, err := Load("f", []byte(loadMinimal), "seed=18446744073709551615", "name=y", "confidence=0.5")
	if err != nil {
		t.Fatal(err)
	}
	if spec.Base.Seed != 18446744073709551615 || spec.Name != "y" || spec.Confidence != 0.5 {
		t.Errorf("got seed %d, name %s, confidence %v", spec.Base.Seed, spec.Name, spec.Confidence)
	}
	if _, err := Load("f", []byte(strings.Replace(loadMinimal, "grpo: {group_size: 16}\n", "", 1)), "grpo.group_size=4"); err != nil {
		t.Errorf("an override does not supply a required key: %v", err)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{[]string{"grpo.group_size"}, `--set: got "grpo.group_size", want key=value`},
		{[]string{"grpo.group_size=1"}, "--set: grpo.group_size: got 1, want an integer in [2, 2147483648], or inf"},
		{[]string{"grpo.group_size=20.0"}, "--set: grpo.group_size: got 20.0, want an integer in [2, 2147483648], or inf: write 20"},
		{[]string{"grpo.kl.coefficient=1e-310", "optimizer.learning_rate=5e-324"}, "--set: grpo.kl.coefficient: got 1e-310, want a number that is 0 or at least 2.23e-308 in size\n--set: optimizer.learning_rate: got 5e-324, want a number that is 0 or at least 2.23e-308 in size"},
		{[]string{"grpo.kl.coefficient=1e-200", "grpo.advantage.scale=none", "bandit.arms=[{reward: constant, mean: 1e200}, {reward: constant, mean: 0}]"}, "--set: grpo.kl.coefficient: got 1e-200, want 0, or one by which the rewards of bandit.arms can be divided without an overflow"},
		{[]string{"optimizer.kind=adam", "optimizer.beta2=0", "optimizer.epsilon=0"}, "--set: optimizer.beta2: got 0, want a number in (0, 1) where epsilon is 0; usual are beta1 0.9, beta2 0.999 and epsilon 1e-8"},
		{[]string{"grpo.group_size="}, "--set: grpo.group_size: got nothing, want an integer in [2, 2147483648], or inf"},
		{[]string{"group_size=4"}, `--set: group_size: got an unknown key, want a dotted key of the base, or seed, name or confidence, did you mean "grpo.group_size"?`},
		{[]string{"grpo.kl.coeficient=4"}, `--set: grpo.kl.coeficient: got an unknown key, want a dotted key of the base, or seed, name or confidence, did you mean "grpo.kl.coefficient"?`},
		{[]string{"claim=x"}, "--set: claim: got an unknown key, want a dotted key of the base, or seed, name or confidence"},
		{[]string{"run.steps=5", "run.steps=6"}, "--set: run.steps: got the key again, want it once"},
		{[]string{"run.burn_in=2000"}, "--set: run.burn_in: got 2000, want less than run.steps (2000)"},
		{[]string{"policy.reference=[0, 1, 2]"}, "--set: policy.reference: got 3 numbers, want 2, one per arm"},
		{[]string{"policy.reference=[0, x]"}, `--set: policy.reference[1]: got "x", want a number`},
		{[]string{"policy.reference=[0, &a 1]"}, `--set: policy.reference[1]: got the anchor "&a", want the value written out`},
		{[]string{"policy.reference=[0, *a]"}, `--set: policy.reference: got the alias "*a", want the value written out`},
		{[]string{"policy.reference=[0"}, `--set: policy.reference: got "did not find expected ',' or ']'", want valid YAML`},
		{[]string{"name=../x"}, `--set: name: got "../x", want 1 to 64 characters of a-z, 0-9 and -`},
		{[]string{"run.steps=5\nseed: 3"}, `--set: run.steps: got "5\nseed: 3", want one line`},
		{[]string{"lag.interval=0", "name=\t"}, "--set: name: got a tab, want spaces\n--set: lag.interval: got 0, want an integer ≥ 1 for a block"},
	} {
		_, err := Load("f", []byte(loadMinimal), tt.set...)
		if err == nil {
			t.Errorf("%q: accepted", tt.set)
		} else if err.Error() != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.set, err, tt.want)
		}
	}

	swept := loadMinimal + "sweep: [{param: grpo.group_size, values: [2, 4]}]\n"
	zipped := loadMinimal + "sweep: [{zip: [{param: grpo.group_size, values: [2, 4]}, {param: lag.interval, values: [1, 2]}]}]\n"
	const inZip = "--set: grpo.group_size: got a key that the file varies together with lag.interval, want one that no zip varies: other values have to stand in its zip"
	for _, tt := range []struct{ file, set, want string }{
		{zipped, "grpo.group_size=8", inZip},
		{zipped, "grpo.group_size=[8, 16]", inZip},
		{zipped + "variants: [{name: a}, {name: b}]\n", "grpo.group_size=[8, 16]", inZip},
		{loadMinimal, "grpo.group_size=8,16", `--set: grpo.group_size: got "8,16", want an integer in [2, 2147483648], or inf; several values in brackets, as [a, b]`},
		{loadMinimal, "lag.interval={from: 1, to: 4, step: 1}", "--set: lag.interval: got a mapping, want an integer ≥ 0; several values in brackets, as [a, b]"},
		{loadMinimal, "grpo.group_size=[8, 1]", "--set: grpo.group_size[1]: got 1, want an integer in [2, 2147483648], or inf"},
		{loadMinimal, "run.burn_in=[1, 2000]", "--set: run.burn_in: got 2000, want less than run.steps (2000)"},
		{loadMinimal + "sweep: [{param: seed, range: {from: 1, to: 500000, step: 1}}]\n", "grpo.group_size=[2, 4, 8]", "--set: grpo.group_size: got 3 values, which make more than 1000000 cells, want at most 1000000"},
		{swept, "grpo.group_size=[]", "--set: grpo.group_size: got a list of 0 items, want an integer in [2, 2147483648], or inf"},
		{swept, "grpo.group_size=[8, 1, x]", "--set: grpo.group_size[1]: got 1, want an integer in [2, 2147483648], or inf\n--set: grpo.group_size[2]: got \"x\", want an integer in [2, 2147483648], or inf"},
		{swept, "grpo.group_size=[8, 4, 8]", "--set: grpo.group_size: got \"8\" again, want every value once"},
		{loadMinimal + "sweep: [{param: run.burn_in, values: [1, 2]}]\n", "run.burn_in=[1, 2000]", "--set: run.burn_in: got 2000, want less than run.steps (2000)"},
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
	const variants = "variants: [{name: a}, {name: b, sweep: [{param: grpo.group_size, log: {from: 2, to: 8, points: 3}}]}, {name: c, sweep: []}]\n"
	const zip = "{zip: [{param: grpo.group_size, values: [2, 4]}, {param: lag.interval, values: [1, 2]}]}"
	const loses = "--set: grpo.group_size: takes the place of what is set in variant b"
	const keeps = "--set: grpo.group_size: has no effect in variant b, whose zip varies it together with lag.interval"
	for _, tt := range []struct {
		file, set      string
		sizes, entries []string // of each cell: group size, reference policy
		notes          []string
	}{
		{sweep, "grpo.group_size=8", []string{"8", "8"}, []string{"[0, 0]", "[1, 0]"}, nil},
		{sweep, "grpo.group_size=[8, inf]", []string{"8", "8", "inf", "inf"}, []string{"[0, 0]", "[1, 0]", "[0, 0]", "[1, 0]"}, nil},
		{sweep, "grpo.group_size=[8]", []string{"8", "8"}, []string{"[0, 0]", "[1, 0]"}, nil},
		{sweep, "policy.reference=[2, 0]", []string{"2", "4"}, []string{"[2, 0]", "[2, 0]"}, nil},
		{sweep, "policy.reference=[[2, 0], [3, 0]]", []string{"2", "2", "4", "4"}, []string{"[2, 0]", "[3, 0]", "[2, 0]", "[3, 0]"}, nil},
		{sweep + variants, "grpo.group_size=32", []string{"32", "32", "32", "32"}, []string{"[0, 0]", "[1, 0]", "[0, 0]", "[0, 0]"}, nil},
		{"", "grpo.group_size=[8, inf]", []string{"8", "inf"}, []string{"[0, 0]", "[0, 0]"}, nil},
		{"", "policy.reference=[[2, 0], [3, 0]]", []string{"16", "16"}, []string{"[2, 0]", "[3, 0]"}, nil},
		{"variants: [{name: a}, {name: b, set: {grpo.group_size: 16}}, {name: c, sweep: [{param: policy.reference, values: [[0, 0], [1, 0]]}]}]\n", "grpo.group_size=[2, 8]",
			[]string{"2", "8", "2", "8", "2", "8", "2", "8"}, []string{"[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]", "[1, 0]", "[1, 0]"}, []string{loses}},
		{"variants: [{name: a}, {name: b, set: {grpo.group_size: 16}}, {name: c, set: {grpo.group_size: 4}}]\n", "grpo.group_size=8", []string{"8", "8", "8"}, []string{"[0, 0]", "[0, 0]", "[0, 0]"}, []string{loses + " and c"}},
		{"variants: [{name: a}, {name: b, sweep: [" + zip + "]}]\n", "grpo.group_size=[8, inf]", []string{"8", "inf", "2", "4"}, []string{"[0, 0]", "[0, 0]", "[0, 0]", "[0, 0]"}, []string{keeps}},
		{"variants: [{name: a}, {name: b, sweep: [" + zip + "]}]\n", "grpo.group_size=8", []string{"8", "2", "4"}, []string{"[0, 0]", "[0, 0]", "[0, 0]"}, []string{keeps}},
		{sweep + variants, "grpo.group_size=[32]", []string{"32", "32", "32", "32"}, []string{"[0, 0]", "[1, 0]", "[0, 0]", "[0, 0]"}, nil},
	} {
		spec, err := Load("f", []byte(loadMinimal+tt.file), tt.set)
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		if got := axisOf(spec.Points(), GroupSizeKey); !slices.Equal(got, tt.sizes) {
			t.Errorf("%s: group sizes %v, want %v", tt.set, got, tt.sizes)
		}
		if got := axisOf(spec.Points(), "policy.reference"); !slices.Equal(got, tt.entries) {
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
	bare := strings.NewReplacer("grpo: {group_size: 16}\n", "", "optimizer: {learning_rate: 0.02}\n", "").Replace(loadMinimal)
	const rate = "{param: optimizer.learning_rate, values: [0.1, 0.2]}"
	for _, tt := range []struct {
		file string
		want []string // group sizes
	}{
		{"sweep: [{param: grpo.group_size, values: [4, 8]}, " + rate + "]\n", []string{"4", "4", "8", "8"}},
		{"sweep: [{zip: [{param: grpo.group_size, values: [4, 8]}, " + rate + "]}]\n", []string{"4", "8"}},
		{"sweep: [" + rate + "]\nvariants: [{name: a, set: {grpo.group_size: 4}}, {name: b, set: {grpo.group_size: inf}}]\n", []string{"4", "4", "inf", "inf"}},
	} {
		spec, err := Load("f", []byte(bare+tt.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := axisOf(spec.Points(), GroupSizeKey); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.file, got, tt.want)
		}
		again, err := Load("document", spec.Document())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(spec.Points(), again.Points()); diff != "" {
			t.Errorf("%s, written and read again:\n%s", tt.file, diff)
		}
	}
}

// Problems of the file and of the overrides are reported together, those of the file first.
func TestSetAndFileTogether(t *testing.T) {
	_, err := Load("f", []byte(strings.Replace(loadMinimal, "0.02", "-1", 1)), "run.steps=0")
	want := "f:8:28: optimizer.learning_rate: got -1, want a number > 0\n--set: run.steps: got 0, want an integer ≥ 1"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestProblemsAreCapped(t *testing.T) {
	var many strings.Builder
	for i := range 60 {
		many.WriteString("key-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ": 1\n")
	}
	_, err := Load("f", []byte(loadMinimal+many.String()))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 51 || lines[50] != "… and 10 more" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if n := len(err.(Problems)); n != 60 {
		t.Errorf("got %d problems, want 60", n)
	}
}

func TestLoadFillsIn(t *testing.T) {
	spec, err := Load("f", []byte(loadMinimal))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Seed: 1,
		Bandit: option.Bandit{
			Arms:      []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}},
			TrueMeans: []float64{0.9, 0.2},
		},
		Prompts: Prompts{Count: 1, Parameters: option.Tabular, Order: option.Shuffled},
		Policy:  Policy{Init: Init{Logits: []float64{0, 0}}, Reference: []float64{0, 0}, ReferenceUpdate: option.ReferenceUpdate{Rate: 0.6}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 1, Filter: option.KeepAll,
			Advantage: option.Advantage{Baseline: option.MeanBaseline, Scale: option.StdScale, Std: option.PopulationStd, Rate: 0.1},
			Importance: option.Importance{
				Mode: option.NoImportance, ClipLow: 0.2, ClipHigh: 0.2, Cap: 3,
				Temperature: option.Signed{Positive: 1, Negative: 1.05}, Power: option.Signed{Positive: 2, Negative: 3}, Decay: option.Signed{Positive: 3, Negative: 2},
			},
			KL:      option.KL{In: option.InLoss, Gradient: option.ExactKL, At: option.AtCurrent},
			Samples: option.Fresh,
		},
		Contexts: Contexts{Task: "none", Count: 25, Inputs: 10},
		Network:  Network{Kind: "none", Layers: 2, Width: 16, Activation: "tanh", Heads: 2, Unembedding: "untied", Seed: 1},
		Lag:      option.Lag{Kind: option.Block, Interval: 1, Ages: option.Ages{Law: option.UniformAges, Drawn: option.AgePerGroup}},
		Optimizer: option.Optimizer{
			Kind: option.HeavyBall, LearningRate: 0.02, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
			Schedule: option.Schedule{Kind: option.ConstantRate, Total: 2000},
		},
		Run: sim.Run{Steps: 2000, Replicas: 1},
	}
	if diff := cmp.Diff(want, spec.Base); diff != "" {
		t.Error(diff)
	}
	if spec.Name != "x" || spec.Base.Seed != 1 || spec.Claim != "" || spec.Confidence != 0.99 {
		t.Errorf("got %+v", spec)
	}
}

func TestLoadChecks(t *testing.T) {
	spec, err := ReadFile("testdata/good/checks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	noise, blunt, lag := rom.Unit, rom.Unit, rom.Unit
	noise.Noise, blunt.Stiffness, lag.Lag, lag.Mass = 1.1, 1.1, 2, 0.5
	want := []Check{
		{Claim: StationaryFluctuation, Expect: Holds, Margin: 0.02, Control: &Control{Scale: noise}},
		{
			Claim: StationaryFluctuation, Expect: Fails, Margin: 0.2, Prediction: rom.PaperRule, Variant: "base",
			Where: []Condition{{GroupSizeKey, []any{option.Infinite}}},
		},
		{
			Claim: FixedPoint, Expect: Holds, Margin: 0.01,
			Where:   []Condition{{GroupSizeKey, []any{64, option.Infinite}}, {LagIntervalKey, []any{1}}},
			Control: &Control{Set: []Assignment{{"grpo.advantage.scale", "none"}}, Scale: rom.Unit},
		},
		{Claim: FluctuationScaling, Expect: Holds, AbsoluteMargin: 0.1, Measuring: Measuring{Over: GroupSizeKey}, Prediction: rom.LeadingOrder, Control: &Control{Scale: lag}},
		{
			Claim: Stiffness, Expect: Holds, Margin: 0.05, Measuring: Measuring{Displacement: 0.05, Draws: 1000},
			Where: []Condition{{LagIntervalKey, []any{1}}}, Control: &Control{Scale: blunt},
		},
		{Claim: Trajectory, Expect: Holds, AbsoluteMargin: 0.02, Prediction: rom.Exact, Variant: "strong"},
		{
			Claim: DegenerateGroups, Expect: Holds, AbsoluteMargin: 0.001,
			Where: []Condition{{GroupSizeKey, []any{4}}, {"policy.reference", []any{[]float64{0, 0}}}},
		},
	}
	if diff := cmp.Diff(want, spec.Checks); diff != "" {
		t.Error(diff)
	}
	selected := make([]int, len(spec.Checks))
	for _, p := range spec.Points() {
		for i := range spec.Checks {
			if spec.Checks[i].Selects(&p) {
				selected[i]++
			}
		}
	}
	if diff := cmp.Diff([]int{28, 2, 4, 28, 14, 14, 4}, selected); diff != "" {
		t.Error(diff)
	}
}

// everything.yaml gives every key of the base and of a check, and makes every claim
// with every prediction that the claim allows.
func TestEverythingIsGiven(t *testing.T) {
	data, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := Load("everything.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
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
				return c.Claim == claim && (c.Prediction == kind || c.Prediction == "" && claim.Predictions[0] == kind)
			}) {
				t.Errorf("no check of %s by the %s prediction", claim.Name, kind)
			}
		}
	}
	for _, param := range locatedParams {
		if !slices.ContainsFunc(spec.Checks, func(c Check) bool { return c.Locate != nil && c.Locate.Param == param }) {
			t.Errorf("nothing is located along %s", param)
		}
	}
}

// The keys of a check that set how its claim is measured reach the Spec.
func TestLoadMeasuringKeys(t *testing.T) {
	search := func(param string, tolerance float64) *Locate {
		return &Locate{Param: param, From: 0.5, To: 8, Tolerance: tolerance}
	}
	for text, want := range map[string]Measuring{
		"relaxation, absolute_margin: 1e-4, offset: 0.01":                                                                                                    {Offset: 0.01},
		"failure-mode, margin: 0.1, mode: none, control: {mode: reward-hacking}":                                                                             {Names: Names{Mode: "none"}},
		"stability-threshold, absolute_margin: 0, displacement: 1e-3, draws: 1, locate: {param: lag.interval, from: 0.5, to: 8, tolerance: 0.001}":           {Displacement: 1e-3, Draws: 1, Locate: search(LagIntervalKey, 0.001)},
		"rule-is-safe, margin: 0.1, expect: fails, displacement: 0.1, draws: 10, locate: {param: optimizer.learning_rate, from: 0.5, to: 8, tolerance: 0.1}": {Displacement: 0.1, Draws: 10, Locate: search(LearningRateKey, 0.1)},
	} {
		spec, err := Load("f", []byte(strings.Replace(loadMinimal, "16", "inf", 1)+"checks: [{claim: "+text+"}]\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := Load("document", spec.Document())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Spec{spec, again} {
			if diff := cmp.Diff(want, s.Checks[0].Measuring); diff != "" {
				t.Errorf("%s:\n%s", text, diff)
			}
		}
	}
}

// The keys of a planted fault can be set one after the other in any order of the file.
func TestControlApplies(t *testing.T) {
	spec, err := Load("f", []byte(loadMinimal+`
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
`))
	if err != nil {
		t.Fatal(err)
	}
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
		return []byte(loadMinimal + "checks: [{claim: stationary-fluctuation, margin: 0.1" + fields + "}]\n")
	}
	if _, err := Load("f", check("")); err == nil || !strings.Contains(err.Error(), "got a cell with run.burn_in 0") {
		t.Errorf("to judge: got %v, want the cell refused", err)
	}
	if spec, err := ToPredict.Load("f", check("")); err != nil || len(spec.Checks) != 1 {
		t.Errorf("to predict: got %v, want a configuration with its check", err)
	}
	if _, err := ToPredict.Load("f", check(", expcted: 1")); err == nil || !strings.Contains(err.Error(), `did you mean "expected"?`) {
		t.Errorf("to predict: got %v, want the unknown key refused", err)
	}
}
