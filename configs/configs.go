// Package configs holds the configuration files that ship inside grposim.
package configs

import "embed"

// Files holds NAME.yaml, small sweeps to begin with, paper/NAME.yaml, the controlled
// experiments of arXiv:2606.30789, trainers/NAME.yaml, experiments on what trainers add to
// GRPO, and presets/NAME.yaml, the defaults of the trainer of that name.
//
//go:embed first.yaml map.yaml question.yaml smoke.yaml paper/*.yaml trainers/*.yaml presets/*.yaml
var Files embed.FS

// First is first.yaml, a sweep that explains its keys.
//
//go:embed first.yaml
var First []byte

// Statements is the table of the statements of arXiv:2606.30789, in YAML.
//
//go:embed statements.yaml
var Statements []byte
