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

// nextEight and peekFour, from every place in the buffer, give successive words of the source. They
// are the next ones if the buffer holds as many, else the first of the next buffer.
func TestSeveralWords(t *testing.T) {
	for _, c := range []struct {
		size, taken uint64
		take        func(w *Words) []uint64
	}{
		{8, 8, func(w *Words) []uint64 { return w.nextEight()[:] }},
		{4, 4, func(w *Words) []uint64 { four := w.peekFour(); w.next += 4; return four[:] }},
		{4, 1, func(w *Words) []uint64 { four := w.peekFour(); w.next++; return four[:] }},
	} {
		for before := range uint64(600) {
			source, w := rand.NewPCG(1, 2), NewWords(filled{rand.NewPCG(1, 2)})
			for range before {
				w.Next()
			}
			from := before
			if in := before % 256; in > 256-c.size {
				from += 256 - in
			}
			for range from {
				source.Uint64()
			}
			for i, got := range c.take(w)[:c.taken] {
				if want := source.Uint64(); got != want {
					t.Fatalf("after %d words: word %d of %d is %#x, want %#x", before, i, c.size, got, want)
				}
			}
			if got := w.taken(); got != from+c.taken {
				t.Fatalf("after %d and %d of %d: %d taken, want %d", before, c.taken, c.size, got, from+c.taken)
			}
			if got, want := w.Next(), source.Uint64(); got != want {
				t.Fatalf("after %d words and %d of %d: %#x, want %#x", before, c.taken, c.size, got, want)
			}
		}
	}
}

// Two readers that take single words and eights in random order are at the counted place of the
// stream. Align advances the one behind to the place of the other.
func TestAlignInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	stream := make([]uint64, 1<<20)
	(&Xoshiro{1, 2, 3, 4}).Fill(stream)
	readers := [2]*Words{NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})}
	at := [2]uint64{}
	for at[0] < uint64(len(stream))-10_000 && at[1] < uint64(len(stream))-10_000 {
		i := random.IntN(2)
		w, from := readers[i], at[i]
		switch kind := random.IntN(20); {
		case kind == 0:
			Align(readers[0], readers[1])
			at[0] = max(at[0], at[1])
			at[1] = at[0]
		case kind == 1: // several buffers ahead
			for range random.IntN(1000) {
				w.Next()
				at[i]++
			}
		case kind < 12:
			if got := w.Next(); got != stream[from] {
				t.Fatalf("word %d is %#x, want %#x", from, got, stream[from])
			}
			at[i]++
		default:
			if from%256 > 248 {
				from += 256 - from%256
			}
			if got := *w.nextEight(); got != [8]uint64(stream[from:]) {
				t.Fatalf("words from %d are %#x, want %#x", from, got, stream[from:from+8])
			}
			at[i] = from + 8
		}
		for i, w := range readers {
			if got := w.taken(); got != at[i] {
				t.Fatalf("%d words taken, want %d", got, at[i])
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	w := NewWords(&Xoshiro{1, 2, 3, 4})
	counts, weights := make([]int, 3), []float64{0.2, 0.3, 0.5}
	tree, two, three := NewMultinomial(3), []float64{0.3, 0.7}, NewPack(3, []float64{0, 0.5, 1}, 9, 1)
	pair, table := NewPack(2, []float64{0.3, 0.6}, 64, 4), NewBinomialTable(1000, 0.3)
	for name, draw := range map[string]func(){
		"Normal":        func() { Normal(w) },
		"ChiSquare":     func() { ChiSquare(w, 3) },
		"lanes":         func() { Binomial(w, 40, 0.3) },
		"inversion":     func() { Binomial(w, 1000, 0.001) },
		"rejection":     func() { Binomial(w, 1000, 0.3) },
		"Multinomial":   func() { tree.Set(weights); tree.Draw(counts, w, 1000) },
		"BinomialTable": func() { table.Draw(w, 999) },
		"Pack":          func() { three.Aim(weights); three.Draw(w) },
		"Pack of two":   func() { pair.Aim(two); pair.Draw(w) },
	} {
		if n := testing.AllocsPerRun(1000, draw); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Next is part of every inner loop, so it must be inlined.
func TestNextIsInlined(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !strings.Contains(string(output), "can inline (*Words).Next") {
		t.Error("the compiler does not inline Next")
	}
}
