package rom

import (
	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"
)

// question is a part of a prediction, which is not derived for every estimator, optimizer and lag.
type question int

const (
	dynamicsAtRest  question = iota // the linear dynamics about a fixed point
	stationaryNoise                 // its stationary law
	secondOrderLaw                  // the moments of second order in the noise
	adamMoment                      // the mean field of Adam's second moment
	spreadOfRuns                    // the spread of runs about the mean field
	boundedCycle                    // see BoundedCycle
	pathsOfPrompts                  // see drawnReward
	visitsOfPrompts                 // see Params.visits
)

// lagClass is a set of lags that the theory tells apart.
type lagClass uint

const (
	lastBlock   lagClass = 1 << iota // a block whose snapshot is that of the last refresh
	olderBlock                       // a block whose snapshot is older
	constantLag                      // a constant delay
	randomAges
	otherLag // of which nothing beyond the linear dynamics has been derived

	anyLag       = 1<<iota - 1
	notLastBlock = anyLag &^ lastBlock
	severalOld   = olderBlock | randomAges | otherLag // the state is not that of the last policies or the last refresh
)

// classOf returns the class of a lag.
func classOf(l *option.Lag) lagClass {
	switch {
	case l.Kind == option.Block && l.Behind == 0:
		return lastBlock
	case l.Kind == option.Block:
		return olderBlock
	case l.Kind == option.Delay:
		return constantLag
	case l.Kind == option.Random:
		return randomAges
	}
	return otherLag
}

// derivations lists what is not derived: for a question the lags and the options, and the reason. The
// first row that applies counts. modes is the number of modes of the merged bandit, where the
// question depends on it.
var derivations = []struct {
	of      question
	lags    lagClass
	option  func(p *Params, modes int) bool // nil: any
	because scope.Row
}{
	{dynamicsAtRest, anyLag, func(p *Params, _ int) bool { return !p.knownForce() || adam(p, 0) && !p.neverClipped(0) }, scope.NormClips},
	{dynamicsAtRest, randomAges, func(p *Params, _ int) bool { return !p.neverClipped(0) }, scope.NormClips},
	{dynamicsAtRest, notLastBlock, reused, scope.ReusedOlder},
	{dynamicsAtRest, randomAges, func(p *Params, _ int) bool { return p.KL.Outside() }, scope.AgesOutsideKL},
	{stationaryNoise, anyLag, func(p *Params, _ int) bool { return adam(p, 0) && reused(p, 0) }, scope.AdamReused},
	{stationaryNoise, randomAges, func(p *Params, modes int) bool { return p.ageDraws() > 0 && modes > 1 }, scope.AgesSeveralModes},
	{secondOrderLaw, severalOld, nil, scope.SeveralOldPolicies},
	{secondOrderLaw, anyLag, func(p *Params, _ int) bool { return reused(p, 0) || p.Advantage.Baseline == option.RunningMean }, scope.DependentSteps},
	{adamMoment, randomAges | otherLag, adam, scope.AdamAges},
	{spreadOfRuns, anyLag, adam, scope.AdamPath},
	{spreadOfRuns, anyLag, func(p *Params, _ int) bool { return p.oldBaseline() }, scope.RunningMeanPath},
	{spreadOfRuns, anyLag, func(p *Params, _ int) bool { return reused(p, 0) && p.Lag.Interval > 1 }, scope.ReusedPath},
	{spreadOfRuns, anyLag, func(p *Params, _ int) bool { return p.ReferenceUpdate.Interval > 0 }, scope.MovingReferencePath},
	{spreadOfRuns, anyLag, func(p *Params, _ int) bool { return !p.neverClipped(0) }, scope.NormClips},
	{spreadOfRuns, severalOld, nil, scope.OldPoliciesPath},
	{boundedCycle, notLastBlock, nil, scope.CycleLag},
	{pathsOfPrompts, notLastBlock, nil, scope.PromptsLastRefresh},
	{visitsOfPrompts, notLastBlock, nil, scope.PromptSnapshot},
	{visitsOfPrompts, lastBlock, func(p *Params, _ int) bool { return p.coastsOnSnapshot() }, scope.PromptSnapshot},
}

func reused(p *Params, _ int) bool { return p.Samples == option.Reused }
func adam(p *Params, _ int) bool   { return p.Optimizer.Kind == option.Adam }

// notDerived returns the reason why the theory has no answer to a question, none where it may.
func (p *Params) notDerived(of question, modes int) scope.Reason {
	class := classOf(&p.Lag)
	for i := range derivations {
		if row := &derivations[i]; row.of == of && row.lags&class != 0 && (row.option == nil || row.option(p, modes)) {
			return row.because.Because()
		}
	}
	return scope.Reason{}
}

// ageDraws returns the number B_a of independent random ages whose forces one step averages; 0 where
// ages are not random, and at G = ∞, where the force is the mean over the law: infinitely many.
func (p *Params) ageDraws() int {
	switch {
	case classOf(&p.Lag) != randomAges || p.GroupSize == option.Infinite:
		return 0
	case p.Lag.Ages.Drawn == option.AgePerStep:
		return 1
	}
	return p.GroupsPerStep
}

// oldBaseline reports whether the baseline is a running mean of old rewards whose error the weights
// do not cancel.
func (p *Params) oldBaseline() bool {
	up, down := weight.Slopes(&p.Importance)
	return p.Advantage.Baseline == option.RunningMean && !linear.NewLag(&p.Lag).OnPolicy() && (up != 1 || down != 1)
}

// coastsOnSnapshot reports whether a prompt moves, between its visits, away from a snapshot that the
// next visit uses.
func (p *Params) coastsOnSnapshot() bool {
	period := len(p.Prompts.First) / p.GroupsPerStep
	return p.Lag.Interval > 1 && (p.Optimizer.Momentum > 0 || period%p.Lag.Interval != 0)
}
