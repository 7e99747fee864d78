// Package sweeps carries sweeps out in results folders, and shows what they measured.
//
//  1. [config.Load] reads a configuration file, and [plan.New] expands it into cells.
//  2. [Runner.Run] opens a results folder, simulates the cells that its journal lacks, judges and
//     writes. After an interruption the same call continues where it stopped.
//  3. [NewExperiment] judges outcomes and makes the [Figure] values. It writes nothing.
//  4. [Experiment.Write] writes the tables. [JudgeFolder] does both again, from a finished folder.
//
// A [Runner] carries out shards and merges them, and [CompareFolders] compares two folders.
// [Predictions] gives what the theory predicts. [NewMap] makes tables and figures over keys.
// Package sweeps/report draws figures and writes pages.
package sweeps
