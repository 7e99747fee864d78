// Command sizes prints how much there is in each room of the repository, beside the limit.
// It exits with code 1 where one is exceeded.
package main

import (
	"context"

	"grposim/tools/internal/tool"
)

func main() { tool.Main("sizes", run) }

// run prints the sizes of the repository in the folder that the command line names.
func run(_ context.Context, c *tool.Command) error {
	c.Usage = func() { c.Say("usage: sizes FOLDER") }
	if err := c.Parse(1); err != nil {
		return err
	}
	h, err := measure(c.Args()[0])
	if err != nil {
		return err
	}
	h.print(c.Stdout)
	return tool.Unmet(h.excess()).OrNil()
}
