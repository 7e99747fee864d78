// Package diagnose names the failure mode of a training run from what was
// recorded along it (docs/theory.md §7).
package diagnose

// Mode is what went wrong with a run.
type Mode string

const (
	None                 Mode = "none"
	RewardHacking        Mode = "reward-hacking"
	AdvantageDegeneracy  Mode = "advantage-degeneracy"
	PolicyConcentration  Mode = "policy-concentration"
	DynamicalInstability Mode = "dynamical-instability"
)

// Modes lists them.
var Modes = []Mode{None, RewardHacking, AdvantageDegeneracy, PolicyConcentration, DynamicalInstability}

// Trace is what was recorded along one run; index i of every series belongs to
// Steps[i]. A series that is nil was not observed.
type Trace struct {
	Steps                                                                            []int
	Reward, TrueReward, Entropy, Collision, ZeroVariance, KL, GradientNorm, RatioMax []float64
}

// Diagnosis is the mode that a run is in.
type Diagnosis struct{ Mode Mode }

// Name names the failure mode of a run by the project's own diagnostics.
func Name(Trace) Diagnosis { return Diagnosis{None} }

// PaperName names it by the paper's diagnostics.
func PaperName(Trace) Diagnosis { return Diagnosis{None} }
