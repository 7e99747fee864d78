package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
)

// Figure is the data of one picture: what a check measured against what the
// theory predicts. It is drawn by sweeps/report.
type Figure struct {
	Name   string // file name without extension, unique in its experiment
	Title  string
	XLabel string
	YLabel string
	XScale AxisScale
	YScale AxisScale
	// Categories names the integer positions 0, 1, … of the x axis; nil where
	// x is a number.
	Categories []string
	Series     []FigureSeries
}

// AxisScale is the scale of a figure's axis.
type AxisScale int

const (
	LinearAxis AxisScale = iota
	LogAxis
)

// Mark is what a series is, and so how it is drawn.
type Mark int

const (
	Measured  Mark = iota // points with intervals
	Predicted             // a line, or a tick at each category; Lo, Hi the margin
	Reference             // another theory's line, for comparison, without margin
	Spread                // a band between the 5 and 95 % quantiles of the replicas
	Marker                // points without intervals: cells of a map, one series a class
	Boundary              // lines of a map, a point that is not finite between two
	Region                // closed areas of a map, a point that is not finite between two
	Share                 // a piece of a column over a category, from Lo to Hi
)

// FigureSeries is one set of marks. Measured and predicted series with the
// same Group belong together and share a colour.
type FigureSeries struct {
	Name   string
	Group  string
	Mark   Mark
	Points []FigurePoint
}

// FigurePoint is one mark; Lo and Hi are NaN where there is no interval.
type FigurePoint struct {
	X, Y, Lo, Hi float64
}

// figures returns the pictures of an experiment: the regime map of each sweep
// that is one, then those of the checks, one a variant where a check spans
// several. Checks that hold the same measurement against several theories share
// one.
func (e *evidence) figures(plan *Plan, verdicts []Verdict) []Figure {
	var figures []Figure
	for _, p := range automaticMaps(plan) {
		if m := e.regimeMap(p); m.moves() {
			figures = append(figures, m.Figure())
		}
	}
	for _, d := range drawings(plan, verdicts) {
		j := newJudgement(d.checks[0], plan.Spec.Confidence, e)
		f := d.draw(j)
		f.Name = d.name
		if d.variant != "" {
			f.Title = d.variant + ": " + f.Title
		}
		if refuted := d.refuted(); refuted != "" {
			f.Title += " (" + refuted + ")"
		}
		figures = append(figures, f)
	}
	return figures
}

// drawing is the checks that one picture shows, and of one variant or, where it
// says none, of all.
type drawing struct {
	name, variant string
	checks        []*config.Check
	sets          []CellSet
	verdicts      []Verdict
}

// drawings divides the checks of a plan into pictures, in the order of the
// first check of each.
func drawings(plan *Plan, verdicts []Verdict) []*drawing {
	var all []*drawing
	families := make(map[string]*drawing)
	for _, planned := range plan.Checks {
		family, across := familyOf(planned.Check)
		if family == "" {
			family = fmt.Sprint(planned.Index)
		}
		variants := variantsOf(planned.Sets)
		for _, variant := range variants {
			id := family + " of " + variant
			if across {
				id, variant = family, ""
			}
			d := families[id]
			if d == nil {
				d = &drawing{name: fmt.Sprintf("%d-%s", planned.Index+1, planned.Check.Claim), variant: variant}
				if len(variants) > 1 && !across {
					d.name += "-" + variant
				}
				families[id] = d
				all = append(all, d)
			}
			if !slices.Contains(d.checks, planned.Check) {
				d.checks = append(d.checks, planned.Check)
			}
			for _, set := range planned.Sets {
				if across || set.Cells[0].Variant == variant {
					d.add(set)
				}
			}
			for _, v := range verdicts {
				if v.Check == planned.Index && (across || v.Variant == variant) {
					d.verdicts = append(d.verdicts, v)
				}
			}
			if across {
				break
			}
		}
	}
	return all
}

// add adds the cells of a set, in the place of a part of them.
func (d *drawing) add(set CellSet) {
	i := slices.IndexFunc(d.sets, func(known CellSet) bool {
		return known.Name == set.Name && known.Cells[0].Variant == set.Cells[0].Variant
	})
	switch {
	case i < 0:
		d.sets = append(d.sets, set)
	case len(set.Cells) > len(d.sets[i].Cells):
		d.sets[i] = set
	}
}

// familyOf names the measurement that checks share a picture of, "" where a
// check has its own; across where that picture spans the variants.
func familyOf(check *config.Check) (family string, across bool) {
	switch check.Claim {
	case config.ClaimRuleIsSafe, config.ClaimThreshold:
		return "threshold in " + check.Locate.Param, false
	case config.ClaimOnset:
		return "onset in " + check.Locate.Param, false
	case config.ClaimRelaxation, config.ClaimDamping, config.ClaimSaturation, config.ClaimRecurrence, config.ClaimScaling, config.ClaimRateScaling:
		return check.Claim, false
	case config.ClaimFailureMode:
		return check.Claim, true
	case config.ClaimTrajectory:
		return "", false
	}
	// Deviations from what is predicted: those of single variants side by side.
	if check.Variant == "" {
		return "", false
	}
	return fmt.Sprint(check.Claim, check.Prediction, check.Expect, check.Margin > 0), true
}

