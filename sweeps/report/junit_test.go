package report_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"grposim/sweeps/judge"
	"grposim/sweeps/report"
)

// A report counts and names the verdicts of two experiments: one that agrees, one that
// disagrees, one whose control was not caught, one that decides nothing.
func TestJUnit(t *testing.T) {
	caught := &judge.ControlVerdict{Fault: "stiffness × 1.1", Kind: judge.PlantedFault, Verdict: judge.Disagree}
	uncaught := &judge.ControlVerdict{Fault: "noise × 1.1", Kind: judge.PlantedFault, Verdict: judge.Inconclusive}
	data, err := report.JUnit([]judge.Verdict{
		{Experiment: "one", Claim: "stiffness", Quantity: "λ < 1", Verdict: judge.Agree, Control: caught},
		{Experiment: "one", Claim: "stiffness", Quantity: "λ", Label: "G=8", Verdict: judge.Disagree, Because: "outside", Control: caught},
		{Experiment: "one", Claim: "relaxation", Quantity: "rate", Verdict: judge.Agree, Control: uncaught},
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.Inconclusive, Because: "straddles", Control: caught},
		{Experiment: "two", Claim: "relaxation", Quantity: "rate", Verdict: judge.OutOfScope, Because: "unstable", Control: uncaught},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Skipped  int    `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if s := got.Suites; len(s) != 2 || s[0].Name != "one" || s[0].Tests != 3 || s[0].Failures != 2 || s[0].Skipped != 0 || s[1].Tests != 2 || s[1].Failures != 0 || s[1].Skipped != 2 {
		t.Errorf("suites %+v", s)
	}
	for _, part := range []string{`name="λ &lt; 1"`, `classname="one.stiffness" name="λ, G=8"`, `message="disagree: outside"`, `noise × 1.1`, `message="out-of-scope: unstable"`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("no %s in\n%s", part, data)
		}
	}
}
