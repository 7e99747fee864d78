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
// with "grposim: ". "grposim help exit-codes" says what the exit codes mean. An internal error
// is a bug of grposim and is reported in one line.
//
// # Further reading
//
// "grposim help keys" and "grposim help claims" list what a configuration may have, and
// "grposim help columns" what a results folder has. docs/theory.md derives every prediction.
package main
