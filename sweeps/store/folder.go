package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

const ManifestName = "manifest.json"

// Manifest says what a results folder holds. Everything but Run is a function
// of the configuration.
type Manifest struct {
	Name   string          `json:"name"`
	Hash   string          `json:"hash"`   // sha256 of Config
	Config json.RawMessage `json:"config"` // resolved, in the configuration's own format
	Run    *RunInfo        `json:"run"`
}

// RunInfo says how and where a sweep was last run.
type RunInfo struct {
	Version     string  `json:"version"`
	GoVersion   string  `json:"go"`
	OS          string  `json:"goos"`
	Arch        string  `json:"goarch"`
	AMD64       string  `json:"goamd64,omitempty"`
	Host        string  `json:"host"`
	Workers     int     `json:"workers"`
	Simulated   int     `json:"cells_simulated"`
	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
}

// FolderError says why a results folder cannot be used, and what to do.
type FolderError struct{ Message string }

func (e *FolderError) Error() string { return e.Message }

// DamagedError says that a results folder is incomplete or damaged.
type DamagedError struct{ Message string }

func (e *DamagedError) Error() string { return e.Message }

// openFolder makes dir ready for the results of name and holds a lock on it
// until release is called. A folder belongs to one name.
func Lock(dir, name string) (release func() error, err error) {
	manifest, err := ReadManifest(dir)
	switch {
	case err == nil && manifest.Name != name:
		return nil, &FolderError{fmt.Sprintf("%s holds the results of %q, not of %q: choose another --out, or remove the folder", dir, manifest.Name, name)}
	case errors.Is(err, syscall.ENOTDIR):
		return nil, &FolderError{fmt.Sprintf("%s is not a folder: choose another --out", dir)}
	case errors.Is(err, fs.ErrNotExist):
		_, journal := os.Stat(filepath.Join(dir, JournalName))
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 && journal != nil {
			return nil, &FolderError{fmt.Sprintf("%s is not empty and holds no results of grposim: choose another --out", dir)}
		}
	case err != nil:
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &FolderError{err.Error()}
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(&FolderError{fmt.Sprintf("%s is in use by another grposim: wait for it, or choose another --out", dir)}, folder.Close())
	}
	if err := removePending(dir); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder.Close, nil
}

// removePending removes what an interrupted run was about to replace its large
// files by. Nobody else writes in the folder: it is locked.
func removePending(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, "."+trajectoriesName) || strings.HasPrefix(name, "."+JournalName) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
		}
	}
	return err
}

func ReadManifest(dir string) (*Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &DamagedError{fmt.Sprintf("%s: %v: remove the file and run the sweep again; finished cells are kept", filepath.Join(dir, ManifestName), err)}
	}
	var config bytes.Buffer
	if err := json.Compact(&config, m.Config); err != nil || checksum(config.Bytes()) != m.Hash {
		return nil, &DamagedError{fmt.Sprintf("%s: the configuration is not the one it was: remove the file and run the sweep again; finished cells are kept", filepath.Join(dir, ManifestName))}
	}
	return &m, nil
}

// writeFile replaces a file atomically.
func WriteFile(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o644)
}

// pendingFile returns a file that is to replace another. It lies beside it, so
// that nothing but a name changes then.
func pendingFile(path string) (*renameio.PendingFile, error) {
	return renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// replaceFile replaces a file atomically by what write writes.
func replaceFile(path string, write func(io.Writer) error) error {
	file, err := pendingFile(path)
	if err != nil {
		return err
	}
	defer file.Cleanup() // of a file that is not in its place
	buffer := bufio.NewWriterSize(file, 1<<16)
	if err := errors.Join(write(buffer), buffer.Flush()); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// writeJSON replaces a file by indented JSON, atomically.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(data, '\n'))
}

// newManifest returns the manifest of a folder for a configuration.
func NewManifest(name string, config []byte) *Manifest {
	return &Manifest{Name: name, Hash: checksum(config), Config: config}
}

func NewRunInfo(workers, simulated int, wall, cpu float64) *RunInfo {
	info := &RunInfo{
		Version: "unknown", GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Workers: workers, Simulated: simulated, WallSeconds: wall, CPUSeconds: cpu,
	}
	info.Host, _ = os.Hostname()
	if build, ok := debug.ReadBuildInfo(); ok {
		info.Version = build.Main.Version
		for _, setting := range build.Settings {
			switch setting.Key {
			case "vcs.revision":
				info.Version = setting.Value
			case "GOAMD64":
				info.AMD64 = setting.Value
			}
		}
	}
	return info
}

// cpuSeconds returns the user and system time this process has used.
func CPUSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// write replaces the manifest of a folder.
func (m *Manifest) Write(dir string) error { return writeJSON(filepath.Join(dir, ManifestName), m) }
