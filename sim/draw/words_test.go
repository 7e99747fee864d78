package draw

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

func TestWordsAreTheSources(t *testing.T) {
	w, want := NewWords(rand.NewPCG(1, 2)), rand.NewPCG(1, 2)
	for i := range 1000 {
		if got, want := w.Next(), want.Uint64(); got != want {
			t.Fatalf("word %d is %#x, want %#x", i, got, want)
		}
	}
	w.Reset(rand.NewPCG(3, 4)) // in the middle of a buffer
	want = rand.NewPCG(3, 4)
	for i := range 1000 {
		if got, want := w.Next(), want.Uint64(); got != want {
			t.Fatalf("word %d after Reset is %#x, want %#x", i, got, want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	w := words(1)
	counts, weights := make([]int, 3), []float64{0.2, 0.3, 0.5}
	if n := testing.AllocsPerRun(1000, func() {
		Normal(w)
		ChiSquare(w, 3)
		Binomial(w, 40, 0.3)
		Binomial(w, 1000, 0.001)
		Binomial(w, 1000, 0.3)
		Multinomial(counts, w, 1000, weights)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Next is in every inner loop; a change that makes it a call must be noticed.
func TestNextIsInlined(t *testing.T) {
	said, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(string(said), "can inline (*Words).Next") {
		t.Error("the compiler does not inline Next")
	}
}
