package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grposim/rom"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// equal checks that two values are the same.
func equal[T comparable](t *testing.T, of any, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// contains checks that a text has parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}

// must returns the value of a call that does not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// pageText returns what Page writes.
func pageText(title string, parts []Part) ([]byte, error) {
	var b bytes.Buffer
	err := Page(&b, "page", Heading{Title: title}, parts)
	return b.Bytes(), err
}

// examplePage returns the page of the example experiments.
func examplePage(t *testing.T) (string, []Part) {
	t.Helper()
	parts := must(examples())
	data := must(pageText("grposim: <claims>", parts))
	again := must(pageText("grposim: <claims>", parts))
	if !bytes.Equal(data, again) {
		t.Error("writing the page twice gives different bytes")
	}
	return string(data), parts
}

var programs = regexp.MustCompile(`(?s)(<style>|<script>).*?(</style>|</script>)`)

// elements returns the start tags of a page. It fails the test if one is not closed.
func elements(t *testing.T, page string) []xml.StartElement {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(programs.ReplaceAllString(page, "$1$2")))
	d.Strict = false
	d.AutoClose = []string{"meta", "br", "input"}
	d.Entity = xml.HTMLEntity
	var found []xml.StartElement
	var open []string
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			found = append(found, token.Copy())
			if name := token.Name.Local; name != "meta" && name != "br" && name != "input" {
				open = append(open, name)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				line, column := d.InputPos()
				t.Fatalf("%d:%d: </%s> closes %q", line, column, token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("never closed: %q", open)
	}
	return found
}

// The elements of a page nest, its ids are unique, its links have targets or are
// downloads, and every figure and experiment is there once.
func TestPageIsWellFormed(t *testing.T) {
	page, parts := examplePage(t)
	ids := make(map[string]bool)
	count := make(map[string]int)
	var links []string
	for _, e := range elements(t, page) {
		count[e.Name.Local]++
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("two elements have the id %q", a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case a.Name.Local == "href" &&
				!slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "download" }):
				links = append(links, a.Value)
			case strings.HasPrefix(a.Name.Local, "on"):
				t.Errorf("a script in an attribute: %s=%q", a.Name.Local, a.Value)
			}
		}
	}
	for _, link := range links {
		if !ids[strings.TrimPrefix(link, "#")] {
			t.Errorf("the link to %q has no target", link)
		}
	}
	figures := 0
	for _, part := range parts {
		figures += len(part.Experiment.Figures)
	}
	// of all, of the page and of figures behind a first one
	folds := 2 + 3*len(parts)
	if count["figure"] != figures || count["section"] != len(parts) ||
		count["details"] != folds || len(links) != 0 {
		t.Errorf("%d figures, %d sections, %d links of %d and %d", count["figure"], count["section"],
			len(links), figures, len(parts))
	}
}

