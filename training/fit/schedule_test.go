package fit

import (
	"math"
	"testing"
)

func steps(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(i + 1)
	}
	return all
}

// Intrinsic time has a closed form for each schedule.
func TestScheduleTime(t *testing.T) {
	const warmup, total = 100.0, 1000.0
	for kind, want := range map[Decay]func(x float64) float64{
		Constant: func(x float64) float64 { return x },
		Linear:   func(x float64) float64 { return x - x*x/(2*(total-warmup)) },
		Cosine:   func(x float64) float64 { return x/2 + (total-warmup)/(2*math.Pi)*math.Sin(math.Pi*x/(total-warmup)) },
	} {
		s := Schedule{kind, warmup, total}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		time := s.Time(steps(1000))
		for i, got := range time {
			step := float64(i + 1)
			exact := step * step / (2 * warmup)
			if step > warmup {
				exact = warmup/2 + want(step-warmup)
			}
			if math.Abs(got-exact) > 1e-6 {
				t.Fatalf("%s: time %g at step %g, want %g", kind, got, step, exact)
			}
		}
	}
}

// Logged rates give the same time as the schedule that they come from.
func TestLoggedTime(t *testing.T) {
	s := Schedule{Cosine, 50, 500}
	at := steps(500)
	rates := make([]float64, len(at))
	for i, x := range at {
		rates[i] = 5e-6 * s.rate(x)
	}
	got, ok := LoggedTime(at, rates)
	if !ok {
		t.Fatal("no time")
	}
	want := s.Time(at)
	for i := range got {
		if math.Abs(got[i]-want[i]) > 0.02 {
			t.Fatalf("time %g at step %g, want %g", got[i], at[i], want[i])
		}
	}
	for _, bad := range [][]float64{make([]float64, 500), append([]float64{-1}, rates[1:]...), append([]float64{math.NaN()}, rates[1:]...)} {
		if _, ok := LoggedTime(at, bad); ok {
			t.Errorf("rates that begin with %g give a time", bad[0])
		}
	}
}

func TestScheduleCheck(t *testing.T) {
	for _, s := range []Schedule{{"cosin", 0, 10}, {Cosine, -1, 10}, {Linear, 10, 10}, {Cosine, 0, math.Inf(1)}, {Constant, math.NaN(), 0}} {
		if s.Check() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
