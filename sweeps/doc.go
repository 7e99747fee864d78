// Package sweeps carries sweeps out in results folders, and shows what they measured.
//
// A sweep goes through these steps:
//
//  1. [config.Load] reads and checks a configuration file, and returns a
//     [config.Spec] with all defaults filled in.
//  2. [plan.New] expands the Spec into the cells of a [plan.Plan].
//  3. [Runner.Run] opens a results folder: it locks the folder, reads the journal of the cells
//     that are finished already (package store) and writes the manifest.
//  4. Run simulates the cells that the journal lacks, and appends the [store.Outcome] of
//     each to the journal.
//  5. [NewExperiment] judges the outcomes (package judge) and makes the [Figure] values. It is a
//     pure function of plan and outcomes: it writes nothing, and reads no more than the
//     recorded trajectories of the outcomes.
//  6. [Experiment.Write] writes the tables: cells.csv, predictions.csv, verdicts.json,
//     verdicts.md and trajectories.parquet.
//
// Run carries out steps 3 to 6; after an interruption the same call continues where it stopped.
//
// The steps are also available one by one:
//
//   - [plan.Simulate] and [Judge] do the same in memory, without a folder and figures.
//   - [Open] reads a finished folder back; [JudgeFolder] judges it again and rewrites
//     its tables, without simulating. [CompareFolders] compares two.
//   - [Predictions] gives the theory's predictions of a plan's cells.
//   - [Runner.RunPart] simulates one of several shards of a sweep, and [Runner.Merge] puts them
//     together. A [Runner] can share finished cells with other sweeps.
//   - [NewMap] and [Map.Draw] make tables and figures of the cells over two keys, one or none.
//
// Package sweeps/report draws figures and writes pages, package sweeps/advice says what a user may
// choose.
package sweeps
