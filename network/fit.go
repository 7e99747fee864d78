package network

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grposim/grpo/fp"
)

const (
	// FitError is the largest error of a log-probability that Fit leaves.
	FitError = 1e-13
	fitSteps = 50 // at most
)

// dampings lists δ of Fit in units of the largest diagonal entry of J Jᵀ, the first for the end.
var dampings = [...]float64{0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1}

// Fit changes the weights w of a network until its log-probabilities in every context are those of
// logits target, within FitError, and returns the number of steps. It fails with an error that says
// how far it came, and leaves w there, if no step helps or 50 do not suffice: of too few weights,
// or of a start far away.
//
// A step is that of Gauss and Newton, damped as Levenberg and Marquardt do, in the range of Jᵀ.
// With e the missing logits, and e and J both without the shift that the logits of a context have
// in common,
//
//	w ← w + Jᵀ (J Jᵀ + δ)⁻¹ e,
//
// which for δ = 0 is the shortest solution of J d = e. The step with δ = 0 is taken if it leaves at
// most a tenth of |e|, otherwise the one of a list of δ that leaves the least.
func Fit(n Network, w, target []float64) (steps int, err error) {
	mustHave("w", w, n.Weights())
	mustHave("target", target, n.Contexts()*n.Arms())
	f := newFit(n, target)
	for steps = 0; ; steps++ {
		size := f.miss(w)
		if f.largest() <= FitError {
			return steps, nil
		}
		if steps == fitSteps || !f.step(w, size) {
			f.miss(w)
			return steps, fmt.Errorf("network: after %d steps a log-probability misses its target by %.3g, want at most %g", steps, f.largest(), FitError)
		}
	}
}

// fit is the memory of Fit. A context has A − 1 coordinates, those of differences of its logits.
type fit struct {
	network        Network
	target, logits []float64
	contrasts      [][]float64 // orthonormal, each with sum 0
	missing        []float64   // e, in coordinates
	jacobian       *mat.Dense  // of the coordinates: a row each
	trial, best    []float64   // weights
}

func newFit(n Network, target []float64) *fit {
	coordinates := n.Contexts() * (n.Arms() - 1)
	return &fit{n, target, make([]float64, len(target)), contrasts(n.Arms()), make([]float64, coordinates),
		mat.NewDense(coordinates, n.Weights(), nil), make([]float64, n.Weights()), make([]float64, n.Weights())}
}

// contrasts returns the vectors of Helmert: the k-th is the mean of the first k minus the next.
func contrasts(arms int) [][]float64 {
	var list [][]float64
	for k := 1; k < arms; k++ {
		v := make([]float64, arms)
		length := math.Sqrt(float64(k * (k + 1)))
		for a := range k {
			v[a] = 1 / length
		}
		v[k] = -float64(k) / length
		list = append(list, v)
	}
	return list
}

// miss computes e at weights w and returns its norm.
func (f *fit) miss(w []float64) float64 {
	f.network.Logits(w, f.logits)
	arms, square := f.network.Arms(), 0.
	for i := range f.missing {
		x, e := i/(arms-1)*arms, 0.
		for a, c := range f.contrasts[i%(arms-1)] {
			e += float64(c * (f.target[x+a] - f.logits[x+a]))
		}
		f.missing[i] = e
		square += float64(e * e)
	}
	return math.Sqrt(square)
}

// largest returns the largest error of a log-probability at the logits of miss.
func (f *fit) largest() float64 {
	arms, largest := f.network.Arms(), 0.
	for x := 0; x < len(f.logits); x += arms {
		now, want := f.logits[x:x+arms], f.target[x:x+arms]
		shift := logTotal(now) - logTotal(want)
		for a := range now {
			largest = max(largest, math.Abs(now[a]-want[a]-shift)) // NaN stays
		}
	}
	return largest
}

// logTotal returns log Σ e^ℓ.
func logTotal(logits []float64) float64 {
	top, total := slices.Max(logits), 0.
	for _, l := range logits {
		total += fp.Exp(l - top)
	}
	return top + fp.Log(total)
}

// step changes w, at which miss was asked last and returned size, and reports whether that leaves
// less.
func (f *fit) step(w []float64, size float64) bool {
	arms := f.network.Arms()
	u := make([]float64, len(f.logits))
	for i := range f.missing {
		x := i / (arms - 1) * arms
		copy(u[x:], f.contrasts[i%(arms-1)])
		f.network.Pull(u, f.jacobian.RawRowView(i))
		clear(u[x : x+arms])
	}
	var gram mat.SymDense
	gram.SymOuterK(1, f.jacobian)
	missing := mat.NewVecDense(len(f.missing), slices.Clone(f.missing))
	scale, left := 0., math.Inf(1)
	for i := range f.missing {
		scale = max(scale, gram.At(i, i))
	}
	for i, damping := range dampings {
		if size, solved := f.try(w, &gram, damping*scale, missing); solved && size < left {
			left = size
			copy(f.best, f.trial)
		}
		if i == 0 && left <= size/10 {
			break
		}
	}
	if left < size {
		copy(w, f.best)
	}
	return left < size
}

// try sets trial to the weights after the step with δ, and returns |e| there, if there is a step.
func (f *fit) try(w []float64, gram *mat.SymDense, damping float64, missing *mat.VecDense) (size float64, solved bool) {
	damped := mat.NewSymDense(missing.Len(), nil)
	damped.CopySym(gram)
	for i := range missing.Len() {
		damped.SetSym(i, i, gram.At(i, i)+damping)
	}
	var factors mat.Cholesky
	var solution mat.VecDense
	if !factors.Factorize(damped) || factors.SolveVecTo(&solution, missing) != nil {
		return 0, false
	}
	step := mat.NewVecDense(len(w), f.trial)
	step.MulVec(f.jacobian.T(), &solution)
	for i, x := range w {
		f.trial[i] += x
	}
	return f.miss(f.trial), true
}
