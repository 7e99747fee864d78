package sweeps

import (
	"fmt"
	"slices"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// deviationPicture shows the deviations of measured from predicted values. Checks of single
// variants share a figure if claim, prediction, expectation and kind of margin are the same.
var deviationPicture = picture{draw: drawDeviations, across: true,
	family: func(check *config.Check) string {
		if check.Variant == "" {
			return ""
		}
		return fmt.Sprint(check.Claim.Name, check.Prediction, check.Expect, check.Margin > 0)
	}}

// pictures has the pictures of claims. The others show deviations.
var pictures = map[*config.Claim]picture{
	config.Trajectory:  {draw: drawCurves},
	config.TimeToLevel: {draw: drawTimes},
	config.Arrival: {draw: drawOver(config.Arrival, overPicture{
		title: "Replicas that end where theory says", label: "share of replicas",
		caption: "Each point is the share of replicas whose reward at the end is that of the end of " +
			"the mean path, within the distance that the verdict gives.",
		theories: []theoryLine{{"", "predicted"}},
	})},
	config.ModelAmplitude: {family: byClaim, draw: drawOver(config.ModelAmplitude, overPicture{
		title:    "Range of the paper’s oscillator over that of the run",
		label:    "natural logarithm of the ratio",
		caption:  "Above 0 the oscillator has the larger range.",
		theories: []theoryLine{{rom.PaperRule, "equal ranges"}},
	})},
	config.Recurrence: {family: byClaim, draw: drawOrbits},

	config.RateOverThreshold: {family: byClaim, draw: drawOverThreshold},
	config.Relaxation: {family: byClaim, draw: drawOver(config.Relaxation, overPicture{
		title:    "Relaxation rate, negative where a deviation grows",
		caption:  "A theory holds where the measured points lie on its line.",
		label:    "relaxation rate per step",
		theories: []theoryLine{{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"}},
	})},
	config.DampingRatio: {family: byClaim, draw: drawOver(config.DampingRatio, overPicture{
		title: "Damping ratio",
		caption: "A theory holds where the measured points lie on its line. Below ζ = 1 a deviation " +
			"oscillates while it decays.",
		label: "damping ratio ζ",
		theories: []theoryLine{{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"},
			{rom.PaperRule, "paper’s model"},
			{rom.RuleAtStiffness, "paper’s model at λ of the stiffest mode"}},
	})},
	config.SaturationFit: {family: byClaim, draw: drawFits},
	config.LawFit:        lawsPicture,
	config.LawForecast:   lawsPicture,
	config.FailureMode:   {family: byClaim, across: true, draw: drawModes},

	// Onsets span decades in 1 − μ. On that scale the few per cent by which ζ = 1 misses
	// them are invisible, so onsets are drawn as multiples of the onset at ζ = 1.
	config.OscillationOnset: locatedPicture(config.OscillationOnset, overPicture{
		title: "Onset of oscillation",
		label: "%s at the onset",
		caption: "Each point is the value at which the decay was found to become oscillatory in " +
			"simulation. A theory holds where the points lie on its line.",
		ratio: "onset in %s / that of ζ = 1",
		theories: []theoryLine{
			{"", "exact, at the measured stiffness"}, {rom.LeadingOrder, "reduced-order model, ζ = 1"},
			{rom.PaperRule, "paper’s model, ζ = 1"},
			{rom.RuleAtStiffness, "paper’s model at λ of the stiffest mode, ζ = 1"},
		},
	}),
	config.StabilityThreshold: thresholdPicture,
	config.RuleIsSafe:         thresholdPicture,

	config.FluctuationScaling: slopePicture("Stationary variance of the expected reward", "Var J"),
	config.RelaxationScaling:  slopePicture("Relaxation rate", "relaxation rate per step"),

	config.VisibleFrontier:    frontierPicture,
	config.FrontierAboveOnset: frontierPicture,
	config.FrontierGap:        frontierPicture,
	config.FrontierRatio:      frontierPicture,
	config.FrontierConstant:   frontierPicture,
	config.MedianFrontier:     {family: byOver, draw: drawFrontiers},
	config.ClassOccurs:        classPicture,
	config.ClassThroughout:    classPicture,
}

// Pictures that several claims share.
var (
	classPicture = picture{family: byClaim, across: true, draw: drawClasses}
	lawsPicture  = picture{family: func(*config.Check) string { return "laws" }, draw: drawLaws}

	// frontiers with the paper's line
	frontierPicture = locatedPicture(config.VisibleFrontier, overPicture{
		title: "Visible oscillation",
		label: "%s of the visible frontier",
		caption: "Each point is the smallest value at which the run oscillates visibly. Where the " +
			"paper’s rule gives the frontier, the points lie on its line.",
		theories: []theoryLine{{rom.PaperRule, "paper’s rule"},
			{rom.RuleAtStiffness, "paper’s rule at λ of the stiffest mode"}},
	})

	thresholdPicture = locatedPicture(config.StabilityThreshold, overPicture{
		title: "Stability threshold",
		label: "%s at the threshold",
		caption: "Each point is the value at which the fixed point was found to lose stability in " +
			"simulation. A theory holds where the points lie on its line.",
		theories: []theoryLine{
			{"", "exact, at the measured stiffness"}, {rom.PaperRule, "paper’s rule"},
			{rom.RuleAtStiffness, "paper’s rule at λ of the stiffest mode"},
			{rom.LeadingOrder, "reduced-order model, γ = 0"},
		},
		deep: []theoryLine{
			{"", "two matrices, at the measured stiffness"}, {rom.PaperRule, "paper’s rule"},
			{rom.RuleAtStiffness, "paper’s rule at λ"},
			{rom.LeadingOrder, "one number: λ, all of it stale"},
		},
	})

	// the quantity that a hypothesis is about
	hypothesisPicture = picture{draw: drawHypothesis, alone: true}
)

// locatedPicture is the picture of values of a searched parameter, those of the claim named.
func locatedPicture(of *config.Claim, over overPicture) picture {
	family := func(check *config.Check) string { return over.title + " in " + check.Locate.Param }
	return picture{family: family, draw: drawOver(of, over)}
}

// picturesOf returns the pictures of a check: that of its claim and, where it does not show
// the check's hypothesis, one of that.
func picturesOf(check *config.Check) []picture {
	own := pictures[check.Claim]
	switch {
	case check.Hypothesis == nil && own.draw == nil:
		return []picture{deviationPicture}
	case check.Hypothesis == nil || own.claims:
		return []picture{own}
	case own.draw == nil: // the deviation from a bound is no picture
		return []picture{hypothesisPicture}
	}
	return []picture{own, hypothesisPicture}
}

// figureSources divides the checks of a plan among figures, which are in the order of
// their first checks.
func figureSources(plan *plan.Plan, verdicts []judge.Verdict) []*figureSource {
	var sources []*figureSource
	byID := make(map[string]*figureSource)
	for _, planned := range plan.Checks {
		for i, p := range picturesOf(planned.Check) {
			family := ""
			if p.family != nil {
				family = p.family(planned.Check)
			}
			if family == "" {
				family, p.across = fmt.Sprint(planned.Index, i), false
			}
			variants := variantsOf(planned.Sets)
			if p.across && len(variants) > 0 {
				variants = []string{""}
			}
			for _, variant := range variants {
				id := family + " of " + variant
				d := byID[id]
				if d == nil {
					d = &figureSource{picture: p, variant: variant}
					byID[id] = d
					sources = append(sources, d)
				}
				if !slices.Contains(d.checks, planned.Check) {
					d.checks = append(d.checks, planned.Check)
				}
				for _, set := range planned.Sets {
					if p.across || set.Cells[0].Variant == variant {
						d.add(set)
					}
				}
				for i := range verdicts {
					if v := &verdicts[i]; v.Check == planned.Index && (p.across || v.Variant == variant) {
						d.verdicts = append(d.verdicts, v)
					}
				}
			}
		}
	}
	return sources
}
