package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

// ManifestName is the file name of a results folder's manifest.
const ManifestName = "manifest.json"

// Manifest describes a results folder. All fields except Run are functions of the configuration.
type Manifest struct {
	Name   string          `json:"name"`   // of the sweep
	Hash   string          `json:"hash"`   // sha256 of Config without white space, in hexadecimal
	Config json.RawMessage `json:"config"` // the resolved configuration, defaults included
	// which cells of the sweep the folder is for; nil: all
	Shard *Shard   `json:"shard,omitempty"`
	Run   *RunInfo `json:"run"` // the last run that simulated cells; nil before the first has finished
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
	var m Manifest
	var config bytes.Buffer
	err = json.Unmarshal(data, &m)
	if err == nil && (json.Compact(&config, m.Config) != nil || checksum(config.Bytes()) != m.Hash) {
		err = errors.New("the configuration does not match its checksum")
	}
	if err != nil {
		return nil, &DamagedError{fmt.Sprintf("%s: %v: run the sweep again, which writes it from the "+
			"configuration; finished cells are kept", path, err)}
	}
	return &m, nil
}

// Write replaces the manifest of a folder, atomically.
func (m *Manifest) Write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, ManifestName), append(data, '\n'))
}

// RunInfo says how and where a sweep was last run.
type RunInfo struct {
	// commit of the build, "+dirty" if files differed; else the module version, else "unknown"
	Version   string `json:"version"`
	GoVersion string `json:"go"`     // of the compiler, such as "go1.25.0"
	OS        string `json:"goos"`   // as GOOS names it
	Arch      string `json:"goarch"` // as GOARCH names it
	// instruction set level of the build, v1 to v4; "" elsewhere
	AMD64       string  `json:"goamd64,omitempty"`
	Host        string  `json:"host"`            // name of the machine, "" if it has none
	Workers     int     `json:"workers"`         // number of cells simulated at the same time, ≥ 1
	Simulated   int     `json:"cells_simulated"` // number of cells that this run simulated, ≥ 0
	WallSeconds float64 `json:"wall_seconds"`    // elapsed time of the simulation
	CPUSeconds  float64 `json:"cpu_seconds"`     // user and system time of the simulation
}

// NewRunInfo describes a run of this program on this machine that simulated so many
// cells in wall seconds of elapsed time and cpu seconds of processor time.
func NewRunInfo(workers, simulated int, wall, cpu float64) *RunInfo {
	info := &RunInfo{Version: "unknown", GoVersion: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH, Workers: workers, Simulated: simulated, WallSeconds: wall, CPUSeconds: cpu}
	info.Host, _ = os.Hostname()
	if build, ok := debug.ReadBuildInfo(); ok {
		info.Version, info.AMD64 = describe(build)
	}
	return info
}

// describe returns the version of a build, and its instruction set level.
func describe(build *debug.BuildInfo) (version, amd64 string) {
	version = build.Main.Version
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			version = setting.Value
		case "vcs.modified":
			if setting.Value == "true" {
				version += "+dirty"
			}
		case "GOAMD64":
			amd64 = setting.Value
		}
	}
	return version, amd64
}

// PhysicalMemory returns the memory of the machine in bytes; +Inf if the operating system does
// not say in the way of Linux.
func PhysicalMemory() float64 {
	text, err := os.ReadFile("/proc/meminfo")
	var kilobytes float64
	if err != nil {
		return math.Inf(1)
	}
	if _, err := fmt.Sscanf(string(text), "MemTotal: %g kB", &kilobytes); err != nil {
		return math.Inf(1)
	}
	return 1024 * kilobytes
}
