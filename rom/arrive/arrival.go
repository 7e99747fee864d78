// Package arrive predicts whether runs arrive at the fixed point of their mean path. It also has how
// far the path passes that point, and what is left of the way at the end.
//
//  1. Predict follows the mean path and asks a table of mechanisms what keeps runs from arriving.
//  2. Overshoot follows the mean path beyond its fixed point.
//  3. Unsettled says what a run at a given step still has before it.
package arrive

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Prediction says whether runs arrive: end in the well of the fixed point that their mean
// path reaches. The arms in front there have at least half of the probability that they have at the
// fixed point. Without a fixed point it is the best arms with probability 1.
type Prediction struct {
	// of the mechanisms for which the cell has the options; the others cannot be at work
	Rows []Row `json:"mechanisms"`
	// Lost is the share of runs that do not arrive within the given steps, within [0, 1], by all
	// mechanisms together. It is out where the mean path has not arrived, and where a mechanism is at
	// work, or may be, whose share is not derived.
	Lost scope.Number `json:"lost"`
}

// mechanisms is the table of the mechanisms: which cells have the options for one, what has to be
// derived, and what it says.
var mechanisms = []struct {
	name   Mechanism
	acts   func(p *cell.Params) bool
	of     cell.Question
	decide func(row *Row, c *course)
}{
	{K3Kicks, func(p *cell.Params) bool {
		return p.KL.Coefficient > 0 && p.KL.In == option.InLoss && p.KL.Gradient == option.K3 &&
			p.GroupSize != option.Infinite
	}, cell.KicksOfK3, (*Row).decideKicks},
	{Locking, func(p *cell.Params) bool { return p.Pull() == 0 && p.GroupSize != option.Infinite },
		cell.LockingOfRuns, (*Row).decideLocking},
	{UnclippedReuse, func(p *cell.Params) bool {
		return p.Samples == option.Reused && p.Lag.Interval > 1 && p.Importance.Mode == option.Ratio &&
			p.GroupSize != option.Infinite
	}, cell.FlipsOfReuse, (*Row).decideReuse},
	{SpreadAtRest, func(p *cell.Params) bool { return p.Pull() > 0 && p.GroupSize != option.Infinite },
		cell.LawOfArrived, (*Row).decideSpread},
	{ClipReversal, func(p *cell.Params) bool {
		return !p.Importance.Linear() && !linear.NewLag(&p.Lag).OnPolicy()
	}, cell.MeanForceKnown, (*Row).decideReversal},
}

// Arrival predicts whether runs of the given number of steps from the logits init, one per arm,
// arrive (docs/theory-neglected.md §6.12). Its rows are of the kind LeadingOrder. It takes
// milliseconds, for long paths the time of MeanField.
func Predict(p cell.Params, init []float64, steps int) (a Prediction) {
	p = path.Unlimited(p.Checked(), init, steps)
	a.Lost.Kind = scope.LeadingOrder
	a.Lost.Because = p.NotDerived(cell.RewardsInDigits, cell.MeanForceKnown, cell.ArrivalOfRuns)
	if a.Lost.Out() {
		return a
	}
	c := newCourse(p, init, steps)
	finite, arriving := c.followMean(), 1.0
	for _, m := range mechanisms {
		if !m.acts(&p) {
			continue
		}
		row := Row{Mechanism: m.name, Share: scope.Number{Kind: scope.LeadingOrder}}
		if row.Because = p.NotDerived(m.of); !row.Because.Out() {
			m.decide(&row, &c)
			row.Value, row.Bound = max(min(row.Value, math.MaxFloat64), -math.MaxFloat64),
				min(row.Bound, math.MaxFloat64)
			row.Flag = row.Value > row.Bound
		}
		if row.Because.Out() {
			row = Row{Mechanism: row.Mechanism, Because: row.Because,
				Share: scope.Number{Kind: scope.LeadingOrder, Because: row.Because}}
		}
		a.Rows = append(a.Rows, row)
		if a.Lost.Because = cmp.Or(a.Lost.Because, row.Because, row.Share.Because); !a.Lost.Out() {
			arriving *= 1 - row.Share.Value
			a.Lost.Leave(scope.HigherOrder, row.Share.Size())
		}
	}
	if !a.Lost.Out() && !(finite && c.arrives()) {
		a.Lost.Because = c.notThere()
	}
	a.Lost.Value = 1 - arriving
	return a
}

