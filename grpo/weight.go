package grpo

import (
	"math"

	"grposim/grpo/fp"
)

// ImportanceMode names a row of the table of importance weights.
type ImportanceMode string

const (
	NoImportance ImportanceMode = "none"      // 1
	Ratio        ImportanceMode = "ratio"     // ρ
	Clip         ImportanceMode = "clip"      // ρ where the clipped objective has slope, else 0: PPO, GRPO, DAPO (clip-higher), on single tokens GSPO
	DualClip     ImportanceMode = "dual-clip" // clip, and for A < 0 only up to the cap: verl clip_ratio_c, TRL delta
	Truncated    ImportanceMode = "truncated" // min(ρ, cap): TIS of verl, slime, OpenRLHF; CISPO of TRL
	Masked       ImportanceMode = "masked"    // ρ between floor and cap, else 0: IcePop, TRL *_mask
	CISPO        ImportanceMode = "cispo"     // ρ limited to [1 − ε_low, 1 + ε_high]: CISPO of verl, slime, AReaL
	SAPO         ImportanceMode = "sapo"      // 4σ(1−σ)ρ, σ = 1/(1 + e^{−τ(ρ−1)}), τ by the sign of A
	VESPO        ImportanceMode = "vespo"     // ρ^k e^{λ(1−ρ)}, k and λ by the sign of A
	DPPO         ImportanceMode = "dppo"      // ρ while π − π_old is at most ε_high (A > 0), at least −ε_low (A < 0): prime-rl
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

// weighting is a row of the table: the form of a weight, and its bounds for samples of
// A > 0 and A < 0; nil: none.
type weighting struct {
	mode   ImportanceMode
	form   WeightForm
	bounds func(imp *Importance) (up, down Interval)
}

var weightings = []weighting{
	{NoImportance, UnitWeight, nil},
	{Ratio, DroppedWeight, nil},
	{Clip, DroppedWeight, func(imp *Importance) (up, down Interval) {
		return Interval{math.Inf(-1), 1 + imp.ClipHigh}, Interval{1 - imp.ClipLow, math.Inf(1)}
	}},
	{DualClip, DroppedWeight, func(imp *Importance) (up, down Interval) {
		return Interval{math.Inf(-1), 1 + imp.ClipHigh}, Interval{1 - imp.ClipLow, imp.Cap}
	}},
	{Truncated, HeldWeight, func(imp *Importance) (up, down Interval) {
		return Interval{math.Inf(-1), imp.Cap}, Interval{math.Inf(-1), imp.Cap}
	}},
	{Masked, DroppedWeight, func(imp *Importance) (up, down Interval) {
		return Interval{imp.Floor, imp.Cap}, Interval{imp.Floor, imp.Cap}
	}},
	{CISPO, HeldWeight, func(imp *Importance) (up, down Interval) {
		within := Interval{1 - imp.ClipLow, 1 + imp.ClipHigh}
		return within, within
	}},
	{SAPO, SigmoidWeight, nil},
	{VESPO, PowerWeight, nil},
	{DPPO, DroppedByChange, func(imp *Importance) (up, down Interval) {
		return Interval{math.Inf(-1), imp.ClipHigh}, Interval{-imp.ClipLow, math.Inf(1)}
	}},
}

// ImportanceModes lists every ImportanceMode.
var ImportanceModes = func() (modes []ImportanceMode) {
	for _, row := range weightings {
		modes = append(modes, row.mode)
	}
	return modes
}()

// Signed holds a number for samples of A > 0 and one for those of A < 0.
type Signed struct{ Positive, Negative float64 }

// Importance is the treatment of off-policy samples. A mode ignores the fields that it
// does not name.
type Importance struct {
	Mode        ImportanceMode // the weight w_i
	ClipLow     float64        // ε_low in (0, 1), Clip, DualClip, CISPO, DPPO: with Clip a sample of A < 0 counts while ρ ≥ 1 − ε_low
	ClipHigh    float64        // ε_high > 0, the same modes: with Clip a sample of A > 0 counts while ρ ≤ 1 + ε_high
	Floor       float64        // least ratio that counts, in [0, 1], Masked
	Cap         float64        // largest ratio that counts, ≥ 1, DualClip (A < 0), Truncated, Masked
	Temperature Signed         // τ > 0, SAPO
	Power       Signed         // k > 0, VESPO
	Decay       Signed         // λ ≥ 0, VESPO
}

// Form returns the form of the weights, and their bounds for samples of A > 0 and A < 0.
func (imp *Importance) Form() (form WeightForm, up, down Interval) {
	up = Interval{math.Inf(-1), math.Inf(1)}
	down = up
	for _, row := range weightings {
		if row.mode != imp.Mode {
			continue
		}
		if row.bounds != nil {
			up, down = row.bounds(imp)
		}
		return row.form, up, down
	}
	panic(unknownWord("Importance.Mode", imp.Mode, ImportanceModes))
}

// Linear reports whether the weight is 1 or ρ.
func (imp *Importance) Linear() bool { return imp.Mode == NoImportance || imp.Mode == Ratio }

// BySign reports whether samples of A > 0 and of A < 0 with the same ratio can have
// different weights.
func (imp *Importance) BySign() bool {
	form, up, down := imp.Form()
	return form == SigmoidWeight || form == PowerWeight || up != down
}

// Drops reports whether the mode sets weights to 0.
func (imp *Importance) Drops() bool {
	form, up, _ := imp.Form()
	return (form == DroppedWeight || form == DroppedByChange) && !math.IsInf(up.High, 1)
}

// SmoothRange returns an interval about 1 such that every weight is a smooth function of
// the ratio while all ratios are inside. As π_old ≤ 1, |π − π_old| ≤ |ρ − 1|.
func (imp *Importance) SmoothRange() Interval {
	form, up, down := imp.Form()
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

// weigh returns the weight of a sample with the given ratio, whose logarithm PowerWeight alone
// uses, where change is π − π_old.
func (f WeightForm) weigh(ratio, logRatio, change float64, within Interval, temperature, power, decay float64) float64 {
	switch f {
	case UnitWeight:
		return 1
	case DroppedByChange:
		if change < within.Low || change > within.High {
			return 0
		}
	case DroppedWeight:
		if ratio < within.Low || ratio > within.High {
			return 0
		}
	case HeldWeight:
		return min(max(ratio, within.Low), within.High)
	case SigmoidWeight: // with e = e^{−|x|}, σ(1−σ) = e/(1+e)²
		ratio = min(ratio, LargestRatio)
		e := fp.Exp(-math.Abs(temperature * (ratio - 1)))
		return float64(4*e/float64((1+e)*(1+e))) * ratio
	case PowerWeight:
		ratio = min(ratio, LargestRatio)
		return fp.Exp(min(float64(power*logRatio)+float64(decay*(1-ratio)), LargestExponent))
	}
	return ratio
}