// draw draws the checks' measurement; j is a judgement of the first of them.
func (d *drawing) draw(j *judgement) Figure {
	asymptote := slices.ContainsFunc(d.checks, func(c *config.Check) bool { return c.Prediction == rom.LeadingOrder })
	switch d.checks[0].Claim {
	case config.ClaimTrajectory:
		return j.drawCurves(d.sets)
	case config.ClaimSaturation:
		return j.drawFits(d.sets)
	case config.ClaimRecurrence:
		return j.drawOrbits(d.sets)
	case config.ClaimScaling:
		return j.drawScaling(d.sets, varianceScaling, asymptote)
	case config.ClaimRateScaling:
		return j.drawScaling(d.sets, rateScaling, asymptote)
	case config.ClaimOnset:
		return j.drawOver(d.sets, onsetPicture)
	case config.ClaimThreshold, config.ClaimRuleIsSafe:
		return j.drawOver(d.sets, thresholdPicture)
	case config.ClaimRelaxation:
		return j.drawOver(d.sets, relaxationPicture)
	case config.ClaimDamping:
		return j.drawOver(d.sets, dampingPicture)
	case config.ClaimFailureMode:
		return j.drawModes(d.sets)
	}
	return d.drawDeviations()
}

// refuted says which theories the checks claim to fail, and whether they do.
func (d *drawing) refuted() string {
	var words []string
	for _, kind := range []rom.Kind{rom.LeadingOrder, rom.PaperRule} {
		claimed, held, failed := 0, 0, 0
		for i := range d.verdicts {
			v := &d.verdicts[i]
			switch {
			case v.PredictionKind != kind || v.Verdict == OutOfScope:
			case v.Expect == config.Holds:
				held++
			case v.Verdict == Agree:
				claimed++
				failed++
			default:
				claimed++
			}
		}
		switch {
		case claimed == 0:
		case failed < claimed:
			words = append(words, kindWords[kind]+" expected to fail, and not refuted")
		case held > 0:
			words = append(words, kindWords[kind]+" refuted in part")
		default:
			words = append(words, kindWords[kind]+" refuted")
		}
	}
	return strings.Join(words, ", ")
}

// kindWords are the theories in words.
var kindWords = map[rom.Kind]string{
	rom.Exact: "exact", rom.LeadingOrder: "leading order", rom.PaperRule: "paper’s formula",
}

// variantsOf lists the variants of the sets, in the order of the file.
func variantsOf(sets []CellSet) []string {
	var variants []string
	for _, set := range sets {
		if v := set.Cells[0].Variant; !slices.Contains(variants, v) {
			variants = append(variants, v)
		}
	}
	return variants
}

// drawDeviations shows each verdict's measured value in units its margin can
// be seen in: as a ratio to the prediction where the margin is relative, else
// as a difference in margins.
func (d *drawing) drawDeviations() Figure {
	claim := d.checks[0].Claim
	f := Figure{Title: claim + ": measured / predicted", YLabel: "measured / predicted"}
	relative := d.checks[0].Margin > 0
	if !relative {
		f.Title = claim + ": (measured − predicted) / margin"
		f.YLabel = "(measured − predicted) / margin"
	}
	measured := FigureSeries{Name: "measured", Group: "measured", Mark: Measured}
	predicted := FigureSeries{Name: "predicted ± margin", Group: "predicted", Mark: Predicted}
	for _, v := range d.verdicts {
		if v.Verdict == OutOfScope {
			continue
		}
		x := float64(len(f.Categories))
		name := cmp.Or(withoutVariant(v.Label, d.variant), "the one cell")
		if claim == config.ClaimStiffness {
			name = strings.TrimSpace(name + " " + strings.TrimPrefix(v.Quantity, "stiffness_"))
		}
		f.Categories = append(f.Categories, name)
		m, lo, hi, p, margin := float64(v.Measured), float64(v.Lo), float64(v.Hi), float64(v.Predicted), float64(v.Margin)
		if relative {
			width := margin / math.Abs(p)
			measured.Points = append(measured.Points, FigurePoint{x, m / p, min(lo/p, hi/p), max(lo/p, hi/p)})
			predicted.Points = append(predicted.Points, FigurePoint{x, 1, 1 - width, 1 + width})
		} else {
			measured.Points = append(measured.Points, FigurePoint{x, (m - p) / margin, (lo - p) / margin, (hi - p) / margin})
			predicted.Points = append(predicted.Points, FigurePoint{x, 0, -1, 1})
		}
	}
	f.Series = []FigureSeries{predicted, measured}
	return f
}
