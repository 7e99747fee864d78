package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// equalRewards returns the probability that all G rewards of a group drawn from
// probs are equal: Σ_v P(r = v)^G over the values v that rewards take with
// positive probability, J^G + (1−J)^G for Bernoulli arms. Values of a density do
// not contribute.
func (m *model) equalRewards(probs []float64) float64 {
	type atom struct{ value, probability float64 }
	var atoms []atom
	add := func(value, probability float64) {
		for i := range atoms {
			if atoms[i].value == value {
				atoms[i].probability += probability
				return
			}
		}
		atoms = append(atoms, atom{value, probability})
	}
	for a, arm := range m.Arms {
		switch {
		case arm.Law == Bernoulli:
			add(1, probs[a]*arm.Mean)
			add(0, probs[a]*(1-arm.Mean))
		case arm.Law == Normal && arm.Std > 0:
		default:
			add(arm.Mean, probs[a])
		}
	}
	sum := 0.0
	for _, x := range atoms {
		sum += math.Pow(x.probability, m.size)
	}
	return sum
}

// zeroVariance returns the mean of equalRewards over the stationary law of the
// snapshot. With two arms z is normal with the shifted mean and the linear
// variance. With more the mean is taken to second order in the deviation, by
// differences along the axes of its covariance. relative holds the variances of x_old in
// the relative motions.
func (l *linearization) zeroVariance(shift []float64, sigma *mat.Dense, relative []float64) float64 {
	m := l.model
	probs := make([]float64, len(l.logits))
	displaced := func(direction []float64, s float64) float64 {
		logits := make([]float64, len(probs))
		for c := range logits {
			logits[c] = l.logits[c] + s*direction[c]/math.Sqrt(l.count[c])
		}
		softmax(probs, logits)
		return m.equalRewards(probs)
	}
	if len(l.class) == 2 {
		// The trapezoidal rule converges faster than any power of its step on
		// the normal density; a probability of 2e-17 lies beyond 8.5σ.
		const points, width = 200, 8.5
		direction := reducedUnit(l.q, 0)
		std := math.Sqrt(max(sigma.At(0, 0), 0))
		sum, weight := 0.0, 0.0
		for i := range points + 1 {
			u := width * (2*float64(i)/points - 1)
			w := math.Exp(-0.5 * u * u)
			sum += w * displaced(direction, shift[0]+u*std)
			weight += w
		}
		return sum / weight
	}
	n := len(shift)
	h := m.differenceStep()
	second := func(f func(s float64) float64) float64 {
		return along(func(s float64) []float64 { return []float64{f(s)} }, h)[0]
	}
	var moved mat.VecDense
	moved.MulVec(l.q, mat.NewVecDense(n, shift))
	slope := (displaced(moved.RawVector().Data, 1e-3) - displaced(moved.RawVector().Data, -1e-3)) / 2e-3
	sum := displaced(moved.RawVector().Data, 0) + slope
	values, axes, _ := eigenvectors(sigma)
	for k, v := range values {
		var direction mat.VecDense
		direction.MulVec(l.q, axes.ColView(k))
		data := direction.RawVector().Data
		sum += 0.5 * v * second(func(s float64) float64 { return displaced(data, s) })
	}
	for i := range l.relatives {
		x := &l.relatives[i]
		split := make([]float64, len(x.logits))
		sum += 0.5 * float64(x.multiplicity) * relative[i] * second(func(s float64) float64 {
			logits := append([]float64{}, x.logits...)
			logits[x.a] += s / math.Sqrt2
			logits[x.b] -= s / math.Sqrt2
			softmax(split, logits)
			return x.split.equalRewards(split)
		})
	}
	return min(max(sum, 0), 1)
}

// reducedUnit returns column k of q.
func reducedUnit(q *mat.Dense, k int) []float64 { return mat.Col(nil, k, q) }
