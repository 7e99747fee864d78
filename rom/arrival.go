package rom

import (
	"cmp"
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Mechanism is a way in which runs fail to arrive whose mean path does, or would without an option.
type Mechanism string

// The mechanisms of docs/theory-neglected.md §6.12.
const (
	K3Kicks        Mechanism = "k3-kicks"        // single samples of a rare arm whose k3 gradient throws the policy across
	Locking        Mechanism = "locking"         // without a penalty: samples by chance carry the policy to a wrong arm, where it is not drawn back
	UnclippedReuse Mechanism = "unclipped-reuse" // several steps on one batch with ratios: one lucky sample of a rare arm carries the policy over
	ClipReversal   Mechanism = "clip-reversal"   // the mean path stalls or turns back where the weights drop samples
	SpreadAtRest   Mechanism = "spread-at-rest"  // the law of runs at rest, about their fixed point, has a second well within reach
)

// ArrivalRow is what one mechanism does to the runs of a cell. The mechanism is at work if Flag; Value and Bound say why.
type ArrivalRow struct {
	Mechanism Mechanism    `json:"mechanism"`
	Because   scope.Reason `json:"because,omitzero"` // why nothing is known of it here; then Share is out and the other fields are zero
	Flag      bool         `json:"flag"`             // Value > Bound
	Quantity  string       `json:"quantity"`         // what Value is, in words with its unit
	Value     float64      `json:"value"`            // finite; the largest float64 where the path leaves the range in which it is followed
	Bound     float64      `json:"bound"`            // finite
	Share     scope.Number `json:"share"`            // of runs that it keeps from arriving, within [0, 1]; out where only the flag is derived
}

// ArrivalPrediction says whether runs arrive: end in the well of the fixed point that their mean
// path reaches. The arms in front there have at least half of the probability that they have at the
// fixed point. Without a fixed point it is the best arms with probability 1.
type ArrivalPrediction struct {
	Rows []ArrivalRow `json:"mechanisms"` // of the mechanisms for which the cell has the options; the others cannot be at work
	// Lost is the share of runs that do not arrive within the given steps, within [0, 1], by all mechanisms together. It is out where
	// the mean path has not arrived, and where a mechanism is at work, or may be, whose share is not derived.
	Lost scope.Number `json:"lost"`
}

// mechanisms is the table of the mechanisms: which cells have the options for one, what has to be derived, and what it says.
var mechanisms = []struct {
	name   Mechanism
	acts   func(p *Params) bool
	of     question
	decide func(row *ArrivalRow, w *way)
}{
	{K3Kicks, func(p *Params) bool {
		return p.KL.Coefficient > 0 && p.KL.In == option.InLoss && p.KL.Gradient == option.K3 && p.GroupSize != option.Infinite
	}, kicksOfK3, (*ArrivalRow).decideKicks},
	{Locking, func(p *Params) bool { return p.pull() == 0 && p.GroupSize != option.Infinite }, lockingOfRuns, (*ArrivalRow).decideLocking},
	{UnclippedReuse, func(p *Params) bool {
		return reused(p, 0) && p.Lag.Interval > 1 && p.Importance.Mode == option.Ratio && p.GroupSize != option.Infinite
	}, flipsOfReuse, (*ArrivalRow).decideReuse},
	{SpreadAtRest, func(p *Params) bool { return p.pull() > 0 && p.GroupSize != option.Infinite }, lawOfArrived, (*ArrivalRow).decideSpread},
	{ClipReversal, func(p *Params) bool { return !p.Importance.Linear() && !linear.NewLag(&p.Lag).OnPolicy() }, meanForceKnown, (*ArrivalRow).decideReversal},
}

// way is a cell with its way: the start, the length, and where it should end. Of the probability of
// the arms in front there it has the last value on the mean path and the largest fall.
type way struct {
	Params
	init      []float64
	steps     int
	front     int     // the first of the arms in front at the fixed point, without one of the best ones
	held      float64 // probability at the fixed point of the arms of its mean; without one 1
	end, fall float64
}

// newWay returns a way without its mean path.
func newWay(p Params, init []float64, steps int) (w way) {
	w = way{Params: p, init: init, steps: steps, held: 1}
	w.Start = init
	policy := make([]float64, len(p.Arms)) // without a fixed point the means, whose largest is in front
	for a := range policy {
		policy[a] = p.Arms[a].Mean
	}
	if f := fold(w.Params); f.representable() {
		if merged := f.reached(); merged != nil {
			policy = policyAt(f.arms(merged))
			w.front = floats.MaxIdx(policy)
			w.held = w.ofFront(policy)
			return w
		}
	}
	w.front = floats.MaxIdx(policy)
	return w
}

// ofFront returns the probability under a policy of the arms whose mean is that of the arm in
// front.
func (w *way) ofFront(policy []float64) (sum float64) {
	for a, x := range policy {
		if w.Arms[a].Mean == w.Arms[w.front].Mean {
			sum += x
		}
	}
	return sum
}

// there reports whether the mean path ends in the well of the fixed point.
func (w *way) there() bool { return w.end >= w.held/2 }

// notThere is the reason of a mean path that does not.
func (w *way) notThere() scope.Reason { return scope.PathNotThere.Because(w.steps, w.end, w.held) }

// Arrival predicts whether runs of the given number of steps from the logits init, one per arm,
// arrive (docs/theory-neglected.md §6.12). Its rows are of the kind LeadingOrder. It takes
// milliseconds, for long paths the time of MeanField, and without a penalty tens of milliseconds,
// or half a second for groups of 256 and more.
func Arrival(p Params, init []float64, steps int) (a ArrivalPrediction) {
	p = unlimited(p.checked(), init, steps)
	a.Lost.Kind = LeadingOrder
	if a.Lost.Because = p.notDerived(rewardsInDigits, meanForceKnown, arrivalOfRuns); a.Lost.Out() {
		return a
	}
	w := newWay(p, init, steps)
	finite, kept := w.goes(), 1.0
	for _, m := range mechanisms {
		if !m.acts(&p) {
			continue
		}
		row := ArrivalRow{Mechanism: m.name, Share: scope.Number{Kind: LeadingOrder}}
		if row.Because = p.notDerived(m.of); !row.Because.Out() {
			m.decide(&row, &w)
			row.Value, row.Bound = max(min(row.Value, math.MaxFloat64), -math.MaxFloat64), min(row.Bound, math.MaxFloat64)
			row.Flag = row.Value > row.Bound
		}
		if row.Because.Out() {
			row = ArrivalRow{Mechanism: row.Mechanism, Because: row.Because, Share: scope.Number{Kind: LeadingOrder, Because: row.Because}}
		}
		a.Rows = append(a.Rows, row)
		if a.Lost.Because = cmp.Or(a.Lost.Because, row.Because, row.Share.Because); !a.Lost.Out() {
			kept *= 1 - row.Share.Value
			a.Lost.Leave(scope.HigherOrder, row.Share.Size())
		}
	}
	if !a.Lost.Out() && !(finite && w.there()) {
		a.Lost.Because = w.notThere()
	}
	a.Lost.Value = 1 - kept
	return a
}

// goes follows the mean path; it returns false where that is not finite.
func (w *way) goes() bool {
	probs, top := make([]float64, len(w.Arms)), 0.0
	w.fall = 0
	_, within := meanField(w.Params, w.init, w.steps, func(_ int, theta []float64) (more bool) {
		softmax(probs, theta)
		w.end = w.ofFront(probs)
		top = max(top, min(w.end, w.held))
		w.fall = max(w.fall, top-w.end)
		return true
	})
	return within.In
}

// unflagged is the share of runs up to which a mechanism may be at work that is far from its bound: of 205 random cells with k3 below theirs 12 had more,
// most of them by the law at rest (docs/theory-neglected.md §6.12).
const unflagged = 0.05

// leaveShare sets the share of a row of which only the flag is derived: where the mechanism is far from its bound it is 0 up to unflagged.
func (row *ArrivalRow) leaveShare(far bool) {
	if row.Share = (scope.Number{Kind: LeadingOrder}); far {
		row.Share.Leave(scope.HigherOrder, unflagged)
		return
	}
	row.Share.Because = scope.ShareOfLost.Because(row.Mechanism)
}

// decideKicks compares the log odds against an arm that runs meet on the way with u₂, from where on a sample of it throws the policy across,
// for the arm with the least distance. The largest norm c bounds what one sample can do: below 2u₂ it never throws far enough.
func (row *ArrivalRow) decideKicks(w *way) {
	row.Quantity = "largest log odds against an arm on the way, against u₂"
	all, ok := climbs(w.Params, w.init, w.steps, 1)
	reference := policyAt(w.Reference)
	row.Value, row.Bound = math.Inf(-1), 0
	for a, h := range all {
		above := crossing(kickScale(&w.Params, reference[a], h.gain))
		if norm := w.Optimizer.MaxNorm; norm > 0 && math.Sqrt2*norm*h.gain <= 2*above {
			above = math.Inf(1)
		}
		if reach := h.reach(); a == 0 || reach-above > row.Value-row.Bound || math.IsInf(row.Bound, 1) {
			row.Value, row.Bound = reach, above
		}
	}
	if !ok {
		row.Value = math.Inf(1)
	}
	row.kicksShare(w)
}

// A run is handed over from its normal law to single samples where an arm is drawn less than handOver times in the steps that a velocity lasts. Both
// descriptions hold there, so that the share must not depend on it: the difference to handing over at otherHandOver is neglected.
// What both leave out, the noise of common samples after a kick, is up to about kicksError of the share (docs/theory-neglected.md §6.12).
const handOver, otherHandOver, kicksError = 4, 2, 0.15

// kicksShare sets the share of runs that kicks of k3 leave on the wrong one of two arms.
func (row *ArrivalRow) kicksShare(w *way) {
	if row.Share.Because = w.notDerived(kicksShare); row.Share.Out() && (row.Value > row.Bound || row.Share.Because.Is(scope.LongKicks)) {
		return
	}
	share, ok := 0.0, false
	if !row.Share.Out() {
		share, ok = w.kicked(w.init, w.front, w.steps, handOver)
	}
	if !ok {
		row.leaveShare(row.Value < row.Bound)
		return
	}
	row.Share.Value = share
	other, ok := w.kicked(w.init, w.front, w.steps, otherHandOver)
	if !ok {
		other = math.Inf(1)
	}
	row.Share.Leave(scope.HigherOrder, math.Abs(share-other)+kicksError*share)
}

// decideSpread sets the share of runs at rest in another well, Φ(−(z* − z_b)/σ). z* is the gap of
// the fixed point, σ² the variance of the linear law there, whose tails are normal, and z_b the
// barrier: see way.barrier. A law of one well loses no run, however far it reaches. Where rewards
// differ so much that the policy locks on the better arm there is no law: then runs may lock on the
// other one, as without a penalty.
func (row *ArrivalRow) decideSpread(w *way) {
	row.Quantity = "share of the law at rest in another well"
	row.Bound = flagged
	p := w.Params
	if p.rewardWithinNorm() { // what it cuts is the penalty on rare samples
		p.Optimizer.MaxNorm = 0
	}
	at := Predict(p)
	other := 1 - w.front
	if row.Because = at.Noise.Because; row.Because.Is(scope.Locked) && w.Arms[w.front].Mean >= w.Arms[other].Mean { // the penalty is nothing beside the rewards
		if row.Mechanism, row.Because = Locking, w.notDerived(lockingOfRuns); !row.Because.Out() {
			row.decideLocking(w)
		}
		return
	}
	if row.Because.Is(scope.NoiseTooLarge, scope.BoundWithinNoise) { // how far the linear law reaches is asked here
		row.Because = scope.Reason{}
	}
	linear, _ := at.Linear()
	if variance := linear.StationaryVariance.LogitGap; !row.Because.Out() && variance != nil {
		z := at.FixedPoint.Logits[w.front] - at.FixedPoint.Logits[other]
		if barrier, ok := w.barrier(z, *variance); ok {
			row.Value = fp.Erfc((z-barrier)/math.Sqrt(2**variance)) / 2
			row.Share.Value = row.Value
			row.Share.Leave(scope.HigherOrder, row.Value) // runs begin on this side of the barrier, and few of them may have crossed it
		}
	}
}

// The barrier between two wells is looked for from one standard deviation σ above the fixed point
// to farthestBarrier of them below, where the law has 1e-9. The points are apart by a share of σ,
// or of a logit where that is less.
const (
	farthestBarrier = 6
	barrierPoints   = 8
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
func (w *way) barrier(z, variance float64) (barrier float64, ok bool) {
	free := withoutNorm(w.Params)
	m := newModel(&free)
	logits, force := make([]float64, 2), make([]float64, 2)
	at := func(z float64) (f, noise float64) {
		logits[w.front], logits[1-w.front] = z/2, -z/2
		m.set(logits, logits)
		m.meanForce(force)
		return force[w.front] - force[1-w.front], m.covariance().At(0, 0)
	}
	deviation := math.Sqrt(variance)
	apart := min(deviation, 1) / barrierPoints
	up, _ := at(z + apart)
	down, _ := at(z - apart)
	_, noise := at(z)
	gain := (down - up) / apart * variance / noise
	if adam(&free, 0) {
		gain = 0
	}
	edge := math.Log(float64(w.GroupSize)*float64(w.GroupsPerStep)*float64(w.steps)) + unreached // beyond, nothing is drawn any more
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

// flagged is the share of runs from which on a mechanism of a known share is flagged.
const flagged = 0.01

// decideReuse compares x = 2ηKA/(GB(1−μ)) with 1, A the mean advantage of a lone lucky sample of an
// arm among the one in front, of all arms the largest. With ratios the K steps on a batch obey, two
// arms and K → ∞ at ηK fixed,
//
//	2z′ + 2 sinh z′ = 2z + 2 sinh z + ηK g/(pq)
//
// g the force of the batch at its own policy, 2A/(GB) for a lone sample of the rare arm: at the log odds u against it z′ = −u becomes u + ln(x − 1).
// Among more than two arms ratios also widen the lead of a wrong arm that is nearly as good: of 300 random cells at x < ½ 17 lost 0.1 more than
// without weights.
func (row *ArrivalRow) decideReuse(w *way) {
	row.Quantity = "x = 2ηKA/(GB(1−μ)) of a lucky sample"
	row.Bound = 1
	for a := range w.Arms {
		if a != w.front {
			lone := newLoneSample(&w.Params, a, w.front)
			row.Value = max(row.Value, lone.lucky())
		}
	}
	o := &w.Optimizer
	row.Value *= 2 * o.LearningRate * float64(w.Lag.Interval) / (1 - o.Momentum) / (float64(w.GroupSize) * float64(w.GroupsPerStep))
	if row.Share.Because = w.notDerived(wrongArmShare); !row.Share.Out() {
		row.leaveShare(row.Value < row.Bound/2)
	}
}

// decideReversal compares the mean path with that of ratios without bounds: if the one does not
// arrive and the other does, the bounds turn it back. Beyond 1 + ε only failures of the better arm
// are left in the force, and count ρ. Where the probability in front falls below that of the fixed
// point on the way at all, noise may do what the mean path does not.
func (row *ArrivalRow) decideReversal(w *way) {
	row.Quantity = "probability of the other arms at the end of the mean path"
	row.Value, row.Bound = 1-w.end, 1-w.held/2
	row.leaveShare(w.fall < fallen)
	if w.there() {
		return
	}
	free := *w
	free.Importance = option.Importance{Mode: option.Ratio}
	if !free.goes() || !free.there() {
		row.Because = w.notThere()
	}
}

// fallen is the fall of π on the mean path under which hardly any run is lost: 3 of 52 random cells had more than 0.05, of 148 with more of a fall 48.
const fallen = 0.01
