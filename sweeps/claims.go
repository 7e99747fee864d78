package sweeps

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// finding is the measurement and the prediction of one quantity of one set of cells,
// before they are compared within the check's margin.
type finding struct {
	quantity         string           // "": the claim's quantity of the same index
	estimate         string           // name of what was measured; "": the claim's event or name
	measured, lo, hi float64          // value and interval; NaN where nothing was measured
	fit              measure.Estimate // of a slope, with its errors; zero for other quantities
	replicas         int              // independent values behind the interval; 0 where there are none
	predicted        scope.Number
	// of a claim about rest with a hypothesis: what the way there leaves in measured
	unrested   scope.Number
	side       Side               // how the measurement can contradict the prediction
	expect     config.Expectation // "": the check's
	about      *config.About      // nil: the check's
	fault      string             // in words, of a control that is not the check's; ""
	diverged   divergence         // of the replicas behind the measurement
	instead    string             // what was found, for a verdict that does not agree; ""
	unresolved string             // why an inconclusive finding has no number; "": not known
	tested     bool               // a hypothesis is about this quantity, else about the first
	// in how many of the set's bandits the claim holds; nil: they are not counted
	bandits *Tally
}

// divergence says which replicas of a cell left the range of floating point. Its zero
// value is none.
type divergence struct {
	diverged, replicas int // numbers of replicas, 0 ≤ diverged ≤ replicas
	at                 int // the first step at which one did
}

// divergenceOf returns the divergence of a cell's run.
func divergenceOf(c *Cell, o *store.Outcome) divergence {
	in := c.Sim()
	return divergence{o.Diverged, in.Replicas(), o.DivergedAt}
}

// String returns the numbers in words.
func (d divergence) String() string {
	return fmt.Sprintf("%d of %d replicas left the range of floating point, the first at step %d", d.diverged, d.replicas, d.at)
}

// newFinding returns a finding without a measurement. Its NaNs make the comparison
// inconclusive until a claim replaces them.
func newFinding(kind rom.Kind) finding {
	nan := math.NaN()
	return finding{measured: nan, lo: nan, hi: nan, predicted: scope.Number{Kind: kind}}
}

// exactly returns the finding with a measured number that has no error.
func (f finding) exactly(x float64) finding {
	f.measured, f.lo, f.hi = x, x, x
	return f
}

// claim is the part of a claim that measures, predicts and draws. Its config.Claim is the part
// that is read from configurations and documented, with what the claim needs. Five shapes
// implement it: scalar (and scalars, of several), path, event, slope and summary.
type claim interface {
	// names of the quantities judged in a set of cells
	quantities(check *config.Check, cells []*Cell) []string
	// measured against predicted: one per quantity, in their order
	find(j *judgement, set CellSet) []finding
	picture() picture
	// noiseless adds to an outcome the estimates that a cell would give without noise
	// if the theory were right. It adds none where a prediction can be found without
	// estimates, or with those of the stiffness alone.
	noiseless(m *model, c *Cell, o *store.Outcome)
}

