package sim

// RelaxationProbe is a measurement of how a small deviation from Point dies
// out: pairs of replicas start at Point ± Offset·Direction and see the same
// random numbers, and half their difference along the direction,
//
//	x_t = Direction·(θ₊ − θ₋)/(2 Direction·Direction),
//
// is what moves linearly about Point (even orders of the deviation cancel).
// A pair is a replica: Run.Replicas pairs (one at G = ∞) are run for Run.Steps
// steps, of which those from Run.BurnIn on count.
type RelaxationProbe struct {
	Point     []float64
	Direction []float64
	Offset    float64
}

// Names of what a relaxation probe estimates.
const (
	RelaxationRate = "relaxation_rate" // −ln|dominant multiplier| per optimizer step; negative: growth
	DampingRatio   = "damping_ratio"   // ζ of the two dominant multipliers
)
