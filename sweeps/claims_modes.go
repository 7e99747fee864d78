package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// failureMode is the claim about the failure mode that the diagnostics find in a run.
type failureMode struct{ scalars }

// noiseless adds the share of replicas with the claimed mode, 1, and with the others, 0.
func (failureMode) noiseless(m *model, _ *Cell, o *store.Outcome) {
	for _, mode := range diagnose.Modes {
		named := indicator(string(mode) == m.check.Mode)
		o.Estimates = append(o.Estimates, certain(namedShare(mode), named), certain(paperNamedShare(mode), named))
	}
}

// namedShare and paperNamedShare return the names of the estimates of the share of replicas with a
// failure mode, by our criteria and the paper's.
func namedShare(mode diagnose.Mode) string      { return namedPrefix + string(mode) }
func paperNamedShare(mode diagnose.Mode) string { return paperNamedPrefix + string(mode) }

const (
	namedPrefix      = "named_"
	paperNamedPrefix = "paper_named_"
)

// modeNumbers compares with 1 the share of replicas with the check's failure mode, by our criteria,
// or for the paper's rule by the paper's.
func modeNumbers(m *model, _ []*Cell) []scalar {
	share, quantity := namedShare, "share of replicas named "+m.check.Mode
	if m.check.Prediction == rom.PaperRule {
		quantity += " by the paper's diagnostics"
	}
	if m.kind == rom.PaperRule {
		share = paperNamedShare
	}
	return []scalar{{
		quantity: quantity, estimate: share(diagnose.Mode(cmp.Or(m.fault.Mode, m.check.Mode))),
		predict: func(m *model, _ *Cell) scope.Number { return scope.Number{Value: 1, Kind: cmp.Or(m.kind, rom.Exact)} },
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

// nameModes diagnoses the failure mode of every traced replica. It returns the share with each
// mode, by both criteria; nil if none was traced.
func (c *Cell) nameModes(r *sim.Result) []store.NamedEstimate {
	named := make(map[string][]float64)
	for _, replica := range r.Traces {
		trace := c.trace(r.Steps, func(quantity sim.Quantity) []float64 {
			q := slices.Index(r.Quantities, quantity)
			values := make([]float64, len(r.Steps))
			for step := range values {
				values[step] = replica[step][q]
			}
			return values
		})
		ours, paper := diagnose.Name(trace).Mode, diagnose.PaperName(trace).Mode
		for _, mode := range diagnose.Modes {
			named[namedShare(mode)] = append(named[namedShare(mode)], indicator(ours == mode))
			named[paperNamedShare(mode)] = append(named[paperNamedShare(mode)], indicator(paper == mode))
		}
	}
	var shares []store.NamedEstimate
	for _, share := range []func(diagnose.Mode) string{namedShare, paperNamedShare} {
		for _, mode := range diagnose.Modes {
			if values := named[share(mode)]; len(values) > 0 {
				e := measure.Mean(values)
				if c.deterministic() {
					e = measure.Certain(values[0])
				}
				shares = append(shares, store.Store(share(mode), e))
			}
		}
	}
	return shares
}

// trace returns the series that the diagnostics use, of the values recorded of each
// quantity. At G = ∞ there is no share of zero-variance groups.
func (c *Cell) trace(steps []int, values func(sim.Quantity) []float64) diagnose.Trace {
	t := diagnose.Trace{
		Steps: steps, BestReward: c.onlyBest(), Reward: values(sim.ExpectedReward), TrueReward: values(sim.TrueReward),
		Entropy: values(sim.Entropy), Collision: values(sim.Collision), KL: values(sim.KLReference),
		GradientNorm: values(sim.GradientNorm), RatioMax: values(sim.ImportanceRatioMax),
	}
	if !c.deterministic() {
		t.ZeroVariance = values(sim.ZeroVarianceFraction)
	}
	return t
}

// onlyBest returns the mean reward of the best arm; nil where another is as good, and for many
// prompts.
func (c *Cell) onlyBest() *float64 {
	if c.Settings.Prompts.Count > 1 {
		return nil
	}
	means := slices.Sorted(slices.Values(c.Settings.ArmMeans()))
	best := means[len(means)-1]
	if means[len(means)-2] == best {
		return nil
	}
	return &best
}

// Trace returns the mean series of the cell's replicas for the diagnostics of failure
// modes. A mean of replicas that oscillate out of step does not oscillate. It returns
// an error if the trajectory cannot be read, and nil if the cell recorded none.
func (c *Cell) Trace(o *store.Outcome) (*diagnose.Trace, error) {
	recorded, err := o.Trajectory(sim.Quantities(len(c.Settings.Bandit.Arms))...)
	if err != nil || recorded == nil {
		return nil, err
	}
	t := c.trace(recorded.Steps, func(quantity sim.Quantity) []float64 { return recorded.Series(quantity).Means() })
	return &t, nil
}

// indicator returns 1 if the event occurred, else 0.
func indicator(event bool) float64 {
	if event {
		return 1
	}
	return 0
}

// drawModes returns a picture of the share of replicas with each failure mode, two columns per
// cell: by this project's criteria and by the paper's.
func drawModes(j *judgement, d *figureSource) Figure {
	f := Figure{
		Title: "Failure modes named, replica by replica", YLabel: "share of replicas", Categories: []string{},
		Caption: "Two columns for each cell: the share of its replicas in which each mode is named by the criteria of this project, and by those of the paper.",
	}
	for _, set := range d.sets {
		name := set.Label
		if name == "" {
			name = "all"
		}
		f.Categories = append(f.Categories, name, "… by the paper’s")
	}
	for _, mode := range diagnose.Modes {
		f.Series = append(f.Series, FigureSeries{Name: string(mode), Group: string(mode), Mark: Share})
	}
	for i, set := range d.sets {
		o := j.outcome(set.Cells[0])
		for n, share := range []func(diagnose.Mode) string{namedShare, paperNamedShare} {
			top := 0.0
			for m, mode := range diagnose.Modes {
				e, found := o.Estimate(share(mode))
				if !found || e.Mean <= 0 {
					continue
				}
				f.Series[m].Points = append(f.Series[m].Points, FigurePoint{float64(2*i + n), math.NaN(), top, top + e.Mean})
				top += e.Mean
			}
		}
	}
	return f
}
