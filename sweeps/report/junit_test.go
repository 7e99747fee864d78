package report_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/sweeps"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

// A report counts, times and names the verdicts of two experiments: one that agrees, one that
// disagrees, one whose control was not caught, one that decides nothing. Its totals are theirs.
func TestJUnit(t *testing.T) {
	planted := judge.PlantedFault
	caught := &judge.ControlVerdict{Fault: "stiffness × 1.1", Kind: planted, Verdict: judge.Disagree}
	uncaught := &judge.ControlVerdict{Fault: "noise × 1.1", Kind: planted, Verdict: judge.Inconclusive}
	took := func(seconds float64) *plan.Plan {
		return &plan.Plan{Run: &store.RunInfo{WallSeconds: seconds}}
	}
	data, err := report.JUnit([]*sweeps.Experiment{{Plan: took(1.2346), Verdicts: []judge.Verdict{
		{Experiment: "one", Claim: "stiffness", Quantity: "λ < 1", Verdict: judge.Agree, Control: caught},
		{Experiment: "one", Claim: "stiffness", Quantity: "λ", Label: "G=8", Verdict: judge.Disagree,
			Because: "outside", Control: caught},
		{Experiment: "one", Claim: "relaxation", Quantity: "rate", Verdict: judge.Agree, Control: uncaught},
	}}, {Plan: took(0.3), Verdicts: []judge.Verdict{
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.Inconclusive,
			Because: "straddles", Control: caught},
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.OutOfScope,
			Because: "unstable", Control: uncaught},
	}}, {}})
	if err != nil {
		t.Fatal(err)
	}
	type suite struct {
		Name     string  `xml:"name,attr"`
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   *int    `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     float64 `xml:"time,attr"`
	}
	var got struct {
		suite
		Suites []suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	zero := new(int)
	want := []suite{{"one", 3, 2, zero, 0, 1.235}, {"two", 2, 1, zero, 1, 0.3}, {"", 5, 3, zero, 1, 1.535}}
	if diff := cmp.Diff(want, append(got.Suites, got.suite)); diff != "" {
		t.Errorf("suites and totals:\n%s", diff)
	}
	none, err := report.JUnit([]*sweeps.Experiment{{Plan: new(plan.Plan), Verdicts: []judge.Verdict{{Verdict: judge.OutOfScope}}}})
	if err != nil || !strings.Contains(string(none), `failures="1"`) {
		t.Errorf("nothing is decided: %v\n%s", err, none)
	}
	for _, part := range []string{`name="λ &lt; 1"`, `classname="one.stiffness" name="λ, G=8"`,
		`message="disagree: outside"`, `noise × 1.1`, `message="out-of-scope: unstable"`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("no %s in\n%s", part, data)
		}
	}
}
