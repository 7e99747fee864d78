package rom

import (
	"math"

	"grposim/fp"
	"grposim/rom/group"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// lattice is the resolution of the chain: the distance of the points of z, in logits, and the number of values of the law of a step.
type lattice struct {
	spacing float64
	values  int
}

// share returns the probability that z < 0 after the given steps of a walk from z. The policy follows only after every so many steps, in which all
// samples are drawn at the same z.
func (l *locking) share(z float64, steps, every int, at lattice) float64 {
	half := int(math.Ceil((math.Log(l.samples*float64(steps)) + unreached) / at.spacing))
	size := 2*half + 1
	move, wrong := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
	for i := range size {
		from := float64(i-half) * at.spacing
		row := move.RawRowView(i)
		if wrong.SetVec(i, max(0, min(1, float64(half-i)+0.5))); i == 0 || i == size-1 { // nothing is drawn there any more
			row[i] = 1
			continue
		}
		some, others := l.step(from, l.groups*every, at.values)
		some.each(&others, func(way, chance float64) { interpolate(row, (from+way)/at.spacing+float64(half), chance) })
		floats.Scale(1/floats.Sum(row), row)
	}
	for left := (steps + every - 1) / every; ; move.Mul(move, move) {
		if left&1 == 1 {
			wrong.MulVec(move, wrong)
		}
		if left >>= 1; left == 0 {
			break
		}
	}
	row := make([]float64, size)
	interpolate(row, z/at.spacing+float64(half), 1)
	return max(0, min(1, floats.Dot(row, wrong.RawVector().Data)))
}

// unreached is how far the lattice goes beyond the z at which a run draws one sample of the rare arm. From its ends on, where a run draws e^−4 = 0.02 of
// them, it stays where it is.
const unreached = 4

// interpolate adds the weights, times chance, by which a polynomial of third degree through the four nearest points interpolates at a place of the lattice, in units
// of its spacing. Beyond an end it takes the value at that end.
func interpolate(row []float64, place, chance float64) {
	last := len(row) - 1
	place = max(0, min(place, float64(last)))
	k := max(1, min(last-2, int(place)))
	x := place - float64(k)
	row[k-1] -= chance * x * (x - 1) * (x - 2) / 6
	row[k] += chance * (x + 1) * (x - 1) * (x - 2) / 2
	row[k+1] -= chance * (x + 1) * x * (x - 2) / 2
	row[k+2] += chance * (x + 1) * x * (x - 1) / 6
}

// step returns two laws, of which the sum is the way of z by so many groups drawn at z.
func (l *locking) step(z float64, groups, values int) (some, others atoms) {
	zero := atoms{[]float64{0}, []float64{1}}
	all := l.group(1/(1+fp.MathExp(-z)), 1/(1+fp.MathExp(z)))
	others = all.plus(&zero, values)
	if groups == 1 {
		return all, zero
	}
	some = others
	for left := groups - 1; left > 1; left >>= 1 {
		if left&1 == 1 {
			some = some.plus(&others, values)
		}
		others = others.plus(&others, values)
	}
	return some, others
}

// group returns the law of the way of z by one group at the probabilities p of the best arm and q of the other: given s successes in it, those of the best arm
// and its failures are binomial.
func (l *locking) group(p, q float64) (all atoms) {
	j, rest := p*l.own+q*l.other, p*(1-l.own)+q*(1-l.other)
	successes := binomial(l.size, j, rest)
	for i, chance := range successes.chance {
		s := int(successes.value[i])
		up, down := l.counts.Advantages(s)
		if up == down || chance < rarest { // no reward differs
			all.add(0, chance)
			continue
		}
		right, wrong := binomial(s, p*l.own/j, q*l.other/j), binomial(l.size-s, p*(1-l.own)/rest, q*(1-l.other)/rest)
		floats.Scale(l.scale*up, right.value)
		floats.Scale(l.scale*down, wrong.value)
		right.each(&wrong, func(way, x float64) { all.add(way, chance*x) })
	}
	return all
}

// binomial returns a binomial law. Where its standard deviation σ is 8 or more it has every s-th value, s = σ/4: a sum over these is that over all, to
// e^−2π²16 of a smooth function.
func binomial(n int, p, q float64) (all atoms) {
	law := group.NewBinomial(n, p, q, nil)
	every := max(1, int(math.Sqrt(float64(n)*p*q)/4)/law.Stride)
	for i := 0; i < len(law.Weights); i += every {
		all.add(float64(law.At(i)), law.Weights[i]*float64(every))
	}
	return all
}
