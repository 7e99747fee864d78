package draw

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

func TestWordsAreTheSources(t *testing.T) {
	w, want := NewWords(filled{rand.NewPCG(1, 2)}), rand.NewPCG(1, 2)
	for i := range 1000 {
		if got, want := w.Next(), want.Uint64(); got != want {
			t.Fatalf("word %d is %#x, want %#x", i, got, want)
		}
	}
	w.Reset(filled{rand.NewPCG(3, 4)}) // in the middle of a buffer
	want = rand.NewPCG(3, 4)
	for i := range 1000 {
		if got, want := w.Next(), want.Uint64(); got != want {
			t.Fatalf("word %d after Reset is %#x, want %#x", i, got, want)
		}
	}
}

// However far two readers of equal sources are apart, they go on with the same
// word after Align: the next of the one that was ahead.
func TestAlign(t *testing.T) {
	for _, ahead := range []int{0, 1, 255, 256, 257, 600} {
		for _, behind := range []int{0, 1, 100, 256, 300} {
			a, b, want := NewWords(filled{rand.NewPCG(1, 2)}), NewWords(filled{rand.NewPCG(1, 2)}), rand.NewPCG(1, 2)
			for range ahead {
				a.Next()
			}
			for range behind {
				b.Next()
			}
			Align(a, b)
			for range max(ahead, behind) {
				want.Uint64()
			}
			for range 300 {
				if x, y, want := a.Next(), b.Next(), want.Uint64(); x != want || y != want {
					t.Fatalf("after %d and %d words: %#x and %#x, want %#x", ahead, behind, x, y, want)
				}
			}
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
