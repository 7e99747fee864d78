// Package configs holds the configuration files that ship inside grposim.
package configs

import "embed"

// Paper holds paper/NAME.yaml: the controlled experiments of arXiv:2606.30789.
//
//go:embed paper/*.yaml
var Paper embed.FS

// Statements is the table of the statements of arXiv:2606.30789, in YAML.
//
//go:embed statements.yaml
var Statements []byte
