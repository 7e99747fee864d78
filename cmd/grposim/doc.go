// Grposim simulates GRPO (group relative policy optimization) on softmax bandits and
// compares what it measures with what an independent theory predicts.
//
// A configuration file describes a sweep: a bandit, a gradient estimator, an optimizer, the
// parameters to vary, and checks. A cell is one combination of parameters. Grposim simulates many
// replicas of every cell and computes the theory's predictions; a check compares the two.
//
// "grposim help" lists the commands and the topics of help, docs/sweeps.md says how to write a
// sweep and how to read its verdicts, and docs/theory.md derives every prediction. Results are
// printed on stdout, and everything else on stderr, in lines that begin with "grposim: ".
package main
