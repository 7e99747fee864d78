package rom

import (
	"fmt"
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The second order is that of its equations written out index by index, from 0 on through so many periods that nothing of the start is left.
func TestSecondOrderIsThatOfItsSteps(t *testing.T) {
	two := reference(option.NoScale, 0.5, 8)
	three := reference(option.StdScale, 1.2, 6)
	three.Arms, three.Reference = append(three.Arms, option.Arm{Mean: 0.6}), []float64{0.1, 0, -0.2}
	three.Importance.Mode, three.KL.Gradient, three.KL.At = option.Ratio, option.K3, option.AtCurrent
	normal := two // of which the third cumulant of the force is assumed
	normal.Arms = []option.Arm{{Law: option.Normal, Mean: 0.9, Std: 0.4}, {Law: option.Normal, Mean: 0.2, Std: 0.3}}
	for _, p := range []Params{two, three, normal} {
		for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 2}, {Kind: option.Block, Interval: 7}, {Kind: option.Delay, Interval: 2}} {
			p.Lag, p.Optimizer.Momentum = lag, 0.5
			name := fmt.Sprintf("%d arms, lag %d/%d", len(p.Arms), lag.Kind, lag.Interval)
			p := p.checked()
			f := fold(p)
			l := newLinearization(f, f.reached())
			law, ok := l.newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil).Whole.Law()
			if !ok {
				t.Fatalf("%s: no law", name)
			}
			means := l.curvature().meanState(&law, mat.NewDense(law.Lag.Period(), law.Dim(), nil))
			got := newSecondOrder(&law, l.curvature(), l.expansion(), means)
			want := walkedSecondOrder(&law, l.curvature(), l.expansion(), means, func(i int) int {
				if lag.Kind == option.Block && i >= 2*law.Dim() { // the snapshot of a block is the policy
					return i - 2*law.Dim()
				}
				return i
			})
			alike := func(what string, got, want []float64) {
				if off := floats.Distance(got, want, math.Inf(1)); !(off <= 1e-10*floats.Norm(want, math.Inf(1))) {
					t.Errorf("%s: %s is %.12g, want %.12g", name, what, got, want)
				}
			}
			alike("the change of Var J", []float64{got.spread, got.readout, got.size}, []float64{want.spread, want.readout, want.size})
			alike("what an assumed cumulant changes", []float64{got.assumed}, []float64{want.assumed})
			alike("the change of E J", []float64{got.mean}, []float64{want.mean})
			alike("1 − correlation", []float64{got.fast}, []float64{want.fast})
			alike("the covariance of the snapshot", got.snapshot.RawMatrix().Data, want.snapshot.RawMatrix().Data)
			alike("the third cumulant of the snapshot", got.third, want.third)
		}
	}
}

