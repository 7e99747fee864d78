package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// The collector of garbage waits until memory has grown by leastGarbage at least, unless GOGC is
// set.
func TestCollectorWaits(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer func() { spare = nil; debug.SetGCPercent(before) }()
	waits := func() float64 {
		runtime.GC()
		read := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(read)
		return float64(read[0].Value.Uint64()) - float64(read[1].Value.Uint64())
	}
	t.Setenv("GOGC", "100")
	if paceCollector(); spare != nil {
		t.Error("the collector is told to wait, where GOGC says how long")
	}
	t.Setenv("GOGC", "")
	if paceCollector(); waits() < leastGarbage {
		t.Errorf("the collector waits for %g bytes, want at least %d", waits(), leastGarbage)
	}
}
