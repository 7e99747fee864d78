package rest

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"grposim/option"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// linearization is the linearized force and its noise at a fixed point, C×C in the coordinates √n_c
// θ_c of the C classes of equal arms. The columns of q span the C−1 reduced coordinates Qᵀ√n_c θ_c,
// which are orthonormal combinations of the plain logits where all arms differ.
type linearization struct {
	fixed.Folded
	model        *force.Model
	logits       []float64  // of the merged bandit
	q            *mat.Dense // basis of the reduced coordinates, C×(C−1)
	fresh, stale *mat.Dense // Λ_f and Λ_s, C×C
	noise        *mat.Dense // covariance of the force, C×C
	relatives    []relative
	missed       *limited // by a largest norm that acts; nil: none does

	// Computed at the first call.
	curvature func() *curvature // of the mean force
}

// relative is the relative mode of one class of equal arms: n_c − 1 directions with
// equal stiffness and noise, of which (e_a − e_b)/√2 is one. To first order it is
// independent of the merged bandit's modes.
type relative struct {
	linear.Relative
	class int
	noise float64 // variance of the force along a direction of length 1

	// The merged bandit with arms a and b taken out of their class, and its logits.
	split  *force.Model
	logits []float64
	a, b   int
}

// displaced returns the logits at s along the direction of length 1.
func (x *relative) displaced(s float64) []float64 {
	logits := slices.Clone(x.logits)
	logits[x.a] += s / math.Sqrt2
	logits[x.b] -= s / math.Sqrt2
	return logits
}

// newLinearization evaluates stiffness and noise at the logits of the merged bandit.
// A measured stiffness is per arm, so f must then have one class per arm.
func newLinearization(f fixed.Folded, logits []float64) *linearization {
	r := &linearization{Folded: f, logits: logits, q: linear.Basis(f.Count)}
	r.model = force.New(&r.Folded.Params)
	r.fresh, r.stale = linearised(r.model, logits)
	r.model.Set(logits, logits)
	r.isometric(r.fresh)
	r.isometric(r.stale)
	r.noise = mat.DenseCopyOf(r.model.Covariance())
	r.isometric(r.noise)
	for c, n := range f.Count {
		if n > 1 {
			r.relatives = append(r.relatives, r.newRelative(c))
		}
	}
	r.curvature = sync.OnceValue(r.newCurvature)
	return r
}

// finite reports whether the stiffness, the noise and the total stiffness in reduced
// coordinates are finite.
func (l *linearization) finite() bool {
	for _, x := range l.relatives {
		if !linear.IsFinite(x.Fresh, x.Stale, x.noise) {
			return false
		}
	}
	return linear.Finite(l.fresh) && linear.Finite(l.stale) && linear.Finite(l.noise) &&
		linear.Finite(linear.Sum(linear.Within(l.q, l.fresh), linear.Within(l.q, l.stale)))
}

// isometric replaces M by D_n^{−1/2} M D_n^{−1/2}, D_n = diag n: from the force of a
// whole class as a function of θ to the coordinates √n_c θ_c.
func (l *linearization) isometric(m *mat.Dense) {
	for a, x := range l.Count {
		for b, y := range l.Count {
			m.Set(a, b, m.At(a, b)/math.Sqrt(x*y))
		}
	}
}

// newRelative returns the relative mode of class c, from the bandit with two arms
// taken out of that class and the others left merged.
func (l *linearization) newRelative(c int) relative {
	p := l.Params
	count := l.Count[c]
	single := -math.Log(count)
	p.Arms, p.Reference = slices.Clone(l.Arms), slices.Clone(l.Reference)
	uniform := slices.Clone(l.Uniform())
	logits := slices.Clone(l.logits)
	p.Reference[c] += single
	uniform[c] = 0
	logits[c] += single
	add := func(share float64) { // arms that together have so much more than arm c
		p.Arms = append(p.Arms, p.Arms[c])
		p.Reference = append(p.Reference, p.Reference[c]+share)
		uniform = append(uniform, share)
		logits = append(logits, logits[c]+share)
	}
	add(0)
	b := len(logits) - 1
	if count > 2 {
		add(math.Log(count - 2))
	}
	p.SetUniform(uniform)
	split := force.New(&p)
	fresh, stale := split.Stiffness(logits)
	noise := split.Covariance()
	return relative{
		class: c,
		// Λ(e_a − e_b) = λ(e_a − e_b): the rest of Λ is symmetric in a, b.
		Relative: linear.Relative{Fresh: fresh.At(c, c) - fresh.At(c, b),
			Stale: stale.At(c, c) - stale.At(c, b), Multiplicity: int(count) - 1},
		noise: 0.5 * (noise.At(c, c) + noise.At(b, b) - 2*noise.At(c, b)),
		split: split, logits: logits, a: c, b: b,
	}
}

