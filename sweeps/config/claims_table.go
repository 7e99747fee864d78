package config

import (
	"slices"

	"grposim/rom"
	"grposim/sim"
)

// ClaimScope says over what a claim is judged.
type ClaimScope string

const (
	PerCell     ClaimScope = "cell"   // one verdict a cell
	AcrossCells ClaimScope = "across" // one verdict a group of cells that differ in Check.Over
)

// Need is what a claim asks of a check or of the cells it selects.
type Need string

const (
	NeedsBurnIn       Need = "`run.burn_in` > 0"
	NeedsFiniteGroups Need = "finite `grpo.group_size` (out of scope at `inf`)"
	NeedsThreeSizes   Need = "`over: grpo.group_size` and at least 3 finite values of it"
	NeedsDisplacement Need = "`displacement` ≥ 1e-9 and `draws` ≥ 1 (pairs of groups at ±displacement)"
	NeedsAbsolute     Need = "`absolute_margin` (what it predicts is 0)"
	NeedsDistance     Need = "a start away from the fixed point"
	NeedsOffset       Need = "`offset` ≥ 1e-9 (pairs of runs that start at ±offset about the fixed point) and at least 4 refresh instants from `run.burn_in` on"
	NeedsLocation     Need = "`locate` (the cell simulates nothing else)"
	NeedsTwoArms      Need = "two arms"
	NeedsSteadyRate   Need = "`optimizer.schedule` constant, without warm-up"
	NeedsMultipliers  Need = "at finite `grpo.group_size` two arms, and a block or a delay of at most 1"
	NeedsScatter      Need = "at finite `grpo.group_size` `run.replicas` ≥ 2"
	NeedsKnownRule    Need = "`optimizer.kind` heavy-ball or nesterov"
	NeedsOnPolicy     Need = "`lag` block 1 or delay 0, and `optimizer.momentum` 0"
	NeedsHundredSteps Need = "`run.steps` > 100"
	NeedsRecurrence   Need = "block lag, `grpo.importance.mode` ratio, `grpo.kl.gradient` exact `at` current, `grpo.advantage.epsilon` 0"
	NeedsMode         Need = "`mode`"
)

// ClaimRow is one row of the claim table.
type ClaimRow struct {
	Name        string
	Per         ClaimScope
	Quantity    string
	Needs       []Need
	Predictions []rom.Kind // what `prediction` may say; the first is the default
	Event       sim.Event  // what is located; "" where nothing is
	Doc         string
	How         string // how it is measured and judged, where that takes more words
}

// Has says whether the claim has the need.
func (c ClaimRow) Has(need Need) bool { return slices.Contains(c.Needs, need) }

