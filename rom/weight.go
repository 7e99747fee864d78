package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/linear"
)

// weighting is a row of the table of importance weights w^±(ρ) (docs/theory-trainers.md §11.2).
type weighting struct {
	// weight returns w^± of an arm with the given ratio ρ and π_old.
	weight func(p *Params, ratio, old float64) (up, down float64)
	// slope returns s^± = dw^±/dρ at ρ = 1.
	slope func(p *Params) (up, down float64)
	// bands returns where w^± is ρ, for an arm of the given probability; nil: w^± is smooth.
	bands func(p *Params, prob float64) (up, down band)
	// scale returns the change of ρ over which a smooth weight bends; nil: one of order 1.
	scale func(p *Params) float64
}

// band is the range 1 − below ≤ ρ ≤ 1 + above in which a weight is ρ.
type band struct {
	below, above float64 // ≥ 0, +Inf: no bound
	held         bool    // beyond a bound the weight is the bound, else 0
}

// of returns the weight.
func (b band) of(ratio float64) float64 {
	switch {
	case ratio > 1+b.above && b.held:
		return 1 + b.above
	case ratio < 1-b.below && b.held:
		return 1 - b.below
	case ratio > 1+b.above, ratio < 1-b.below:
		return 0
	}
	return ratio
}

// banded is the row of weights with the given bands.
func banded(bands func(p *Params, prob float64) (up, down band)) weighting {
	return weighting{
		weight: func(p *Params, ratio, old float64) (up, down float64) {
			above, below := bands(p, old)
			return above.of(ratio), below.of(ratio)
		},
		slope: func(*Params) (up, down float64) { return 1, 1 },
		bands: bands,
	}
}

// weightings is the table, by Weighting.
var weightings = [...]weighting{
	option.NoImportance: {
		weight: func(*Params, float64, float64) (up, down float64) { return 1, 1 },
		slope:  func(*Params) (up, down float64) { return 0, 0 },
	},
	option.Ratio: {
		weight: func(_ *Params, ratio, _ float64) (up, down float64) { return ratio, ratio },
		slope:  func(*Params) (up, down float64) { return 1, 1 },
	},
	option.Clip: banded(func(p *Params, _ float64) (up, down band) {
		return band{math.Inf(1), p.Importance.ClipHigh, false}, band{p.Importance.ClipLow, math.Inf(1), false}
	}),
	option.DualClip: banded(func(p *Params, _ float64) (up, down band) {
		return band{math.Inf(1), p.Importance.ClipHigh, false}, band{p.Importance.ClipLow, p.Importance.Cap - 1, false}
	}),
	option.Truncated: banded(func(p *Params, _ float64) (up, down band) {
		both := band{math.Inf(1), p.Importance.Cap - 1, true}
		return both, both
	}),
	option.Masked: banded(func(p *Params, _ float64) (up, down band) {
		both := band{1 - p.Importance.Floor, p.Importance.Cap - 1, false}
		return both, both
	}),
	option.CISPO: banded(func(p *Params, _ float64) (up, down band) {
		both := band{p.Importance.ClipLow, p.Importance.ClipHigh, true}
		return both, both
	}),
	option.SAPO: {
		weight: func(p *Params, ratio, _ float64) (up, down float64) {
			// 4σ(1−σ) = 1/cosh²(x/2), which is 0 long before cosh overflows
			of := func(tau float64) float64 {
				ratio := min(ratio, 1e300)
				c := math.Cosh(min(tau*math.Abs(ratio-1)/2, 300))
				return ratio / (c * c)
			}
			return of(p.Importance.Temperature.Positive), of(p.Importance.Temperature.Negative)
		},
		slope: func(*Params) (up, down float64) { return 1, 1 },
		scale: func(p *Params) float64 {
			return 1 / max(p.Importance.Temperature.Positive, p.Importance.Temperature.Negative, 1)
		},
	},
	option.VESPO: {
		weight: func(p *Params, ratio, _ float64) (up, down float64) {
			of := func(k, lambda float64) float64 {
				return fp.Exp(min(k*math.Log(ratio)-lambda*(min(ratio, 1e300)-1), 500))
			}
			return of(p.Importance.Power.Positive, p.Importance.Decay.Positive), of(p.Importance.Power.Negative, p.Importance.Decay.Negative)
		},
		slope: func(p *Params) (up, down float64) {
			return p.Importance.Power.Positive - p.Importance.Decay.Positive, p.Importance.Power.Negative - p.Importance.Decay.Negative
		},
		scale: func(p *Params) float64 {
			return 1 / max(p.Importance.Power.Positive, p.Importance.Power.Negative, p.Importance.Decay.Positive, p.Importance.Decay.Negative, 1)
		},
	},
	option.DPPO: banded(func(p *Params, prob float64) (up, down band) {
		return band{math.Inf(1), p.Importance.ClipHigh / prob, false}, band{p.Importance.ClipLow / prob, math.Inf(1), false}
	}),
}

