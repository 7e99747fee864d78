package sweeps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Progress hears how a sweep gets on. All calls come from one goroutine.
type Progress interface {
	// Begin announces the work of a sweep in replica-steps, and how many cells
	// of it are finished already.
	Begin(name string, cells, finished int, work float64)
	// Cell reports a finished cell and its work.
	Cell(work float64)
	// End closes the display.
	End()
	// Note tells the user something in one line.
	Note(message string)
}

// Run simulates what the folder does not hold yet, then judges and writes
// everything that derives from it. When ctx is done it keeps the finished
// cells and returns the context's error; the same call goes on from there.
func Run(ctx context.Context, plan *Plan, dir string, workers int, progress Progress) (*Experiment, error) {
	release, err := openFolder(dir, plan.Spec.Name)
	if err != nil {
		return nil, err
	}
	defer release()

	journal, err := openJournal(dir, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	if len(journal.damaged) > 0 {
		if err := journal.setAside(plan); err != nil {
			return nil, err
		}
		progress.Note(journal.damageReport())
	}
	manifest := newManifest(plan.Spec)
	if previous, err := readManifest(dir); err == nil {
		manifest.Run = previous.Run
	}
	if err := writeJSON(filepath.Join(dir, manifestName), manifest); err != nil {
		return nil, err
	}

	wall, cpu := time.Now(), cpuSeconds()
	trajectories, err := newTrajectoryTable(plan, journal)
	if err != nil {
		return nil, err
	}
	defer trajectories.discard()
	simulated, err := simulateMissing(ctx, journal, trajectories, workers, progress)
	if err != nil {
		return nil, err
	}
	if err := journal.settle(plan); err != nil {
		return nil, err
	}
	if simulated > 0 || manifest.Run == nil {
		manifest.Run = newRunInfo(workers, simulated, time.Since(wall).Seconds(), cpuSeconds()-cpu)
		if err := writeJSON(filepath.Join(dir, manifestName), manifest); err != nil {
			return nil, err
		}
	}
	return derive(plan, dir, journal, trajectories)
}

// simulateMissing runs the cells that the journal lacks, and adds each as it is
// finished.
func simulateMissing(ctx context.Context, journal *journal, trajectories *trajectoryTable, workers int, progress Progress) (simulated int, err error) {
	plan := trajectories.plan
	missing, planned := plan.missing(journal.outcomes)
	for i := range plan.Cells {
		if o := journal.outcomes[plan.Cells[i].ID]; o == nil || o.line != nil {
			continue
		} else if err := journal.append(o); err != nil { // finished without a simulation
			return 0, err
		}
	}
	work := 0.0
	for _, c := range missing {
		work += c.Work()
	}
	progress.Begin(plan.Spec.Name, planned, planned-len(missing), work)
	heard := func(c *Cell) {
		simulated++
		progress.Cell(c.Work())
	}
	err = simulateInOrder(ctx, missing, workers, heard, func(o *Outcome) error {
		recorded := o.recorded
		if err := journal.append(o); err != nil {
			return err
		}
		return trajectories.follow(o.ID, recorded)
	})
	progress.End()
	return simulated, errors.Join(err, journal.file.Sync())
}

// Open reads a finished results folder: its plan and its outcomes. It neither
// simulates nor writes. A folder whose cells are not all there and intact is an
// error.
func Open(dir string) (*Plan, map[string]*Outcome, error) {
	plan, journal, err := open(dir)
	if err != nil {
		return nil, nil, err
	}
	return plan, journal.outcomes, nil
}

func open(dir string) (*Plan, *journal, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, nil, &FolderError{fmt.Sprintf("%s holds no results: run `grposim sweep FILE --out %s` first", dir, dir)}
		}
		return nil, nil, err
	}
	spec, err := load(filepath.Join(dir, manifestName), manifest.Config, nil)
	if err != nil {
		return nil, nil, err
	}
	plan := NewPlan(spec)
	journal, err := openJournal(dir, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	if len(journal.damaged) > 0 {
		return nil, nil, &DamagedError{fmt.Sprintf("%s: %d damaged lines: run the sweep again, which computes their cells anew", filepath.Join(dir, journalName), len(journal.damaged))}
	}
	missing := 0
	for i := range plan.Cells {
		if journal.outcomes[plan.Cells[i].ID] == nil {
			missing++
		}
	}
	if missing > 0 {
		return nil, nil, &DamagedError{fmt.Sprintf("%s: %d of %d cells are missing: run the sweep again, which computes them", dir, missing, len(plan.Cells))}
	}
	return plan, journal, nil
}

// JudgeFolder judges a finished folder again and rewrites what derives from it.
func JudgeFolder(dir string) (*Experiment, error) {
	plan, journal, err := open(dir)
	if err != nil {
		return nil, err
	}
	release, err := openFolder(dir, plan.Spec.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	trajectories, err := newTrajectoryTable(plan, journal)
	if err != nil {
		return nil, err
	}
	defer trajectories.discard()
	return derive(plan, dir, journal, trajectories)
}

// derive judges, and writes every table of a results folder.
func derive(plan *Plan, dir string, journal *journal, trajectories *trajectoryTable) (*Experiment, error) {
	outcomes := journal.outcomes
	e := &Experiment{Plan: plan, Outcomes: outcomes, predictions: newPredictionCache()}
	e.Verdicts = judge(plan, outcomes, e.predictions)
	e.Figures = figures(plan, outcomes, e.Verdicts, e.predictions)
	for _, table := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"cells.csv", e.cellsCSV},
		{"predictions.csv", e.predictionsCSV},
		{"verdicts.json", func() ([]byte, error) { return VerdictsJSON(plan.Spec.Name, e.Verdicts) }},
		{"verdicts.md", func() ([]byte, error) { return VerdictsMarkdown(e.Verdicts), nil }},
	} {
		data, err := table.make()
		if err := errors.Join(err, journal.err()); err != nil {
			return nil, fmt.Errorf("%s: %w", table.name, err)
		}
		if err := writeFile(filepath.Join(dir, table.name), data); err != nil {
			return nil, err
		}
	}
	if err := trajectories.save(); err != nil {
		return nil, fmt.Errorf("%s: %w", trajectoriesName, err)
	}
	return e, nil
}

func newManifest(spec *Spec) *Manifest {
	config := spec.Document()
	return &Manifest{Name: spec.Name, Hash: checksum(config), Config: config}
}

func newRunInfo(workers, simulated int, wall, cpu float64) *RunInfo {
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
func cpuSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
