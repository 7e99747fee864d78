package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
	"grposim/sim/measure"
)

// replica runs replicas of one cell, one after another in the same memory.
type replica struct {
	gradientSampler
	stream         *draw.Xoshiro // the source of words
	read           []int         // steps at which J is read into curve, then −1
	means          []float64     // the arms' mean rewards
	initial        *grpo.Policy  // π_ref at step 0
	start          *grpo.Policy  // at step 0
	policy         *grpo.Policy  // π
	history        *grpo.History
	snapshot       *grpo.Policy // π_old that draws; unused where a step has several ages
	rollout        *rollout     // nil: the trainer has the same π_old
	ages           *ages        // of snapshots; nil unless the lag is random
	optimizerState *grpo.OptimizerState
	contexts       policies // of prompts or contexts that have one each; nil: the policy above
	tabular        *tabular // contexts, where they are prompts; else nil

	records
	curve      []float64 // J by step of read
	log        []float64 // mean reward of the step's samples, by step of read
	nextRead   int       // index in read of the next step to read
	sums       averages  // sums over the steps after burn-in
	zero       int       // zero-variance groups after burn-in
	divergedAt int       // step, or running

	reward0, gap0 float64 // J and z at step 0
}

// records holds the recorded values of a replica, and the sums over the steps between two records.
type records struct {
	recorded   []int
	values     []float64    // a row for each recorded step; allocated by the caller
	width, own int          // numbers of a row, and of those that every cell records
	extra      *extras      // nil if Run.Record is empty
	since      *sinceRecord // nil unless the steps between two records count
	nextRecord int          // index in recorded of the next step to record
}

func newReplica(cell *Cell, recorded []int, laws *laws) *replica {
	arms := len(cell.Bandit.Arms)
	read := curveSteps(cell.Fits, cell.Run.Steps)
	r := &replica{
		gradientSampler: newGradientSampler(cell, laws, draw.NewWords(nil), groupsOf(cell)),
		records:         records{recorded: recorded, since: newSinceRecord(cell)},
		read:            append(read, -1),
		means:           cell.means(),
		contexts:        cell.policies(),
		initial:         grpo.NewPolicy(cell.Reference),
		start:           grpo.NewPolicy(cell.Init),
		policy:          grpo.NewPolicy(cell.Init),
		history:         grpo.NewHistory(cell.Lag, arms, cell.Run.Steps),
		ages:            newAges(cell),
		rollout:         newRollout(cell),
		optimizerState:  grpo.NewOptimizerState(arms),
		curve:           make([]float64, len(read)),
		log:             make([]float64, len(read)),
	}
	r.own = len(Quantities(arms))
	if r.width = r.own; len(cell.Run.Record) > 0 {
		r.extra = &extras{direction: make([]float64, arms)}
		r.extra.quantities, r.extra.strata = cell.own()
		r.width += len(r.extra.quantities)
	}
	r.tabular, _ = r.contexts.(*tabular)
	if r.tabular != nil && r.sampler.prompts.redraws != nil {
		r.sampler.prompts.redraws.behaviour = func(prompt int) *grpo.Policy { return r.tabular.prompts[prompt].snapshot }
	}
	return r
}

// groupsOf returns how many groups one policy draws, of which packs need to know no more than 4.
func groupsOf(c *Cell) int {
	if c.agedByGroup() {
		return 1
	}
	return min(c.Estimator.GroupsPerStep, 4) * min(c.Lag.StepsPerSnapshot(), 4)
}

// row returns the values of the recorded step with the given index.
func (r *records) row(i int) []float64 { return r.values[i*r.width:][:r.width] }

// policies are those of a replica with one for each prompt or context.
type policies interface {
	begin()                                    // sets the state at step 0
	draw(r *replica, t int)                    // draws the groups, sets the gradients
	move(o *option.Optimizer, t int) (ok bool) // reports whether all are numbers
	means() (reward, z float64)                // means of J and z
	observe(r *replica, values []float64)      // writes the quantities of the step
}

// policies returns those of the contexts of a cell, nil where there is one policy.
func (c *Cell) policies() policies {
	switch {
	case c.tabular():
		return newTabular(c)
	case c.Network != nil:
		return newContexts(c, newLaws)
	}
	return nil
}

