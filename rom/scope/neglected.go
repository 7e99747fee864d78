package scope

import (
	"encoding/json"
	"math"
)

// Term is a kind of what a prediction leaves out, in words.
type Term string

// The terms.
const (
	HigherOrder  Term = "the next order in the noise"
	NextInSize   Term = "the next order in 1/G"
	SecondMoment Term = "the fluctuation of Adam's second moment"
	Rounding     Term = "rounding" // of floating point
	ShortRun     Term = "spread that the noise has not yet built up in the run"
	OnTheWay     Term = "the mean path is still on its way to the fixed point" // the rest of the path
	FasterModes  Term = "modes that the fit does not have"
	Probe        Term = "the finite displacement of the probe"
	LeftModel    Term = "what the model has not"           // but another model has
	Sampling     Term = "what the log's noise leaves open" // of the runs' scatter, or of Σ_y P_y
)

// OfRun returns the terms that a run has beside the number that it is to measure. A value that is
// named in the place of the theory's needs them small too.
func OfRun(all []Part) (left []Part) {
	for _, part := range all {
		switch part.Term {
		case OnTheWay, FasterModes, Probe:
			left = append(left, part)
		}
	}
	return left
}

// Sizes are absolute sizes of what stationary predictions leave out, each ≥ 0 and in the unit of
// its number; +Inf: not known. The last two are of the linear dynamics, the rate per step.
type Sizes struct {
	RewardMean     float64 `json:"expected_reward"`          // of E J, in units of reward
	RewardVariance float64 `json:"expected_reward_variance"` // of Var J, in squared units of reward
	ZeroVariance   float64 `json:"zero_variance"`            // of the share of zero-variance groups
	RelaxationRate float64 `json:"-"`
	DampingRatio   float64 `json:"-"`
}

// Unknown is the size of stationary numbers of which nothing is known. No share is off by more than
// 1.
var Unknown = Sizes{RewardMean: math.Inf(1), RewardVariance: math.Inf(1), ZeroVariance: 1}

// Plus returns the sums of sizes.
func (s Sizes) Plus(other Sizes) Sizes {
	return Sizes{s.RewardMean + other.RewardMean, s.RewardVariance + other.RewardVariance, s.ZeroVariance + other.ZeroVariance,
		s.RelaxationRate + other.RelaxationRate, s.DampingRatio + other.DampingRatio}
}

// Neglected lists what the stationary predictions leave out. Sizes is the sum of its terms. Its
// zero value is nothing.
type Neglected struct {
	Sizes
	Terms []Left
}

// Left is a term with its sizes.
type Left struct {
	Term Term
	Sizes
}

// Add adds a term, unless all its sizes are 0; a NaN counts as not known. No share is off by more
// than 1.
func (n *Neglected) Add(term Term, sizes Sizes) {
	for _, x := range []*float64{&sizes.RewardMean, &sizes.RewardVariance, &sizes.ZeroVariance, &sizes.RelaxationRate, &sizes.DampingRatio} {
		if math.IsNaN(*x) {
			*x = math.Inf(1)
		}
	}
	if sizes.ZeroVariance = min(sizes.ZeroVariance, 1); sizes == (Sizes{}) {
		return
	}
	terms := append([]Left{}, n.Terms...) // predictions share theirs
	for i := range terms {
		if terms[i].Term == term {
			terms[i].Sizes = terms[i].Plus(sizes)
			n.Terms, n.Sizes = terms, n.Plus(sizes)
			return
		}
	}
	n.Terms, n.Sizes = append(terms, Left{term, sizes}), n.Plus(sizes)
}

// AddAll adds the terms of other, with a factor for each number of the stationary state.
func (n *Neglected) AddAll(other Neglected, mean, variance, share float64) {
	for _, left := range other.Terms {
		n.Add(left.Term, Sizes{RewardMean: mean * left.RewardMean,
			RewardVariance: variance * left.RewardVariance, ZeroVariance: share * left.ZeroVariance})
	}
}

// Number returns the number of a kind with the terms of one of the sizes.
func (n *Neglected) Number(value float64, kind Kind, size func(*Sizes) float64) Number {
	number := Number{Value: value, Kind: kind}
	for i := range n.Terms {
		number.Leave(n.Terms[i].Term, size(&n.Terms[i].Sizes))
	}
	return number
}

// The sizes of a number, for Neglected.Number.
func OfMean(s *Sizes) float64       { return s.RewardMean }
func OfVariance(s *Sizes) float64   { return s.RewardVariance }
func OfZeroShare(s *Sizes) float64  { return s.ZeroVariance }
func OfRelaxation(s *Sizes) float64 { return s.RelaxationRate }
func OfDamping(s *Sizes) float64    { return s.DampingRatio }

// written returns the sizes as files have them. An unknown one is the largest number.
func (s Sizes) written() Sizes {
	for _, x := range []*float64{&s.RewardMean, &s.RewardVariance, &s.ZeroVariance} {
		*x = min(*x, math.MaxFloat64)
	}
	return s
}

// MarshalJSON writes the sums, and under "terms" the sizes by term.
func (n Neglected) MarshalJSON() ([]byte, error) {
	type term struct {
		Name Term `json:"name"`
		Sizes
	}
	terms := []term{}
	for _, left := range n.Terms {
		if s := left.Sizes; s.RewardMean > nothing*n.RewardMean ||
			s.RewardVariance > nothing*n.RewardVariance ||
			s.ZeroVariance > nothing*n.ZeroVariance || math.IsInf(n.RewardMean+n.RewardVariance, 1) {
			terms = append(terms, term{left.Term, left.written()})
		}
	}
	return json.Marshal(struct {
		Sizes
		Terms []term `json:"terms"`
	}{n.written(), terms})
}