// A page loads no style, script, image or font. XML namespaces look like addresses but
// are not loaded.
func TestPageLoadsNothing(t *testing.T) {
	page, _ := examplePage(t)
	for _, e := range elements(t, page) {
		for _, a := range e.Attr {
			if a.Name.Local == "xmlns" || a.Name.Space == "xmlns" {
				continue
			}
			if a.Name.Local == "href" &&
				(strings.HasPrefix(a.Value, "./") || strings.HasPrefix(a.Value, configData)) {
				continue // downloads
			}
			if strings.Contains(a.Value, "//") || a.Name.Local == "src" || a.Name.Local == "href" &&
				!strings.HasPrefix(a.Value, "#") {
				t.Errorf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, program := range programs.FindAllString(page, -1) {
		found := regexp.MustCompile(`url\(|@import|https?:|fetch\(|XMLHttp`).FindString(program)
		equal(t, "a style or script with", found, "")
	}
}

// configData begins the link to a configuration that a page holds.
const configData = "data:application/json;base64,"

// A page offers the configuration of each experiment, and the files of its results folder
// by their places beside the page; it names the version that simulated.
func TestPageDownloads(t *testing.T) {
	page, parts := examplePage(t)
	var paths []string
	var configs [][]byte
	for _, e := range elements(t, page) {
		attributes := make(map[string]string)
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
		}
		if code, held := strings.CutPrefix(attributes["href"], configData); held {
			want := parts[len(configs)].Experiment.Plan.Spec.Name + ".json"
			equal(t, "download", attributes["download"], want)
			configs = append(configs, must(base64.StdEncoding.DecodeString(code)))
		} else if strings.HasPrefix(attributes["href"], "./") {
			paths = append(paths, attributes["href"])
		}
	}
	for i, part := range parts {
		var compact bytes.Buffer
		err := json.Compact(&compact, configs[i])
		if err != nil || !bytes.Equal(compact.Bytes(), part.Experiment.Plan.Spec.Document()) {
			t.Errorf("the configuration of experiment %d: %v, %s", i+1, err, configs[i])
		}
	}
	figure := "./of%202026/figures/" + parts[0].Experiment.Figures[0].Name + ".png"
	contains(t, fmt.Sprintf("%q", paths), `"`+figure+`"`, `"./of%202026/cells.csv"`, `"./cells.csv"`,
		`"./manifest.json"`)
	version := "simulated by version 0123abc (go1.26.8 linux/amd64)"
	equal(t, version, strings.Count(page, version), 1)
}

// Every verdict is on the page with its fields, all text is escaped, and
// numbers that are not finite are dashes.
func TestPageShowsVerdicts(t *testing.T) {
	page, parts := examplePage(t)
	text := html.UnescapeString(page)
	if strings.Contains(page, "<claims>") || strings.Contains(page, "<b>too") {
		t.Error("text of the experiments is not escaped")
	}
	strange := regexp.MustCompile(`.{0,40}(NaN|[+-]Inf|ZgotmplZ).{0,40}`)
	equal(t, "on the page", strange.FindString(programs.ReplaceAllString(page, "")), "")
	rows := strings.Split(text, "<tr data-verdict=")[1:]
	i := 0
	for _, part := range parts {
		e := part.Experiment
		contains(t, text, e.Plan.Spec.Name, e.Plan.Spec.Claim, part.Command)
		for _, v := range e.Verdicts {
			contains(t, rows[i], v.Says(), v.Claim, v.Quantity, v.Label, v.Because,
				string(v.PredictionKind), string(v.Expect))
			i++
		}
	}
	equal(t, "rows", len(rows), i)
	contains(t, text, "10 of 11 planted faults caught")
}

// The page of a sweep without checks, such as a map, says nothing of verdicts; there is a page
// with a figure that was not drawn, and of no experiments at all.
func TestPageWithoutChecks(t *testing.T) {
	bare := &sweeps.Experiment{Plan: &plan.Plan{Spec: &config.Spec{Name: "bare"}},
		Figures: []sweeps.Figure{{Name: "1-none"}}}
	for _, parts := range [][]Part{nil, {{Experiment: bare}}} {
		data := must(pageText("", parts))
		elements(t, string(data))
		for _, unwanted := range []string{`class="state`, "How to read this",
			"No verdicts"} {
			if strings.Contains(string(data), unwanted) {
				t.Errorf("%q on a page of %d experiments without checks", unwanted, len(parts))
			}
		}
		equal(t, len(parts), strings.Contains(string(data), "No experiments."), parts == nil)
	}
}

// A page about the paper begins with its source, the verdicts, the outcomes of the statements
// with their numbers, those that fail in words, and a figure. Every statement links to the
// experiments that decide it.
func TestPageOfStatements(t *testing.T) {
	parts := must(examples())
	for _, part := range parts {
		for i := range part.Experiment.Verdicts {
			part.Experiment.Verdicts[i].Experiment = part.Experiment.Plan.Spec.Name
		}
	}
	about := func(v *judge.Verdict, statement, reading string) {
		kind := config.AboutStatement
		v.About = &config.About{Kind: kind, Statement: statement, Reading: reading, Regime: config.Limit}
	}
	about(&parts[0].Experiment.Verdicts[3], "fixed-point-free-of-group-size", "")
	about(&parts[0].Experiment.Verdicts[0], "plateau-is-fixed-point", "")
	about(&parts[1].Experiment.Verdicts[3], "stability-threshold", "whole-gradient")
	about(&parts[1].Experiment.Verdicts[4], "stability-threshold", "block")
	var b bytes.Buffer
	figure := parts[0].Experiment.Figures[1]
	heading := Heading{
		Title: "the <paper>", Source: "arXiv:1", Link: "https://arxiv.org/abs/1",
		Figure: figure.Name, Experiment: parts[0].Experiment.Plan.Spec.Name, Caption: "what it shows",
	}
	if err := Page(&b, "page", heading, parts); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	elements(t, page)
	statement := func(id string) config.Statement {
		s, known := config.LookupStatement(id)
		if !known {
			t.Fatal(id)
		}
		return s
	}
	failing := statement("fixed-point-free-of-group-size")
	from := 0
	for _, want := range []string{
		`the &lt;paper&gt; <a class="source" href="https://arxiv.org/abs/1">arXiv:1</a>`,
		`<p class="answer">Of 12 statements of the paper 2 hold, 1 holds in part, 2 fail, 7 cannot be decided here.</p>`,
		`<p class="answer">2 of 13 verdicts disagree with the theory: `,
		`<span class="holds" style="flex-grow: 2">✓&nbsp;2</span>`,
		`<span class="in-part" style="flex-grow: 1">◐&nbsp;1</span>`,
		`<span class="fails" style="flex-grow: 2">✗&nbsp;2</span>`,
		`<a href="#fails"><span class="swatch fails" aria-hidden="true">✗</span> <span><b>2</b> fail</span></a>`,
		`<b>what it shows</b>`, failing.Says, failing.Instead,
		`<tbody id="holds">`, `<tr id="plateau-is-fixed-point">`,
		`<a href="#experiment-1">stationary-fluctuation</a>`,
		`<tbody id="in-part">`, `<tr id="stability-threshold">`,
		`<a href="#experiment-2">stability</a>`,
		`<tbody id="fails">`, `<tr id="fixed-point-free-of-group-size">`,
		`<a href="#experiment-1">stationary-fluctuation</a>`, `<tr id="fit-training">`, "on other runs",
	} {
		i := strings.Index(page[from:], html.EscapeString(want))
		if i < 0 {
			i = strings.Index(page[from:], want)
		}
		if i < 0 {
			t.Fatalf("no %q where it is wanted", want)
		}
		from += i
	}
	equal(t, "times the figure", strings.Count(page, string(inline(parts[0].SVGs[figure.Name]))), 2)
}

// Any verdict gives a row, without NaN or Inf.
func TestRowAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) store.Number {
			return store.Number(rapid.OneOf(
				rapid.SampledFrom(extremes), rapid.Float64(),
			).Draw(t, name))
		}
		r := newRow(&judge.Verdict{
			Measured: number("measured"), Lo: number("lo"), Hi: number("hi"), Predicted: number("predicted"),
			Margin: max(number("margin"), 0), PredictionKind: rom.Exact,
		})
		shown := []string{r.Measured, r.Interval, r.Predicted, r.Margin,
			r.MeasuredKey, r.PredictedKey, r.DistanceKey}
		if s := r.Strip; s != nil {
			shown = append(shown, s.BandLeft, s.BandWidth, s.Bar, s.Point)
		}
		for _, s := range shown {
			if notNumbers.MatchString(s) {
				t.Fatalf("%q", shown)
			}
		}
	})
}

