package group

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/fp"
)

// integral is a quadrature for the expectations of a group of G samples whose rewards
// are a mixture of components, for any G (docs/theory.md §2). With Q = Σ(r_i − r̄)² = GV,
//
//	e^{−uQ} = √(Gu/π) ∫dc Π_i e^{−u(r_i−c)²}
//
// is under the integral over c a product over independent samples. There r_i − r̄ may be
// replaced by r_i − c, and (r_i − r̄)(r_k − r̄) by (r_i − c)(r_k − c) − 1/(2uG). 1/(√V+ε)
// and its square are mixtures of e^{−uQ} (see conditional.integrate).
//
// So with e_j = E e^{−u(r−c)²}, f_j = E (r−c)e^{−u(r−c)²}, s_j = E (r−c)²e^{−u(r−c)²} for
// a reward of component j, ψ = ΣP_je_j and the advantages y of two samples,
//
//	E[y | j] = ∫∫ f_j ψ^{G−1}                   E[y | j; k] = ∫∫ f_je_k ψ^{G−2}
//	E[y² | j] = ∫∫ (s_j − e_j/2uG) ψ^{G−1}      E[yy′ | j, k] = ∫∫ (f_jf_k − e_je_k/2uG) ψ^{G−2}
type integral struct {
	parts  []component
	size   int
	levels []integralLevel
	values []float64 // e_j of all components, node after node
}

// integralLevel holds the nodes of one u.
type integralLevel struct {
	first, second float64   // weight of a node in an expectation of y, and of y² or yy′
	smear         float64   // 1/(2uG)
	slope, own    []float64 // g_j = 1/(1+2uσ_j²), σ_j²g_j: f_j = g_j(μ_j−c)e_j, s_j = [g_j²(μ_j−c)² + σ_j²g_j]e_j
	nodes         []integralNode
	start         int // of the level in values
}

// integralNode is a value of c, as its distance from the mean of a component: where u is
// large c differs from the value of a constant reward by less than rounding.
type integralNode struct {
	base   int
	offset float64
}

// distance returns μ_j − c.
func (g *integral) distance(n integralNode, j int) float64 {
	return g.parts[j].mean - g.parts[n.base].mean - n.offset
}

// Limits of a integral: the work of an evaluation, about 2 ms, and the logarithm of
// what an integrand may be neglected by.
const (
	maxIntegralWork = 2e6
	lostExponent    = 44.0
)

// maxIntegralEpsilon is the largest ε, in units of the rewards' largest distance or deviation,
// of a integral. Larger ones make u so small that s_j − e_j/2uG, of terms of size ε², loses
// its digits: at this one the error of a covariance is 1e-5 of it, and grows as ε².
const maxIntegralEpsilon = 1e3

// work returns the work of an evaluation on the given number of nodes, in nanoseconds.
func (g *integral) work(nodes int) float64 {
	j := float64(len(g.parts))
	return float64(nodes) * (20 + j*j)
}

