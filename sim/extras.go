package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/option"
)

// PassAt returns the quantity 1 − (1−J)^k, the mean over prompts where there are many. It is the
// probability that one of k ≥ 1 samples of the policy has reward 1, where rewards are 0 or 1.
func PassAt(k int) Quantity { return Quantity("pass_at_" + strconv.Itoa(k)) }

// Samples returns the k of PassAt(k); ok is false for another quantity.
func (q Quantity) Samples() (k int, ok bool) {
	k, ok = numbered(q, PassAt)
	return k, ok && k >= 1
}

// ProbabilityOf returns the quantity π_a of arm a ≥ 0, the mean over prompts where there are many.
func ProbabilityOf(arm int) Quantity { return Quantity("probability_of_arm_" + strconv.Itoa(arm)) }

// Arm returns the a of ProbabilityOf(a); ok is false for another quantity.
func (q Quantity) Arm() (a int, ok bool) { return numbered(q, ProbabilityOf) }

// numbered returns the n ≥ 0 that names q; ok is false if there is none.
func numbered(q Quantity, name func(n int) Quantity) (n int, ok bool) {
	n, err := strconv.Atoi(string(q[strings.LastIndex(string(q), "_")+1:]))
	return n, err == nil && n >= 0 && q == name(n)
}

// Quantities lists what the cell records, in the order of Result.Trajectory: the quantities of
// its number of arms, then those of Run.Record.
func (c *Cell) Quantities() []Quantity {
	own, _ := c.own()
	return append(Quantities(len(c.Bandit.Arms)), own...)
}

// own returns the quantities of Run.Record, and the prompts of the strata if they are among them.
func (c *Cell) own() (all []Quantity, strata [][]int) {
	for _, q := range c.Run.Record {
		if q == Strata {
			p := newTabular(c)
			p.begin()
			strata = p.strata()
			all = append(all, q.Parts()[:len(strata)]...)
			continue
		}
		all = append(all, q)
	}
	return all, strata
}

// maxRecorded is the largest number of quantities of Run.Record: 10 of a file, and two of a command.
const maxRecorded = 12

// checkRecord adds the quantities of Run.Record that the cell cannot record.
func (c *Cell) checkRecord(m *option.Mistakes) {
	count := 0
	seen := make(map[Quantity]bool)
	for _, q := range c.Run.Record {
		_, passes := q.Samples()
		arm, ofArm := q.Arm()
		known := among(q, EffectiveSampleSize, GradientCosine, SamplesDrawn, Stiffest, Strata)
		m.Want(passes || ofArm || known, "Run.Record", q, "a quantity that not every cell records")
		m.Want(!seen[q], "Run.Record", q, "each quantity once")
		with := func(possible bool, field string, got any, want string) {
			m.Want(possible, field, got, want+", with "+string(q)+" in Run.Record")
		}
		with(!passes || Binary(c.Bandit.Arms), "Bandit.Arms", c.Bandit.Arms, "rewards of 0 or 1")
		size := c.Estimator.GroupSize
		with(q != SamplesDrawn || size != option.Infinite, "Estimator.GroupSize", size, "a finite size")
		with(q != Stiffest || c.Network != nil && c.Deterministic(), "Network", c.Network,
			"one at option.Infinite groups")
		with(!ofArm || arm < len(c.Bandit.Arms) && c.Network == nil, "Bandit.Arms", c.Bandit.Arms,
			"this arm, of no network")
		with(q != Strata || c.tabular(), "Prompts", c.Prompts, "prompts with a policy each")
		with(q != GradientCosine || !c.tabular(), "Prompts", c.Prompts, "prompts that share a policy")
		seen[q] = true
		count += len(q.Parts())
	}
	m.Want(count <= maxRecorded, "Run.Record", c.Run.Record,
		fmt.Sprintf("at most %d quantities, of which strata are %d", maxRecorded, MaxStrata))
}

