// Command calibrate measures how far verdicts can be trusted. It judges a small cell of every claim
// under 200 seeds and counts how often intervals cover the long-run value, how often a right theory
// is refuted, how often a wrong theory passes, and how often too little data decides. It judges
// cells in which intervals are least reliable at the confidence that verdicts really have. It also
// computes by how many margins each mistake in the theory would move each claim. It prints every
// requirement that is not met and then exits with code 1.
package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"grposim/tools/internal/tool"
)

// seeds is the number of seeds under which every cell runs: 1, 2, …, seeds.
const seeds = 200

func main() { tool.Main("calibrate", run) }

// run calibrates every claim. It prints the page.
func run(ctx context.Context, c *tool.Command) error {
	workers := c.Int("workers", runtime.GOMAXPROCS(0),
		"number of seeds that run at the same time; results do not depend on it")
	if err := c.Parse(0); err != nil {
		return err
	}
	if *workers < 1 {
		return tool.ErrUsage
	}
	cells, err := loadCells()
	if err != nil {
		return err
	}
	rows, unmet, err := each(cells, c.Say, func(c *cell) ([]*row, error) {
		return c.calibrate(ctx, seeds, *workers)
	})
	if err != nil {
		return err
	}
	hard, unmetHard, err := calibrateHard(ctx, seeds, *workers, c.Say)
	if err != nil {
		return err
	}
	mistakes, err := tabulate(ctx, cells, faults, *workers)
	if err != nil {
		return err
	}
	unmet = slices.Concat(unmet, unmetHard, mistakes.unmet())
	err = pageTemplate.Execute(c.Stdout, map[string]any{"Seeds": seeds, "Unmet": unmet,
		"Used": 100 * usedConfidence, "CaughtAt": caughtAt, "LeastCaught": leastCaught, "Rows": rows,
		"Hard": hard, "Table": mistakes})
	if err != nil {
		return err
	}
	return unmet.OrNil()
}

// each returns what the cells' rows are, and a message for each requirement that they do not meet.
func each[Row interface{ unmet() tool.Unmet }](
	cells []*cell, say func(string, ...any), rows func(*cell) ([]Row, error),
) (all []Row, unmet tool.Unmet, err error) {
	for _, c := range cells {
		made, err := rows(c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.file, err)
		}
		for _, r := range made {
			unmet = append(unmet, r.unmet()...)
		}
		all = append(all, made...)
		say("%s", c.file)
	}
	return all, unmet, nil
}

// requirements returns a function that adds a message, after a prefix, where one is not met.
func requirements(unmet *tool.Unmet, prefix string) func(met bool, format string, args ...any) {
	return func(met bool, format string, args ...any) {
		if !met {
			*unmet = append(*unmet, prefix+fmt.Sprintf(format, args...))
		}
	}
}
