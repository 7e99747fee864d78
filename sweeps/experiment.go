package sweeps

import (
	"slices"

	"grposim/sweeps/claim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Experiment is a finished sweep with its verdicts and figures.
type Experiment struct {
	Plan     *plan.Plan                // what was simulated and judged
	Outcomes map[string]*store.Outcome // by cell id; one for every cell of the plan
	Verdicts []judge.Verdict           // in the order of the checks
	Figures  []Figure                  // regime maps, then the figures of the checks

	evidence *claim.Evidence
}

// Show adds a figure: in the place of the figure with the same name, or first if there is none.
func (e *Experiment) Show(f Figure) {
	for i := range e.Figures {
		if e.Figures[i].Name == f.Name {
			e.Figures[i] = f
			return
		}
	}
	e.Figures = slices.Insert(e.Figures, 0, f)
}
