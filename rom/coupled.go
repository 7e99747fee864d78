package rom

import (
	"math"
	"math/cmplx"
	"slices"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// decouple returns the modes of l as independent scalar recursions where Λ_f and Λ_s
// are diagonal in the same real basis (one of them is 0, or they commute); ok is
// false where they are not.
//
// mixing is the largest off-diagonal entry, relative to the matrices, that counts
// as rounding or noise.
func (l *linear) decouple(mixing float64) (parts []scalar, ok bool) {
	n := l.dim()
	total := mat.NewDense(n, n, nil)
	total.Add(l.fresh, l.stale)
	_, right, left := eigenvectors(total)
	small := mixing * (norm(l.fresh.RawMatrix().Data) + norm(l.stale.RawMatrix().Data))
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

// scalar returns the recursion of one mode under l's optimizer and lag.
func (l *linear) scalar(fresh, stale float64) scalar {
	return scalar{fresh: fresh, stale: stale, method: l.method, rate: l.rate, momentum: l.momentum, lag: l.lag, ageDraws: l.ageDraws}
}

// bounds returns the ends of a scan of learning rates: half the rate below which the
// sufficient rule with the norms of Λ_f and Λ_s guarantees stability (over 1+2μ
// with Nesterov), and 10(1+μ) over the larger norm.
func (l *linear) bounds() (low, high float64) {
	fresh, stale := mat.Norm(l.fresh, 2), mat.Norm(l.stale, 2)
	worst := l.scalar(fresh, stale)
	low = 0.5 * worst.sufficientRate()
	if l.method == option.Nesterov {
		low /= 1 + 2*l.momentum
	}
	return low, 10 * (1 + l.momentum) / max(fresh, stale)
}

// at returns l with another learning rate and age.
func (l *linear) at(rate float64, age int) *linear {
	moved := *l
	moved.rate, moved.lag.Interval = rate, age
	return &moved
}

// scanPoints returns the number of learning rates in a scan of monodromy matrices.
func (l *linear) scanPoints() int { return 200 + 16*min(l.lag.Interval, 100) }

// criticalRate returns the smallest learning rate at which the coupled recursion
// is not stable, for a block within bounds.
func (l *linear) criticalRate() threshold {
	if l.lag.Kind != option.Block {
		return l.delayCrossing()
	}
	low, high := l.bounds()
	return firstCrossing(func(rate float64) float64 {
		return radius(l.at(rate, l.lag.Interval).monodromy())
	}, low, high, l.scanPoints())
}

// crossing is a learning rate at which multipliers of a delay cross the unit circle, and
// by how much the number of those outside changes as the rate grows.
type crossing struct {
	rate   float64
	change int // ±1 at z = −1, ±2 for a conjugate pair
}

// delayCrossing is scalar.delayCrossing for a coupled recursion, even if stability returns
// above the threshold. It is 0 where an eigenvalue of Λ does not restore, and unknown where
// a spectrum is not known or there is no crossing.
func (l *linear) delayCrossing() threshold {
	crossings := l.crossings()
	if crossings == nil {
		return threshold{}
	}
	return first(crossings[0].rate)
}

// crossings returns all crossings in order: e^{iw} is a multiplier at the rate η where
// R(w) = C(w)/ν = η for an eigenvalue ν of Λ_f + Λ_s e^{−iτw}, or of Λ_f + Λ_s P(e^{−iw})
// with random ages. Every ν is followed through
// w from 0 to π, where a conjugate pair counts once. Between two values of R on either
// side of the real line there is a real one. There dz/dη = iz/(dR/dw), so that the
// multiplier leaves the unit circle where Im R rises and enters it where Im R falls. An
// eigenvalue of Λ that does not restore has the crossing 0. crossings returns nil where a
// spectrum is not known or nothing crosses.
func (l *linear) crossings() []crossing {
	n := l.dim()
	mode := l.scalar(0, 0)
	m := newComplexMatrix(n)
	spectrum := func(w float64) []complex128 {
		l.delayed(m, w)
		return m.eigenvalues()
	}
	last := spectrum(0)
	if last == nil {
		return nil
	}
	for _, v := range last {
		if real(v) <= 0 {
			return []crossing{{0, 1}}
		}
	}
	var found []crossing
	unknown := false
	steps := 64 + 32*staleness(l.lag).resolution()
	step := math.Pi / float64(steps)
	for i := range steps {
		from, to := max(float64(i), 1e-6)*step, float64(i+1)*step // C(0) = 0 for every ν
		now := nearest(last, spectrum(to))
		if now == nil {
			return nil
		}
		for j := range now {
			a, b := mode.drive(from)/last[j], mode.drive(to)/now[j]
			change := 2
			if imag(a) >= 0 {
				change = -2
			}
			if i == steps-1 && math.Abs(imag(b)) <= 1e-9*math.Abs(real(b)) { // ν is real at w = π
				if real(b) > 0 {
					found = append(found, crossing{real(b), change / 2})
				}
				continue
			}
			if (imag(a) < 0) == (imag(b) < 0) || max(real(a), real(b)) <= 0 {
				continue
			}
			at := func(w float64) complex128 {
				share := complex((w-from)/(to-from), 0)
				values := nearest([]complex128{(1-share)*last[j] + share*now[j]}, spectrum(w))
				if values == nil {
					unknown = true
					return cmplx.NaN()
				}
				return mode.drive(w) / values[0]
			}
			w := root(func(w float64) float64 {
				rate := at(w)
				if math.Abs(imag(rate)) <= 1e-14*math.Abs(real(rate)) { // rounding
					return 0
				}
				return imag(rate)
			}, from, to, imag(a))
			// Where two ν were confused the imaginary part jumps over 0.
			if rate := at(w); real(rate) > 0 && math.Abs(imag(rate)) <= 1e-6*real(rate) {
				found = append(found, crossing{real(rate), change})
			}
		}
		last = now
	}
	if unknown {
		return nil
	}
	slices.SortFunc(found, func(a, b crossing) int { return compare(a.rate, b.rate) })
	return found
}

// delayed writes Λ_f + Λ_s P(e^{−iw}), the stiffness at the multiplier e^{iw}, into m; with a
// delay P(e^{−iw}) = e^{−iτw}.
func (l *linear) delayed(m complexMatrix, w float64) {
	turn := staleness(l.lag).onCircle(w)
	for i, row := range m {
		for j := range row {
			row[j] = complex(l.fresh.At(i, j), 0) + turn*complex(l.stale.At(i, j), 0)
		}
	}
}

// nearest returns, for each entry of to in turn, the nearest of the values not yet
// used; nil where there are fewer values than entries.
func nearest(to, values []complex128) []complex128 {
	if len(values) < len(to) {
		return nil
	}
	left := slices.Clone(values)
	ordered := make([]complex128, len(to))
	for j, v := range to {
		closest := 0
		for k, x := range left {
			if cmplx.Abs(x-v) < cmplx.Abs(left[closest]-v) {
				closest = k
			}
		}
		ordered[j] = left[closest]
		left = slices.Delete(left, closest, closest+1)
	}
	return ordered
}

// onsetRate returns the smallest learning rate at which a mode oscillates. In a
// block a slow eigenvalue of M, or of the one-step map inside a block, is complex or
// negative there. With a delay η_1(z), the smallest rate for which z in (μ, 1) is a
// multiplier, has its first maximum there, going down from z = 1: two real
// multipliers meet. Where none do the onset is unknown.
func (l *linear) onsetRate() threshold {
	low, high := l.bounds()
	if l.lag.Kind == option.Block {
		return firstCrossing(func(rate float64) float64 {
			moved := l.at(rate, l.lag.Interval)
			a, _ := moved.step()
			inside := mat.DenseCopyOf(a.Slice(0, 2*l.dim(), 0, 2*l.dim()))
			whole, inner := multipliers(moved.monodromy()), multipliers(inside)
			switch {
			case whole == nil || inner == nil:
				return math.NaN()
			case oscillates(whole, l.dim()) || oscillates(inner, l.dim()):
				return 2
			}
			return 0
		}, 1e-3*low, high, l.scanPoints())
	}
	n := l.dim()
	rate := func(z float64) float64 {
		gain := 1.0
		if l.method == option.Nesterov {
			gain = 1 + l.momentum - l.momentum/z
		}
		force := mat.NewDense(n, n, nil)
		force.Scale(staleness(l.lag).onLine(z), l.stale)
		force.Add(force, l.fresh)
		values := multipliers(force)
		if values == nil {
			return math.NaN()
		}
		stiffest := math.Inf(-1)
		for _, v := range values {
			stiffest = max(stiffest, real(v))
		}
		if stiffest <= 0 {
			return math.Inf(1)
		}
		return (1 - z) * (z - l.momentum) / (z * gain * stiffest)
	}
	return firstMaximum(rate, l.momentum)
}

// oscillates reports whether one of the slow multipliers, the n largest of n modes,
// is complex or negative. The others come from momentum, and a negative one of them
// does not make its mode oscillate. Moduli below 1e-6 and relative imaginary parts
// below 1e-6 are rounding of a zero or a double eigenvalue.
func oscillates(values []complex128, n int) bool {
	for _, z := range values[:min(n, len(values))] {
		if size := cmplx.Abs(z); size > 1e-6 && (math.Abs(imag(z)) > 1e-6*size || real(z) < 0) {
			return true
		}
	}
	return false
}

// maxCoupledDelay is the largest critical delay of a coupled recursion that is
// searched for, as long as its companion matrix is at most half of maxCompanion:
// that many spectra take 0.2 s. maxCoupledBlock is the largest critical block.
const (
	maxCoupledDelay = 50
	maxCoupledBlock = 512
)

// criticalInterval is scalar.criticalInterval for a coupled recursion, searched up to
// maxCoupledBlock or maxCoupledDelay, or to the last spectrum that is known.
func (l *linear) criticalInterval() threshold {
	n := l.dim()
	none := threshold{}
	if l.lag.Kind == option.Random {
		return none // there is no interval
	}
	if l.lag.Kind == option.Delay {
		for tau := 0; tau <= maxCoupledDelay && n*(tau+2) <= maxCompanion/2; tau++ {
			if moved := l.at(l.rate, tau); !moved.delayStable() {
				switch r := radius(moved.monodromy()); {
				case math.IsNaN(r):
					return none
				case r >= 1:
					return first(float64(tau))
				}
			}
			none = upTo(float64(tau))
		}
		return none
	}
	a, _ := l.step()
	power := mat.DenseCopyOf(a)
	for k, quiet := 1, 0; k <= maxCoupledBlock; k++ {
		switch r := radius(l.refresh(power)); {
		case math.IsNaN(r):
			return none
		case r >= 1:
			return first(float64(k))
		}
		none = upTo(float64(k))
		var next, change mat.Dense
		next.Mul(power, a)
		change.Sub(&next, power)
		if norm(change.RawMatrix().Data) < 1e-14 {
			quiet++ // the motion inside the block has died out, so M no longer changes
		} else {
			quiet = 0
		}
		if quiet == 3 {
			return never
		}
		power = &next
	}
	return none
}

// delayStable reports whether all multipliers of a delay lie inside the unit circle, by the
// argument principle. They are the zeros of z^{nτ} det D(z),
//
//	D(z) = z² − (1+μ)z + μ + ηN(z)(Λ_f + Λ_s z^{−τ}),  N = z, or (1+μ)z − μ with Nesterov,
//
// which has n(τ+2) zeros: all lie inside if det D turns by 2nπ as z = e^{iw} goes from 1
// to −1, and each outside takes π from that at least. Steps in w, which are small against the
// turns of z^{−τ} in n modes, are halved until det D turns by less than a right angle. Where
// multipliers are all but on the circle, or two next to it together, or det D overflows, the
// answer may be a wrong false, but not a wrong true.
func (l *linear) delayStable() bool {
	n := l.dim()
	m := newComplexMatrix(n)
	mu, advance := complex(l.momentum, 0), 0i
	if l.method == option.Nesterov {
		advance = mu
	}
	direction := func(w float64) complex128 {
		z := cmplx.Rect(1, w)
		gain := complex(l.rate, 0) * (z + advance*(z-1))
		l.delayed(m, w)
		for i, row := range m {
			for j := range row {
				row[j] *= gain
			}
			row[i] += (z - 1) * (z - mu)
		}
		return m.direction()
	}
	var turn func(from, to float64, before, after complex128) float64
	turn = func(from, to float64, before, after complex128) float64 {
		angle := cmplx.Phase(after * cmplx.Conj(before))
		if math.Abs(angle) < math.Pi/2 || math.IsNaN(angle) {
			return angle
		}
		if !(to-from > 1e-9) {
			return math.NaN()
		}
		middle := (from + to) / 2
		between := direction(middle)
		angle = turn(from, middle, before, between)
		if !math.IsNaN(angle) {
			angle += turn(middle, to, between, after)
		}
		return angle
	}
	steps := 16 + 4*n*(l.lag.Interval+2)
	step, last, sum := math.Pi/float64(steps), direction(0), 0.0
	for i := 0; i < steps && !math.IsNaN(sum); i++ {
		now := direction(float64(i+1) * step)
		sum += turn(float64(i)*step, float64(i+1)*step, last, now)
		last = now
	}
	return math.Abs(sum-2*float64(n)*math.Pi) < 1
}
