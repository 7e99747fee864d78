package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"iter"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/store"
)

//go:embed page.tmpl.html
var pageTemplate string

//go:embed colours.css
var coloursCSS string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Part is a finished experiment on a page.
type Part struct {
	Experiment *sweeps.Experiment
	// of its figures by name, as Draw returns them; a figure without one is left out
	SVGs map[string][]byte
	// that runs it again; ConfigFile of its name stands for the configuration on the page
	Command string
	Folder  string // name of its results folder, which is beside the page; "" if the page is inside it
	Extent  Extent // how much of it the page shows
}

// ConfigFile returns the name of the file in which a page offers the configuration of an
// experiment as it was run.
func ConfigFile(experiment string) string { return experiment + ".json" }

// Heading is what a page begins with.
type Heading struct {
	Title  string
	Source string // name of the publication that the experiments are about; ""
	Link   string // to the publication

	Figure     string // name of the figure at the top; "": none
	Experiment string // name of the experiment that has it
	Caption    string // what the figure shows; its own caption follows
}

// Page writes one HTML page: the layout "page" has all of the experiments, "beside" the figures of
// the paper. It holds what it shows, and links to files of folders. Equal arguments, equal bytes.
func Page(w io.Writer, layout string, heading Heading, parts []Part) error {
	tmpl, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(pageJS))
	p := page{Heading: heading, Columns: columns, JS: template.JS(pageJS),
		CSS:    template.CSS(coloursCSS + pageCSS + labelsCSS()),
		Digest: base64.StdEncoding.EncodeToString(digest[:])}
	var verdicts []judge.Verdict
	for i, part := range parts {
		e := part.Experiment
		verdicts = append(verdicts, e.Verdicts...)
		s := newSection(i, part)
		judged := len(e.Plan.Checks) > 0 || len(e.Verdicts) > 0
		if !judged {
			if err := s.addCells(part); err != nil {
				return err
			}
		}
		p.Judged = p.Judged || judged
		p.Sections = append(p.Sections, s)
	}
	if len(p.Sections) == 1 {
		p.Question = p.Sections[0].Claim
	}
	p.Total = judge.Summarize(verdicts)
	p.Answer, p.Counts = judge.Answer(verdicts), counts(verdicts)
	p.State = overall(p.Counts)
	statements := judge.DecidedStatements(verdicts)
	p.Outcomes = outcomesOf(statements, p.Sections)
	p.Laid = laidOf(p.Sections, statements)
	for _, o := range p.Outcomes {
		if o.Class == "fails" {
			p.Failing = &o
		}
	}
	if i := sectionOf(p.Sections, heading.Experiment); i >= 0 {
		figures := p.Sections[i].Figures
		f := slices.IndexFunc(figures, func(f figure) bool { return f.Name == heading.Figure })
		if f >= 0 {
			p.Lead, p.LeadSection = &figures[f], &p.Sections[i]
		}
	}
	return tmpl.ExecuteTemplate(w, layout, p)
}

// laid is a figure of the paper with the pictures laid beside it.
type laid struct {
	config.PaperFigure
	Figures []figure
	Judged  []outcome // its statements
}

// laidOf lists the figures of the paper of which a section has pictures, with their statements.
func laidOf(sections []section, statements []judge.JudgedStatement) (all []laid) {
	for _, f := range config.Paper().Figures {
		i := sectionOf(sections, f.Experiment)
		if i < 0 || statements == nil {
			continue
		}
		l := laid{PaperFigure: f}
		for _, name := range f.Pictures {
			for _, shown := range sections[i].Figures {
				if shown.Name == name {
					l.Figures = append(l.Figures, shown)
				}
			}
		}
		l.Judged = outcomesOf(slices.DeleteFunc(slices.Clone(statements),
			func(s judge.JudgedStatement) bool { return !slices.Contains(f.Statements, s.ID) }), sections)
		all = append(all, l)
	}
	return all
}

// sectionOf returns the index of the section of an experiment; -1: it has none.
func sectionOf(sections []section, experiment string) int {
	return slices.IndexFunc(sections, func(s section) bool { return s.experiment == experiment })
}

