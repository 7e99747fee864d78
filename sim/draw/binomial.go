package draw

import (
	"math"
	"math/bits"

	"grposim/fp"
)

// maxTrials is the largest number of trials. Up to it the rounding errors of the methods below are
// far too small to be detected in any feasible number of draws.
const maxTrials = 1 << 31

// Binomial returns a draw of the number of successes in n trials with probability p,
// from the same words as BinomialLaw. It panics if p is NaN or n is not in [0, 2³¹].
func Binomial(w *Words, n int, p float64) int {
	var law BinomialLaw
	law.Set(n, p)
	return law.Draw(w)
}

// BinomialLaw draws numbers of successes in n trials with probability p, C(n, k) pᵏ (1−p)^(n−k).
//
//	n ≤ 64                   one lane per trial (see Lanes), p to 2⁻⁶⁴
//	n·min(p, 1−p) < 10       inversion
//	else                     transformed rejection
type BinomialLaw struct {
	n        int
	p        float64   // probability of what is drawn, ≤ ½ if n > 64
	mirrored bool      // failures are drawn instead of successes
	hat      transform // of transformed rejection
	squeeze  float64   // v_r of the hat; 0: no rejection
}

// Set makes l the law of n trials with probability p. A p below 0 or above 1 (by
// rounding) counts as 0 or 1. It panics if p is NaN or n is not in [0, 2³¹].
func (l *BinomialLaw) Set(n int, p float64) {
	if uint(n) > maxTrials {
		panic("draw: BinomialLaw.Set: n must be in [0, 2³¹]")
	}
	if math.IsNaN(p) {
		panic("draw: BinomialLaw.Set: p is NaN")
	}
	l.n, l.p, l.mirrored, l.squeeze = n, min(max(p, 0), 1), false, 0
	if n <= MaxLanes {
		return
	}
	if l.p > 0.5 {
		l.p, l.mirrored = 1-l.p, true // exact
	}
	if float64(n)*l.p >= rejectionMean {
		l.hat.set(n, l.p)
		l.squeeze = l.hat.squeeze()
	}
}

// Draw returns a draw of the number of successes.
func (l *BinomialLaw) Draw(w *Words) int {
	var k int
	switch {
	case l.squeeze > 0:
		k = l.reject(w)
	case l.n == 0:
		return 0
	case l.n <= MaxLanes:
		return bits.OnesCount64(Lanes(w, ^uint64(0)>>(MaxLanes-uint(l.n)), NewProbability(l.p)))
	case l.p > 0:
		k = quantile(Uniform(w), l.n, l.p)
	}
	if l.mirrored {
		return l.n - k
	}
	return k
}

// rejectionMean is the least n·p for which transformed rejection is valid.
const rejectionMean = 10

// quantile returns the least k, searched from 0 upwards, whose distribution function exceeds u in
// (0, 1). It is for 0 < p ≤ ½ and np < 10.
//
//	P(0) = (1−p)ⁿ,  P(k)/P(k−1) = (n−k+1)/k · p/(1−p).
//
// The law is exact to 2⁻⁴⁵ in total variation. np < 10 keeps (1−p)ⁿ above e⁻¹¹, with a relative
// error of some 2⁻⁴⁸. For some forty values of k the probability is rounded to the grid of a
// uniform number, 2⁻⁵².
func quantile(u float64, n int, p float64) int {
	odds := p / (1 - p)
	scaled := float64(n+1) * odds
	mass := fp.Exp(float64(n) * logComplement(p))
	for k := 0; k < n; {
		if u < mass {
			return k
		}
		u -= mass
		k++
		mass *= float64(scaled*reciprocal(k)) - odds
	}
	return n
}

// reciprocals holds 1/k for small k, because a division takes as long as the rest of
// a step of quantile.
var reciprocals = func() (r [64]float64) {
	for k := range r {
		r[k] = 1 / float64(max(k, 1))
	}
	return r
}()

func reciprocal(k int) float64 {
	if k < len(reciprocals) {
		return reciprocals[k]
	}
	return 1 / float64(k)
}

// logComplement returns ln(1 − p) for p in [0, ½] with a relative error of a few ulps. With c the
// rounded 1 − p it is ln c · p/(1 − c). As 1 − c is exact, that corrects the rounding of c to first
// order.
func logComplement(p float64) float64 {
	c := 1 - p
	if c == 1 {
		return -p
	}
	return fp.Log(c) * (p / (1 - c))
}

