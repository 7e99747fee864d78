package network

import (
	"fmt"
	"math"
	"testing"
)

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// near checks that a number is within a tolerance of another.
func near(t *testing.T, of any, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// sample is a network under test, with weights at which no slope is special.
type sample struct {
	name string
	Network
	weights []float64
}

func samples() []sample {
	random := newNormals(101)
	inputs := make([][]float64, 7)
	for x := range inputs {
		inputs[x] = random.fill(nil, 4, 1)
	}
	var list []sample
	for _, activation := range []Activation{Tanh, ReLU, GELU} {
		for _, hidden := range [][]int{{6}, {6, 5}, {6, 5, 8}} {
			n := NewMLP(inputs, hidden, 3, activation)
			list = append(list, sample{fmt.Sprint(activation, hidden), n, random.fill(nil, n.Weights(), 1)})
		}
	}
	tokens := [][]int{{0, 3, 4}, {1, 2, 4}, {3, 3, 4}, {2, 0, 4}, {1, 1, 0}}
	for _, shape := range []Shape{{6, 2, 7, Tied}, {6, 1, 9, Untied}} {
		n := NewTransformer(tokens, 5, 3, shape)
		list = append(list, sample{fmt.Sprint("transformer ", shape), n, random.fill(nil, n.Weights(), 0.5)})
	}
	return list
}

// Push is the derivative of Logits along a direction. The difference of five points with step h
// errs by h⁴/30 fifth derivatives and by ε/h of rounding. At h = 1e-4, with logits of order 1 to
// 30, that is 1e-11. ReLU networks are linear between two kinks, which no step hits here.
func TestPushIsDerivative(t *testing.T) {
	const h = 1e-4
	random := newNormals(102)
	for _, s := range samples() {
		size := s.Contexts() * s.Arms()
		d, moved := random.fill(nil, s.Weights(), 1), make([]float64, s.Weights())
		logits := make([]float64, size)
		want, change := make([]float64, size), make([]float64, size)
		for _, point := range []struct{ steps, weight float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}} {
			for i, w := range s.weights {
				moved[i] = w + point.steps*h*d[i]
			}
			s.Logits(moved, logits)
			addScaled(want, point.weight/(12*h), logits)
		}
		s.Logits(s.weights, logits)
		s.Push(d, change)
		for i, got := range change {
			near(t, s.name, got, want[i], 1e-9*norm(change))
		}
	}
}

// Pull is the transpose of Push: ⟨u, J d⟩ = ⟨Jᵀu, d⟩.
func TestPullIsTranspose(t *testing.T) {
	random := newNormals(103)
	for _, s := range samples() {
		size := s.Contexts() * s.Arms()
		change, gradient := make([]float64, size), make([]float64, s.Weights())
		s.Logits(s.weights, make([]float64, size))
		for range 10 {
			u, d := random.fill(nil, size, 1), random.fill(nil, s.Weights(), 1)
			s.Push(d, change)
			s.Pull(u, gradient)
			left, right := dot(u, change), dot(gradient, d)
			near(t, s.name+": ⟨u, Jd⟩ and ⟨Jᵀu, d⟩", left, right, 1e-13*norm(u)*norm(change))
		}
	}
}

// A network serves the inner loop of a simulation.
func TestAllocatesNothing(t *testing.T) {
	for _, s := range samples() {
		logits, gradient := make([]float64, s.Contexts()*s.Arms()), make([]float64, s.Weights())
		if got := testing.AllocsPerRun(3, func() {
			s.Logits(s.weights, logits)
			s.Pull(logits, gradient)
			s.Push(gradient, logits)
		}); got != 0 {
			t.Errorf("%s: %v allocations, want none", s.name, got)
		}
	}
}