// bySign reports whether samples of positive and of negative advantage can have different
// weights at the same ratio.
func (p *Params) bySign() bool {
	switch p.Importance.Mode {
	case option.Clip, option.DualClip, option.DPPO:
		return true
	}
	return p.signedWithin()
}

// signedWithin reports whether they differ at any distance from ρ = 1.
func (p *Params) signedWithin() bool {
	switch p.Importance.Mode {
	case option.SAPO:
		return p.Importance.Temperature.Positive != p.Importance.Temperature.Negative
	case option.VESPO:
		return p.Importance.Power.Positive != p.Importance.Power.Negative || p.Importance.Decay.Positive != p.Importance.Decay.Negative
	}
	return false
}

// smoothRange returns the largest change of a ratio from 1 at which no weight has a kink,
// or over which smooth weights bend.
func (p *Params) smoothRange() float64 {
	row := weightings[p.Importance.Mode]
	switch {
	case row.bands != nil:
		up, down := row.bands(p, 1)
		return min(up.below, up.above, down.below, down.above)
	case row.scale != nil:
		return 0.4 * row.scale(p)
	}
	return math.Inf(1)
}

// jumps reports whether weights drop to 0 at a ratio that is not 1.
func (p *Params) jumps() bool {
	row := weightings[p.Importance.Mode]
	if row.bands == nil || linear.NewLag(&p.Lag).OnPolicy() {
		return false
	}
	up, _ := row.bands(p, 1)
	return !up.held && !math.IsInf(p.smoothRange(), 1)
}

// unknownWeights returns the reason why the importance weights put the dynamics about a
// point with θ = θ_old out of scope, "" where they do not. Where w⁺ ≠ w⁻ however small the
// displacement, mean and noise of finite groups are known from the numbers of samples by
// sign, and so for rewards of few values only.
func (p *Params) unknownWeights() string {
	success, _ := twoValued(p.Arms)
	switch {
	case p.smoothRange() == 0:
		return "the importance weight has a kink or a jump where the current policy is the snapshot"
	case p.signedWithin() && p.GroupSize != option.Infinite && success == nil && (p.groups == nil || p.groups.smeared):
		return "importance weights that depend on the sign of the advantage, with normal rewards or rewards of too many values in finite groups"
	}
	return ""
}

// weigh sets the importance weights of every arm for positive (up) and negative
// (down) advantages. An arm with π_old = 0 has the ratio 0.
func (m *model) weigh() {
	row := &weightings[m.Importance.Mode]
	for a, old := range m.past.probs {
		ratio := 0.0
		if old > 0 {
			ratio = m.now.probs[a] / old
		}
		m.up[a], m.down[a] = row.weight(m.Params, ratio, old)
	}
}

// bendWeights moves what the slopes s^± of the weights change from the stale to the fresh part of
// the reward's stiffness, given that of weights ρ. E[c_a] is linear in w^±_a, so with d_a its
// value for w^± = s^± − 1 and θ = θ_old it is
//
//	−(I − π1ᵀ) diag d (I − 1πᵀ)
func (m *model) bendWeights(fresh, stale [][]float64) {
	up, down := weightings[m.Importance.Mode].slope(m.Params)
	if up == 1 && down == 1 {
		return
	}
	for a := range m.up {
		m.up[a], m.down[a] = up-1, down-1
	}
	d := make([]float64, len(m.up))
	m.unprojected(d)
	m.weigh()
	part, probs := square(len(d)), m.now.probs
	for a, x := range d {
		part[a][a] = -x
	}
	projectMatrix(part, probs, probs)
	for a := range d {
		for b, x := range part[a] {
			fresh[a][b] += x
			stale[a][b] -= x
		}
	}
}