// decideKicks compares the log odds against an arm that runs meet with u₂, from where on a sample
// of that arm throws the policy across, for the arm with the least distance. The largest norm
// bounds what one sample can do: below 2u₂ it never throws far enough.
func (row *Row) decideKicks(c *course) {
	row.Quantity = "largest log odds against an arm on the way, against u₂"
	all, ok := path.LogOddsAlong(c.Params, c.init, c.steps)
	reference := cell.PolicyAt(c.Reference)
	row.Value, row.Bound = math.Inf(-1), 0
	for a, odds := range all {
		above := crossing(kickScale(&c.Params, reference[a], odds.Gain))
		if norm := c.Optimizer.MaxNorm; norm > 0 && math.Sqrt2*norm*odds.Gain <= 2*above {
			above = math.Inf(1)
		}
		if met := odds.Met(); a == 0 || met-above > row.Value-row.Bound || math.IsInf(row.Bound, 1) {
			row.Value, row.Bound = met, above
		}
	}
	if !ok {
		row.Value = math.Inf(1)
	}
	row.loseFew(row.Value, row.Bound)
}

// decideSpread sets the share of runs at rest in another well, Φ(−(z* − z_b)/σ). z* is the gap of
// the fixed point, σ² the variance of the linear law there, whose tails are normal, and z_b the
// barrier: see course.barrier. A law of one well loses no run, however far it reaches. Where
// rewards differ so much that the policy locks on the better arm there is no law: then runs may
// lock on the other one, as without a penalty.
func (row *Row) decideSpread(c *course) {
	row.Quantity = "share of the law at rest in another well"
	row.Bound = flagged
	p := c.Params
	if p.RewardWithinNorm() { // what it cuts is the penalty on rare samples
		p.Optimizer.MaxNorm = 0
	}
	at := rest.Predict(p)
	other := 1 - c.front
	// the penalty is nothing beside the rewards
	if row.Because = at.Noise.Because; row.Because.Is(scope.Locked) &&
		c.Arms[c.front].Mean >= c.Arms[other].Mean {
		if row.Mechanism, row.Because = Locking, c.NotDerived(cell.LockingOfRuns); !row.Because.Out() {
			row.decideLocking(c)
		}
		return
	}
	// how far the linear law reaches is asked here
	if row.Because.Is(scope.NoiseTooLarge, scope.BoundWithinNoise) {
		row.Because = scope.Reason{}
	}
	linear, _ := at.Linear()
	if variance := linear.StationaryVariance.LogitGap; !row.Because.Out() && variance != nil {
		z := at.FixedPoint.Logits[c.front] - at.FixedPoint.Logits[other]
		if barrier, ok := c.barrier(z, *variance); ok {
			row.Value = fp.Erfc((z-barrier)/math.Sqrt(2**variance)) / 2
			row.Share.Value = row.Value
			// runs begin on this side of the barrier, and few of them may have crossed it
			row.Share.Leave(scope.HigherOrder, row.Value)
		}
	}
}

// The barrier between two wells is looked for from one standard deviation σ above the fixed point
// to farthestBarrier of them below, where the law has 1e-9. The points are apart by a share of σ,
// or of a logit where that is less.
const (
	farthestBarrier = 6
	barrierPoints   = 8
	// logits beyond the z at which a run draws one sample of the rare arm, on average
	unreached = 4
)

