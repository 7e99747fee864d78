// Command grposim simulates GRPO on softmax bandits and judges the theory of
// its dynamics.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long an interrupted command has to stop by itself. Files are
// replaced atomically and finished cells are in the journal, so ending it there
// loses nothing.
const grace = 800 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second signal kills
		time.Sleep(grace)
		tellInterrupted(os.Stderr)
		os.Exit(exitInterrupted)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
