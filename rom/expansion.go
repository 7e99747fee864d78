package rom

import (
	"math"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// expansion holds the derivatives at a fixed point that the second order in the noise
// needs besides curvature, in the displacement y = (x, x_old), 2n reduced
// coordinates. Derivatives with several indices are stored for all their orders.
type expansion struct {
	n     int
	third [][]float64 // ∂³E[g]/∂y_i∂y_j∂y_k, n forces
	slope [][]float64 // ∂Cov[g]/∂y_i, n×n
	bend  [][]float64 // ∂²Cov[g]/∂y_i∂y_j, n×n
	skew  []float64   // third cumulant of g, n×n×n

	// assumed says that the third cumulant is not known and skew is a bound instead.
	assumed bool

	// Derivatives of J in x: n, n×n and n×n×n.
	reward, rewardBend, rewardThird []float64
}

// assumedSkewness is the skewness that is assumed of the noise of one group where its
// third cumulant is not known: about that of one squared normal number, √8, which a
// degenerate quadratic statistic has at most for any G.
const assumedSkewness = 3

// newExpansion computes the expansion by central differences.
func (l *linearization) newExpansion() *expansion {
	_, n := l.q.Dims()
	m, dim, h := l.model, 2*n, l.model.differenceStep()
	m.set(l.logits, l.logits)
	defer m.holdCuts()()
	e := &expansion{
		n: n, third: make([][]float64, dim*dim*dim), slope: make([][]float64, dim), bend: make([][]float64, dim*dim),
		reward: l.rewardGradient(), rewardBend: make([]float64, n*n), rewardThird: make([]float64, n*n*n),
	}
	reward := func(x []float64) []float64 { return []float64{m.expected(l.displaced(x))} }
	for i := range dim {
		e.slope[i] = derivative(l.reducedNoise, dim, h, i)
		for j := range i + 1 {
			bend := derivative(l.reducedNoise, dim, h, i, j)
			e.bend[i*dim+j], e.bend[j*dim+i] = bend, bend
			if i < n {
				v := derivative(reward, n, h, i, j)[0]
				e.rewardBend[i*n+j], e.rewardBend[j*n+i] = v, v
			}
			for k := range j + 1 {
				third := derivative(l.reducedForce, dim, h, i, j, k)
				for _, at := range orders(i, j, k, dim) {
					e.third[at] = third
				}
				if i < n {
					v := derivative(reward, n, h, i, j, k)[0]
					for _, at := range orders(i, j, k, n) {
						e.rewardThird[at] = v
					}
				}
			}
		}
	}
	m.set(l.logits, l.logits)
	if e.skew = l.thirdCumulant(); e.skew == nil {
		// The skewness is assumed along the direction in which the noise moves J; other
		// directions are taken as symmetric.
		e.assumed = true
		e.skew = make([]float64, n*n*n)
		noise := linear.Within(l.q, l.noise)
		var v mat.VecDense
		v.MulVec(noise, mat.NewVecDense(n, e.reward))
		variance := linear.Form(e.reward, noise, e.reward)
		if variance > 0 {
			size := assumedSkewness / math.Sqrt(float64(m.GroupsPerStep)) * fp.Pow(variance, -1.5)
			for i := range e.skew {
				e.skew[i] = size * v.AtVec(i/(n*n)) * v.AtVec(i/n%n) * v.AtVec(i%n)
			}
		}
	}
	return e
}

// orders returns the places of the entry i, j, k in all its orders, of a tensor of
// three indices below n.
func orders(i, j, k, n int) [6]int {
	at := func(i, j, k int) int { return (i*n+j)*n + k }
	return [6]int{at(i, j, k), at(i, k, j), at(j, i, k), at(j, k, i), at(k, i, j), at(k, j, i)}
}

// reducedNoise returns the covariance of the force in reduced coordinates, n×n, at the
// displacement y = (x, x_old).
func (l *linearization) reducedNoise(y []float64) []float64 {
	n := len(y) / 2
	l.model.set(l.displaced(y[:n]), l.displaced(y[n:]))
	return l.noiseHere()
}

// noiseHere is reducedNoise at the logits given to model.set.
func (l *linearization) noiseHere() []float64 {
	noise := mat.DenseCopyOf(l.model.covariance())
	l.isometric(noise)
	return linear.Within(l.q, noise).RawMatrix().Data
}

// thirdCumulant returns the third cumulant of the reduced force, n×n×n, at the logits
// given to model.set; nil unless rewards take two values and there is one prompt, and where
// groups are dropped, all groups of a step have one scale, or the baseline is a running mean. Given S successes the force
// is the sum of S independent contributions X of successes and G−S contributions Y of
// failures, with X = (u⁺w⁺_a R_a − βκ_a K_a)/G on arm a with probability α_a, Y alike
// (docs/theory.md §2), R and K the columns of the two projections. So given S its r-th
// cumulant is S κ_r(X) + (G−S) κ_r(Y), and by the law of total cumulance, with the
// mean M, the covariance V and the third cumulant κ given S,
//
//	κ_3 = E κ + Σ Cov(M_i, V_jk) over the three choices of i + κ_3(M).
func (l *linearization) thirdCumulant() []float64 {
	m := l.model
	if m.limited() {
		_, _, third := m.cutMoments()
		return []float64{third * fp.Pow(m.Factors.Noise, 1.5) * fp.Pow(l.q.At(0, 0)-l.q.At(1, 0), 3)}
	}
	counts, ok := m.law.(*group.Counts)
	if !ok || m.GroupSize == option.Infinite || m.Filter == option.Drop || m.Advantage.Scale.OfStep() || m.Advantage.Baseline == option.RunningMean {
		return nil
	}
	_, n := l.q.Dims()
	skew := make([]float64, n*n*n)
	j, rest := counts.Chances(m.Old)
	if counts.AtRest(j, rest) {
		return skew
	}
	arms := len(m.Arms)
	rewardPart, penaltyPart := group.Square(arms), group.Square(arms) // [arm][reduced coordinate]
	for k := range n {
		column := make([]float64, arms)
		mean, meanAnchor := 0.0, 0.0
		for a := range column {
			column[a] = l.q.At(a, k) / math.Sqrt(l.count[a])
			mean += column[a] * m.now.probs[a]
			meanAnchor += column[a] * m.anchor().probs[a]
		}
		for a, x := range column {
			rewardPart[a][k] = x - mean
			penaltyPart[a][k] = m.KL.Coefficient * m.Kappa[a] * (x - meanAnchor)
		}
	}
	// cumulants adds count times the first three cumulants of one contribution.
	values, centre := group.Square(arms), make([]float64, n)
	cumulants := func(c *[3][]float64, count, advantage float64, weight, probability []float64) {
		clear(centre)
		for a := range arms {
			for k := range n {
				values[a][k] = (advantage*weight[a]*rewardPart[a][k] - penaltyPart[a][k]) / m.size
				centre[k] += probability[a] * values[a][k]
			}
		}
		for k, x := range centre {
			c[0][k] += count * x
		}
		for a := range arms {
			p := count * probability[a]
			for k := range n {
				values[a][k] -= centre[k]
			}
			for i, x := range values[a][:n] {
				for j, y := range values[a][:n] {
					c[1][i*n+j] += p * x * y
					for k, z := range values[a][:n] {
						c[2][(i*n+j)*n+k] += p * x * y * z
					}
				}
			}
		}
	}
	alpha, delta := counts.Outcomes(j, rest)
	law := counts.Successes(j, rest)
	given := make([][3][]float64, len(law.Weights))
	mean, variance := make([]float64, n), make([]float64, n*n)
	for i, w := range law.Weights {
		s := law.At(i)
		up, down := counts.Advantages(s)
		data := make([]float64, n+n*n+n*n*n)
		c := [3][]float64{data[:n], data[n : n+n*n], data[n+n*n:]}
		cumulants(&c, float64(s), up, m.Up, alpha)
		cumulants(&c, m.size-float64(s), down, m.Down, delta)
		given[i] = c
		for k, x := range c[0] {
			mean[k] += w * x
		}
		for k, x := range c[1] {
			variance[k] += w * x
		}
	}
	factor := fp.Pow(m.Factors.Noise, 1.5) / float64(m.GroupsPerStep*m.GroupsPerStep)
	for s, w := range law.Weights {
		c := given[s]
		for k := range c[0] {
			c[0][k] -= mean[k]
		}
		for k := range c[1] {
			c[1][k] -= variance[k]
		}
		for i, x := range c[0] {
			for j, y := range c[0] {
				for k, z := range c[0] {
					skew[(i*n+j)*n+k] += factor * w * (c[2][(i*n+j)*n+k] + x*y*z +
						x*c[1][j*n+k] + y*c[1][i*n+k] + z*c[1][i*n+j])
				}
			}
		}
	}
	return skew
}
