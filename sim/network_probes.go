package sim

import (
	"context"
	"math"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/sim/draw"
	"grposim/sim/measure"
)

// grows decides whether a small deviation from the logits of Network.Weights grows at G = ∞. It
// looks at the change of the logits in the last step before each refresh. Slow modes, which would
// hide the decay of the stiff ones, are small in it.
func grows(ctx context.Context, c *Cell) (o outcome) {
	period := RefreshPeriod(c.Lag)
	p := newContexts(c, coupledLaws)
	p.begin()
	p.displace(p.direction(Stream(c.Seed, c.ID, ForLocation, 0)), c.Location.Offset)
	var g *growth
	last, gone := slices.Clone(p.logits), 0
	for t := 1; ; t++ {
		copy(last, p.logits)
		for _, one := range p.each {
			one.push(t - 1)
		}
		p.pull()
		if !p.move(&c.Optimizer, t-1) || !finite(p.logits) {
			return present
		}
		if t%stepsBetweenNetworkLooks == 0 && ctx.Err() != nil {
			return undecided
		}
		if t%period != 0 {
			continue
		}
		square := p.deviation(last)
		if g == nil {
			if square < minStart*minStart {
				return undecided
			}
			g = newGrowth(c, c.Run.Steps, math.Sqrt(square))
		}
		if gone++; square > negligibleSquare {
			gone = 0
		}
		if o = g.add(t/period-1, square, gone >= negligibleCount); o != undecided || t/period > g.longest {
			return o
		}
	}
}

// stepsBetweenNetworkLooks is the number of steps of a network between two checks of the context.
const stepsBetweenNetworkLooks = 64

// direction returns Jᵀu, with the entries of u uniform in (−1, 1), drawn from a stream.
func (p *contexts) direction(stream *draw.Xoshiro) []float64 {
	words := draw.NewWords(stream)
	u, d := make([]float64, len(p.logits)), make([]float64, len(p.weights))
	for i := range u {
		u[i] = float64(float64(words.Next()>>11)*0x1p-52) - 1
	}
	p.net.Pull(u, d)
	return d
}

// displace moves the weights along d such that the logits move by the given norm, to first order.
func (p *contexts) displace(d []float64, norm float64) {
	change := make([]float64, len(p.logits))
	p.net.Push(d, change)
	scale := norm / math.Sqrt(p.centredSquare(change))
	for i, x := range d {
		p.weights[i] += float64(scale * x)
	}
	p.set()
}

// deviation returns the square of the deviation of the logits from others.
func (p *contexts) deviation(from []float64) float64 {
	change := make([]float64, len(from))
	for i, x := range from {
		change[i] = p.logits[i] - x
	}
	return p.centredSquare(change)
}

// centredSquare returns Σ (x − mean)², with the mean of each context.
func (p *contexts) centredSquare(x []float64) (square float64) {
	arms := p.net.Arms()
	for i := 0; i < len(x); i += arms {
		square += centredSquare(x[i : i+arms])
	}
	return square
}

// unchanged is the relative error at which the search of a stiffness stops.
const (
	unchanged      = 1e-9
	mostIterations = 2000
)

// ofNetwork measures the stiffness of the stiffest mode of a network at G = ∞ by power iteration.
// The displacements along the present direction move the logits by d and by 2d.
func (p *StiffnessProbe) ofNetwork(c *Cell) (s slopes) {
	at := newContexts(c, coupledLaws)
	at.begin()
	direction := at.direction(Stream(c.Seed, c.ID, ForStiffness, 0))
	near, missing := at.stiffest(direction, p.Displaced, p.Displacement, 0, unchanged)
	image := make([]float64, len(direction))
	at.slope(image, direction, p.Displaced, 2*p.Displacement)
	return slopes{near: near, far: rayleigh(direction, image), missing: missing}
}

// stiffest turns a direction in weights into that of the mode with the largest |stiffness + shift|.
// It ends where the bound is at most the given share, and returns both; missing is +Inf if unknown.
func (p *contexts) stiffest(direction []float64, displaced Displaced, displacement, shift, share float64) (stiffness, missing float64) {
	image, last, changes := make([]float64, len(direction)), math.NaN(), []float64(nil)
	for range mostIterations {
		p.slope(image, direction, displaced, displacement)
		for i, x := range direction {
			image[i] += float64(shift * x)
		}
		stiffness = rayleigh(direction, image)
		if !math.IsNaN(last) {
			rounding := float64(roundedUlps / displacement * math.Abs(stiffness))
			change := math.Abs(stiffness - last)
			changes = append(changes, change+rounding)
			missing = remaining(changes)
			if change <= rounding && len(changes) == 1 { // the first direction is that of a mode
				missing = rounding
			}
			if change <= rounding || missing <= share*math.Abs(stiffness) {
				break
			}
		}
		last, missing = stiffness, math.Inf(1)
		for i, x := range image {
			direction[i] = x / stiffness
		}
	}
	return stiffness - shift, missing
}