// newIntegral returns the quadrature for an estimator which divides by the
// deviation of the group; nil where it needs too many nodes, leaves the range of floating
// point or loses too many digits.
//
// The integrand in c is a sum of products of Gaussians, of which the narrowest has the
// standard deviation w = 1/√(2Gu max g_j): the trapezoidal rule with the step 0.75w has a
// relative error of e^{−35}. It is at most max e_j^{G−1}, so that nodes lie where that
// exceeds e^{−lostExponent}. The integral over u is that of conditional.integrate; where it
// ends, values of constant rewards are so far apart that groups with two of them no longer
// contribute, and groups with one contribute nothing.
func newIntegral(arms []option.Arm, e *option.Estimator) *integral {
	const h = 0.27
	parts, unit, _ := components(arms, false)
	law := newConditional(e, len(parts), unit)
	if law.epsilon > maxIntegralEpsilon {
		return nil
	}
	g := &integral{parts: parts, size: e.GroupSize}
	finest, nearest, widest, atoms := math.Inf(1), math.Inf(1), 1.0, 0
	for j, x := range parts {
		if !x.representable() {
			return nil
		}
		widest = max(widest, x.std)
		if x.std > 0 {
			finest = min(finest, x.std)
			continue
		}
		atoms++
		for _, y := range parts[:j] {
			if y.std == 0 {
				nearest = min(nearest, math.Abs(x.mean-y.mean))
			}
		}
	}
	smeared := !math.IsInf(finest, 1)
	nearest *= nearest * (1 - 1/law.size) / lostExponent // two constant rewards have Q ≥ nearest²(G−1)/G
	spread, small := law.size*(widest*widest+law.epsilon*law.epsilon), min(finest*finest, nearest)
	if law.epsilon > 0 {
		small = min(small, law.size*law.epsilon*law.epsilon)
	}
	end, largest, nodes := math.Inf(1), 0.0, 0
	if smeared {
		end = math.Log(spread/small) + 3
	}
	for x := -4.4; ; x += h {
		left, right := fp.Exp(-x), fp.Exp(x-end)
		t := law.size / spread * fp.Exp(x-left+right)
		u := t / law.size
		if math.IsInf(t, 1) {
			return g
		} else if math.IsNaN(t) {
			return nil
		}
		l := integralLevel{smear: 1 / (2 * t), slope: make([]float64, len(parts)), own: make([]float64, len(parts)), start: len(g.values)}
		sharpest := 0.0
		for j, part := range parts {
			l.slope[j] = 1 / (1 + 2*u*part.std*part.std)
			l.own[j] = part.std * part.std * l.slope[j]
			sharpest = max(sharpest, l.slope[j])
		}
		step := 0.75 / math.Sqrt(2*t*sharpest)
		dt := h * t * (1 + left + right) * math.Sqrt(t/math.Pi) * step
		one, two := laplace(law.epsilon * math.Sqrt(t))
		l.first, l.second = dt/math.Sqrt(t)*one*law.factor, dt*two*law.factor*law.factor
		separate := u*nearest > 1
		var intervals []reach
		term := 0.0
		for j, part := range parts {
			if part.std > 0 {
				// G − 1 rewards of this component, or all but one constant: as powers of u.
				power, breadth := law.size-1, l.slope[j]
				if atoms > 0 {
					power, breadth = 1, 1
				}
				term = max(term, l.second*(l.own[j]+l.smear)*fp.Pow(l.slope[j], power/2)/(step*math.Sqrt(u*breadth)))
			} else if !separate {
				term = math.MaxFloat64
			}
			room := lostExponent/(law.size-1) + 0.5*math.Log(l.slope[j])
			if room < 0 || part.std == 0 && separate && !smeared {
				continue
			}
			width := math.Sqrt(room / (u * l.slope[j]))
			intervals = append(intervals, reach{j, part.mean - width, width})
		}
		largest = max(largest, term)
		if x > 0 && (len(intervals) == 0 || term <= 1e-18*min(largest, 1)) {
			return g
		}
		slices.SortFunc(intervals, func(a, b reach) int { return cmp.Compare(a.low, b.low) })
		var n integralNode
		for i, x := range intervals {
			if i == 0 || g.distance(n, x.part) > x.width { // otherwise intervals overlap
				n = integralNode{x.part, -x.width}
			}
			for ; g.distance(n, x.part) >= -x.width; n.offset += step {
				if nodes++; g.work(nodes) > maxIntegralWork {
					return nil
				}
				l.nodes = append(l.nodes, n)
				for j := range parts {
					d := g.distance(n, j)
					g.values = append(g.values, math.Sqrt(l.slope[j])*fp.Exp(-u*l.slope[j]*d*d))
				}
			}
		}
		g.levels = append(g.levels, l)
	}
}

// reach is the range of c in which a component contributes.
type reach struct {
	part       int
	low, width float64 // its start, and half of its length
}

// taylor holds expectations of a group as polynomials in the probabilities of the
// components about a point: the coefficients of powers, for one component or pair of
// components j, k after the other. Those of firstMoment are E[y | j] and E[y | j; k],
// those of secondMoment E[y² | j] and E[yy′ | j, k].
type taylor struct {
	at         []float64 // the point
	powers     []monomial
	one, pairs []float64
}

// monomial is the product of the variable and an earlier monomial.
type monomial struct {
	parent, variable int
	degree           int
	ways             float64 // orders of its factors
}