// transform is the hat of transformed rejection with squeeze, for np ≥ 10 and p ≤ ½. It is
// algorithm BTRS of W. Hörmann, The generation of binomial random variates, Journal of Statistical
// Computation and Simulation 46 (1993) 101–110. With u uniform in (−½, ½) and d = ½ − |u| it
// proposes
//
//	k = ⌊(2a/d + b)u + c⌋.
//
// It is accepted with probability P(k)/P(mode) · (a/d² + b)/α. That is at least v_r = 0.92 − 4.2/b
// if d ≥ 0.07, and at most 1 everywhere. The constants are the paper's fits. TestHatAndSqueeze
// checks both bounds over the laws.
type transform struct{ a, b, c, alpha float64 }

// squeezeFrom is the least d for which v_r is a lower bound of the acceptance.
const squeezeFrom = 0.07

// set sets the constants in place. Assigning a returned struct would be slower: the
// copy would be read before its stores have completed.
func (t *transform) set(n int, p float64) {
	mean := float64(float64(n) * p)
	sd := math.Sqrt(mean * (1 - p))
	t.b = 1.15 + float64(2.53*sd)
	t.a = -0.0873 + float64(0.0248*t.b) + float64(0.01*p)
	t.c = mean + 0.5
	t.alpha = (2.83 + 5.1/t.b) * sd
}

// at returns (2a/d + b)u + c.
func (t *transform) at(u, d float64) float64 {
	return float64((2*t.a/d+t.b)*u) + t.c
}

// squeeze returns v_r.
func (t *transform) squeeze() float64 { return 0.92 - 4.2/t.b }

// threshold returns α/(a/d² + b).
func (t *transform) threshold(d float64) float64 {
	square := float64(d * d)
	return t.alpha * square / (t.a + float64(t.b*square))
}

// reject returns a draw by transformed rejection.
func (l *BinomialLaw) reject(w *Words) int {
	for {
		u, v := Unit(w.Next())-0.5, Unit(w.Next())
		d := 0.5 - math.Abs(u)
		k := math.Floor(l.hat.at(u, d))
		if d >= squeezeFrom && v <= l.squeeze || l.accepts(k, v, d) {
			return int(k)
		}
	}
}

// accepts reports whether the uniform number v accepts the k proposed at d: whether
// v·α/(a/d² + b) ≤ P(k)/P(mode). It is a function of its own because, inlined in
// reject, it slows down the proposals that the squeeze accepts.
func (l *BinomialLaw) accepts(k, v, d float64) bool {
	return l.hat.accepts(l.n, l.p, k, float64(v*l.hat.threshold(d)))
}

// accepts reports whether k is a number of successes and height ≤ P(k)/P(mode). Bounds of the ratio
// tell where they decide, else the ratio itself.
func (t *transform) accepts(n int, p, k, height float64) bool {
	if k < 0 || k > float64(n) {
		return false
	}
	mode := math.Floor(float64(n+1) * p)
	low, high := ratioBounds(float64(n), p, k, mode)
	if height <= low || height > high {
		return height <= low
	}
	return fp.Log(height) <= logRatio(n, p, k, mode)
}

// ratioBounds returns bounds of P(k)/P(mode) for np ≥ 10 and p ≤ ½. Let x = k − mode, M = mode + ½,
// L = n − mode + ½, u = x/M and v = −x/L. Stirling's series of ln k! in k + ½ gives the logarithm.
//
//	x ln(pL/qM) − M h(u) − L h(v) − (u/(k+½) + v/(n−k+½))/24 + R,
//	h(u) = (1+u)ln(1+u) − u = Σ_{j≥2} (−u)^j/(j(j−1)),  |R| ≤ 0.04/M³.
//
// This holds if |u| and |v| are at most ½. The bounds allow for R, for the sum of h ending at j =
// 12, and 10⁻¹² + 10⁻¹⁵|x| for rounding. Else they are those of ratioProduct, which allow 10⁻⁹ for
// rounding. They are 0 and +Inf if |x| > maxProduct.
func ratioBounds(n, p, k, mode float64) (low, high float64) {
	x, m, l := k-mode, mode+0.5, n-mode+0.5
	u, v := x/m, -x/l
	if !(math.Abs(u) <= 0.5 && math.Abs(v) <= 0.5) {
		if math.Abs(x) > maxProduct {
			return 0, math.Inf(1)
		}
		ratio := ratioProduct(n, p, k, mode)
		return ratio * (1 - 1e-9), ratio * (1 + 1e-9)
	}
	pl, qm := float64(p*l), float64((1-p)*m)
	z := (pl - qm) / (pl + qm)
	square := float64(z * z)
	slope := float64(2 * z * (1 + float64(square*(1./3+float64(square*(1./5)))))) // ln(pL/qM)
	atU, beyondU := entropySeries(u)
	atV, beyondV := entropySeries(v)
	after, rest := k+0.5, n-k+0.5
	ratio := fp.Exp(float64(x*slope) - float64(m*atU) - float64(l*atV) -
		float64((float64(u*rest)+float64(v*after))/float64(float64(24*after)*rest)))
	tolerance := 1e-12 + float64(1e-15*math.Abs(x)) + 0.04/float64(float64(m*m)*m) + float64(m*beyondU) + float64(l*beyondV)
	return ratio * (1 - tolerance), ratio * (1 + float64(2*tolerance))
}

