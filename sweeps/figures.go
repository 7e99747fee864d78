package sweeps

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// Figure is the data of one figure: measured values against predicted ones. Package
// sweeps/report draws it.
type Figure struct {
	Name    string    // file name without extension, unique in its experiment
	Title   string    // one line above the figure
	Caption string    // what to see: how the figure looks where the theory holds
	XLabel  string    // label of the x axis, with its unit
	YLabel  string    // label of the y axis, with its unit
	XScale  AxisScale // LinearAxis where Categories is given
	YScale  AxisScale // LogAxis omits values ≤ 0

	// Categories holds the labels of the positions 0, 1, … of the x axis; nil where x is a number.
	Categories []string

	// the quantity that Values of its markers hold, with its unit; "": colours show the series
	Colour string

	Series []FigureSeries // those of one kind of mark are drawn in this order
}

// AxisScale is the scale of a figure's axis.
type AxisScale int

const (
	LinearAxis AxisScale = iota // linear
	LogAxis                     // logarithmic, to base 10
)

// spacing returns the scale on which sorted distinct values are spaced more evenly.
func spacing(values []float64) AxisScale {
	if theory.LogSpaced(values) {
		return LogAxis
	}
	return LinearAxis
}

// Mark is the kind of a series, which decides how it is drawn.
type Mark int

const (
	Measured  Mark = iota // points with intervals
	Predicted             // a line, or a tick at each category; Lo, Hi the margin
	Reference             // the line of another theory, for comparison, without margin
	Spread                // a band between the 5 % and 95 % quantiles of the replicas
	Marker                // points without intervals: the cells of a map, one series a class
	Boundary              // lines of a map, separated by points that are not finite
	Region                // closed areas of a map, separated by points that are not finite
	Share                 // a segment of a column over a category, from Lo to Hi
	// the file's own claim: a line, and from Lo to Hi the values it allows; ±Inf: to the end of the
	// axis
	Claimed
)

// FigureSeries is one set of marks of the same kind.
type FigureSeries struct {
	Name   string        // in the legend
	Group  string        // measured and predicted series of the same group share a colour
	Mark   Mark          // how the points are drawn
	Points []FigurePoint // in the order in which lines connect them
	Values []float64     // of markers, one for each point, NaN: unknown; Figure.Colour names them
}

// FigurePoint is one point of a series, in the units of the axes.
type FigurePoint struct {
	X, Y   float64 // X is an index into Categories where the figure has them
	Lo, Hi float64 // the ends of the interval in y; NaN without interval
}

// BarePoint returns a point without interval.
func BarePoint(x, y float64) FigurePoint { return FigurePoint{x, y, math.NaN(), math.NaN()} }

// point adds a point without interval, and within one with an interval.
func (s *FigureSeries) point(x, y float64) { s.Points = append(s.Points, BarePoint(x, y)) }
func (s *FigureSeries) within(x, y, lo, hi float64) {
	s.Points = append(s.Points, FigurePoint{x, y, lo, hi})
}

// figureSource holds the checks that one figure shows, and their cells and verdicts.
type figureSource struct {
	picture  picture
	variant  string // the only variant shown; "" if all are, or the file has none
	checks   []*config.Check
	sets     []plan.CellSet
	verdicts []*judge.Verdict
}

// name returns the name of a figure, by its first check. It is made of the claim, the only variant,
// the searched parameter, the shared prediction, and the relation of a hypothesis alone.
func (d *figureSource) name() string {
	check := d.checks[0]
	parts := []string{cmp.Or(d.picture.word, check.Claim.Name)}
	if variants := variantsOf(d.sets); len(variants) == 1 && variants[0] != "" {
		parts = append(parts, variants[0])
	}
	spelled := strings.NewReplacer(" ", "-", "_", "-")
	if check.Locate != nil {
		k, _ := config.LookupKey(check.Locate.Param)
		parts = append(parts, spelled.Replace(k.Noun))
	}
	if quantity := check.Recorded(); quantity != sim.ExpectedReward {
		parts = append(parts, spelled.Replace(string(quantity)))
	}
	different := func(other *config.Check) bool { return other.Prediction != check.Prediction }
	if check.Prediction != "" && !slices.ContainsFunc(d.checks, different) {
		parts = append(parts, string(check.Prediction))
	}
	if d.picture.alone {
		parts = append(parts, spelled.Replace(string(check.Hypothesis.Relation)))
	}
	return strings.Join(parts, "-")
}

// add adds a set of cells. If there is one of the same name and variant, the larger of
// the two is kept.
func (d *figureSource) add(set plan.CellSet) {
	i := slices.IndexFunc(d.sets, func(other plan.CellSet) bool {
		return other.Name == set.Name && other.Cells[0].Variant == set.Cells[0].Variant
	})
	switch {
	case i < 0:
		d.sets = append(d.sets, set)
	case len(set.Cells) > len(d.sets[i].Cells):
		d.sets[i] = set
	}
}

