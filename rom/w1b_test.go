package rom_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/rom"
)

func TestW1Random(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	bad, n, in := 0, 0, 0
	for n < 150 {
		p := bandit(rom.Scale(r.IntN(2)), math.Exp(math.Log(0.05)+r.Float64()*math.Log(40)), []int{2, 3, 4, 6, 8}[r.IntN(5)])
		switch r.IntN(3) {
		case 0:
			p.Arms = []rom.Arm{{Law: rom.Constant, Mean: 1}, {Law: rom.Constant, Mean: 0}}
		case 1:
			p.Arms = []rom.Arm{{Law: rom.Bernoulli, Mean: r.Float64()}, {Law: rom.Bernoulli, Mean: r.Float64()}}
		}
		p.Reference = []float64{6*r.Float64() - 3, 0}
		p.KLEstimator = rom.KLEstimator(r.IntN(3))
		p.Weighting = rom.Weighting(r.IntN(2))
		p.Baseline = rom.Baseline(r.IntN(2))
		p.Epsilon = []float64{0, 0.1}[r.IntN(2)]
		p.Optimizer.Rate = math.Exp(math.Log(0.01) + r.Float64()*math.Log(300))
		got := rom.Predict(p)
		if !got.Noise.In || got.Moments.RewardVariance == nil || !got.Exact.Scope.In {
			continue
		}
		lin, v := *got.Exact.StationaryVariance.ExpectedReward, *got.Exact.StationaryVariance.LogitGap
		if v > 0.5 || v < 1e-3 || lin == 0 {
			continue
		}
		star := gapOf(got.FixedPoint.Logits)
		reward := func(z float64) float64 { return oracleReward(p, gapAt(z)) }
		law := newGrid(p, star, 7.5*math.Sqrt(v)+3*p.Optimizer.Rate*math.Sqrt(got.GradientVariance)+0.1, 220)
		ej := law.mean(reward)
		vj := law.mean(func(z float64) float64 { return (reward(z) - ej) * (reward(z) - ej) })
		n++
		nl, e := got.Neglected, *got.Moments.RewardVariance-vj
		share := law.mean(func(z float64) float64 { j := reward(z); return math.Pow(j, float64(p.GroupSize)) + math.Pow(1-j, float64(p.GroupSize)) })
		dj := *got.Moments.RewardShift + got.FixedPoint.Reward - ej
		ds := *got.Moments.ZeroVariance - share
		mark := ""
		inScope := nl.RewardVariance < 0.05*(*got.Moments.RewardVariance)
		if inScope { in++ }
		if math.Abs(e) > nl.RewardVariance { mark += " VAR" }
		if math.Abs(e) > nl.RewardVariance && inScope { mark += "!" }
		if math.Abs(e) > 0.1*math.Abs(vj) && inScope { mark += "!!!!" }
		if math.Abs(dj) > nl.RewardMean+1e-9 { mark += " MEAN" }
		if math.Abs(ds) > nl.ZeroVariance+1e-9 { mark += " SHARE" }
		if mark != "" { bad++ }
		fmt.Printf("V=%.4f J=%.3f lin %+.4f err %+.5f est %.5f | J %+.2e est %.2e | share %.4f %+.2e est %.2e %s  %s p=%v\n", v, ej, lin/vj-1, e/vj, nl.RewardVariance/vj, dj, nl.RewardMean, share, ds, nl.ZeroVariance, mark, describe(p), got.Stiffness.Total*p.Optimizer.Rate)
	}
	fmt.Println(bad, "bad of", n, "in", in)
}
