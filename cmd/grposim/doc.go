// Grposim simulates GRPO (group relative policy optimization) on softmax bandits and
// compares what it measures with what an independent theory predicts. A configuration file
// describes a sweep: what varies over its cells, and the checks that compare the two.
//
// In the root folder of the module these commands run a sweep that is built in, in seconds:
//
//	make build
//	bin/grposim sweep smoke
//
// "grposim help" lists the commands, docs/sweeps.md says how to write a sweep, and docs/theory.md
// derives every prediction. Results are printed on stdout, and everything else on stderr.
package main