// averages are one replica's time averages over the steps after burn-in. J and z are taken relative
// to their values J_0 and z_0 at step 0, so that no digits of the squares cancel.
type averages struct {
	reward, rewardSquare float64 // of J − J_0
	gap, gapSquare       float64 // of z − z_0, two arms
	zeroVariance         float64 // share of zero-variance groups
}

// begin sets the state of the replica with the given index at step 0.
func (r *replica) begin(index int) {
	c := r.cell
	r.stream = Stream(c.Seed, c.ID, ForReplica, index)
	r.words.Reset(r.stream)
	r.ages.begin(c, ForReplica, index)
	r.rollout.begin(c, ForReplica, index)
	r.rest()
	r.reward0, r.gap0 = r.start.Mean(r.means), gap(r.start)
	if r.sampler.prompts != nil {
		r.sampler.prompts.begin()
	}
	if p := r.contexts; p != nil {
		p.begin()
		r.reward0, r.gap0 = p.means()
	}
	if x := r.extra; x != nil {
		x.redrawn, x.shares, x.cosines = 0, meanOfSteps{}, meanOfSteps{}
		clear(x.direction)
	}
	r.sums, r.zero = averages{}, 0
	r.nextRecord, r.nextRead = 0, 0
	r.divergedAt = running
}

// rest sets policy, reference, optimizer and baseline to their states at step 0.
func (r *replica) rest() {
	r.policy.Set(r.start)
	r.force.Reference().Set(r.initial)
	r.optimizerState.Reset()
	r.statistics.Baseline = r.cell.Estimator.Advantage.Value
	r.since.reset()
}

// running is the value of divergedAt for a replica that has not diverged.
const running = -1

// step does step t unless the replica has diverged. Steps must be done in order from
// t = 0. Step Run.Steps is recorded without an update of the policy.
func (r *replica) step(t int) {
	if r.divergedAt != running {
		return
	}
	reward, z := 0.0, 0.0
	if r.contexts != nil {
		r.contexts.draw(r, t)
		reward, z = r.contexts.means()
	} else {
		r.push(t)
		reward, z = r.policy.Mean(r.means), gap(r.policy)
	}
	if !r.note(t, reward) {
		return
	}
	if t == r.cell.Run.Steps {
		return
	}
	if t >= r.cell.Run.BurnIn {
		r.average(reward, z, r.statistics.ZeroVariance)
	}
	r.countRedraws(t)
	r.move(t)
}

// average adds a step with the given number of zero-variance groups to the sums after burn-in.
func (r *replica) average(reward, z float64, zeroVariance int) {
	d := reward - r.reward0
	r.sums.reward += d
	r.sums.rewardSquare += float64(d * d)
	if len(r.g) == 2 {
		d := z - r.gap0
		r.sums.gap += d
		r.sums.gapSquare += float64(d * d)
	}
	r.zero += zeroVariance
}

// note reads and records what is wanted of step t, whose groups are drawn; reward is J.
// It reports whether all of it is finite; else the replica has diverged.
func (r *replica) note(t int, reward float64) (ok bool) {
	r.follow(t, reward)
	r.averageExtras()
	if t == r.recorded[r.nextRecord] {
		v, own := r.row(r.nextRecord)[:r.own], r.row(r.nextRecord)[r.own:]
		r.observe(v, reward)
		if !measure.Finite(r.policy.Logits...) || !measure.Finite(v...) {
			r.divergedAt = t
			return false
		}
		if r.extra != nil {
			r.observeExtras(own, t, reward)
		}
		r.nextRecord++
	}
	return true
}

// follow reads J, and the reward as logged, if they are wanted of step t.
func (r *replica) follow(t int, reward float64) {
	if t == r.read[r.nextRead] {
		r.curve[r.nextRead], r.log[r.nextRead] = reward, r.logged(reward)
		r.nextRead++
	}
}

// logged returns the reward of the step as a training log shows it: the mean over the step's
// samples. At G = ∞ it is J.
func (r *replica) logged(reward float64) float64 {
	if r.cell.Deterministic() {
		return reward
	}
	return r.sampler.reward / samplesAStep(r.sampler.estimator)
}

