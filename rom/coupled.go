package rom

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// decouple returns the modes of l as motions of their own, where Λ_f and Λ_s
// are diagonal in the same real basis (one of them 0, or commuting); ok is
// false where they are not.
func (l *linear) decouple() (parts []scalar, ok bool) {
	n := l.dim()
	total := mat.NewDense(n, n, nil)
	total.Add(l.fresh, l.stale)
	_, right, left := eigenvectors(total)
	small := 1e-9 * (norm(l.fresh.RawMatrix().Data) + norm(l.stale.RawMatrix().Data))
	for k := range n {
		scale := mat.Dot(left.ColView(k), right.ColView(k))
		for i := range n {
			left.Set(i, k, left.At(i, k)/scale)
		}
	}
	diagonal := func(m *mat.Dense) *mat.Dense {
		var half, out mat.Dense
		half.Mul(left.T(), m)
		out.Mul(&half, right)
		for i := range n {
			for j := range n {
				if i != j && !(math.Abs(out.At(i, j)) <= small) {
					return nil
				}
			}
		}
		return &out
	}
	fresh, stale := diagonal(l.fresh), diagonal(l.stale)
	if fresh == nil || stale == nil {
		return nil, false
	}
	for k := range n {
		parts = append(parts, l.scalar(fresh.At(k, k), stale.At(k, k)))
	}
	return parts, true
}

// scalar returns a motion of one mode under l's optimizer and lag.
func (l *linear) scalar(fresh, stale float64) scalar {
	return scalar{fresh: fresh, stale: stale, method: l.method, rate: l.rate, momentum: l.momentum, lag: l.lag}
}

// bounds returns a learning rate below which nothing happens, by the
// sufficient rule with the norms of Λ_f and Λ_s, and one beyond which the scan
// gives up.
func (l *linear) bounds() (low, high float64) {
	fresh, stale := mat.Norm(l.fresh, 2), mat.Norm(l.stale, 2)
	worst := l.scalar(fresh, stale)
	low = 0.5 * worst.sufficientRate()
	if l.method == Nesterov {
		low /= 1 + 2*l.momentum
	}
	return low, 10 * (1 + l.momentum) / max(fresh, stale)
}

// at returns l at another learning rate or age.
func (l *linear) at(rate float64, age int) *linear {
	moved := *l
	moved.rate, moved.lag.Age = rate, age
	return &moved
}

// scanPoints is the number of learning rates a scan of matrices looks at.
func (l *linear) scanPoints() int {
	if l.lag.Kind == Delay {
		return 64
	}
	return 200 + 16*min(l.lag.Age, 100)
}

// criticalRate returns the smallest learning rate at which the coupled motion
// is not stable, +Inf where none is found.
func (l *linear) criticalRate() float64 {
	low, high := l.bounds()
	return firstCrossing(func(rate float64) float64 {
		return radius(l.at(rate, l.lag.Age).period())
	}, low, high, l.scanPoints())
}

// onsetRate returns the smallest learning rate at which the first mode rings.
// Block: an eigenvalue of M or of the one-step map inside a block is complex or
// negative. Delay: η_1(z), the smallest rate for which z in (μ, 1) is a
// multiplier, has its first maximum going down from z = 1, where two real
// multipliers meet.
func (l *linear) onsetRate() float64 {
	low, high := l.bounds()
	if l.lag.Kind == Block {
		return firstCrossing(func(rate float64) float64 {
			moved := l.at(rate, l.lag.Age)
			a, _ := moved.step()
			inside := mat.DenseCopyOf(a.Slice(0, 2*l.dim(), 0, 2*l.dim()))
			if rings(multipliers(moved.period())) || rings(multipliers(inside)) {
				return 2
			}
			return 0
		}, 1e-3*low, high, l.scanPoints())
	}
	n := l.dim()
	rate := func(z float64) float64 {
		gain := 1.0
		if l.method == Nesterov {
			gain = 1 + l.momentum - l.momentum/z
		}
		force := mat.NewDense(n, n, nil)
		force.Scale(math.Pow(z, -float64(l.lag.Age)), l.stale)
		force.Add(force, l.fresh)
		stiffest := math.Inf(-1)
		for _, v := range multipliers(force) {
			stiffest = max(stiffest, real(v))
		}
		if stiffest <= 0 {
			return math.Inf(1)
		}
		return (1 - z) * (z - l.momentum) / (z * gain * stiffest)
	}
	return firstMaximum(rate, l.momentum)
}

// rings reports whether a multiplier is complex or negative; the thresholds
// keep apart what rounding does to a double or a zero eigenvalue.
func rings(values []complex128) bool {
	for _, z := range values {
		if size := cmplx.Abs(z); size > 1e-6 && (math.Abs(imag(z)) > 1e-6*size || real(z) < 0) {
			return true
		}
	}
	return false
}

// criticalInterval is scalar.criticalInterval for a coupled motion, up to 512
// steps of a block and as far as the companion of a delay stays below a third
// of maxCompanion.
func (l *linear) criticalInterval() (int, bool) {
	n := l.dim()
	if l.lag.Kind == Delay {
		for tau := 0; n*(tau+2) <= maxCompanion/3; tau++ {
			if radius(l.at(l.rate, tau).period()) >= 1 {
				return tau, true
			}
		}
		return 0, false
	}
	a, _ := l.step()
	power := mat.DenseCopyOf(a)
	for k, quiet := 1, 0; k <= 512 && quiet < 3; k++ {
		m := l.refresh(power)
		if radius(m) >= 1 {
			return k, true
		}
		var next, change mat.Dense
		next.Mul(power, a)
		change.Sub(&next, power)
		if norm(change.RawMatrix().Data) < 1e-14 {
			quiet++ // the inner motion has died out: M no longer changes
		} else {
			quiet = 0
		}
		power = &next
	}
	return 0, false
}
