package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/linear"
)

// momentGrid is a grid of the logarithm of Adam's second moment v of one logit.
type momentGrid struct {
	lowest float64 // ln v of the first level
	levels int
	beta2  float64
}

// The distance of two levels in ln v, and the least |g| that a grid tells apart, as a share of the largest.
const (
	momentSpacing = 0.6
	momentDepth   = 1e-5
)

// newMomentGrid returns the grid of the v of forces g, given the least and the largest of |g|; it does not tell those apart that are below ε or momentDepth of the largest.
func newMomentGrid(least, largest float64, o *option.Optimizer) momentGrid {
	m := momentGrid{lowest: 2 * math.Log(min(max(least, o.Epsilon, largest*momentDepth), largest)), beta2: o.Beta2}
	m.levels = int((2*math.Log(largest)-m.lowest)/momentSpacing) + 2
	return m
}

// joined returns the grid with the levels of m and of other, on those of m and at most mostBelow below these: numbers of one grid that cancel do so to rounding.
func (m momentGrid) joined(other momentGrid) momentGrid {
	const rounding, mostBelow = 1e-6, 40
	below := min(max(math.Ceil((m.lowest-other.lowest)/momentSpacing-rounding), 0), mostBelow)
	above := max(math.Ceil((other.top()-m.top())/momentSpacing-rounding), 0)
	return momentGrid{m.lowest - momentSpacing*below, m.levels + int(below+above), m.beta2}
}

func (m *momentGrid) top() float64 { return m.lowest + momentSpacing*float64(m.levels-1) }

// at returns v of a level.
func (m *momentGrid) at(level int) float64 {
	return fp.Exp(m.lowest + momentSpacing*float64(level))
}

// next returns v = β2·v + (1−β2)g² after a force at a level.
func (m *momentGrid) next(level int, g float64) float64 {
	return m.beta2*m.at(level) + (1-m.beta2)*g*g
}

// rise returns by how many levels v lies above a level.
func (m *momentGrid) rise(level int, v float64) float64 {
	return (math.Log(v)-m.lowest)/momentSpacing - float64(level)
}

// levelsAbout returns the shares in four levels, from first on, that have the moments of a move by x up to the third. They lie about the end of the move, so that
// those of many short moves down, as v decays by, are biased against it: central ones leave an undamped mode of alternating sign.
func levelsAbout(x float64) (first int, shares [4]float64) {
	to := math.Floor(x)
	f := x - to
	a, b, c := f+1, f-1, f-2
	return int(to) - 1, [4]float64{-f * b * c / 6, a * b * c / 2, -a * f * c / 2, a * f * b / 6}
}

// stationary returns the probabilities of the levels under independent forces of one law.
func (m *momentGrid) stationary(forces *armLaw) []float64 {
	return linear.Stationary(1, m.levels, func(_, level int, visit func(row, column int, p float64)) {
		for i, g := range forces.values {
			first, shares := levelsAbout(m.rise(level, m.next(level, g)))
			for k, x := range shares {
				visit(0, min(max(level+first+k, 0), m.levels-1), forces.weights[i]*x)
			}
		}
	})
}

// mean returns E f(g, v) under independent forces g of one law, v the second moment that has g, given the probabilities of the levels.
func (m *momentGrid) mean(law []float64, forces *armLaw, f func(g, v float64) float64) (sum float64) {
	for level, p := range law {
		for i, g := range forces.values {
			sum += p * forces.weights[i] * f(g, m.next(level, g))
		}
	}
	return sum
}

// grid returns that of the law.
func (g *armLaw) grid(o *option.Optimizer) momentGrid {
	least, largest := g.moduli()
	return newMomentGrid(least, largest, o)
}
