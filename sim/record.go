package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/grpo/fp"
)

// Quantity names something recorded along a run. Quantities of the policy are those
// before the step's update; quantities of the samples are those of the step's groups.
type Quantity string

// The recorded quantities.
const (
	ExpectedReward       Quantity = "expected_reward"        // J = Σ π_a m_a
	TrueReward           Quantity = "true_reward"            // Σ π_a · true mean of a
	Entropy              Quantity = "entropy"                // −Σ π log π, nats
	Collision            Quantity = "collision"              // Σ π², in [1/A, 1]
	ZeroVarianceFraction Quantity = "zero_variance_fraction" // share of groups with equal rewards, in [0, 1]; 0 at G = ∞
	KLReference          Quantity = "kl_reference"           // KL(π‖π_ref), nats
	ClipFraction         Quantity = "clip_fraction"          // share of samples with A ≠ 0 whose weight the importance mode sets to 0, in [0, 1]; 0 at G = ∞
	ImportanceRatioMax   Quantity = "importance_ratio_max"   // max_a π_a/π_old,a
	GradientNorm         Quantity = "gradient_norm"          // ‖g‖₂
	LogitGap             Quantity = "logit_gap"              // z = θ_1 − θ_0, two arms
)

// Positions of the quantities in a row of recorded values. LogitGap is the last one,
// because only two arms have it.
const (
	expectedRewardIndex = iota
	trueRewardIndex
	entropyIndex
	collisionIndex
	zeroVarianceFractionIndex
	klReferenceIndex
	clipFractionIndex
	importanceRatioMaxIndex
	gradientNormIndex
	logitGapIndex
	quantityCount
)

// Quantities lists the quantities that a bandit with the given number of arms records,
// in the order of Result.Trajectory.
func Quantities(arms int) []Quantity {
	all := []Quantity{
		expectedRewardIndex:       ExpectedReward,
		trueRewardIndex:           TrueReward,
		entropyIndex:              Entropy,
		collisionIndex:            Collision,
		zeroVarianceFractionIndex: ZeroVarianceFraction,
		klReferenceIndex:          KLReference,
		clipFractionIndex:         ClipFraction,
		importanceRatioMaxIndex:   ImportanceRatioMax,
		gradientNormIndex:         GradientNorm,
		logitGapIndex:             LogitGap,
	}
	if arms != 2 {
		all = all[:logitGapIndex]
	}
	return all
}

// RecordedSteps returns the steps at which a run of the given length is recorded, in
// increasing order: 0, the multiples of the period nearest to 200 steps spaced evenly
// on a logarithmic axis, and the last. The period is K for block lag, else 1.
func RecordedSteps(steps int, lag grpo.Lag) []int {
	const points = 200
	period := RefreshPeriod(lag)
	recorded := []int{0}
	span := fp.Log(float64(max(steps, 1)) / float64(period))
	for i := range points {
		x := fp.Exp(span * float64(i) / (points - 1))
		if t := period * int(math.Floor(x+0.5)); t > 0 && t < steps {
			recorded = append(recorded, t)
		}
	}
	recorded = append(recorded, steps)
	slices.Sort(recorded)
	return slices.Compact(recorded)
}

// quantileReplicas is the number of replicas over which quantiles are taken.
const quantileReplicas = 1024

// moments accumulates a mean and a sum of squared deviations (Welford).
type moments struct {
	n        int
	mean, m2 float64
}

// add adds x; share is 1/n with x counted.
func (m *moments) add(x, share float64) {
	m.n++
	d := x - m.mean
	m.mean += float64(d * share)
	m.m2 += float64(d * (x - m.mean))
}

// merge adds the values that o has accumulated (Chan, Golub, LeVeque).
func (m *moments) merge(o moments) {
	if o.n == 0 {
		return
	}
	n := m.n + o.n
	d := o.mean - m.mean
	share := float64(o.n) / float64(n)
	m.m2 += o.m2 + float64(float64(d*d)*float64(float64(m.n)*share))
	m.mean += float64(d * share)
	m.n = n
}

// record holds the moments of every quantity at every recorded step, over one chunk of
// replicas or all replicas of a cell.
type record [][quantityCount]moments

// merge adds the replicas of o.
func (r record) merge(o record) {
	for i := range r {
		for q := range r[i] {
			r[i][q].merge(o[i][q])
		}
	}
}

// Summary summarizes one recorded quantity at one recorded step over the replicas, in
// the quantity's unit.
type Summary struct {
	Mean      float64    // over all replicas
	StdErr    float64    // standard error of Mean, ≥ 0; 0 for a single replica
	Quantiles [5]float64 // at QuantileLevels, over the first 1,024 replicas
}

// summarize returns the Summary of one quantity from its moments and its values in the
// first replicas, whose order it changes.
func summarize(m moments, values []float64) Summary {
	s := Summary{Mean: m.mean}
	if m.n > 1 {
		s.StdErr = math.Sqrt(m.m2 / float64(m.n-1) / float64(m.n))
	}
	s.Quantiles = quantiles(values)
	return s
}
