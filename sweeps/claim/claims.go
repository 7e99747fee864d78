// Package claim says of every claim which number is measured and what predicts it.
//
//  1. [NewEvidence] takes a plan with the outcomes of its cells, and [NewQuestion] puts a check to it.
//  2. [Question.Find] returns a [Finding] for each quantity of a set of cells: what was measured, with
//     its interval, and what the theory predicts.
//
// A claim has two halves. Its declaration, a [config.Claim], says what it requires of cells and of
// the keys of its checks, and which predictions it can name; it is in sweeps/config/claims_*.go. Its
// logic is a row of the table claims. Neither applies the margin: package sweeps/judge does.
package claim

import (
	"math"

	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// claim is the part of a claim that measures and predicts. Its config.Claim is the part
// that is read from configurations and documented, with what the claim needs. Five shapes
// implement it: scalar (and scalars, of several), path, event, Slope and summary.
type claim interface {
	// names of the quantities judged in a set of cells
	quantities(check *config.Check, cells []*plan.Cell) []string
	// measured against predicted: one per quantity, in their order
	find(j *Question, set plan.CellSet) []Finding
	// Noiseless adds to an outcome the estimates that a cell would give without noise
	// if the theory were right. It adds none where a prediction can be found without
	// estimates, or with those of the stiffness alone.
	noiseless(m *Model, c *plan.Cell, o *store.Outcome)
}

// claims holds every claim: a row says which number is measured and what predicts it.
var claims = map[*config.Claim]claim{
	config.Trajectory: path{
		quantity: func(check *config.Check) string {
			return "worst deviation of mean " + Noun(check.Recorded()) + ", share of " + unitOf(check.Recorded())
		},
		compare: compareTrajectory, ideal: idealCourse,
	},
	config.TimeToLevel: path{quantity: TimeToLevel, compare: compareTime, ideal: idealCourse},
	config.Arrival: arrival{path{
		quantity: only("share of replicas that end where theory says"), compare: compareArrival,
	}},
	config.ModelAmplitude: path{
		quantity: only("range of the paper's oscillator over that of mean reward, logarithm"),
		compare:  compareAmplitude,
	},
	config.Recurrence: path{
		quantity: only("worst deviation of the logit gap from the map"), compare: compareRecurrence,
		records: sim.LogitGap, ideal: (*Model).refreshedGaps,
	},

	config.FixedPoint:      scalar{quantity: "expected reward, mean", estimate: sim.ExpectedRewardMean, predict: (*Model).rewardMean, rest: scope.OfMean},
	config.EdgeOfStability: scalar{quantity: "stiffness at the end", estimate: sim.StiffnessAtEnd, predict: (*Model).edge},
	config.RateOverThreshold: path{
		quantity: only("largest rate over the threshold of its place, from the burn-in on"),
		compare:  compareOverThreshold,
	},
	config.StationaryFluctuation: scalar{quantity: "expected reward, variance", estimate: sim.ExpectedRewardVariance, predict: (*Model).fluctuation, rest: scope.OfVariance},
	config.DegenerateGroups:      scalar{quantity: "share of zero-variance groups", estimate: sim.ZeroVarianceShare, predict: (*Model).zeroVariance, rest: scope.OfZeroShare},
	config.EarlySlope:            scalar{quantity: "stiffness by the early slope", estimate: sim.EarlySlope, predict: (*Model).earlySlope},
	config.Relaxation: scalar{
		quantity: "relaxation rate per step", estimate: probe.RelaxationRate, predict: (*Model).fittedRate,
		unresolved: unfitted("no decay above round-off"),
	},
	config.DampingRatio: scalar{
		quantity: "damping ratio", estimate: probe.DampingRatio, predict: (*Model).dampingRatio,
		unresolved: unfitted("no two multipliers of a damped oscillator: the second is below round-off and the nonlinearity of the force, or one is negative"),
	},
	config.Stiffness:     scalars{of: stiffnessNumbers},
	config.SaturationFit: scalars{of: saturationNumbers},
	config.LawFit:        scalars{of: lawFitNumbers},
	config.LawForecast:   scalars{of: forecastNumbers},
	config.FailureMode:   failureMode{scalars{of: modeNumbers}},

	config.OscillationOnset:   event{quantity: "onset of oscillation", predict: (*Model).onset},
	config.StabilityThreshold: stability,
	config.RuleIsSafe:         ruleIsSafe{stability},
	config.VisibleFrontier:    frontier,
	config.FrontierAboveOnset: frontierAboveOnset,

	config.FluctuationScaling: Slope{
		quantity: "slope of log variance of expected reward",
		Estimate: sim.ExpectedRewardVariance, predict: (*Model).rewardVariance, InRun: (*Model).fluctuation, rest: scope.OfVariance,
	},
	config.RelaxationScaling: Slope{
		quantity: "slope of log relaxation rate",
		Estimate: probe.RelaxationRate, predict: (*Model).relaxationRate, InRun: (*Model).fittedRate,
	},

	config.MedianFrontier: ofFrontiers{summary{
		quantity: only("median of |visible frontier / the paper's line − 1|"), compare: compareMedian,
	}},
	config.FrontierGap: ofFrontiers{summary{
		quantity: only("gap between visible oscillation and ζ = 1 in η: the least of the first and of its rises over η"),
		compare:  compareGap(func(frontier, onset float64) float64 { return frontier - onset }),
	}},
	config.FrontierRatio: ofFrontiers{summary{
		quantity: only("visible oscillation over ζ = 1 in η, logarithm: the least of the first and of its rises over η"),
		compare:  compareGap(func(frontier, onset float64) float64 { return math.Log(frontier / onset) }),
	}},
	config.FrontierConstant: ofFrontiers{summary{
		quantity: only("largest deviation of visible frontier / the paper's line from its geometric mean over η"), compare: compareConstant,
	}},
	config.ClassOccurs: summary{
		quantity: func(check *config.Check) string { return "number of K at which the mean reward is " + check.Class },
		compare:  compareClassOccurs,
	},
	config.ClassThroughout: summary{
		quantity: func(check *config.Check) string {
			return "number of " + map[string]string{config.LagIntervalKey: "K", config.ArmsKey: "bandits"}[check.Over] + " at which the mean reward is " + check.Class
		},
		compare: compareClassThroughout,
	},
}

// only returns a quantity that is the same for every check.
func only(quantity string) func(*config.Check) string {
	return func(*config.Check) string { return quantity }
}