// monomials returns those of n variables up to a degree, 1 first.
func monomials(n, degree int) []monomial {
	all := []monomial{{ways: 1}}
	for i := 0; i < len(all); i++ {
		m := all[i]
		if m.degree == degree {
			break
		}
		for v := m.variable; v < n; v++ {
			repeated := 1 // of v in the product
			for k := i; all[k].degree > 0 && all[k].variable == v; k = all[k].parent {
				repeated++
			}
			all = append(all, monomial{i, v, m.degree + 1, m.ways * float64(m.degree+1) / float64(repeated)})
		}
	}
	return all
}

// moment is the power of the advantages in an expectation.
type moment int

const (
	firstMoment  moment = iota // of y
	secondMoment               // of y² and yy′
)

// expand returns the expectations of a moment at the probabilities probs, with their
// derivatives up to a degree.
func (g *integral) expand(of moment, probs []float64, degree int) *taylor {
	parts := len(probs)
	e := &taylor{at: slices.Clone(probs), powers: monomials(parts, degree)}
	terms := len(e.powers)
	e.one, e.pairs = make([]float64, parts*terms), make([]float64, parts*parts*terms)
	products := make([]float64, terms)
	factors := [2][]float64{make([]float64, terms), make([]float64, terms)} // of the monomials in ψ^{G−1} and ψ^{G−2}
	one, pairs := make([]float64, parts), make([]float64, parts*parts)      // integrands
	slopes := make([]float64, parts)
	lost := 0.0
	if exponent := g.size - 2 - degree; exponent > 0 {
		lost = fp.Exp(-lostExponent / float64(exponent))
	}
	for i := range g.levels {
		l := &g.levels[i]
		for k, n := range l.nodes {
			values := g.values[l.start+k*parts:][:parts]
			psi := 0.0
			for j, p := range probs {
				psi += p * values[j]
			}
			if psi <= lost {
				continue
			}
			for j, v := range values {
				d := l.slope[j] * g.distance(n, j)
				slopes[j] = d * v
				if of == firstMoment {
					one[j] = l.first * slopes[j]
				} else {
					one[j] = l.second * (d*slopes[j] + (l.own[j]-l.smear)*v)
				}
			}
			for j, f := range slopes {
				row := pairs[j*parts:][:parts]
				if of == firstMoment {
					f *= l.first
					for k, v := range values {
						row[k] = f * v
					}
				} else {
					f, v := l.second*f, l.second*l.smear*values[j]
					for k, x := range slopes {
						row[k] = f*x - v*values[k]
					}
				}
			}
			log := math.Log(psi)
			if degree == 0 {
				power := fp.Exp(float64(g.size-2) * log)
				for j, x := range pairs {
					e.pairs[j] += power * x
				}
				power *= psi
				for j, x := range one {
					e.one[j] += power * x
				}
				continue
			}
			products[0] = 1
			for k, m := range e.powers {
				if k > 0 {
					products[k] = products[m.parent] * values[m.variable]
				}
				for i := range factors {
					factors[i][k] = binomialTerm(g.size-1-i, m.degree, log) * m.ways * products[k]
				}
			}
			accumulate(e.one, one, factors[0])
			accumulate(e.pairs, pairs, factors[1])
		}
	}
	return e
}

// binomialTerm returns (m over r) ψ^{m−r}, given log ψ.
func binomialTerm(m, r int, log float64) float64 {
	if m < r {
		return 0
	}
	term := fp.Exp(float64(m-r) * log)
	for i := range r {
		term *= float64(m-i) / float64(i+1)
	}
	return term
}

// accumulate adds the outer product of x and y to sums.
func accumulate(sums, x, y []float64) {
	for i, a := range x {
		row := sums[i*len(y):][:len(y)]
		for k, b := range y {
			row[k] += a * b
		}
	}
}

// at returns the values at probs: of single components, and of pairs.
func (e *taylor) values(probs []float64) (one []float64, pairs [][]float64) {
	terms, parts := len(e.powers), len(probs)
	products := make([]float64, terms)
	for k, m := range e.powers {
		products[k] = 1
		if k > 0 {
			products[k] = products[m.parent] * (probs[m.variable] - e.at[m.variable])
		}
	}
	sum := func(coefficients []float64) (sum float64) {
		for k, x := range products {
			sum += x * coefficients[k]
		}
		return sum
	}
	one, pairs = make([]float64, parts), Square(parts)
	for j := range parts {
		one[j] = sum(e.one[j*terms:])
		for k := range parts {
			pairs[j][k] = sum(e.pairs[(j*parts+k)*terms:])
		}
	}
	return one, pairs
}
