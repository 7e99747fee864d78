package sim

import (
	"math"

	"grposim/grpo"
	"grposim/sim/draw"
)

// replica runs one replica after another of one cell, reusing its memory.
type replica struct {
	drawing
	recorded  []int
	read      []int // steps at which J is read into curve, then −1
	means     []float64
	reference *grpo.Policy
	start     *grpo.Policy
	policy    *grpo.Policy
	history   *grpo.History
	snapshot  *grpo.Policy // π_old
	motion    *grpo.OptimizerState

	values     [][quantityCount]float64 // by recorded step; whoever records gives them
	nextRecord int
	curve      []float64 // by step of read
	nextRead   int
	sums       averages // over steps
	zero       int      // zero-variance groups after burn-in
	divergedAt int      // step, or running

	reward0, gap0 float64 // J and z of start
}

func newReplica(cell *Cell, recorded []int, laws *laws) *replica {
	arms := len(cell.Bandit.Arms)
	lag := cell.Lag
	if lag.Kind == grpo.Delay {
		lag.Interval = min(lag.Interval, cell.Run.Steps) // a longer one never gets beyond the initial policy
	}
	read := curveSteps(cell.Fits, cell.Run.Steps)
	return &replica{
		drawing:   newDrawing(cell, laws, draw.NewWords(nil), cell.Estimator.GroupsPerStep*lag.StepsPerSnapshot()),
		recorded:  recorded,
		read:      append(read, -1),
		means:     means(&cell.Bandit),
		reference: grpo.NewPolicy(cell.Reference),
		start:     grpo.NewPolicy(cell.Init),
		policy:    grpo.NewPolicy(cell.Init),
		history:   grpo.NewHistory(lag, arms),
		motion:    grpo.NewOptimizerState(arms),
		curve:     make([]float64, len(read)),
	}
}

// averages are one replica's time averages over the steps after burn-in, of
// deviations from the initial policy (so that squares lose no digits).
type averages struct {
	reward, rewardSquare float64 // of J − J_0
	gap, gapSquare       float64 // of z − z_0, two arms
	zeroVariance         float64 // share of zero-variance groups
}

// begin puts the replica of the given index at its start.
func (r *replica) begin(index int) {
	c := r.cell
	r.words.Reset(Stream(c.Seed, c.ID, ForReplica, index))
	r.policy.Set(r.start)
	r.motion.Reset()
	r.reward0, r.gap0 = r.start.Mean(r.means), gap(r.start)
	r.sums, r.zero = averages{}, 0
	r.nextRecord, r.nextRead = 0, 0
	r.divergedAt = running
}

// running is the divergedAt of a replica that has not diverged.
const running = -1

// step does step t, in order from t = 0, unless the replica has diverged. The last
// step only looks.
func (r *replica) step(t int) {
	if r.divergedAt != running {
		return
	}
	if r.cell.Lag.Refreshes(t) {
		r.refresh(t)
	}
	r.draw()
	r.gradient(r.policy, r.snapshot)
	reward := r.policy.Mean(r.means)
	if t == r.read[r.nextRead] {
		r.curve[r.nextRead] = reward
		r.nextRead++
	}
	if t == r.recorded[r.nextRecord] {
		v := &r.values[r.nextRecord]
		r.observe(v, reward)
		if !finite(r.policy.Logits) || !finite(v[:]) {
			r.divergedAt = t
			return
		}
		r.nextRecord++
	}
	if t == r.cell.Run.Steps {
		return
	}
	if t >= r.cell.Run.BurnIn {
		d := reward - r.reward0
		r.sums.reward += d
		r.sums.rewardSquare += float64(d * d)
		if len(r.g) == 2 {
			d := gap(r.policy) - r.gap0
			r.sums.gap += d
			r.sums.gapSquare += float64(d * d)
		}
		r.zero += r.tally.ZeroVariance
	}
	r.move(t)
}

// refresh takes the snapshot of step t, which may be another than that of the step
// before, and aims the sampler at it.
func (r *replica) refresh(t int) {
	r.snapshot = r.history.Behaviour(t, r.policy)
	r.sampler.aim(r.snapshot)
}

// move updates the policy by the gradient of step t. Nothing is drawn from one that
// has become none.
func (r *replica) move(t int) {
	o := &r.cell.Optimizer
	o.Step(r.policy.Logits, r.g, r.motion, o.Rate(t))
	r.policy.Update()
	if math.IsNaN(r.policy.Probs[0]) { // then all are
		r.divergedAt = t + 1
	}
}

// end returns the time averages of a replica that has done its steps. They may
// be beyond the range of floating point where nothing that was recorded is.
func (r *replica) end() averages {
	c, avg := r.cell, r.sums
	n := float64(c.Run.Steps - c.Run.BurnIn)
	avg.reward /= n
	avg.rewardSquare /= n
	avg.gap /= n
	avg.gapSquare /= n
	avg.zeroVariance = float64(r.zero) / (n * float64(c.Estimator.GroupsPerStep))
	if r.divergedAt == running && !finite([]float64{avg.reward, avg.rewardSquare, avg.gap, avg.gapSquare}) {
		r.divergedAt = c.Run.Steps
	}
	return avg
}

// observe writes what is recorded at this step.
func (r *replica) observe(v *[quantityCount]float64, reward float64) {
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
	v[7] = r.policy.MaxRatio(r.snapshot)
	v[8] = math.Sqrt(norm)
	if !r.cell.Deterministic() {
		v[4] = float64(r.tally.ZeroVariance) / float64(r.tally.Groups)
		v[6] = r.force.ClipFraction(&r.tally, r.policy, r.snapshot)
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
