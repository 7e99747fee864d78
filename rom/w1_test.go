package rom_test

import (
	"fmt"
	"math"
	"testing"

	"grposim/rom"

	"gonum.org/v1/gonum/mat"
)

func TestW1(t *testing.T) {
	for _, scale := range []rom.Scale{rom.Unscaled, rom.GroupStd} {
		for _, size := range []int{2, 4, 8} {
			for _, eta := range []float64{0.03, 0.1, 0.3, 1, 2} {
				for _, beta := range []float64{0.1, 0.5, 1.2} {
					p := bandit(scale, beta, size)
					p.Optimizer.Rate = eta
					got := rom.Predict(p)
					if got.Moments.RewardVariance == nil {
						continue
					}
					v := *got.Exact.StationaryVariance.LogitGap
					lin := *got.Exact.StationaryVariance.ExpectedReward
					if v > 0.3 {
						continue
					}
					star := gapOf(got.FixedPoint.Logits)
					reward := func(z float64) float64 { return oracleReward(p, gapAt(z)) }
					half := 7.5 * math.Sqrt(v)
					if half < 4*eta {
						half = 4 * eta
					}
					law := newGrid(p, star, half+0.2, 300)
					ej := law.mean(reward)
					vj := law.mean(func(z float64) float64 { return (reward(z) - ej) * (reward(z) - ej) })
					if v < 0.02 {
						continue
					}
					nl := got.Neglected
					share := law.mean(func(z float64) float64 {
						j := reward(z)
						return math.Pow(j, float64(size)) + math.Pow(1-j, float64(size))
					})
					fmt.Printf("%d G=%2d eta=%.2f beta=%.1f V=%.4f lin %+.4f err %+.5f est %.5f | J %+.2e est %.2e of %.2e| share %.4f err %+.2e est %.2e by noise %.2e\n", scale, size, eta, beta, v, lin/vj-1, *got.Moments.RewardVariance/vj-1, nl.RewardVariance/vj, *got.Moments.RewardShift+got.FixedPoint.Reward-ej, nl.RewardMean, ej-got.FixedPoint.Reward, share, *got.Moments.ZeroVariance-share, nl.ZeroVariance, *got.Moments.ZeroVarianceShift)
				}
			}
		}
	}
}

func newGrid(p rom.Params, centre, half float64, nodes int) nonlinear {
	z := make([]float64, nodes)
	step := 2 * half / float64(nodes-1)
	for i := range z {
		z[i] = centre - half + step*float64(i)
	}
	a := mat.NewDense(nodes, nodes, nil)
	for i := range nodes {
		oracleEachCount(p, gapAt(z[i]), gapAt(z[i]), func(w float64, g []float64) {
			u := (z[i] + p.Optimizer.Rate*gapOf(g) - z[0]) / step
			j := min(max(int(math.Floor(u)), 1), nodes-3)
			x := min(max(u-float64(j), -1), 2)
			for k, v := range []float64{-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2, -(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6} {
				a.Set(j-1+k, i, a.At(j-1+k, i)+w*v)
			}
		})
		a.Set(i, i, a.At(i, i)-1)
	}
	for j := range nodes {
		a.Set(0, j, 1)
	}
	b := mat.NewVecDense(nodes, nil)
	b.SetVec(0, 1)
	var w mat.VecDense
	if err := w.SolveVec(a, b); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			panic(err)
		}
	}
	return nonlinear{z, w.RawVector().Data}
}