// barrier returns the gap z_b of the arm in front over the other one where the law at rest of two
// arms has least density between two wells, below the fixed point z*; ok is false where it has one
// well within reach of its variance σ² at z*.
//
// With the mean force f on z and the variance D of one step's force, slow runs have the density
// (1/D) exp ∫2f/(γD) up to a factor. At its extremes f = γD′/2. So it has two wells where the mean
// force has, and where noise that fades with the rare arm holds runs there. γ is that of the linear
// law, 2λσ²/D at z*: η/(1 − μ) on-policy. Adam divides a force by its own size, so that its noise
// holds no runs.
func (c *course) barrier(z, variance float64) (barrier float64, ok bool) {
	free := cell.WithoutNorm(c.Params)
	m := force.New(&free)
	logits, force := make([]float64, 2), make([]float64, 2)
	at := func(z float64) (f, noise float64) {
		logits[c.front], logits[1-c.front] = z/2, -z/2
		m.Set(logits, logits)
		m.MeanForce(force)
		return force[c.front] - force[1-c.front], m.Covariance().At(0, 0)
	}
	deviation := math.Sqrt(variance)
	apart := min(deviation, 1) / barrierPoints
	up, _ := at(z + apart)
	down, _ := at(z - apart)
	_, noise := at(z)
	gain := (down - up) / apart * variance / noise
	if free.Optimizer.Kind == option.Adam {
		gain = 0
	}
	// beyond, nothing is drawn any more
	edge := math.Log(float64(c.GroupSize)*float64(c.GroupsPerStep)*float64(c.steps)) + unreached
	x := z + min(deviation, edge)
	_, above := at(x + apart)
	f, here := at(x)
	restored := false // x is in a well's reach from below
	for ; x > max(z-farthestBarrier*deviation, -edge); x -= apart {
		next, below := at(x - apart)
		excess := f - gain*(above-below)/(4*apart)
		if restored && excess < 0 && x < z+apart {
			return x, true
		}
		restored = excess > 0
		f, above, here = next, here, below
	}
	return 0, false
}

// decideReuse compares x = 2ηKA/(GB(1−μ)) with 1, A the mean positive advantage of a lone sample of
// an arm among the one in front, of all arms the largest. With ratios the K steps on a batch obey,
// two arms and K → ∞ at ηK fixed,
//
//	2z′ + 2 sinh z′ = 2z + 2 sinh z + ηK g/(pq)
//
// g the force of the batch at its own policy, 2A/(GB) for a lone sample of the rare arm: at the log
// odds u against it z′ = −u becomes u + ln(x − 1). Among more than two arms ratios also widen the
// lead of a wrong arm that is nearly as good: of 300 random cells at x < ½ 17 lost 0.1 more than
// without weights.
func (row *Row) decideReuse(c *course) {
	row.Quantity = "x = 2ηKA/(GB(1−μ)) of a lone sample"
	row.Bound = 1
	for a := range c.Arms {
		if a != c.front {
			_, strength := loneSample(&c.Params, a, c.front)
			row.Value = max(row.Value, strength)
		}
	}
	o := &c.Optimizer
	row.Value *= 2 * o.LearningRate * float64(c.Lag.Interval) / (1 - o.Momentum) /
		(float64(c.GroupSize) * float64(c.GroupsPerStep))
	row.loseFew(row.Value, row.Bound/2)
}

// decideReversal compares the mean path with that of ratios without bounds: if the one does not
// arrive and the other does, the bounds turn it back. Beyond 1 + ε the force comes only from
// failures of the better arm, each weighted by ρ. Where the probability in front drops on the way
// at all, noise may do what the mean path does not.
func (row *Row) decideReversal(c *course) {
	row.Quantity = "probability of the other arms at the end of the mean path"
	row.Value, row.Bound = 1-c.end, 1-c.held/2
	row.loseFew(c.largest, harmlessDrop)
	if c.arrives() {
		return
	}
	free := *c
	free.Importance = option.Importance{Mode: option.Ratio}
	if !free.followMean() || !free.arrives() {
		row.Because = c.notThere()
	}
}

// harmlessDrop is the drop of π on the mean path below which hardly any run is lost: 3 of 52 random
// cells had more than 0.05, of 148 with a larger drop 48.
const harmlessDrop = 0.01

// Mechanism is a way in which runs fail to arrive whose mean path does, or would without an option.
type Mechanism string

// The mechanisms of docs/theory-neglected.md §6.12.
const (
	// single samples of a rare arm whose k3 gradient throws the policy across
	K3Kicks Mechanism = "k3-kicks"
	// without a penalty: samples by chance carry the policy to a wrong arm, where it is not drawn back
	Locking Mechanism = "locking"
	// several steps on one batch with ratios: one sample of a rare arm carries the policy over
	UnclippedReuse Mechanism = "unclipped-reuse"
	// the mean path stalls or turns back where the weights drop samples
	ClipReversal Mechanism = "clip-reversal"
	// the law of runs at rest, about their fixed point, has a second well within reach
	SpreadAtRest Mechanism = "spread-at-rest"
)

