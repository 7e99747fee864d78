package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"
)

// clipNeglect returns what linear theory neglects at a fixed point because noise takes
// ratios out of the bounds of their weights (docs/theory-neglected.md §6); zero without bounds.
//
// Near the fixed point log ρ_a = y_a = δ_a − Σ_b π_bδ_b, δ = θ − θ_old, is normal with a
// variance s_a² that follows from the stationary law, in every phase of a refresh period.
// With a clip a sample of arm a with a positive advantage drops out with the probability
// p⁺ = P(y_a > ln(1+ε_high)), one with a negative advantage with p⁻ = P(y_a < ln(1−ε_low)).
// With A^±_a the mean positive and negative part of the advantage of arm a this changes
// the mean force by −π_a(A⁺_a p⁺ + A⁻_a p⁻), which displaces the fixed point, and, n the
// density of y_a at the two bounds, the slope −∂/∂y_a of the force by
//
//	π_a(A⁺_a n⁺ + |A⁻_a| n⁻)
//
// Other weights have more bounds, and where a weight is held at a bound h the excess
// E max(y_a − h, 0) takes the place of p and P(y_a > h) that of n (see weight.Band.Loss). The
// slope adds to the fresh part of the stiffness and is subtracted from the stale part, and
// it takes the dropped samples out of the noise. Var J with and without the last two
// differs by what is neglected of it, and so do relaxation rate and damping ratio with and without
// the second. All are averaged over the phases. The displacement δ of
// the mean is itself random. Where a ratio has left the bounds of both signs, no sample of that arm
// counts and nothing brings the ratio back before the next refresh. A step finds it so with the
// probability P, and it stays so for half of the age of a snapshot on average. This acts as a white
// force, to which Var J responds by
//
//	δ² (1−P)/P · min(1, ηλ·age/(4(1−μ)))
//
// The share of groups with equal rewards changes by its change at the displaced mean and by the
// mean of its changes at ± the standard deviation that is added to J.
//
// The numbers are estimates, good to a factor of two while few samples drop out.
func (l *linearization) clipNeglect(m *motion, law *linear.Law, laws []linear.Law) scope.Sizes {
	if _, _, banded := weight.Bands(&l.Importance, 1); !banded {
		return scope.Sizes{}
	}
	gradient := l.rewardGradient()
	variance := linear.Form(gradient, law.TimeAverage(), gradient)
	neglected := scope.Unknown
	neglected.RelaxationRate, neglected.DampingRatio = math.Inf(1), math.Inf(1)
	own := multipliersAlone(m.Dynamics)
	// The clip itself narrows the law from which its probabilities follow: a second round
	// takes that into account.
	current := law
	for range 2 {
		push, more, noise, out := l.clipped(current, laws)
		if m.gain != nil { // Adam's preconditioner
			p := mat.NewDiagDense(len(m.gain), m.gain)
			var scaled, half, both mat.Dense
			scaled.Mul(p, more)
			half.Mul(p, noise)
			both.Mul(&half, p)
			more, noise = &scaled, &both
			for c := range push {
				push[c] *= m.gain[c]
			}
		}
		clipped := *m.Whole
		clipped.Fresh, clipped.Stale, clipped.Noise = mat.DenseCopyOf(m.Whole.Fresh), mat.DenseCopyOf(m.Whole.Stale), linear.Within(l.q, noise)
		inside := linear.Within(l.q, more)
		clipped.Fresh.Add(clipped.Fresh, inside)
		clipped.Stale.Sub(clipped.Stale, inside)
		next, ok := clipped.Law()
		var total, shift mat.Dense
		total.Add(m.Whole.Fresh, m.Whole.Stale)
		if err := shift.Solve(&total, mat.NewDense(len(gradient), 1, reduce(l.q, push))); !ok || err != nil {
			return neglected
		}
		along := mat.NewVecDense(len(gradient), gradient)
		mean := math.Abs(mat.Dot(along, shift.ColView(0)))
		stays := 0.0
		if mean > 0 && out > 0 {
			stiffness := math.Abs(mat.Dot(along, mat.NewVecDense(len(gradient), reduce(l.q, push)))) / mean
			stays = min(1, m.Whole.Rate*stiffness*float64(l.Lag.Interval)/(4*(1-m.Whole.Momentum))) * (1 - out) / out
		}
		change := mean*mean*stays + math.Abs(linear.Form(gradient, next.TimeAverage(), gradient)-variance)
		equal := l.equalRewardsAt(shift.RawMatrix().Data, 1)
		var spread mat.VecDense // of √change in J
		spread.MulVec(law.TimeAverage(), along)
		size := 0.0
		if variance > 0 {
			size = math.Sqrt(change) / variance
		}
		here := l.equalRewardsAt(spread.RawVector().Data, 0)
		equal = math.Abs(equal-here) + math.Abs((l.equalRewardsAt(spread.RawVector().Data, size)+l.equalRewardsAt(spread.RawVector().Data, -size))/2-here)
		if !isFinite([]float64{mean, change, equal}) {
			return neglected
		}
		steeper := multipliersAlone(m.Replaced(&clipped))
		neglected = scope.Sizes{
			RewardMean: mean, RewardVariance: change, ZeroVariance: equal,
			RelaxationRate: distanceOf(own.RelaxationRate, steeper.RelaxationRate),
			DampingRatio:   distanceOf(own.DampingRatio, steeper.DampingRatio),
		}
		current = &next
	}
	return neglected
}

