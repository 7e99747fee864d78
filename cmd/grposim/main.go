// Command grposim simulates GRPO on softmax bandits and judges the theory of
// its dynamics.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// grace is how long an interrupted command has to stop by itself. Files are
// replaced atomically and finished cells are in the journal, so ending it there
// loses nothing.
const grace = 800 * time.Millisecond

// garbage is how much may be left behind, in percent of what is in use, before it
// is collected (GOGC): a sweep keeps little of much, and twice Go's default
// halves what collecting costs a short cell.
const garbage = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second signal kills
		time.Sleep(grace)
		tellInterrupted(os.Stderr)
		os.Exit(exitInterrupted)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
