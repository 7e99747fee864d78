package rom

import (
	"math"
	"slices"
	"sync"

	"grposim/option"
	"grposim/fp"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
)

// slowRate is the rate of relaxation per step below which a mode is slow. Its multiplier 1 − rate is known to 2⁻⁵³, a
// thousandth of the rate. No run of fewer than 10¹² steps sees it move but by its noise.
const slowRate = 1e-13

// roundedPart is the error of an eigenvalue of the stiffness, which is of order β times a probability, in units of β.
const roundedPart = 1e-15

// slowPart is a linear dynamics whose slow directions, neutral ones included, are set apart: those of arms that are
// almost never drawn beside others that are. To them the other directions are always at rest, and these do not depend on them: of the total
// stiffness Λ the slow directions are eigenvectors, so that orthogonally to them Λ acts on the other coordinates
// alone, and a slow displacement is the same now and at the snapshot up to the rate.
type slowPart struct {
	at     *linearization // in the coordinates orthogonal to the slow directions
	motion *motion        // of at
	rates  []float64      // per step, of the slow directions that are not neutral
	arms   []int          // the classes whose logits the slow directions move
}

// slowPart returns the slow part of the linear dynamics m of l; nil: there is none, all directions are slow, or a slow mode
// grows.
func (l *linearization) slowPart(m *motion) *slowPart {
	if l.Measured != nil || m.Whole.Dim() == 1 && len(l.relatives) == 0 {
		return nil
	}
	rate := m.Whole.Rate / (1 - m.Whole.Momentum) // logits per step of a constant force
	var total mat.Dense
	total.Add(l.fresh, l.stale)
	if m.gain != nil {
		total.Mul(mat.NewDiagDense(len(m.gain), m.gain), &total)
	}
	values, right, _ := linear.Eigenvectors(linear.Within(l.q, &total))
	s := &slowPart{}
	grows := false
	slow := func(stiffness float64) bool {
		neutral := m.IsNeutral(&linear.Mode{Fresh: stiffness}) || m.gain == nil && math.Abs(stiffness) <= roundedPart*l.pull()
		if !neutral && !(rate*math.Abs(stiffness) <= slowRate) {
			return false
		}
		if !neutral {
			s.rates = append(s.rates, rate*stiffness)
			grows = grows || stiffness < 0
		}
		return true
	}
	moved := *l
	moved.relatives = nil
	for _, x := range l.relatives {
		if slow(x.fresh + x.stale) {
			s.arms = append(s.arms, x.class)
		} else {
			moved.relatives = append(moved.relatives, x)
		}
	}
	n := len(values)
	var columns []int
	for k, x := range values {
		if slow(x) {
			columns = append(columns, k)
		}
	}
	// Where equal arms alone are not slow, J stays where it is to first order.
	if grows || len(s.arms)+len(columns) == 0 || len(columns) == n {
		return nil
	}
	for _, c := range l.stillest(len(columns)) {
		if !slices.Contains(s.arms, c) {
			s.arms = append(s.arms, c)
		}
	}
	if len(columns) > 0 {
		still := mat.NewDense(n, len(columns), nil)
		for i, k := range columns {
			still.SetCol(i, mat.Col(nil, k, right))
		}
		var qr mat.QR
		qr.Factorize(still)
		var full, q mat.Dense
		qr.QTo(&full)
		q.Mul(l.q, full.Slice(0, n, len(columns), n))
		moved.q = &q
	}
	moved.curvature = sync.OnceValue(moved.newCurvature)
	moved.expansion = sync.OnceValue(moved.newExpansion)
	moved.apart = sync.OnceValue(func() *linearization {
		apart := *l.apart()
		apart.Optimizer, apart.Lag = l.Optimizer, l.Lag
		if whole := apart.newMotion(m.Whole.Method, m.Whole.Rate, m.Whole.Momentum, nil); whole != nil {
			if s := apart.slowPart(whole); s != nil {
				return s.at
			}
		}
		return &apart
	})
	s.at, s.motion = &moved, moved.newMotion(m.Whole.Method, m.Whole.Rate, m.Whole.Momentum, m.gain)
	if s.motion == nil {
		return nil
	}
	return s
}

// stillest returns the count classes of arms whose own logit has the least stiffness: an eigenvector of small stiffness is made
// of these.
func (l *linearization) stillest(count int) (classes []int) {
	own := func(c int) float64 { return math.Abs(l.fresh.At(c, c) + l.stale.At(c, c)) }
	taken := make([]bool, len(l.count))
	for range count {
		least := -1
		for c := range taken {
			if !taken[c] && (least < 0 || own(c) < own(least)) {
				least = c
			}
		}
		taken[least] = true
		classes = append(classes, least)
	}
	return classes
}

// dynamics returns multipliersAlone of m, all directions, in which the slow ones do not depend on rounding.
func (s *slowPart) dynamics(m *linear.Dynamics) Dynamics {
	d := ofMultipliers(m, s.multipliers(m.Whole.Lag.Period()))
	if d.SpectralRadius != nil && *d.SpectralRadius < 1 && len(s.rates) > 0 {
		*d.RelaxationRate = slices.Min(s.rates)
	}
	return d
}

// multipliers returns the multipliers of one period of the slow directions that are not neutral, 1 − rate × period and
// less than 1 however slow, and those of the others.
func (s *slowPart) multipliers(period int) (values []complex128) {
	if values = s.motion.Multipliers(); values == nil {
		return nil
	}
	for _, rate := range s.rates {
		values = append(values, complex(min(1-rate*float64(period), math.Nextafter(1, 0)), 0))
	}
	linear.Sort(values)
	return values
}

// neglect returns what a stationary law with the given linear Var J leaves out where it is that of the other directions.
// Small probabilities π of arms that are almost never drawn have a law in closed form. Let y = log π/π*, and V its variance by
// linear theory. The drift and the variance of the noise of y are in proportion to π, so that with the clock ∫π dt y is a
// linear process, of the density N(0, V); the time that it spends is in proportion to 1/π, which turns this into
//
//	y ~ N(−V, V),   E π = π* e^{−V/2},   E π² = π*²
//
// Steps of a length k in y, of either sign, add at most a factor e^{Vk}: the third cumulant is at most 2Vk/3. So the slow
// directions make at most d = Σ π*|m − J| e^{Vk} of the standard deviation of J and of E J, and d² + 2d√Var J of Var J.
func (s *slowPart) neglect(l *linearization, m *motion, variance float64) scope.Sizes {
	reward := l.model.expected(l.logits)
	rate, draws := m.Whole.Rate/(1-m.Whole.Momentum), l.model.size*float64(l.GroupsPerStep)
	if l.Samples == option.Reused {
		rate *= float64(m.Whole.Lag.Period())
	}
	d, equal, probs := 0.0, 0.0, policyAt(l.logits)
	for _, c := range s.arms {
		p, noise, stiffness := probs[c], l.noise.At(c, c), l.fresh.At(c, c)+l.stale.At(c, c)
		if p == 0 {
			continue
		}
		if !(stiffness > 0) || !(noise >= 0) {
			return scope.Unknown
		}
		gain := rate
		if m.gain != nil {
			gain *= m.gain[c]
		}
		spread, step := gain*noise/stiffness, 2*gain*math.Sqrt(noise/(p*draws)) // log π moves by twice a logit
		most := fp.MathExp(math.Log(p) + spread*step)
		d += math.Abs(l.Arms[c].Mean-reward) * most
		equal += l.model.size * most
	}
	return scope.Sizes{RewardMean: d, RewardVariance: d * (d + 2*math.Sqrt(variance)), ZeroVariance: min(1, equal)}
}
