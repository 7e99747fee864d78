// Grposim simulates GRPO (group relative policy optimization) on softmax bandits and
// compares what it measures with what an independent theory predicts.
//
// A configuration file describes a sweep: a bandit, a gradient estimator, an
// optimizer, the parameters to vary, and checks. A cell is one combination of
// parameters. For every cell grposim simulates many replicas and computes the theory's
// predictions. A check compares the two, cell by cell or across cells, and gives
// verdicts.
//
// In the root folder of the module these commands build the program and run a sweep that is
// built in, in seconds:
//
//	make build
//	bin/grposim sweep smoke
//
// docs/sweeps.md goes on from there: how to write a sweep, and how to read its verdicts.
// "grposim help" lists the commands and "grposim help COMMAND" the flags of one,
// "grposim completion bash" (or zsh, fish) prints a script that completes them.
//
// # Exit codes
//
// Results are printed on stdout, and everything else on stderr, in lines that begin
// with "grposim: ". The exit code is the first of these that applies:
//
//   - 2: the command line or the configuration is wrong.
//   - 130: interrupted (Ctrl-C). Finished cells are kept.
//   - 75: try again. The command was terminated (SIGTERM), and finished cells are kept, or
//     another grposim uses the results folder.
//   - 4: results are damaged, a file cannot be read or written, or an internal error.
//   - 1: a verdict is disagree, or runs or scores that are compared are different.
//   - 3: a verdict is inconclusive, a control does not disagree, or there are verdicts
//     and none is agree; runs or scores that are compared are undecided.
//   - 0: otherwise.
//
// An internal error is a bug of grposim and is reported in one line. With the
// environment variable GRPOSIM_TRACE=1 its stack follows.
//
// # Further reading
//
// docs/config.md lists every key and every claim of a configuration, docs/results.md
// every file and column of a results folder, and docs/theory.md derives every prediction.
package main
