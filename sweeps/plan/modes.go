package plan

import (
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

const (
	namedPrefix      = "named_"
	paperNamedPrefix = "paper_named_"
)

// NamedShare and PaperNamedShare return the names of the estimates of the share of replicas with a
// failure mode, by our criteria and the paper's.
func NamedShare(mode diagnose.Mode) string { return namedPrefix + string(mode) }

func PaperNamedShare(mode diagnose.Mode) string { return paperNamedPrefix + string(mode) }

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
			named[NamedShare(mode)] = append(named[NamedShare(mode)], measure.Indicator(ours == mode))
			named[PaperNamedShare(mode)] = append(named[PaperNamedShare(mode)], measure.Indicator(paper == mode))
		}
	}
	var shares []store.NamedEstimate
	for _, share := range []func(diagnose.Mode) string{NamedShare, PaperNamedShare} {
		for _, mode := range diagnose.Modes {
			if values := named[share(mode)]; len(values) > 0 {
				e := measure.Mean(values)
				if c.Deterministic() {
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
	if !c.Deterministic() {
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
