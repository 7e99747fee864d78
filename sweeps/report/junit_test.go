package report_test

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"grposim/sweeps/judge"
	"grposim/sweeps/report"
)

// A report counts and names the verdicts of two experiments: one that agrees, one that
// disagrees, one whose control was not caught, one that decides nothing.
func TestJUnit(t *testing.T) {
	planted := judge.PlantedFault
	caught := &judge.ControlVerdict{Fault: "stiffness × 1.1", Kind: planted, Verdict: judge.Disagree}
	uncaught := &judge.ControlVerdict{Fault: "noise × 1.1", Kind: planted, Verdict: judge.Inconclusive}
	data, err := report.JUnit([]judge.Verdict{
		{Experiment: "one", Claim: "stiffness", Quantity: "λ < 1", Verdict: judge.Agree, Control: caught},
		{Experiment: "one", Claim: "stiffness", Quantity: "λ", Label: "G=8", Verdict: judge.Disagree,
			Because: "outside", Control: caught},
		{Experiment: "one", Claim: "relaxation", Quantity: "rate", Verdict: judge.Agree, Control: uncaught},
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.Inconclusive,
			Because: "straddles", Control: caught},
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.OutOfScope,
			Because: "unstable", Control: uncaught},
	})
	if err != nil {
		t.Fatal(err)
	}
	type suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
	}
	var got struct {
		Suites []suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if !slices.Equal(got.Suites, []suite{{"one", 3, 2, 0}, {"two", 2, 1, 1}}) {
		t.Errorf("suites %+v", got.Suites)
	}
	none, err := report.JUnit([]judge.Verdict{{Verdict: judge.OutOfScope}})
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
