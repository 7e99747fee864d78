// Command fuzz judges random configurations: theory against simulation over the whole key
// table of package config. It repeats every verdict that disagrees with another seed and
// four times the data, and writes the configurations with a table into a folder. It also reports
// panics, computations that do not end, and predictions that are not finite. It exits with code 1
// if it found any of these.
//
// Configurations are drawn from config.Keys and config.Claims, so that a new key or claim
// is drawn by being there. They are judged at confidence 0.999 each, by margins that are
// modest and fixed (margins). A theory that is right within its margin is refuted with
// probability at most 0.001, and again with another seed with probability at most 1e-6:
// of 1000 configurations 0.001 are confirmed by chance, and 0.003 of three times as many.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"grposim/sweeps/config"
	"grposim/tools/internal/tool"
)

// confidence is the confidence of all verdicts of a configuration together.
const confidence = 0.999

// cpuLimit is the CPU time after which a configuration counts as hung.
const cpuLimit = time.Minute

func main() {
	if len(os.Args) == 2 && os.Args[1] == judgeFlag {
		tool.Main("fuzz", func(ctx context.Context, c *tool.Command) error {
			return serve(ctx, os.Stdin, c.Stdout)
		})
	}
	tool.Main("fuzz", run)
}

// run examines the configurations of a seed, or one file.
func run(ctx context.Context, c *tool.Command) error {
	n := c.Int("n", 1000, "number of configurations")
	seed := c.Uint64("seed", 1, "seed of the draws")
	out := c.String("out", "fuzz-found", "`FOLDER` for the table and the files of what is found")
	workers := c.Int("workers", 1, "number of processes that judge; results do not depend on it")
	replay := c.String("file", "", "judge one `FILE` instead, with the length of run that it gives")
	if err := c.Parse(0); err != nil {
		return err
	}
	if *workers < 1 || *n < 1 {
		return tool.ErrUsage
	}
	var s summary
	var err error
	if *replay != "" {
		s, err = fuzzFile(ctx, *replay, c.Say)
	} else if err = os.MkdirAll(*out, 0o755); err == nil {
		s, err = fuzz(ctx, *seed, *n, *workers, c.Say)
		err = errors.Join(err, s.write(*out, *seed))
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.Stdout, s.String()); err != nil {
		return err
	}
	return s.found()
}

// fuzz examines n configurations of a seed and says what it finds. If ctx is
// done it returns what is finished, and an error.
func fuzz(
	ctx context.Context, seed uint64, n, workers int, say func(string, ...any),
) (summary, error) {
	j := judging{cpuLimit, usualBudget}
	results, err := tool.Each(ctx, n, workers, func(ctx context.Context, i int) (result, error) {
		began := time.Now()
		r, err := j.examine(ctx, draw(seed, uint64(i)))
		r.seed, r.index, r.done = seed, i, err == nil
		r.seconds = time.Since(began).Seconds()
		r.say(say)
		return r, err
	})
	return slices.DeleteFunc(results, func(r result) bool { return !r.done }), err
}

// fuzzFile examines one file and says what it finds.
func fuzzFile(ctx context.Context, path string, say func(string, ...any)) (summary, error) {
	spec, err := config.ToJudge.ReadFile(path)
	if err != nil {
		say("%v", err)
		return nil, tool.ErrUsage
	}
	r, err := judging{Limit: cpuLimit}.examine(ctx, parseFile(spec.Document()))
	r.say(say)
	return summary{r}, err
}
