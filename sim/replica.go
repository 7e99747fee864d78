package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/sim/draw"
)

// replica runs one replica after another of one cell, reusing its memory.
type replica struct {
	cell      *Cell
	recorded  []int
	read      []int     // steps at which J is read into curve, then −1
	curve     []float64 // of the replica run last
	means     []float64
	sampler   *sampler
	force     *grpo.Force
	reference *grpo.Policy
	start     *grpo.Policy
	policy    *grpo.Policy
	history   *grpo.History
	motion    *grpo.Motion
	tally     grpo.Tally
	g         []float64
	words     *draw.Words
}

func newReplica(cell *Cell, recorded []int) *replica {
	arms := len(cell.Bandit.Arms)
	lag := cell.Lag
	if lag.Kind == grpo.Delay {
		lag.Interval = min(lag.Interval, cell.Run.Steps) // a longer one never gets beyond the initial policy
	}
	read := curveSteps(cell.Fits, cell.Run.Steps)
	return &replica{
		cell:      cell,
		recorded:  recorded,
		read:      append(read, -1),
		curve:     make([]float64, len(read)),
		means:     means(&cell.Bandit),
		sampler:   newSampler(&cell.Bandit, &cell.Estimator),
		force:     grpo.NewForce(cell.Estimator, cell.Reference),
		reference: grpo.NewPolicy(cell.Reference),
		start:     grpo.NewPolicy(cell.Init),
		policy:    grpo.NewPolicy(cell.Init),
		history:   grpo.NewHistory(lag, arms),
		motion:    grpo.NewMotion(arms),
		tally:     grpo.Tally{Arms: make([]grpo.ArmTally, arms)},
		g:         make([]float64, arms),
		words:     draw.NewWords(nil),
	}
}

// averages are one replica's time averages over the steps after burn-in, of
// deviations from the initial policy (so that squares lose no digits).
type averages struct {
	reward, rewardSquare float64 // of J − J_0
	gap, gapSquare       float64 // of z − z_0, two arms
	zeroVariance         float64 // share of zero-variance groups
}

// stepsBetweenLooks is how many steps pass before a run looks whether it has
// been interrupted: a fraction of a second even with 1,000 arms.
const stepsBetweenLooks = 1 << 14

// run runs replica index and writes what it records into values, indexed by
// recorded step. It returns the step at which the replica diverged, or −1;
// from that step on nothing is written.
func (r *replica) run(ctx context.Context, index int, values [][quantityCount]float64) (avg averages, divergedAt int) {
	c := r.cell
	r.words.Reset(Stream(c.Seed, c.ID, ForReplica, index))
	r.policy.Set(r.start)
	r.motion.Rest()
	var (
		two      = len(r.g) == 2
		infinite = c.Deterministic()
		steady   = c.Optimizer.Schedule.Kind == grpo.ConstantRate && c.Optimizer.Schedule.Warmup == 0
		rate     = c.Optimizer.LearningRate
		reward0  = r.start.Mean(r.means)
		gap0     = gap(r.start)
		next     = 0 // index of the next recorded step
		read     = 0 // index of the next step at which J is read
		zero     = 0 // zero-variance groups after burn-in
	)
	for t := 0; ; t++ {
		if t%stepsBetweenLooks == 0 && ctx.Err() != nil {
			return averages{}, -1 // the cell will not be finished
		}
		reward := r.policy.Mean(r.means)
		if math.IsNaN(reward) { // before anything is drawn from such a policy
			return averages{}, t
		}
		if t == r.read[read] {
			r.curve[read] = reward
			read++
		}
		behaviour := r.history.Behaviour(t, r.policy)
		if infinite {
			r.force.Expected(r.g, &c.Bandit, r.policy, behaviour)
		} else {
			r.tally.Reset()
			r.sampler.tally(&r.tally, r.words, behaviour)
			r.force.Sampled(r.g, &r.tally, r.policy, behaviour)
		}
		if t == r.recorded[next] {
			r.observe(&values[next], reward, behaviour)
			if !finite(r.policy.Logits) || !finite(values[next][:]) {
				return averages{}, t
			}
			next++
		}
		if t == c.Run.Steps {
			break
		}
		if t >= c.Run.BurnIn {
			d := reward - reward0
			avg.reward += d
			avg.rewardSquare += float64(d * d)
			if two {
				d := gap(r.policy) - gap0
				avg.gap += d
				avg.gapSquare += float64(d * d)
			}
			zero += r.tally.ZeroVariance
		}
		if !steady {
			rate = c.Optimizer.LearningRate * c.Optimizer.Schedule.Factor(t)
		}
		c.Optimizer.Step(r.policy.Logits, r.g, r.motion, rate)
		r.policy.Update()
	}
	n := float64(c.Run.Steps - c.Run.BurnIn)
	avg.reward /= n
	avg.rewardSquare /= n
	avg.gap /= n
	avg.gapSquare /= n
	avg.zeroVariance = float64(zero) / (n * float64(c.Estimator.GroupsPerStep))
	if !finite([]float64{avg.reward, avg.rewardSquare, avg.gap, avg.gapSquare}) {
		return averages{}, c.Run.Steps
	}
	return avg, -1
}

// observe writes what is recorded at this step.
func (r *replica) observe(v *[quantityCount]float64, reward float64, behaviour *grpo.Policy) {
	norm := 0.0
	for _, x := range r.g {
		norm += float64(x * x)
	}
	v[0] = reward
	v[1] = r.policy.Mean(r.cell.Bandit.TrueMeans)
	v[2] = r.policy.Entropy()
	v[3] = r.policy.Collision()
	v[4] = 0
	v[5] = r.policy.Divergence(r.reference)
	v[6] = 0
	v[7] = r.policy.MaxRatio(behaviour)
	v[8] = math.Sqrt(norm)
	if !r.cell.Deterministic() {
		v[4] = float64(r.tally.ZeroVariance) / float64(r.tally.Groups)
		v[6] = r.force.ClipFraction(&r.tally, r.policy, behaviour)
	}
	if len(r.g) == 2 {
		v[9] = gap(r.policy)
	}
}

// gap returns z = θ_1 − θ_0, index 1 being the arm listed first.
func gap(p *grpo.Policy) float64 { return p.Logits[0] - p.Logits[1] }

func finite(values []float64) bool {
	for _, x := range values {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return false
		}
	}
	return true
}
