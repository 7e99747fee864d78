// Package configs holds the configuration files that ship inside grposim.
package configs

import "embed"

// Files holds NAME.yaml, small sweeps to begin with, paper/NAME.yaml, the controlled
// experiments of arXiv:2606.30789, trainers/NAME.yaml, experiments on what trainers add to
// GRPO, way/NAME.yaml, public questions about runs from their start, deep/NAME.yaml,
// policies that are networks, presets/NAME.yaml, the
// defaults of the trainer of that name, and explorer/NAME.yaml, where the interactive page begins.
//
//go:embed first.yaml map.yaml question.yaml smoke.yaml
//go:embed paper/*.yaml trainers/*.yaml way/*.yaml deep/*.yaml presets/*.yaml explorer/*.yaml
var Files embed.FS

// First is first.yaml, a sweep that explains its keys.
//
//go:embed first.yaml
var First []byte

// Benchmarks and Improvement are Table 1 of arXiv:2606.30789 as tables of scores: training
// with G = 16 against G = 4, and before training against after it.
//
//go:embed benchmarks.csv
var Benchmarks []byte

//go:embed improvement.csv
var Improvement []byte

// Fits is a table of how well the law of arXiv:2606.30789 fits public logs of GRPO runs. A
// test of cmd/grposim computes it from docs/example.
//
//go:embed statements-fits.yaml
var Fits []byte

// Statements is the table of the statements of arXiv:2606.30789, in YAML.
//
//go:embed statements.yaml
var Statements []byte
