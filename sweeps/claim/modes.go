package claim

import (
	"cmp"
	"fmt"
	"strings"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// modeNumbers compares with 1 the share of replicas with the check's failure mode, by our criteria,
// or for the paper's rule by the paper's.
func modeNumbers(m *Model, _ []*plan.Cell) []scalar {
	share, quantity := plan.NamedShare, "share of replicas named "+m.Check.Mode
	if m.Check.Prediction == rom.PaperRule {
		quantity += " by the paper's diagnostics"
	}
	if m.Kind == rom.PaperRule {
		share = plan.PaperNamedShare
	}
	return []scalar{{
		quantity: quantity, estimate: share(diagnose.Mode(cmp.Or(m.Fault.Mode, m.Check.Mode))),
		predict: func(m *Model, _ *plan.Cell) scope.Number {
			return scope.Number{Value: 1, Kind: cmp.Or(m.Kind, rom.Exact)}
		},
		instead: func(o *store.Outcome) string { return namedInstead(o, share) },
	}}
}

// namedInstead says which modes were named in how many replicas, for a verdict that does not agree.
func namedInstead(o *store.Outcome, share func(diagnose.Mode) string) string {
	var counts []string
	for _, mode := range diagnose.Modes {
		if e, ok := o.Estimate(share(mode)); ok && e.Mean > 0 {
			n := max(e.DF, 0) + 1
			counts = append(counts, fmt.Sprintf("%s in %.0f of %d", mode, e.Mean*float64(n), n))
		}
	}
	if counts == nil {
		return ""
	}
	return "named: " + strings.Join(counts, ", ")
}
