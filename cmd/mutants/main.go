// Command mutants asks of the tests what they ask of the code: would they
// notice? It plants one small fault after another in the algorithm, the
// simulator and the theory, and runs what ought to turn red.
//
// A fault is planted with the compiler's -overlay, so no file is touched and
// any number of faults can be tried side by side. Each is killed by the first
// failing test of its own package or of the packages that import it, nearest
// first; where all of them pass, by a verdict of the paper's experiments that
// is no longer what it was without the fault.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
