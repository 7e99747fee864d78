// Package weight is the table of importance weights w^±(ρ) of the theory (docs/theory-trainers.md
// §11.2): a new weight is a row of it.
package weight

import (
	"math"

	"grposim/fp"
	"grposim/option"
)

// row is a row of the table.
type row struct {
	// weight returns w^± of an arm with the given ratio ρ and π_old.
	weight func(imp *option.Importance, ratio, old float64) (up, down float64)
	// slope returns dw^±/dρ of an arm with the given ratio ρ and π_old.
	slope func(imp *option.Importance, ratio, old float64) (up, down float64)
	// most returns a bound of w^± of an arm with a ratio from low to high and the given π_old.
	most func(imp *option.Importance, low, high, old float64) float64
	// signed reports whether w⁺ and w⁻ differ at any distance from ρ = 1; nil: they do not.
	signed func(imp *option.Importance) bool
	// bands returns where w^± is ρ, for an arm of the given probability; nil: w^± is smooth.
	bands func(imp *option.Importance, prob float64) (up, down Band)
	// scale returns the change of ρ over which a smooth weight bends; nil: it does not.
	scale func(imp *option.Importance) float64
}

// Band is the range 1 − below ≤ ρ ≤ 1 + above in which a weight is ρ.
type Band struct {
	Below, Above float64 // ≥ 0, +Inf: no bound
	Held         bool    // beyond a bound the weight is the bound, else 0
}

// of returns the weight.
func (b Band) of(ratio float64) float64 {
	switch {
	case ratio > 1+b.Above && b.Held:
		return 1 + b.Above
	case ratio < 1-b.Below && b.Held:
		return 1 - b.Below
	case ratio > 1+b.Above, ratio < 1-b.Below:
		return 0
	}
	return ratio
}

// slope returns that of the weight.
func (b Band) slope(ratio float64) float64 {
	if ratio > 1+b.Above || ratio < 1-b.Below {
		return 0
	}
	return 1
}

// most returns the least bound of the weights at the ratios from low to high.
func (b Band) most(low, high float64) float64 {
	if b.Held && high < 1-b.Below {
		return 1 - b.Below
	}
	return min(high, 1+b.Above)
}

// banded is the row of weights with the given bands.
func banded(bands func(imp *option.Importance, prob float64) (up, down Band)) row {
	return row{
		weight: func(imp *option.Importance, ratio, old float64) (up, down float64) {
			above, below := bands(imp, old)
			return above.of(ratio), below.of(ratio)
		},
		slope: func(imp *option.Importance, ratio, old float64) (up, down float64) {
			above, below := bands(imp, old)
			return above.slope(ratio), below.slope(ratio)
		},
		most: func(imp *option.Importance, low, high, old float64) float64 {
			up, down := bands(imp, old)
			return max(up.most(low, high), down.most(low, high))
		},
		bands: bands,
	}
}

// weightings is the table, by ImportanceMode.
var weightings = [...]row{
	option.NoImportance: {
		weight: func(*option.Importance, float64, float64) (up, down float64) { return 1, 1 },
		slope:  func(*option.Importance, float64, float64) (up, down float64) { return 0, 0 },
		most:   func(*option.Importance, float64, float64, float64) float64 { return 1 },
	},
	option.Ratio: {
		weight: func(_ *option.Importance, ratio, _ float64) (up, down float64) { return ratio, ratio },
		slope:  func(*option.Importance, float64, float64) (up, down float64) { return 1, 1 },
		most:   mostRatio,
	},
	option.Clip: banded(func(imp *option.Importance, _ float64) (up, down Band) {
		return Band{math.Inf(1), imp.ClipHigh, false}, Band{imp.ClipLow, math.Inf(1), false}
	}),
	option.DualClip: banded(func(imp *option.Importance, _ float64) (up, down Band) {
		return Band{math.Inf(1), imp.ClipHigh, false}, Band{imp.ClipLow, imp.Cap - 1, false}
	}),
	option.Truncated: banded(func(imp *option.Importance, _ float64) (up, down Band) {
		both := Band{math.Inf(1), imp.Cap - 1, true}
		return both, both
	}),
	option.Masked: banded(func(imp *option.Importance, _ float64) (up, down Band) {
		both := Band{1 - imp.Floor, imp.Cap - 1, false}
		return both, both
	}),
	option.CISPO: banded(func(imp *option.Importance, _ float64) (up, down Band) {
		both := Band{imp.ClipLow, imp.ClipHigh, true}
		return both, both
	}),
	option.SAPO: {
		weight: func(imp *option.Importance, ratio, _ float64) (up, down float64) {
			of := func(tau float64) float64 { return min(ratio, 1e300) / steepness(tau, ratio) }
			return of(imp.Temperature.Positive), of(imp.Temperature.Negative)
		},
		slope: func(imp *option.Importance, ratio, _ float64) (up, down float64) {
			of := func(tau float64) float64 {
				ratio := min(ratio, 1e300)
				sigmoid := 1 / (1 + fp.MathExp(-tau*(ratio-1)))
				return (1 - ratio*tau*(2*sigmoid-1)) / steepness(tau, ratio)
			}
			return of(imp.Temperature.Positive), of(imp.Temperature.Negative)
		},
		most:   mostRatio, // w ≤ ρ
		signed: func(imp *option.Importance) bool { return imp.Temperature.Positive != imp.Temperature.Negative },
		scale: func(imp *option.Importance) float64 {
			return 1 / max(imp.Temperature.Positive, imp.Temperature.Negative, 1)
		},
	},
	option.VESPO: {
		weight: weighVESPO,
		slope: func(imp *option.Importance, ratio, _ float64) (up, down float64) {
			up, down = weighVESPO(imp, ratio, 0)
			return up * (imp.Power.Positive/ratio - imp.Decay.Positive),
				down * (imp.Power.Negative/ratio - imp.Decay.Negative)
		},
		most: mostVESPO,
		signed: func(imp *option.Importance) bool {
			return imp.Power.Positive != imp.Power.Negative || imp.Decay.Positive != imp.Decay.Negative
		},
		scale: func(imp *option.Importance) float64 {
			return 1 / max(imp.Power.Positive, imp.Power.Negative, imp.Decay.Positive, imp.Decay.Negative, 1)
		},
	},
	option.DPPO: banded(func(imp *option.Importance, prob float64) (up, down Band) {
		return Band{math.Inf(1), imp.ClipHigh / prob, false}, Band{imp.ClipLow / prob, math.Inf(1), false}
	}),
}