// modes returns all modes, stiffest first: those of the merged bandit and the relative ones.
func (l *linearization) modes() []mode {
	var all []mode
	for _, m := range modes(l.fresh, l.stale, l.q) {
		// From √n θ back to the arms' own logits, scaled to a largest entry of 1.
		largest := 0.0
		for c, x := range m.Direction {
			largest = max(largest, math.Abs(x)/math.Sqrt(l.Count[c]))
		}
		noise := linear.Form(m.Covector, l.noise, m.Covector)
		all = append(all, mode{m.Total, m.Fresh, m.Stale, noise * largest * largest, 1})
	}
	for _, x := range l.relatives {
		// The direction e_a − e_b is √2 times the unit one.
		all = append(all, mode{x.Fresh + x.Stale, x.Fresh, x.Stale, x.noise / 2, x.Multiplicity})
	}
	slices.SortStableFunc(all, func(a, b mode) int { return cmp.Compare(b.total, a.total) })
	return all
}

// rewardGradient returns ∇J in the reduced coordinates: per arm π_a(m_a − J), equal within a class.
func (l *linearization) rewardGradient() []float64 {
	reward := l.model.Expected(l.logits)
	gradient := make([]float64, len(l.Count))
	for c, p := range l.model.Now.Probs {
		gradient[c] = p * (l.Arms[c].Mean - reward) / math.Sqrt(l.Count[c])
	}
	return linear.Reduce(l.q, gradient)
}

// gapVariance returns the largest variance of a difference of two arms' logits, given the
// covariance of the reduced coordinates and the variances along the relative modes.
func (l *linearization) gapVariance(sigma *mat.Dense, relative []float64) float64 {
	classes := linear.Congruence(l.q, sigma)
	at := func(a, b int) float64 { return classes.At(a, b) / math.Sqrt(l.Count[a]*l.Count[b]) }
	own, largest := l.aboutClass(relative), 0.0
	for _, v := range relative {
		largest = max(largest, 2*v)
	}
	for a := range l.Count {
		for b := range a {
			largest = max(largest, at(a, a)+at(b, b)-2*at(a, b)+own[a]+own[b])
		}
	}
	return largest
}

// aboutClass returns the variance of an arm's logit about the mean of its class, by class, given
// those along the relative modes.
func (l *linearization) aboutClass(relative []float64) []float64 {
	own := make([]float64, len(l.Count))
	for i, x := range l.relatives {
		own[x.class] = relative[i] * (1 - 1/l.Count[x.class])
	}
	return own
}

// mode is an eigenmode of the stiffness at a fixed point: a mode of the merged
// bandit, or a relative displacement of equal arms.
type mode struct {
	total, fresh, stale float64 // λ = λ_f + λ_s
	// variance of one step's force along the mode, whose direction has largest entry 1
	noise        float64
	multiplicity int // number of equal modes, ≥ 1
}

const (
	// unmeasurable is the ratio of two parts of the stiffness below which the
	// smaller is set to 0. Differences of a force of order 1 over a step of 1e-2
	// leave rounding errors of 1e-14 in a part that is exactly 0, and a part of
	// 1e-9 of the total moves a threshold by at most 1e-9 times the lag, relatively.
	unmeasurable = 1e-9
	// measuredMixing is the relative mixing of independent modes that errors of differencing a smooth
	// force can cause. Neglecting it moves a threshold by as much.
	measuredMixing = 1e-6
)

// measuredTolerance is what counts as an error of a measured stiffness.
var measuredTolerance = linear.Tolerance{Mixing: measuredMixing, Part: unmeasurable,
	Neutral: unmeasurable}

// linearised returns Λ_f and Λ_s at a fixed point: as measured, or the closed forms.
func linearised(m *force.Model, theta []float64) (fresh, stale *mat.Dense) {
	if m.Measured == nil {
		return m.Stiffness(theta)
	}
	fresh, stale = mat.DenseCopyOf(m.Measured.Fresh), mat.DenseCopyOf(m.Measured.Stale)
	fresh.Scale(m.Factors.Stiffness, fresh)
	stale.Scale(m.Factors.Stiffness, stale)
	return fresh, stale
}

