package rom

import (
	"iter"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/scope"
)

// amongPrompts says how often a prompt with a policy of its own is drawn where each group is of
// a random prompt (docs/theory-trainers.md §11.7): a group belongs to it with the probability 1/C, or where
// groups of equal rewards are redrawn P/Σ_y P_y, P the probability that its rewards differ. Where no
// prompt has groups whose rewards differ, groups of equal rewards stay.
type amongPrompts struct {
	prompts float64 // C
	all     float64 // C or Σ_y P_y, of all prompts
}

// drawnShare returns the probability w that a group belongs to this prompt. With f and v the mean
// and the covariance of the force of one of its groups those of a group of any prompt are
//
//	w f,   w v + w(1−w) f fᵀ
func (m *model) drawnShare() float64 {
	switch {
	case m.among == nil:
		return 1
	case m.among.all == 0:
		return 1 / m.among.prompts
	}
	return m.drawnWeight() / m.among.all
}

// drawnWeight returns 1, or P of the snapshot where groups of equal rewards are redrawn.
func (m *model) drawnWeight() float64 {
	if m.Filter != option.Redraw {
		return 1
	}
	p, _ := m.counts.Differ(m.counts.Chances(m.Old))
	return p
}

// maxDrawn is the largest number of different prompts times steps whose mean paths are followed.
const maxDrawn = 200_000

// drawnPath is the mean path of a number of equal prompts.
type drawnPath struct {
	*model
	count float64
	noise *spread // of runs about the mean field; nil: none
	next  func() (theta []float64, ok bool)
	stop  func()
	theta []float64 // logits of the mean field
}

// drawnPaths are the mean paths of all prompts. They depend on each other through Σ_y P_y alone, which
// is replaced by its mean over the spread of runs.
type drawnPaths struct {
	each   []drawnPath
	among  *amongPrompts
	lag    option.Lag
	varies float64 // Var ΣP/(ΣP)² at the last refresh
}

// newDrawnPaths returns the mean paths of the distinct prompts, with the covariance of the noise
// multiplied by share.
func newDrawnPaths(all []startingPrompt, prompts, steps int, share float64) *drawnPaths {
	d := &drawnPaths{among: &amongPrompts{prompts: float64(prompts)}, lag: all[0].Lag}
	for _, prompt := range all {
		prompt.among = d.among
		one := drawnPath{model: newModel(&prompt.Params), count: prompt.count}
		if share > 0 {
			one.noise = newSpread(prompt.Params, prompt.start, steps, share)
		}
		one.next, one.stop = iter.Pull(func(yield func([]float64) bool) {
			meanField(prompt.Params, prompt.start, steps, func(_ int, theta []float64) (more bool) { return yield(theta) })
		})
		d.each = append(d.each, one)
	}
	return d
}

// advance takes all mean fields to step t. It returns false where one has left the range of floating
// point.
func (d *drawnPaths) advance(t int) (ok bool) {
	for i := range d.each {
		if d.each[i].theta, ok = d.each[i].next(); !ok {
			return false
		}
	}
	if t%d.lag.Interval == 0 { // a refresh
		sum, variance := 0.0, 0.0
		for i := range d.each {
			p := &d.each[i]
			mean, square := p.weight(t)
			sum += p.count * mean
			variance += p.count * max(square-mean*mean, 0)
		}
		d.among.all, d.varies = sum, 0
		if sum > 0 {
			d.varies = variance / (sum * sum)
		}
	}
	return true
}

// weight returns the mean of drawnWeight and of its square over the spread at step t.
func (p *drawnPath) weight(t int) (mean, square float64) {
	at := func(theta []float64) float64 {
		p.past.set(theta)
		return p.drawnWeight()
	}
	mean = at(p.theta)
	square = mean * mean
	if p.noise == nil {
		return mean, square
	}
	x, cov, ok := p.noise.of([]int{p.noise.slot(t)})
	if p.noise.lost || !ok {
		return mean, square
	}
	sigmaPoints(x, cov, 1e-3, func(x []float64) {
		mean = at(p.noise.moved(p.theta, x))
		square = mean * mean
	}, func(up, down, _ []float64, r, v float64) {
		centre, above, below, half := mean, at(p.noise.moved(p.theta, up)), at(p.noise.moved(p.theta, down)), 0.5*v/(r*r)
		mean += half * (above + below - 2*centre)
		square += half * (above*above + below*below - 2*centre*centre)
	})
	return mean, square
}

