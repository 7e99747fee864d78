package group

import (
	"math"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/weight"
)

// conditional computes the conditional moments of the advantages in a group of given
// composition (see compositions). It holds the result of the last call.
type conditional struct {
	size     float64 // G
	unscaled bool
	factor   float64 // A_i = factor·(r_i − r̄)/(√V + epsilon), V = Σ(r_i − r̄)²/G
	epsilon  float64 // in the unit of the components
	clipped  bool
	pull     []float64 // T_j
	above    []float64 // E[Σ max(y_i, 0)]
	square   []float64 // W_j
	pairs    []float64 // U_jk

	precision, mean, excess []float64 // g_j, E[y_i], b_j − b̄ under e^{−uQ}, scratch
}

// newConditional returns those of an estimator, where rewards are in the given unit.
func newConditional(e *option.Estimator, parts int, unit float64) *conditional {
	j := parts
	g := &conditional{
		size: float64(e.GroupSize), unscaled: e.Advantage.Scale == option.NoScale, factor: 1, clipped: weight.BySign(&e.Importance),
		pull: make([]float64, j), above: make([]float64, j), square: make([]float64, j), pairs: make([]float64, j*j),
		precision: make([]float64, j), mean: make([]float64, j), excess: make([]float64, j),
	}
	if e.Advantage.Baseline == option.LeaveOneOut {
		g.factor = g.size / (g.size - 1)
	}
	if g.unscaled {
		g.factor *= unit
		return g
	}
	deviation := 1.0
	if e.Advantage.Std == option.SampleStd {
		deviation = math.Sqrt(g.size / (g.size - 1))
	}
	g.factor /= deviation
	g.epsilon = e.Advantage.Epsilon / (deviation * unit)
	return g
}

// smeared reports whether a sample of the composition n has a density.
func (g *conditional) smeared(parts []component, n []float64) bool {
	for j, count := range n {
		if count > 0 && parts[j].std > 0 {
			return true
		}
	}
	return false
}

// fixed computes the moments where every reward of the composition is a number.
func (g *conditional) fixed(parts []component, n []float64) {
	mean, variance, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for j, count := range n {
		mean += count * parts[j].mean / g.size
		if count > 0 {
			low, high = min(low, parts[j].mean), max(high, parts[j].mean)
		}
	}
	for j, count := range n {
		d := parts[j].mean - mean
		variance += count * d * d / g.size
	}
	inverse := g.factor
	switch {
	case low == high:
		inverse = 0 // all rewards of the group are equal
	case !g.unscaled:
		inverse /= math.Sqrt(variance) + g.epsilon
	}
	for j, count := range n {
		y := (parts[j].mean - mean) * inverse
		g.pull[j] = count * y
		g.above[j] = count * max(y, 0)
		g.square[j] = count * y * y
	}
	for j, t := range g.pull {
		for k, v := range g.pull {
			g.pairs[j*len(n)+k] = t * v
		}
	}
}

// integrate computes the moments of a composition with normal rewards. With
// Q = Σ(r_i − r̄)² = GV and c distributed uniformly, e^{−uQ} is the integral over c of
// √(Gu/π) Π e^{−u(r_i−c)²}, so under the weight e^{−uQ} the rewards are jointly normal:
// with g_j = 1/(1+2uσ_j²), b_j = σ_j²g_j, H = Σn_jg_j, c̄ = Σn_jg_jμ_j/H, b̄ = Σn_jb_j/G
//
//	E e^{−uQ} = √(G/H) Πg_j^{n_j/2} e^{−uΣn_jg_j(μ_j−c̄)²},   E[y_i] = g_j(μ_j − c̄)
//	Cov(y_i, y_k) = δ_ik b_j − (b_j + b_k)/G + b̄/G + 2u(b_j − b̄)(b_k − b̄)/H,   y = r − r̄
//
// and 1/(√V+ε) and its square are the mixtures
//
//	1/(√V+ε) = ∫dt t^{−½} φ_1(ε√t) e^{−tV},   1/(√V+ε)² = ∫dt φ_2(ε√t) e^{−tV},   t = Gu
//
// of such weights (see laplace), which leaves one integral over u. Its integrand is
// analytic for |arg u| < π/2, so the trapezoidal rule in x with the step h, log u =
// log u_0 + x − e^{−x} + e^{x−X}, has a relative error of e^{−π²/h}. Below u_0 = 1/(E Q +
// Gε²) and beyond the scale of the smallest of σ_j² and Gε², e^X u_0, the integrand is a
// power of u, which the two exponentials make decay faster than any power.
func (g *conditional) integrate(parts []component, n []float64) {
	const h = 0.27 // e^{−π²/h} = 1e-16
	clear(g.pull)
	clear(g.above)
	clear(g.square)
	clear(g.pairs)
	if g.unscaled {
		g.accumulate(parts, n, 0, 1, 1)
		return
	}
	mean, spread, finest, atoms := 0.0, 0.0, math.Inf(1), 0
	for j, count := range n {
		mean += count * parts[j].mean / g.size
	}
	for j, count := range n {
		if count == 0 {
			continue
		}
		d, s := parts[j].mean-mean, parts[j].std
		spread += count * (d*d + s*s)
		if s > 0 {
			finest = min(finest, s*s)
		} else {
			atoms++
		}
	}
	if g.epsilon > 0 {
		finest = min(finest, g.size*g.epsilon*g.epsilon)
		spread += g.size * g.epsilon * g.epsilon
	}
	end := math.Log(spread/finest) + 3
	if atoms > 1 {
		end = math.Inf(1) // the integrand decays as e^{−u}
	}
	largest := 0.0
	for x := -4.4; ; x += h {
		left, right := fp.Exp(-x), fp.Exp(x-end)
		t := g.size / spread * fp.Exp(x-left+right)
		if math.IsInf(t, 1) {
			return
		}
		dt := h * t * (1 + left + right)
		first, second := laplace(g.epsilon * math.Sqrt(t))
		term := g.accumulate(parts, n, t/g.size, dt/math.Sqrt(t)*first, dt*second)
		largest = max(largest, term)
		if x > 0 && term <= 1e-18*largest {
			return
		}
	}
}

