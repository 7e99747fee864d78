// Package configs holds the configuration files that ship inside grposim.
package configs

import "embed"

// Files holds NAME.yaml, small sweeps to begin with, and paper/NAME.yaml, the controlled
// experiments of arXiv:2606.30789.
//
//go:embed first.yaml map.yaml question.yaml smoke.yaml paper/*.yaml
var Files embed.FS

// First is first.yaml, a sweep that explains its keys.
//
//go:embed first.yaml
var First []byte

// Statements is the table of the statements of arXiv:2606.30789, in YAML.
//
//go:embed statements.yaml
var Statements []byte
