package rom

import (
	"math"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"
)

// processorTime returns the processor time that this process has used so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// yardstick is the unit of work for limits on run time: the eigenvalues of an 80×80
// matrix, about 3 ms.
func yardstick() {
	const n = 80
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			m.Set(i, j, math.Sin(float64(1+i*i+3*j)))
		}
	}
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		panic("rom: no eigenvalues")
	}
}

// Yardsticks returns the processor time of f in units of a yardstick: the smallest
// of three attempts, or the first below enough. Both are timed one after the other,
// so a limit on the quotient holds on any machine, busy or not.
func Yardsticks(enough float64, f func()) float64 {
	least := math.Inf(1)
	for range 3 {
		start := processorTime()
		yardstick()
		unit := processorTime() - start
		start = processorTime()
		f()
		took := processorTime() - start
		start = processorTime()
		yardstick()
		unit = max(unit, processorTime()-start)
		if least = min(least, float64(took)/float64(unit)); least < enough {
			break
		}
	}
	return least
}
