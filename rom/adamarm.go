package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// This file has the mean step of Adam on one logit whatever the law of its force: that of an arm that is drawn less often
// than the second moment remembers, of which no expansion about the means of m and v knows (docs/theory-neglected.md §6.8).

// armLaw is the law of the force of one step on one logit: values and their probabilities.
type armLaw struct{ values, weights []float64 }

// binDigits is the number of binary digits of a force within which values are taken together, as their mean. The width of 2⁻⁵ changes the mean
// of a smooth function of ln |g| by a 24th of its square times the second derivative, 4e-5.
const binDigits = 5

// newArmLaw returns that of an arm where the policy is its snapshot, of one group whose rewards take two values under the exact KL. Given S
// successes the numbers k and n of the arm's samples among these and among the failures are binomial, and the force is that of
// [u⁺k + u⁻n − π_a(u⁺S + u⁻(G − S))]/G and the penalty.
func newArmLaw(m *model, a int) *armLaw {
	penalty := make([]float64, len(m.Arms))
	m.subtractPenalty(penalty)
	m.addEntropy(penalty)
	j, rest := m.counts.Chances(m.Old)
	alpha, delta := m.counts.Outcomes(j, rest)
	success, failure := alpha[a], delta[a]
	bins := forceBins{digits: binDigits}
	law := m.counts.Successes(j, rest).Thinned()
	size := int(m.size)
	for i, w := range law.Weights {
		s := law.At(i)
		up, down := m.counts.Advantages(s)
		all := m.now.probs[a] * (up*float64(s) + down*float64(size-s))
		ups, downs := group.NewBinomial(s, success, 1-success, nil).Thinned(), group.NewBinomial(size-s, failure, 1-failure, nil).Thinned()
		for k, x := range ups.Weights {
			for n, y := range downs.Weights {
				bins.add((up*float64(ups.At(k))+down*float64(downs.At(n))-all)/m.size+penalty[a], w*x*y)
			}
		}
	}
	return bins.means(m.Factors.Stiffness, math.Sqrt(m.Factors.Noise))
}

// forceBins sums values, times their probabilities, and probabilities of a law over bins of some binary digits, at most binDigits.
type forceBins struct {
	armLaw
	digits int
	powers [1 << 12]int32          // in places, from 1, by sign and exponent
	places [][1 << binDigits]int32 // in the law, from 1, by the first digits
}

func (b *forceBins) add(g, p float64) {
	bits := math.Float64bits(g)
	power := &b.powers[bits>>52]
	if *power == 0 {
		b.places = append(b.places, [1 << binDigits]int32{})
		*power = int32(len(b.places))
	}
	place := &b.places[*power-1][bits>>(52-b.digits)&(1<<b.digits-1)]
	if *place == 0 {
		b.values, b.weights = append(b.values, 0), append(b.weights, 0)
		*place = int32(len(b.values))
	}
	b.values[*place-1] += p * g
	b.weights[*place-1] += p
}

// means divides sums of values by their weights, of those that have any, and multiplies the mean of all and the distances from it by factors.
func (b *forceBins) means(force, noise float64) *armLaw {
	out, mean := &armLaw{}, floats.Sum(b.values)
	for i, w := range b.weights {
		if w > 0 {
			out.values, out.weights = append(out.values, force*mean+noise*(b.values[i]/w-mean)), append(out.weights, w)
		}
	}
	return out
}

// Limits of the integral over ln u: how far below the scales of the forces and of ε it begins, its step, and the exponent beyond which the
// integrand counts as 0.
const (
	laplaceFrom  = 8
	laplaceStep  = 0.2
	laplaceDepth = 40
)

// scaled returns the law in units of √(E g²), with that root and the least and the largest of |g|, ok = false where no force is exerted.
func (g *armLaw) scaled() (unit *armLaw, root, least, largest float64, ok bool) {
	square := 0.0
	for i, x := range g.values {
		square += g.weights[i] * x * x
	}
	if !(square > 0) {
		return nil, 0, 0, 0, false
	}
	root = math.Sqrt(square)
	unit = &armLaw{weights: g.weights}
	for _, x := range g.values {
		unit.values = append(unit.values, x/root)
	}
	least, largest = unit.moduli()
	return unit, root, least, largest, true
}

// moduli returns the least and the largest of |g|.
func (g *armLaw) moduli() (least, largest float64) {
	least = math.Inf(1)
	for _, x := range g.values {
		least, largest = min(least, math.Abs(x)), max(largest, math.Abs(x))
	}
	return least, largest
}

