package path

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// The mean path along ten bandits, against programs written from docs/theory.md §1 alone: the
// Gaussian closure, which takes every average anew in every step, and a simulation that draws
// sample by sample (20,000 to 100,000 runs; the standard error in the last place given). Held
// forces err by a hundredth of a shift.
func TestMeanPathsOfTheReference(t *testing.T) {
	of := func(size int, scale option.Scale, rate float64, means ...float64) cell.Params {
		p, _ := plainRun(size, rate, means...)
		p.Advantage.Scale = scale
		return p
	}
	type at struct {
		step                      int
		field, gaussian, runs, se float64
	}
	for name, c := range map[string]struct {
		p    cell.Params
		set  func(p *cell.Params)
		init []float64
		at   []at
	}{
		"two arms": {of(4, option.NoScale, 0.3, 0.2, 0.9), nil, nil, []at{
			{15, .72262603, .72106510, .721059, 6e-6}, {60, .85309388, .85240012, .852402, 4e-6}}},
		"blocks": {of(8, option.StdScale, 0.1, 0.2, 0.9), func(p *cell.Params) { p.Lag.Interval = 4 },
			nil, []at{
				{32, .79741346, .79678381, .796780, 3e-6}, {62, .85176108, .85137780, .851378, 2e-6}}},
		"three arms, ratio, momentum": {of(4, option.StdScale, 0.1, 0.1, 0.5, 0.9), func(p *cell.Params) {
			p.Importance.Mode, p.Lag.Interval, p.Optimizer.Momentum = option.Ratio, 4, 0.5
		}, nil, []at{{32, .77633470, .77231492, .772249, 14e-6},
			{62, .84847083, .84673274, .846690, 7e-6}}},
		"eight arms, long blocks": {of(
			16, option.NoScale, 2, .1, .1+.8/7, .1+1.6/7, .1+2.4/7, .1+3.2/7, .1+4./7, .1+4.8/7, .9),
			func(p *cell.Params) {
				p.GroupsPerStep, p.Importance.Mode, p.Lag.Interval = 2, option.Ratio, 16
			}, nil, []at{{15, .74486300, .74206646, .742190, 29e-6},
				{63, .88862784, .88798364, .886938, 39e-6}}},
		"rare best arm, penalty": {of(4, option.NoScale, 0.5, 0.2, 0.9), func(p *cell.Params) {
			p.KL, p.Reference = option.KL{Coefficient: 0.05, Gradient: option.ExactKL, At: option.AtCurrent},
				[]float64{0, 0}
		}, []float64{0, math.Log(0.05 / 0.95)},
			[]at{{40, .52877538, .51780634, .515127, 94e-6}, {160, .88279660, .88244547, .882286, 4e-6}}},
		"delay": {of(4, option.NoScale, 0.3, 0.2, 0.9), func(p *cell.Params) {
			p.Lag, p.Optimizer.Momentum = option.Lag{Kind: option.Delay, Interval: 3}, 0.5
		}, nil, []at{{15, .81440245, .81054326, .81045, 9e-5}, {30, .86230585, .86083652, .86079, 4e-5}}},
		"redrawn": {of(4, option.StdScale, 0.15, 0.2, 0.9),
			func(p *cell.Params) { p.Filter = option.Redraw }, nil, []at{
				{15, .76324696, .76170381, .761695, 6e-6}, {60, .87996696, .87950438, .879506, 2e-6}}},
		"certain rewards": {of(8, option.StdScale, 0.1, 0, 1), func(p *cell.Params) {
			p.Advantage.Baseline, p.Advantage.Std = option.LeaveOneOut, option.SampleStd
		}, []float64{1, -1}, []at{{30, .59727561, .59329590, .593391, 16e-6},
			{120, .97595067, .97572161, .975720, 1e-6}}},
		"three arms, long blocks": {of(8, option.StdScale, 0.6, 0.1, 0.5, 0.9),
			func(p *cell.Params) { p.Lag.Interval = 16 }, nil, []at{
				{15, .85314089, .84668201, .846688, 25e-6}, {47, .89208717, .89197628, .891893, 4e-6}}},
		"k3 of the snapshot": {of(4, option.NoScale, 0.3, 0.2, 0.9), func(p *cell.Params) {
			p.Importance.Mode, p.Lag.Interval = option.Ratio, 4
			p.KL, p.Reference = option.KL{Coefficient: 0.1, Gradient: option.K3, At: option.AtSnapshot},
				[]float64{0, 0}
		}, nil, []at{{16, .71853102, .71727319, .717284, 11e-6},
			{62, .82065123, .82030655, .820306, 5e-6}}},
	} {
		p, init := c.p, c.init
		if c.set != nil {
			c.set(&p)
		}
		if init == nil {
			init = make([]float64, len(p.Arms))
		}
		p = p.Checked()
		for _, want := range c.at {
			run := followOn(p, init, []int{want.step}, want.step, 0, []observable{rewardOf},
				newSpread(p, init, want.step))
			close := func(what string, got, want, within float64) {
				if !(math.Abs(got-want) <= within) {
					t.Errorf("%s: %s %.8f, want %.8f within %.1g", name, what, got, want, within)
				}
			}
			close("mean field", run.field[0][0], want.field, 6e-9)
			close("Gaussian closure", run.field[0][0]+run.noisy[0][0].shift, want.gaussian,
				0.015*math.Abs(want.gaussian-want.field))
			whole := Paths(p, init, []int{want.step}, Reward)[0]
			close("mean of runs", whole.Mean[0], want.runs, 4*want.se+whole.Neglected[0])
		}
	}
}
