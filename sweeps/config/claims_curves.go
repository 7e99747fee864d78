package config

import (
	"grposim/rom"
	"grposim/sim"
)

// Claims about the mean reward, or the logits, along a run.
var (
	Trajectory = &Claim{
		Name: "trajectory", Per: PerCell,
		Quantity:    "worst over the recorded steps of (mean J − predicted)/(J* − J_0)",
		Needs:       []Need{NeedsDistance, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The mean reward follows the mean-field map with the exact finite-G drift; to leading order the closed form of the reduced-order model.",
		How:         "The interval is simultaneous over the recorded steps. It agrees when the whole band lies within the margin, a share of the rise, of the predicted curve; it disagrees where the band lies wholly outside at some step. The paper's rule is the curve of G = ∞ for every G, and at G = ∞ its oscillator at its early-slope stiffness.",
	}

	SaturationFit = &Claim{
		Name: "saturation-fit", Per: PerCell,
		Quantity:    "rate and R² of a free exponential on the mean of J",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Fit:         sim.SaturationFit,
		Doc:         "A single exponential fits the mean reward as it fits the mean-field curve; to leading order its rate is k/γ.",
		How:         "J(t) = a − b e^{−rate·t} with a, b and the rate free is fitted by least squares to the mean of J and, in the same way, to the predicted curve: one verdict on the rate, one on R². A good fit says little about the rate far from the fixed point, where the curve is no exponential.",
	}

	EarlySlope = &Claim{
		Name: "early-slope", Per: PerCell,
		Quantity:    "the paper's stiffness, read off −log(J* − J) over the first 100 steps",
		Needs:       []Need{NeedsDistance, NeedsOnPolicy, NeedsHundredSteps},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
		Fit:         sim.EarlySlopeFit,
		Doc:         "The early slope is that of the mean-field curve; by the paper's rule it is the stiffness of the stiffest mode.",
		How:         "The slope λ of −log(J* − J) over the first 100 steps, J* the last value of the run, gives the stiffness λ/(η(1 + λ)), as the paper reads it; the exact prediction is the same slope of the mean-field curve.",
	}

	Recurrence = &Claim{
		Name: "recurrence", Per: PerCell,
		Quantity:    "worst deviation of a logit of the policy from the published map, over the refreshes",
		Needs:       []Need{NeedsRecurrence, NeedsTwoArms, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Where a block is long enough to converge, refreshes follow the published recurrence.",
		How:         "The map takes the policy of one refresh to that of the next as if the block between them had converged: π ∝ π_ref e^{tm}, t = φ(J)/β. At finite G the claim is out of scope, because the noise of every step enters.",
	}
)
