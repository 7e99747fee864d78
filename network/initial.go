package network

import (
	"math"
	"math/rand/v2"

	"grposim/fp"
)

// normals draws standard normal numbers by Marsaglia's polar method, two at a time.
type normals struct {
	random *rand.Rand
	spare  []float64 // the second of two, if it was not taken
}

// newNormals returns the numbers of a seed, which are the same for ever.
func newNormals(seed uint64) *normals { return &normals{random: rand.New(rand.NewPCG(seed, 0))} }

func (n *normals) next() float64 {
	if len(n.spare) > 0 {
		x := n.spare[0]
		n.spare = n.spare[:0]
		return x
	}
	for {
		x, y := n.signed(), n.signed()
		if square := float64(x*x) + float64(y*y); 0 < square && square < 1 {
			factor := math.Sqrt(-2 * fp.Log(square) / square)
			n.spare = append(n.spare, y*factor)
			return x * factor
		}
	}
}

// signed draws a multiple of 2⁻⁵², uniform from −1 to 1.
func (n *normals) signed() float64 { return float64(int64(n.random.Uint64())>>11) / (1 << 52) }

// fill appends count numbers of a standard deviation.
func (n *normals) fill(w []float64, count int, deviation float64) []float64 {
	for range count {
		w = append(w, deviation*n.next())
	}
	return w
}

// layer appends weights of a layer: those of W with a standard deviation, those of b zero.
func (n *normals) layer(w []float64, l *affine, deviation float64) []float64 {
	inputs, outputs := l.weights.rows, l.weights.columns
	return append(n.fill(w, inputs*outputs, deviation), make([]float64, outputs)...)
}