// drawnReward is MeanReward for prompts with a policy each, drawn with replacement. Every prompt is
// a bandit whose groups are a random share of those of a step, see drawnShare. Beside the sizes of
// MeanReward, with V and the shift of each prompt, it neglects that Σ_y P_y varies from run to run. A
// change of Σ_y P_y changes the speed of all prompts alike, so 2 Var ΣP/(ΣP)² of the distance that E J has
// gone is neglected.
func drawnReward(p Params, init []float64, at []int, neglected bool) Path {
	path := Path{Kind: Exact, Scope: Scope{In: true}, Reward: make([]float64, len(at))}
	if neglected {
		path.Neglected, path.Rounding = make([]float64, len(at)), make([]float64, len(at))
	}
	if len(at) == 0 {
		return path
	}
	all, steps, began := p.distinct(init), at[len(at)-1], ExpectedReward(p, init)
	path.Scope.Because = noSpread(&all[0].Params, steps)
	if n := len(all) * steps; !path.Scope.Because.Out() && n > maxDrawn {
		path.Scope.Because = scope.DrawnTooLong.Because(maxDrawn, n)
	}
	if because := p.notDerived(pathsOfPrompts); because.Out() {
		path.Scope.Because = because
	}
	if path.Scope.Because.Out() {
		path.Scope.In = false
		return path
	}
	// follow calls visit at each step with E J, with the mean over the prompts of (0.1 + V/2)|S| + ΔV²/32,
	// where S is the shift by the spread, and with Var ΣP/(ΣP)².
	follow := func(share, displaced float64, visit func(n int, reward, size, varies float64)) (ok bool) {
		d := newDrawnPaths(all, len(p.Prompts.First), steps, share)
		defer func() {
			for _, one := range d.each {
				one.stop()
			}
		}()
		n := 0
		for t := range steps + 1 {
			if !d.advance(t) {
				return false
			}
			if at[n] == t {
				reward, size := 0.0, 0.0
				for i := range d.each {
					one := &d.each[i]
					w := one.count / d.among.prompts
					reward += w * one.expected(one.theta)
					if one.noise != nil {
						by := one.noise.rewardShift(t, one.theta)
						reward += w * by.shift
						span := math.Abs(one.Arms[0].Mean - one.Arms[1].Mean)
						size += w * ((unresolved+by.variance/2)*math.Abs(by.shift) + span*by.variance*by.variance/32)
					}
				}
				visit(n, reward, size, d.varies)
				if n++; n == len(at) {
					return true
				}
			}
			for i := range d.each {
				one := &d.each[i]
				if one.noise != nil {
					one.noise.step(t, one.theta)
				}
				for a, x := range one.theta {
					one.theta[a] += float64(1-2*a) * displaced * max(1, math.Abs(x))
				}
			}
		}
		return true
	}
	sizes, varies := make([]float64, len(at)), make([]float64, len(at))
	inRange := follow(1, 0, func(n int, reward, size, v float64) { path.Reward[n], sizes[n], varies[n] = reward, size, v })
	if inRange && neglected {
		field, half := make([]float64, len(at)), make([]float64, len(at))
		follow(0, 0, func(n int, reward, _, _ float64) { field[n] = reward })
		follow(0.5, 0, func(n int, reward, _, _ float64) { half[n] = reward })
		addLargest(path.Neglected, func(n int) float64 {
			full := path.Reward[n] - field[n]
			return 2*math.Abs(full-2*(half[n]-field[n])) + sizes[n] + 2*slices.Max(varies[:n+1])*math.Abs(path.Reward[n]-began)
		})
		for _, displaced := range [2]float64{rounding, -rounding} {
			rounded := make([]float64, len(at))
			follow(0, displaced, func(n int, reward, _, _ float64) { rounded[n] = reward })
			addLargest(path.Rounding, func(n int) float64 { return math.Abs(rounded[n] - field[n]) })
		}
		for n, x := range path.Rounding {
			path.Neglected[n] += x
		}
	}
	if !inRange {
		path.Scope = Scope{Because: scope.PromptOverflows.Because()}
	}
	return path
}
