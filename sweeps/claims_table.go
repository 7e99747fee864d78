package sweeps

import (
	"slices"

	"grposim/rom"
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
	NeedsDisplacement Need = "`displacement` > 0 and `draws` ≥ 1 (pairs of groups at ±displacement)"
	NeedsAbsolute     Need = "`absolute_margin` (what it predicts is 0)"
	NeedsDistance     Need = "a start away from the fixed point"
	NeedsOffset       Need = "`offset` > 0 (pairs of runs that start at ±offset about the fixed point) and at least 4 refresh instants from `run.burn_in` on"
	NeedsLocation     Need = "`locate` (the cell simulates nothing else)"
	NeedsTwoArms      Need = "two arms"
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
	Doc         string
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
	},
	{
		Name: "stiffness", Per: PerCell,
		Quantity:    "stiffness of the stiffest mode (total, fresh, stale) and of the slowest (total)",
		Needs:       []Need{NeedsDisplacement},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "The mean gradient falls off about the fixed point with the stiffness that theory gives.",
	},
	{
		Name: "relaxation", Per: PerCell,
		Quantity:    "−ln of the dominant multiplier per step; negative: growth",
		Needs:       []Need{NeedsOffset},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A small deviation from the fixed point dies out, or grows, at the rate of the linear dynamics.",
	},
	{
		Name: "relaxation-scaling", Per: AcrossCells,
		Quantity:    "slope of log relaxation rate on log G",
		Needs:       []Need{NeedsOffset, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The relaxation rate changes with the group size as the predictions on the same G do; Adam, where noise dominates, as √G.",
	},
	{
		Name: "damping-ratio", Per: PerCell,
		Quantity:    "damping ratio ζ of the fitted second-order recurrence",
		Needs:       []Need{NeedsOffset},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "A small deviation rings, or does not, with the damping ratio of the two dominant multipliers; the paper's rule is its own ζ.",
	},
	{
		Name: "oscillation-onset", Per: PerCell,
		Quantity:    "learning rate or refresh interval where ringing sets in",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsTwoArms},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "Ringing sets in where two multipliers meet, at the measured stiffness; to leading order, and by the paper's rule, where ζ = 1.",
	},
	{
		Name: "stability-threshold", Per: PerCell,
		Quantity:    "learning rate or refresh interval where the fixed point loses stability",
		Needs:       []Need{NeedsLocation, NeedsDisplacement},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "Stability is lost where a multiplier leaves the unit circle, at the measured stiffness; by the paper's rule at ηλK = 1 − μ.",
	},
	{
		Name: "rule-is-safe", Per: PerCell,
		Quantity:    "located threshold against the paper's rule, one-sided; located/rule",
		Needs:       []Need{NeedsLocation, NeedsDisplacement},
		Predictions: []rom.Kind{rom.PaperRule},
		Doc:         "Nothing below the paper's rule is unstable; how far beyond it the threshold lies is the exact prediction's to say.",
	},
	{
		Name: "saturation-fit", Per: PerCell,
		Quantity:    "rate and R² of a free exponential on the mean of J",
		Needs:       []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A single exponential fits the mean reward as it fits the mean-field curve; to leading order its rate is k/γ.",
	},
	{
		Name: "early-slope", Per: PerCell,
		Quantity:    "the paper's stiffness, read off −log(J* − J) over the first 100 steps",
		Needs:       []Need{NeedsDistance, NeedsOnPolicy, NeedsHundredSteps},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
		Doc:         "The early slope is that of the mean-field curve; by the paper's rule it is the stiffness of the stiffest mode.",
	},
	{
		Name: "recurrence", Per: PerCell,
		Quantity:    "worst deviation of a logit of the policy from the published map, over the refreshes",
		Needs:       []Need{NeedsRecurrence, NeedsTwoArms, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Where a block is long enough to converge, refreshes follow the published recurrence.",
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
