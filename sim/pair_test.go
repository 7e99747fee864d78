package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/sim/measure"
)

// anyPairCell returns a random cell whose pairs run in vectors where the processor can.
// Some have steps too large to be stable, or logits that overflow.
func anyPairCell(t *testing.T, random *rand.Rand, i int) Cell {
	c := anyVectorCell(random, i)
	if adv := &c.Estimator.Advantage; adv.Baseline == option.RunningMean {
		adv.Baseline = option.ConstantBaseline // pairs have no running mean
	}
	c.Run.Steps = 1 + random.IntN(120)
	c.Run.BurnIn = random.IntN(c.Run.Steps)
	c.Run.Replicas = 1 + random.IntN(40)
	switch random.IntN(4) {
	case 0:
		c.Optimizer.LearningRate *= 50
	case 1:
		c.Optimizer.LearningRate = math.Pow(10, 300+8*random.Float64())
		c.Optimizer.Momentum = 0.99
		c.Estimator.KL.Coefficient = 1e3
	}
	if !hasVectorPairs(&c) {
		t.Skip("no vector instructions: this build or this processor lacks them")
	}
	return c
}

// anyDirection returns a random vector with a component for each arm, not 0.
func anyDirection(random *rand.Rand, arms int) []float64 {
	v := make([]float64, arms)
	for a := range v {
		v[a] = random.NormFloat64()
	}
	return v
}

// Pairs in vectors give to the last bit the fits of pairs one by one.
func TestVectorPairsRelaxAsPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rows, lost, informed := 0, 0, 0
	for i := range 600 / thin {
		c := anyPairCell(t, random, i)
		arms := len(c.Init)
		offset := [...]float64{1e-9, 0.01, 0.3}[random.IntN(3)]
		c.Relaxation = &RelaxationProbe{Point: c.Init, Direction: anyDirection(random, arms), Offset: offset}
		over := [...]span{{from: c.Run.BurnIn, growth: FittedGrowth}, {from: c.Run.BurnIn / 2, growth: sampledGrowth, decay: sampledDecay}}[random.IntN(2)]
		bins := 1 + random.IntN(min(c.Run.Replicas, 20))
		first := random.IntN(bins)
		runs := func() *pairRuns { return c.Relaxation.runs(&c) }
		want := make([]measure.Recurrence, min(vectorBins, bins-first))
		got := make([]measure.Recurrence, len(want))
		fits := func(bins []measure.Recurrence) []pairFit {
			return recurrenceFits(&c, c.Relaxation.Direction, offset, bins, over)
		}
		r := runs()
		wantOK := r.oneByOne(t.Context(), fits(want), first, bins)
		ok := newVectorPairs(&c, r.sides[0].sampler).relax(t.Context(), runs(), fits(got), first, bins)
		if ok != wantOK {
			t.Fatalf("%+v: logits stay finite: %t, want %t", c, ok, wantOK)
		}
		for n := range want {
			if g, w := fmt.Sprintf("%x", got[n]), fmt.Sprintf("%x", want[n]); g != w {
				t.Fatalf("%+v, bin %d of %d:\ngot  %s\nwant %s", c, first+n, bins, g, w)
			}
			if want[n] != newFit(&c, offset) {
				rows++
			}
			informed += want[n].Innovations
		}
		if !ok {
			lost++
		}
	}
	if rows < 500/thin || lost < 30/thin || informed < 5000/thin {
		t.Errorf("%d fits with data, %d cells that overflow, %d informative steps: too few", rows, lost, informed)
	}
}

// So do maps of all modes, from starts with velocities.
func TestVectorPairsMapAsPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	rows := 0
	for i := range 200 / thin {
		c := anyPairCell(t, random, i)
		if c.Lag.Kind == option.Random {
			continue
		}
		m := newMapping(&c)
		maps := func(relax func(r *pairRuns, fits []pairFit)) string {
			r := &pairRuns{newPair(&c, c.Init, nil, 0.1), ForLocation}
			r.starts = m.starts(&c.Optimizer, 1)
			fits, maps := mapFits(m, min(vectorBins, c.Run.Replicas), 1)
			relax(r, fits)
			all := ""
			for _, one := range maps {
				all += fmt.Sprintf("%x\n", *one)
				if _, ok := one.Fit(); ok {
					rows++
				}
			}
			return all
		}
		want := maps(func(r *pairRuns, fits []pairFit) { r.oneByOne(t.Context(), fits, 0, len(fits)) })
		got := maps(func(r *pairRuns, fits []pairFit) {
			newVectorPairs(&c, r.sides[0].sampler).relax(t.Context(), r, fits, 0, len(fits))
		})
		if got != want {
			t.Fatalf("%+v:\ngot  %s\nwant %s", c, got, want)
		}
	}
	if rows < 40/thin {
		t.Errorf("%d fits determine a map: too few", rows)
	}
}

// Probes of stiffness in vectors give to the last bit the slopes of pairs one by one.
func TestVectorPairsMeasureSlopesAsPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	differ := 0
	for i := range 120 {
		c := anyPairCell(t, random, i)
		c.Estimator.GroupsPerStep = 1 + random.IntN(2)
		arms := len(c.Init)
		p := StiffnessProbe{
			Displaced: [...]Displaced{Both, Current, Behind}[i%3], Point: c.Init,
			Direction: anyDirection(random, arms), Covector: anyDirection(random, arms),
			Displacement: [...]float64{1e-6, 0.1, 1}[random.IntN(3)],
			Pairs:        stiffnessBins*fewestVectorPairs + random.IntN(600),
		}
		first := random.IntN(stiffnessBins - 1)
		want := make([]slopes, min(vectorBins, stiffnessBins-first))
		got := make([]slopes, len(want))
		laws := coupledLaws(&c.Bandit, &c.Estimator)
		p.oneByOne(t.Context(), &c, laws, 2, first, want)
		s := newSampler(&c.Bandit, &c.Estimator, laws, p.Pairs)
		newVectorPairs(&c, s).slopes(t.Context(), &p, 2, first, got)
		for n := range want {
			if g, w := fmt.Sprintf("%x", got[n]), fmt.Sprintf("%x", want[n]); g != w {
				t.Fatalf("%+v, %+v, bin %d:\ngot  %s\nwant %s", c, p, first+n, g, w)
			}
			if want[n].near != 0 && want[n].informative >= FewestInformative {
				differ++
			}
		}
	}
	if differ < 200 {
		t.Errorf("%d bins with informative pairs: too few", differ)
	}
}
