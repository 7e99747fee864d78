package theory

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/arrive"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
)

// How says where a run ends.
type How string

const (
	AtTarget How = "arrived" // where it should, see Target
	// the right arm, but others are at most half as probable as at rest, and as at the start
	TooDeep How = "too-deep"
	// J has been where it should in the first half of the run, and is not in the last quarter or at
	// the end
	Unsteady How = "unsteady"
	// on another arm than the one at rest, and than that of the start unless it is no longer sampled
	Elsewhere How = "other-arm"
	// none of these: it is still on its way, or rests at another mixture of arms
	NotYet    How = "not-there"
	Overflown How = "diverged" // it has left the range of floating point
)

// What decides how a run ends.
const (
	// of the range of rewards, of the mean of J over the last quarter: time to 95 % has passed
	NearInMean = 0.05
	NearAtEnd  = 0.1 // of J at the last step, which fluctuates
	allowance  = 4   // standard deviations at rest, beyond which a run at rest hardly is
	deeper     = 0.5 // share of the other arms' probability at rest
	majority   = 2. / 3
)

// Target is where the runs of some settings should end: the fixed point, or the best arms where
// there is none.
type Target struct {
	AtRest bool      // there is a fixed point
	Reward float64   // J there
	Span   float64   // largest mean reward less the smallest
	Means  []float64 // of the arms
	Front  float64   // mean reward of the most probable arms
	Held   float64   // probability of the arms with this mean
	Rare   float64   // probability of all arms but the most probable one
	First  int       // the most probable arm of the start
	Began  float64   // Rare of the start; 1 where other arms are in front there

	// standard deviation of J at rest, for which its last step makes allowance; 0: none
	Deviation float64
	OfMean    float64 // that of its mean over the last quarter of the run, likewise
}

// NewTarget returns the target of settings whose runs start at the given logits and of which p is
// the prediction.
func NewTarget(s *config.Settings, start []float64, p *rom.Prediction) Target {
	prompts := Prompts(s)
	g := Target{Held: 1, First: slices.Index(start, slices.Max(start)), Began: 1,
		Means: config.Each(Params(s, rom.Unit).Arms, func(a option.Arm) float64 { return a.Mean })}
	g.Front = slices.Max(g.Means)
	g.Reward, g.Span = g.Front, g.Front-slices.Min(g.Means)
	if prompts != nil && prompts.Parameters == option.Tabular {
		g.Reward, g.Span = 0, 0
		for _, m := range prompts.Means {
			g.Reward += max(m[0], m[1]) / float64(len(prompts.Means))
			g.Span += math.Abs(m[0]-m[1]) / float64(len(prompts.Means))
		}
	}
	if p.FixedPoint == nil {
		return g
	}
	g.AtRest, g.Reward = true, p.FixedPoint.Reward
	policy := p.FixedPoint.Policy
	likely := slices.Max(policy)
	g.Front = g.Means[slices.Index(policy, likely)]
	g.Held, g.Rare = g.holds(policy), Rarity(p.FixedPoint.Logits)
	if g.Means[g.First] == g.Front {
		g.Began = Rarity(start)
	}
	return g
}

// holds returns the probability of the arms in front under a policy.
func (g *Target) holds(policy []float64) float64 {
	held := 0.0
	for a, x := range policy {
		if g.Means[a] == g.Front {
			held += x
		}
	}
	return held
}

// LogOdds returns the log odds of the most probable arm, +Inf where it is certain.
func LogOdds(logits []float64) float64 {
	top := slices.Index(logits, slices.Max(logits))
	others := 0.0
	for a, x := range logits {
		if a != top {
			others += fp.MathExp(x - logits[top])
		}
	}
	return -math.Log(others)
}

// Rarity returns the probability of all arms but the most probable one.
func Rarity(logits []float64) float64 { return 1 / (1 + fp.MathExp(LogOdds(logits))) }

