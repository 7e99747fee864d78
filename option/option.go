package option

import "math"

// Arm is one arm of the bandit.
type Arm struct {
	Law  Law     // distribution of the reward
	Mean float64 // m_a, in units of reward: in [0, 1] for Bernoulli, else any finite number
	Std  float64 // standard deviation of a normal reward, in units of reward, ≥ 0
}

// Bandit is the environment: one context, len(Arms) ≥ 2 actions. Where an
// equation speaks of two arms, index 1 is the arm listed first (Go index 0).
type Bandit struct {
	Arms      []Arm     // at least 2
	TrueMeans []float64 // true mean rewards where Arms hold a proxy (reward hacking); only recorded
}

// Means returns the arms' mean rewards, a new list.
func (b *Bandit) Means() []float64 {
	means := make([]float64, len(b.Arms))
	for a, arm := range b.Arms {
		means[a] = arm.Mean
	}
	return means
}

// Infinite is the group size at which the force is the expected gradient itself.
const Infinite = math.MaxInt

// Advantage says how a reward becomes an advantage, A_i = (r_i − baseline)/scale. It is 0 when all
// rewards of a group are equal unless the baseline is ConstantBaseline or RunningMean. Rules says
// which baselines go with which scale. See BinaryOnly for those of 0/1 rewards alone.
type Advantage struct {
	Baseline Baseline  // the number subtracted from each reward
	Scale    Scale     // the number that divides the difference
	Std      Deviation // the standard deviation of the scales that use one
	Value    float64   // b in [0, 1] of ConstantBaseline, in units of reward; the first of RunningMean
	Rate     float64   // α in (0, 1] of RunningMean, per draw of groups; unused by others
	Epsilon  float64   // ε ≥ 0, added to the standard deviation, in units of reward
}

// BinaryOnly reports whether the advantage is one of those for 0/1 rewards without a Filter only.
func (adv *Advantage) BinaryOnly() bool { return adv.Baseline > LeaveOneOut || adv.Scale > NoScale }

// Signed holds a number for samples of A > 0 and one for those of A < 0.
type Signed struct{ Positive, Negative float64 }

// Importance is the treatment of off-policy samples. A mode ignores the fields that it
// does not name.
type Importance struct {
	Mode        ImportanceMode // the weight w_i
	ClipLow     float64        // ε_low in (0, 1), Clip, DualClip, CISPO, DPPO; A < 0: ρ ≥ 1 − ε_low
	ClipHigh    float64        // ε_high > 0, the same modes: Clip counts A > 0 while ρ ≤ 1 + ε_high
	Floor       float64        // least ratio that counts, in [0, 1], Masked
	Cap         float64        // largest ratio that counts, ≥ 1, DualClip (A < 0), Truncated, Masked
	Temperature Signed         // τ > 0, SAPO
	Power       Signed         // k > 0, VESPO
	Decay       Signed         // λ ≥ 0, VESPO
	Schedule    Schedule       // factor of ClipLow and ClipHigh over the run
}

// Linear reports whether the weight is 1 or ρ.
func (imp *Importance) Linear() bool { return imp.Mode <= Ratio }

// Rollout is a sampler whose logits differ from the trainer's at equal weights. They differ by
// independent normal numbers, drawn anew with each snapshot: rounding is a function of the weights.
type Rollout struct {
	Noise      float64 // σ ≥ 0 of the difference, in logits
	Correction Correction
	Floor, Cap float64 // of the correction, as those of an Importance
}

// Weight returns the importance mode whose weight of the ratio r is the correction.
func (r *Rollout) Weight() *Importance {
	mode := [...]ImportanceMode{NoImportance, Truncated, Masked}[r.Correction]
	return &Importance{Mode: mode, Floor: r.Floor, Cap: r.Cap}
}

// KL is the penalty β·KL(π‖π_ref).
type KL struct {
	Coefficient float64     // β ≥ 0, in units of advantage (InReward: of reward) per nat
	In          KLPlacement // InAdvantage with NoImportance or Ratio only; unused if β = 0
	Gradient    KLGradient  // how the gradient is estimated; unused if β = 0 and outside the loss
	At          KLPoint     // where the gradient is evaluated; unused if β = 0 and outside the loss
	Schedule    Schedule    // factor of β over the run, in the loss; unused if β = 0
}

// Varies reports whether there is a penalty whose strength changes over the run.
func (kl *KL) Varies() bool { return kl.Coefficient != 0 && kl.Schedule.Varies() }

// Outside reports whether there is a penalty that is not in the loss.
func (kl *KL) Outside() bool { return kl.Coefficient != 0 && kl.In != InLoss }

// OfReward reports whether there is a penalty that is part of the rewards.
func (kl *KL) OfReward() bool { return kl.Coefficient != 0 && kl.In == InReward }

// OfAdvantage reports whether there is a penalty that is part of the advantages.
func (kl *KL) OfAdvantage() bool { return kl.Coefficient != 0 && kl.In == InAdvantage }

// Sampled reports whether the force has a KL gradient of its samples.
func (kl *KL) Sampled() bool {
	return kl.Coefficient != 0 && kl.In != InReward && (kl.Gradient != ExactKL || kl.Outside())
}

// Estimator is the stochastic gradient of one optimizer step.
type Estimator struct {
	GroupSize     int        // G, samples per group, ≥ 2, or Infinite
	SizeSchedule  Schedule   // factor of G over the run; unused at Infinite
	GroupsPerStep int        // B ≥ 1, independent groups averaged in a step; 0: 1
	Filter        Filter     // of groups of equal rewards; Drop needs the exact KL gradient
	Samples       Samples    // the groups of the steps of a block
	Advantage     Advantage  // from rewards to advantages A_i
	Importance    Importance // the weights w_i
	Rollout       Rollout    // of samples that an engine draws whose logits are not the trainer's
	KL            KL         // the penalty
	Entropy       float64    // α ≥ 0 of the bonus α·H(π), exact gradient, in units of advantage
}

