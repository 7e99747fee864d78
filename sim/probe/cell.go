package probe

import (
	"grposim/option"
	"grposim/sim"
)

// Cell is a cell with what is measured beside its run.
type Cell struct {
	sim.Cell
	Stiffness  []Stiffness
	Relaxation *Relaxation // nil: none
	Location   *Location   // nil: none; a located cell simulates only Stiffness and this
}

// FewestInformative is the least number of informative pairs or steps from which an error is
// estimated. The count then has a relative error of 18 %, and its law is near the normal one that
// Student's t assumes.
const FewestInformative = 30

// StiffnessTotal is the name of the probe that measures λ of the stiffest mode, from
// which a location probe takes its scale.
const StiffnessTotal = "stiffness_total"

// Stiffness measures one stiffness on-policy about a point θ*, from central differences.
//
//	S(d) = −c·(E[g](θ* + d·v) − E[g](θ* − d·v))/(2d),  λ = (4 S(d) − S(2d))/3 + O(d⁴).
//
// E[g] is the mean of the steps' gradients, at finite G each scaled to Optimizer.MaxNorm where it
// is longer. v is the direction and c the covector of a mode, c·v = 1, and d the displacement
// (docs/theory.md §3). Richardson's extrapolation removes the O(d²) of S. One in nine of the pairs
// of draws at ± is at 2d, which gives the least error, 1.5 times that of S(d). At G = ∞ there is
// one pair at d and one at 2d.
//
// With S(d) = λ + ad² + bd⁴ the extrapolation leaves the error −4bd⁴. The force changes by a factor
// of order 1 over a unit of the logits. So |b| is of the order of |a| + |λ| or less. The systematic
// error of the estimate is taken as 4d²(|S(d) − λ| + d²|λ|).
//
// Rounding changes S(d) by some ulps of the displaced logits and of the largest terms of the force,
// over d; see rounding. That is part of the systematic error too.
//
// Two sides that draw the same groups say nothing about the reward's part of the stale stiffness.
// Groups of equal rewards or of a single arm say nothing about that of the fresh one. With less
// than FewestInformative other pairs the scatter of the bins is no measure of the error, which is
// not known.
type Stiffness struct {
	Name         string        // of the estimate
	Displaced    sim.Displaced // which policy is displaced
	Point        []float64     // θ*, logits, one an arm; unused with Network, as are the next two
	Direction    []float64     // v, one component an arm
	Covector     []float64     // c, one component an arm
	Displacement float64       // d > 0, in multiples of Direction
	Pairs        int           // pairs of draws, each of a step's groups a side, ≥ 1; unused at G = ∞
}

// Relaxation measures how a small deviation from Point decays or grows. Pairs of replicas
// start at Point ± Offset·Direction with the same random numbers. Half their difference along the
// direction obeys linear dynamics about Point, because even orders of the deviation cancel.
//
//	x_t = Direction·(θ₊ − θ₋)/(2 Direction·Direction).
//
// A pair counts as a replica: Run.Replicas pairs (one at G = ∞) are run for Run.Steps steps. A
// measure.Recurrence is fitted to their deviations from Run.BurnIn on, at the refresh instants;
// under delay lag at every step. A pair is followed only while its deviation is in the linear
// range, so that growth is measured as growth.
//
// The recurrence has one multiplier or two. Two arms under block lag have no more. Other modes must
// have decayed by BurnIn. At finite G noise excites them again and again, and the fit is consistent
// only if there are none: up to a delay of 1. The remaining relative error is of the order of the
// square of the deviation, and is the systematic error of the estimates.
//
// At finite G the offset must be well above the noise of a replica. The snapshots act on the
// deviation only in steps in which the groups of the two sides differ. With less than
// FewestInformative of these the error is not known.
type Relaxation struct {
	Point     []float64 // logits, usually of a fixed point, one an arm
	Direction []float64 // a direction in logits other than 0, one component an arm
	Offset    float64   // > 0, in multiples of Direction
}

// Event is what a location probe searches for along a parameter.
type Event string

