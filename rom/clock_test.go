package rom

import (
	"syscall"
	"time"
)

// ProcessorTime returns the time that processors have spent on this process.
// Limits on it hold on a busy machine too.
func ProcessorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
