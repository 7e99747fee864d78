package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// ManifestName is the file name of a results folder's manifest.
const ManifestName = "manifest.json"

// Manifest describes a results folder. All fields except Run are functions of the configuration.
type Manifest struct {
	Name string `json:"name"` // of the sweep
	// sha256 of Config without white space, in hexadecimal
	Hash   string          `json:"hash"`
	Config json.RawMessage `json:"config"` // the resolved configuration, defaults included
	// which cells of the sweep the folder is for; nil: all
	Shard *Shard `json:"shard,omitempty"`
	// the last run that simulated cells; nil before the first has finished
	Run *RunInfo `json:"run"`
}

// Shard is one of the parts into which a sweep is divided for several machines.
type Shard struct {
	Index int `json:"index"` // 1 to Of
	Of    int `json:"of"`    // number of shards, ≥ 1
}

// DamagedError says that a results folder is incomplete or damaged.
type DamagedError struct {
	Message string // one line: the file, what is wrong with it, and what to do
}

// Error returns the message.
func (e *DamagedError) Error() string { return e.Message }

// NewManifest returns the manifest of a sweep's results folder. The configuration is
// JSON without white space.
func NewManifest(name string, config []byte) *Manifest {
	return &Manifest{Name: name, Hash: checksum(config), Config: config}
}

// ReadManifest reads the manifest of a folder. The error is a *DamagedError if the
// file is not a manifest or its configuration does not match its checksum.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	const remedy = "run the sweep again, which writes it from the configuration; finished cells are kept"
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &DamagedError{fmt.Sprintf("%s: %v: %s", path, err, remedy)}
	}
	var config bytes.Buffer
	if err := json.Compact(&config, m.Config); err != nil || checksum(config.Bytes()) != m.Hash {
		return nil, &DamagedError{fmt.Sprintf("%s: the configuration does not match its checksum: %s", path, remedy)}
	}
	return &m, nil
}

// Write replaces the manifest of a folder, atomically.
func (m *Manifest) Write(dir string) error { return writeJSON(filepath.Join(dir, ManifestName), m) }