// A strip has the right positions.
func TestStrip(t *testing.T) {
	for _, c := range []struct {
		name             string
		m, lo, hi        float64 // predicted 10 ± 1
		band, bar, point string
	}{
		// The box reaches 1.5 margins: 74/1.5 per unit.
		{"inside", 10, 9.5, 10.5, "30.7 98.7", "M55.3 12H104.7M55.3 8V16M104.7 8V16", "80.0"},
		// The box reaches 1.08 · 3 = 3.24 margins.
		{"across", 12, 11, 13, "57.2 45.7", "M102.8 12H148.5M102.8 8V16M148.5 8V16", "125.7"},
		// The box reaches 6 margins at most.
		{"beyond", 30, 29, 31, "67.7 24.7", "M148.0 12H159.0M154 7L159 12L154 17M154 7L159 12L154 17", ""},
		{"far below", -90, -91, -89, "67.7 24.7", "M1.0 12H12.0M6 7L1 12L6 17M6 7L1 12L6 17", ""},
		{"an open end", 12, 12, math.Inf(1), "45.7 68.5",
			"M148.5 12H159.0M148.5 8V16M154 7L159 12L154 17", "148.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStrip(c.m, c.lo, c.hi, 10, 1)
			if got := s.BandLeft + " " + s.BandWidth; got != c.band || s.Bar != c.bar || s.Point != c.point {
				t.Errorf("got %s, %s, %q; want %s, %s, %q", got, s.Bar, s.Point, c.band, c.bar, c.point)
			}
		})
	}
	if newStrip(1, 0, 2, nan, nan) != nil || newStrip(nan, nan, nan, 1, 1) != nil {
		t.Error("a row without a prediction or an interval has a strip")
	}
}
