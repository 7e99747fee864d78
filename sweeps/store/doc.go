// Package store keeps what the cells of a sweep measured in a results folder.
//
// Files of a results folder that this package writes:
//
//   - manifest.json: the resolved configuration with its checksum, and how and where
//     the sweep was last run ([Manifest]).
//   - cells.jsonl: the journal, one checksummed line per finished cell ([Journal]).
//     It is the only source of truth; all other results are derived from it.
//   - cells.damaged: lines removed from the journal because they were torn, did not match
//     their checksum, or held no outcome of a sweep. Their cells are simulated again.
//   - cells.foreign: intact lines removed from the journal because a program of another
//     [sim.Version] wrote them. Their cells are simulated again.
//   - cells.lock: on Windows alone, an empty file that is locked in the place of the folder.
//   - trajectories.parquet: the recorded trajectories as one table
//     ([TrajectoryTable]).
//
// To write a folder:
//
//  1. [Lock] the folder.
//  2. [OpenJournal], and [Journal.SetAside], which removes damaged and foreign lines.
//  3. [Journal.Append] each [Outcome] as its cell finishes.
//  4. [Journal.Sort] the lines into the order of the sweep.
//  5. [Journal.Close] the journal and release the lock.
//
// To read a folder: [ReadManifest] and [ReadJournal]; neither needs the lock.
package store
