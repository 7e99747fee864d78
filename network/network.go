// Package network holds policies that are networks: logits of several contexts that are functions
// of shared weights. It has the two products of their Jacobian that gradients and linear dynamics
// need. Tasks give contexts and mean rewards. Fit and Supervise bring weights to given logits. The
// package knows nothing of GRPO or its theory: whoever has the force on the logits pulls it back
// with Pull.
//
// All numbers have the same bits on every machine, with vectors or without. No operation is fused,
// sums have one order, and exp and log come from fp.
package network

import "fmt"

// Network is a parametrisation of logits: those of C contexts with A arms each are functions
// of P weights. J is its Jacobian, C·A × P, at the weights of the last call of Logits. The
// order of logits is context by context: ℓ of arm a in context x is element x·A + a.
//
// A Network holds the activations of the last call of Logits, so it serves one goroutine. Its
// methods allocate nothing. They panic if a slice has another length than said.
type Network interface {
	// Weights returns P.
	Weights() int
	// Contexts returns C.
	Contexts() int
	// Arms returns A.
	Arms() int
	// Logits writes the C·A logits at weights w, of P entries, and keeps what Pull and Push
	// need of them. It keeps no reference to w.
	Logits(w, logits []float64)
	// Pull writes Jᵀ u into gradient, of P entries; u has C·A.
	Pull(u, gradient []float64)
	// Push writes J d into change, of C·A entries; d has P.
	Push(d, change []float64)
}

// sizes are those of a network, with logits in and out.
type sizes struct {
	weights int    // P
	logits  matrix // C × A: logits, their change, or the force on them
}

// Weights implements Network.
func (s *sizes) Weights() int { return s.weights }

// Contexts implements Network.
func (s *sizes) Contexts() int { return s.logits.rows }

// Arms implements Network.
func (s *sizes) Arms() int { return s.logits.columns }

// mustHave panics unless there are P weights and C·A logits, or what goes with them.
func (s *sizes) mustHave(weights string, w []float64, logits string, l []float64) {
	mustHave(weights, w, s.weights)
	mustHave(logits, l, len(s.logits.data))
}

// mustBe panics unless an argument is as it has to be.
func mustBe(ok bool, argument string) {
	if !ok {
		panic("network: want " + argument)
	}
}

// mustHave panics unless a slice has the length that is needed.
func mustHave(name string, x []float64, want int) {
	if len(x) != want {
		panic(fmt.Sprintf("network: %s has length %d, want %d", name, len(x), want))
	}
}
