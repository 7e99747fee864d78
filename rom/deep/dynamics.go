package deep

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Dynamics is the linear dynamics of the weights about a fixed point, on the range of Jᵀ. Unless
// said otherwise, its methods are those of linear.Dynamics. Formulas of one mode apply to each
// where Λ_f and Λ_s commute.
type Dynamics struct {
	*linear.Dynamics
	at     *Range
	system *linear.System // before neutral directions are left out
	slope  []float64      // ∂J/∂y
}

// Dynamics returns the dynamics of a gradient method: heavy ball or Nesterov, a learning rate, a
// momentum and a lag. Of Adam with held second moments it is that of a heavy ball
// (docs/theory-deep.md §12.5).
func (r *Range) Dynamics(p *Point, update linear.Update) *Dynamics {
	each := 1 / float64(r.contexts)
	system := &linear.System{Fresh: r.Reduced(p.Fresh, each), Stale: r.Reduced(p.Stale, each),
		Noise: r.Reduced(p.Noise, each*each), Update: update}
	return newDynamics(r, system, r.onRange(p.Slope))
}

func newDynamics(r *Range, system *linear.System, slope []float64) *Dynamics {
	of := linear.New(system, nil, linear.Rounded)
	if of == nil {
		panic("deep: a stiffness or a covariance is not finite")
	}
	return &Dynamics{Dynamics: of, at: r, system: system, slope: slope}
}

// OneNumber returns the dynamics in which the whole force is stale. The eigenvalues of Λ alone
// describe it, and each mode has the formulas of a frozen force.
func (d *Dynamics) OneNumber() *Dynamics {
	system := *d.system
	n := system.Dim()
	system.Stale, system.Fresh = linear.Sum(system.Fresh, system.Stale), mat.NewDense(n, n, nil)
	return newDynamics(d.at, &system, d.slope)
}

// SpectralRadius returns the largest modulus of a multiplier over a refresh period (block) or a
// step (delay). Neutral directions do not count. It is NaN where a spectrum is not known.
func (d *Dynamics) SpectralRadius() float64 {
	if m, interval := d.mixed(); m != nil {
		return m.radius(d.Whole.Rate, interval)
	}
	values := d.Multipliers()
	if len(values) == 0 {
		return math.NaN()
	}
	return cmplx.Abs(values[0])
}

// Threshold returns the threshold of an event of the whole dynamics. It is linear.Never where it
// provably does not occur, as an interval where the lag does not matter. With a hundred directions
// that mix, CriticalRate takes 0.1 s (block without momentum), 1 s (block, delay 1) or 8 s (delay
// 4). OnsetRate takes 3 s.
func (d *Dynamics) Threshold(of linear.Event) linear.Threshold {
	m, interval := d.mixed()
	switch {
	case m == nil || of == linear.OnsetRate:
		return d.Dynamics.Threshold(of)
	case of == linear.CriticalRate:
		return m.criticalRate(interval)
	}
	return m.criticalInterval(d.Whole.Rate)
}

// Mode is an eigenmode of Λ, a motion a(t) of the weights along one direction of the range.
type Mode struct {
	linear.Mode           // λ_f = lᵀΛ_f r and λ_s = lᵀΛ_s r of the eigenvectors, and the update
	Direction   []float64 // the change of all logits at a = 1, C·A, centred in each context
	Covector    []float64 // a is its product with the change of all logits, C·A
	Noise       float64   // variance of the force on a in one step
	slope       float64   // ∂J/∂a
}

// Modes returns the modes of Λ, stiffest first, with unit vectors of weights where Λ is symmetric.
// Where d.Mixed they are no independent recursions, and the scalar formulas of one are no more than
// an estimate. Of a complex pair they are what linear.Eigenvectors gives.
func (d *Dynamics) Modes() []Mode {
	n := d.system.Dim()
	_, right, left := linear.Eigenvectors(linear.Sum(d.system.Fresh, d.system.Stale))
	all := make([]Mode, n)
	for k := range all {
		r, l := mat.Col(nil, k, right), mat.Col(nil, k, left)
		dot := mat.Dot(left.ColView(k), right.ColView(k))
		for i := range l {
			l[i] /= dot
		}
		all[k] = Mode{
			Mode:      d.system.Mode(linear.Form(l, d.system.Fresh, r), linear.Form(l, d.system.Stale, r)),
			Direction: d.at.OnLogits(r), Covector: d.at.Covector(l),
			Noise: linear.Form(l, d.system.Noise, l),
		}
		all[k].slope = mat.Dot(mat.NewVecDense(n, d.slope), right.ColView(k))
	}
	slices.SortStableFunc(all, func(a, b Mode) int { return cmp.Compare(b.Total(), a.Total()) })
	return all
}

// alone returns the mode alone as a system of one direction.
func (m *Mode) alone() *linear.System {
	s := m.System()
	s.Noise.Set(0, 0, m.Noise)
	return s
}

// Threshold returns that of this mode alone, by the formulas of one mode with λ_f and λ_s.
func (m *Mode) Threshold(of linear.Event) linear.Threshold {
	return linear.New(m.alone(), nil, linear.Rounded).Threshold(of)
}