// steepness returns 1/(4σ(1−σ)) = cosh²(x/2), x = τ(ρ − 1), whose inverse is 0 long before cosh
// overflows.
func steepness(tau, ratio float64) float64 {
	c := fp.Cosh(min(tau*math.Abs(ratio-1)/2, 300))
	return c * c
}

func mostRatio(_ *option.Importance, _, high, _ float64) float64 { return high }

// weighVESPO returns w = ρ^k e^{λ(1−ρ)}.
func weighVESPO(imp *option.Importance, ratio, _ float64) (up, down float64) {
	of := func(k, lambda float64) float64 {
		return fp.MathExp(min(k*math.Log(ratio)-lambda*(min(ratio, 1e300)-1), 500))
	}
	return of(imp.Power.Positive, imp.Decay.Positive), of(imp.Power.Negative, imp.Decay.Negative)
}

// mostVESPO is their bound: they are largest at k/λ.
func mostVESPO(imp *option.Importance, low, high, old float64) (most float64) {
	for _, peak := range [3]float64{
		imp.Power.Positive / imp.Decay.Positive, imp.Power.Negative / imp.Decay.Negative, 0,
	} {
		if !math.IsNaN(peak) {
			up, down := weighVESPO(imp, min(max(peak, low), high), old)
			most = max(most, up, down)
		}
	}
	return most
}

// At returns w⁺ and w⁻ of an arm with the ratio ρ and the given π_old.
func At(imp *option.Importance, ratio, old float64) (up, down float64) {
	return weightings[imp.Mode].weight(imp, ratio, old)
}

// Most returns a bound of w⁺ and w⁻ of an arm with a ratio from low to high and the given π_old.
func Most(imp *option.Importance, low, high, old float64) float64 {
	return weightings[imp.Mode].most(imp, low, high, old)
}

// Slopes returns dw^±/dρ of an arm with the ratio ρ and the given π_old.
func Slopes(imp *option.Importance, ratio, old float64) (up, down float64) {
	return weightings[imp.Mode].slope(imp, ratio, old)
}

// Bands returns where w^± is ρ, for an arm of the given probability; ok is false where w^± is
// smooth.
func Bands(imp *option.Importance, prob float64) (up, down Band, ok bool) {
	bands := weightings[imp.Mode].bands
	if bands == nil {
		return Band{}, Band{}, false
	}
	up, down = bands(imp, prob)
	return up, down, true
}

// BySign reports whether samples of positive and of negative advantage can have different
// weights at the same ratio.
func BySign(imp *option.Importance) bool {
	up, down, _ := Bands(imp, 1)
	return up != down || Signed(imp)
}

// Signed reports whether they differ at any distance from ρ = 1.
func Signed(imp *option.Importance) bool {
	signed := weightings[imp.Mode].signed
	return signed != nil && signed(imp)
}

// Range returns the largest change of a ratio from 1 at which no weight has a kink,
// or over which smooth weights bend.
func Range(imp *option.Importance) float64 {
	row := weightings[imp.Mode]
	switch {
	case row.bands != nil:
		up, down := row.bands(imp, 1)
		return min(up.Below, up.Above, down.Below, down.Above)
	case row.scale != nil:
		return 0.4 * row.scale(imp)
	}
	return math.Inf(1)
}

// Jumps reports whether weights drop to 0 at a ratio that is not 1.
func Jumps(imp *option.Importance) bool {
	up, _, ok := Bands(imp, 1)
	return ok && !up.Held && !math.IsInf(Range(imp), 1)
}