// ClaimTable lists the claims that a check can make.
var ClaimTable = []ClaimRow{
	{
		Name: "trajectory", Per: PerCell,
		Quantity:    "worst over the recorded steps of (mean J − predicted)/(J* − J_0)",
		Needs:       []Need{NeedsDistance, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The mean reward follows the mean-field map with the exact finite-G drift; to leading order the closed form of the reduced-order model.",
		How:         "The interval is simultaneous over the recorded steps. It agrees when the whole band lies within the margin, a share of the rise, of the predicted curve; it disagrees where the band lies wholly outside at some step. The paper's rule is the curve of G = ∞ for every G, and at G = ∞ its oscillator at its early-slope stiffness.",
	},
	{
		Name: "fixed-point", Per: PerCell,
		Quantity:    "stationary mean of J",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The run settles at the fixed point θ*_G, shifted to second order by its own noise.",
	},
	{
		Name: "stationary-fluctuation", Per: PerCell,
		Quantity:    "variance of J, time average",
		Needs:       []Need{NeedsBurnIn, NeedsFiniteGroups},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The reward fluctuates with the variance of the linear dynamics (Lyapunov); the paper's rule is D/(GCK).",
	},
	{
		Name: "fluctuation-scaling", Per: AcrossCells,
		Quantity:    "slope of log variance of J on log G",
		Needs:       []Need{NeedsBurnIn, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The variance falls with the group size as the exact predictions on the same G do; to leading order as 1/G.",
		How:         "The leading-order exponent is that of G → ∞ (−1; −2 where the leading noise vanishes, −½ for Adam) and is judged on the sizes from 32 on.",
	},
	{
		Name: "stiffness", Per: PerCell,
		Quantity:    "stiffness of the stiffest mode (total, fresh, stale) and of the slowest (total)",
		Needs:       []Need{NeedsDisplacement},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "The mean gradient falls off about the fixed point with the stiffness that theory gives.",
		How:         "Pairs of groups are drawn with the policy displaced to either side of the fixed point, both policies together, the current one alone (fresh) and the behaviour policy alone (stale); at `inf` it is one pair of expected gradients. Cells that share `bandit`, `grpo` and `policy.reference` share one measurement, made in the first of them.",
	},
	{
		Name: "relaxation", Per: PerCell,
		Quantity:    "−ln of the dominant multiplier per step; negative: growth",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A small deviation from the fixed point dies out, or grows, at the rate of the linear dynamics.",
		How:         "Pairs of runs start at the fixed point ± `offset` and see the same random numbers; half their difference is the deviation x. From `run.burn_in` on, at refresh instants (under a delay at every step), the recurrence x'' = a x' − b x of successive values is fitted to all pairs. The rate is −ln of the modulus of its dominant multiplier, per optimizer step. It passes 0 at a threshold: take `absolute_margin` near one. `policy.init` is not used.",
	},
	{
		Name: "relaxation-scaling", Per: AcrossCells,
		Quantity:    "slope of log relaxation rate on log G",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The relaxation rate changes with the group size as the predictions on the same G do; Adam, where noise dominates, as √G.",
		How:         "The rates are those of `relaxation`, in cells that differ in G only. The exact slope is that of the exact predictions on the same G; the leading-order exponent, for Adam, is ½.",
	},
	{
		Name: "damping-ratio", Per: PerCell,
		Quantity:    "damping ratio ζ of the fitted second-order recurrence",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "A small deviation rings, or does not, with the damping ratio of the two dominant multipliers; the paper's rule is its own ζ.",
		How:         "The recurrence is that of `relaxation`: with s the logarithms of its two multipliers, ζ = −(s₁ + s₂)/(2√(s₁s₂)). Below 1 the deviation rings. The paper's ζ is taken at its own stiffness, that of `early-slope`.",
	},
	{
		Name: "oscillation-onset", Per: PerCell,
		Quantity:    "learning rate or refresh interval where ringing sets in",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsTwoArms, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Event:       sim.Ringing,
		Doc:         "Ringing sets in where two multipliers meet, at the measured stiffness; to leading order, and by the paper's rule, where ζ = 1.",
		How:         "The event is a change of the motion itself: the discriminant of the fitted recurrence passes 0 (without momentum and delay: the one multiplier changes sign), not the first overshoot that shows.",
	},
	{
		Name: "stability-threshold", Per: PerCell,
		Quantity:    "learning rate or refresh interval where the fixed point loses stability",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Event:       sim.Instability,
		Doc:         "Stability is lost where a multiplier leaves the unit circle, at the measured stiffness; by the paper's rule at ηλK = 1 − μ.",
		How:         "The event is growth, over many refresh periods, of pairs of runs about the fixed point. Below 100 the located `lag.interval` is the first unstable whole number, lo = hi, and the exact prediction is one too: `absolute_margin: 0`.",
	},
	{
		Name: "rule-is-safe", Per: PerCell,
		Quantity:    "located threshold against the paper's rule, one-sided; located/rule",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.PaperRule},
		Event:       sim.Instability,
		Doc:         "Nothing below the paper's rule is unstable; how far beyond it the threshold lies is the exact prediction's to say.",
		How:         "Two verdicts. The first is one-sided and without a margin: the rule holds when lo reaches it, and fails (`expect: fails`) when hi lies below it. The second is the factor located/rule, held against the exact prediction of it, to which alone the margin applies.",
	},
	{
		Name: "saturation-fit", Per: PerCell,
		Quantity:    "rate and R² of a free exponential on the mean of J",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A single exponential fits the mean reward as it fits the mean-field curve; to leading order its rate is k/γ.",
		How:         "J(t) = a − b e^{−rate·t} with a, b and the rate free is fitted by least squares to the mean of J and, in the same way, to the predicted curve: one verdict on the rate, one on R². A good fit says little about the rate far from the fixed point, where the curve is no exponential.",
	},
	{
		Name: "early-slope", Per: PerCell,
		Quantity:    "the paper's stiffness, read off −log(J* − J) over the first 100 steps",
		Needs:       []Need{NeedsDistance, NeedsOnPolicy, NeedsHundredSteps},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
		Doc:         "The early slope is that of the mean-field curve; by the paper's rule it is the stiffness of the stiffest mode.",
		How:         "The slope λ of −log(J* − J) over the first 100 steps, J* the last value of the run, gives the stiffness λ/(η(1 + λ)), as the paper reads it; the exact prediction is the same slope of the mean-field curve.",
	},
	{
		Name: "recurrence", Per: PerCell,
		Quantity:    "worst deviation of a logit of the policy from the published map, over the refreshes",
		Needs:       []Need{NeedsRecurrence, NeedsTwoArms, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Where a block is long enough to converge, refreshes follow the published recurrence.",
		How:         "The map takes the policy of one refresh to that of the next as if the block between them had converged: π ∝ π_ref e^{tm}, t = φ(J)/β. At finite G the claim is out of scope, because the noise of every step enters.",
	},
	{
		Name: "degenerate-groups", Per: PerCell,
		Quantity:    "share of groups whose rewards are all equal",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Groups without variance come as often as E[J^G + (1−J)^G] says.",
	},
	{
		Name: "failure-mode", Per: PerCell,
		Quantity:    "share of replicas that the diagnostics name `mode`",
		Needs:       []Need{NeedsMode},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "The diagnostics name the failure mode, or its absence, in every replica.",
		How:         "Every replica's own recorded series are diagnosed; the predicted share is 1. The control is another mode, `control: {mode: reward-hacking}`, which must come out *disagree*.",
	},
}

// LookupClaim finds a row of the claim table by its name.
func LookupClaim(name string) (ClaimRow, bool) {
	for _, row := range ClaimTable {
		if row.Name == name {
			return row, true
		}
	}
	return ClaimRow{}, false
}

func claimNames() []string {
	var names []string
	for _, row := range ClaimTable {
		names = append(names, row.Name)
	}
	return names
}

// Names of the claims.
const (
	ClaimFixedPoint  = "fixed-point"
	ClaimStationary  = "stationary-fluctuation"
	ClaimScaling     = "fluctuation-scaling"
	ClaimStiffness   = "stiffness"
	ClaimTrajectory  = "trajectory"
	ClaimDegenerate  = "degenerate-groups"
	ClaimRelaxation  = "relaxation"
	ClaimRateScaling = "relaxation-scaling"
	ClaimDamping     = "damping-ratio"
	ClaimOnset       = "oscillation-onset"
	ClaimThreshold   = "stability-threshold"
	ClaimRuleIsSafe  = "rule-is-safe"
	ClaimSaturation  = "saturation-fit"
	ClaimEarlySlope  = "early-slope"
	ClaimRecurrence  = "recurrence"
	ClaimFailureMode = "failure-mode"
)

// leadingOrderFrom is the group size from which the leading-order exponent of
// the variance is judged: below it the next order in 1/G is more than 3 %.
const leadingOrderFrom = 32
