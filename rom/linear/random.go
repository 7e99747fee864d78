package linear

import (
	"fmt"
	"math"
	"math/cmplx"

	"grposim/option"
	"grposim/rom/scope"
)

// random is a snapshot of a random age, drawn anew in each step. In the mean x_old is Σ p_j
// x_{t−j}, and the ages add noise to the force (Law.ageNoise). With a largest age S the state has
// x_{t−1}, …, x_{t−S}. With a geometric law it has y_{t−1}, y_t = (1−r)x_t + ry_{t−1}.
type random struct {
	everyStep
	*option.Ages
	p []float64 // p_0, …, p_S; nil of a geometric law
}

func newRandom(a *option.Ages) random {
	l := random{Ages: a}
	if a.Law == option.GeometricAges {
		return l
	}
	p, sum := make([]float64, l.oldest()+1), 0.0
	for age := range p {
		p[age] = l.weight(age)
		sum += p[age]
	}
	for age := range p {
		p[age] /= sum
	}
	l.p = p
	return l
}

// geometric reports whether the law has no largest age.
func (l random) geometric() bool { return l.Law == option.GeometricAges }

// ratio returns r of a geometric law.
func (l random) ratio() float64 { return l.Mean / (1 + l.Mean) }

// oldest returns the largest age with a positive probability, if there is one.
func (l random) oldest() int {
	if l.Law == option.UniformAges {
		return l.To
	}
	oldest := 0
	for age, w := range l.Weights {
		if w > 0 {
			oldest = age
		}
	}
	return oldest
}

// weight returns p_j but for a common factor, unless the law is geometric.
func (l random) weight(age int) float64 {
	switch {
	case l.Law == option.TableAges:
		return l.Weights[age]
	case age < l.From || age > l.To:
		return 0
	}
	return 1
}

func (l random) OnPolicy() bool { return !l.geometric() && l.oldest() == 0 }

// negligibleAge is the probability of the ages beyond those of a geometric law that Stored
// keeps, which count as the oldest one kept.
const negligibleAge = 1e-16

func (l random) Stored() (oldest int, p []float64) {
	if p = l.p; l.geometric() {
		r := l.ratio()
		for tail := 1.0; tail > negligibleAge; tail *= r {
			p = append(p, (1-r)*tail)
		}
	}
	return len(p) - 1, p
}

func (l random) Span() int {
	if l.geometric() {
		return int(37 * (1 + l.Mean))
	}
	return l.oldest()
}

func (l random) Age(of Age) float64 {
	if of == LargestAge {
		if l.geometric() {
			return math.Inf(1)
		}
		return float64(l.oldest())
	}
	mean, square := 0.0, 0.0
	switch l.Law {
	case option.GeometricAges:
		mean, square = l.Mean, l.Mean+2*l.Mean*l.Mean
	case option.UniformAges:
		mean, square = uniformMoments(float64(l.From), float64(l.To))
	default:
		for age, p := range l.p {
			mean += p * float64(age)
			square += p * float64(age*age)
		}
	}
	if of == SquareAge {
		return square
	}
	return mean
}

func (l random) positions() int {
	if l.geometric() {
		return 1
	}
	return l.oldest()
}

func (l random) weights() []float64 {
	weights := make([]float64, 2+l.positions())
	if l.geometric() {
		weights[2] = l.ratio()
		weights[0] = 1 - weights[2]
		return weights
	}
	weights[0] = l.p[0]
	copy(weights[2:], l.p[1:])
	return weights
}

func (l random) place() (int, bool) { return 0, false }

func (l random) next(k int) (keep, gain float64, from int) {
	if l.geometric() {
		return l.ratio(), 1 - l.ratio(), 0
	}
	return l.everyStep.next(k)
}

func (l random) limit(n int, _ bool) scope.Reason { return tooManyPositions(l, n) }

// tooManyPositions is limit for a lag whose state has too many past positions.
func tooManyPositions(l Lag, n int) scope.Reason {
	if l.positions() > maxCompanion/n-2 {
		return scope.TooLarge.Because(fmt.Sprintf("more than %d past policies of so many arms", maxCompanion/n-2))
	}
	return scope.Reason{}
}

// transform returns P(1/z) = Σ p_j z^{−j}, given 1/z.
func (l random) transform(inverse complex128) complex128 {
	if l.geometric() {
		r := complex(l.ratio(), 0)
		return (1 - r) / (1 - r*inverse)
	}
	value, sum := 0i, 0.0
	for age := l.oldest(); age >= 0; age-- {
		p := l.weight(age)
		value = value*inverse + complex(p, 0)
		sum += p
	}
	return value / complex(sum, 0)
}

func (l random) onCircle(w float64) complex128 { return l.transform(cmplx.Rect(1, -w)) }
func (l random) onLine(z float64) float64      { return real(l.transform(complex(1/z, 0))) }

// resolution is of filtered: the largest age, and of a geometric law, whose P varies over angles
// of 1/mean, a few means.
func (l random) resolution() int {
	if l.geometric() {
		return 4 + int(min(4*l.Mean, 1e6))
	}
	return l.oldest()
}

// meanSquareRate returns the smallest learning rate at which g of addAgeNoise reaches 1. There the
// covariance is infinite, below the threshold of the mean.
func (m *Mode) meanSquareRate() Threshold {
	critical := m.threshold(CriticalRate)
	if !critical.Known || critical.At == 0 {
		return critical
	}
	const points, beyond = 24, 4
	return firstCrossing(func(rate float64) float64 {
		moved := *m
		moved.Rate, moved.AgeDraws = rate, 0
		l := moved.System()
		l.Noise = single(1)
		law, ok := l.Law()
		if !ok {
			return beyond
		}
		law.AgeDraws = m.AgeDraws
		return min(law.ageShare(), beyond)
	}, 1e-3*critical.At, critical.At*(1-1e-9), points)
}
