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

// Memory is collected when it has grown by garbage percent of what is in use, and by leastGarbage
// bytes, unless the environment variable GOGC says otherwise. Go's default, 100 percent, costs a
// large sweep half as much memory again; 30 percent of the 40 MB of a small one are soon full, and
// collecting them took a tenth of the time of reproduce.
const (
	garbage      = 30
	leastGarbage = 16 << 20
)

// spare counts as in use, so that the collector waits for garbage percent of it. Nothing touches
// it: the operating system gives it no memory.
var spare []byte

// paceCollector tells the collector of garbage how long to wait.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(garbage)
	if os.Getenv("GOMEMLIMIT") == "" { // which counts spare
		spare = make([]byte, leastGarbage*100/garbage)
	}
}

func main() {
	paceCollector()
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
		os.Exit(exitCode(os.Stderr, cause, os.Args[1:]...))
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