// Binary reports whether all rewards of the arms are 0 or 1.
func Binary(arms []option.Arm) bool {
	for _, arm := range arms {
		sure := arm.Law == option.Constant || arm.Law == option.Normal && arm.Std == 0
		if arm.Law != option.Bernoulli && !(sure && (arm.Mean == 0 || arm.Mean == 1)) {
			return false
		}
	}
	return true
}

// extras holds the values that a replica records for Run.Record.
type extras struct {
	quantities []Quantity   // see own
	strata     [][]int      // the prompts of each stratum, if they are recorded
	mode       recordedMode // of Stiffest
	redrawn    float64      // expected samples before this step, if countsRedraws
	shares     meanOfSteps  // of effective sizes since the record, if EffectiveSampleSize is
	cosines    meanOfSteps  // of GradientCosine since the record
	direction  []float64    // of the gradient of the step before, of norm 1 or 0
}

// meanOfSteps is the mean of a number over the steps since the last record.
type meanOfSteps struct{ sum, steps float64 }

func (m *meanOfSteps) add(x float64) {
	m.sum += x
	m.steps++
}

// take returns the mean, and begins anew.
func (m *meanOfSteps) take() float64 {
	mean := m.sum / m.steps
	*m = meanOfSteps{}
	return mean
}

// averages reports whether the cell records the mean of a quantity over the steps since the last
// record.
func (c *Cell) averages(q Quantity) bool {
	return q.SinceRecord(c.Lag) && slices.Contains(c.Run.Record, q)
}

// averageExtras counts a step, whose gradient is known, in what is recorded of all steps.
func (r *replica) averageExtras() {
	x := r.extra
	if x == nil {
		return
	}
	if r.cell.averages(EffectiveSampleSize) {
		x.shares.add(r.effectiveSampleSize())
	}
	if r.cell.averages(GradientCosine) {
		x.cosines.add(turn(x.direction, r.g))
	}
}

// turn sets direction, a vector of norm 1 or 0, to that of g, and returns the cosine between them.
// It is 0 where one of them is 0, or too long to be squared.
func turn(direction, g []float64) (cosine float64) {
	norm := grpo.Norm(g)
	for a, x := range g {
		before := direction[a]
		if direction[a] = 0; norm > 0 && !math.IsInf(norm, 1) {
			direction[a] = x / norm
		}
		cosine += float64(direction[a] * before)
	}
	return cosine
}

// countsRedraws reports whether the run has to add up, step by step, the samples expected to be
// drawn. Without option.Redraw their number is known.
func (c *Cell) countsRedraws() bool {
	return c.Estimator.Filter == option.Redraw && slices.Contains(c.Run.Record, SamplesDrawn)
}

// SamplesBefore returns the number of samples drawn for the steps before step t: G·B in each step
// that draws. It reads the estimator and the lag alone. known is false where groups are redrawn and
// where nothing is drawn, at G = ∞.
func (c *Cell) SamplesBefore(t int) (samples float64, known bool) {
	block, e := 1, c.Estimator
	if e.Samples == option.Reused {
		block = c.Lag.StepsPerSnapshot()
	}
	known = e.Filter != option.Redraw && !c.Deterministic()
	if !e.SizeSchedule.Varies() {
		return float64((t+block-1)/block) * samplesAStep(&e), known
	}
	for step := 0; step < t; step += block {
		e.GroupSize = grpo.GroupSizeAt(&c.Estimator, step)
		samples += samplesAStep(&e)
	}
	return samples, known
}

// samplesAStep returns G·B.
func samplesAStep(e *option.Estimator) float64 {
	return float64(e.GroupSize) * float64(e.GroupsPerStep)
}