// columns are the headers of the tables of a page, by their CSS class.
var columns = map[string][]string{
	"statements": {"statement", "where in the paper", "facts by reading", "decided by"},
	"verdicts": {"verdict", "claim", "cell", "measured", "predicted", "against the margin",
		"prediction"},
	"cells": sweeps.CellColumns,
}

// labelsCSS returns the headers as a property of the cells below them, which are labelled with
// it where rows are cards.
func labelsCSS() string {
	var css strings.Builder
	for _, class := range slices.Sorted(maps.Keys(columns)) {
		for i, header := range columns[class] {
			fmt.Fprintf(&css, ".%s td:nth-child(%d) { --label: %q; }\n", class, i+1, header)
		}
	}
	return css.String()
}

type page struct {
	Heading
	CSS      template.CSS
	JS       template.JS
	Digest   string   // sha256 of JS in base64: the only script that a browser runs on the page
	State    badge    // of all verdicts together
	Answer   []string // what they decide, in sentences
	Question string   // the claim of the only experiment; ""
	Counts   []count  // of all experiments
	Total    judge.Summary
	Sections []section
	Columns  map[string][]string // of its tables

	Judged      bool      // whether there is anything to judge: a map alone has no checks
	Outcomes    []outcome // the statements of the paper; nil for a single experiment
	Laid        []laid    // figures of the paper; nil: none
	Failing     *outcome  // those that fail; nil: none
	Lead        *figure   // the figure at the top; nil: none
	LeadSection *section  // where it is from
}

type count struct {
	badge
	Count int
}

// badges are what verdicts say, in the order of the page.
var badges = []badge{{judge.Agree, false}, {judge.Agree, true}, {judge.Disagree, false},
	{judge.Inconclusive, false}, {judge.OutOfScope, false}}

// counts lists how many verdicts have each badge.
func counts(verdicts []judge.Verdict) []count {
	all := make([]count, len(badges))
	for i, b := range badges {
		all[i].badge = b
	}
	for i := range verdicts {
		all[slices.Index(badges, badgeOf(&verdicts[i]))].Count++
	}
	return all
}

// badge is the mark of a verdict on a page. Its symbol, words and colour depend on these fields.
type badge struct {
	Ruling  judge.Ruling
	refuted bool // it agrees that a prediction fails
}

func badgeOf(v *judge.Verdict) badge { return badge{v.Verdict, v.IsRefuted()} }

// Words returns what it says.
func (b badge) Words() string {
	if b.refuted {
		return judge.Refuted
	}
	return string(b.Ruling)
}

// Class returns the name of its style.
func (b badge) Class() string { return strings.TrimSuffix(b.Words(), ", as expected") }

// Symbol returns one character for it.
func (b badge) Symbol() string { return string([]rune("✗?–≠✓")[b.Order()]) }

// Order returns the key that sorts badges: disagreements first, agreements last.
func (b badge) Order() int {
	order := []string{"disagree", "inconclusive", "out-of-scope", "refuted", "agree"}
	return slices.Index(order, b.Class())
}

// overall returns the state of all verdicts together: the worst of their badges, out-of-scope if
// there is no other.
func overall(all []count) badge {
	for _, i := range []int{2, 3, 0, 1} {
		if all[i].Count > 0 {
			return badges[i]
		}
	}
	return badges[4]
}

// section is one experiment on the page.
type section struct {
	ID       string // of the HTML element
	Name     string // with that of its folder if they differ
	Claim    string
	Gist     string        // the first sentence of Claim
	Facts    string        // one line
	Units    string        // of the learning rate: Plan.Units
	Counts   []count       // of its verdicts
	Figures  []figure      // those that show something
	Verdicts string        // their number, in words
	Rows     iter.Seq[row] // one for each verdict; nil if there are none
	Long     bool          // whether its table is folded at first
	Cells    [][]string    // rows of sweeps.CellColumns; nil unless there are no checks
	// name of the file that has all rows of the table, of which the page has some; "": it has all
	Table    string
	Left     []string // sentences that say what the page leaves out
	Command  string   // that runs the experiment again
	FromFile bool     // Command reads ConfigFile

	experiment string // its name, without that of its folder

	Config     string       // the configuration as run, JSON; "": it is too long for a sample
	ConfigFile string       // name of a file with it
	ConfigData template.URL // its content
	Files      []link       // the tables of the results folder
}

