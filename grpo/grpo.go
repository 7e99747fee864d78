// Package grpo is the algorithm: group relative policy optimization on a
// softmax bandit, one optimizer step at a time.
//
// It is pure. It draws nothing, starts no goroutine and reads no file: given
// what a group sampled, it returns the force on the logits and applies it. It
// works in logit space, per context, and nowhere assumes that the parameters
// are the logits, so that a network can pull the same force back through its
// Jacobian.
//
// All arithmetic is rounded explicitly and uses grpo/fp for exp and log, so
// that results are the same bits on every architecture.
//
// Notation, used everywhere in this module (docs/theory.md, "Symbols"):
// A arms, θ logits, π = softmax θ the policy, π_old the snapshot that draws
// the groups, π_ref the reference, m_a the mean reward of arm a,
// J(π) = Σ π_a m_a, G the group size, B groups per step, K the refresh
// interval, η the learning rate, μ the momentum, β the strength of the KL
// penalty.
package grpo

import "math"

// Law is the distribution of an arm's reward.
type Law string

const (
	Bernoulli Law = "bernoulli" // 1 with probability Mean, else 0
	Constant  Law = "constant"  // always Mean
	Normal    Law = "normal"    // Mean + Std·N(0, 1)
)

// Laws lists every Law.
var Laws = []Law{Bernoulli, Constant, Normal}

// Arm is one arm of the bandit.
type Arm struct {
	Reward Law
	Mean   float64 // in [0, 1] for Bernoulli
	Std    float64 // ≥ 0, normal only
}

// Bandit is the environment: one context, len(Arms) ≥ 2 actions. Where an
// equation speaks of two arms, index 1 is the arm listed first.
type Bandit struct {
	Arms      []Arm
	TrueMeans []float64 // what the reward should have been; one an arm
}

// Infinite is the group size of the expected gradient itself.
const Infinite = math.MaxInt

// Baseline is what the advantage subtracts from a reward.
type Baseline string

const (
	MeanBaseline Baseline = "mean"          // the group's mean
	LeaveOneOut  Baseline = "leave-one-out" // the mean of the others: a factor G/(G−1)
)

// Baselines lists every Baseline.
var Baselines = []Baseline{MeanBaseline, LeaveOneOut}

// Scale is what the advantage is divided by.
type Scale string

const (
	StdScale Scale = "std"  // the standard deviation of the group's rewards, plus epsilon
	NoScale  Scale = "none" // 1 (Dr. GRPO)
)

// Scales lists every Scale.
var Scales = []Scale{StdScale, NoScale}

// Deviation says which standard deviation StdScale takes.
type Deviation string

const (
	PopulationStd Deviation = "population" // divides by G
	SampleStd     Deviation = "sample"     // divides by G−1
)

// Deviations lists every Deviation.
var Deviations = []Deviation{PopulationStd, SampleStd}

// Advantage says how a reward becomes an advantage,
// A_i = (r_i − baseline)/scale, and 0 when all rewards of a group are equal.
type Advantage struct {
	Baseline Baseline
	Scale    Scale
	Std      Deviation
	Epsilon  float64 // added to the standard deviation, ≥ 0
}

// ImportanceMode is the weight w_i of a sample.
type ImportanceMode string

const (
	NoImportance ImportanceMode = "none"  // 1
	Ratio        ImportanceMode = "ratio" // ρ = π/π_old
	Clip         ImportanceMode = "clip"  // ρ where the clipped objective has slope, else 0
)

// ImportanceModes lists every ImportanceMode.
var ImportanceModes = []ImportanceMode{NoImportance, Ratio, Clip}

// Importance is the treatment of off-policy samples.
type Importance struct {
	Mode     ImportanceMode
	ClipLow  float64 // in (0, 1): A < 0 counts while ρ ≥ 1 − ClipLow
	ClipHigh float64 // > 0: A > 0 counts while ρ ≤ 1 + ClipHigh
}

// KLGradient is the way the gradient of the KL penalty is taken.
type KLGradient string

const (
	ExactKL KLGradient = "exact" // ∇KL(π‖π_ref) in closed form
	K2      KLGradient = "k2"    // per sample log(π/π_ref)(e_a − π)
	K3      KLGradient = "k3"    // per sample (1 − π_ref/π)(e_a − π)
)

// KLGradients lists every KLGradient.
var KLGradients = []KLGradient{ExactKL, K2, K3}

// KLPoint is the policy at which the KL penalty is evaluated.
type KLPoint string

const (
	AtCurrent  KLPoint = "current"
	AtSnapshot KLPoint = "snapshot" // π_old throughout, projection included
)

// KLPoints lists every KLPoint.
var KLPoints = []KLPoint{AtCurrent, AtSnapshot}

// KL is the penalty β·KL(π‖π_ref).
type KL struct {
	Coefficient float64 // β ≥ 0
	Gradient    KLGradient
	At          KLPoint
}

// Estimator is the stochastic gradient of one optimizer step.
type Estimator struct {
	GroupSize     int // G ≥ 2, or Infinite
	GroupsPerStep int // B ≥ 1 independent groups, averaged
	Advantage     Advantage
	Importance    Importance
	KL            KL
}

// LagKind is the way the behaviour policy falls behind.
type LagKind string

const (
	Block LagKind = "block" // π_old ← π every Interval ≥ 1 steps
	Delay LagKind = "delay" // π_old is π of Interval ≥ 0 steps ago, at first the initial one
)

// LagKinds lists every LagKind.
var LagKinds = []LagKind{Block, Delay}

// Lag is the policy staleness.
type Lag struct {
	Kind     LagKind
	Interval int
}

// Method is the optimizer's update rule.
type Method string

const (
	HeavyBall Method = "heavy-ball" // v ← μv + g, θ ← θ + ηv
	Nesterov  Method = "nesterov"   // v ← μv + g, θ ← θ + η(g + μv)
	Adam      Method = "adam"       // bias-corrected, no weight decay
)

// Methods lists every Method.
var Methods = []Method{HeavyBall, Nesterov, Adam}

// ScheduleKind is the shape of the learning rate over the run.
type ScheduleKind string

const (
	ConstantRate ScheduleKind = "constant"
	LinearDecay  ScheduleKind = "linear"
	CosineDecay  ScheduleKind = "cosine"
)

// ScheduleKinds lists every ScheduleKind.
var ScheduleKinds = []ScheduleKind{ConstantRate, LinearDecay, CosineDecay}

// Schedule scales the learning rate: over the first Warmup steps it rises as
// (t+1)/Warmup; after them it stays (constant) or falls to 0 at step Total as
// 1−x (linear) or ½(1+cos πx) (cosine), x = (t−Warmup)/(Total−Warmup).
type Schedule struct {
	Kind   ScheduleKind
	Warmup int
	Total  int
}

// Optimizer turns forces into motion. Everything starts at rest, and nothing
// is reset when the snapshot is refreshed.
type Optimizer struct {
	Kind         Method
	LearningRate float64 // η > 0
	Momentum     float64 // μ in [0, 1); heavy ball and Nesterov
	Beta1, Beta2 float64 // in [0, 1); Adam
	Epsilon      float64 // ≥ 0; Adam
	Schedule     Schedule
}
