package config

import (
	"grposim/rom"
	"grposim/sim"
)

// Claims about the mean reward, or the logits, along a run.
var (
	Trajectory = &Claim{
		Name: "trajectory", Per: PerCell,
		Quantity:    "worst over the recorded steps of (mean J − predicted)/(J* − J_0); of another `quantity` over the range of its predicted curve",
		Needs:       []Need{NeedsDistance, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The mean reward, or the mean of another recorded `quantity`, follows the mean-field map with the exact drift at finite G, plus the shift by the noise to second order; to leading order the reward follows the closed form of the reduced-order model.",
		How:         "The confidence band is simultaneous over the recorded steps. The claim agrees when the whole band lies within the margin, a share of the rise J* − J_0, of the predicted curve (without a fixed point, as at β = 0, the rise to the best arm); it disagrees when the band lies wholly outside at some step. Of another `quantity` the unit is the largest less the smallest value of its predicted curve at the recorded steps. A share of groups or of samples that is the same in every replica has Wilson's interval. A step at which all replicas are equal is not judged if fewer than 100 independent forces act by then in all of them: the samples that move the mean may be too rare to have been drawn. At finite G the paper's rule predicts the curve of G = ∞; at G = ∞ it predicts the paper's oscillator with the stiffness of the early slope.",
	}

	TimeToLevel = &Claim{
		Name: "time-to-level", Per: PerCell,
		Quantity:    "optimizer steps until the mean of `quantity` first reaches `level`",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The mean over the replicas reaches the level when the predicted curve of `trajectory` does.",
		How:         "Both curves are interpolated linearly between the recorded steps. The interval reaches from the step at which one edge of the band of `trajectory`, simultaneous over the recorded steps, reaches the level to that at which the other edge does; it has no upper end where that edge does not reach it. A mean that does not reach the level in the run agrees with a curve that does not. What the predicted time leaves out is how far it moves if the curve is displaced by what that leaves out. A curve that is flat at the level has a time that nearly nothing decides: choose a level that is crossed steeply.",
	}

	Arrival = &Claim{
		Name: "arrival", Per: PerCell,
		Quantity:    "share of replicas that end where theory says",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact},
		Ends:        true,
		Doc:         "Every replica ends where the mean path does, but for those that a known mechanism keeps away.",
		How:         "The end of a replica is its mean of J over the recorded steps of the last quarter of the run, the end of the path that of the predicted curve of `trajectory` over the same steps. A replica has arrived if the two differ by at most 5 % of the range of the arms' mean rewards, or by at most four predicted standard deviations of J over runs where that is more; one that left the range of floating point has not. The predicted share is that which no known mechanism keeps away (docs/theory-neglected.md §6.12), 1 where none is at work; it is out of scope where one may be whose share is not derived, and leaves out e^{−(1 + x)}, which is what lies beyond x standard deviations on one side of an exponential law, x those of the distance less what the path leaves out. Where the theory has no path, the share is measured about the fixed point, without one the best arms, and judged by a hypothesis alone.",
	}

	ModelAmplitude = &Claim{
		Name: "model-amplitude", Per: PerCell,
		Quantity:    "logarithm of the range of the paper's oscillator, over the recorded steps, over that of J",
		Needs:       []Need{NeedsDistance, NeedsExpected, NeedsAbsolute},
		Predictions: []rom.Kind{rom.PaperRule},
		Doc:         "The paper's oscillator has at least the range of the mean reward.",
		How:         "The oscillator is that of `trajectory` by the paper's rule. One-sided and without margin: the claim holds when the logarithm is at least 0.",
	}

	SaturationFit = &Claim{
		Name: "saturation-fit", Per: PerCell,
		Quantity:    "rate and R² of a free exponential on the mean of J",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Fit:         sim.SaturationFit,
		Doc:         "A single exponential fits the mean reward as well as the mean-field curve, and with the same rate; to leading order the rate is k/γ.",
		How:         "J(t) = a − b e^{−rate·t}, with a, b and the rate free, is fitted by least squares to the mean of J and to the predicted curve: one verdict on the rate, one on R². Far from the fixed point the curve is not an exponential, and a good fit says little about the rate.",
	}

	EarlySlope = &Claim{
		Name: "early-slope", Per: PerCell,
		Quantity:    "the paper's stiffness, read off −log(J* − J) over the first 100 steps",
		Needs:       []Need{NeedsDistance, NeedsOnPolicy, NeedsHundredSteps},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule, rom.RuleAtStiffness},
		Fit:         sim.EarlySlopeFit,
		Doc:         "The early slope equals that of the mean-field curve; by the paper's rule it is the stiffness in its formulas, that of a run at η = 0.01 and `inf`. By the rule at the stiffness it is λ of the stiffest mode, as where there is one mode only.",
		How:         "The slope λ of −log(J* − J) over the first 100 steps, where J* is the last value of the run, gives the stiffness λ/(η(1 + λ)), as in the paper. The exact prediction is computed in the same way from the mean-field curve.",
	}

	Recurrence = &Claim{
		Name: "recurrence", Per: PerCell,
		Quantity:    "worst deviation of a logit of the policy from the published map, over the refreshes",
		Needs:       []Need{NeedsRecurrence, NeedsTwoArms, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Where each block is long enough to converge, the policies at the refreshes follow the published recurrence.",
		How:         "The map takes the policy at one refresh to the policy at the next as if the block between them had converged: π ∝ π_ref e^{tm}, t = φ(J)/β. At finite G the claim is out of scope, because the noise of every step enters.",
	}
)