// countRedraws adds the expected number of samples of step t, whose snapshots are set. Groups are
// drawn until the rewards of one differ, with probability P, so that each takes G/P samples. Of
// many prompts P is the mean of theirs. Where P is 0 trainers draw for ever, and the number is
// infinite.
func (r *replica) countRedraws(t int) {
	if r.extra == nil || !r.cell.countsRedraws() || !r.cell.Draws(t) {
		return
	}
	s := r.sampler
	samples := samplesAStep(s.estimator)
	switch {
	case s.prompts != nil:
		sum, redraws := 0.0, s.prompts.redraws
		for x, group := range redraws.groups {
			sum += group.Chance(redraws.behaviour(x).Probs)
		}
		r.extra.redrawn += samples / (sum / float64(len(redraws.groups)))
	case r.cell.agedByGroup():
		for _, snapshot := range r.ages.snapshots {
			r.extra.redrawn += float64(s.estimator.GroupSize) / s.informative.Chance(snapshot.Probs)
		}
	default:
		r.extra.redrawn += samples / s.informative.Chance(r.snapshot.Probs)
	}
}

// observeExtras writes Run.Record at step t, whose snapshots are set; reward is J.
func (r *replica) observeExtras(v []float64, t int, reward float64) {
	var all []promptPolicy
	if r.tabular != nil {
		all = r.tabular.prompts
	}
	for i, q := range r.extra.quantities {
		stratum, isStratum := q.Stratum()
		arm, ofArm := q.Arm()
		switch k, passes := q.Samples(); {
		case isStratum:
			prompts := r.extra.strata[stratum-1]
			v[i] = meanOver(len(prompts), func(n int) float64 { return all[prompts[n]].reward })
		case passes:
			v[i] = r.passes(k, reward)
		case ofArm && all == nil:
			v[i] = r.policy.Probs[arm]
		case ofArm:
			v[i] = meanOver(len(all), func(x int) float64 { return all[x].policy.Probs[arm] })
		case q == Stiffest:
			v[i] = r.extra.mode.stiffness(r.cell, r.contexts.(*contexts).weights)
		case q == GradientCosine:
			v[i] = r.extra.cosines.take()
		case q == EffectiveSampleSize && q.SinceRecord(r.cell.Lag):
			v[i] = r.extra.shares.take()
		case q == EffectiveSampleSize:
			v[i] = r.effectiveSampleSize()
		case r.cell.countsRedraws():
			v[i] = r.extra.redrawn
		default:
			v[i], _ = r.cell.SamplesBefore(t)
		}
	}
}

// passes returns pass@k; reward is J.
func (r *replica) passes(k int, reward float64) float64 {
	switch p := r.sampler.prompts; {
	case r.tabular != nil:
		all := r.tabular.prompts
		return meanOver(len(all), func(x int) float64 { return pass(k, all[x].reward) })
	case p != nil:
		return meanOver(len(p.Means),
			func(x int) float64 { return pass(k, r.policy.Mean(p.Means[x][:])) })
	}
	return pass(k, reward)
}

// pass returns 1 − (1−reward)^k for a reward in [0, 1] but for rounding.
func pass(k int, reward float64) float64 {
	miss, power := max(1-reward, 0), 1.0
	for bit := bits.Len(uint(k)) - 1; bit >= 0; bit-- {
		power = float64(power * power)
		if k>>bit&1 == 1 {
			power = float64(power * miss)
		}
	}
	return 1 - power
}

// effectiveSampleSize returns the mean over the step's snapshots, in proportion to their share of
// its gradient, or over all prompts.
func (r *replica) effectiveSampleSize() float64 {
	switch {
	case r.tabular != nil:
		all := r.tabular.prompts
		return meanOver(len(all),
			func(x int) float64 { return sampleShare(all[x].policy, all[x].snapshot) })
	case r.ages != nil && len(r.ages.snapshots) > 0:
		mean := 0.0
		for i, snapshot := range r.ages.snapshots {
			mean += float64(r.ages.weights[i] * sampleShare(r.policy, snapshot))
		}
		return mean
	}
	return sampleShare(r.policy, r.snapshot)
}

// sampleShare returns 1/Σ_a π_a²/π_old,a = (E ρ)²/E ρ² over the samples of π_old. It is at most 1
// but for rounding, and 0 where an arm of π is out of reach of π_old.
func sampleShare(now, old *grpo.Policy) float64 {
	sum := 0.0
	for a, p := range now.Probs {
		if p > 0 {
			sum += float64(p * (p / old.Probs[a]))
		}
	}
	return min(1/sum, 1)
}