// remaining bounds the sum of later changes that fall like a geometric sequence: change·q/(1 − q),
// q the mean of their second half. It is +Inf for a single change, or where they do not fall.
func remaining(changes []float64) float64 {
	last := len(changes) - 1
	q := fp.Exp(fp.Log(changes[last]/changes[last/2]) / float64(last-last/2))
	if q < 1 {
		return changes[last] * q / (1 - q)
	}
	return math.Inf(1)
}

// A recorded stiffness is known if the iteration leaves at most this share of it. That is a
// hundredth of the margin of a tenth about the edge of stability.
const knownStiffness = 1e-3

// stiffnessNow returns the largest stiffness of a mode at the present weights of a run; NaN if
// unknown. It iterates from the last stiffest direction, and from an irregular one, in case another
// mode has overtaken. All are shifted where a mode that grows has the largest modulus.
func (p *contexts) stiffnessNow(c *Cell) float64 {
	if p.probe == nil {
		p.probe = newContexts(c, coupledLaws)
		p.probe.start = make([]float64, len(p.weights))
	}
	copy(p.probe.start, p.weights)
	irregular := func() []float64 {
		p.probe.begin()
		return p.probe.direction(Stream(c.Seed, c.ID, ForStiffness, 0))
	}
	if p.stiff == nil {
		p.stiff = irregular()
	}
	stiffness, missing := p.probe.stiffest(p.stiff, Both, endDisplacement, 0, unchanged)
	anew := irregular()
	if other, _ := p.probe.stiffest(anew, Both, endDisplacement, 0, knownStiffness); math.Abs(other) > (1+knownStiffness)*math.Abs(stiffness) {
		p.stiff = anew
		stiffness, missing = p.probe.stiffest(p.stiff, Both, endDisplacement, 0, unchanged)
	}
	if stiffness < 0 {
		p.stiff = irregular()
		stiffness, missing = p.probe.stiffest(p.stiff, Both, endDisplacement, -stiffness, unchanged)
	}
	if !(missing <= knownStiffness*math.Abs(stiffness)) {
		return math.NaN()
	}
	return stiffness
}

// StiffnessAtEnd is λ at the last weights of a run, of the mode with the largest modulus.
const StiffnessAtEnd = "stiffness_at_end"

// endDisplacement moves the logits for StiffnessAtEnd: a λ of order 1 has some 9 digits.
const endDisplacement = 1e-6

// stiffnessAtEnd measures the stiffness at the last weights of a replica.
func stiffnessAtEnd(r *replica) []measure.Named {
	at, n := *r.cell, *r.cell.Network
	n.Weights, at.Network = r.contexts.(*contexts).weights, &n
	p := StiffnessProbe{Name: StiffnessAtEnd, Displaced: Both, Displacement: endDisplacement}
	return []measure.Named{{Name: p.Name, Estimate: p.estimate(&at, []slopes{p.ofNetwork(&at)})}}
}

// rayleigh returns d·image/d·d.
func rayleigh(d, image []float64) float64 {
	product, square := 0.0, 0.0
	for i, x := range d {
		product += float64(x * image[i])
		square += float64(x * x)
	}
	return product / square
}

// slope sets image to −∂g/∂w·direction at the start, by a difference of two gradients. Their
// weights are displaced to either side such that the logits move by the given norm.
func (p *contexts) slope(image, direction []float64, displaced Displaced, norm float64) {
	p.begin()
	change := make([]float64, len(p.logits))
	p.net.Push(direction, change)
	step := norm / math.Sqrt(p.centredSquare(change))
	clear(image)
	for _, side := range [2]float64{1, -1} {
		p.begin()
		still := p.policiesNow()
		for i, x := range direction {
			p.weights[i] += float64(side * step * x)
		}
		p.set()
		moved := p.policiesNow()
		current, behaviour := moved, moved
		switch displaced {
		case Current:
			behaviour = still
		case Behind:
			current = still
			copy(p.weights, p.start)
			p.set()
		}
		for x, r := range p.each {
			r.force.Expected(r.g, &r.cell.Bandit, current[x], behaviour[x])
		}
		p.pull()
		for i, g := range p.g {
			image[i] -= float64(side*g) / (2 * step)
		}
	}
}

// policiesNow returns copies of the policies of all contexts.
func (p *contexts) policiesNow() []*grpo.Policy {
	var policies []*grpo.Policy
	for _, r := range p.each {
		policies = append(policies, grpo.NewPolicy(r.policy.Logits))
	}
	return policies
}
