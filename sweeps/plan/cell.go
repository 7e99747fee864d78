package plan

import (
	"maps"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// newOutcome converts the result of a cell's simulation into the form in which it is
// stored, and adds the estimates of its failure modes. A result without recorded steps
// gives an outcome without trajectory.
func newOutcome(c *Cell, r sim.Result) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: store.CellStatus(r.Status), Diverged: r.Diverged,
		DivergedAt: r.DivergedAt}
	o.Add(r.Estimates...)
	if r.Ends != nil {
		o.Ends = endsOf(c, r.Ends)
	}
	if len(r.Steps) == 0 {
		return o
	}
	o.Add(c.nameModes(&r)...)
	o.SetTrajectory(store.NewTrajectory(&r))
	return o
}

// Interval returns the interval of a cell's estimate of a name: Wilson's for a share of events,
// else Student's. confidence is in (0, 1).
func (c *Cell) Interval(name string, e measure.Estimate, confidence float64) (lo, hi float64) {
	switch {
	case !IsShare(name):
		return e.Interval(confidence)
	case name != sim.ZeroVarianceShare:
		return e.Share(float64(e.DF+1), confidence)
	}
	run := c.Settings.Run
	groups := float64(run.Steps-run.BurnIn) * float64(c.Settings.Estimator.GroupsPerStep)
	return e.Share(float64(run.Replicas)*groups, confidence)
}

// IsShare reports whether the estimate with the given name is a share of events.
func IsShare(name string) bool {
	return name == sim.ZeroVarianceShare || strings.HasPrefix(name, namedPrefix) ||
		strings.HasPrefix(name, paperNamedPrefix) || strings.HasPrefix(name, sim.LoggedPlateauPrefix)
}

// MeanReward is MeanOf J.
func (c *Cell) MeanReward(t *store.Trajectory, i int) measure.Estimate {
	return c.MeanOf(t, sim.ExpectedReward, i)
}

// MeanOf returns the mean of a quantity over replicas at the i-th recorded step of the cell's
// trajectory, without error where the cell is deterministic.
func (c *Cell) MeanOf(t *store.Trajectory, quantity sim.Quantity, i int) measure.Estimate {
	s := t.Series(quantity)
	if c.Deterministic() {
		return measure.Certain(float64(s.Mean[i]))
	}
	return measure.Estimate{Mean: float64(s.Mean[i]), StdErr: float64(s.StdErr[i]),
		DF: c.Settings.Run.Replicas - 1}
}

// Rewards returns the mean of J at each recorded step.
func (c *Cell) Rewards(t *store.Trajectory) []float64 {
	reward := make([]float64, len(t.Steps))
	for i := range reward {
		reward[i] = c.MeanReward(t, i).Mean
	}
	return reward
}

// EndOf returns the mean of the given J over the recorded steps of the last quarter of a run. There
// is at least one such step, the last.
func EndOf(steps []int, at func(i int) float64) float64 {
	sum, n := 0.0, 0
	for i := len(steps) - 1; i >= 0 && 4*steps[i] >= 3*steps[len(steps)-1]; i-- {
		sum, n = sum+at(i), n+1
	}
	return sum / float64(n)
}

// endsOf returns the end of every replica, NaN of one that diverged; nil where none was kept.
func endsOf(c *Cell, ends []sim.End) (all []store.Number) {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	for i := range ends {
		end := math.NaN()
		if e := &ends[i]; e.DivergedAt < 0 {
			end = EndOf(steps, func(n int) float64 { return e.Rewards[n] })
		}
		all = append(all, store.Number(end))
	}
	return all
}

const (
	namedPrefix      = "named_"
	paperNamedPrefix = "paper_named_"

	// RatioFirst is the share of replicas in which the largest ratio grows before the gradient norm.
	RatioFirst = "ratio_first"
)

// NamedShare and PaperNamedShare return the names of the estimates of the share of replicas with a
// failure mode, by our criteria and the paper's.
func NamedShare(mode diagnose.Mode) string { return namedPrefix + string(mode) }

func PaperNamedShare(mode diagnose.Mode) string { return paperNamedPrefix + string(mode) }

// nameModes diagnoses the failure mode of every traced replica. It returns the share with each
// mode, by both criteria; nil if none was traced.
func (c *Cell) nameModes(r *sim.Result) []measure.Named {
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
		named[RatioFirst] = append(named[RatioFirst],
			measure.Indicator(diagnose.RatioFirst(trace, c.Settings.Lag.Interval)))
		for _, mode := range diagnose.Modes {
			named[NamedShare(mode)] = append(named[NamedShare(mode)], measure.Indicator(ours == mode))
			named[PaperNamedShare(mode)] = append(named[PaperNamedShare(mode)],
				measure.Indicator(paper == mode))
		}
	}
	var shares []measure.Named
	for _, name := range slices.Sorted(maps.Keys(named)) {
		e := measure.Mean(named[name])
		if c.Deterministic() {
			e = measure.Certain(named[name][0])
		}
		shares = append(shares, measure.Named{Name: name, Estimate: e})
	}
	return shares
}

// trace returns the series that the diagnostics use, of the values recorded of each
// quantity. At G = ∞ there is no share of zero-variance groups.
func (c *Cell) trace(steps []int, values func(sim.Quantity) []float64) diagnose.Trace {
	t := diagnose.Trace{Steps: steps, BestReward: c.onlyBest(), Reward: values(sim.ExpectedReward),
		TrueReward: values(sim.TrueReward), Entropy: values(sim.Entropy),
		Collision: values(sim.Collision), KL: values(sim.KLReference),
		GradientNorm: values(sim.GradientNorm), RatioMax: values(sim.ImportanceRatioMax)}
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
	means := slices.Sorted(slices.Values(c.Settings.Bandit.Means()))
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
	t := c.trace(recorded.Steps, func(of sim.Quantity) []float64 { return recorded.Series(of).Means() })
	return &t, nil
}
