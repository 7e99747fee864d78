// Package option is the vocabulary of a cell: the words of its options and the
// structures that hold them. The algorithm (grpo), the simulator (sim), the theory (rom)
// and configuration files (sweeps/config) all speak it, so that a cell is described once.
//
// It says what an option means, which values it takes and which options go together. It
// computes nothing: no force, no weight, no law of an age. Those are written twice, in the
// simulator and in the theory, which check each other.
package option
