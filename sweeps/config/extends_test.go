package config

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grposim/option"

	"github.com/google/go-cmp/cmp"
)

// writeFiles writes files into a new folder, which it makes the working directory.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// extended is a file that others extend.
const extended = loadMinimal + `claim: of the other file
policy: {init: {fixed_point_offset: 0.5}, reference: [0, 1]}
sweep: [{param: grpo.group_size, values: [4, 8]}]
checks: [{claim: degenerate-groups, absolute_margin: 0.1}]
`

// A pipe that another file names, or that lies in a folder, is not waited for. One of the shell is
// read: it is on the reader's own command line.
func TestExtendsNoPipe(t *testing.T) {
	writeFiles(t, map[string]string{"mine.yaml": "extends: pipe\n",
		"shell.yaml": "extends: /dev/stdin\n"})
	if err := exec.Command("mkfifo", "pipe").Run(); err != nil {
		t.Skip(err)
	}
	for file, want := range map[string]string{"mine.yaml": `"pipe": got a pipe`,
		"pipe": "pipe: got a pipe", "shell.yaml": "want a regular file"} {
		done := make(chan error, 1)
		go func() { _, err := ToJudge.ReadFile(file); done <- err }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", file, err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: waits for a writer", file)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.WriteString(loadMinimal)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := ToJudge.ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd())); err != nil {
		t.Errorf("a pipe of the shell: %v", err)
	}
}

// A file takes over what it does not give: keys of sections one by one, lists and values
// of a key as a whole. The results folder's document needs no other file.
func TestExtends(t *testing.T) {
	writeFiles(t, map[string]string{
		"shared/base.yaml":   extended,
		"shared/middle.yaml": "extends: base.yaml\nrun: {burn_in: 100}\noptimizer: {momentum: 0.5}\n",
		"mine.yaml": "name: mine\nextends: shared/middle.yaml\noptimizer: {momentum: " +
			"0.9}\npolicy: {init: fixed-point}\nchecks: []\n",
		"other.yaml": "name: other\nextends: shared/middle.yaml\nsweep: [{param: " +
			"grpo.group_size, values: [16]}]\n",
	})
	spec := must(ToJudge.ReadFile("mine.yaml", "seed=7"))(t)
	for key, want := range map[string]string{
		SeedKey: "7", MomentumKey: "0.9", LearningRateKey: "0.02", BurnInKey: "100", StepsKey: "2000",
		InitKey: "fixed-point", "policy.reference": "[0, 1]",
	} {
		k, _ := LookupKey(key)
		if got := Format(k.Get(&spec.Base)); got != want {
			t.Errorf("%s = %s, want %s", key, got, want)
		}
	}
	if spec.Name != "mine" || spec.Claim != "" || len(spec.Checks) != 0 {
		t.Errorf("name %q, claim %q, %d checks", spec.Name, spec.Claim, len(spec.Checks))
	}
	if got := axisOf(spec.Points(), GroupSizeKey); got != "4 8" {
		t.Errorf("group sizes %v", got)
	}
	again := must(Load("document", spec.Document()))(t)
	if diff := cmp.Diff(spec.Points(), again.Points()); diff != "" {
		t.Error(diff)
	}
	other := must(ToJudge.ReadFile("other.yaml"))(t)
	if got := axisOf(other.Points(), GroupSizeKey); got != "16" ||
		len(other.Checks) != 1 {
		t.Errorf("group sizes %v, %d checks", got, len(other.Checks))
	}
}

