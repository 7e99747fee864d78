package deep

import (
	"math"

	"grposim/rom"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// curvature returns the sum of the moduli of what the curvature of force, noise and J changes in Var J, to first order in the covariance of the
// logits: the noise, the stiffness and the slope of J are means over the law, each alone in its turn, and the square of J has ½ tr(BΣBΣ),
// B = ∂²J. The parts have either sign, and the third cumulant, which is left out, is of their order: their moduli add up.
func (s *slide) curvature(weights []float64, over Window) (size float64, err error) {
	center, err := s.here(weights, over)
	if err != nil {
		return 0, err
	}
	r := center.at
	rank := r.Rank()
	now := center.law.spread.Slice(0, rank, 0, rank).(*mat.Dense)
	mean := s.blurred(r, now)
	noisy, stiff := *s.point, *s.point
	noisy.Noise = mean.Noise
	stiff.Fresh, stiff.Stale = mean.Fresh, mean.Stale
	for _, p := range []*Point{&noisy, &stiff} {
		d := r.Dynamics(p, s.update)
		law, err := d.Law(d.Modes(), over)
		if err != nil {
			return math.Inf(1), nil // the noise itself makes it unstable
		}
		size += math.Abs(law.Reward - center.law.Reward)
	}
	slope := r.onRange(mean.Slope)
	size += math.Abs(linear.Form(slope, now, slope) - center.law.Reward)
	bend := r.Reduced(s.point.bends(s.contexts), 1)
	var product mat.Dense
	product.Mul(bend, now)
	for i := range rank {
		for j := range rank {
			size += 0.5 * product.At(i, j) * product.At(j, i)
		}
	}
	return size, nil
}

// bends returns ∂²J/∂ℓ² of each context, A×A: ∂_b π_a(m_a − J_x)/C = [δ_ab π_a(m_a − J_x) − π_aπ_b(m_a + m_b − 2J_x)]/C.
func (p *Point) bends(contexts []rom.Params) []*mat.Dense {
	all := make([]*mat.Dense, len(contexts))
	for x := range contexts {
		probs, reward := expected(&contexts[x], p.Logits[x*p.Arms:(x+1)*p.Arms])
		all[x] = mat.NewDense(p.Arms, p.Arms, nil)
		for a, arm := range contexts[x].Arms {
			for b, other := range contexts[x].Arms {
				all[x].Set(a, b, -probs[a]*probs[b]*(arm.Mean+other.Mean-2*reward)/float64(len(contexts)))
			}
			all[x].Set(a, a, all[x].At(a, a)+probs[a]*(arm.Mean-reward)/float64(len(contexts)))
		}
	}
	return all
}

// blurred returns the Point of coefficients that are means over the normal law of the logits with covariance spread of the coordinates y, to
// first order in it: over 2(A−1) points in each context, √(A−1) deviations on either side along the axes of its covariance (Julier and
// Uhlmann 1997), about a center that is moved to where the mean force over them vanishes.
func (s *slide) blurred(r *Range, spread *mat.Dense) *Point {
	within, arms := r.arms-1, r.arms
	share := 1 / float64(2*within)
	var points [][]float64
	for range 2 * within {
		points = append(points, append([]float64(nil), s.point.Logits...))
	}
	for x := range s.contexts {
		from, to := x*arms, (x+1)*arms
		lift := r.lift.Slice(x*within, (x+1)*within, 0, r.Rank()).(*mat.Dense)
		variances, axes := linear.Axes(linear.SymmetricPart(linear.Congruence(lift, spread)))
		force, one := make([]float64, arms), make([]float64, arms)
		for k, variance := range variances {
			var along mat.VecDense
			along.MulVec(r.center, axes.ColView(k))
			for side, sign := range [2]float64{1, -1} {
				at := points[2*k+side][from:to]
				floats.AddScaled(at, sign*math.Sqrt(float64(within)*max(variance, 0)), along.RawVector().Data)
				rom.MeanForce(one, s.contexts[x], at, at)
				floats.AddScaled(force, share, one)
			}
		}
		var total mat.Dense
		total.Add(s.point.Fresh[x], s.point.Stale[x])
		var reduced, shift, change mat.VecDense
		reduced.MulVec(r.center.T(), mat.NewVecDense(arms, force))
		if shift.SolveVec(linear.Within(r.center, &total), &reduced) != nil {
			continue // nothing restores one of its directions
		}
		change.MulVec(r.center, &shift)
		for _, at := range points {
			floats.Add(at[from:to], change.RawVector().Data)
		}
	}
	mean := &Point{Arms: arms, Slope: make([]float64, len(s.point.Slope))}
	for i, at := range points {
		p := At(s.contexts, at)
		floats.AddScaled(mean.Slope, share, p.Slope)
		for x := range s.contexts {
			if i == 0 {
				mean.Fresh, mean.Stale, mean.Noise = append(mean.Fresh, new(mat.Dense)), append(mean.Stale, new(mat.Dense)), append(mean.Noise, new(mat.Dense))
			}
			addScaled(mean.Fresh[x], share, p.Fresh[x])
			addScaled(mean.Stale[x], share, p.Stale[x])
			addScaled(mean.Noise[x], share, p.Noise[x])
		}
	}
	return mean
}

// addScaled adds factor·m to a sum, which may be empty.
func addScaled(sum *mat.Dense, factor float64, m *mat.Dense) {
	var part mat.Dense
	part.Scale(factor, m)
	if sum.IsEmpty() {
		sum.CloneFrom(&part)
		return
	}
	sum.Add(sum, &part)
}
