package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
"slices"
	"testing"
)

// gapChain is the exact law of z = θ_1 − θ_0 of two Bernoulli arms, on-policy without
// momentum, on a grid: a step from each grid point draws every group, and the
// probability of each is split linearly between the two grid points next to where it
// leads. The split adds at most h²/4 to the variance of a step.
type gapChain struct {
	low, h float64
	moves  [][]move // by grid point
	law    []float64
}

type move struct {
	to     int
	chance float64
}

func newGapChain(p Params, low, high, h float64) *gapChain {
	c := &gapChain{low: low, h: h}
	n := int((high-low)/h) + 1
	group := make([]sample, p.GroupSize)
	for i := range n {
		z := low + float64(i)*h
		theta := []float64{z / 2, -z / 2}
		q := 1 / (1 + math.Exp(-z))
		atoms := []sample{{0, 1}, {0, 0}, {1, 1}, {1, 0}}
		chance := []float64{q * p.Arms[0].Mean, q * (1 - p.Arms[0].Mean), (1 - q) * p.Arms[1].Mean, (1 - q) * (1 - p.Arms[1].Mean)}
		var moves []move
		var walk func(atom, filled int, weight float64)
		walk = func(atom, filled int, weight float64) {
			if atom == len(atoms)-1 {
				for k := filled; k < len(group); k++ {
					group[k] = atoms[atom]
				}
				weight *= math.Pow(chance[atom], float64(len(group)-filled))
				if weight == 0 {
					return
				}
				at := (z + 2*p.Optimizer.Rate*sampledForce(p, theta, theta, group)[0] - low) / h
				k := min(max(int(at), 0), n-2)
				moves = append(moves, move{k, weight * (1 - (at - float64(k)))}, move{k + 1, weight * (at - float64(k))})
				return
			}
			for k := 0; k <= len(group)-filled; k++ {
				if k > 0 {
					group[filled+k-1] = atoms[atom]
					weight *= chance[atom] * float64(len(group)-filled-k+1) / float64(k)
				}
				walk(atom+1, filled+k, weight)
			}
		}
		walk(0, 0, 1)
		c.moves = append(c.moves, moves)
	}
	return c
}

// rewards returns E J at t = 0 … steps from the gap z.
func (c *gapChain) rewards(p Params, z float64, steps int) []float64 {
	law := make([]float64, len(c.moves))
	at := (z - c.low) / c.h
	law[int(at)], law[int(at)+1] = 1-(at-math.Floor(at)), at-math.Floor(at)
	var out []float64
	for range steps + 1 {
		j, next := 0.0, make([]float64, len(law))
		for i, x := range law {
			q := 1 / (1 + math.Exp(-c.low-float64(i)*c.h))
			j += x * (q*p.Arms[0].Mean + (1-q)*p.Arms[1].Mean)
			for _, m := range c.moves[i] {
				next[m.to] += x * m.chance
			}
		}
		out = append(out, j)
		law = next
	}
	return out
}

func TestExperiment(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for trial := range 300 {
		p := reference([]Scale{GroupStd, Unscaled}[r.IntN(2)], math.Exp(math.Log(0.04)+r.Float64()*math.Log(50)), []int{2, 4, 8}[r.IntN(3)])
		p.Arms = []Arm{{Mean: r.Float64()}, {Mean: r.Float64()}}
		p.Epsilon = 0.01
		p.Reference = []float64{r.NormFloat64(), 0}
		p.KLEstimator = []KLEstimator{ExactKL, K2, K3}[r.IntN(3)]
		p.Optimizer.Rate = math.Exp(math.Log(0.3) + r.Float64()*math.Log(20))
		z := 2*r.NormFloat64()
		steps := 200
		if !slices.Contains([]int{16,91,112,116,132,137,153,164,180,185,238,268,269,285}, trial) { continue }
		c := newGapChain(p, -20, 20, 0.04)
		exact := c.rewards(p, z, steps)
		var at []int
		for t := range steps + 1 {
			at = append(at, t)
		}
		init := []float64{z / 2, -z / 2}
		field := path(p, init, steps)
		got, neglected, _, scope := MeanReward(p, init, at)
		worst, w0, wm := 0, 0.0, 0.0
		bad, run, badAt := 0.0, 0.0, 0
		for t := range exact {
			w0 = max(w0, math.Abs(exact[t]-field[t]))
			run = max(run, neglected[t])
			e := math.Abs(exact[t] - got[t])
			if math.IsInf(run, 1) { break }
			if e > wm {
				wm, worst = e, t
			}
			if x := e/(5e-4+run); x > bad { bad, badAt = x, t }
		}
		if bad<0 { continue }
		nm := 0.0
		for _, x := range neglected {
			nm = max(nm, x)
		}
		fmt.Printf("%2d G%d s%d b%.2f eta%.2f kl%d  field miss %.5f  closure %.5f at %d  neglected there %.5f max %.5f  ratio/max %.2f worst ratio %.2f at %d  dp %.2f z0 %.2f rise %.3f inf %v\n", trial, p.GroupSize, p.Scale, p.Strength, p.Optimizer.Rate, p.KLEstimator, w0, wm, worst, neglected[worst], nm, wm/nm, bad, badAt, p.Arms[0].Mean-p.Arms[1].Mean, z, exact[steps]-exact[0], math.IsInf(run, 1) || !scope.In)
	}
}
