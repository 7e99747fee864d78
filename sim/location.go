package sim

// Event is what a location probe looks for along a parameter.
type Event string

const (
	Instability Event = "instability" // small deviations grow
	Ringing     Event = "ringing"     // small deviations oscillate: complex or negative multipliers
)

// LocationParam is the parameter that a location probe varies.
type LocationParam string

const (
	LearningRate    LocationParam = "optimizer.learning_rate" // η
	RefreshInterval LocationParam = "lag.interval"            // K or τ, an integer
)

// LocationProbe is a search for the smallest value of a parameter at which an
// event happens to pairs of replicas that start at Point ± Offset·Direction.
// From and To bound it in multiples of the paper's rule at the stiffness λ that
// the cell's probe StiffnessTotal has measured,
//
//	η = (1−μ)/(λ max(K, 1)),  K = (1−μ)/(ηλ).
//
// A located cell measures its stiffness probes and then this, and simulates
// nothing else; its own value of Param is unused.
type LocationProbe struct {
	Event     Event
	Param     LocationParam
	From, To  float64
	Tolerance float64 // relative
	Point     []float64
	Direction []float64
	Offset    float64
}

// Names of what a location probe estimates: the last value without the event
// and the first with it. LocatedHigh is absent where no event was found up to
// To; LocatedLow is then that value.
const (
	LocatedLow  = "located_lo"
	LocatedHigh = "located_hi"
)
