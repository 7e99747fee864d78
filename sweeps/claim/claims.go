// Package claim says of every claim which number is measured and what predicts it.
//
//  1. [NewEvidence] takes a plan with the outcomes of its cells, and [NewQuestion] puts a check to it.
//  2. [Question.Find] returns a [Finding] for each quantity of a set of cells: what was measured, with
//     its interval, and what the theory predicts.
//
// A claim has two halves. Its declaration, a [config.Claim], says what it requires of cells and of
// the keys of its checks, and which predictions it can name; it is in sweeps/config/claims.go.
// Its logic is a row of the table claims. Neither applies the margin: package sweeps/judge does.
package claim

import (
	"cmp"
	"math"
	"slices"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// claim is the part of a claim that measures and predicts. Its config.Claim is the part
// that is read from configurations and documented, with what the claim needs. Its shapes are
// scalar (and scalars, of several), number, event and Slope.
type claim interface {
	// names of the quantities judged in a set of cells
	quantities(check *config.Check, cells []*plan.Cell) []string
	// measured against predicted: one per quantity, in their order
	find(j *Question, set plan.CellSet) []Finding
}

// claims holds every claim: a row says which number is measured and what predicts it.
var claims = map[string]claim{
	"trajectory": number{
		quantity: func(check *config.Check) string {
			return "worst deviation of mean " + Noun(check.Recorded()) + ", share of " +
				unitOf(check.Recorded())
		},
		compare: inFirst(compareTrajectory),
	},
	"time-to-level": number{quantity: TimeToLevel, compare: inFirst(compareTime)},
	"arrival": number{
		quantity: only("share of replicas that end where theory says"),
		compare:  inFirst(compareArrival),
	},
	"model-amplitude": number{
		quantity: only("range of the paper's oscillator over that of mean reward, logarithm"),
		compare:  inFirst(compareAmplitude),
	},
	"recurrence": number{
		quantity: only("worst deviation of the logit gap from the map"),
		compare:  inFirst(compareRecurrence),
	},

	"fixed-point": scalar{quantity: "expected reward, mean", estimate: sim.ExpectedRewardMean,
		predict: (*Model).rewardMean, rest: scope.OfMean},
	"edge-of-stability": scalar{quantity: "stiffness at the end", estimate: sim.StiffnessAtEnd,
		predict: (*Model).edge},
	"rate-over-threshold": number{
		quantity: only("largest rate over the threshold of its place, from the burn-in on"),
		compare:  inFirst(compareOverThreshold),
	},
	"stationary-fluctuation": scalar{quantity: "expected reward, variance",
		estimate: sim.ExpectedRewardVariance, predict: (*Model).fluctuation, rest: scope.OfVariance},
	"degenerate-groups": scalar{quantity: "share of zero-variance groups",
		estimate: sim.ZeroVarianceShare, predict: (*Model).zeroVariance, rest: scope.OfZeroShare},
	"early-slope": scalar{quantity: "stiffness by the early slope",
		estimate: sim.EarlySlope, predict: (*Model).earlySlope},
	"relaxation": scalar{quantity: "relaxation rate per step", estimate: probe.RelaxationRate,
		predict: (*Model).fittedRate, unresolved: unfitted("no decay above round-off")},
	"damping-ratio": scalar{
		quantity: "damping ratio", estimate: probe.DampingRatio, predict: (*Model).dampingRatio,
		unresolved: unfitted("no two multipliers of a damped oscillator: the second is below " +
			"round-off and the nonlinearity of the force, or one is negative"),
	},
	"stiffness":      scalars(stiffnessNumbers),
	"saturation-fit": scalars(saturationNumbers),
	"law-fit":        scalars(lawFitNumbers),
	"law-forecast":   scalars(forecastNumbers),
	"failure-mode":   scalars(modeNumbers),
	"ratio-first": scalar{quantity: "share of replicas in which the ratio grows before the norm",
		estimate: plan.RatioFirst, side: FromBelow,
		predict: func(*Model, *plan.Cell) scope.Number {
			return scope.Number{Value: 0.5, Kind: rom.PaperRule}
		}},

	"oscillation-onset":    event{quantity: "onset of oscillation", predict: (*Model).onset},
	"stability-threshold":  stability,
	"rule-is-safe":         ruleIsSafe{stability},
	"visible-frontier":     frontier,
	"frontier-above-onset": frontierAboveOnset,

	"fluctuation-scaling": Slope{
		quantity: "slope of log variance of expected reward",
		Estimate: sim.ExpectedRewardVariance,
		predict: func(m *Model, s *config.Settings) scope.Number {
			return m.atRest(s).RunVariance(m.Kind)
		},
		InRun: (*Model).fluctuation, rest: scope.OfVariance,
	},
	"relaxation-scaling": Slope{quantity: "slope of log relaxation rate",
		Estimate: probe.RelaxationRate, predict: (*Model).relaxationRate, InRun: (*Model).fittedRate},

	"median-frontier": ofFrontiers("median of |visible frontier / the paper's line − 1|",
		compareMedian),
	"frontier-gap": ofFrontiers("gap between visible oscillation and ζ = 1 in η"+leastRise,
		compareGap(func(frontier, onset float64) float64 { return frontier - onset })),
	"frontier-ratio": ofFrontiers("visible oscillation over ζ = 1 in η, logarithm"+leastRise,
		compareGap(func(frontier, onset float64) float64 { return math.Log(frontier / onset) })),
	"frontier-constant": ofFrontiers(
		"largest deviation of visible frontier / the paper's line from its geometric mean over η",
		compareConstant),
	"class-occurs": number{
		quantity: func(check *config.Check) string {
			return "number of K at which the mean reward is " + check.Class
		},
		compare: compareClassOccurs,
	},
	"class-throughout": number{
		quantity: func(check *config.Check) string {
			over := map[string]string{config.LagIntervalKey: "K", config.ArmsKey: "bandits"}[check.Over]
			return "number of " + over + " at which the mean reward is " + check.Class
		},
		compare: compareClassThroughout,
	},
}

// only returns a quantity that is the same for every check.
func only(quantity string) func(*config.Check) string {
	return func(*config.Check) string { return quantity }
}

// NewEvidence returns the outcomes of a plan's cells as evidence. The confidence of every interval
// is 1 − (1 − Spec.Confidence)/n with n = max(Verdicts(plan), 1): those of all verdicts hold
// together with the confidence of the configuration (Bonferroni).
func NewEvidence(p *plan.Plan, outcomes map[string]*store.Outcome) *Evidence {
	e := &Evidence{Outcomes: outcomes, Cache: p.Cache, Part: plan.Always, Workers: 1}
	e.Confidence = 1 - (1-p.Spec.Confidence)/float64(max(Verdicts(p), 1))
	if e.Cache == nil {
		e.Cache = theory.NewCache()
	}
	return e
}

// NewQuestion puts a check to the theory as derived.
func NewQuestion(check *config.Check, e *Evidence) *Question {
	return &Question{Model: Model{check, check.Prediction, config.NoFault, e.Cache}, Evidence: e}
}

// Quantities returns the names of the quantities that a check judges in a set.
func Quantities(check *config.Check, set plan.CellSet) []string {
	return claims[check.Claim.Name].quantities(check, set.Cells)
}

// VerdictsOn returns the number of verdicts of a check on a set: one for each quantity, or with a
// hypothesis one.
func VerdictsOn(check *config.Check, set plan.CellSet) int {
	if check.Hypothesis != nil {
		return 1
	}
	return len(Quantities(check, set))
}

// Verdicts returns the number of verdicts that all checks of a plan make together.
func Verdicts(plan *plan.Plan) (n int) {
	for _, planned := range plan.Checks {
		for _, set := range planned.Sets {
			n += VerdictsOn(planned.Check, set)
		}
	}
	return n
}

// Find returns the findings of the claim in a set of cells: one per quantity, with a hypothesis the
// one that it is about. If a cell of the set has no fixed point to start from, all are out of
// scope.
func (j *Question) Find(set plan.CellSet) []Finding {
	quantities := Quantities(j.Check, set)
	findings := make([]Finding, len(quantities))
	if slices.ContainsFunc(set.Cells,
		func(c *plan.Cell) bool { return c.Status == store.NoFixedPoint }) {
		for i := range findings {
			findings[i] = newFinding(rom.Exact)
			findings[i].Predicted.Because = scope.NotReached.Because()
			findings[i].Unrested = findings[i].Predicted
		}
	} else {
		findings = claims[j.Check.Claim.Name].find(j, set)
	}
	for i := range findings {
		findings[i].Quantity = cmp.Or(findings[i].Quantity, quantities[i])
		findings[i].Estimate = cmp.Or(findings[i].Estimate, string(j.Check.Claim.Event),
			j.Check.Claim.Name)
	}
	if j.Check.Hypothesis != nil {
		tested := max(0, slices.IndexFunc(findings, func(f Finding) bool { return f.tested }))
		return findings[tested : tested+1]
	}
	return findings
}

// InCell returns the first finding of a claim in one cell, by the theory and the search of the
// check.
func (j *Question) InCell(of string, c *plan.Cell) Finding {
	return claims[of].find(j, plan.CellSet{Cells: []*plan.Cell{c}})[0]
}

// SlopeOf returns the claim of a check as one about how a number changes.
func SlopeOf(check *config.Check) Slope { return claims[check.Claim.Name].(Slope) }

// scalar is the shape of a claim about one estimate of a cell.
type scalar struct {
	quantity, estimate string // its name for people, and among the estimates of a cell
	predict            func(m *Model, c *plan.Cell) scope.Number
	rest               func(*scope.Sizes) float64 // the size of a way to rest; nil: not about rest
	side               Side
	tested             bool // see finding.tested

	// Unresolved says of the estimate of a probe why it has no value or error, "" where it has
	// both; nil for an estimate along the run, which does not exist if replicas diverged.
	unresolved func(c *plan.Cell, f *Finding) string
	instead    func(o *store.Outcome) string // see finding.instead; nil: nothing
}

// compare compares the number with its prediction in one cell.
func (n scalar) compare(j *Question, c *plan.Cell) Finding {
	f := j.ofEstimate(c, n.estimate)
	f.Quantity, f.Side, f.tested = n.quantity, n.side, n.tested
	if n.unresolved == nil {
		f.Diverged = divergenceOf(c, j.Outcome(c))
	} else if why := n.unresolved(c, &f); why != "" {
		f.Unresolved = why
	}
	if n.instead != nil {
		f.Instead = n.instead(j.Outcome(c))
	}
	f.Predicted = n.predict(&j.Model, c)
	if n.rest != nil && j.Check.Hypothesis != nil {
		f.Unrested = j.unrested(c, n.rest)
	}
	return f
}

func (n scalar) quantities(*config.Check, []*plan.Cell) []string { return []string{n.quantity} }
func (n scalar) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{n.compare(j, set.Cells[0])}
}

// scalars is the shape of a claim about several estimates of a cell, or of one that the check
// chooses.
type scalars func(m *Model, cells []*plan.Cell) []scalar

func (of scalars) quantities(check *config.Check, cells []*plan.Cell) []string {
	m := &Model{Check: check, Kind: check.Prediction, Fault: config.NoFault}
	return config.Each(of(m, cells), func(one scalar) string { return one.quantity })
}

func (of scalars) find(j *Question, set plan.CellSet) []Finding {
	return config.Each(of(&j.Model, set.Cells),
		func(one scalar) Finding { return one.compare(j, set.Cells[0]) })
}

// number is the shape of a claim about one number of a set of cells, or of a run.
type number struct {
	quantity func(check *config.Check) string
	compare  func(j *Question, set plan.CellSet) Finding
}

func (n number) quantities(check *config.Check, _ []*plan.Cell) []string {
	return []string{n.quantity(check)}
}
func (n number) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{n.compare(j, set)}
}

// inFirst compares in the only cell of a set.
func inFirst(compare func(*Question, *plan.Cell) Finding) func(*Question, plan.CellSet) Finding {
	return func(j *Question, set plan.CellSet) Finding { return compare(j, set.Cells[0]) }
}
