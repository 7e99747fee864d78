// Package sweeps plans sweeps, runs them, judges what they measured, and pictures
// the verdicts. It simulates cells with package sim, predicts them with package
// sweeps/theory, and compares the two by margins that the configuration fixes beforehand.
//
// A sweep goes through these steps:
//
//  1. [config.Load] reads and checks a configuration file, and returns a
//     [config.Spec] with all defaults filled in.
//  2. [NewPlan] expands the Spec into a [Plan]: numeric input of the simulator for
//     every [Cell], and the sets of cells that each check judges. It asks the theory
//     for fixed points where a cell starts at one or is measured about one.
//  3. [Run] opens a results folder: it locks the folder, reads the journal of the cells
//     that are finished already (package store) and writes the manifest.
//  4. Run simulates the cells that the journal lacks, and appends the [store.Outcome] of
//     each to the journal.
//  5. [NewExperiment] judges the outcomes and makes the [Figure] values. It is a pure
//     function of plan and outcomes: it writes nothing, and reads no more than the
//     recorded trajectories of the outcomes.
//  6. [Experiment.Write] writes the tables: cells.csv, predictions.csv, verdicts.json,
//     verdicts.md and trajectories.parquet.
//
// Run carries out steps 3 to 6; after an interruption the same call continues where it stopped.
//
// The steps are also available one by one:
//
//   - [Simulate] and [Judge] do the same in memory, without a folder and figures.
//   - [Open] reads a finished folder back; [JudgeFolder] judges it again and rewrites
//     its tables, without simulating. [CompareFolders] compares two.
//   - [Predictions] gives the theory's predictions of a plan's cells, and
//     [NewForecast] the expected duration and size of a sweep, without running it.
//   - [NewPart] and [Runner.RunPart] simulate one of several shards of a sweep, and
//     [Runner.Merge] puts them together. A [Runner] can share finished cells with other
//     sweeps.
//   - [NewMapView] and [Experiment.Maps] make regime maps over two parameters, [NewKeyMap] and
//     [Experiment.Measure] tables and figures of recorded numbers over one.
//
// Package sweeps/report draws figures and writes pages, package sweeps/advice says what a user may
// choose.
//
// A claim has two halves. Its declaration, a [config.Claim], says what it requires of cells and of
// the keys of its checks, and which predictions it can name; it is in sweeps/config/claims_*.go.
// Its logic says which quantities are judged, how the measured interval and the prediction of each
// are found, and how they are pictured; it is in claims*.go of this package, in the table claims.
// Neither half applies the margin: judge.go does that for all claims alike, by Compare.
package sweeps
