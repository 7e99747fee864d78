package sweeps

import (
	"fmt"

	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/training/diagnose"
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
var pictures = map[string]picture{
	"trajectory":      {draw: drawCurves},
	"time-to-level":   {draw: drawTimes},
	"arrival":         {draw: drawOver("arrival")},
	"model-amplitude": {family: byClaim, draw: drawOver("model-amplitude")},
	"recurrence":      {family: byClaim, draw: drawOrbits},

	"rate-over-threshold": {family: byClaim, draw: drawOverThreshold},
	"relaxation":          {family: byClaim, draw: drawOver("relaxation")},
	"damping-ratio":       {family: byClaim, draw: drawOver("damping-ratio")},
	"saturation-fit":      {family: byClaim, draw: drawFits},
	"law-fit":             lawsPicture,
	"law-forecast":        lawsPicture,
	"failure-mode":        {family: byClaim, across: true, draw: drawModes},

	"oscillation-onset":   locatedPicture("oscillation-onset"),
	"stability-threshold": thresholdPicture,
	"rule-is-safe":        thresholdPicture,

	"fluctuation-scaling": slopePicture("Stationary variance of the expected reward", "Var J"),
	"relaxation-scaling":  slopePicture("Relaxation rate", "relaxation rate per step"),

	"visible-frontier":     frontierPicture,
	"frontier-above-onset": frontierPicture,
	"frontier-gap":         frontierPicture,
	"frontier-ratio":       frontierPicture,
	"frontier-constant":    frontierPicture,
	"median-frontier":      {family: byOver, draw: drawFrontiers},
	"class-occurs":         classPicture,
	"class-throughout":     classPicture,
}

// Pictures that several claims share.
var (
	classPicture     = picture{family: byClaim, across: true, draw: drawClasses}
	lawsPicture      = picture{family: func(*config.Check) string { return "laws" }, draw: drawLaws}
	frontierPicture  = locatedPicture("visible-frontier")
	thresholdPicture = locatedPicture("stability-threshold")

	stagesPicture = picture{word: "stages", panels: drawStages, family: func(*config.Check) string { return "stages" }}

	// the quantity that a hypothesis is about
	hypothesisPicture = picture{draw: drawHypothesis, alone: true}
)

// locatedPicture is the picture of values of a searched parameter, those of the claim named.
func locatedPicture(of string) picture {
	family := func(check *config.Check) string { return of + " in " + check.Locate.Param }
	return picture{family: family, draw: drawOver(of)}
}

// picturesOf returns the pictures of a check: that of its claim and, where it does not show
// the check's hypothesis, one of that.
func picturesOf(check *config.Check) []picture {
	own := pictures[check.Claim.Name]
	switch {
	case check.Claim.Name == "class-occurs":
		return []picture{own, stagesPicture}
	case check.Claim.Name == "failure-mode":
		return append([]picture{own}, diagnosticsOf(diagnose.Mode(check.Mode))...)
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
				d.checks = config.AddNew(d.checks, planned.Check)
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
