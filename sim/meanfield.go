package sim

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/sim/draw"
	"grposim/sim/measure"
)

// Displaced is the policy that a difference of two forces displaces.
type Displaced string

// The policies that can be displaced, and the stiffness that is measured so.
const (
	Both    Displaced = "total" // θ and θ_old: λ
	Current Displaced = "fresh" // θ alone: λ_f
	Behind  Displaced = "stale" // θ_old alone: λ_s
)

// MeanField is the expected force on the weights of a network, about those of its cell.
type MeanField struct {
	*contexts
	cell *Cell
}

// NewMeanField returns the mean field of a complete cell with a network at G = ∞.
func NewMeanField(c *Cell) *MeanField { return &MeanField{newContexts(c, coupledLaws), c} }

// Displace returns the weights moved along Jᵀu such that the logits move by the given norm, to
// first order. The entries of u are uniform in (−1, 1), drawn from a stream.
func (f *MeanField) Displace(purpose Purpose, norm float64) []float64 {
	direction := f.direction(purpose)
	scale, weights := norm/f.norm(direction), slices.Clone(f.start)
	for i, x := range direction {
		weights[i] += float64(scale * x)
	}
	return weights
}

// Mode returns the direction in weights of the stiffest mode. It moves the logits by a norm of 1.
func (f *MeanField) Mode() []float64 {
	direction := f.direction(ForStiffness)
	f.stiffest(direction, Both, endDisplacement, 0, unchanged)
	norm := f.norm(direction)
	for i := range direction {
		direction[i] /= norm
	}
	return direction
}

// Stiffness measures the stiffness of the stiffest mode by power iteration. Displacements along
// the present direction move the logits by d and by 2d. Without an end its error is not known.
func (f *MeanField) Stiffness(displaced Displaced, d float64) measure.Estimate {
	direction := f.direction(ForStiffness)
	near, missing := f.stiffest(direction, displaced, d, 0, unchanged)
	far := f.slope(make([]float64, len(direction)), direction, displaced, 2*d)
	e := measure.Certain(measure.Extrapolated(near, far))
	e.Systematic = measure.Bent(near, e.Mean, d) + float64(measure.RoundedUlps/d*math.Abs(e.Mean))
	if math.IsInf(missing, 1) {
		e.DF = 0
	} else {
		e.Systematic += missing
	}
	return e
}

// direction returns Jᵀu, with the entries of u uniform in (−1, 1), drawn from a stream of the cell.
func (f *MeanField) direction(purpose Purpose) []float64 {
	f.begin()
	words := draw.NewWords(Stream(f.cell.Seed, f.cell.ID, purpose, 0))
	u, d := make([]float64, len(f.logits)), make([]float64, len(f.weights))
	for i := range u {
		u[i] = float64(float64(words.Next()>>11)*0x1p-52) - 1
	}
	f.net.Pull(u, d)
	return d
}

// norm returns the norm by which a direction in weights moves the logits, to first order. The mean
// over the arms of each context counts as none.
func (f *MeanField) norm(direction []float64) float64 {
	f.begin()
	change := make([]float64, len(f.logits))
	f.net.Push(direction, change)
	return math.Sqrt(measure.CentredSquare(change, f.net.Arms()))
}

// unchanged is the relative error at which the search of a stiffness stops.
const (
	unchanged      = 1e-9
	mostIterations = 2000
)

// stiffest turns a direction in weights into that of the mode with the largest |stiffness + shift|.
// It ends where the bound is at most the given share, and returns both; missing is +Inf if unknown.
func (f *MeanField) stiffest(
	direction []float64, displaced Displaced, displacement, shift, share float64,
) (stiffness, missing float64) {
	image, last, changes := make([]float64, len(direction)), math.NaN(), []float64(nil)
	for range mostIterations {
		f.slope(image, direction, displaced, displacement)
		for i, x := range direction {
			image[i] += float64(shift * x)
		}
		stiffness = rayleigh(direction, image)
		if !math.IsNaN(last) {
			rounding := float64(measure.RoundedUlps / displacement * math.Abs(stiffness))
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
// weights are displaced to either side such that the logits move by the given norm. It returns the
// stiffness along the direction.
func (f *MeanField) slope(image, direction []float64, displaced Displaced, norm float64) float64 {
	step := norm / f.norm(direction)
	clear(image)
	for _, side := range [2]float64{1, -1} {
		f.begin()
		still := f.now()
		for i, x := range direction {
			f.weights[i] += float64(side * step * x)
		}
		f.set()
		moved := f.now()
		current, behaviour := moved, moved
		switch displaced {
		case Current:
			behaviour = still
		case Behind:
			current = still
			copy(f.weights, f.start)
			f.set()
		}
		for x, r := range f.each {
			r.force.Expected(r.g, &r.cell.Bandit, current[x], behaviour[x])
		}
		f.pull()
		for i, g := range f.g {
			image[i] -= float64(side*g) / (2 * step)
		}
	}
	return rayleigh(direction, image)
}

// now returns copies of the policies of all contexts.
func (f *MeanField) now() []*grpo.Policy {
	var policies []*grpo.Policy
	for _, r := range f.each {
		policies = append(policies, grpo.NewPolicy(r.policy.Logits))
	}
	return policies
}

// A recorded stiffness is known if the iteration leaves at most this share of it. That is a
// hundredth of the margin of a tenth about the edge of stability.
const knownStiffness = 1e-3

// recordedMode follows the stiffest mode along a run.
type recordedMode struct {
	field     *MeanField
	direction []float64 // that was stiffest at the last record; nil before the first
}

// stiffness returns the largest stiffness of a mode at the present weights of a run; NaN if
// unknown. It iterates from the last stiffest direction, and from an irregular one, in case another
// mode has overtaken. All are shifted where a mode that grows has the largest modulus.
func (m *recordedMode) stiffness(c *Cell, weights []float64) float64 {
	if m.field == nil {
		m.field = NewMeanField(c)
	}
	f := m.field
	f.start = weights
	if m.direction == nil {
		m.direction = f.direction(ForStiffness)
	}
	stiffness, missing := f.stiffest(m.direction, Both, endDisplacement, 0, unchanged)
	anew := f.direction(ForStiffness)
	other, _ := f.stiffest(anew, Both, endDisplacement, 0, knownStiffness)
	if math.Abs(other) > (1+knownStiffness)*math.Abs(stiffness) {
		m.direction = anew
		stiffness, missing = f.stiffest(m.direction, Both, endDisplacement, 0, unchanged)
	}
	if stiffness < 0 {
		m.direction = f.direction(ForStiffness)
		stiffness, missing = f.stiffest(m.direction, Both, endDisplacement, -stiffness, unchanged)
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
	f := NewMeanField(r.cell)
	f.start = r.contexts.(*contexts).weights
	return []measure.Named{{Name: StiffnessAtEnd, Estimate: f.Stiffness(Both, endDisplacement)}}
}
