package draw

import "testing"

// The first words of the reference implementation of xoshiro256++ 1.0 from the
// state {1, 2, 3, 4}.
var xoshiroReference = []uint64{
	41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
	14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
}

func TestXoshiro(t *testing.T) {
	x := Xoshiro{1, 2, 3, 4}
	got := make([]uint64, len(xoshiroReference))
	x.Fill(got)
	for i, want := range xoshiroReference {
		if got[i] != want {
			t.Errorf("word %d is %d, want %d", i, got[i], want)
		}
	}
}

// Fills of any lengths give the same stream.
func TestXoshiroInPieces(t *testing.T) {
	x, y := Xoshiro{1, 2, 3, 4}, Xoshiro{1, 2, 3, 4}
	whole := make([]uint64, 300)
	x.Fill(whole)
	for i, n := 0, 0; i < len(whole); n = (n + 1) % 8 {
		piece := make([]uint64, min(n, len(whole)-i))
		y.Fill(piece)
		for j, got := range piece {
			if got != whole[i+j] {
				t.Fatalf("word %d is %#x, want %#x", i+j, got, whole[i+j])
			}
		}
		i += len(piece)
	}
	if x != y {
		t.Errorf("states %#x and %#x after the same words", x, y)
	}
}
