package path

import (
	"math"
	"math/cmplx"

	"grposim/fp"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// This file has the law of a gradient that is scaled to a largest norm
// (docs/theory-trainers.md §11.6).

const (
	normTerms = 128 // of the cosine series in the square of the norm
	normNodes = 513 // at which its function is expanded
	normReach = 16  // deviations of the square of the norm from its mean
)

// ScaledLaw overwrites the mean F and the covariance Σ of a normal gradient g with those of
// g h, h = min(1, c/‖g‖), c > 0. In the axes of Σ are variances λ and components f of F. With
// D_j = 1/(1 − 2iωλ_j) both laws are sums over a cosine series of h and h² in q = ‖g‖² of
//
//	E[g_j e^{iωq}]     = f_j D_j ψ,   ψ = Π_j √D_j e^{iω f_j² D_j}
//	E[g_j g_k e^{iωq}] = (δ_jk λ_j D_j + f_j f_k D_j D_k) ψ
//
// The latter are scaled to the sum E min(q, c²) of the diagonal. Where c² > tr Σ/1000, the series
// leave out less than a hundredth of min(c, ‖F‖ + √tr Σ), and of its square for the covariance. Of
// one axis that dominates the variance is up to 6 % too large where c < ½√tr Σ. Of two arms the law
// is that of a cut normal number, which is exact.
func ScaledLaw(mean []float64, cov *mat.SymDense, c float64) {
	arms := len(mean)
	if v := cov.At(0, 0); arms == 2 && v > 0 {
		m, v := cutNormal(mean[0], math.Sqrt(v), c/math.Sqrt2)
		mean[0], mean[1] = m, -m
		cov.SetSym(0, 0, v)
		cov.SetSym(0, 1, -v)
		cov.SetSym(1, 1, v)
		return
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return // of gradients that are not finite
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	variances, f := eigen.Values(nil), linear.Reduce(&axes, mean)
	middle, square := 0.0, 0.0
	for j, v := range variances {
		variances[j] = max(v, 0)
		middle += f[j]*f[j] + variances[j]
		square += 2*v*v + 4*f[j]*f[j]*variances[j]
	}
	from := max(middle-normReach*math.Sqrt(square), 0)
	span := middle + normReach*math.Sqrt(square) - from
	switch {
	case from+span <= c*c:
		return
	case span < 1e-9*middle: // without noise
		for a := range mean {
			mean[a] *= min(1, c/math.Sqrt(middle))
		}
		return
	}
	once, twice, whole := scaling(from, span, c)
	first, second, trace := make([]float64, arms), mat.NewSymDense(arms, nil), 0.0
	for k := range normTerms {
		w := float64(k) * math.Pi / span
		d, log := make([]complex128, arms), complex(0, -w*from)
		for j, v := range variances {
			d[j] = 1 / complex(1, -2*w*v)
			log += cmplx.Log(d[j])/2 + complex(0, w*f[j]*f[j])*d[j]
		}
		psi := cmplx.Rect(fp.MathExp(real(log)), imag(log))
		if cmplx.Abs(psi) < 1e-12 {
			break
		}
		trace += whole[k] * real(psi)
		for j, v := range variances {
			along := complex(f[j], 0) * d[j] * psi
			first[j] += once[k] * real(along)
			for l := j; l < arms; l++ {
				by := real(along * complex(f[l], 0) * d[l])
				if l == j {
					by += v * real(d[j]*psi)
				}
				second.SetSym(j, l, second.At(j, l)+twice[k]*by)
			}
		}
	}
	second.ScaleSym(trace/mat.Trace(second), second)
	second.SymRankOne(second, -1, mat.NewVecDense(arms, first))
	mat.NewVecDense(arms, mean).MulVec(&axes, mat.NewVecDense(arms, first))
	back := linear.Within(mat.DenseCopyOf(axes.T()), second)
	for a := range mean {
		for b := range a + 1 {
			cov.SetSym(a, b, back.At(a, b))
		}
	}
}

// cutNormal returns mean and variance of a normal number that is cut to [−b, b]. Uncut it has the
// mean m and the deviation s > 0.
func cutNormal(m, s, b float64) (mean, variance float64) {
	low, high := (-b-m)/s, (b-m)/s
	below, above := fp.NormalCDF(low), fp.NormalCDF(-high)
	within, first := 1-below-above, fp.NormalPDF(low)-fp.NormalPDF(high)
	second := within + low*fp.NormalPDF(low) - high*fp.NormalPDF(high)
	mean = m*within + s*first + b*(above-below)
	d := m - mean
	variance = d*d*within + 2*d*s*first + s*s*second +
		(b-mean)*(b-mean)*above + (b+mean)*(b+mean)*below
	return mean, max(variance, 0)
}

// scaling returns the coefficients of the cosine series of h = min(1, c/√q), h² and qh² for q from
// from over a span. Those of averages between the middles of nodes are divided by what an average
// takes of a cosine.
func scaling(from, span, c float64) (once, twice, whole []float64) {
	integrals := func(q float64) [3]float64 { // from 0
		if q <= c*c {
			return [3]float64{q, q, q * q / 2}
		}
		return [3]float64{
			c * (2*math.Sqrt(q) - c), c * c * (1 + math.Log(q/(c*c))), c * c * (q - c*c/2),
		}
	}
	var all [3][]float64
	const cells = normNodes - 1
	last, series := from, fourier.NewDCT(normNodes)
	for i := range normNodes {
		to := min(from+span*(float64(i)+0.5)/cells, from+span)
		low, high := integrals(last), integrals(to)
		for n := range all {
			all[n] = append(all[n], (high[n]-low[n])/(to-last))
		}
		last = to
	}
	for _, x := range all {
		series.Transform(x, x)
		x[0] /= 2 * cells
		for k := 1; k < normTerms; k++ {
			half := float64(k) * math.Pi / (2 * cells)
			x[k] *= half / (math.Sin(half) * cells)
		}
	}
	return all[0], all[1], all[2]
}

// LeftOut returns what ScaledLaw leaves out of the norm of the mean force of N samples, for groups
// are not normal: with the third cumulant κ³ and the excess x of a step,
//
//	(κ³/24σ² + ‖F‖ σ²x/8r²) max((1 + z²) e^{−½z²}, min(1, c/r) if r > c),   z = (c − r)/σ
//
// r² = ‖F‖² + σ² and σ² = tr Σ. The first bounds κ³/6 times a slope of the normal density at c, the
// second is by how much a density differs at 0. x is the mean over the arms, with weights Σ_aa, and
// κ³ along any direction that of numbers of arms, of which each has the square Σ_aa³(x_a + 2/N).
func LeftOut(force []float64, cov mat.Symmetric, excess []float64, samples int, c float64) float64 {
	square, mean := mat.Trace(cov), floats.Norm(force, 2)
	if square == 0 {
		return 0
	}
	third, fourth := 0.0, 0.0
	for a, x := range excess {
		third += cov.At(a, a) * math.Cbrt(math.Abs(x)+2/float64(samples))
		fourth += cov.At(a, a) * math.Abs(x)
	}
	r := math.Hypot(mean, math.Sqrt(square))
	z := (c - r) * (c - r) / square
	near := (1 + z) * fp.MathExp(-z/2)
	if r > c {
		near = max(near, c/r)
	}
	return near * (fp.Pow(third, 1.5)/(24*square) + mean*fourth/(8*r*r))
}