// The events.
const (
	Instability Event = "instability" // small deviations grow
	Ringing     Event = "ringing"     // the dominant multiplier of deviations is complex or negative
	Visible     Event = "visible"     // the run from Init visibly oscillates; G = ∞ only
)

// Param is the parameter that a location probe varies.
type Param string

// The parameters that a location probe can vary.
const (
	LearningRate    Param = "optimizer.learning_rate" // η
	RefreshInterval Param = "lag.interval"            // K of a block, τ of a delay; an integer
)

// Location searches for the smallest value of a parameter at which an event happens to pairs
// of replicas that start at Point ± Offset·Direction. From and To bound the search. They are
// multiples of the paper's rule at the stiffness λ that the cell's probe StiffnessTotal measures.
//
//	η = (1−μ)/(λ max(K, 1)),  K = (1−μ)/(ηλ)
//
// See docs/theory.md §9; in the first K = grpo.LagAge. A located cell measures its stiffness
// probes, runs this search, and simulates nothing else. Its own value of Param is unused.
//
// A trial of a value has three outcomes. The event is certainly absent, certainly present, or
// undecided, where the data do not tell at three standard errors. Undecided values widen the
// bracket: little data gives a wide bracket, not a wrong one. Instability can come in windows
// (docs/theory.md §5). So the search tries growing values from From, in steps small enough to meet
// a window, until one has the event. Then it halves the gaps that remain between that value, the
// undecided ones and the last one without the event. It tries nothing below From. It uses no
// prediction of the theory.
//
// A trial of Visible is one run of Run.Steps steps from Init. J passes its last value at least
// twice by more than the share Visibility of its range. The values tried are further apart. Point,
// Direction and Offset are unused.
//
// With Network a single run starts at Network.Weights, those of a fixed point, displaced along Jᵀu,
// u drawn from the stream of the cell. Its deviation is that of the logits. One of the weights that
// moves no logits neither grows nor decays. The values tried are further apart. Ringing, and
// Instability of sampled groups, are those of pairs in the weights, displaced along the stiffest
// mode. Power iteration finds it in the mean field; x and v are the coordinates along it. Where the
// whole force is that of the snapshot and Λ is symmetric, this mode has a recurrence of its own. It
// is then the first to oscillate and to grow.
//
// At G = ∞ an offset of 1e-5 is small enough for every purpose. With sampled groups it must be
// above the noise of a pair. It must be below the size at which a growing deviation saturates just
// past a threshold: 0.01 for 4,096 groups of 16.
type Location struct {
	Event     Event
	Param     Param
	From, To  float64   // multiples of the rule, 0 < From ≤ To
	Tolerance float64   // width of the bracket relative to its lower end, ≥ 0
	Point     []float64 // logits, usually of a fixed point, one an arm; unused with Network
	Direction []float64 // in logits, other than 0, one component an arm; unused with Network
	Offset    float64   // > 0, in units of Direction; with Network the norm of the first deviation

	Visibility float64 // of Visible: the smallest passage, as a share of the range of J, in (0, 1)
}

// followsMode reports whether a cell's location probe follows a network's stiffest mode alone.
func (c *Cell) followsMode() bool {
	return c.Network != nil && (c.Location.Event == Ringing || !c.Deterministic())
}

// uninformed reports whether a number of informative pairs or steps is too small for an
// error. At G = ∞, and where all rewards are equal, none are needed.
func (c *Cell) uninformed(informative int) bool {
	return !c.Deterministic() && informative < FewestInformative && c.rewardsDiffer()
}

// rewardsDiffer reports whether some group can have rewards that differ.
func (c *Cell) rewardsDiffer() bool {
	for _, arm := range c.Bandit.Arms {
		sure := arm.Law == option.Bernoulli && (arm.Mean == 0 || arm.Mean == 1)
		certain := sure || arm.Law == option.Constant || arm.Law == option.Normal && arm.Std == 0
		if !certain || arm.Mean != c.Bandit.Arms[0].Mean {
			return true
		}
	}
	return false
}