// maxProduct is the largest number of factors of ratioProduct. They are below 2⁸ then,
// because more than half of the mode, or of n − mode, is below it.
const maxProduct = 64

// ratioProduct returns P(k)/P(mode) as the product of the factors
//
//	P(j)/P(j−1) = (n−j+1)/j · p/(1−p)
//
// from mode to k.
func ratioProduct(n, p, k, mode float64) float64 {
	odds, above, below := p/(1-p), 1.0, 1.0
	for j := mode + 1; j <= k; j++ {
		above *= float64((n - j + 1) * odds)
		below *= j
	}
	for j := mode; j > k; j-- {
		above *= j
		below *= float64((n - j + 1) * odds)
	}
	return above / below
}

// entropySeries returns the sum of h(u) up to j = 12, and a bound of the rest for |u| ≤ ½.
func entropySeries(u float64) (sum, rest float64) {
	s := float64(u * u)
	even := 1./2 + float64(s*(1./12+float64(s*(1./30+float64(s*(1./56+float64(s*(1./90+float64(s*(1./132))))))))))
	odd := 1./6 + float64(s*(1./20+float64(s*(1./42+float64(s*(1./72+float64(s*(1./110))))))))
	sixth := float64(float64(s*s) * s)
	return float64(s * (even - float64(u*odd))), float64(float64(sixth*sixth) * (1. / 156))
}

// logRatio returns ln P(k)/P(mode).
func logRatio(n int, p, k, mode float64) float64 {
	return logMass(float64(n), p, k) - logMass(float64(n), p, mode)
}

// logMass returns ln C(n, k) pᵏ (1−p)^(n−k) up to a constant that does not depend on
// k, in the form of C. Loader, Fast and accurate computation of binomial
// probabilities (2000), in which no large numbers cancel:
//
//	−S(k) − S(n−k) − D(k, np) − D(n−k, n(1−p)).
func logMass(n, p, k float64) float64 {
	return -stirling(k) - stirling(n-k) - deviance(k, float64(n*p)) - deviance(n-k, float64(n*(1-p)))
}

// stirling returns S(k) = ln k! − k ln k + k, for integers k ≥ 0. From 16 on the next term is below
// 2e-14 of
//
//	½ ln 2πk + 1/(12k) − 1/(360k³) + 1/(1260k⁵) − 1/(1680k⁷).
func stirling(k float64) float64 {
	if k < float64(len(stirlingTable)) {
		return stirlingTable[int(k)]
	}
	r := 1 / k
	s := float64(r * r)
	return float64(0.5*fp.Log(2*math.Pi*k)) +
		float64(r*(1./12-float64(s*(1./360-float64(s*(1./1260-float64(s*(1./1680))))))))
}

// deviance returns D(x, m) = x ln(x/m) + m − x for x ≥ 0 and m > 0, D(0, m) = m. Near
// x = m, where these terms cancel, it is with v = (x−m)/(x+m)
//
//	D = (x−m)v + 2xv(v²/3 + v⁴/5 + v⁶/7 + …).
func deviance(x, m float64) float64 {
	if x == 0 {
		return m
	}
	difference := x - m
	v := difference / (x + m)
	if math.Abs(v) > 0.1 {
		return float64(x*fp.Log(x/m)) - difference
	}
	sum := float64(difference * v)
	square := float64(v * v)
	term := 2 * x * v
	for j := 3.; ; j += 2 {
		term *= square
		next := sum + term/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// stirlingTable[k] is S(k) = ln k! − k ln k + k, with 0 ln 0 = 0 (computed with 40 digits).
var stirlingTable = [...]float64{
	0, 1, 1.3068528194400546906, 1.4959226032237259266,
	1.6328763858683831443, 1.7403021806115441212, 1.8286943966417709902, 1.9037903176782211644,
	1.9690705693065628024, 2.0268062840554951661, 2.078561643135058455, 2.1254598450918098546,
	2.1683346982058824268, 2.2078222061234453169, 2.2444185681250608968, 2.2785183673077405761,
}