// distanceOf returns |x − y|, +Inf where one of the two is not known.
func distanceOf(x, y *float64) float64 {
	if x == nil || y == nil {
		return math.Inf(1)
	}
	return math.Abs(*x - *y)
}

// equalRewardsAt returns the probability that the rewards of a group are equal where the
// reduced coordinates are displaced by size times x.
func (l *linearization) equalRewardsAt(x []float64, size float64) float64 {
	scaled, probs := make([]float64, len(x)), make([]float64, len(l.logits))
	for k, v := range x {
		scaled[k] = size * v
	}
	softmax(probs, l.displaced(scaled))
	return l.model.law.EqualRewards(probs)
}

// clipped returns what a clip changes where the stationary law is law, and that of the
// relative modes laws: the mean force, the fresh stiffness, of which the stale one is the
// negative, and the noise after the change, in the coordinates √n_cθ_c; and the probability
// that samples of both signs of an arm drop out, the largest of all arms.
func (l *linearization) clipped(law *linear.Law, laws []linear.Law) (push []float64, more, noise *mat.Dense, out float64) {
	arms := len(l.count)
	probs := make([]float64, arms)
	softmax(probs, l.logits)
	above, below := l.advantageParts()
	relative := make([][]float64, arms) // variances of x − x_old in each phase
	for i := range laws {
		c := l.relatives[i].class
		laws[i].Phases(func(joint *mat.Dense) {
			v := joint.At(0, 0) + joint.At(1, 1) - 2*joint.At(0, 1)
			relative[c] = append(relative[c], v*(1-1/l.count[c]))
		})
	}
	scores := make([][]float64, arms) // of y_a, in reduced coordinates
	for a := range scores {
		score := make([]float64, arms)
		for c, p := range probs {
			score[c] = -p / math.Sqrt(l.count[c])
		}
		score[a] += 1 / math.Sqrt(l.count[a])
		scores[a] = reduce(l.q, score)
	}
	push = make([]float64, arms)
	slope, up, down := make([]float64, arms), make([]float64, arms), make([]float64, arms)
	phases, outside := 0, make([]float64, arms)
	law.Phases(func(joint *mat.Dense) {
		n := law.Dim()
		moved := mat.NewDense(n, n, nil) // covariance of x − x_old
		for i := range n {
			for j := range n {
				moved.Set(i, j, joint.At(i, j)+joint.At(n+i, n+j)-joint.At(i, n+j)-joint.At(n+i, j))
			}
		}
		for a, score := range scores {
			variance := linear.Form(score, moved, score)
			if relative[a] != nil {
				variance += relative[a][phases]
			}
			if !(variance > 0) {
				continue
			}
			s := math.Sqrt(variance)
			positive, negative, _ := weight.Bands(&l.Importance, probs[a]/l.count[a])
			rises, steeper, lost := positive.Loss(s)
			falls, flatter, missing := negative.Loss(s)
			push[a] -= above[a]*rises + below[a]*falls
			slope[a] += above[a]*steeper + below[a]*flatter
			up[a] += lost
			down[a] += missing
			if !positive.Held {
				_, _, beyond := weight.Band{Below: max(positive.Below, negative.Below), Above: max(positive.Above, negative.Above)}.Loss(s)
				outside[a] += beyond
			}
		}
		phases++
	})
	out = slices.Max(outside) / float64(phases)
	extra := group.Square(arms)
	for a := range arms {
		push[a] *= l.Factors.Stiffness / float64(phases)
		extra[a][a] = slope[a] / float64(phases)
		// The noise of an arm is that of the samples that remain.
		up[a], down[a] = math.Sqrt(1-up[a]/float64(phases)), math.Sqrt(1-down[a]/float64(phases))
	}
	project(push, probs)
	projectMatrix(extra, probs, probs)
	more = dense(extra, l.Factors.Stiffness)
	l.isometric(more)
	for c, n := range l.count {
		push[c] /= math.Sqrt(n)
	}
	m := l.model
	m.set(l.logits, l.logits)
	copy(m.Up, up)
	copy(m.Down, down)
	noise = mat.DenseCopyOf(m.covariance())
	l.isometric(noise)
	if m.law.ClipExpands() {
		// With a clip in force the covariance is that of leading order: only its change
		// counts.
		for a := range m.Up { // no clip acts on the noise
			m.Up[a], m.Down[a] = 1, 1-1e-12
		}
		leading := mat.DenseCopyOf(m.covariance())
		l.isometric(leading)
		noise.Sub(noise, leading)
		noise.Add(noise, l.noise)
	}
	return push, more, noise, out
}

// advantageParts returns the means of the positive and of the negative part of the
// advantage of the samples of each arm, times its probability, at the fixed point.
func (l *linearization) advantageParts() (above, below []float64) {
	m := l.model
	m.set(l.logits, l.logits)
	for _, part := range []struct {
		dst      *[]float64
		up, down float64
	}{{&above, 1, 0}, {&below, 0, 1}} {
		for a := range m.Up {
			m.Up[a], m.Down[a] = part.up, part.down
		}
		*part.dst = make([]float64, len(m.Up))
		m.law.Mean(*part.dst)
	}
	return above, below
}