// figure is a figure on the page.
type figure struct {
	Name    string
	SVG     template.HTML
	Caption string
	Files   []link
}

// link is a file of a results folder.
type link struct{ Name, Path string }

// shortLists matches short lists and objects of an indented JSON document that hold no
// others; lineBreaks what separates their elements.
var (
	shortLists = regexp.MustCompile(`[\[{]\n[^\[\]{}]{1,200}\n *[\]}]`)
	lineBreaks = regexp.MustCompile(`\n *`)
)

// document returns a configuration as JSON, with short lists on one line.
func document(spec *config.Spec) string {
	var indented bytes.Buffer
	_ = json.Indent(&indented, spec.Document(), "", "  ") // a document is JSON
	return shortLists.ReplaceAllStringFunc(indented.String(), func(list string) string {
		return lineBreaks.ReplaceAllString(list, " ") // strings have none
	})
}

// shows reports whether a figure has a point.
func shows(f *sweeps.Figure) bool {
	seen := func(p sweeps.FigurePoint) bool { return finite(p.Y) || finite(p.Lo) }
	return slices.ContainsFunc(f.Series,
		func(s sweeps.FigureSeries) bool { return slices.ContainsFunc(s.Points, seen) })
}

// More returns the figures behind the first.
func (s section) More() []figure { return s.Figures[min(1, len(s.Figures)):] }

func newSection(i int, part Part) section {
	e, spec := part.Experiment, part.Experiment.Plan.Spec
	file := ConfigFile(spec.Name)
	s := section{ID: fmt.Sprintf("experiment-%d", i+1), Name: spec.Name, experiment: spec.Name,
		Claim: spec.Claim, Facts: facts(part), Units: e.Plan.Units(), Command: part.Command,
		Counts: counts(e.Verdicts), ConfigFile: file, FromFile: strings.Contains(part.Command, " "+file)}
	if part.Folder != "" && part.Folder != spec.Name {
		s.Name = fmt.Sprintf("%s (%s)", spec.Name, part.Folder)
	}
	if text := document(spec); part.Extent == Everything || len(text) <= configBytes {
		data := base64.StdEncoding.EncodeToString([]byte(text + "\n"))
		s.Config, s.ConfigData = text, template.URL("data:application/json;base64,"+data)
	}
	folder := "./"
	if part.Folder != "" {
		folder += url.PathEscape(part.Folder) + "/"
	}
	for _, name := range []string{"cells.csv", "predictions.csv", "trajectories.parquet",
		"verdicts.json", "verdicts.md", store.ManifestName} {
		s.Files = append(s.Files, link{name, folder + name})
	}
	for _, f := range e.Figures {
		if svg, ok := part.SVGs[f.Name]; ok && shows(&f) {
			file := folder + "figures/" + url.PathEscape(f.Name)
			files := []link{{"SVG", file + ".svg"}, {"PNG", file + ".png"}}
			s.Figures = append(s.Figures, figure{f.Name, inline(svg), f.Caption, files})
		}
	}
	if left := len(e.Figures) - len(s.Figures); left > 0 {
		s.Left = append(s.Left, fmt.Sprintf("The folder figures has %s more.", config.CountWords(left, "picture")))
	}
	s.Gist, _, _ = strings.Cut(strings.TrimSuffix(spec.Claim, "."), ". ")
	s.Verdicts = config.CountWords(len(e.Verdicts), "verdict")
	const few = 8 // rows that need no fold
	s.Long = max(len(e.Verdicts), len(e.Plan.Cells)) > few
	if len(e.Verdicts) > 0 {
		shown := part.Extent.rows(len(e.Verdicts), func(i int) int {
			v := &e.Verdicts[i]
			return 3*len(v.Label) + 2*len(v.Because)
		}, func(i int) bool { return e.Verdicts[i].Verdict != judge.Agree })
		s.Rows = func(yield func(row) bool) {
			for _, i := range shown {
				if !yield(newRow(&e.Verdicts[i])) {
					return
				}
			}
		}
		s.leaveOut("verdicts.json", s.Verdicts, len(e.Verdicts), len(shown), "do not agree")
	}
	return s
}