// Varies reports whether β, the bounds of the clip or G change over the run.
func (e *Estimator) Varies() bool {
	return e.KL.Varies() || e.GroupSize != Infinite && e.SizeSchedule.Varies() ||
		e.Importance.Mode.Uses(UseBounds) && e.Importance.Schedule.Varies()
}

// Resamples reports whether groups are redrawn under a sampled KL gradient, whose mean then
// depends on the rewards.
func (e *Estimator) Resamples() bool { return e.Filter == Redraw && e.KL.Sampled() }

// GradientAtSnapshot reports whether the mean force of fresh groups that are all kept is ∇(J −
// β·KL(π‖π_ref)) at the snapshot. Its derivative is symmetric. So it is without weights, scale and
// entropy, and with the exact gradient of the penalty.
func (e *Estimator) GradientAtSnapshot() bool {
	kl, unweighted := &e.KL, e.Importance.Mode == NoImportance && e.Advantage.Scale == NoScale
	exact := kl.In == InLoss && kl.Gradient == ExactKL && kl.At == AtSnapshot
	return unweighted && e.Entropy == 0 && (exact || kl.Coefficient == 0)
}

// Complete gives the number of groups that is left out: 1.
func (e *Estimator) Complete() {
	if e.GroupsPerStep == 0 {
		e.GroupsPerStep = 1
	}
}

// Lag is the policy staleness.
type Lag struct {
	Kind     LagKind // the rule
	Interval int     // steps: K ≥ 1 (block; 0 is 1) or τ ≥ 0 (delay); K = 1 and τ = 0 are on-policy

	// Behind ≥ 0 is the number of blocks by which the snapshot is older than the last one. 1 is the
	// one-step-off schedule of verl and slime. Unused unless the kind is Block.
	Behind int

	Ages Ages // unused unless the kind is Random
}

// Complete gives the interval of a block that is left out: 1, on-policy.
func (l *Lag) Complete() {
	if l.Kind == Block && l.Interval == 0 {
		l.Interval = 1
	}
}

// StepsPerSnapshot returns the number of optimizer steps that draw from the same
// policy: K (block) or 1.
func (l *Lag) StepsPerSnapshot() int {
	if l.Kind == Block {
		return max(l.Interval, 1)
	}
	return 1
}

// Refreshes reports whether π_old of step t ≥ 0 may differ from that of step t − 1:
// whether K divides t (block), always otherwise.
func (l *Lag) Refreshes(t int) bool { return t%l.StepsPerSnapshot() == 0 }

// MaxTableAge is the largest age of a table.
const MaxTableAge = 23

// Ages is a law of the age of snapshots, in optimizer steps. The policy of an age that reaches back
// before step 0 is the initial one.
//
// At G = ∞ the force of a step is its mean over the law, Σ p_j F(π_t, π_{t−j}): the limit of many
// groups with an age each. The run is then deterministic.
type Ages struct {
	Law      AgeLaw
	From, To int                      // of UniformAges: 0 ≤ From ≤ To
	Mean     float64                  // of GeometricAges: > 0
	Weights  [MaxTableAge + 1]float64 // of TableAges, by age: ≥ 0, with a positive sum
	Drawn    AgeDraw
}

// Schedule is a factor of a number. Over the first Warmup steps it rises as
// (t+1)/Warmup. After them it stays (constant) or falls to 0 at step Total. It falls as 1−x (linear)
// or ½(1+cos πx) (cosine), x = (t−Warmup)/(Total−Warmup).
type Schedule struct {
	Kind   ScheduleKind // the shape after the warm-up
	Warmup int          // length of the warm-up in steps, ≥ 0
	Total  int          // step at which it reaches 0, > Warmup; unused by ConstantRate
}

// Varies reports whether there is a decay or a warm-up.
func (s *Schedule) Varies() bool { return s.Kind != ConstantRate || s.Warmup > 0 }

// Optimizer is the update rule of the logits. Its state starts at zero. Only a ReferenceUpdate
// resets it.
type Optimizer struct {
	Kind         Method   // the rule
	LearningRate float64  // η > 0, in logits per unit of force
	Momentum     float64  // μ in [0, 1), per step; heavy ball and Nesterov only
	Beta1        float64  // β1 in [0, 1), decay of the first moment per step; Adam only
	Beta2        float64  // β2 in [0, 1), > 0 where ε is 0, decay of the second moment; Adam only
	Epsilon      float64  // ε ≥ 0, added to the root of the second moment, in units of force; Adam
	MaxNorm      float64  // c ≥ 0: a force of norm above c is scaled to c (max_grad_norm); 0: no limit
	Schedule     Schedule // factor of the learning rate over the run
}

// ReferenceUpdate moves the reference policy, in logits: θ_ref ← (1−α)θ_ref + αθ (TRL
// sync_ref_model, slime --ref-update-interval).
type ReferenceUpdate struct {
	Interval  int         // in optimizer steps, ≥ 0; 0: the reference stays
	Rate      float64     // α in (0, 1]; unused if Interval = 0
	Optimizer UpdateState // of the optimizer; unused if Interval = 0
}

// Moves reports whether the reference moves after step t ≥ 0.
func (u ReferenceUpdate) Moves(t int) bool { return u.Interval > 0 && (t+1)%u.Interval == 0 }
