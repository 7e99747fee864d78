// Command bench compares grposim's time per replica-step with that of other programs for
// the same process (bench/peers), and with its own time at other group sizes, numbers of
// arms and numbers of workers. Contenders run in turns; ratios are medians over rounds. A
// time counts only if the run reaches the same stationary mean and variance as grposim's;
// otherwise the command ends with exit code 1. A missed target is reported but is no
// error, because times vary with the load of the machine.
package main

import (
	"context"
	"errors"
	"os"

	"grposim/tools/internal/tool"
)

func main() { tool.Main("bench", run) }

// run measures everything. It writes the tables between the markers of the file given by -o, or
// to stdout.
func run(ctx context.Context, c *tool.Command) (err error) {
	out := c.String("o", "", "write the tables between the markers of `FILE`")
	short := c.Bool("short", false, "run one round of short runs, to check that everything works")
	t := tools{compiler: "gcc", peers: "bench/peers"}
	c.StringVar(&t.python, "python", "/usr/bin/python3", "Python `INTERPRETER` with NumPy and Numba")
	if err := c.Parse(0); err != nil {
		return err
	}
	e := full
	if *short {
		e = brief
	}
	if t.work, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.work)) }()
	peers, missing, err := t.find(ctx)
	if err != nil {
		return err
	}
	for _, m := range missing {
		c.Say("%s", m)
	}
	r := results{machine: machine(ctx, &t), missing: missing}
	report := func(comparisons []comparison, err error) error {
		for i := range comparisons {
			c.Say("%s", &comparisons[i])
		}
		r.comparisons = append(r.comparisons, comparisons...)
		return err
	}
	for _, p := range raced {
		if err := report(race(ctx, e, p.process, p.targets, peers)); err != nil {
			return err
		}
	}
	if err := report(scaling(ctx, e)); err != nil {
		return err
	}
	if err := report(parallel(ctx, e, peers)); err != nil {
		return err
	}
	if err := report(outside(ctx, e, t.work)); err != nil {
		return err
	}
	if r.matrix, err = measureMatrix(ctx, e); err != nil {
		return err
	}
	if *out == "" {
		return c.Write("", []byte(r.String()))
	}
	page, err := os.ReadFile(*out)
	if err != nil {
		return err
	}
	if page, err = replaceSection(page, r.String()); err != nil {
		return err
	}
	return c.Write(*out, page)
}