// claims holds every claim: a row says which number is measured and what predicts it.
var claims = map[*config.Claim]claim{
	config.Trajectory: path{
		quantity: func(check *config.Check) string {
			return "worst deviation of mean " + nounOf(check.Recorded()) + ", share of " + unitOf(check.Recorded())
		},
		compare: compareTrajectory, ideal: idealCourse, view: picture{draw: drawCurves},
	},
	config.TimeToLevel: path{quantity: timeToLevel, compare: compareTime, ideal: idealCourse, view: picture{draw: drawTimes}},
	config.Arrival: arrival{path{
		quantity: only("share of replicas that end where theory says"), compare: compareArrival,
		view: picture{draw: drawOver(&arrivalPicture, compareArrival)},
	}},
	config.ModelAmplitude: path{
		quantity: only("range of the paper's oscillator over that of mean reward, logarithm"), compare: compareAmplitude,
		view: picture{family: byClaim, draw: drawOver(&amplitudePicture, compareAmplitude)},
	},
	config.Recurrence: path{
		quantity: only("worst deviation of the logit gap from the map"), compare: compareRecurrence,
		records: sim.LogitGap, ideal: (*model).refreshedGaps, view: picture{family: byClaim, draw: drawOrbits},
	},

	config.FixedPoint:      scalar{quantity: "expected reward, mean", estimate: sim.ExpectedRewardMean, predict: (*model).rewardMean, rest: scope.OfMean},
	config.EdgeOfStability: scalar{quantity: "stiffness at the end", estimate: sim.StiffnessAtEnd, predict: (*model).edge},
	config.RateOverThreshold: path{
		quantity: only("largest rate over the threshold of its place, from the burn-in on"), compare: compareOverThreshold,
		view: picture{family: byClaim, draw: drawOverThreshold},
	},
	config.StationaryFluctuation: scalar{quantity: "expected reward, variance", estimate: sim.ExpectedRewardVariance, predict: (*model).fluctuation, rest: scope.OfVariance},
	config.DegenerateGroups:      scalar{quantity: "share of zero-variance groups", estimate: sim.ZeroVarianceShare, predict: (*model).zeroVariance, rest: scope.OfZeroShare},
	config.EarlySlope:            scalar{quantity: "stiffness by the early slope", estimate: sim.EarlySlope, predict: (*model).earlySlope},
	config.Relaxation: scalar{
		quantity: "relaxation rate per step", estimate: sim.RelaxationRate, predict: (*model).fittedRate,
		unresolved: unfitted("no decay above round-off"), over: &relaxationPicture,
	},
	config.DampingRatio: scalar{
		quantity: "damping ratio", estimate: sim.DampingRatio, predict: (*model).dampingRatio,
		unresolved: unfitted("no two multipliers of a damped oscillator: the second is below round-off and the nonlinearity of the force, or one is negative"),
		over:       &dampingPicture,
	},
	config.Stiffness:     scalars{of: stiffnessNumbers},
	config.SaturationFit: scalars{of: saturationNumbers, view: picture{family: byClaim, draw: drawFits}},
	config.LawFit:        scalars{of: lawFitNumbers, view: lawsPicture},
	config.LawForecast:   scalars{of: forecastNumbers, view: lawsPicture},
	config.FailureMode:   failureMode{scalars{of: modeNumbers, view: picture{family: byClaim, spans: allVariants, draw: drawModes}}},

	config.OscillationOnset:   event{quantity: "onset of oscillation", predict: (*model).onset, over: &onsetPicture},
	config.StabilityThreshold: stability,
	config.RuleIsSafe:         ruleIsSafe{stability},
	config.VisibleFrontier:    frontier,
	config.FrontierAboveOnset: frontierAboveOnset,

	config.FluctuationScaling: slope{
		quantity: "slope of log variance of expected reward", title: "Stationary variance of the expected reward", label: "Var J",
		estimate: sim.ExpectedRewardVariance, predict: (*model).rewardVariance, inRun: (*model).fluctuation, rest: scope.OfVariance,
	},
	config.RelaxationScaling: slope{
		quantity: "slope of log relaxation rate", title: "Relaxation rate", label: "relaxation rate per step",
		estimate: sim.RelaxationRate, predict: (*model).relaxationRate, inRun: (*model).fittedRate,
	},

	config.MedianFrontier: ofFrontiers{summary{
		quantity: only("median of |visible frontier / the paper's line − 1|"), compare: compareMedian,
		view: picture{family: byOver, draw: drawFrontiers},
	}},
	config.FrontierGap: ofFrontiers{summary{
		quantity: only("gap between visible oscillation and ζ = 1 in η: the least of the first and of its rises over η"),
		compare:  compareGap(func(frontier, onset float64) float64 { return frontier - onset }), view: frontier.picture(),
	}},
	config.FrontierRatio: ofFrontiers{summary{
		quantity: only("visible oscillation over ζ = 1 in η, logarithm: the least of the first and of its rises over η"),
		compare:  compareGap(func(frontier, onset float64) float64 { return math.Log(frontier / onset) }), view: frontier.picture(),
	}},
	config.FrontierConstant: ofFrontiers{summary{
		quantity: only("largest deviation of visible frontier / the paper's line from its geometric mean over η"), compare: compareConstant,
		view: frontier.picture(),
	}},
	config.ClassOccurs: summary{
		quantity: func(check *config.Check) string { return "number of K at which the mean reward is " + check.Class },
		compare:  compareClassOccurs, view: classPicture,
	},
	config.ClassThroughout: summary{
		quantity: func(check *config.Check) string {
			return "number of " + map[string]string{config.LagIntervalKey: "K", config.ArmsKey: "bandits"}[check.Over] + " at which the mean reward is " + check.Class
		},
		compare: compareClassThroughout, view: classPicture,
	},
}

// only returns a quantity that is the same for every check.
func only(quantity string) func(*config.Check) string {
	return func(*config.Check) string { return quantity }
}