// failing says, for a title, which theories the checks expect to fail and whether the verdicts show
// it: wholly, in part, or not. "": none.
func (d *figureSource) failing() string {
	var words []string
	for _, kind := range []rom.Kind{rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness} {
		held, failed, missed := 0, 0, 0
		for _, v := range d.verdicts {
			switch {
			case v.PredictionKind != kind || v.Verdict == judge.OutOfScope:
			case v.Expect == config.Holds:
				held++
			case v.Verdict == judge.Agree:
				failed++
			default:
				missed++
			}
		}
		switch {
		case failed+missed == 0:
		case missed > 0:
			words = append(words, kindWords[kind]+" expected to fail, but does not")
		case held > 0:
			words = append(words, kindWords[kind]+" fails here in part")
		default:
			words = append(words, kindWords[kind]+" fails here")
		}
	}
	return strings.Join(words, ", ")
}

// kindWords names the kinds of prediction in titles and legends.
var kindWords = map[rom.Kind]string{
	rom.Exact: "exact", rom.Expansion: "expansion in 1/G", rom.LeadingOrder: "leading order",
	rom.PaperRule:       "paper’s formula",
	rom.RuleAtStiffness: "paper’s formula at λ of the stiffest mode",
}

func firstCells(sets []plan.CellSet) []*plan.Cell {
	return config.Each(sets, func(set plan.CellSet) *plan.Cell { return set.Cells[0] })
}

// variantsOf returns the distinct variants of the sets, in the order of the file.
func variantsOf(sets []plan.CellSet) []string {
	var variants []string
	for _, set := range sets {
		variants = config.AddNew(variants, set.Cells[0].Variant)
	}
	return variants
}

// drawDeviations shows the measured value of each verdict that is in scope: as measured/predicted
// where the margin is relative, else as (measured − predicted)/margin.
func drawDeviations(j *claim.Question, d *figureSource) Figure {
	about, relative := j.Check.Claim.Name, j.Check.Margin > 0
	f := framed("deviation")
	if !relative {
		f.YLabel = "(measured − predicted) / margin"
	}
	f.Title = about + ": " + f.YLabel
	measured := FigureSeries{Name: "measured", Group: "measured", Mark: Measured}
	predicted := FigureSeries{Name: "predicted ± margin", Group: "predicted", Mark: Predicted}
	several := len(claim.Quantities(j.Check, d.sets[0])) > 1
	for _, v := range d.verdicts {
		if v.Verdict == judge.OutOfScope {
			continue
		}
		x := float64(len(f.Categories))
		name := cmp.Or(withoutVariant(v.Label, d.variant), "the one cell")
		if several {
			name = strings.TrimSpace(name + " " + strings.TrimPrefix(v.Quantity, about+"_"))
		}
		f.Categories = append(f.Categories, name)
		zero, unit := float64(v.Predicted), float64(v.Margin)
		if relative {
			zero, unit = 0, zero
		}
		at := func(y float64) float64 { return (y - zero) / unit }
		lo, hi := at(float64(v.Lo)), at(float64(v.Hi))
		measured.within(x, at(float64(v.Measured)), min(lo, hi), max(lo, hi))
		centre, width := at(float64(v.Predicted)), math.Abs(float64(v.Margin)/unit)
		predicted.within(x, centre, centre-width, centre+width)
	}
	f.Series = []FigureSeries{predicted, measured}
	if len(f.Categories) == 0 {
		f.Title += " (every verdict is out of scope)"
	}
	return f
}

// withoutVariant returns a cell's label without the leading variant, and with numbers of
// five or more decimals rounded to four digits.
func withoutVariant(label, variant string) string {
	label = strings.TrimSpace(strings.TrimPrefix(label, variant))
	return longNumber.ReplaceAllStringFunc(label, func(text string) string {
		x, _ := strconv.ParseFloat(text, 64) // longNumber matches numbers alone
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

// longNumber matches the numbers of a label that withoutVariant rounds.
var longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{5,}`)

// picture describes the figures of the checks of a claim. The zero picture is replaced by
// deviationPicture.
type picture struct {
	word   string // begins the names of its figures; "": that of the claim
	claims bool   // a hypothesis of its check is shown too: else it has a picture of its own
	alone  bool   // a hypothesis is shown without what the theory predicts
	across bool   // one figure has the variants side by side: else each variant has a figure
	// family returns the family of a check: checks of equal family share a figure. A
	// check of family "" has a figure of its own; so has every check if family is nil.
	family func(check *config.Check) string
	// draw returns the figure except for its name and the variant in its title; j is the
	// judgement of the first of the checks.
	draw   func(j *claim.Question, d *figureSource) Figure
	panels func(j *claim.Question, d *figureSource) []Figure // with names, instead of draw
}

// byClaim returns the family of all checks of the same claim.
func byClaim(check *config.Check) string { return check.Claim.Name }

// byOver is the family of all checks of a claim over the same key.
func byOver(check *config.Check) string { return check.Claim.Name + " over " + check.Over }
