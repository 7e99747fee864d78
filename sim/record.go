package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/grpo/fp"
)

// Quantity is something recorded along a run. Those of the policy describe it
// before the step's update; those of the samples describe the step's groups.
type Quantity string

const (
	ExpectedReward       Quantity = "expected_reward"        // J = Σ π_a m_a
	TrueReward           Quantity = "true_reward"            // Σ π_a · true mean of a
	Entropy              Quantity = "entropy"                // −Σ π log π, nats
	Collision            Quantity = "collision"              // Σ π²
	ZeroVarianceFraction Quantity = "zero_variance_fraction" // share of groups with equal rewards
	KLReference          Quantity = "kl_reference"           // KL(π‖π_ref), nats
	ClipFraction         Quantity = "clip_fraction"          // share of samples with A ≠ 0 that the clip silences
	ImportanceRatioMax   Quantity = "importance_ratio_max"   // max_a π_a/π_old,a
	GradientNorm         Quantity = "gradient_norm"          // ‖g‖₂
	LogitGap             Quantity = "logit_gap"              // z = θ_1 − θ_0, two arms
)

// quantityCount is the number of quantities; LogitGap, which only two arms
// have, is the last.
const quantityCount = 10

// Quantities lists what a bandit with the given number of arms records.
func Quantities(arms int) []Quantity {
	all := []Quantity{
		ExpectedReward, TrueReward, Entropy, Collision, ZeroVarianceFraction,
		KLReference, ClipFraction, ImportanceRatioMax, GradientNorm, LogitGap,
	}
	if arms != 2 {
		all = all[:quantityCount-1]
	}
	return all
}

// RecordedSteps returns the steps at which a run of the given length records:
// 0, the multiples of the period nearest to 200 steps spaced evenly on a
// logarithmic axis, and the last. The period is K for block lag, else 1.
func RecordedSteps(steps int, lag grpo.Lag) []int {
	const points = 200
	period := 1
	if lag.Kind == grpo.Block {
		period = lag.Interval
	}
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

// quantileReplicas is the number of replicas that quantiles are taken over.
const quantileReplicas = 1024

// moments accumulates a mean and a sum of squared deviations (Welford).
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (x - m.mean))
}

// merge adds the moments of o (Chan, Golub, LeVeque).
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

// record holds the moments of every quantity at every recorded step, of one
// chunk of replicas or of a whole cell.
type record [][quantityCount]moments

func (r record) merge(o record) {
	for i := range r {
		for q := range r[i] {
			r[i][q].merge(o[i][q])
		}
	}
}

// Summary is one recorded quantity at one recorded step over the replicas.
type Summary struct {
	Mean      float64
	StdErr    float64    // of the mean; 0 for a single replica
	Quantiles [5]float64 // 5, 25, 50, 75, 95 % of the first 1,024 replicas
}

// summarize turns the moments of one quantity and the values of its first
// replicas (whose order it changes) into a Summary.
func summarize(m moments, values []float64) Summary {
	s := Summary{Mean: m.mean}
	if m.n > 1 {
		s.StdErr = math.Sqrt(m.m2 / float64(m.n-1) / float64(m.n))
	}
	s.Quantiles = quantiles(values)
	return s
}