// Modes returns the A−1 modes of Λ_f + Λ_s on the centred subspace, stiffest first; fresh and stale
// are the A×A matrices of force.Stiffness, A ≥ 2. The total stiffness is symmetric wherever rewards
// take two values. Where it is not, both modes of a complex pair have the real part as their Total;
// one has the real part of the eigenvectors, the other the imaginary part.
func Modes(fresh, stale *mat.Dense) []Mode {
	arms, _ := fresh.Dims()
	return modes(fresh, stale, linear.BasisOfArms(arms))
}

// modes returns the modes of fresh + stale in the subspace spanned by the columns of
// q, stiffest first.
func modes(fresh, stale *mat.Dense, q *mat.Dense) []Mode {
	f, s := linear.Within(q, fresh), linear.Within(q, stale)
	values, right, left := linear.Eigenvectors(linear.Sum(f, s))
	all := make([]Mode, len(values))
	for k := range all {
		r, l := right.ColView(k), left.ColView(k)
		var direction, covector mat.VecDense
		direction.MulVec(q, r)
		covector.MulVec(q, l)
		d, c := slices.Clone(direction.RawVector().Data), slices.Clone(covector.RawVector().Data)
		// Scale the largest |entry| to 1, the first of those equal up to rounding.
		largest, at := 0.0, 0
		for a, x := range d {
			if math.Abs(x) > largest*(1+1e-9) {
				largest, at = math.Abs(x), a
			}
		}
		scale := d[at]
		dot := 0.0
		for a := range d {
			d[a] /= scale
			dot += d[a] * c[a]
		}
		for a := range c {
			c[a] /= dot
		}
		mode := Mode{Total: values[k], Direction: d, Covector: c}
		mode.Fresh, mode.Stale = linear.Form(c, fresh, d), linear.Form(c, stale, d)
		all[k] = mode
	}
	slices.SortStableFunc(all, func(a, b Mode) int { return cmp.Compare(b.Total, a.Total) })
	return all
}

// motion is the linear dynamics at a fixed point.
type motion struct {
	*linear.Dynamics
	gain []float64 // multiplies the force of each arm; nil: 1
}

// newMotion returns the linear dynamics under an optimizer with the given
// method, rate and momentum. gain, one entry per arm, multiplies the force (Adam's
// preconditioner; nil: 1). It returns nil where a matrix is not finite.
func (l *linearization) newMotion(
	method option.Method, rate, momentum float64, gain []float64) *motion {
	fresh, stale, noise := l.fresh, l.stale, l.noise
	if gain != nil {
		p := mat.NewDiagDense(len(gain), gain)
		var f, s, half, n mat.Dense
		f.Mul(p, fresh)
		s.Mul(p, stale)
		half.Mul(p, noise)
		n.Mul(&half, p)
		fresh, stale, noise = &f, &s, &n
	}
	tolerance := linear.Rounded
	if l.Measured != nil {
		tolerance = measuredTolerance
	}
	var relatives []linear.Relative
	for _, x := range l.relatives {
		relatives = append(relatives, x.Relative)
	}
	m := linear.New(&linear.System{
		Fresh: linear.Within(l.q, fresh), Stale: linear.Within(l.q, stale),
		Noise: linear.Within(l.q, noise),
		Update: linear.Update{Method: method, Rate: rate, Momentum: momentum, Lag: linear.NewLag(&l.Lag),
			AgeDraws: l.AgeDraws()},
		Samples: l.Samples,
	}, relatives, tolerance)
	if m == nil {
		return nil
	}
	return &motion{Dynamics: m, gain: gain}
}

// multipliersAlone returns the dynamics without its variances and thresholds.
func multipliersAlone(m *linear.Dynamics) Dynamics {
	values := m.Multipliers() // sorted; nil: not known
	d := Dynamics{Scope: scope.Scope{In: true}, Neutral: m.Neutral}
	if len(values) > 0 {
		largest := cmplx.Abs(values[0])
		d.SpectralRadius = &largest
		d.RelaxationRate = new(-math.Log(largest) / float64(m.Whole.Lag.Period()))
		if ratio, ok := linear.DampingRatio(values); ok {
			d.DampingRatio = &ratio
		}
	}
	for _, z := range values[:min(len(values), linear.MaxListed)] {
		d.Multipliers = append(d.Multipliers, [2]float64{real(z), imag(z)})
	}
	return d
}
