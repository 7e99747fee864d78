package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
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
	all := drawings(plan, verdicts)
	names := namesOf(all)
	for i, d := range all {
		j := newJudgement(d.checks[0], plan.Spec.Confidence, e)
		p, _ := pictureOf(d.checks[0])
		f := p.draw(j, d)
		f.Name = names[i]
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
	variant  string
	checks   []*config.Check
	sets     []CellSet
	verdicts []Verdict
}

// namesOf names pictures by what they show: the claim of their first check, the
// variant if all cells are of one, the parameter along which is located, and the
// prediction if all checks name the same. A name that is taken gets a number.
func namesOf(all []*drawing) []string {
	var names []string
	taken := make(map[string]int)
	for _, d := range all {
		check := d.checks[0]
		name := check.Claim.Name
		if variants := variantsOf(d.sets); len(variants) == 1 && variants[0] != "" {
			name += "-" + variants[0]
		}
		if check.Locate != nil {
			k, _ := config.LookupKey(check.Locate.Param)
			name += "-" + strings.ReplaceAll(k.Noun, " ", "-")
		}
		different := func(other *config.Check) bool { return other.Prediction != check.Prediction }
		if check.Prediction != "" && !slices.ContainsFunc(d.checks, different) {
			name += "-" + string(check.Prediction)
		}
		if taken[name]++; taken[name] > 1 {
			name += fmt.Sprintf("-%d", taken[name])
		}
		names = append(names, name)
	}
	return names
}

// drawings divides the checks of a plan into pictures, in the order of the
// first check of each.
func drawings(plan *Plan, verdicts []Verdict) []*drawing {
	var all []*drawing
	families := make(map[string]*drawing)
	for _, planned := range plan.Checks {
		p, family := pictureOf(planned.Check)
		across := p.spans == allVariants
		if family == "" {
			family = fmt.Sprint(planned.Index)
		}
		for _, variant := range variantsOf(planned.Sets) {
			id := family + " of " + variant
			if across {
				id, variant = family, ""
			}
			d := families[id]
			if d == nil {
				d = &drawing{variant: variant}
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

// picture says how the checks of a claim are pictured. The zero picture shows the
// deviations of measured from predicted values.
type picture struct {
	// family names the measurement that checks share a picture of, "" where a check
	// has a picture of its own; nil: every check has.
	family func(check *config.Check) string
	spans  span
	draw   func(j *judgement, d *drawing) Figure // j: a judgement of the first of the checks
}

// span says which variants a picture shows.
type span int

const (
	oneVariant  span = iota // each has its own picture
	allVariants             // side by side
)

// byClaim is the family of checks that make the same claim.
func byClaim(check *config.Check) string { return check.Claim.Name }

// byParam is the family of checks that locate the same event along one parameter.
func byParam(event string) func(*config.Check) string {
	return func(check *config.Check) string { return event + " in " + check.Locate.Param }
}

// deviationPicture is the picture of claims that name none: deviations from what is
// predicted, those of checks of single variants side by side.
var deviationPicture = picture{draw: (*judgement).drawDeviations, spans: allVariants, family: func(check *config.Check) string {
	if check.Variant == "" {
		return ""
	}
	return fmt.Sprint(check.Claim.Name, check.Prediction, check.Expect, check.Margin > 0)
}}

// pictureOf returns how a check is pictured, and its family; one without a family is
// not pictured together with others.
func pictureOf(check *config.Check) (p picture, family string) {
	if p = logics[check.Claim].picture; p.draw == nil {
		p = deviationPicture
	}
	if p.family != nil {
		family = p.family(check)
	}
	if family == "" {
		p.spans = oneVariant
	}
	return p, family
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
func (j *judgement) drawDeviations(d *drawing) Figure {
	claim := j.check.Claim.Name
	f := Figure{Title: claim + ": measured / predicted", YLabel: "measured / predicted"}
	relative := j.check.Margin > 0
	if !relative {
		f.Title = claim + ": (measured − predicted) / margin"
		f.YLabel = "(measured − predicted) / margin"
	}
	measured := FigureSeries{Name: "measured", Group: "measured", Mark: Measured}
	predicted := FigureSeries{Name: "predicted ± margin", Group: "predicted", Mark: Predicted}
	several := len(logics[j.check.Claim].quantities(j.check, d.sets[0].Cells)) > 1
	for _, v := range d.verdicts {
		if v.Verdict == OutOfScope {
			continue
		}
		x := float64(len(f.Categories))
		name := cmp.Or(withoutVariant(v.Label, d.variant), "the one cell")
		if several {
			name = strings.TrimSpace(name + " " + strings.TrimPrefix(v.Quantity, claim+"_"))
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

// withoutVariant names a cell inside a picture of its own variant, its numbers
// to four digits.
func withoutVariant(label, variant string) string {
	return longNumber.ReplaceAllStringFunc(strings.TrimSpace(strings.TrimPrefix(label, variant)), func(text string) string {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

var longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{5,}`)
