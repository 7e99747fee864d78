package logs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// Quantity is the canonical name of a series.
type Quantity string

// The quantities. A quantity that is recorded for several named things, RewardComponent
// and EvalScore, is followed by a slash and the name.
const (
	Reward             Quantity = "reward"
	RewardMin          Quantity = "reward_min"
	RewardMax          Quantity = "reward_max"
	RewardStdWithin    Quantity = "reward_std_within"
	RewardStdBatch     Quantity = "reward_std_batch"
	RewardStdAmbiguous Quantity = "reward_std_ambiguous"
	RewardComponent    Quantity = "reward_component"
	RewardComponentStd Quantity = "reward_component_std"
	FracZeroStd        Quantity = "frac_zero_std"
	FracAll0           Quantity = "frac_all0"
	FracAll1           Quantity = "frac_all1"
	CountZeroStd       Quantity = "count_zero_std"
	CountAll0          Quantity = "count_all0"
	CountAll1          Quantity = "count_all1"
	Groups             Quantity = "groups"
	AdvantageMin       Quantity = "advantage_min"
	AdvantageMax       Quantity = "advantage_max"
	Loss               Quantity = "loss"
	KLRef              Quantity = "kl_ref"
	KLOld              Quantity = "kl_old"
	Entropy            Quantity = "entropy"
	Collision          Quantity = "collision"
	ClipLow            Quantity = "clip_low"
	ClipHigh           Quantity = "clip_high"
	ClipAny            Quantity = "clip_any"
	RatioMax           Quantity = "ratio_max"
	ISRatioMean        Quantity = "is_ratio_mean"
	ISEffective        Quantity = "is_effective"
	LogpMismatch       Quantity = "logp_mismatch"
	MismatchKL         Quantity = "mismatch_kl"
	ProbMismatch       Quantity = "prob_mismatch"
	Staleness          Quantity = "staleness"
	StalenessMax       Quantity = "staleness_max"
	GradNorm           Quantity = "grad_norm"
	LR                 Quantity = "lr"
	LenMean            Quantity = "len_mean"
	LenMin             Quantity = "len_min"
	LenMax             Quantity = "len_max"
	LenClipped         Quantity = "len_clipped"
	EvalScore          Quantity = "eval_score"
)

// Definition says what a quantity is.
type Definition struct {
	Quantity Quantity
	Text     string // one sentence, with the range
	Range    string // a word of ranges: outside of it no value is believed
}

// bounds are the smallest and the largest value that a quantity can have.
type bounds struct{ lo, hi float64 }

var (
	share     = bounds{0, 1}
	notBelow0 = bounds{0, math.Inf(1)}

	ranges = map[string]bounds{
		"":      {math.Inf(-1), math.Inf(1)}, // KL too: its estimate k1 can be negative
		"share": share, "at least 0": notBelow0, "at least 1": {1, math.Inf(1)},
	}
)

// quantitiesFile is the table of quantities, in the order of a log's columns.
//
//go:embed quantities.json
var quantitiesFile []byte

// Quantities defines every quantity. It panics on a table that is wrong.
var Quantities = sync.OnceValue(func() (all []Definition) {
	if err := json.Unmarshal(quantitiesFile, &all); err != nil {
		panic(fmt.Sprintf("logs: quantities.json: %v", err))
	}
	return all
})

// Family returns the quantity without the name of what it is of.
func (q Quantity) Family() Quantity {
	family, _, _ := strings.Cut(string(q), "/")
	return Quantity(family)
}

// within returns the bounds of the quantity's family.
func (q Quantity) within() bounds { return ranges[Quantities()[q.rank()].Range] }

// rank is the position of the quantity's family in Quantities.
func (q Quantity) rank() int {
	return slices.IndexFunc(Quantities(), func(d Definition) bool { return d.Quantity == q.Family() })
}

// estimator is an estimate of the divergence KL(π‖π') of a sampled token by x = log π'/π
// (Schulman, Approximating KL divergence, 2020): k1 is −x, k2 and k3 are never negative.
type estimator string

const (
	k2 estimator = "k2" // x²/2
	k3 estimator = "k3" // e^x − x − 1
)
