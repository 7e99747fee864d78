package rom

import (
	"math"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"
)

// processorTime returns the time that processors have spent on this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// yardstick is work to measure other work by: the eigenvalues of a matrix of 80
// rows, 3 ms.
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

// Yardsticks returns how many times the processor time of a yardstick f takes, the
// least of three attempts, or the first below enough. The two are timed one after
// the other: a limit on it holds on any machine, busy or not.
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
