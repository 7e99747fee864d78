package grpo

import (
	"math"

	"grposim/fp"
	"grposim/option"
)

// WeightForm is the function of which an importance weight is made.
type WeightForm int

const (
	UnitWeight      WeightForm = iota // 1
	DroppedWeight                     // ρ where ρ is within the bounds, else 0
	DroppedByChange                   // ρ where π − π_old is within the bounds, else 0
	HeldWeight                        // ρ, limited to the bounds
	SigmoidWeight                     // 4σ(1−σ)ρ
	PowerWeight                       // ρ^k e^{λ(1−ρ)}
)

// Interval is a closed interval of numbers.
type Interval struct{ Low, High float64 }

// unbounded is the interval of all numbers.
var unbounded = Interval{math.Inf(-1), math.Inf(1)}

// weightings is the table, by ImportanceMode: the form of a weight, and its bounds for A > 0 and
// A < 0; nil: none.
var weightings = [...]struct {
	form   WeightForm
	bounds func(imp *option.Importance) (up, down Interval)
}{
	option.NoImportance: {form: UnitWeight},
	option.Ratio:        {form: DroppedWeight},
	option.Clip: {DroppedWeight, func(imp *option.Importance) (up, down Interval) {
		return Interval{math.Inf(-1), 1 + imp.ClipHigh}, Interval{1 - imp.ClipLow, math.Inf(1)}
	}},
	option.DualClip: {DroppedWeight, func(imp *option.Importance) (up, down Interval) {
		return Interval{math.Inf(-1), 1 + imp.ClipHigh}, Interval{1 - imp.ClipLow, imp.Cap}
	}},
	option.Truncated: {HeldWeight, func(imp *option.Importance) (up, down Interval) {
		return Interval{math.Inf(-1), imp.Cap}, Interval{math.Inf(-1), imp.Cap}
	}},
	option.Masked: {DroppedWeight, func(imp *option.Importance) (up, down Interval) {
		return Interval{imp.Floor, imp.Cap}, Interval{imp.Floor, imp.Cap}
	}},
	option.CISPO: {HeldWeight, func(imp *option.Importance) (up, down Interval) {
		within := Interval{1 - imp.ClipLow, 1 + imp.ClipHigh}
		return within, within
	}},
	option.SAPO:  {form: SigmoidWeight},
	option.VESPO: {form: PowerWeight},
	option.DPPO: {DroppedByChange, func(imp *option.Importance) (up, down Interval) {
		return Interval{math.Inf(-1), imp.ClipHigh}, Interval{-imp.ClipLow, math.Inf(1)}
	}},
}

// FormOf returns the form of the weights, and their bounds for samples of A > 0 and A < 0.
func FormOf(imp *option.Importance) (form WeightForm, up, down Interval) {
	if int(imp.Mode) >= len(weightings) {
		panic(unknown("Importance.Mode", imp.Mode))
	}
	row := weightings[imp.Mode]
	if row.bounds == nil {
		return row.form, unbounded, unbounded
	}
	up, down = row.bounds(imp)
	return row.form, up, down
}

// WeightsBySign reports whether samples of A > 0 and of A < 0 with the same ratio can have
// different weights.
func WeightsBySign(imp *option.Importance) bool {
	form, up, down := FormOf(imp)
	return form == SigmoidWeight || form == PowerWeight || up != down
}

// DropsSamples reports whether the mode sets weights to 0.
func DropsSamples(imp *option.Importance) bool {
	form, up, _ := FormOf(imp)
	return (form == DroppedWeight || form == DroppedByChange) && !math.IsInf(up.High, 1)
}

// SmoothRange returns an interval about 1 such that every weight is a smooth function of
// the ratio while all ratios are inside. As π_old ≤ 1, |π − π_old| ≤ |ρ − 1|.
func SmoothRange(imp *option.Importance) Interval {
	form, up, down := FormOf(imp)
	within := Interval{max(up.Low, down.Low), min(up.High, down.High)}
	if form == DroppedByChange {
		within.Low++
		within.High++
	}
	return within
}

// LargestRatio and LargestExponent limit the numbers in smooth weights, which are 0 or huge
// beyond them, so that no weight is NaN.
const (
	LargestRatio    = 1e300
	LargestExponent = 500
)

// signed is what makes weights of samples of one sign of A.
type signed struct {
	within                    Interval
	temperature, power, decay float64
}

// weigh returns the weight of a sample with the given ratio, whose logarithm PowerWeight alone
// uses, where change is π − π_old.
func (f WeightForm) weigh(ratio, logRatio, change float64, of *signed) float64 {
	switch f {
	case UnitWeight:
		return 1
	case DroppedByChange:
		if change < of.within.Low || change > of.within.High {
			return 0
		}
	case DroppedWeight:
		if ratio < of.within.Low || ratio > of.within.High {
			return 0
		}
	case HeldWeight:
		return min(max(ratio, of.within.Low), of.within.High)
	case SigmoidWeight: // with e = e^{−|x|}, σ(1−σ) = e/(1+e)²
		ratio = min(ratio, LargestRatio)
		e := fp.Exp(-math.Abs(of.temperature * (ratio - 1)))
		return float64(4*e/float64((1+e)*(1+e))) * ratio
	case PowerWeight:
		ratio = min(ratio, LargestRatio)
		exponent := float64(of.power*logRatio) + float64(of.decay*(1-ratio))
		return fp.Exp(min(exponent, LargestExponent))
	}
	return ratio
}
