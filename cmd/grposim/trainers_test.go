package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// presetCell is the cell at which docs/trainers.md compares the presets.
const presetCell = `name: x
extends: %s
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {kl: {coefficient: 0.5}}
optimizer: {kind: heavy-ball, momentum: 0.9, learning_rate: 0.001, schedule: {kind: constant, warmup: 0}}
run: {steps: 1000}
`

var (
	presetRelease = regexp.MustCompile(`\A# (\S+ \S+): (\S+@[0-9a-f]{7}), 2026-\d\d-\d\d\. `)
	presetKey     = regexp.MustCompile(`(?m)(?:^ *#.*\n)*^ *(\w+):.*$`) // with the comments before it
	presetSource  = regexp.MustCompile(`#.*(\.(py|yaml|sh|toml):\d+|TrainingArguments)`)
)

// docs/trainers.md compares the presets by the theory, and names their releases. Each key of a
// preset has its source, and the keys of the trainer's logs were read in the same commit.
func TestPresetTable(t *testing.T) {
	page := string(readDocument(t, moduleRoot(t), "docs", "trainers.md"))
	keys, _ := grposim(t, 0, "help", "log-keys")
	var text strings.Builder
	text.WriteString("| preset | G | B | lag | J\\* | λ | λ_s | s.d. of J | largest η |\n" +
		"|---|---:|---:|---|---:|---:|---:|---:|---:|\n")
	for _, name := range config.Presets() {
		spec, err := config.Load(name+".yaml", fmt.Appendf(nil, presetCell, name))
		if err != nil {
			t.Fatal(err)
		}
		preset := string(readDocument(t, moduleRoot(t), "configs", "presets", name+".yaml"))
		r := presetRelease.FindStringSubmatch(preset)
		if r == nil || !strings.Contains(page, "- **"+r[1]+"** ("+r[2]+")") ||
			!strings.Contains(keys, r[2]+" ") {
			t.Errorf("%s: release %q, want one that docs/trainers.md and log-keys name", name, r)
		}
		for _, key := range presetKey.FindAllStringSubmatch(preset, -1) {
			if key[1] != "grpo" && !presetSource.MatchString(key[0]) {
				t.Errorf("%s: no source of %s", name, key[1])
			}
		}
		s := &spec.Base
		params := theory.Params(s, rom.Unit)
		p := rom.Predict(params)
		variance, largest := "–", "–"
		if v := p.Exact.StationaryVariance.ExpectedReward; v != nil && p.Exact.Scope.In {
			variance = fmt.Sprintf("%.2g", math.Sqrt(*v))
		}
		if rate := p.Exact.CriticalLearningRate; rate != nil {
			largest = fmt.Sprintf("%.3g", *rate)
		}
		fmt.Fprintf(&text, "| `%s` | %d | %d | %s %d | %.3f | %.3f | %.3f | %s | %s |\n", name,
			s.Estimator.GroupSize, s.Estimator.GroupsPerStep, s.Lag.Kind, s.Lag.Interval,
			p.FixedPoint.Reward, p.Stiffness.Total, p.Stiffness.Stale, variance, largest)
	}
	file := filepath.Join(moduleRoot(t), "docs", "trainers.md")
	golden(t, file, replaceBlock(t, page, "presets", text.String()))
}

// The key that docs/example/trainer.yaml holds as a comment is one that the file can have.
func TestTrainerExampleReused(t *testing.T) {
	text := readDocument(t, moduleRoot(t), "docs", "example", "trainer.yaml")
	text = bytes.Replace(text, []byte("# samples: reused"), []byte("samples: reused  "), 1)
	spec, err := config.Load("trainer.yaml", text)
	if err != nil || spec.Base.Lag.Interval != 4 || spec.Base.Estimator.Samples != option.Reused {
		t.Fatalf("%v, want an interval of 4 with reused samples", err)
	}
}