// walkedSecondOrder is newSecondOrder index by index; from says which entry of the state at the end of a period an entry at its start is.
func walkedSecondOrder(law *linear.Law, c *curvature, e *expansion, means *mat.Dense, from func(i int) int) *secondOrder {
	n, dim, period, at := law.Dim(), 2*law.Dim(), law.Lag.Period(), law.Places()
	size, _ := law.A.Dims()
	a, gamma := law.A, law.Gamma
	d := func(i, j, k int) float64 { return c.d[min(i, j)*dim+max(i, j)][k] }
	each := func(count, indices int, visit func(x []int)) { // every choice of indices below count
		x := make([]int, indices)
		for {
			visit(x)
			k := indices - 1
			for ; k >= 0 && x[k] == count-1; k-- {
				x[k] = 0
			}
			if k < 0 {
				return
			}
			x[k]++
		}
	}
	var states []*mat.Dense
	for _, state := range law.States {
		states = append(states, mat.DenseCopyOf(state))
	}
	y := func(p, i, j int) float64 { return states[p].At(at[i], at[j]) }
	m := func(p, i int) float64 { return means.At(p, at[i]) }
	// periodic returns the phases of x′ = A⊗…⊗A x + source.
	periodic := func(rank int, source func(p int, x []int) float64) [][]float64 {
		count := int(math.Pow(float64(size), float64(rank)))
		place := func(x []int) (i int) {
			for _, k := range x {
				i = i*size + k
			}
			return i
		}
		sources, phases := group.Zeros(period, count), group.Zeros(period, count)
		for p := range period {
			each(size, rank, func(x []int) { sources[p][place(x)] = source(p, x) })
		}
		end := make([]float64, count)
		for range 60 + 2000/period {
			each(size, rank, func(x []int) {
				before := make([]int, rank)
				for i, k := range x {
					before[i] = from(k)
				}
				phases[0][place(x)] = end[place(before)]
			})
			for p := range period {
				copy(end, linear.Transform(a, rank, phases[p]))
				floats.Add(end, sources[p])
				if p+1 < period {
					copy(phases[p+1], end)
				}
			}
		}
		return phases
	}
	moved := func(p, a, i int) (sum float64) { // Cov(As, y)
		for b := range size {
			sum += law.A.At(a, b) * states[p].At(b, at[i])
		}
		return sum
	}
	skewness := func(x []int) (sum float64) {
		each(n, 3, func(k []int) {
			sum += gamma.At(x[0], k[0]) * gamma.At(x[1], k[1]) * gamma.At(x[2], k[2]) * e.skew[(k[0]*n+k[1])*n+k[2]]
		})
		return sum
	}
	third := periodic(3, func(p int, x []int) (sum float64) {
		for r := range 3 {
			a, b, alone := x[r], x[(r+1)%3], x[(r+2)%3]
			each(dim, 2, func(i []int) {
				for k := range n {
					sum += moved(p, a, i[0]) * d(i[0], i[1], k) * moved(p, b, i[1]) * gamma.At(alone, k)
				}
			})
			for i := range dim {
				each(n, 2, func(k []int) {
					sum += gamma.At(a, k[0]) * e.slope[i][k[0]*n+k[1]] * gamma.At(b, k[1]) * moved(p, alone, i)
				})
			}
		}
		if !e.assumed {
			sum += skewness(x)
		}
		return sum
	})
	assumed := periodic(3, func(_ int, x []int) float64 { return skewness(x) })
	forces := func(of func(p, k, l int) float64) [][]float64 {
		return periodic(2, func(p int, x []int) (sum float64) {
			each(n, 2, func(k []int) { sum += gamma.At(x[0], k[0]) * of(p, k[0], k[1]) * gamma.At(x[1], k[1]) })
			return sum
		})
	}
	correlated := func(cov func(p, a, k int) float64) [][]float64 {
		return periodic(2, func(p int, x []int) (sum float64) {
			for b := range size {
				for k := range n {
					sum += cov(p, b, k) * (a.At(x[0], b)*gamma.At(x[1], k) + a.At(x[1], b)*gamma.At(x[0], k))
				}
			}
			return sum
		})
	}
	via := func(third [][]float64) [][]float64 {
		return correlated(func(p, a, k int) (sum float64) {
			each(dim, 2, func(i []int) { sum += 0.5 * d(i[0], i[1], k) * third[p][(a*size+at[i[0]])*size+at[i[1]]] })
			return sum
		})
	}
	terms := [][][]float64{
		forces(func(p, k, l int) (sum float64) {
			for i := range dim {
				sum += e.slope[i][k*n+l] * m(p, i)
			}
			each(dim, 2, func(i []int) { sum += 0.5 * e.bend[i[0]*dim+i[1]][k*n+l] * y(p, i[0], i[1]) })
			return sum
		}),
		correlated(func(p, a, k int) (sum float64) {
			each(dim, 2, func(i []int) { sum += d(i[0], i[1], k) * m(p, i[0]) * states[p].At(a, at[i[1]]) })
			each(dim, 3, func(i []int) {
				sum += 0.5 * e.third[(i[0]*dim+i[1])*dim+i[2]][k] * states[p].At(a, at[i[0]]) * y(p, i[1], i[2])
			})
			return sum
		}),
		via(third),
		forces(func(p, k, l int) (sum float64) {
			each(dim, 4, func(i []int) {
				sum += 0.5 * d(i[0], i[1], k) * d(i[2], i[3], l) * y(p, i[0], i[2]) * y(p, i[1], i[3])
			})
			return sum
		}),
	}
	// Averages over the phases.
	out := &secondOrder{snapshot: mat.NewDense(n, n, nil), third: make([]float64, n*n*n)}
	g, b, t := e.reward, e.rewardBend, e.rewardThird
	mean := func(of func(p int) float64) (sum float64) {
		for p := range period {
			sum += of(p) / float64(period)
		}
		return sum
	}
	count := func(x float64) float64 {
		out.size += math.Abs(x)
		return x
	}
	varies := func(term [][]float64) float64 {
		return mean(func(p int) (sum float64) {
			each(n, 2, func(i []int) { sum += g[i[0]] * g[i[1]] * term[p][i[0]*size+i[1]] })
			return sum
		})
	}
	bends := func(third [][]float64, by func(i []int) float64) float64 {
		return mean(func(p int) (sum float64) {
			each(n, 3, func(i []int) { sum += by(i) * third[p][(i[0]*size+i[1])*size+i[2]] })
			return sum
		})
	}
	both := func(i []int) float64 { return g[i[0]] * b[i[1]*n+i[2]] }
	for _, term := range terms {
		out.spread += count(varies(term))
		each(n, 2, func(i []int) { out.snapshot.Set(i[0], i[1], out.snapshot.At(i[0], i[1])+term[0][i[0]*size+i[1]]) })
	}
	out.readout = count(bends(third, both))
	out.readout += count(mean(func(p int) (sum float64) {
		each(n, 3, func(i []int) { sum += 2 * both(i) * y(p, i[0], i[1]) * m(p, i[2]) })
		return sum
	}))
	out.readout += count(mean(func(p int) (sum float64) {
		each(n, 4, func(i []int) {
			sum += 0.5*b[i[0]*n+i[1]]*b[i[2]*n+i[3]]*y(p, i[1], i[2])*y(p, i[3], i[0]) +
				g[i[0]]*t[(i[1]*n+i[2])*n+i[3]]*y(p, i[0], i[1])*y(p, i[2], i[3])
		})
		return sum
	}))
	shift := func(p int) (sum float64) {
		for i := range n {
			sum += g[i] * m(p, i)
		}
		each(n, 2, func(i []int) { sum += 0.5 * b[i[0]*n+i[1]] * y(p, i[0], i[1]) })
		return sum
	}
	middle := mean(shift)
	out.readout += count(mean(func(p int) float64 { return (shift(p) - middle) * (shift(p) - middle) }))
	out.mean = bends(third, func(i []int) float64 { return t[(i[0]*n+i[1])*n+i[2]] / 6 })
	if e.assumed {
		out.assumed = bends(assumed, both) + varies(via(assumed))
	}
	later := mean(func(p int) (sum float64) {
		each(n, 2, func(i []int) { sum += g[i[0]] * g[i[1]] * moved(p, i[0], i[1]) })
		return sum
	})
	out.fast = 1 - later/mean(func(p int) float64 { return linear.Form(g, states[p].Slice(0, n, 0, n).(*mat.Dense), g) })
	each(n, 3, func(i []int) { out.third[(i[0]*n+i[1])*n+i[2]] = third[0][(i[0]*size+i[1])*size+i[2]] })
	return out
}