// Problems name the file in which they are.
func TestExtendsProblems(t *testing.T) {
	unnamed := strings.Replace(loadMinimal, "name: x\n", "", 1)
	writeFiles(t, map[string]string{
		"base.yaml":     strings.Replace(extended, "0.02", "-1", 1),
		"wrong.yaml":    "name: wrong\nextends: base.yaml\nrun: {steps: 0}\n",
		"clash.yaml":    "name: clash\nextends: long.yaml\nrun: {steps: 50}\n",
		"long.yaml":     strings.Replace(loadMinimal, "{steps: 2000}", "{steps: 2000, burn_in: 100}", 1),
		"nameless.yaml": "extends: minimal.yaml\n",
		"minimal.yaml":  loadMinimal,
		"rule.yaml":     "name: rule\nextends: minimal.yaml\nrun: {burn_in: 2000}\n",
		"missing.yaml":  "name: missing\nextends: nothing.yaml\n" + unnamed,
		"capital.yaml":  "name: capital\nextends: TRL\n" + unnamed,
		"list.yaml":     "name: list\nextends: [minimal.yaml]\n" + unnamed,
		"a.yaml":        "name: a\nextends: b.yaml\n" + unnamed,
		"b.yaml":        "extends: ./a.yaml\n",
		"self.yaml":     "name: self\nextends: self.yaml\n" + unnamed,
		"syntax.yaml":   "name: s\nextends: broken.yaml\n",
		"broken.yaml":   "a: [\n",
	})
	for file, want := range map[string]string{
		"wrong.yaml": "wrong.yaml:2:10: checks[0].claim: got a cell with run.burn_in 0 " +
			"(base.yaml:13:18), want run.burn_in > 0 for degenerate-groups, or other checks in this " +
			"file\nwrong.yaml:3:14: run.steps: got 0, want an integer ≥ 1\nbase.yaml:8:28: " +
			"optimizer.learning_rate: got -1, want a number > 0",
		"clash.yaml": "clash.yaml:2:10: run.burn_in: got 100 (long.yaml:9:29), want less than " +
			"run.steps (50): set run.burn_in in this file",
		"nameless.yaml": "nameless.yaml:1:1: name: got nothing, want " + nameWant,
		"rule.yaml":     "rule.yaml:3:16: run.burn_in: got 2000, want less than run.steps (2000)",
		"missing.yaml":  `missing.yaml:2:10: extends: "nothing.yaml": got no such file, want a configuration`,
		"capital.yaml":  `capital.yaml:2:10: extends: "TRL": got no such file, want a configuration, or a preset: areal, nemo-rl, openrlhf, prime-rl, slime, trl or verl, did you mean "trl"?`,
		"list.yaml": "list.yaml:2:10: extends: got a list of 1 item, want the name of a file, or " +
			"of a preset: areal, nemo-rl, openrlhf, prime-rl, slime, trl or verl",
		"a.yaml":    `b.yaml:1:10: extends: got "./a.yaml", want a file that does not extend this one`,
		"self.yaml": `self.yaml:2:10: extends: got "self.yaml", want a file that does not extend this one`,
	} {
		if _, err := ToJudge.ReadFile(file); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", file, err, want)
		}
	}
	if _, err := ToJudge.ReadFile("syntax.yaml"); err == nil ||
		!strings.Contains(err.Error(), "broken.yaml: got a file that is no configuration") {
		t.Errorf("got %v, want a problem of broken.yaml", err)
	}
	const pure = `f:1:10: extends: "base.yaml": got a file to extend, want a configuration that needs no other`
	if _, err := Load("f", []byte("extends: base.yaml\n"+loadMinimal)); err == nil ||
		err.Error() != pure {
		t.Errorf("got  %v\nwant %s", err, pure)
	}
}

// A file that is no configuration is refused without its text: its reader need not be who wrote the
// name.
func TestExtendsTellsNothing(t *testing.T) {
	files := map[string]string{
		"shadow": "root:$6$secret:19000:0:::\n", "list": "- secret\n",
		"keys": "secret: 1\npassword: secret\n", "alias": "a: *secret\n",
		"syntax": "name: [secret\n", "quoted": "\"secret\"", "tag": "!secret b: 1\n", "empty": "",
	}
	for name := range files {
		files[name+".yaml"] = "name: x\nextends: " + name + "\n"
	}
	writeFiles(t, files)
	for name := range files {
		if strings.HasSuffix(name, ".yaml") {
			_, err := ToJudge.ReadFile(name)
			if file := strings.TrimSuffix(name, ".yaml"); err == nil ||
				strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), file+":") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Every preset is a part of a configuration that leaves bandit, learning rate and length of
// the run to the file, without notes on keys that have no effect. What the file gives holds.
func TestPresets(t *testing.T) {
	const mine = "name: x\nextends: %s\nseed: 1\nbandit: {arms: [{reward: bernoulli, mean: 0.9}, " +
		"{reward: bernoulli, mean: 0.2}]}\n" +
		"grpo: {group_size: 7}\noptimizer: {learning_rate: 0.1}\nrun: {steps: 100}\n"
	if len(Presets()) != 7 {
		t.Errorf("presets %q", Presets())
	}
	for _, name := range Presets() {
		spec := must(Load("x.yaml", fmt.Appendf(nil, mine, name)))(t)
		if b := spec.Base; b.Estimator.GroupSize != 7 || b.Optimizer.Kind != option.Adam ||
			len(spec.Notes) > 0 {
			t.Errorf("%s: group size %d, optimizer %s, notes %q", name, b.Estimator.GroupSize,
				b.Optimizer.Kind, spec.Notes)
		}
		// What the preset and the file break together is a problem of the file.
		for _, with := range []string{"bandit.prompts={count: 4}", "lag.kind=random",
			"grpo.group_size=inf", "grpo.filter=drop", "optimizer.schedule.total=1",
			"grpo.advantage.scale=pooled-std"} {
			_, err := Load("x.yaml", fmt.Appendf(nil, mine, name), with)
			var problems Problems
			if errors.As(err, &problems); slices.ContainsFunc(problems,
				func(p Problem) bool { return strings.HasPrefix(p.Source, presetFolder) }) {
				t.Errorf("%s with %s: %v", name, with, err)
			}
		}
	}
}
