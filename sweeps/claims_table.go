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
		Name: "degenerate-groups", Per: PerCell,
		Quantity:    "share of groups whose rewards are all equal",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Groups without variance come as often as E[J^G + (1−J)^G] says.",
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