// push sets r.g to the gradient of step t.
func (r *replica) push(t int) {
	r.force.SetStep(t)
	if r.cell.Draws(t) {
		r.resize(t)
	}
	if r.ages != nil {
		r.pushAged(t)
		return
	}
	if r.cell.Lag.Refreshes(t) {
		r.refresh(t)
	}
	if r.cell.Draws(t) {
		r.draw()
	}
	trained := r.snapshot
	if r.rollout != nil {
		trained = r.rollout.trained
	}
	r.gradient(r.policy, trained)
	r.countStep()
}

// refresh sets the snapshot of step t and aims the sampler at it.
func (r *replica) refresh(t int) {
	r.since.leave(r.snapshot)
	r.snapshot = r.samplerOf(r.history.Behaviour(t, r.policy))
	r.sampler.aim(r.snapshot)
}

// move updates the policy by the gradient of step t. A replica whose policy becomes NaN
// has diverged.
func (r *replica) move(t int) {
	o := &r.cell.Optimizer
	var ok bool
	if r.contexts != nil {
		ok = r.contexts.move(o, t)
	} else {
		grpo.LimitNorm(o, r.g)
		grpo.Step(o, r.policy.Logits, r.g, r.optimizerState, grpo.Rate(o, t))
		r.policy.Update()
		if u := r.cell.ReferenceUpdate; u.Moves(t) {
			grpo.MoveReference(u, r.force.Reference(), r.policy)
			if u.Optimizer == option.ResetState {
				r.optimizerState.Reset()
			}
		}
		ok = !math.IsNaN(r.policy.Probs[0]) // then none is
	}
	if !ok {
		r.divergedAt = t + 1
	}
}

// finish returns the time averages of a replica that has done its steps. If they
// overflow although nothing recorded did, the replica has diverged at the last step.
func (r *replica) finish() averages {
	c, avg := r.cell, r.sums
	n := float64(c.Run.Steps - c.Run.BurnIn)
	groups := c.Estimator.GroupsPerStep
	if c.Network != nil {
		groups *= len(c.Network.Means)
	}
	avg.reward /= n
	avg.rewardSquare /= n
	avg.gap /= n
	avg.gapSquare /= n
	avg.zeroVariance = float64(r.zero) / (n * float64(groups))
	if r.divergedAt == running && !measure.Finite(avg.reward, avg.rewardSquare, avg.gap, avg.gapSquare) {
		r.divergedAt = c.Run.Steps
	}
	return avg
}

// end returns how the replica ended, with its time averages.
func (r *replica) end(avg averages) End {
	e := End{DivergedAt: r.divergedAt, Mean: r.reward0 + avg.reward}
	for i := range r.nextRecord {
		e.Rewards = append(e.Rewards, r.row(i)[expectedRewardIndex])
	}
	if r.divergedAt == running && r.contexts == nil {
		e.Logits = slices.Clone(r.policy.Logits)
	}
	return e
}

// observe writes the quantities of the step into v; reward is J.
func (r *replica) observe(v []float64, reward float64) {
	if r.contexts != nil {
		r.contexts.observe(r, v)
		return
	}
	v[expectedRewardIndex] = reward
	v[trueRewardIndex] = r.policy.Mean(r.cell.Bandit.TrueMeans)
	v[entropyIndex] = r.policy.Entropy()
	v[collisionIndex] = r.policy.Collision()
	v[zeroVarianceFractionIndex] = 0
	v[klReferenceIndex] = r.policy.Divergence(r.force.Reference())
	v[gradientNormIndex] = grpo.Norm(r.g)
	if !r.cell.Deterministic() {
		v[zeroVarianceFractionIndex] = float64(r.statistics.ZeroVariance) / float64(r.statistics.Groups)
	}
	v[clipFractionIndex], v[importanceRatioMaxIndex] = r.staleness()
	if len(r.g) == 2 {
		v[logitGapIndex] = gap(r.policy)
	}
}

// End is how one replica ended.
type End struct {
	DivergedAt int       // the step at which it left the range of floating point; −1 if it did not
	Rewards    []float64 // J at the recorded steps (RecordedSteps) before that
	Mean       float64   // mean of J from Run.BurnIn on, of a replica that did not diverge
	Logits     []float64 // after the last step; nil if diverged, or prompts have a policy each
}
