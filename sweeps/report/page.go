package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/store"
)

//go:embed page.tmpl.html
var pageTemplate string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Page returns one self-contained HTML page about finished experiments. svgs holds the
// SVGs of their figures, as Draw returns them, by "EXPERIMENT/FIGURE"; a figure without
// an SVG is left out. Equal arguments give equal bytes.
func Page(title string, experiments []*sweeps.Experiment, svgs map[string][]byte) ([]byte, error) {
	tmpl, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	p := page{Title: title, CSS: template.CSS(pageCSS), JS: template.JS(pageJS)}
	var verdicts []sweeps.Verdict
	for i, e := range experiments {
		verdicts = append(verdicts, e.Verdicts...)
		s := newSection(i, e, svgs)
		if len(e.Plan.Checks) == 0 && len(e.Verdicts) == 0 {
			if s.Cells, err = e.CellRows(); err != nil {
				return nil, err
			}
		}
		p.Sections = append(p.Sections, s)
	}
	total := sweeps.Summarize(verdicts)
	p.Total, p.Measurements = total, total.Measurements()
	p.State, p.Sentence = overall(total)
	if p.Statements = sweeps.DecidedStatements(verdicts); p.Statements != nil {
		p.Headline = sweeps.Headline(p.Statements)
	}
	p.Counts = counts(total)
	var out bytes.Buffer
	if err := tmpl.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// page is the data of the template.
type page struct {
	Title    string
	CSS      template.CSS
	JS       template.JS
	State    badge   // of all verdicts together
	Sentence string  // the state in words
	Counts   []count // of all experiments
	Total    sweeps.Summary
	Sections []section

	Measurements string                   // the independent ones, in words
	Headline     string                   // the statements of the paper by outcome
	Statements   []sweeps.JudgedStatement // the statements; nil for a single experiment
}

// count is the number of verdicts with a ruling.
type count struct {
	badge
	Count int
}

// counts lists the counts of a summary in the order of the page.
func counts(s sweeps.Summary) []count {
	return []count{
		{badge{sweeps.Agree}, s.Agree}, {badge{sweeps.Disagree}, s.Disagree},
		{badge{sweeps.Inconclusive}, s.Inconclusive}, {badge{sweeps.OutOfScope}, s.OutOfScope},
	}
}

// badge is a ruling as the page shows it: with a symbol, its name and a
// colour.
type badge struct{ Ruling sweeps.Ruling }

// Symbol returns one character for the ruling.
func (b badge) Symbol() string {
	switch b.Ruling {
	case sweeps.Agree:
		return "✓"
	case sweeps.Disagree:
		return "✗"
	case sweeps.OutOfScope:
		return "–"
	}
	return "?"
}

// Order returns the key that sorts rulings: disagreements first, agreements last.
func (b badge) Order() int {
	switch b.Ruling {
	case sweeps.Disagree:
		return 0
	case sweeps.Inconclusive:
		return 1
	case sweeps.OutOfScope:
		return 2
	}
	return 3
}

// overall returns the state of all verdicts together, and a sentence that says it: the
// worst of their rulings, inconclusive if all are out of scope, out-of-scope if there are
// none.
func overall(s sweeps.Summary) (badge, string) {
	switch {
	case s.Disagree > 0:
		return badge{sweeps.Disagree}, fmt.Sprintf("%s with the theory.", agrees(s.Disagree, "disagrees", "disagree"))
	case s.Inconclusive > 0:
		return badge{sweeps.Inconclusive}, fmt.Sprintf("No verdict disagrees, but %s.", strings.ToLower(agrees(s.Inconclusive, "is inconclusive", "are inconclusive")))
	case s.Agree == 1:
		return badge{sweeps.Agree}, "The one verdict in scope agrees."
	case s.Agree > 0:
		return badge{sweeps.Agree}, fmt.Sprintf("All %d verdicts in scope agree.", s.Agree)
	case s.OutOfScope > 0:
		return badge{sweeps.Inconclusive}, "Nothing was decided: every verdict is out of scope."
	}
	return badge{sweeps.OutOfScope}, "No verdicts."
}

// agrees returns the subject and verb of a sentence about n verdicts.
func agrees(n int, one, several string) string {
	if n == 1 {
		return "One verdict " + one
	}
	return fmt.Sprintf("%d verdicts %s", n, several)
}

// section is one experiment on the page.
type section struct {
	ID       string // of the HTML element
	Name     string
	Claim    string
	Gist     string // the first sentence of Claim
	Facts    string // one line
	Summary  sweeps.Summary
	Refuted  int // number of verdicts that agree that a prediction fails
	Figures  []captioned
	Verdicts string       // their number, in words
	Claims   []claimCount // in the order of the rows
	Rows     []row
	Cells    [][]string // rows of sweeps.CellColumns; nil unless there are no checks
	Command  string     // that runs the experiment again
}

// captioned is a figure on the page.
type captioned struct {
	SVG     template.HTML
	Caption string // "": none
}

// claimCount is the number of verdicts on a claim.
type claimCount struct {
	Name  string
	Count int
}

// Long reports whether the table of verdicts is folded at first.
func (s section) Long() bool { return len(s.Rows) > 20 }

// CellColumns are the headers of Cells.
func (s section) CellColumns() []string { return sweeps.CellColumns }

// Counts lists the counts of the section's verdicts.
func (s section) Counts() []count { return counts(s.Summary) }

// newSection returns the i-th section of the page.
func newSection(i int, e *sweeps.Experiment, svgs map[string][]byte) section {
	spec := e.Plan.Spec
	s := section{
		ID: fmt.Sprintf("experiment-%d", i+1), Name: spec.Name, Claim: spec.Claim,
		Facts: facts(e), Summary: sweeps.Summarize(e.Verdicts), Command: e.Command,
	}
	for _, f := range e.Figures {
		if svg, ok := svgs[spec.Name+"/"+f.Name]; ok {
			s.Figures = append(s.Figures, captioned{inline(svg), f.Caption})
		}
	}
	s.Gist, _, _ = strings.Cut(strings.TrimSuffix(spec.Claim, "."), ". ")
	s.Verdicts = fmt.Sprintf("%d verdicts", len(e.Verdicts))
	if len(e.Verdicts) == 1 {
		s.Verdicts = "1 verdict"
	}
	for _, v := range e.Verdicts {
		r := newRow(v)
		if r.Refuted {
			s.Refuted++
		}
		i := slices.IndexFunc(s.Claims, func(c claimCount) bool { return c.Name == v.Claim })
		if i < 0 {
			i = len(s.Claims)
			s.Claims = append(s.Claims, claimCount{Name: v.Claim})
		}
		s.Claims[i].Count++
		s.Rows = append(s.Rows, r)
	}
	return s
}

// facts describes in one line what was run: cells, seed and confidence.
func facts(e *sweeps.Experiment) string {
	diverged, without := 0, 0
	for i := range e.Plan.Cells {
		c := &e.Plan.Cells[i]
		if c.Status == store.NoFixedPoint {
			without++
		} else if o := e.Outcomes[c.ID]; o != nil && o.Status == store.CellDiverged {
			diverged++
		}
	}
	parts := []string{fmt.Sprintf("%d cells", len(e.Plan.Cells))}
	if len(e.Plan.Cells) == 1 {
		parts[0] = "1 cell"
	}
	if diverged > 0 {
		parts = append(parts, fmt.Sprintf("%d diverged", diverged))
	}
	if without > 0 {
		parts = append(parts, fmt.Sprintf("%d without a fixed point", without))
	}
	seeds := make(map[uint64]bool)
	for i := range e.Plan.Cells {
		seeds[e.Plan.Cells[i].Settings.Seed] = true
	}
	if len(seeds) == 1 {
		parts = append(parts, fmt.Sprintf("seed %d", e.Plan.Cells[0].Settings.Seed))
	} else {
		parts = append(parts, fmt.Sprintf("%d seeds", len(seeds)))
	}
	if len(e.Verdicts) > 0 {
		parts = append(parts, fmt.Sprintf("intervals of %g confidence over all verdicts together", e.Plan.Spec.Confidence))
	} else if len(e.Plan.Checks) == 0 {
		parts = append(parts, fmt.Sprintf("intervals of %g confidence each", e.Plan.IntervalConfidence()))
	}
	return strings.Join(parts, " · ")
}

// inline returns an SVG without its XML declaration, to be part of a page. The SVGs of
// Draw have no element ids, so those of several figures cannot clash.
func inline(svg []byte) template.HTML {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	return template.HTML(bytes.TrimSpace(svg)) // from Draw, which escapes all text
}
