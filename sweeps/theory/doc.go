// Package theory says what the theory predicts for a cell, given its settings: the parameters of
// package rom, the start, the stationary state, the path, and the regimes over two parameters. It
// also makes the simulator's input from the same settings. It is the one translation between the
// two witnesses. It reads and writes no file, so that it runs in a browser as well.
//
//  1. [Params] translates the settings for package rom, and [Simulation] for package sim.
//  2. A [Cache] keeps predictions and equilibria, which many cells share.
//  3. [Cache.Line] returns everything that `grposim predict --json` prints of a cell.
//  4. [Cache.Way] predicts what its runs do from their start, as `predict --path` prints it.
//  5. [Cache.NewPlane] maps regimes over two parameters, with their boundaries.
package theory
