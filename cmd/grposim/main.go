package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// errTerminated is the cause of a context that SIGTERM has cancelled.
var errTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// grace is the time between a signal and the end of the process. A command that
// returns earlier ends it earlier. Files are replaced atomically and finished cells are
// in the journal, so nothing is lost when the process ends in the middle of a command.
const grace = 800 * time.Millisecond

// garbage is the share of the memory in use, in percent, by which it grows before it is
// collected, unless the environment variable GOGC says otherwise. Go's default, 100, costs a large
// sweep half as much memory again; its time goes into floating point, not into collecting.
const garbage = 30

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cause := context.Canceled
		if <-signals == syscall.SIGTERM {
			cause = errTerminated
		}
		signal.Stop(signals) // a second signal ends the process at once
		cancel(cause)
		time.Sleep(grace)
		os.Exit(exitCode(os.Stderr, interrupted(cause, os.Args[1:])))
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
