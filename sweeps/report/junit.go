package report

import (
	"encoding/xml"

	"grposim/sweeps/judge"
)

// The elements of a JUnit report that CI systems read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns verdicts as a JUnit XML report: a test suite for each experiment and a test case
// for each verdict. A verdict that disagrees, and one whose control does not, is a failure; one
// that decides nothing, or is out of scope, is skipped. Its error is one of encoding.
func JUnit(verdicts []judge.Verdict) ([]byte, error) {
	var all junitSuites
	for i := range verdicts {
		v := &verdicts[i]
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != v.Experiment {
			all.Suites = append(all.Suites, junitSuite{Name: v.Experiment})
		}
		s := &all.Suites[len(all.Suites)-1]
		cells := v.Cells()
		c := junitCase{Class: v.Experiment + "." + v.Claim, Name: v.Quantity}
		if v.Label != "" {
			c.Name += ", " + v.Label
		}
		measured := "measured " + cells[4] + ", predicted " + cells[5] + " " + cells[6]
		switch {
		case v.Verdict == judge.Disagree:
			c.Failure = &junitMessage{"disagree: " + v.Because, measured}
		case v.Missed():
			c.Failure = &junitMessage{"the control does not disagree, so that the check could not have failed: " + v.Control.Fault, measured}
		case v.Verdict != judge.Agree:
			c.Skipped = &junitMessage{v.Verdict.String() + ": " + v.Because, measured}
		}
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}