// meanStep returns E m/(√v + ε) at rest, of m and v the exponential averages of forces of this law and of their squares, independent from step to step.
// With v^{−1/2} = π^{−1/2} ∫ du u^{−1/2} e^{−uv}, ψ_0(s) = E e^{−s g²} and ψ_1(s) = E g e^{−s g²},
//
//	E m/(√v + ε) = π^{−1/2} ∫ d(ln u) u^{1/2} L(u) R(u) φ(ε√u),   φ(a) = 1 − √π a e^{a²} erfc a
//	L = Π_k ψ_0((1−β2)β2^k u),   R = Σ_k (1−β1)β1^k (ψ_1/ψ_0)((1−β2)β2^k u)
//
// exactly. The sums over k are integrals over ln u, by Euler's formula up to the second order in 1−β2. The error is below 2e-4 of numbers up to about 1.
func (g *armLaw) meanStep(o *option.Optimizer) float64 {
	unit, root, least, largest, ok := g.scaled()
	if !ok {
		return 0
	}
	mean := 0.0
	for i, x := range unit.values {
		mean += unit.weights[i] * x
	}
	epsilon := o.Epsilon / root
	from := -laplaceFrom - 2*math.Log(max(largest, epsilon))
	top := min(math.Log(laplaceDepth)-2*math.Log(least), laplaceDepth-2*math.Log(epsilon), 2*laplaceDepth)
	forget := -math.Log(o.Beta2)
	behind := -forget / math.Log(o.Beta1) // of m, in ln u
	kept := fp.Exp(-laplaceStep / behind)
	whole := 1 - forget*o.Beta1/(1-o.Beta1)/behind // a number of whole steps has a shorter mean than an exponential law
	sum := 2 * fp.Exp(from/2) * mean
	filtered, before, logs, cumulated := mean, mean, 0.0, -(1-o.Beta2)*fp.Exp(from)
	for w := from; w < top; w += laplaceStep {
		s := (1 - o.Beta2) * fp.Exp(w)
		var zero, one, two float64
		for i, x := range unit.values {
			p := unit.weights[i] * fp.Exp(-s*(x*x-least*least))
			zero += p
			one += p * x
			two += p * x * x
		}
		f, slope, ratio := math.Log(zero)-s*least*least, -s*two/zero, one/zero
		if w > from {
			cumulated += laplaceStep * (f + logs) / 2
		}
		d := (ratio - before) / laplaceStep
		filtered = kept*filtered + ratio*(1-kept) - d*(behind-(laplaceStep+behind)*kept)
		logs, before = f, ratio
		l := (cumulated-laplaceStep*laplaceStep/12*slope)/forget + f/2 + forget/12*slope
		sum += laplaceStep * fp.Exp(w/2+l) * (filtered + whole*(ratio-filtered)) * regularised(epsilon*fp.Exp(w/2))
	}
	return sum / math.Sqrt(math.Pi)
}

// regularised returns φ(a) = 1 − √π a e^{a²} erfc a, a ≥ 0, which is 1/(2a²) − 3/(4a⁴) + … for large a.
func regularised(a float64) float64 {
	if a > 20 {
		return (1 - 1.5/(a*a)) / (2 * a * a)
	}
	return 1 - math.Sqrt(math.Pi)*a*fp.Exp(a*a)*fp.Erfc(a)
}

// momentStep is the distance in ln v of the states of the chain of spread, and mostMoments their largest number.
const (
	momentStep  = 0.1
	mostMoments = 400
)

// spread returns S, the variance per step over many steps of the sum of m/(√v + ε): 1 where v hardly varies, up to about 4 where forces are
// rarer than its memory. v is a Markov chain; a force g moves the logit by g/(√v + ε) in all, of the v that has it, as m forgets
// before v does. With P the chain on a grid of ln v, δ the mean move and u = Σ_k P^k(δ − δ̄), the sum is a martingale up to its ends, of steps
// g/(√v + ε) − δ̄ + u(v′) − u(v).
func (g *armLaw) spread(o *option.Optimizer) (s float64, ok bool) {
	unit, root, least, largest, ok := g.scaled()
	if !ok {
		return 0, false
	}
	epsilon := o.Epsilon / root
	high := 2*math.Log(largest) + 0.5
	low := 2*math.Log(max(least, epsilon/10, largest*fp.Exp(-momentStep*mostMoments/2+1))) - 1
	low = min(low, high-1.5) // where ε is far above every force
	n := int((high-low)/momentStep) + 2
	chain, mean := mat.NewDense(n, n, nil), make([]float64, n)
	each := func(visit func(from, to int, share, p, move float64)) {
		for k := range n {
			v := fp.Exp(low + momentStep*float64(k))
			for i, x := range unit.values {
				next := o.Beta2*v + (1-o.Beta2)*x*x
				at := min(max((math.Log(next)-low)/momentStep, 0), float64(n-1)-1e-9)
				to := int(at)
				visit(k, to, at-float64(to), unit.weights[i], x/(math.Sqrt(next)+epsilon))
			}
		}
	}
	each(func(from, to int, share, p, move float64) {
		chain.Set(from, to, chain.At(from, to)+p*(1-share))
		chain.Set(from, to+1, chain.At(from, to+1)+p*share)
		mean[from] += p * move
	})
	// The law of v: (Pᵀ − 1)x = 0 with Σx = 1 in the place of one row.
	system := mat.NewDense(n, n, nil)
	system.Sub(chain.T(), linear.Identity(n))
	first := make([]float64, n)
	for k := range n {
		system.Set(0, k, 1)
	}
	first[0] = 1
	var law, later mat.VecDense
	if law.SolveVec(system, mat.NewVecDense(n, first)) != nil {
		return 0, false
	}
	average := 0.0
	for k, x := range mean {
		average += law.AtVec(k) * x
	}
	system.Sub(linear.Identity(n), chain)
	right := make([]float64, n)
	for k, x := range mean {
		right[k] = x - average
		system.Set(k, n-1, system.At(k, n-1)+1) // u is free up to a constant: u_{n−1} is added to all, which the law makes 0
	}
	if later.SolveVec(system, mat.NewVecDense(n, right)) != nil {
		return 0, false
	}
	each(func(from, to int, share, p, move float64) {
		w := law.AtVec(from) * p
		d := move - average - later.AtVec(from)
		for i, part := range [2]float64{1 - share, share} {
			x := d + later.AtVec(to+i)
			s += w * part * x * x
		}
	})
	return s, s > 0
}
