package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is the time between a signal and the end of the process. A command that
// returns earlier ends it earlier. Files are replaced atomically and finished cells are
// in the journal, so nothing is lost when the process ends in the middle of a command.
const grace = 800 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.Sleep(grace)
		printInterrupted(os.Stderr)
		os.Exit(exitInterrupted)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