// addCells adds the table of cells. Its error is that of Experiment.CellRows.
func (s *section) addCells(part Part) (err error) {
	e := part.Experiment
	cells := e.Plan.Cells
	shown := part.Extent.rows(len(cells), func(i int) int { return len(cells[i].Label()) },
		func(i int) bool { return e.Outcomes[cells[i].ID].Status != store.CellOK })
	s.leaveOut("cells.csv", config.CountWords(len(cells), "cell"), len(cells), len(shown),
		"have another status than ok")
	s.Cells, err = e.CellRows(shown)
	return err
}

// leaveOut says that of so many rows, in words and as a number, which a file holds, some are shown,
// and of which kind those are that come first.
func (s *section) leaveOut(file, words string, all, shown int, first string) {
	if shown < all {
		s.Table = file
		s.Left = append(s.Left, fmt.Sprintf("The table shows %d of %s: first those that %s, of the "+
			"others a sample. All are in %s.", shown, words, first, file))
	}
}

// facts describes in one line what was run: cells, seed, confidence and version.
func facts(part Part) string {
	e := part.Experiment
	count, seeds := make(map[store.CellStatus]int), make(map[uint64]bool)
	for _, c := range e.Plan.Cells {
		status := c.Status
		if o := e.Outcomes[c.ID]; o != nil {
			status = o.Status
		}
		count[status]++
		seeds[c.Settings.Seed] = true
	}
	parts := []string{config.CountWords(len(e.Plan.Cells), "cell")}
	for _, status := range []store.CellStatus{store.CellDiverged, store.CellOverflow, store.NoFixedPoint} {
		if n := count[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(seeds) == 1 {
		parts = append(parts, fmt.Sprintf("seed %d", e.Plan.Cells[0].Settings.Seed))
	} else {
		parts = append(parts, fmt.Sprintf("%d seeds", len(seeds)))
	}
	confidence := fmt.Sprintf("intervals of %g confidence ", e.Plan.Spec.Confidence)
	if len(e.Verdicts) > 0 {
		parts = append(parts, confidence+"over all verdicts together")
	} else if len(e.Plan.Checks) == 0 {
		parts = append(parts, confidence+"each")
	}
	if run := part.Experiment.Plan.Run; run != nil {
		parts = append(parts, fmt.Sprintf("simulated by version %s (%s %s/%s)", run.Version,
			run.GoVersion, run.OS, run.Arch))
	}
	return strings.Join(parts, " · ")
}

// inline returns an SVG without its XML declaration, to be part of a page. The SVGs of
// Draw have no element ids, so those of several figures cannot clash.
func inline(svg []byte) template.HTML {
	svg = svg[max(bytes.Index(svg, []byte("<svg")), 0):]
	return template.HTML(bytes.TrimSpace(svg)) // from Draw, which escapes all text
}

// outcome is a group of statements of the paper that come to the same.
type outcome struct {
	Class, Symbol string      // name of a style, with a colour, and a symbol
	Words         string      // the predicate of the statements
	Statements    []statement // at least one
}

// marks are the classes and symbols of judge.Splits.
var marks = [...][2]string{{"holds", "✓"}, {"in-part", "◐"}, {"fails", "✗"}, {"depends", "◇"},
	{"undecided", "?"}}

type statement struct {
	judge.JudgedStatement
	Deciding []link // the sections of the experiments whose verdicts are about it
}

// outcomesOf groups statements by what they come to, with links to the sections that decide them.
func outcomesOf(statements []judge.JudgedStatement, sections []section) []outcome {
	var outcomes []outcome
	for n, split := range judge.Splits {
		group := outcome{Class: marks[n][0], Symbol: marks[n][1]}
		for _, t := range statements {
			if !slices.Contains(split.Outcomes, t.Outcome) {
				continue
			}
			s := statement{JudgedStatement: t}
			for _, name := range t.Experiments() {
				if i := sectionOf(sections, name); i >= 0 {
					s.Deciding = append(s.Deciding, link{name, "#" + sections[i].ID})
				}
			}
			group.Statements = append(group.Statements, s)
		}
		if group.Statements != nil {
			group.Words = judge.Predicate(split.Words, len(group.Statements))
			outcomes = append(outcomes, group)
		}
	}
	return outcomes
}