// Rounding is a size of J below which differences are rounding: the arms may all be equal.
func (g *Target) Rounding() float64 { return 1e-9 * max(1, math.Abs(g.Reward)) }

// How says how a run ends that is recorded at the given steps and draws the given number of
// samples. The end has its mean over the last quarter of the run.
func (g *Target) How(e *sim.End, steps []int, samples float64) How {
	if e.DivergedAt >= 0 {
		return Overflown
	}
	within := func(reward, share, deviation float64) bool {
		return math.Abs(reward-g.Reward) <= max(share*g.Span, allowance*deviation)+g.Rounding()
	}
	near := within(e.Mean, NearInMean, g.OfMean)
	last := within(e.Rewards[len(e.Rewards)-1], NearAtEnd, g.Deviation)
	half := sort.SearchInts(steps, steps[len(steps)-1]/2)
	been := slices.ContainsFunc(e.Rewards[:half],
		func(reward float64) bool { return within(reward, NearInMean, 0) })
	if e.Logits == nil { // prompts have a policy each
		switch {
		case near && last:
			return AtTarget
		case been:
			return Unsteady
		}
		return NotYet
	}
	arm := slices.Index(e.Logits, slices.Max(e.Logits))
	inFront := g.inFront(grpo.NewPolicy(e.Logits).Probs)
	rare := Rarity(e.Logits)
	deep := inFront && g.AtRest && g.Rare*samples >= 1 && rare < deeper*g.Rare &&
		math.Abs(e.Mean-g.Front) < deeper*math.Abs(g.Reward-g.Front)
	switch {
	case deep && rare < deeper*g.Began:
		return TooDeep
	case deep: // it began there
		return NotYet
	case near && inFront && last:
		return AtTarget
	case g.Wrong(e.Logits) && (arm != g.First || rare*samples < 1):
		return Elsewhere
	case been:
		return Unsteady
	}
	return NotYet
}

// Wrong reports whether a policy stands on a wrong arm.
func (g *Target) Wrong(logits []float64) bool {
	policy := grpo.NewPolicy(logits).Probs
	return !g.inFront(policy) && slices.Max(policy) >= majority
}

// inFront reports whether the arms in front are those at the target, or it has none in front.
func (g *Target) inFront(policy []float64) bool { return g.Held < majority || g.holds(policy) >= 0.5 }

// Samples returns the number of samples that a run draws.
func Samples(s *config.Settings) float64 {
	if s.Estimator.GroupSize == option.Infinite {
		return math.Inf(1)
	}
	in := sim.Cell{Estimator: s.Estimator, Lag: s.Lag}
	n, _ := in.SamplesBefore(s.Run.Steps)
	return n
}

// Arrival predicts the share of runs from the logits start that end where their mean path does: no
// mechanism of rom.Arrival keeps them away. How far they differ at rest is left to the spread of
// runs along the path (arrive.SpreadAtRest). So is a path that has not arrived, if nothing is
// flagged.
func Arrival(params rom.Params, start []float64, steps int) scope.Number {
	all := rom.Arrival(params, start, steps)
	number, flagged := scope.Number{Value: 1, Kind: rom.LeadingOrder}, false
	for i := range all.Rows {
		row := &all.Rows[i]
		if row.Mechanism == arrive.SpreadAtRest || row.Because.Is(scope.PathNotThere) {
			continue
		}
		flagged = flagged || row.Flag
		number.Value *= 1 - row.Share.Value
		number.Leave(scope.HigherOrder, row.Share.Size())
		number.Because = cmp.Or(number.Because, row.Because, row.Share.Because)
	}
	switch onTheWay := all.Lost.Because.Is(scope.PathNotThere); {
	case onTheWay && !flagged:
		number.Leave(scope.HigherOrder, 1-number.Value)
		number.Value = 1
	case onTheWay, all.Rows == nil:
		number.Because = cmp.Or(number.Because, all.Lost.Because)
	}
	return number
}
