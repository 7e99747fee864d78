package rest

import (
	"math"

	"grposim/rom/linear"
	"grposim/rom/path"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// limited holds what is left out where a largest norm acts on a gradient that is taken for normal:
// of the norm of the mean force, and of Var J as a share.
type limited struct{ force, law float64 }

// limit takes a largest norm c of the gradient into the linearization of all arms. At the fixed
// point the mean force F is 0. Of a normal gradient with the covariance Σ and h = min(1, c/‖g‖) a
// small F becomes S F, and Σ becomes E[ggᵀh²]:
//
//	Λ ← S Λ,   S = E[ggᵀh] Σ⁻¹
//
// Groups are not normal: with the excess x of arms and N samples that is x/2 + 1/(2N) of Var J. The
// series of the law leave out (0.04 s/c)² of it, s² = tr Σ. That of two arms has none.
func (l *linearization) limit(c float64) {
	arms := len(l.logits)
	l.model.Set(l.logits, l.logits)
	free, still := l.model.Covariance(), make([]float64, arms)
	_, excess := l.model.Joint(still)
	samples := l.GroupSize * l.GroupsPerStep
	l.missed = &limited{path.LeftOut(still, free, excess, samples, c), 1 / (2 * float64(samples))}
	for a, x := range excess {
		l.missed.law += math.Abs(x) / 2 * free.At(a, a) / mat.Trace(free)
	}
	scaled := func(force []float64) *mat.SymDense {
		noise := mat.NewSymDense(arms, nil)
		noise.CopySym(free)
		path.ScaledLaw(force, noise, c)
		return noise
	}
	for _, part := range []*mat.Dense{l.fresh, l.stale} {
		for b := range arms {
			column := mat.Col(nil, b, part)
			by := 1e-4 * math.Sqrt(mat.Trace(free)) / max(floats.Norm(column, 2), 1e-100) // small
			floats.Scale(by, column)
			scaled(column)
			floats.Scale(1/by, column)
			part.SetCol(b, column)
		}
	}
	if l.noise = mat.DenseCopyOf(scaled(still)); arms > 2 {
		l.missed.law += 0.0016 * mat.Trace(free) / (c * c)
	}
}

// missing returns what a largest norm leaves out of E J, and of Var J as a share. The share has the
// square of the mean force beside the noise. sigma is the covariance of the reduced coordinates.
func (l *linearization) missing(sigma *mat.Dense) (shift, share float64) {
	if l.missed == nil {
		return 0, 0
	}
	total, gradient := linear.Within(l.q, linear.Sum(l.fresh, l.stale)), l.rewardGradient()
	along := mat.NewVecDense(len(gradient), nil)
	if along.SolveVec(total.T(), mat.NewVecDense(len(gradient), gradient)) != nil {
		return math.Inf(1), math.Inf(1)
	}
	return mat.Norm(along, 2) * l.missed.force,
		l.missed.law + mat.Trace(linear.Congruence(total, sigma))/mat.Trace(l.noise)
}
