package store

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

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
	info := &RunInfo{
		Version: "unknown", GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Workers: workers, Simulated: simulated, WallSeconds: wall, CPUSeconds: cpu,
	}
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
