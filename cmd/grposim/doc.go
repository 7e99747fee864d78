// Grposim simulates GRPO (group relative policy optimization) on softmax bandits and
// compares what it measures with what an independent theory predicts.
//
// A configuration file describes a sweep: a bandit, a gradient estimator, an
// optimizer, the parameters to vary, and checks. A cell is one combination of
// parameters. For every cell grposim simulates many replicas and computes the theory's
// predictions. A check compares the two, cell by cell or across cells, and gives
// verdicts.
//
// The commands below run in the root folder of the module.
//
// # A first sweep
//
// Build the program, and let it write a configuration that explains each of its keys:
//
//	make build
//	bin/grposim init first.yaml
//
// Its bandit has three arms, which give reward 1 with probability 0.9, 0.5 and 0.2. It
// varies the group size and the refresh interval of the behaviour policy, so it has six
// cells. Its check compares the variance of the mean reward with the predicted one,
// ± 10 %.
//
// Print how many cells the sweep has and how many replica-steps, and about how long it
// takes and how much it stores:
//
//	bin/grposim sweep first.yaml --dry-run
//
// Print the theory's predictions, one line for each cell:
//
//	bin/grposim predict first.yaml
//
// Print whether the runs of each cell arrive, which learning rates, refresh intervals and group
// sizes are safe, each with the kind of its prediction and its formula, and suggest a learning
// rate and an interval that arrive:
//
//	bin/grposim advise first.yaml --noise 0.01
//
// Simulate the six cells, in some seconds, and print one line for each verdict. The last
// line counts them: 6 agree.
//
//	bin/grposim sweep first.yaml
//
// Compute the verdicts again from the stored measurements, and print the same lines:
//
//	bin/grposim check results/local/first
//
// Draw the figures and write the page again, and print the path of the page:
//
//	bin/grposim report results/local/first
//
// Draw a map of the cells over two of their parameters, and print how many cells of
// each class (monotone, oscillatory and so on) lie in each regime of the theory:
//
//	bin/grposim map first.yaml --x grpo.group_size --y lag.interval
//
// Simulate the cells with another seed, and compare them with the first ones, quantity
// by quantity:
//
//	bin/grposim sweep first.yaml --set seed=2 --out results/local/first-2
//	bin/grposim compare results/local/first results/local/first-2
//
// Two training runs of a language model, or two columns of evaluation scores, are
// compared by their logs: are they the same within a margin, different, or undecided?
// Here are the logs of two runs that differ in their seed alone:
//
//	bin/grposim compare configs/runs/a1.csv configs/runs/a2.csv --margin 0.15
//
// Run an experiment that is built into the program, and print its verdicts. Without a
// name, reproduce runs all experiments, which takes some minutes.
//
//	bin/grposim reproduce saturation-law
//
// # The results folder
//
// A sweep called first writes into results/local/first, or into the folder that --out
// names:
//
//   - report.html shows the verdicts and figures on one page, which holds the
//     configuration as run and links to the other files.
//   - verdicts.md and verdicts.json hold the verdicts.
//   - cells.csv holds one row for each cell, with all its parameters and the estimates
//     with confidence intervals, predictions.csv the predictions, trajectories.parquet
//     the recorded steps, which "grposim report DIR --trajectories FILE" writes as CSV.
//   - figures holds the figures as SVG and PNG.
//   - cells.jsonl is the journal: one line for each simulated cell. All files above
//     are computed from it.
//   - manifest.json holds the complete configuration, the program's version and the
//     time that the run took.
//
// A sweep that was interrupted continues when the same command is run again, and ends
// with the same bytes in every file except manifest.json.
//
// # Verdicts
//
// A verdict compares a confidence interval of the measured value with the predicted
// value ± the margin of the check:
//
//   - agree: the whole interval lies within the margin.
//   - disagree: the whole interval lies outside the margin.
//   - inconclusive: the interval contains an end of the margin; more replicas may
//     decide.
//   - out-of-scope: the theory does not apply to this cell; the verdict says why.
//
// A check with "expect: fails" claims that a prediction is wrong: agree and disagree
// are exchanged. A control repeats the check with a fault planted in the theory, or
// where a prediction is refuted with the exact one in its place. It has to disagree;
// otherwise the check could not have failed. The smallest fault of a verdict, in
// verdicts.json, is the smallest change of a constant that would have made it disagree.
//
// # Hypotheses of your own
//
// A check with one of the keys expected, at_most and at_least judges that value in the
// place of the prediction, as {claim: fluctuation-scaling, over: grpo.group_size,
// expected: -1, absolute_margin: 0.1} or {claim: stationary-fluctuation, at_most: 0.001}.
// The verdict says what was claimed, what was measured, and what the theory predicts:
// "slope of log variance of expected reward -0.54 [-0.68, -0.4]: -1 ± 0.1 is refuted;
// the theory predicts -0.5611". It decides also where the theory is out of scope.
//
// # Many verdicts, and other programs
//
// Of more than 40 verdicts sweep, check and reproduce print the counts by experiment and
// the rows that do not agree; --all prints every row. With --json they print what
// verdicts.json holds, and with --junit FILE they write a JUnit XML report, which CI
// systems show: a disagreement, or a control that was not caught, is a failure.
//
// On a terminal tables fit its width, or that given by the environment variable COLUMNS,
// and verdicts have colours unless NO_COLOR is set. Elsewhere tables have their full width.
//
// # Exit codes
//
// Results are printed on stdout, and everything else on stderr, in lines that begin
// with "grposim: ". "grposim help exit-codes" says what the exit codes mean. An internal error
// is a bug of grposim and is reported in one line.
//
// # Further reading
//
// docs/config.md lists every key and every claim of a configuration, docs/results.md
// every file and column of a results folder, docs/theory.md derives every prediction, and
// "grposim help COMMAND" lists the flags of a command.
package main
