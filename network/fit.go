package network

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
)

const (
	// FitError is the largest error of a log-probability that Fit leaves.
	FitError = 1e-13
	fitSteps = 50 // at most
)

// dampings lists δ of Fit in units of the largest diagonal entry of J Jᵀ, the first for the end.
var dampings = [...]float64{0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1}

// Fit changes the weights w of a network until its log-probabilities in every context are those of
// logits target, within FitError. It returns the number of steps. It fails, and leaves w there, if
// no step helps or 50 do not suffice. The error says how far it came: there are too few weights, or
// the start is far.
//
// A step is that of Gauss and Newton, damped as Levenberg and Marquardt do, in the range of Jᵀ. e
// is the missing logits. e and J both lack the shift that the logits of a context have in common:
//
//	w ← w + Jᵀ (J Jᵀ + δ)⁻¹ e.
//
// For δ = 0 that is the shortest solution of J d = e. The step with δ = 0 is taken if it leaves at
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
			const text = "network: after %d steps a log-probability misses its target by %.3g, want at most %g"
			return steps, fmt.Errorf(text, steps, f.largest(), FitError)
		}
	}
}

// fit is the memory of Fit. A context has A − 1 coordinates, those of differences of its logits.
type fit struct {
	network        Network
	target, logits []float64
	contrasts      [][]float64 // orthonormal, each with sum 0
	missing        []float64   // e, in coordinates
	jacobian       matrix      // J of the coordinates, a row each
	transposed     matrix      // Jᵀ
	gram, factor   matrix      // J Jᵀ; L of its Cholesky decomposition, below the diagonal
	solution       []float64   // (J Jᵀ + δ)⁻¹ e
	trial, best    []float64   // weights
}

func newFit(n Network, target []float64) *fit {
	size, weights := n.Contexts()*(n.Arms()-1), n.Weights()
	return &fit{network: n, target: target, logits: make([]float64, len(target)),
		contrasts: contrasts(n.Arms()), missing: make([]float64, size),
		jacobian: newMatrix(size, weights), transposed: newMatrix(weights, size),
		gram: newMatrix(size, size), factor: newMatrix(size, size), solution: make([]float64, size),
		trial: make([]float64, weights), best: make([]float64, weights)}
}

// contrasts returns the vectors of Helmert: the k-th is the mean of the first k minus the next,
// scaled to length 1.
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
		f.network.Pull(u, f.jacobian.row(i))
		clear(u[x : x+arms])
	}
	f.transposed.transpose(f.jacobian)
	multiply(f.gram, f.jacobian, f.transposed)
	missing := slices.Clone(f.missing)
	scale, left := 0., math.Inf(1)
	for i := range missing {
		scale = max(scale, f.gram.row(i)[i])
	}
	for i, damping := range dampings {
		if !f.solve(float64(damping*scale), missing) {
			continue
		}
		copy(f.trial, w)
		for i, x := range f.solution {
			addScaled(f.trial, x, f.jacobian.row(i))
		}
		if trial := f.miss(f.trial); trial < left {
			left = trial
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

// solve sets solution to (J Jᵀ + δ)⁻¹ e, and reports whether the matrix is positive in floating
// point.
func (f *fit) solve(damping float64, missing []float64) bool {
	for i := range f.factor.rows {
		gram, row := f.gram.row(i), f.factor.row(i)
		for j := range i {
			before := f.factor.row(j)
			row[j] = (gram[j] - dot(row[:j], before)) / before[j]
		}
		square := gram[i] + damping - dot(row[:i], row)
		if !(square > 0) {
			return false
		}
		row[i] = math.Sqrt(square)
		f.solution[i] = (missing[i] - dot(row[:i], f.solution)) / row[i]
	}
	for i := len(f.solution) - 1; i >= 0; i-- {
		row := f.factor.row(i)
		f.solution[i] /= row[i]
		addScaled(f.solution[:i], -f.solution[i], row[:i])
	}
	return true
}

// Supervise changes the weights w of a network by steps of Adam down the mean over contexts of
// KL(target ‖ π). Adam is that of Kingma and Ba 2015: β1 0.9, β2 0.999, ε 1e-8. The force on the
// logits of a context is target − π. Target holds logits. It returns that mean before the last
// step.
//
// Trainers make a reference so. From initial weights Fit alone takes 11 to 19 steps. After 300
// steps at rate 0.003 one of nine transformers still has a divergence of 0.3, the others 1e-5 or
// less.
func Supervise(n Network, w, target []float64, steps int, rate float64) (divergence float64) {
	mustHave("w", w, n.Weights())
	mustHave("target", target, n.Contexts()*n.Arms())
	logits, u, g := make([]float64, len(target)), make([]float64, len(target)), make([]float64, len(w))
	mean, square := make([]float64, len(w)), make([]float64, len(w))
	decay1, decay2 := 1., 1.
	for range steps {
		n.Logits(w, logits)
		divergence = 0
		for x := 0; x < len(u); x += n.Arms() {
			now, want := logits[x:x+n.Arms()], target[x:x+n.Arms()]
			logNow, logWant := logTotal(now), logTotal(want)
			for a := range now {
				p, q := fp.Exp(now[a]-logNow), fp.Exp(want[a]-logWant)
				u[x+a] = (q - p) / float64(n.Contexts())
				divergence += float64(q*(want[a]-logWant-now[a]+logNow)) / float64(n.Contexts())
			}
		}
		n.Pull(u, g)
		decay1, decay2 = float64(decay1*0.9), float64(decay2*0.999)
		for i, g := range g {
			mean[i] += float64(0.1 * (g - mean[i]))
			square[i] += float64(0.001 * (float64(g*g) - square[i]))
			w[i] += float64(rate * (mean[i] / (1 - decay1) / (math.Sqrt(square[i]/(1-decay2)) + 1e-8)))
		}
	}
	return divergence
}