// accumulate adds the moments under the weight e^{−uQ}, times first (T) and second (U
// and W), and returns the size of what it added to W.
func (g *conditional) accumulate(parts []component, n []float64, u, first, second float64) float64 {
	sum, logs, noise := 0.0, 0.0, 0.0 // H, log Πg_j^{n_j/2}, b̄
	for j, count := range n {
		if s := parts[j].std; count > 0 {
			g.precision[j] = 1 / (1 + 2*u*s*s)
			sum += count * g.precision[j]
			logs -= 0.5 * count * math.Log1p(2*u*s*s)
			noise += count * s * s * g.precision[j] / g.size
		}
	}
	// Differences as sums over pairs, b_j − b_k = (σ_j² − σ_k²)g_jg_k, keep their digits
	// where u is large.
	distance := 0.0 // Σn_jg_j(μ_j − c̄)²
	for j, count := range n {
		if count == 0 {
			continue
		}
		centre, excess := 0.0, 0.0
		for k, other := range n {
			if other > 0 {
				centre += other * g.precision[k] * (parts[j].mean - parts[k].mean)
				excess += other * (parts[j].std - parts[k].std) * (parts[j].std + parts[k].std) * g.precision[k]
			}
		}
		centre /= sum
		distance += count * g.precision[j] * centre * centre
		g.mean[j] = g.precision[j] * centre
		g.excess[j] = g.precision[j] * excess / g.size
	}
	weight := math.Sqrt(g.size/sum) * fp.Exp(logs-u*distance)
	first *= weight * g.factor
	second *= weight * g.factor * g.factor
	size := 0.0
	for j, count := range n {
		if count == 0 {
			continue
		}
		own, y := parts[j].std*parts[j].std*g.precision[j], g.mean[j]
		variance := own*(1-2/g.size) + noise/g.size + 2*u*g.excess[j]*g.excess[j]/sum
		g.pull[j] += first * count * y
		if g.clipped {
			g.above[j] += first * count * positivePart(y, math.Sqrt(variance))
		}
		g.square[j] += second * count * (y*y + variance)
		size += second * count * (y*y + variance)
		for k, other := range n {
			if other == 0 {
				continue
			}
			theirs := parts[k].std * parts[k].std * g.precision[k]
			joint := y*g.mean[k] - (own+theirs)/g.size + noise/g.size + 2*u*g.excess[j]*g.excess[k]/sum
			if j == k {
				joint += own / count
			}
			g.pairs[j*len(n)+k] += second * count * other * joint
		}
	}
	return size
}

// laplace returns the densities φ_1 and φ_2 at z = ε√t ≥ 0 of
//
//	1/(s+ε) = ∫dt t^{−½} φ_1 e^{−ts²},   1/(s+ε)² = ∫dt φ_2 e^{−ts²}
//
// φ_1 = 1/√π − z e^{z²}erfc z and φ_2 = (1+2z²)e^{z²}erfc z − 2z/√π: e^{z²} times the
// first and four times the second iterated integral of erfc, which for large z are
// computed from the continued fraction of their ratios r_n = i^nerfc/i^{n−1}erfc,
// r_{n−1} = 1/(2z + 2n r_n).
func laplace(z float64) (first, second float64) {
	if z < 2 {
		scaled := fp.Exp(z*z) * fp.Erfc(z)
		return 1/math.Sqrt(math.Pi) - z*scaled, (1+2*z*z)*scaled - 2*z/math.Sqrt(math.Pi)
	}
	ratio := 0.0
	product := [3]float64{}
	for n := 60; n > 0; n-- {
		ratio = 1 / (2*z + 2*float64(n)*ratio)
		if n <= 3 {
			product[n-1] = ratio // r_{n−1}
		}
	}
	first = 2 / math.Sqrt(math.Pi) * product[0] * product[1]
	return first, 4 * first * product[2]
}
