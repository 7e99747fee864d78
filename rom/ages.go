package rom

import (
	"math"
	"math/cmplx"

	"grposim/option"
)

// staleness is a lag whose ages the theory computes.
type staleness option.Lag

// ageLaw is a law of random ages whose numbers the theory computes.
type ageLaw option.Ages

// ageDraws returns the number B_a of independent ages whose forces one step averages under a random lag; 0 at
// G = ∞, where the force is the mean over the law: infinitely many.
func (p *Params) ageDraws(l *option.Lag) int {
	switch {
	case p.GroupSize == option.Infinite:
		return 0
	case l.Ages.Drawn == option.AgePerStep:
		return 1
	}
	return p.GroupsPerStep
}

// ratio returns r of a geometric law.
func (a *ageLaw) ratio() float64 { return a.Mean / (1 + a.Mean) }

// oldest returns the largest age of a law with a positive probability; +Inf if there is none.
func (a *ageLaw) oldest() float64 {
	switch a.Law {
	case option.GeometricAges:
		return math.Inf(1)
	case option.UniformAges:
		return float64(a.To)
	}
	oldest := 0
	for age, w := range a.Weights {
		if w > 0 {
			oldest = age
		}
	}
	return float64(oldest)
}

// weight returns p_j but for a common factor.
func (a *ageLaw) weight(age int) float64 {
	switch {
	case a.Law == option.TableAges:
		return a.Weights[age]
	case age < a.From || age > a.To:
		return 0
	}
	return 1
}

// probabilities returns p_0, …, p_S of a law other than GeometricAges.
func (a *ageLaw) probabilities() []float64 {
	p, sum := make([]float64, int(a.oldest())+1), 0.0
	for age := range p {
		p[age] = a.weight(age)
		sum += p[age]
	}
	for age := range p {
		p[age] /= sum
	}
	return p
}

// moments returns the mean and the mean square of a law of ages.
func (a *ageLaw) moments() (mean, square float64) {
	switch a.Law {
	case option.GeometricAges:
		return a.Mean, a.Mean + 2*a.Mean*a.Mean
	case option.UniformAges:
		return uniformMoments(float64(a.From), float64(a.To))
	}
	for age, p := range a.probabilities() {
		mean += p * float64(age)
		square += p * float64(age*age)
	}
	return mean, square
}

// uniformMoments returns the mean and the mean square of a uniform law on from, …, to.
func uniformMoments(from, to float64) (mean, square float64) {
	mean, n := (from+to)/2, to-from+1
	return mean, mean*mean + (n*n-1)/12
}

// transform returns P(1/z) = Σ p_j z^{−j}, by which random ages multiply the stale part of
// the force at a multiplier z, given 1/z.
func (a *ageLaw) transform(inverse complex128) complex128 {
	if a.Law == option.GeometricAges {
		r := complex(a.ratio(), 0)
		return (1 - r) / (1 - r*inverse)
	}
	value, sum := 0i, 0.0
	for age := int(a.oldest()); age >= 0; age-- {
		p := a.weight(age)
		value = value*inverse + complex(p, 0)
		sum += p
	}
	return value / complex(sum, 0)
}

// onCircle returns the factor of the stale part of the force at the multiplier e^{iw} of a
// delay or of random ages.
func (l staleness) onCircle(w float64) complex128 {
	if l.Kind == option.Delay {
		return cmplx.Rect(1, -float64(l.Interval)*w)
	}
	return (*ageLaw)(&l.Ages).transform(cmplx.Rect(1, -w))
}

// onLine is onCircle at the real multiplier z > 0.
func (l staleness) onLine(z float64) float64 {
	if l.Kind == option.Delay {
		return math.Pow(z, -float64(l.Interval))
	}
	return real((*ageLaw)(&l.Ages).transform(complex(1/z, 0)))
}

// resolution returns the number of steps of delay on which transform turns as a function of
// the angle of z: the largest age, and of a geometric law, whose transform varies over angles
// of 1/mean, a few means.
func (l staleness) resolution() int {
	switch {
	case l.Kind == option.Delay:
		return l.Interval
	case l.Ages.Law == option.GeometricAges:
		return 4 + int(min(4*l.Ages.Mean, 1e6))
	}
	return int((*ageLaw)(&l.Ages).oldest())
}

// onPolicy reports whether the snapshot is always the present policy.
func (l staleness) onPolicy() bool {
	switch l.Kind {
	case option.Block:
		return l.Interval == 1 && l.Behind == 0
	case option.Delay:
		return l.Interval == 0
	}
	return (*ageLaw)(&l.Ages).oldest() == 0
}

// plainBlock reports whether the lag is a block whose snapshot is the last one.
func (l staleness) plainBlock() bool { return l.Kind == option.Block && l.Behind == 0 }

// span returns the number of steps after which the snapshots of a policy at rest are at rest,
// but for a share of 1e-16 of a geometric law.
func (l staleness) span() int {
	switch {
	case l.Kind == option.Block && l.Behind > 0:
		return (1 + l.Behind) * l.Interval
	case l.Kind != option.Random:
		return l.Interval
	case l.Ages.Law == option.GeometricAges:
		return int(37 * (1 + l.Ages.Mean))
	}
	return int((*ageLaw)(&l.Ages).oldest())
}