// Row is what one mechanism does to the runs of a cell. The mechanism is at work if Flag;
// Value and Bound say why.
type Row struct {
	Mechanism Mechanism `json:"mechanism"`
	// why nothing is known of it here; then Share is out and the other fields are zero
	Because  scope.Reason `json:"because,omitzero"`
	Flag     bool         `json:"flag"`     // Value > Bound
	Quantity string       `json:"quantity"` // what Value is, in words with its unit
	// finite; the largest float64 where the path leaves the range in which it is followed
	Value float64 `json:"value"`
	Bound float64 `json:"bound"` // finite
	// of runs that it keeps from arriving, within [0, 1]; out where only the flag is derived
	Share scope.Number `json:"share"`
}

// course is a cell with its start, its length and the arms where it should end, in front: those of
// the fixed point, without one the best ones.
type course struct {
	cell.Params
	init    []float64
	steps   int
	front   int     // the first of the arms in front
	held    float64 // probability of the arms in front at the fixed point; without one 1
	end     float64 // that at the end of the mean path
	largest float64 // its largest drop along the mean path
}

// newCourse returns a course without its mean path.
func newCourse(p cell.Params, init []float64, steps int) (c course) {
	c = course{Params: p, init: init, steps: steps, held: 1}
	c.Start = init
	// without a fixed point the means, whose largest is in front
	policy := make([]float64, len(p.Arms))
	for a := range policy {
		policy[a] = p.Arms[a].Mean
	}
	if end := fixed.Destination(c.Params); end != nil {
		policy = cell.PolicyAt(end)
		c.front = floats.MaxIdx(policy)
		c.held = c.ofFront(policy)
		return c
	}
	c.front = floats.MaxIdx(policy)
	return c
}

// ofFront returns the probability of the arms in front under a policy.
func (c *course) ofFront(policy []float64) (sum float64) {
	for a, x := range policy {
		if c.Arms[a].Mean == c.Arms[c.front].Mean {
			sum += x
		}
	}
	return sum
}

// arrives reports whether the mean path ends in the well of the fixed point.
func (c *course) arrives() bool { return c.end >= c.held/2 }

// notThere is the reason of a mean path that does not.
func (c *course) notThere() scope.Reason {
	return scope.PathNotThere.Because(c.steps, c.end, c.held)
}

// followMean follows the mean path; it returns false where that is not finite.
func (c *course) followMean() bool {
	probs, top := make([]float64, len(c.Arms)), 0.0
	c.largest = 0
	_, within := path.Follow(c.Params, c.init, c.steps, func(_ int, theta []float64) (more bool) {
		cell.Softmax(probs, theta)
		c.end = c.ofFront(probs)
		top = max(top, min(c.end, c.held))
		c.largest = max(c.largest, top-c.end)
		return true
	})
	return within.In
}

// unflaggedShare is the share of runs that a mechanism loses at most far below its bound. Of 205
// random cells with k3 12 had more, most of them by the law at rest (docs/theory-neglected.md
// §6.12).
const unflaggedShare = 0.05

// loseAtMost sets the share of a mechanism of which only the flag is derived: 0 up to so much;
// +Inf: not known.
func (row *Row) loseAtMost(most float64) {
	if row.Share = (scope.Number{Kind: scope.LeadingOrder}); math.IsInf(most, 1) {
		row.Share.Because = scope.NotPredicted.Because(
			fmt.Sprintf("the share of runs that fail to arrive by %s", row.Mechanism))
		return
	}
	row.Share.Leave(scope.HigherOrder, most)
}

// loseFew is loseAtMost of unflaggedShare for a value below a bound.
func (row *Row) loseFew(value, bound float64) {
	if value < bound {
		row.loseAtMost(unflaggedShare)
		return
	}
	row.loseAtMost(math.Inf(1))
}

// flagged is the share of runs from which on a mechanism of a known share is flagged.
const flagged = 0.01
