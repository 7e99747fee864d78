package sim

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
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
	ZeroVarianceFraction Quantity = "zero_variance_fraction" // share of groups with equal rewards
	KLReference          Quantity = "kl_reference"           // KL(π‖π_ref), nats
	ClipFraction         Quantity = "clip_fraction"          // share of weights of A ≠ 0 set to 0
	ImportanceRatioMax   Quantity = "importance_ratio_max"   // max_a π_a/π_old,a; see SinceRecord
	GradientNorm         Quantity = "gradient_norm"          // ‖g‖₂
	LogitGap             Quantity = "logit_gap"              // z = θ_1 − θ_0, two arms
)

// Quantities that a cell records where Run.Record names them, beside PassAt,
// ProbabilityOf and those of Strata.
const (
	EffectiveSampleSize Quantity = "effective_sample_size" // 1/Σ_a π_a²/π_old,a; see SinceRecord
	SamplesDrawn        Quantity = "samples"               // drawn before this step; redrawn: expected
	GradientCosine      Quantity = "gradient_cosine"       // g_t·g_{t−1}/‖g_t‖‖g_{t−1}‖; see SinceRecord
	Stiffest            Quantity = "stiffness"             // λ of a Network's stiffest mode, or NaN
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
	all := []Quantity{ // in the order of their positions
		ExpectedReward, TrueReward, Entropy, Collision, ZeroVarianceFraction,
		KLReference, ClipFraction, ImportanceRatioMax, GradientNorm, LogitGap,
	}
	if arms != 2 {
		all = all[:logitGapIndex]
	}
	return all
}

// RecordedSteps returns the increasing steps at which a run of the given length is recorded. They
// are 0, the last, and multiples of the period: K for block lag, else 1. About 200 steps are spaced
// evenly on a logarithmic axis.
func RecordedSteps(steps int, lag option.Lag) []int {
	const points = 200
	period := lag.StepsPerSnapshot()
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

// moments are the means and the sums of squared deviations of all recorded values over n replicas.
type moments struct {
	n        int
	mean, m2 []float64
}

func newMoments(values int) moments {
	return moments{mean: make([]float64, values), m2: make([]float64, values)}
}

// add adds the values of one more replica (Welford).
func (m *moments) add(values []float64) {
	m.n++
	share := 1 / float64(m.n)
	mean, m2 := m.mean[:len(values)], m.m2[:len(values)]
	for i, x := range values {
		d := x - mean[i]
		mean[i] += float64(d * share)
		m2[i] += float64(d * (x - mean[i]))
	}
}

// merge adds the values that o has accumulated (Chan, Golub, LeVeque).
func (m *moments) merge(o *moments) {
	if o.n == 0 {
		return
	}
	n := m.n + o.n
	share := float64(o.n) / float64(n)
	between := float64(float64(m.n) * share)
	for i := range m.mean {
		d := o.mean[i] - m.mean[i]
		m.m2[i] += o.m2[i] + float64(float64(d*d)*between)
		m.mean[i] += float64(d * share)
	}
	m.n = n
}

// Summary summarizes one recorded quantity at one recorded step over the replicas, in
// the quantity's unit.
type Summary struct {
	Mean      float64    // over all replicas
	StdErr    float64    // standard error of Mean, ≥ 0; 0 for a single replica
	Quantiles [5]float64 // at QuantileLevels, over the first 1,024 replicas
}

// summary returns the Summary of value i without its quantiles.
func (m *moments) summary(i int) Summary {
	s := Summary{Mean: m.mean[i]}
	if m.n > 1 {
		s.StdErr = math.Sqrt(m.m2[i] / float64(m.n-1) / float64(m.n))
	}
	return s
}

// setQuantiles sets the quantiles of each value over the replicas, [replica][value].
func setQuantiles(summaries []Summary, replicas [][]float64) {
	values := make([]float64, len(replicas))
	for i := range summaries {
		for j, of := range replicas {
			values[j] = of[i]
		}
		summaries[i].Quantiles = quantiles(values)
	}
}

// gap returns z = θ_1 − θ_0 of two arms, where index 1 is the arm listed first.
func gap(p *grpo.Policy) float64 { return p.Logits[0] - p.Logits[1] }
